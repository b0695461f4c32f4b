// The extension module tenon._tenon.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "python/doors.h"
#include "python/exchange.h"
#include "python/object.h"
#include "python/settings.h"
#include "python/singletons.h"
#include "tenon/version.h"

NB_MODULE(_tenon, module) {
  using namespace tenon::python;
  module.attr("__version__") = TENON_VERSION;
  bind_singletons(module);
  bind_tensor(module);
  bind_functions(module);
  bind_exchange(module);
  bind_settings(module);
  module.attr("OutOfMemoryError") = nb::borrow(out_of_memory_error());
}
