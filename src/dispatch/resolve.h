// dispatch: the general path of elementwise calls. Takes op, arguments and form; makes all checks in PyTorch's order
// and gives all that is decided before data is touched. The fast paths come before it.
#pragma once
#include "dispatch/call_types.h"
#include "dispatch/prepared.h"

namespace tenon {

/// Where the result goes.
enum class Form : uint8_t {
  functional,  // to a new tensor
  out,         // to a given tensor, which is resized if its shape differs
  inplace,     // to the first argument, which never changes shape
};
/// A result of an out= call that has several.
struct NamedOut {
  const char* name;  // in error texts
  Tensor* tensor;
};

struct Resolved {
  Types types;
  Conversion conversions[kMaxArgs];
  Device device;
  Dims shape;
  Dims strides;                  // of a new or resized result, or of the temporary
  bool is_flat;                  // operands that do not broadcast are treated as 1-D (deprecated)
  bool needs_temporary = false;  // the output gets a copy of the result
  Number numbers[kMaxArgs];      // the arguments that are numbers, as the kernel reads them
  PreparedCall prepared;         // plan, Program and schedule; empty: nothing runs
};

/// `out`: the tensor that is written; null for new results.
Resolved resolve(Op op, Args args, int count, Form form, const Tensor* out = nullptr);
/// The same for the out= form of a map of several results.
Resolved resolve_outs(Op op, Args args, int count, const NamedOut* outs);

/// The result of two small operands that are first cast to `dtype`; undefined if they need a plan. Not recorded.
Tensor small_elementwise(Op op, Dtype dtype, Args args);
/// The functional form without the fast paths.
Tensor run_resolved(Op op, Args args, int count);
/// The same for a map of several results, which one pass computes.
List<Tensor> run_results(Op op, Args args, int count);
/// Its out= form.
void run_results_out(const NamedOut* outs, Op op, Args args, int count);

}  // namespace tenon
