// The table's ops in every form, over whatever operands: an op that is declared in tenon/ops.def is drawn here. What an
// op gives is compared with what the same op gives of single elements.
#pragma once
#include <cmath>
#include <optional>
#include <vector>

#include "expr/functions.h"
#include "fuzz/world.h"
#include "ops/row.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::fuzz {

using expr::Function;
using expr::FunctionKind;

struct TableOp {
  const Function* function;  // by value and into `out`
  /// In place; null: there is no such form.
  void (*inplace)(Tensor& self, const Function::Operands& x, const expr::Parameters& p);
};

inline const char* rounding_of(const expr::Parameters& p) {
  return p.rounding_mode ? p.rounding_mode->c_str() : nullptr;
}

// clang-format off
#define FUZZ_INPLACE(CALL) [](Tensor& self, [[maybe_unused]] const Function::Operands& x, [[maybe_unused]] const expr::Parameters& p) { self.CALL; }
#define FUZZ_OP_form(NAME)
#define FUZZ_OP_unary(NAME)           {expr::find_function(#NAME), FUZZ_INPLACE(NAME##_())},
#define FUZZ_OP_binary(NAME)          {expr::find_function(#NAME), FUZZ_INPLACE(NAME##_(*x[1]))},
#define FUZZ_OP_binary_alpha(NAME)    {expr::find_function(#NAME), FUZZ_INPLACE(NAME##_(*x[1], p.alpha))},
#define FUZZ_OP_division(NAME)        {expr::find_function(#NAME), FUZZ_INPLACE(NAME##_(*x[1], rounding_of(p)))},
#define FUZZ_OP_clamp(NAME)           {expr::find_function(#NAME), FUZZ_INPLACE(NAME##_(x[1], x[2]))},
#define FUZZ_OP_where(NAME)           {expr::find_function(#NAME), nullptr},
#define FUZZ_OP_product(NAME)         {expr::find_function(#NAME), nullptr},
#define FUZZ_OP_reduction(NAME)       {expr::find_function(#NAME), nullptr},
#define FUZZ_OP_reduction_dtype(NAME) {expr::find_function(#NAME), nullptr},
// clang-format on

inline const std::vector<TableOp>& table_ops() {
  static const std::vector<TableOp> ops = {
#define TENON_OP(NAME, KIND) FUZZ_OP_##KIND(NAME)
#include "tenon/ops.def"
#undef TENON_OP
  };
  return ops;
}

inline Scalar draw_number(Bytes& bytes) {
  switch (bytes.up_to(3)) {
    case 0:
      return bytes.flag();
    case 1:
      return bytes.integer();
    case 2:
      return static_cast<double>(bytes.up_to(20) - 10) / 4;
    default:
      return bytes.raw<double>();
  }
}

/// The operands of a call, and the elements they have before it.
struct Operands {
  Function::Operands args;
  std::vector<Tensor> tensors;  // undefined: a number, or left out
  std::vector<std::optional<Copy>> copies;

  void add(const std::optional<Arg>& arg) {
    args[tensors.size()] = arg;
    const bool tensor = arg && arg->is_tensor();
    tensors.push_back(tensor ? arg->tensor() : Tensor());
    copies.push_back(tensor ? std::optional<Copy>(arg->tensor()) : std::nullopt);
  }
  bool on_meta() const {
    for (const Tensor& tensor : tensors)
      if (tensor.defined() && tensor.is_meta()) return true;
    return false;
  }
};

/// The elements of the broadcast of all of them; -1: they do not broadcast, or are more than int64 counts.
inline Wide broadcast_count(const std::vector<Tensor>& tensors, Dims* sizes = nullptr) {
  Dims shape;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    while (shape.size() < tensor.dim()) shape.insert(0, 1);
    for (int64_t back = 1; back <= tensor.dim(); ++back) {
      int64_t& size = shape[shape.size() - back];
      const int64_t other = tensor.sizes()[tensor.dim() - back];
      if (size != other && size != 1 && other != 1) return -1;
      if (size == 1) size = other;
    }
  }
  if (sizes) *sizes = shape;
  return count_elements(shape);
}

inline std::string element_of(const Tensor& tensor, SizesView index) {
  const auto* at = tensor.impl()->storage->data + static_cast<int64_t>(place_of(tensor, index)) * tensor.itemsize();
  return {reinterpret_cast<const char*>(at), static_cast<std::size_t>(tensor.itemsize())};
}

/// A second operand of one element meets 16-bit floats at its own precision, which a single element always would.
inline bool one_element_differs(const Function& function, const Operands& operands) {
  if (!function.op || !row_of(*function.op).exact_second || !operands.copies[0] || !operands.copies[1]) return false;
  const Copy &first = *operands.copies[0], &second = *operands.copies[1];
  const bool rounds = is_floating_point(second.dtype) && itemsize(second.dtype) == 2;
  return first.dtype != second.dtype || (rounds && count_elements(second.sizes) != 1);
}

inline void check_elementwise(const Function& function, const Operands& operands, const expr::Parameters& parameters,
                              const Tensor& result) {
  if (result.numel() == 0 || operands.on_meta() || one_element_differs(function, operands)) return;
  for (int64_t linear : {int64_t{0}, result.numel() / 3, result.numel() - 1}) {
    const Dims index = index_at(result.sizes(), linear);
    Tensor ones[Function::kMaxOperands];
    Function::Operands args;
    for (std::size_t i = 0; i < operands.tensors.size(); ++i) {
      args[i] = operands.args[i];
      if (!operands.copies[i]) continue;
      const Copy& copy = *operands.copies[i];
      const int64_t from = linear_at(copy.sizes, operand_index(copy.sizes, index));
      ones[i] = tensor_of_bytes(copy.element(from), copy.sizes.empty() ? SizesView() : SizesView{1}, copy.dtype);
      args[i] = Arg(ones[i]);
    }
    const Tensor one = function.call(nullptr, args, parameters).to(result.dtype());
    const std::string want = bytes_of(one), got = element_of(result, index);
    CLAIM_OF(same_element(got, want, result.dtype()),
             std::string(function.name) + " at " + to_string(index) + " of " + describe(result) + ": " +
                 std::to_string(as_double(got, result.dtype())) + ", and of the element alone " +
                 std::to_string(as_double(want, result.dtype())));
  }
}

/// How far floating sums of these may lie apart for the order they are summed in.
inline double tolerance(const Tensor& elements, Dtype dtype) {
  const double epsilon = dtype == Dtype::float64   ? 1e-15
                         : dtype == Dtype::float32 ? 2e-7
                         : dtype == Dtype::float16 ? 2e-3
                                                   : 2e-2;
  double sum = 0;
  for (int64_t i = 0; i < elements.numel(); ++i) sum += std::abs(elements.select(0, i).item().as_double());
  return epsilon * (static_cast<double>(elements.numel()) + 2) * sum;
}
inline bool near(double a, double b, double apart) {
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b))
    return true;  // the order decides what overflows
  return std::abs(a - b) <= apart;
}

/// Which dims are folded; the result's sizes are the others.
inline std::vector<bool> folded_dims(SizesView sizes, SizesView dims) {
  std::vector<bool> folded(static_cast<std::size_t>(sizes.size()), dims.empty());
  for (int64_t dim : dims)
    if (sizes.size() > 0) folded[static_cast<std::size_t>(dim < 0 ? dim + sizes.size() : dim)] = true;
  return folded;
}

/// Compares one element of a reduction with the reduction of the elements it is made of, laid out in a row.
inline void check_reduction(const Function& function, const Copy& self, const expr::Parameters& parameters,
                            const Tensor& result) {
  const std::vector<bool> folded = folded_dims(self.sizes, parameters.dims);
  Dims want;
  for (int64_t dim = 0; dim < self.sizes.size(); ++dim) {
    if (!folded[static_cast<std::size_t>(dim)])
      want.push_back(self.sizes[dim]);
    else if (parameters.keepdim)
      want.push_back(1);
  }
  CLAIM_OF(result.sizes() == want, std::string(function.name) + ": " + describe(result) + " for " + to_string(want));
  if (result.numel() == 0 || result.is_meta()) return;
  const Dims index = index_at(result.sizes(), result.numel() / 2);
  std::string bytes;
  int64_t count = 0;
  const int64_t numel = static_cast<int64_t>(count_elements(self.sizes));
  for (int64_t linear = 0; linear < numel; ++linear) {
    const Dims source = index_at(self.sizes, linear);
    bool inside = true;
    for (int64_t dim = 0, next = 0; dim < self.sizes.size(); ++dim) {
      const bool fold = folded[static_cast<std::size_t>(dim)];
      if (!fold) inside = inside && source[dim] == index[next];
      if (!fold || parameters.keepdim) ++next;
    }
    if (!inside) continue;
    bytes += self.element(linear);
    ++count;
  }
  const Tensor row = tensor_of_bytes(bytes, {count}, self.dtype);
  expr::Parameters over_all;
  over_all.dtype = parameters.dtype;
  if (function.op == Op::sum || function.op == Op::mean)
    over_all.dtype = result.dtype();  // an `out=` of another dtype is what it sums in
  const Function::Operands args{Arg(row)};
  const Tensor one = function.call(nullptr, args, over_all).to(result.dtype());
  const double a = as_double(element_of(result, index), result.dtype()), b = one.item().as_double();
  const bool floating = is_floating_point(result.dtype());
  const bool same = same_element(element_of(result, index), bytes_of(one), result.dtype()) ||
                    (floating && near(a, b, tolerance(row, result.dtype())));
  CLAIM_OF(same, std::string(function.name) + " of " + to_string(self.sizes) + " over " + to_string(parameters.dims) +
                     ": " + std::to_string(a) + ", and in a row " + std::to_string(b));
}

/// Compares one element of a matrix product with the sum of its products.
inline void check_product(const Operands& operands, const Tensor& result) {
  const Copy &a = *operands.copies[0], &b = *operands.copies[1];
  CLAIM(result.dim() == 2 && result.sizes()[0] == a.sizes[0] && result.sizes()[1] == b.sizes[1]);
  if (result.numel() == 0 || result.is_meta() || result.dtype() == Dtype::bool_) return;
  const int64_t depth = a.sizes[1], row = result.sizes()[0] - 1, column = result.sizes()[1] / 2;
  std::string left, right;
  for (int64_t i = 0; i < depth; ++i) {
    left += a.element(row * depth + i);
    right += b.element(i * b.sizes[1] + column);
  }
  const bool floating = is_floating_point(result.dtype());
  const Dtype wide = floating ? Dtype::float64 : Dtype::int64;
  const Tensor products =
      mul(tensor_of_bytes(left, {depth}, a.dtype).to(wide), tensor_of_bytes(right, {depth}, b.dtype).to(wide));
  const Tensor want = sum(products).to(result.dtype());
  const double x = as_double(element_of(result, {row, column}), result.dtype()), y = want.item().as_double();
  CLAIM_OF(floating ? near(x, y, tolerance(products, result.dtype())) : x == y,
           "mm: " + std::to_string(x) + " for " + std::to_string(y) + " in " + describe(result));
}

inline void check_op(const Function& function, const Operands& operands, const expr::Parameters& parameters,
                     const Tensor& result) {
  if (expr::is_reduction(function.kind)) return check_reduction(function, *operands.copies[0], parameters, result);
  if (function.kind == FunctionKind::product) return check_product(operands, result);
  check_elementwise(function, operands, parameters, result);
}

inline expr::Parameters draw_parameters(Bytes& bytes, FunctionKind kind) {
  expr::Parameters parameters;
  if (kind == FunctionKind::binary_alpha && bytes.up_to(2) == 0) parameters.alpha = draw_number(bytes);
  if (kind == FunctionKind::division && bytes.flag()) parameters.rounding_mode = bytes.flag() ? "floor" : "trunc";
  if (!expr::is_reduction(kind)) return parameters;
  for (int64_t left = bytes.up_to(2); left > 0; --left) parameters.dims.push_back(bytes.up_to(5) - 2);
  parameters.keepdim = bytes.flag();
  if (kind == FunctionKind::reduction_dtype && bytes.up_to(2) == 0) parameters.dtype = bytes.dtype();
  return parameters;
}

}  // namespace tenon::fuzz
