#include "python/files.h"

#include <cstring>
#include <deque>
#include <memory>
#include <string_view>

#include "io/fail.h"
#include "io/npy.h"

namespace tenon::python {
namespace {

/// The contiguous bytes of an object with the buffer protocol.
class Bytes {
 public:
  explicit Bytes(PyObject* object) {
    if (PyObject_GetBuffer(object, &buffer_, PyBUF_SIMPLE) != 0) throw PythonError{};
  }
  ~Bytes() { PyBuffer_Release(&buffer_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  const void* data() const noexcept { return buffer_.buf; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(buffer_.len); }

 private:
  Py_buffer buffer_{};
};

/// Runs Python's signal handlers while a read waits for a pipe. An exception ends the wait.
void run_signal_handlers() {
  const Held held;
  if (PyErr_CheckSignals() != 0) throw PythonError{};
}

/// Raises the error on the main thread, soon after a page was lost.
int raise_loss(void*) {
  return guarded_int([] {
    io::check_lost_mappings();
    return 0;
  });
}

/// Called by the signal handler inside a kernel. Py_AddPendingCall is safe there, because kernels hold no Python lock
/// except possibly the GIL.
void remember_loss() { Py_AddPendingCall(raise_loss, nullptr); }

/// Runs `work` without the GIL. A SystemError becomes an OSError with the same errno, as open() raises it.
template <class Work>
auto with_files(const std::string& path, const Work& work) {
  try {
    const nb::gil_scoped_release released;
    return work();
  } catch (const io::SystemError& error) {
    const nb::object name = checked_object(PyUnicode_DecodeFSDefault(path.c_str()));
    const nb::object arguments = nb::make_tuple(error.code(), std::strerror(error.code()), name);
    PyErr_SetObject(PyExc_OSError, arguments.ptr());
    throw PythonError{};
  }
}

std::string path_of(nb::bytes path) { return {path.c_str(), path.size()}; }

void write_file(nb::bytes name, nb::sequence parts) {
  const std::string path = path_of(name);
  std::deque<Bytes> contents;
  for (nb::handle part : parts) contents.emplace_back(part.ptr());
  with_files(path, [&] {
    io::OutputFile file(path);
    for (const Bytes& content : contents) file.write(content.data(), content.size());
    file.commit();
  });
}

/// The tensor of a .npy file, or the bytes of any other.
nb::object read_file(nb::bytes name, bool mmap) {
  const std::string path = path_of(name);
  bool is_npy = false;
  Tensor tensor = with_files(path, [&] {
    auto file = std::make_unique<io::InputFile>(path, mmap ? io::Reading::mapped : io::Reading::copied);
    is_npy = io::is_npy(*file);
    return is_npy ? io::tensor_of_npy(std::move(file)) : io::tensor_of_bytes(std::move(file));
  });
  return nb::make_tuple(is_npy, nb::steal(wrap(std::move(tensor))));
}

}  // namespace

void bind_files(nb::module_& module) {
  io::set_wait_hook(run_signal_handlers);
  io::set_loss_hook(remember_loss);
  module.def("_write_file", write_file);
  module.def("_read_file", read_file);
}

}  // namespace tenon::python
