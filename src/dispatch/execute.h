// dispatch: the plan, Program and schedule of an elementwise call, and its run. Takes a call whose checks have passed.
#pragma once
#include "dispatch/resolve.h"

namespace tenon {

/// A tensor that a call writes.
struct Output {
  SizesView strides;
  Dtype dtype;
  const void* data;  // null: new memory, which begins on a cache line
};

/// Adds what runs to a call that is resolved otherwise. `outputs`: one for each result.
void prepare(Op op, Resolved& resolved, Args args, int count, const Output* outputs);
/// Runs the call. `outs` are the outputs that were prepared for.
void execute(const Resolved& resolved, const Tensor* outs, Args args, int count);

}  // namespace tenon
