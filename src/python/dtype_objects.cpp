#include "python/dtype_objects.h"

#include <nanobind/stl/string.h>

#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "python/arguments.h"
#include "python/creation.h"
#include "type/visit.h"

namespace tenon::python {
namespace {

struct DtypeObject {
  Dtype value;
};
struct DeviceObject {
  Device value;
  int index = -1;  // -1: none given. It is stored, but has no meaning
};
struct MemoryFormatObject {
  MemoryFormat value;
};
struct LayoutObject {};

PyTypeObject* dtype_type = nullptr;
PyTypeObject* device_type = nullptr;
PyTypeObject* memory_format_type = nullptr;
PyTypeObject* layout_type = nullptr;
// Never released, because static objects are destroyed after the interpreter.
std::array<PyObject*, kDtypeCount> dtype_objects{};
std::array<PyObject*, 2> device_objects{};

// The device of factories that name none, of this thread: set_default_device and `with tenon.device(...)`.
thread_local std::optional<Device> chosen_device;
thread_local std::vector<std::optional<Device>> device_contexts;  // what `with` restores

template <class Object>
const Object& value_of(PyObject* object) {
  return *nb::inst_ptr<Object>(object);
}

struct DtypeAlias {
  const char* name;
  Dtype dtype;
};
constexpr DtypeAlias kAliases[] = {{"float", float32},    {"double", float64},    {"half", float16},
                                   {"short", int16},      {"int", int32},         {"long", int64},
                                   {"cfloat", complex64}, {"cdouble", complex128}};

std::string dtype_text(const DtypeObject& dtype) { return std::string("tenon.") + dtype_name(dtype.value); }

const char* device_text(Device device) { return device == Device::meta ? "meta" : "cpu"; }

std::string full_text(const DeviceObject& device) {
  return device_text(device.value) + (device.index < 0 ? "" : ":" + std::to_string(device.index));
}
std::string device_repr(const DeviceObject& device) {
  const std::string index = device.index < 0 ? "" : ", index=" + std::to_string(device.index);
  return std::string("device(type='") + device_text(device.value) + "'" + index + ")";
}

constexpr int64_t kLargestIndex = 127;

/// The number after the colon of "cpu:0".
int device_index(const std::string& text, const std::string& digits) {
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || (digits[0] == '0' && digits.size() > 1)) throw Error("Invalid device string: '" + text + "'");
  if (digits.size() > 3 || std::stoi(digits) > kLargestIndex)
    throw Error("Could not parse device index '" + digits + "' in device string '" + text + "'");
  return std::stoi(digits);
}

DeviceObject parse_device(const std::string& text) {
  if (text.empty()) throw Error("Device string must not be empty");
  const std::size_t colon = text.find(':');
  const std::string type = text.substr(0, colon);
  for (Device device : {Device::cpu, Device::meta}) {
    if (type != device_text(device)) continue;
    if (colon == std::string::npos) return {device};
    return {device, device_index(text, text.substr(colon + 1))};
  }
  if (type.empty() ||
      type.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") != std::string::npos)
    throw Error("Invalid device string: '" + text + "'");
  throw Error("Expected one of cpu, meta device type at start of device string: " + type);
}
DeviceObject parse_device(PyObject* text) { return parse_device(std::string(utf8_of_argument(text))); }

/// The object of a device; one shared object for devices without an index.
PyObject* object_of(const DeviceObject& device) {
  return device.index < 0 ? to_python(device.value) : nb::cast(device).release().ptr();
}

PyObject* make_device(const Call& call) {
  if (!call.has(Name::type)) {
    PyObject* given = call.object(Name::device);
    return is_text(given) ? object_of(parse_device(given)) : again(given);
  }
  DeviceObject device = parse_device(call.object(Name::type));
  if (device.index >= 0)
    throw Error("type (string) must not include an index because index was passed explicitly: " + full_text(device));
  if (!call.has(Name::index)) return object_of(device);
  const int64_t index = call.integer(Name::index, -1);
  if (index < 0) throw Error("Device index must not be negative");
  if (index > kLargestIndex) throw Error("Device index must not be above " + std::to_string(kLargestIndex));
  device.index = static_cast<int>(index);
  return object_of(device);
}

const Definition kDeviceNew = {"device", Binding::function, "(device device)\n(str type, int? index=None)", "",
                               make_device};

PyObject* new_device(PyTypeObject*, PyObject* args, PyObject* keywords) noexcept {
  static Parser parser(kDeviceNew, Binding::function);
  return parser.invoke_with(args, keywords);
}
PyType_Slot device_slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_device)},
                              {Py_tp_init, reinterpret_cast<void*>(ignore_arguments)},
                              {0, nullptr}};

/// The result of np.dtype(). NumPy has bfloat16 if ml_dtypes is installed.
nb::object numpy_dtype(const DtypeObject& dtype) {
  const bool brain = dtype.value == bfloat16;
  if (brain) {
    try {
      nb::module_::import_("ml_dtypes");
    } catch (nb::python_error&) {
      throw TypeError("NumPy knows bfloat16 only where ml_dtypes is installed");
    }
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  return numpy.attr("dtype")(dtype.value == bool_ ? "bool" : dtype_name(dtype.value));
}

struct MemoryFormatName {
  MemoryFormat format;
  const char* text;
};
constexpr MemoryFormatName kMemoryFormats[] = {{MemoryFormat::contiguous, "contiguous_format"},
                                               {MemoryFormat::channels_last, "channels_last"},
                                               {MemoryFormat::channels_last_3d, "channels_last_3d"},
                                               {MemoryFormat::preserve, "preserve_format"}};

template <class Object>
PyTypeObject* type_of(const nb::class_<Object>& bound) {
  return reinterpret_cast<PyTypeObject*>(bound.ptr());
}

/// Each dtype is one object. Python's bool is one of NumPy's dtypes, too: `x.dtype == bool`.
PyObject* compare_dtypes(PyObject* a, PyObject* b, int op) noexcept {
  if (op != Py_EQ && op != Py_NE) return again(Py_NotImplemented);
  const bool is_bool = b == reinterpret_cast<PyObject*>(&PyBool_Type) && value_of<DtypeObject>(a).value == bool_;
  if (a != b && !is_bool) return again(Py_NotImplemented);
  return again(op == Py_EQ ? Py_True : Py_False);
}
/// What is equal has one hash.
Py_hash_t hash_of_dtype(PyObject* self) noexcept {
  static const auto by_identity = reinterpret_cast<hashfunc>(PyType_GetSlot(&PyBaseObject_Type, Py_tp_hash));
  const bool is_bool = value_of<DtypeObject>(self).value == bool_;
  return by_identity(is_bool ? reinterpret_cast<PyObject*>(&PyBool_Type) : self);
}
PyType_Slot dtype_slots[] = {{Py_tp_new, reinterpret_cast<void*>(refuse_new)},
                             {Py_tp_richcompare, reinterpret_cast<void*>(compare_dtypes)},
                             {Py_tp_hash, reinterpret_cast<void*>(hash_of_dtype)},
                             {0, nullptr}};

void bind_dtypes(nb::module_& module) {
  nb::class_<DtypeObject> bound(module, "dtype", nb::type_slots(dtype_slots), nb::is_final(), "A type of elements.");
  bound.def("__repr__", &dtype_text)
      .def("__reduce__", [](const DtypeObject& dtype) { return std::string(dtype_name(dtype.value)); })
      .def_prop_ro("is_floating_point", [](const DtypeObject& dtype) { return is_floating_point(dtype.value); })
      .def_prop_ro("is_complex", [](const DtypeObject& dtype) { return is_complex(dtype.value); })
      .def("to_real", [](const DtypeObject& dtype) { return nb::steal(to_python(to_real(dtype.value))); })
      .def("to_complex", [](const DtypeObject& dtype) { return nb::steal(to_python(to_complex(dtype.value))); })
      .def_prop_ro("is_signed", [](const DtypeObject& dtype) { return is_signed(dtype.value); })
      .def_prop_ro("itemsize", [](const DtypeObject& dtype) { return itemsize(dtype.value); })
      .def_prop_ro("dtype", &numpy_dtype, "What np.dtype() makes of it.");
  dtype_type = type_of(bound);
  name_publicly(bound);
  for (int i = 0; i < kDtypeCount; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    nb::object object = nb::cast(DtypeObject{dtype});
    module.attr(dtype == bool_ ? "bool" : dtype_name(dtype)) = object;
    dtype_objects[static_cast<std::size_t>(i)] = object.release().ptr();
  }
  for (const DtypeAlias& alias : kAliases)
    module.attr(alias.name) = nb::borrow(dtype_objects[static_cast<std::size_t>(alias.dtype)]);
}

void bind_devices(nb::module_& module) {
  nb::class_<DeviceObject> bound(module, "device", nb::type_slots(device_slots), nb::is_final(),
                                 "device(type, index=None)\n--\n\nWhere elements live: cpu, or meta, which has none.");
  bound.def("__repr__", &device_repr)
      .def("__str__", &full_text)
      .def("__eq__",
           [](const DeviceObject& a, nb::object b) {
             if (Py_TYPE(b.ptr()) != device_type) return false;
             const DeviceObject& other = value_of<DeviceObject>(b.ptr());
             return other.value == a.value && other.index == a.index;
           })
      .def("__hash__",
           [](const DeviceObject& device) { return static_cast<int>(device.value) + 2 * (device.index + 2); })
      .def("__reduce__",
           [](nb::object self) {
             return nb::make_tuple(self.type(), nb::make_tuple(full_text(value_of<DeviceObject>(self.ptr()))));
           })
      .def("__enter__",
           [](nb::object self) {
             device_contexts.push_back(std::exchange(chosen_device, value_of<DeviceObject>(self.ptr()).value));
             return self;
           })
      .def("__exit__",
           [](nb::handle, nb::args) {
             if (device_contexts.empty()) return;
             chosen_device = device_contexts.back();
             device_contexts.pop_back();
           })
      .def_prop_ro("type", [](const DeviceObject& device) { return std::string(device_text(device.value)); })
      .def_prop_ro("index", [](const DeviceObject& device) -> nb::object {
        return device.index < 0 ? nb::object(nb::none()) : nb::object(nb::int_(device.index));
      });
  device_type = type_of(bound);
  name_publicly(bound);
  module.def(
      "_set_default_device",
      [](nb::object device) {
        const std::optional<Device> given = as_device(device.ptr());
        if (!given && !device.is_none()) throw TypeError("expected a device, not " + type_name(device.ptr()));
        chosen_device = given;
      },
      nb::arg().none());
  module.def("_get_default_device", [] { return nb::steal(to_python(default_device().value_or(Device::cpu))); });
  for (Device device : {Device::cpu, Device::meta})
    device_objects[static_cast<std::size_t>(device)] = nb::cast(DeviceObject{device}).release().ptr();
}

void bind_formats(nb::module_& module) {
  nb::class_<MemoryFormatObject> formats(module, "memory_format", nb::type_slots(kRefuseNew), nb::is_final(),
                                         "An order of dims in memory.");
  const auto text = [](const MemoryFormatObject& object) {
    for (const MemoryFormatName& entry : kMemoryFormats)
      if (entry.format == object.value) return std::string(entry.text);
    return std::string();
  };
  formats.def("__repr__", [text](const MemoryFormatObject& object) { return "tenon." + text(object); })
      .def("__reduce__", text);
  memory_format_type = type_of(formats);
  name_publicly(formats);
  for (const MemoryFormatName& entry : kMemoryFormats)
    module.attr(entry.text) = nb::cast(MemoryFormatObject{entry.format});

  nb::class_<LayoutObject> layouts(module, "layout", nb::type_slots(kRefuseNew), nb::is_final(),
                                   "How elements lie in memory: always strided.");
  layouts.def("__repr__", [](const LayoutObject&) { return "tenon.strided"; })
      .def("__reduce__", [](const LayoutObject&) { return "strided"; });
  layout_type = type_of(layouts);
  name_publicly(layouts);
  module.attr("strided") = nb::cast(LayoutObject{});
}

}  // namespace

void bind_singletons(nb::module_& module) {
  bind_dtypes(module);
  bind_devices(module);
  bind_formats(module);
}

bool is_singleton(PyTypeObject* type) noexcept {
  return type == dtype_type || type == device_type || type == memory_format_type || type == layout_type;
}

namespace {

/// Whether a type's attribute is a str that begins so.
bool begins(PyObject* type, const char* attribute, std::string_view beginning) noexcept {
  const nb::object value = nb::steal(PyObject_GetAttrString(type, attribute));
  Py_ssize_t length = 0;
  const bool is_str = value.is_valid() && PyUnicode_Check(value.ptr());
  const char* const text = is_str ? PyUnicode_AsUTF8AndSize(value.ptr(), &length) : nullptr;
  if (!text) PyErr_Clear();
  return text && std::string_view(text, static_cast<std::size_t>(length)).starts_with(beginning);
}

/// Whether it may be one of NumPy's dtypes or types of numbers, by the names of their types: no import.
bool may_be_of_numpy(PyObject* object) noexcept {
  // What most calls give: no look-up.
  if (PyLong_Check(object) || is_sequence(object) || is_text(object) || is_tensor(object)) return false;
  if (PyType_Check(object)) return begins(object, "__module__", "numpy");
  // Other packages derive their dtypes, too.
  const auto base_of = [](PyTypeObject* type) { return static_cast<PyTypeObject*>(PyType_GetSlot(type, Py_tp_base)); };
  PyTypeObject* root = Py_TYPE(object);
  for (PyTypeObject* base = base_of(root); base && base != &PyBaseObject_Type; base = base_of(base)) root = base;
  PyObject* const type = reinterpret_cast<PyObject*>(root);
  return begins(type, "__module__", "numpy") && begins(type, "__name__", "dtype");
}

/// The dtype that one of NumPy's names, in this machine's byte order.
std::optional<Dtype> dtype_of_numpy(PyObject* object) noexcept {
  try {
    const nb::object dtype = nb::module_::import_("numpy").attr("dtype")(nb::handle(object));
    if (!nb::cast<bool>(dtype.attr("isnative"))) return std::nullopt;
    const std::string name = nb::cast<std::string>(dtype.attr("name"));
    for (int i = 0; i < kDtypeCount; ++i)
      if (name == dtype_name(static_cast<Dtype>(i))) return static_cast<Dtype>(i);
  } catch (...) {  // NumPy's abstract types, which are no dtype
  }
  return std::nullopt;
}

}  // namespace

PyObject* to_python(Dtype dtype) { return again(dtype_objects[static_cast<std::size_t>(dtype)]); }
PyObject* to_python(Device device) { return again(device_objects[static_cast<std::size_t>(device)]); }

std::optional<Dtype> as_dtype(PyObject* object) noexcept {
  if (Py_TYPE(object) == dtype_type) return value_of<DtypeObject>(object).value;
  // Python's float, int and so on mean the widest dtype of their kind.
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return float64;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return int64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return bool_;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return complex128;
  return may_be_of_numpy(object) ? dtype_of_numpy(object) : std::nullopt;
}

Dtype dtype_of(PyObject* object) {
  const std::optional<Dtype> dtype = as_dtype(object);
  if (!dtype) throw TypeError("expected a dtype, not " + type_name(object));
  return *dtype;
}

std::optional<Device> default_device() noexcept { return chosen_device; }

bool is_device(PyObject* object) noexcept { return Py_TYPE(object) == device_type || is_text(object); }

std::optional<Device> as_device(PyObject* object) {
  if (Py_TYPE(object) == device_type) return value_of<DeviceObject>(object).value;
  if (is_text(object)) return parse_device(object).value;
  return std::nullopt;
}

std::optional<MemoryFormat> as_memory_format(PyObject* object) noexcept {
  if (Py_TYPE(object) == memory_format_type) return value_of<MemoryFormatObject>(object).value;
  return std::nullopt;
}

bool is_layout(PyObject* object) noexcept { return Py_TYPE(object) == layout_type; }

}  // namespace tenon::python
