// dispatch: what a call of an elementwise op comes to. Takes op, arguments and form; gives shape, layout and dtypes,
// having checked everything that is to be checked, in PyTorch's order. The paths of few elements stand in front of it.
#pragma once
#include "dispatch/elementwise.h"

namespace tenon {

/// Where the result goes.
enum class Form : uint8_t {
  functional,  // to a new tensor
  out,         // to a tensor that is resized where its shape is another one
  inplace,     // to the first argument, which never changes shape
};

/// The dtypes of one call.
struct Types {
  Dtype common;   // of the operands together
  Dtype compute;  // that kernels work in
  Dtype result;   // that the op gives
};

struct Resolved {
  Types types;
  Device device;
  Dims shape;
  Dims strides;       // of a result that is new, or resized
  bool is_flat;       // operands that do not broadcast are treated as 1-D: the deprecated way
  bool is_new_shape;  // of `out`
};

/// `out`: what is written to; null where the result is new.
Resolved resolve(Op op, Args args, int count, Form form, const Tensor* out = nullptr);
/// The functional form of any size, as it runs where the paths of few elements don't.
Tensor run_resolved(Op op, Args args, int count);

}  // namespace tenon
