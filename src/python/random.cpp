#include "python/random.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "python/arguments.h"
#include "python/creation.h"
#include "tenon/factories.h"
#include "tenon/random.h"

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

/// The bytes of PyTorch's get_state on 64-bit machines, so that states can be exchanged.
/// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/CPUGeneratorImpl.cpp
struct StateBytes {
  uint64_t seed = 0;
  int32_t left = 1;  // words before the next ones are made, and one more
  int32_t is_seeded = 1;
  uint64_t next = 0;
  uint64_t words[Generator::kWords] = {};
  double unused = 0;
  double next_normal = 0;
  double unused_too = 0;
  int32_t has_next_normal = 0;
  uint32_t next_normal_float32[3] = {};  // PyTorch's CPU functions never set it
};
static_assert(sizeof(StateBytes) == 5056);

Tensor bytes_of(const Generator::State& state) {
  StateBytes bytes;
  bytes.seed = state.seed;
  bytes.left = Generator::kWords - state.used + 1;
  const bool is_unused = state.used == Generator::kWords && state.words[0] == static_cast<uint32_t>(state.seed);
  bytes.next = is_unused ? 0 : static_cast<uint64_t>(state.used);
  std::copy(std::begin(state.words), std::end(state.words), bytes.words);
  bytes.next_normal = state.next_normal.value_or(0);
  bytes.has_next_normal = state.next_normal.has_value() ? 1 : 0;
  const Tensor tensor = empty({sizeof bytes}, uint8);
  std::memcpy(tensor.data_ptr(), &bytes, sizeof bytes);
  return tensor;
}

Generator::State state_of(PyObject* given) {
  if (!is_tensor(given)) throw TypeError("expected a torch.ByteTensor, but got " + type_name(given));
  const Tensor tensor = tensor_of(given).contiguous();
  if (tensor.dtype() != uint8 || tensor.is_meta()) throw TypeError("RNG state must be a torch.ByteTensor");
  StateBytes bytes;
  if (tensor.numel() != sizeof bytes)
    throw Error("Expected a CPUGeneratorImplState of size " + std::to_string(sizeof bytes) +
                " but found the input RNG state size to be " + std::to_string(tensor.numel()));
  std::memcpy(&bytes, tensor.data_ptr(), sizeof bytes);
  if (bytes.left < 1 || bytes.left > Generator::kWords || bytes.next > Generator::kWords || !bytes.is_seeded)
    throw Error("Invalid mt19937 state");
  Generator::State state{};
  state.seed = bytes.seed;
  state.used = Generator::kWords - bytes.left + 1;
  for (int i = 0; i < Generator::kWords; ++i) state.words[i] = static_cast<uint32_t>(bytes.words[i]);
  if (bytes.has_next_normal) state.next_normal = bytes.next_normal;
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
