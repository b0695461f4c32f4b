#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/wide_integers.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
void fill_wide_integers(KernelTable& table) {
  fill_dtype<int64_t>(table);
  fill_dtype<int32_t>(table);
}
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
