// python: files. Takes names and bytes; gives files that appear whole, and tensors over what files hold.
#pragma once
#include "python/convert.h"

namespace tenon::python {

/// _write_file and _read_file, of which tenon/_files.py makes save and load.
void bind_files(nb::module_& module);

}  // namespace tenon::python
