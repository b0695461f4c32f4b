// Releases the GIL during an op.
#include <cxxabi.h>
#include <unistd.h>

#include "base/fork.h"
#include "python/convert.h"

namespace tenon::python {
namespace {

/// At its end Python unwinds threads that want the GIL, which C++ frames do not survive. Such threads sleep here until
/// the process ends, as Python itself does from 3.14 on.
template <class Take>
auto taken(const Take& take) noexcept {
  try {
    return take();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// Whether this is the main thread. After a fork it is the thread that forked.
bool is_main_thread() noexcept {
  thread_local uint32_t generation = 0;
  thread_local bool is_main = false;
  if (generation != fork_generation()) {
    generation = fork_generation();
    is_main = gettid() == getpid();
  }
  return is_main;
}

thread_local GilRelease* innermost = nullptr;

}  // namespace

GilRelease::GilRelease(bool wanted) noexcept : state_(nullptr) {
  if (!wanted) return;
  if (is_main_thread()) {
    outer_ = std::exchange(innermost, this);
    guard_.emplace(InterruptSource{nullptr, [] { innermost->run_handlers(); }});
  }
  state_ = PyEval_SaveThread();
}

void GilRelease::run_handlers() {
  taken([&] { PyEval_RestoreThread(state_); });
  const bool raised = PyErr_CheckSignals() != 0;
  state_ = PyEval_SaveThread();
  if (raised) throw PythonError{};  // the exception is set in this thread's state
}

GilRelease::~GilRelease() {
  if (!state_) return;
  if (guard_) innermost = outer_;
  taken([&] { PyEval_RestoreThread(state_); });
}

Held::Held() noexcept : state_(taken([] { return PyGILState_Ensure(); })) {}

}  // namespace tenon::python
