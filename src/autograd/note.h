// autograd: anomaly mode's notes. Takes a recorded call; gives the text that an Error in its backward shows.
#pragma once
#include "autograd/meta.h"
#include "dispatch/elementwise.h"

namespace tenon::autograd {

void write_note(NodeImpl& node, const char* name, Args args, int count);
inline void note_call(NodeImpl& node, const char* name, Args args, int count) {
  if (anomaly_mode.enabled) [[unlikely]]
    write_note(node, name, args, count);
}
inline void note_call(NodeImpl& node, const char* name, const Tensor& self) {
  const Arg arg(self);
  const Arg* const args[] = {&arg};
  note_call(node, name, args, 1);
}

}  // namespace tenon::autograd
