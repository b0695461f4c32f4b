#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/bfloat16.cpp"
#include "hwy/foreach_target.h"
#include "kernel/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
void fill_bfloat16(KernelTable& table) { fill_half<BFloat16>(table); }
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
