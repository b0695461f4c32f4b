#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/bytes.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
void fill_bytes(KernelTable& table) {
  fill_dtype<int8_t>(table);
  fill_dtype<uint8_t>(table);
  fill_dtype<bool>(table);
}
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
