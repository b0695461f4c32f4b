// dispatch: the general path of elementwise calls. Takes op, arguments and form; makes all checks in PyTorch's order
// and gives shape, layout and dtypes. The fast paths come before it.
#pragma once
#include "dispatch/elementwise.h"

namespace tenon {

/// Where the result goes.
enum class Form : uint8_t {
  functional,  // to a new tensor
  out,         // to a given tensor, which is resized if its shape differs
  inplace,     // to the first argument, which never changes shape
};

/// The dtypes of one call.
struct Types {
  Dtype common;   // of the operands after promotion
  Dtype compute;  // of the kernel
  Dtype result;   // of the result
};

struct Resolved {
  Types types;
  Device device;
  Dims shape;
  Dims strides;       // of a new or resized result
  bool is_flat;       // operands that do not broadcast are treated as 1-D (deprecated)
  bool is_new_shape;  // `out` gets another shape
};

/// `out`: the tensor that is written; null for a new result.
Resolved resolve(Op op, Args args, int count, Form form, const Tensor* out = nullptr);
/// The functional form without the fast paths.
Tensor run_resolved(Op op, Args args, int count);
/// The same for a map of several results, which one pass computes.
List<Tensor> run_results(Op op, Args args, int count);
/// Its out= form.
struct NamedOut {
  const char* name;  // in error texts
  Tensor* tensor;
};
void run_results_out(const NamedOut* outs, Op op, Args args, int count);

}  // namespace tenon
