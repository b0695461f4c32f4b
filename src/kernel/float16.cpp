#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/float16.cpp"
#include "hwy/foreach_target.h"
#include "kernel/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
void fill_float16(KernelTable& table) { fill_half<Float16>(table); }
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
