// Random calls of all declared ops in every form, with any operands. An op's result is compared with its results for
// single elements.
#pragma once
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "declared.h"
#include "expr/functions.h"
#include "fuzz/world.h"
#include "ops/row.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::fuzz {

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

inline bool may_be_left_out(const Parameter& parameter) {
  return parameter.fallback || std::string_view(parameter.type).ends_with("?");
}

/// A random value for an argument that is not an operand. A new type of argument needs a line here.
inline Value draw_value(Bytes& bytes, const Parameter& parameter) {
  if (may_be_left_out(parameter) && bytes.flag()) return {};
  const std::string_view type = parameter.type;
  const auto draw_dim = [&] { return bytes.up_to(5) - 2; };
  if (type.starts_with("ScalarType")) return bytes.dtype();
  if (type.starts_with("Scalar")) return draw_number(bytes);
  if (type.starts_with("int[")) {
    if (bytes.up_to(3) == 0) return draw_dim();
    Dims dims;
    for (int64_t left = bytes.up_to(2); left > 0; --left) dims.push_back(draw_dim());
    return dims;
  }
  if (type.starts_with("int")) {
    if (bytes.up_to(3) > 0) return draw_dim();
    const int64_t number = bytes.integer();
    const bool costs_memory = std::abs(number / 2) > 64 && std::abs(number / 2) < (int64_t{1} << 32);  // as an offset
    return costs_memory ? number % 64 : number;
  }
  if (type.starts_with("float[")) return List<double>{draw_number(bytes).as_double(), draw_number(bytes).as_double()};
  if (type.starts_with("float")) return draw_number(bytes);
  if (type.starts_with("bool")) return bytes.flag();
  if (type.starts_with("str")) {
    if (bytes.up_to(7) == 0) return "no such word";
    const declared::Values words = declared::declared_values(parameter);
    return words[static_cast<std::size_t>(bytes.up_to(static_cast<int64_t>(words.size()) - 1))];
  }
  fail_claim("values of a parameter's type can be drawn", __FILE__, __LINE__, parameter.type);
}

/// Random indices, mostly in range, with as many dims as the tensor or one, in any layout.
inline Tensor draw_places(Bytes& bytes, const Tensor& self) {
  Dims sizes;
  int64_t most = 1, count = 1;
  for (int64_t size : self.sizes()) {
    if (bytes.up_to(3) == 0) size = bytes.up_to(4);
    if (size > 8 || count * size > kMostElements) size = 1;
    sizes.push_back(size);
    count *= size;
    most = std::max(most, size);
  }
  if (bytes.up_to(3) == 0) sizes = {bytes.up_to(4)};
  std::vector<int64_t> values(static_cast<std::size_t>(numel_of(sizes)));
  const bool any = bytes.up_to(3) == 0;
  for (int64_t& value : values) value = any ? bytes.integer() : bytes.up_to(most - 1);
  const std::string elements(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  Tensor places = tensor_of_bytes(elements, sizes, Dtype::int64);
  const int64_t form = bytes.up_to(7);
  if (form == 0) return places.to(Dtype::int32);
  if (form == 1 && places.dim() > 1) return places.transpose(0, -1).contiguous().transpose(0, -1);
  if (form == 2 && places.dim() > 0 && places.size(0) > 0) return places.narrow(0, 0, 1).expand(sizes);
  return places;
}

/// A call of an op, and the elements its operands have before it.
struct Call {
  const Schema* schema;
  expr::Values values;                      // in the order of the parameters
  std::vector<std::optional<Copy>> copies;  // of those that are tensors

  explicit Call(const Schema& op) : schema(&op) {}
  void add(Value value) {
    copies.push_back(value.is_tensor() ? std::optional<Copy>(value.tensor()) : std::nullopt);
    values.push_back(std::move(value));
  }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> given;
    for (const Value& value : values)
      if (value.is_tensor()) given.push_back(value.tensor());
    return given;
  }
  bool on_meta() const {
    for (const Value& value : values)
      if (value.is_tensor() && value.tensor().is_meta()) return true;
    return false;
  }
  /// Null if the op has no such parameter, or it has no value yet.
  const Value* find(std::string_view parameter) const {
    const int place = schema->place_of(parameter);
    const bool given = place >= 0 && static_cast<std::size_t>(place) < values.size();
    return given ? &values[static_cast<std::size_t>(place)] : nullptr;
  }
  /// Whether it can be called as a method: not if `self` is a number.
  bool has_self() const {
    const Value* self = find("self");
    return self && self->is_tensor();
  }
};

/// The numel of all operands broadcast together; -1 if they do not broadcast, or on int64 overflow.
inline Wide broadcast_count(const std::vector<Tensor>& tensors, Dims* sizes = nullptr) {
  Dims shape;
  for (const Tensor& tensor : tensors) {
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

/// Whether a second operand of one element is not rounded to 16 bits, so that results for single elements differ.
inline bool one_element_differs(const Call& call) {
  const int op = call.schema->op;
  if (op < 0 || !row_of(static_cast<Op>(op)).exact_second || call.copies.size() < 2 || !call.copies[1]) return false;
  const Copy& second = *call.copies[1];
  const bool rounds = is_floating_point(second.dtype) && itemsize(second.dtype) == 2;
  return (call.copies[0] && call.copies[0]->dtype != second.dtype) || (rounds && count_elements(second.sizes) != 1);
}

/// `place`: which of the results of the op it is.
inline void check_elementwise(const Call& call, const Tensor& result, int64_t place = 0) {
  if (result.numel() == 0 || result.is_meta() || call.on_meta() || one_element_differs(call)) return;
  for (int64_t linear : {int64_t{0}, result.numel() / 3, result.numel() - 1}) {
    const Dims index = index_at(result.sizes(), linear);
    expr::Values ones = call.values;
    for (std::size_t i = 0; i < ones.size(); ++i) {
      if (!call.copies[i]) continue;
      const Copy& copy = *call.copies[i];
      const int64_t from = linear_at(copy.sizes, operand_index(copy.sizes, index));
      ones[i] = tensor_of_bytes(copy.element(from), copy.sizes.empty() ? SizesView() : SizesView{1}, copy.dtype);
    }
    const Tensor one = expr::call(*call.schema, ones, static_cast<int>(place)).to(result.dtype());
    const std::string want = bytes_of(one), got = element_of(result, index);
    CLAIM_OF(same_element(got, want, result.dtype()),
             std::string(call.schema->name) + " at " + to_string(index) + " of " + describe(result) + ": " +
                 std::to_string(as_double(got, result.dtype())) + ", and of the element alone " +
                 std::to_string(as_double(want, result.dtype())));
  }
}

inline double magnitude(Complex128 number) { return std::hypot(number.re, number.im); }

/// The largest difference of floating-point sums of these elements in different orders.
inline double tolerance(const Tensor& elements, Dtype dtype) {
  const double epsilon = to_real(dtype) == Dtype::float64   ? 1e-15
                         : to_real(dtype) == Dtype::float32 ? 2e-7
                         : dtype == Dtype::float16          ? 2e-3
                                                            : 2e-2;
  double sum = 0;
  for (int64_t i = 0; i < elements.numel(); ++i) sum += magnitude(elements.select(0, i).item().as_complex());
  return epsilon * (static_cast<double>(elements.numel()) + 2) * sum;
}
inline bool near(Complex128 a, Complex128 b, double apart) {
  for (const double part : {a.re, a.im, b.re, b.im})
    if (!std::isfinite(part)) return true;  // which partial sum overflows depends on the order
  return std::abs(a.re - b.re) <= apart && std::abs(a.im - b.im) <= apart;
}

/// The reduced dims.
inline std::vector<bool> folded_dims(SizesView sizes, SizesView dims) {
  std::vector<bool> folded(static_cast<std::size_t>(sizes.size()), dims.empty());
  for (int64_t dim : dims)
    if (sizes.size() > 0) folded[static_cast<std::size_t>(dim < 0 ? dim + sizes.size() : dim)] = true;
  return folded;
}

/// Compares one element of a reduction's result at `place` with the reduction of its elements in a contiguous row.
inline void check_reduction(const Call& call, const Tensor& result, int64_t place) {
  const auto place_of = [&](const char* parameter) {
    return static_cast<std::size_t>(call.schema->place_of(parameter));
  };
  const Copy& self = *call.copies[place_of("self")];
  const Value* dim_value = call.find("dim");
  const DimsArg dims = dim_value ? dim_value->dims_arg() : DimsArg();
  const bool keepdim = call.find("keepdim") && call.find("keepdim")->boolean(false);
  const std::vector<bool> folded = folded_dims(self.sizes, dims.view());
  Dims want;
  for (int64_t dim = 0; dim < self.sizes.size(); ++dim) {
    if (!folded[static_cast<std::size_t>(dim)])
      want.push_back(self.sizes[dim]);
    else if (keepdim)
      want.push_back(1);
  }
  const std::string text =
      std::string(call.schema->name) + " of " + to_string(self.sizes) + " over " + to_string(dims.view());
  CLAIM_OF(result.sizes() == want, text + ": " + describe(result) + " for " + to_string(want));
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
      if (!fold || keepdim) ++next;
    }
    if (!inside) continue;
    bytes += self.element(linear);
    ++count;
  }
  const Tensor row = tensor_of_bytes(bytes, {count}, self.dtype);
  expr::Values over_all = call.values;
  over_all[place_of("self")] = row;
  if (dim_value) over_all[place_of("dim")] = Value();
  if (keepdim) over_all[place_of("keepdim")] = Value();
  if (call.find("dtype"))
    over_all[place_of("dtype")] = result.dtype();  // an `out=` of another dtype decides the accumulation dtype
  const List<Tensor> ones = call.schema->function(over_all.data());
  const Tensor one = ones[static_cast<std::size_t>(place)].to(result.dtype());
  const Complex128 a = as_complex(element_of(result, index), result.dtype()), b = one.item().as_complex();
  const bool floating = is_inexact(result.dtype());
  const bool same = same_element(element_of(result, index), bytes_of(one), result.dtype()) ||
                    (floating && near(a, b, tolerance(row, result.dtype())));
  CLAIM_OF(same, text + ": " + std::to_string(a.re) + ", and in a row " + std::to_string(b.re));
}

/// Compares one element of a matrix product with the sum of its products.
inline void check_product(const Call& call, const Tensor& result) {
  const Copy &a = *call.copies[0], &b = *call.copies[1];
  CLAIM(result.dim() == 2 && result.sizes()[0] == a.sizes[0] && result.sizes()[1] == b.sizes[1]);
  if (result.numel() == 0 || result.is_meta() || result.dtype() == Dtype::bool_) return;
  const int64_t depth = a.sizes[1], row = result.sizes()[0] - 1, column = result.sizes()[1] / 2;
  std::string left, right;
  for (int64_t i = 0; i < depth; ++i) {
    left += a.element(row * depth + i);
    right += b.element(i * b.sizes[1] + column);
  }
  const bool floating = is_inexact(result.dtype());
  const Dtype wide = is_complex(result.dtype()) ? Dtype::complex128 : floating ? Dtype::float64 : Dtype::int64;
  const Tensor products =
      mul(tensor_of_bytes(left, {depth}, a.dtype).to(wide), tensor_of_bytes(right, {depth}, b.dtype).to(wide));
  const Tensor want = sum(products).to(result.dtype());
  const Complex128 x = as_complex(element_of(result, {row, column}), result.dtype()), y = want.item().as_complex();
  CLAIM_OF(floating ? near(x, y, tolerance(products, result.dtype())) : x == y,
           "mm: " + std::to_string(x.re) + " for " + std::to_string(y.re) + " in " + describe(result));
}

/// Checks an op's result at `place`. For other algorithms only the claims about every tensor are checked.
inline void check_op(const Call& call, const Tensor& result, int64_t place = 0) {
  check_tensor(result);
  if (call.schema->is_fold()) check_reduction(call, result, place);
  if (std::string_view(call.schema->name) == "mm") check_product(call, result);
  if (!call.schema->is_map()) return;
  Dims sizes;
  CLAIM(broadcast_count(call.tensors(), &sizes) >= 0);
  CLAIM_OF(result.sizes() == sizes, std::string(call.schema->name) + " gave " + describe(result));
  check_elementwise(call, result, place);
}

}  // namespace tenon::fuzz
