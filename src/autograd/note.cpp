#include "autograd/note.h"

namespace tenon::autograd {

void write_note(NodeImpl& node, const char* name, Args args, int count) {
  std::string text = std::string(name) + "(";
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += args[i]->is_tensor()
                ? std::string(dtype_name(args[i]->tensor().dtype())) + to_string(args[i]->tensor().sizes())
                : std::to_string(args[i]->number().as_double());
  }
  node.extras().forward_call = text + ")";
}

}  // namespace tenon::autograd
