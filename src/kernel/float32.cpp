#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/float32.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
void fill_float32(KernelTable& table) { fill_dtype<float>(table); }
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
