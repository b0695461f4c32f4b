// kernel: functions of complex numbers, which are made of the kernels of their parts.
#pragma once
#include "kernel/kernel.h"

namespace tenon {

/// Fills a table of any instruction set, once it has the kernels of float32 and float64.
void fill_complex_functions(KernelTable& table);

}  // namespace tenon
