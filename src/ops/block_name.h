// ops: takes an op; gives the name of its block, which is no other op's.
#pragma once
#include "ops/row.h"

namespace tenon {

/// A custom op has the name that it was defined with.
const char* block_name(Op op) noexcept;

}  // namespace tenon
