// frexp: mantissas and exponents.
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"

namespace tenon {
namespace {

// Elements of a thread's part. Bench: tenon_bench --ops --filter 'ops/frexp$'.
constexpr int64_t kPartElements = 1 << 14;

/// Replaces an element by its mantissa. Returns the exponent.
template <class T>
int split(T& element) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int kMantissaBits = std::numeric_limits<T>::digits - 1, kBias = std::numeric_limits<T>::max_exponent - 1;
  constexpr Bits kExponents = 2 * kBias + 1;
  const Bits bits = std::bit_cast<Bits>(element), exponent = bits >> kMantissaBits & kExponents;
  if (exponent == kExponents) return 0;  // NaN and the infinities
  if (exponent == 0) {                   // subnormals and 0
    int wide = 0;
    element = std::frexp(element, &wide);
    return wide;
  }
  element = std::bit_cast<T>((bits & ~(kExponents << kMantissaBits)) | Bits{kBias - 1} << kMantissaBits);
  return static_cast<int>(exponent) - (kBias - 1);
}

/// The same for contiguous elements, in place.
template <class T>
void split(T* elements, int32_t* exponents, int64_t count) {
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "direct", .stores = "in place"});
  run_or_plan(elements, (count + kPartElements - 1) / kPartElements, [&](int64_t part) {
    check_interrupt();
    // exact: inside the storage
    const int64_t end = std::min(count, (part + 1) * kPartElements);
    for (int64_t i = part * kPartElements; i < end; ++i) exponents[i] = split(elements[i]);
  });
}

void split(const Tensor& elements, const Tensor& exponents) {
  auto* const to = reinterpret_cast<int32_t*>(exponents.impl()->data());
  if (elements.dtype() == float64)
    split(reinterpret_cast<double*>(elements.impl()->data()), to, elements.numel());
  else
    split(reinterpret_cast<float*>(elements.impl()->data()), to, elements.numel());
}

void check_floating(const Tensor& self) {
  if (!is_floating_point(self.dtype())) throw Error("torch.frexp() only supports floating-point dtypes");
}

}  // namespace

std::tuple<Tensor, Tensor> plain::frexp(const Tensor& self) {
  check_floating(self);
  const bool is_half = itemsize(self.dtype()) == 2;  // every 16-bit float is exact in float32
  Tensor mantissa = is_half ? run_to(self, float32, MemoryFormat::preserve) : run_clone(self, MemoryFormat::preserve);
  Tensor exponent = new_tensor(self.sizes(), mantissa.strides(), int32, self.device());
  if (self.numel() > 0 && is_computed(self)) split(mantissa, exponent);
  if (is_half) mantissa = run_to(mantissa, self.dtype(), MemoryFormat::preserve);
  return {std::move(mantissa), std::move(exponent)};
}

std::tuple<Tensor&, Tensor&> plain::frexp_out(Tensor& mantissa, Tensor& exponent, const Tensor& self) {
  check_unrecorded(Op::frexp, mantissa, self);
  check_unrecorded(Op::frexp, exponent, self);
  check_floating(self);
  if (mantissa.dtype() != self.dtype())
    throw Error(std::string("torch.frexp() expects mantissa to have dtype ") + cpp_type_name(self.dtype()) +
                " but got " + cpp_type_name(mantissa.dtype()));
  if (exponent.dtype() != int32)
    throw Error(std::string("torch.frexp() expects exponent to have int dtype but got ") +
                cpp_type_name(exponent.dtype()));
  Tensor* const outs[] = {&mantissa, &exponent};
  List<Tensor> results = as_list(plain::frexp(self));
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor &other = *outs[1 - i], result = results[i];
    if (outs[i]->sizes() != self.sizes() && other.sizes() == self.sizes())  // it is resized, to the other's layout
      run_copy(
          results[i] = new_tensor(self.sizes(), strides_like(self.sizes(), other.strides(), MemoryFormat::preserve),
                                  result.dtype(), self.device()),
          result);
  }
  write_results(Op::frexp, outs, results, &self);
  return {mantissa, exponent};
}

}  // namespace tenon
