#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/float64.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
void fill_float64(KernelTable& table) { fill_dtype<double>(table); }
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
