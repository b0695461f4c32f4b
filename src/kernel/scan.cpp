// kernel: running sums of many columns at once.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/scan.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

template <class T, class Sum>
void sum_columns(void* out, const void* in, int64_t length, int64_t inner, void* sums) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  Sum* const running = static_cast<Sum*>(sums);
  for (int64_t row = 0; row < length; ++row, from += inner, to += inner) {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < inner; ++i) to[i] = static_cast<T>(running[i] += static_cast<Sum>(from[i]));
  }
}

template <class... T>
void fill_integers(KernelTable& table) {
  ((table.sum_columns[static_cast<int>(dtype_of_v<T>)] = &sum_columns<T, uint64_t>), ...);
}
void fill_scans(KernelTable& table) {
  fill_integers<uint8_t, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t>(table);
  table.sum_columns[static_cast<int>(float32)] = &sum_columns<float, double>;
  table.sum_columns[static_cast<int>(float64)] = &sum_columns<double, double>;
  table.sum_columns_in_float32 = &sum_columns<float, float>;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
