// kernel: the kernels of custom ops with streaming stores. Apart from kernel.h, which every kernel includes.
#pragma once
#include "kernel/kernel.h"

namespace tenon {

/// By compute dtype; null: none.
const CustomKernels& custom_streamed_kernels(Op op) noexcept;
void set_custom_streamed_kernels(Op op, const CustomKernels& kernels);

/// The kernel with streaming stores of any elementwise op; null if it has none.
inline Kernel any_streamed_kernel_of(Op op, Dtype compute) noexcept {
  if (is_custom(op)) [[unlikely]]
    return custom_streamed_kernels(op)[static_cast<std::size_t>(compute)];
  return streamed_kernel_of(op, compute);
}

}  // namespace tenon
