#include "python/random.h"

#include <cstring>
#include <type_traits>

#include "python/arguments.h"
#include "python/creation.h"
#include "tenon/factories.h"

namespace tenon::python {
namespace {

/// A new generator, or the default one of the process.
struct GeneratorObject {
  static constexpr uint64_t kFirstSeed = 67280421310721;  // PyTorch's
  Generator own;
  Generator* target = &own;

  GeneratorObject() { own.manual_seed(kFirstSeed); }
  GeneratorObject(const GeneratorObject&) = delete;
  GeneratorObject& operator=(const GeneratorObject&) = delete;
};
PyTypeObject* generator_type = nullptr;

/// A seed is any 64-bit number; negative ones are reinterpreted as unsigned, as in PyTorch.
uint64_t seed_of(nb::handle given) {
  if (!PyLong_Check(given.ptr()) || PyBool_Check(given.ptr()))
    throw Error("manual_seed expected a long, but got " + type_name(given.ptr()));
  const nb::int_ seed = nb::borrow<nb::int_>(given);
  const unsigned long long bits = PyLong_AsUnsignedLongLongMask(seed.ptr());
  const nb::object lowest = nb::steal(PyLong_FromLongLong(INT64_MIN)),
                   highest = nb::steal(PyLong_FromUnsignedLongLong(UINT64_MAX));
  if (seed < lowest || seed > highest) throw ValueError("Overflow when unpacking long long");
  return bits;
}

static_assert(std::is_trivially_copyable_v<Generator::State>);

Tensor bytes_of(const Generator::State& state) {
  const Tensor bytes = empty({sizeof state}, uint8);
  std::memcpy(bytes.data_ptr(), &state, sizeof state);
  return bytes;
}

Generator::State state_of(PyObject* given) {
  if (!is_tensor(given)) throw TypeError("expected a torch.ByteTensor, but got " + type_name(given));
  const Tensor bytes = tensor_of(given).contiguous();
  if (bytes.dtype() != uint8 || bytes.is_meta()) throw TypeError("RNG state must be a torch.ByteTensor");
  Generator::State state;
  if (bytes.numel() != sizeof state)
    throw Error("Expected a generator's state of size " + std::to_string(sizeof state) +
                " but found the input RNG state size to be " + std::to_string(bytes.numel()));
  std::memcpy(&state, bytes.data_ptr(), sizeof state);
  return state;
}

const Definition kGeneratorInit = {"Generator", Binding::function, "(device device=None)", "",
                                   [](const Call& call) -> PyObject* {
                                     if (call.device().value_or(Device::cpu) != Device::cpu)
                                       throw Error("a Generator lives on the cpu");
                                     return again(Py_None);
                                   }};

int init_generator(PyObject*, PyObject* args, PyObject* keywords) noexcept {
  static Parser parser(kGeneratorInit, Binding::function);
  PyObject* done = parser.invoke_with(args, keywords);
  Py_XDECREF(done);
  return done ? 0 : -1;
}
PyType_Slot generator_slots[] = {{Py_tp_new, reinterpret_cast<void*>(default_new<GeneratorObject>)},
                                 {Py_tp_init, reinterpret_cast<void*>(init_generator)},
                                 {0, nullptr}};

}  // namespace

bool is_generator(PyObject* object) noexcept { return Py_TYPE(object) == generator_type; }
Generator& generator_of(PyObject* object) { return *nb::inst_ptr<GeneratorObject>(object)->target; }

void bind_random(nb::module_& module) {
  nb::class_<GeneratorObject> bound(module, "Generator", nb::type_slots(generator_slots), nb::is_final(),
                                    "Generator(device=None)\n--\n\nA stream of random numbers.");
  bound
      .def(
          "manual_seed",
          [](nb::object self, nb::object seed) {
            generator_of(self.ptr()).manual_seed(seed_of(seed));
            return self;
          },
          nb::arg("seed"), "Starts the stream of a seed; gives the generator.")
      .def(
          "seed",
          [](GeneratorObject& self) {
            const uint64_t seed = random_seed();
            self.target->manual_seed(seed);
            return seed;
          },
          "Starts a stream nobody can guess; gives its seed.")
      .def(
          "initial_seed", [](const GeneratorObject& self) { return self.target->state().seed; },
          "The seed of the stream.")
      .def(
          "get_state", [](const GeneratorObject& self) { return nb::steal(wrap(bytes_of(self.target->state()))); },
          "Where the stream stands, as a tensor of bytes.")
      .def(
          "set_state",
          [](nb::object self, nb::object state) {
            generator_of(self.ptr()).set_state(state_of(state.ptr()));
            return self;
          },
          nb::arg("new_state").none(), "Continues from where get_state was called.")
      .def(
          "clone_state",
          [](const GeneratorObject& self) {
            const nb::object copy = checked_object(default_new<GeneratorObject>(generator_type, nullptr, nullptr));
            generator_of(copy.ptr()).set_state(self.target->state());
            return copy;
          },
          "Another generator that stands at the same place.")
      .def("__reduce__",
           [](nb::object self) { return nb::make_tuple(self.type(), nb::make_tuple(), self.attr("get_state")()); })
      .def("__setstate__",
           [](nb::object self, nb::object state) { generator_of(self.ptr()).set_state(state_of(state.ptr())); })
      .def_prop_ro("device", [](const GeneratorObject&) { return nb::steal(to_python(Device::cpu)); });
  generator_type = reinterpret_cast<PyTypeObject*>(bound.ptr());
  name_publicly(bound);
  const nb::object shared = checked_object(default_new<GeneratorObject>(generator_type, nullptr, nullptr));
  nb::inst_ptr<GeneratorObject>(shared)->target = &default_generator();
  module.attr("default_generator") = shared;
}

}  // namespace tenon::python
