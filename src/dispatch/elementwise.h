// dispatch: takes a row of the op table and its arguments; gives the result of the functional, in-place or out= form.
// Decides shapes, dtypes and where to write; plan/ and tile/ do the work.
#pragma once
#include "ops/row.h"
#include "tenon/tensor.h"

namespace tenon {

/// The arguments of a call, where the caller holds them.
using Args = const Arg* const*;

/// Runs an elementwise op and gives a new result.
Tensor elementwise(Op op, Args args, int count);
/// Writes into `out`, which is resized (with PyTorch's warning) when its shape differs.
Tensor& elementwise_out(Op op, Tensor& out, Args args, int count);
/// Writes into the first argument, which never changes shape.
Tensor& elementwise_inplace(Op op, Tensor& self, Args args, int count);

/// The dtype of computation of 16-bit floats is float32.
constexpr Dtype widened(Dtype dtype) { return dtype == float16 || dtype == bfloat16 ? float32 : dtype; }
/// Error "result type Float can't be cast to the desired output type Int".
void check_can_cast(Dtype result, Dtype output);
/// NotImplementedError "\"abs_cpu\" not implemented for 'Bool'".
[[noreturn]] void fail_no_code(const char* kernel, Dtype dtype);
/// That error where a row has no code for a dtype.
inline void check_has_code(const Row& row, Dtype dtype) {
  if ((row.dtypes & set_of(dtype)) == 0) fail_no_code(row.kernel_name, dtype);
}
/// "cpu" or "meta".
const char* device_name(Device device) noexcept;
/// Error where an operand is elsewhere than the others.
void check_device(const Tensor& operand, Device expected);
/// Error where a result would have to go to another device.
void check_out_device(const Tensor& out, Device device);
/// PyTorch's warning where complex numbers are written to real ones.
void warn_of_lost_parts();
inline void warn_of_lost_parts(Dtype from, Dtype to, int64_t numel) {
  if (is_complex(from) && !is_complex(to) && to != bool_ && numel > 0) [[unlikely]]
    warn_of_lost_parts();
}
/// How an argument takes part in promotion.
TypedOperand typed(const Arg& arg);
/// Gives an output its new shape, with PyTorch's warning where it had elements; its old one again, where what follows
/// fails before `keep`.
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
  std::optional<Layout> before_;  // where the shape is another one
};
/// Error of an in-place form whose result has another shape.
void check_inplace_shape(SizesView self, SizesView shape);

}  // namespace tenon
