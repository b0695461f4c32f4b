#include "python/random.h"

#include <nanobind/stl/pair.h>

namespace tenon::python {
namespace {

/// A generator of its own, or the process's.
struct GeneratorObject {
  Generator own;
  Generator* target = &own;
  uint64_t seed = own.state().seed;
};
PyTypeObject* generator_type = nullptr;

/// Any 64 bits may be a seed; negative ones count from the end, as in PyTorch.
uint64_t seed_of(nb::int_ seed) {
  const unsigned long long bits = PyLong_AsUnsignedLongLongMask(seed.ptr());
  const nb::object lowest = nb::steal(PyLong_FromLongLong(INT64_MIN)),
                   highest = nb::steal(PyLong_FromUnsignedLongLong(UINT64_MAX));
  if (seed < lowest || seed > highest) throw Error("Overflow when unpacking long long");
  return bits;
}

}  // namespace

bool is_generator(PyObject* object) noexcept { return Py_TYPE(object) == generator_type; }
Generator& generator_of(PyObject* object) { return *nb::inst_ptr<GeneratorObject>(object)->target; }

void bind_random(nb::module_& module) {
  nb::class_<GeneratorObject> bound(module, "Generator", nb::is_final(), "A stream of random numbers.");
  bound
      .def(
          "__init__",
          [](GeneratorObject* self, nb::object device) {
            if (!device.is_none() && as_device(device.ptr()) != Device::cpu)
              throw Error("a Generator lives on the cpu");
            new (self) GeneratorObject;
            self->target = &self->own;
            self->own.manual_seed(67280421310721);  // PyTorch's
            self->seed = 67280421310721;
          },
          nb::arg("device") = nb::none())
      .def(
          "manual_seed",
          [](nb::object self, nb::int_ seed) {
            auto& object = *nb::inst_ptr<GeneratorObject>(self);
            object.seed = seed_of(seed);
            object.target->manual_seed(object.seed);
            return self;
          },
          nb::arg("seed"), "Starts the stream of a seed; gives the generator.")
      .def(
          "seed",
          [](GeneratorObject& self) {
            self.seed = random_seed();
            self.target->manual_seed(self.seed);
            return self.seed;
          },
          "Starts a stream nobody can guess; gives its seed.")
      .def(
          "initial_seed", [](const GeneratorObject& self) { return self.target->state().seed; },
          "The seed of the stream.")
      .def(
          "get_state",
          [](const GeneratorObject& self) {
            const Generator::State state = self.target->state();
            return std::pair(state.seed, state.position);
          },
          "Where the stream stands.")
      .def(
          "set_state",
          [](nb::object self, std::pair<uint64_t, uint64_t> state) {
            generator_of(self.ptr()).set_state({state.first, state.second});
            return self;
          },
          nb::arg("state"), "Continues from where get_state was called.")
      .def_prop_ro("device", [](const GeneratorObject&) { return nb::steal(to_python(Device::cpu)); });
  generator_type = reinterpret_cast<PyTypeObject*>(bound.ptr());
  nb::object shared = nb::inst_alloc(bound);
  new (nb::inst_ptr<void>(shared)) GeneratorObject;
  nb::inst_mark_ready(shared);
  nb::inst_ptr<GeneratorObject>(shared)->target = &default_generator();
  module.attr("default_generator") = shared;
}

}  // namespace tenon::python
