// ops: every block, for one instruction set. Takes the lane types in scope at the point of inclusion
// (kernel/lane-inl.h: Truth, larger, mul_add, ...); gives a struct an op.
#if defined(TENON_OPS_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_OPS_BLOCKS_INL_H
#undef TENON_OPS_BLOCKS_INL_H
#else
#define TENON_OPS_BLOCKS_INL_H
#endif

namespace ops {
#include "ops/blocks.inc"  // every src/ops/*-inl.h
}  // namespace ops

#endif
