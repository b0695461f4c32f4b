// cmake/TenonFlags.cmake compiles this file with fused multiply-add.
#define TENON_SPECIAL fused
#include "kernel/special-inl.h"
