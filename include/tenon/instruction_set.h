// kernel: which vector instructions the kernels use.
#pragma once
#include "tenon/export.h"

namespace tenon {

/// The instruction set in use ("AVX2"), and all that this build has ("AVX3 AVX2 EMU128").
TENON_API const char* instruction_set() noexcept;
TENON_API const char* compiled_instruction_sets() noexcept;

}  // namespace tenon
