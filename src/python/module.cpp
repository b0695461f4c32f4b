// The extension module tenon._tenon.
#include <nanobind/nanobind.h>

#include "python/autograd.h"
#include "python/bindings.h"
#include "python/dtype_objects.h"
#include "python/exchange.h"
#include "python/files.h"
#include "python/fuse.h"
#include "python/object.h"
#include "python/random.h"
#include "python/results.h"
#include "python/settings.h"
#include "tenon/version.h"

NB_MODULE(tenon_in_main, module) {
  using namespace tenon::python;
  nb::set_leak_warnings(false);  // dtypes and devices are never destroyed
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const tenon::Error&) {
      raise_current();
    } catch (const PythonError&) {
      raise_current();
    }
  });
  module.attr("__version__") = TENON_VERSION;
  bind_singletons(module);
  bind_tensor(module);
  bind_functions(module);
  bind_exchange(module);
  bind_files(module);
  bind_autograd(module);
  bind_settings(module);
  bind_random(module);
  bind_results(module);
  bind_fuse(module);
  module.attr("OutOfMemoryError") = nb::borrow(out_of_memory_error());
  module.attr("_LinAlgError") = nb::borrow(linalg_error());
}

/// Python calls this function. A second interpreter is refused here, because the module's types exist once per process
/// and nanobind would abort.
extern "C" NB_EXPORT PyObject* PyInit__tenon() {  // NOLINT(bugprone-reserved-identifier): Python looks for this name
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return PyInit_tenon_in_main();
  PyErr_SetString(PyExc_ImportError, "tenon works in the main interpreter alone, not in subinterpreters");
  return nullptr;
}
