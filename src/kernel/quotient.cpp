// kernel: quotients of float32 and float64 by one number, for the table of kernels.
#include <utility>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/quotient.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernel/quotient-inl.h"
#include "kernel/some_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Of fewer lanes the inverse takes as long as it saves. Bench: tenon_bench --filter '^fuse/softmax by hand/few'.
constexpr int64_t kFewDivided = 64;

/// Kernels for all other operands.
template <class T>
struct OtherQuotients {
  static inline Kernel plain;
  static inline RowsKernel rows;
};

template <class T>
bool are_by_one(const Lanes* in, int64_t n) {
  return n >= kFewDivided && in[0].step != 0 && in[1].step == 0;
}
/// False if the divisor needs the processor's instruction.
template <class T>
HWY_INLINE bool divide_by_one(T* to, const T* from, T divisor, int64_t n) {
  const hn::ScalableTag<T> d;
  using Quotients = QuotientsByOne<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  if (!Quotients::takes(divisor)) return false;
  const Quotients quotients(divisor);
  const auto at = [&](int64_t i) TENON_UNROLLED { return quotients(hn::LoadU(d, from + i)); };
  store_overlapping<kLanes>(n, at(0), at, [&](int64_t i, auto v) TENON_UNROLLED { hn::StoreU(v, d, to + i); });
  return true;
}

template <class T>
void quotients(void* out, const Lanes* in, int64_t n) {
  const T* const from = static_cast<const T*>(in[0].data);
  if (are_by_one<T>(in, n) && divide_by_one(static_cast<T*>(out), from, *static_cast<const T*>(in[1].data), n)) return;
  OtherQuotients<T>::plain(out, in, n);
}
template <class T>
void quotients_of_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  if (!are_by_one<T>(in, n)) return OtherQuotients<T>::rows(out, out_step, in, steps, n, rows);
  Lanes row[] = {in[0], in[1]};
  for (; rows > 0; --rows, out = static_cast<std::byte*>(out) + out_step) {
    quotients<T>(out, row, n);
    for (int i = 0; i < 2; ++i) row[i].data = static_cast<const std::byte*>(row[i].data) + steps[i];
  }
}

template <class T>
void fill_quotients_of(KernelTable& table) {
  constexpr auto op = static_cast<int>(Op::div), dtype = static_cast<int>(dtype_of_v<T>);
  OtherQuotients<T>::plain = std::exchange(table.elementwise[op][dtype], &quotients<T>);
  OtherQuotients<T>::rows = std::exchange(table.elementwise_rows[op][dtype], &quotients_of_rows<T>);
}
#endif

/// After the kernels of all floats.
void fill_quotients([[maybe_unused]] KernelTable& table) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  fill_quotients_of<float>(table);
  fill_quotients_of<double>(table);
#endif
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
