// dispatch: takes a row of the op table and its arguments; gives the result of the functional, in-place or out= form.
// Decides shapes, dtypes and where to write; plan/ and tile/ do the work.
#pragma once
#include "ops/row.h"
#include "tenon/tensor.h"

namespace tenon {

/// Pointers to the arguments of a call.
using Args = const Arg* const*;

/// Runs an elementwise op and gives a new result.
Tensor elementwise(Op op, Args args, int count);
/// Writes into `out`, which is resized (with PyTorch's warning) when its shape differs.
Tensor& elementwise_out(Op op, Tensor& out, Args args, int count);
/// Writes into the first argument, which never changes shape.
Tensor& elementwise_inplace(Op op, Tensor& self, Args args, int count);

/// The compute dtype of 16-bit floats: float32.
constexpr Dtype widened(Dtype dtype) { return dtype == float16 || dtype == bfloat16 ? float32 : dtype; }
[[noreturn]] void fail_cast(Dtype result, Dtype output);
/// Error "result type Float can't be cast to the desired output type Int".
inline void check_can_cast(Dtype result, Dtype output) {
  if (result != output && !can_cast(result, output)) fail_cast(result, output);
}
/// NotImplementedError "\"abs_cpu\" not implemented for 'Bool'".
[[noreturn]] void fail_no_code(const char* kernel, Dtype dtype);
/// Throws that error if a row has no kernel for a dtype.
inline void check_has_code(const Row& row, Dtype dtype) {
  if ((row.dtypes & set_of(dtype)) == 0) fail_no_code(row.kernel_name, dtype);
}
/// "cpu" or "meta".
const char* device_name(Device device) noexcept;
[[noreturn]] void fail_device(Device device, Device expected);
[[noreturn]] void fail_out_device(Device out, Device device);
/// Throws Error if an operand is on another device than the others.
inline void check_device(const Tensor& operand, Device expected) {
  if (operand.device() != expected) fail_device(operand.device(), expected);
}
/// Throws Error if `out` is on another device than the result.
inline void check_out_device(const Tensor& out, Device device) {
  if (out.device() != device) fail_out_device(out.device(), device);
}
/// PyTorch's warning for complex numbers that are written to a real tensor.
void warn_of_lost_parts();
inline void warn_of_lost_parts(Dtype from, Dtype to, int64_t numel) {
  if (is_complex(from) && !is_complex(to) && to != bool_ && numel > 0) [[unlikely]]
    warn_of_lost_parts();
}
/// An argument as an operand of type promotion.
TypedOperand typed(const Arg& arg);
/// Resizes an output, with PyTorch's warning if it had elements. Unless `keep` is called, the destructor restores the
/// old shape.
class ResizedOutput {
 public:
  ResizedOutput(Tensor& out, SizesView shape, SizesView strides);
  ~ResizedOutput();
  ResizedOutput(const ResizedOutput&) = delete;
  ResizedOutput& operator=(const ResizedOutput&) = delete;
  void keep() noexcept { before_.reset(); }

 private:
  struct Layout {
    Dims sizes, strides;
    int64_t numel;
    bool contiguous, row_major;
  };
  TensorImpl* impl_;
  std::optional<Layout> before_;  // set if the shape changed
};
/// Throws the Error of an in-place call whose result has another shape.
void check_inplace_shape(SizesView self, SizesView shape);

}  // namespace tenon
