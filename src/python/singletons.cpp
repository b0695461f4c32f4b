#include "python/singletons.h"

#include <nanobind/stl/string.h>

#include <array>
#include <limits>

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
};
struct MemoryFormatObject {
  MemoryFormat value;
};
struct LayoutObject {};

PyTypeObject* dtype_type = nullptr;
PyTypeObject* device_type = nullptr;
PyTypeObject* memory_format_type = nullptr;
PyTypeObject* layout_type = nullptr;
// Kept alive for as long as the process: C++ statics die after the interpreter does.
std::array<PyObject*, kDtypeCount> dtype_objects{};
std::array<PyObject*, 2> device_objects{};

template <class Object>
const Object& value_of(PyObject* object) {
  return *nb::inst_ptr<Object>(object);
}

struct DtypeAlias {
  const char* name;
  Dtype dtype;
};
constexpr DtypeAlias kAliases[] = {{"float", float32}, {"double", float64}, {"half", float16},
                                   {"short", int16},   {"int", int32},      {"long", int64}};

std::string dtype_text(const DtypeObject& dtype) { return std::string("tenon.") + dtype_name(dtype.value); }

const char* device_text(Device device) { return device == Device::meta ? "meta" : "cpu"; }

DeviceObject parse_device(const std::string& text) {
  for (Device device : {Device::cpu, Device::meta})
    if (text == device_text(device) || text == std::string(device_text(device)) + ":0") return {device};
  throw Error("Expected one of cpu, meta device type at start of device string: " + text.substr(0, text.find(':')));
}
DeviceObject parse_device(PyObject* text) {
  Py_ssize_t length;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &length);
  if (!utf8) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw PythonError{};
    PyErr_Clear();
    throw Error("error unpacking string as utf-8");
  }
  return parse_device(std::string(utf8, static_cast<std::size_t>(length)));
}

const Definition kDeviceNew = {"device", Door::function, "(device device)\n(str type, int index=-1)", "",
                               [](const Call& call) -> PyObject* {
                                 if (!call.has(Name::type)) return to_python(*call.device());
                                 const Device device = parse_device(call.object(Name::type)).value;
                                 if (const int64_t index = call.integer(Name::index, -1); index < -1 || index > 0)
                                   throw Error(std::string(device_text(device)) + " has one device, of index 0");
                                 return to_python(device);
                               }};

/// The one object of the device that the arguments name.
PyObject* new_device(PyTypeObject*, PyObject* args, PyObject* keywords) noexcept {
  static Parser parser(kDeviceNew, Door::function);
  return parser.invoke_with(args, keywords);
}
PyType_Slot device_slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_device)},
                              {Py_tp_init, reinterpret_cast<void*>(ignore_arguments)},
                              {0, nullptr}};

/// What np.dtype() makes of a dtype. bfloat16 is known to NumPy where ml_dtypes is installed.
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

void bind_dtypes(nb::module_& module) {
  nb::class_<DtypeObject> bound(module, "dtype", nb::type_slots(kRefuseNew), nb::is_final(), "A type of elements.");
  bound.def("__repr__", &dtype_text)
      .def("__reduce__", [](const DtypeObject& dtype) { return std::string(dtype_name(dtype.value)); })
      .def_prop_ro("is_floating_point", [](const DtypeObject& dtype) { return is_floating_point(dtype.value); })
      .def_prop_ro("is_complex", [](const DtypeObject&) { return false; })
      .def_prop_ro("is_signed", [](const DtypeObject& dtype) { return dtype.value != bool_ && dtype.value != uint8; })
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
                                 "device(type, index=-1)\n--\n\nWhere elements live: cpu, or meta, which has none.");
  bound
      .def("__repr__",
           [](const DeviceObject& device) { return std::string("device(type='") + device_text(device.value) + "')"; })
      .def("__str__", [](const DeviceObject& device) { return std::string(device_text(device.value)); })
      .def("__eq__",
           [](const DeviceObject& a, nb::object b) {
             return Py_TYPE(b.ptr()) == device_type && value_of<DeviceObject>(b.ptr()).value == a.value;
           })
      .def("__hash__", [](const DeviceObject& device) { return static_cast<int>(device.value) + 1; })
      .def("__reduce__",
           [](nb::object self) {
             return nb::make_tuple(self.type(), nb::make_tuple(device_text(value_of<DeviceObject>(self.ptr()).value)));
           })
      .def_prop_ro("type", [](const DeviceObject& device) { return std::string(device_text(device.value)); })
      .def_prop_ro("index", [](const DeviceObject&) { return nb::none(); });
  device_type = type_of(bound);
  name_publicly(bound);
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

PyObject* to_python(Dtype dtype) { return again(dtype_objects[static_cast<std::size_t>(dtype)]); }
PyObject* to_python(Device device) { return again(device_objects[static_cast<std::size_t>(device)]); }

std::optional<Dtype> as_dtype(PyObject* object) noexcept {
  if (Py_TYPE(object) == dtype_type) return value_of<DtypeObject>(object).value;
  // Python's own types stand for the widest of their kind.
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return float64;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return int64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return bool_;
  return std::nullopt;
}

Dtype dtype_of(PyObject* object) {
  const std::optional<Dtype> dtype = as_dtype(object);
  if (!dtype) throw TypeError("expected a dtype, not " + type_name(object));
  return *dtype;
}

bool is_device(PyObject* object) noexcept { return Py_TYPE(object) == device_type || PyUnicode_Check(object); }

std::optional<Device> as_device(PyObject* object) {
  if (Py_TYPE(object) == device_type) return value_of<DeviceObject>(object).value;
  if (PyUnicode_Check(object)) return parse_device(object).value;
  return std::nullopt;
}

std::optional<MemoryFormat> as_memory_format(PyObject* object) noexcept {
  if (Py_TYPE(object) == memory_format_type) return value_of<MemoryFormatObject>(object).value;
  return std::nullopt;
}

bool is_layout(PyObject* object) noexcept { return Py_TYPE(object) == layout_type; }

}  // namespace tenon::python
