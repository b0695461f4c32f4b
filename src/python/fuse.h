// python: functions that are traced (tenon.fuse). Takes a callable over a list of tensors; gives an object that runs it
// as few passes over memory.
#pragma once
#include "python/convert.h"

namespace tenon::python {

void bind_fuse(nb::module_& module);

}  // namespace tenon::python
