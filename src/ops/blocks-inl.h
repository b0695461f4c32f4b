// ops: every block, for one instruction set. Takes the lane types in scope at the point of inclusion
// (kernel/lane-inl.h: Truth, larger, mul_add, ...); gives a struct an op. An op in a new file adds its include here.
#if defined(TENON_OPS_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_OPS_BLOCKS_INL_H
#undef TENON_OPS_BLOCKS_INL_H
#else
#define TENON_OPS_BLOCKS_INL_H
#endif

namespace ops {
#include "ops/arithmetic-inl.h"
#include "ops/comparison-inl.h"
#include "ops/product-inl.h"
#include "ops/reduction-inl.h"
#include "ops/selection-inl.h"
}  // namespace ops

#endif
