// ops: all blocks, for one instruction set. Uses the lane types that are in scope where it is included
// (kernel/lane-inl.h: Truth, larger, mul_add, ...). Each op is a struct.
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
