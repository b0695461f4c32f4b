#include "dispatch/call_types.h"

#include "tile/cast.h"

namespace tenon {
namespace {

/// Whether all operands are tensors with dims, of one dtype: nothing is promoted.
bool are_of_one_dtype(Args args, int count) {
  for (int i = 0; i < count; ++i) {
    if (!args[i]->is_tensor()) return false;
    const TensorImpl& operand = *args[i]->tensor().impl();
    if (operand.sizes.empty() || operand.dtype != args[0]->tensor().dtype()) return false;
  }
  return true;
}

Dtype promote(Args args, int count) {
  if (are_of_one_dtype(args, count)) return args[0]->tensor().dtype();
  TypedOperand operands[kMaxArgs];
  for (int i = 0; i < count; ++i) operands[i] = typed(*args[i]);
  return result_type(operands, count);
}

bool has_one_element(const Arg& arg) { return !arg.is_tensor() || arg.tensor().numel() == 1; }

/// Whether all elements are one element in memory.
bool repeats_one(const Arg& arg) {
  if (has_one_element(arg)) return true;
  const Tensor& tensor = arg.tensor();
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.sizes()[dim] != 1 && tensor.strides()[dim] != 0) return false;
  return true;
}

/// Whether an op on 16-bit floats reads argument i without rounding it to 16 bits: PyTorch reads a single-element
/// second operand in float32.
bool keeps_precision(const Row& row, Args args, int i) {
  const bool second = i == 1 || (row.commutative && !args[i]->is_tensor());
  return row.exact_second && second && has_one_element(*args[i]);
}

/// Whether a kernel reads 16-bit floats directly.
bool computes_in_half(const Row& row, Op op, Dtype common, Args args, int count) {
  if (widened(common) == common || !kernel_of(op, common)) return false;
  if (row.stepwise) return !(row.exact_second && repeats_one(*args[1]));
  for (int i = 0; i < count; ++i)
    if (keeps_precision(row, args, i)) return false;
  return true;
}

}  // namespace

Dtype common_dtype(const Row& row, Args args, int count) {
  const int first = row.promotion == Promotion::select ? 1 : 0;
  // PyTorch promotes with a bound's dtype only if it could change the result's.
  if (row.parameters == Parameters::bounds && is_floating_point(args[0]->tensor().dtype()))
    return args[0]->tensor().dtype();
  const Dtype common = promote(args + first, promoted_count(row, count) - first);
  if (row.promotion == Promotion::int_to_float && !is_inexact(common)) return get_default_dtype();
  if (row.promotion == Promotion::bool_to_int && common == bool_) return int64;
  return common;
}

Types types_of(Op op, const Row& row, Args args, int count) {
  const Dtype common = common_dtype(row, args, count);
  if (computes_in_half(row, op, common, args, count))
    return {common, common, row.promotion == Promotion::comparison ? bool_ : common};
  if (row.promotion == Promotion::comparison) return {common, widened(common), bool_};
  if (row.promotion == Promotion::logical) return {common, bool_, bool_};
  return {common, widened(common), row.complex_to_real ? to_real(common) : common};
}

Types types_of_next(const Row& row, Types types) {
  types.result = row.promotion == Promotion::to_int32 ? int32 : types.common;
  return types;
}

Conversion conversion_with_rounding(const Row& row, const Types& types, Args args, int i) {
  if (is_condition(row, i)) return {bool_, bool_};
  const bool is_precise = keeps_numbers(row) && !args[i]->is_tensor();
  return {is_precise || keeps_precision(row, args, i) ? types.compute : types.common, types.compute};
}

Number converted(Scalar number, Conversion conversion) {
  Number rounded, wanted;
  store_number(number, conversion.through, rounded.bytes);
  if (conversion.through == conversion.wanted) return rounded;
  cast_lanes(wanted.bytes, conversion.wanted, rounded.bytes, conversion.through, 1);
  return wanted;
}

int count_results(const Row& row) {
  int results = 1;
  for (Op next = row.next_result; next != kNoOp; next = row_of(next).next_result) ++results;
  return results;
}

}  // namespace tenon
