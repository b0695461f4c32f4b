// kernel: TENON_ONCE, for a function that is compiled once, not inlined and not cloned for constant arguments.
#pragma once

#if defined(__clang__)
#define TENON_ONCE __attribute__((noinline))
#else
#define TENON_ONCE __attribute__((noipa))
#endif
