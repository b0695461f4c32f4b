// frexp: mantissas and exponents.
#include <cmath>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

constexpr int64_t kPartElements = 1 << 14;

/// In place over elements one behind the other.
template <class T>
void split(T* elements, int32_t* exponents, int64_t count) {
  parallel_for((count + kPartElements - 1) / kPartElements, [&](int64_t part) {
    check_interrupt();
    // exact: inside the storage
    const int64_t end = std::min(count, (part + 1) * kPartElements);
    for (int64_t i = part * kPartElements; i < end; ++i) {
      const double value = [&] {
        if constexpr (is_half_v<T>)
          return static_cast<double>(to_float(elements[i]));
        else
          return static_cast<double>(elements[i]);
      }();
      int exponent = 0;
      const double mantissa = std::frexp(value, &exponent);  // exact in any floating dtype
      exponents[i] = std::isfinite(value) ? exponent : 0;
      if constexpr (std::is_same_v<T, Float16>)
        elements[i] = to_float16(static_cast<float>(mantissa));
      else if constexpr (std::is_same_v<T, BFloat16>)
        elements[i] = to_bfloat16(static_cast<float>(mantissa));
      else
        elements[i] = static_cast<T>(mantissa);
    }
  });
}

void check_floating(const Tensor& self) {
  if (!is_floating_point(self.dtype())) throw Error("torch.frexp() only supports floating-point dtypes");
}

}  // namespace

std::tuple<Tensor, Tensor> plain::frexp(const Tensor& self) {
  check_floating(self);
  Tensor mantissa = run_clone(self, MemoryFormat::preserve),
         exponent = new_tensor(self.sizes(), mantissa.strides(), int32, self.device());
  if (self.numel() == 0 || self.is_meta()) return {std::move(mantissa), std::move(exponent)};
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (is_half_v<T> || std::is_floating_point_v<T>)
      split(reinterpret_cast<T*>(mantissa.impl()->data()), reinterpret_cast<int32_t*>(exponent.impl()->data()),
            self.numel());
  });
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
  write_results(Op::frexp, outs, as_list(plain::frexp(self)));
  return {mantissa, exponent};
}

}  // namespace tenon
