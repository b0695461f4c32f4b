// kernel: the ops' formulas, for the instruction set of the file that includes them.
#if defined(TENON_KERNEL_FORMULAS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_FORMULAS_INL_H
#undef TENON_KERNEL_FORMULAS_INL_H
#else
#define TENON_KERNEL_FORMULAS_INL_H
#endif

#include "kernel/kernel.h"
#include "kernel/lane-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces): the other one is in an included file

#include "ops/blocks-inl.h"

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
