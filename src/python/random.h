// python: adds the type Generator and the default generator to the module.
#pragma once
#include <optional>

#include "python/convert.h"
#include "tenon/random.h"

namespace tenon::python {
void bind_random(nb::module_& module);
bool is_generator(PyObject* object) noexcept;
Generator& generator_of(PyObject* object);

/// While it lives, this thread draws from the generator that was given, if one was.
class GivenGenerator {
 public:
  explicit GivenGenerator(PyObject* generator) {
    if (generator) guard_.emplace(generator_of(generator));
  }

 private:
  std::optional<GeneratorGuard> guard_;
};
}  // namespace tenon::python
