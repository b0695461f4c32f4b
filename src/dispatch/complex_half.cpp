#include "dispatch/complex_half.h"

#include <algorithm>

#include "dispatch/algorithm.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "type/complex_half.h"

namespace tenon {
namespace {

constexpr const char* kComplexHalfName = "ComplexHalf";

bool gives_truths(Op op) { return row_of(op).promotion == Promotion::comparison; }

/// Whether PyTorch has code for complex32.
bool has_complex_half_code(Op op) {
  constexpr Op known[] = {Op::add, Op::add_alpha, Op::sub, Op::sub_alpha, Op::rsub, Op::rsub_alpha,
                          Op::mul, Op::addcmul,   Op::eq,  Op::ne,        Op::where};
  return std::find(std::begin(known), std::end(known), op) != std::end(known);
}

/// Numbers as complex64 with both parts rounded to float16.
Tensor rounded(const Tensor& numbers) {
  const Tensor wide = numbers.detach().to(complex64);
  return complex(real(wide).to(float16).to(float32), imag(wide).to(float16).to(float32));
}

/// The operands in place of `args`.
class RoundedOperands {
 public:
  RoundedOperands(const Row& row, Args args, int count) {
    for (int i = 0; i < count; ++i) {
      values_[i] = *args[i];
      pointers_[i] = &values_[i];
      if (is_condition(row, i) || i >= operand_count(row, count)) continue;
      tensors_[i] = rounded(args[i]->is_tensor() ? args[i]->tensor() : scalar_tensor(args[i]->number(), complex64));
      values_[i] = Arg(tensors_[i]);
    }
  }
  Args args() const { return pointers_; }

 private:
  Tensor tensors_[kMaxArgs];
  Arg values_[kMaxArgs] = {0, 0, 0, 0};
  const Arg* pointers_[kMaxArgs];
};

Tensor computed(Op op, Args args, int count) {
  const RoundedOperands operands(row_of(op), args, count);
  if (row_of(op).parameters != Parameters::alpha) return elementwise(op, operands.args(), count);
  // The product is rounded, too. The factor of a difference is negative already.
  return add(*operands.args()[0], rounded(mul(*operands.args()[1], *operands.args()[2])));
}

}  // namespace

bool is_complex_half(const Row& row, Args args, int count) {
  const auto is_half = [](const Arg* arg) { return arg->is_tensor() && arg->tensor().dtype() == float16; };
  if (std::none_of(args, args + count, is_half)) [[likely]]
    return false;
  // The dtype of a clamped tensor of floats is its own, whatever its bounds are.
  if (row.parameters == Parameters::bounds && is_half(args[0])) return false;
  const int first = row.promotion == Promotion::select ? 1 : 0;
  TypedOperand operands[kMaxArgs];
  const int last = promoted_count(row, count);
  for (int i = first; i < last; ++i) operands[i] = typed(*args[i]);
  return is_complex_half(operands + first, last - first);
}

Tensor complex_half_result(Op op, Args args, int count) {
  if (!gives_truths(op) || !has_complex_half_code(op)) return {};
  return computed(op, args, count);
}

bool complex_half_into(Op op, Form form, Tensor& out, Args args, int count) {
  const bool is_cast = gives_truths(op) || (is_complex(out.dtype()) && op != Op::where);
  if (!is_cast || !has_complex_half_code(op) || (form == Form::inplace && !gives_truths(op))) return false;
  Tensor result = computed(op, args, count);
  if (form == Form::inplace) check_inplace_shape(out.sizes(), result.sizes());
  if (!gives_truths(op)) result = rounded(result);
  write_result(op, out, result);
  if (gives_truths(op) && out.dtype() != bool_) warn_of_lost_parts(complex64, out.dtype(), out.numel());
  return true;
}

void fail_complex_half(Op op, Form form, const Tensor* out) {
  const Row& row = row_of(op);
  if (form != Form::functional && !is_complex(out->dtype()) && !gives_truths(op) && row.promotion != Promotion::logical)
    throw Error(std::string("result type ") + kComplexHalfName + " can't be cast to the desired output type " +
                scalar_type_name(out->dtype()));
  if (!has_complex_half_code(op))
    throw NotImplementedError(std::string("\"") + row.kernel_name + "\" not implemented for '" + kComplexHalfName +
                              "'");
  static_cast<void>(to_complex(float16));  // says that complex32 is missing
  throw NotImplementedError(kComplexHalfName);
}

}  // namespace tenon
