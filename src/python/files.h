// python: loads and saves files.
#pragma once
#include "python/convert.h"

namespace tenon::python {

/// Adds _write_file and _read_file, which tenon/_files.py uses for save and load.
void bind_files(nb::module_& module);

}  // namespace tenon::python
