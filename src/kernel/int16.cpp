#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/int16.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
void fill_int16(KernelTable& table) { fill_dtype<int16_t>(table); }
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
