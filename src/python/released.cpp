// The interpreter given away for the length of an op, with Ctrl-C in mind.
#include <csignal>

#include "python/convert.h"

namespace tenon::python {
namespace {

std::atomic<bool> interrupted{false};
struct sigaction pythons_action;  // while an op of the main thread runs

void on_interrupt(int number) {
  interrupted.store(true, std::memory_order_relaxed);
  pythons_action.sa_handler(number);
}

bool is_main_thread() noexcept {
  static const unsigned long main_thread = PyThread_get_thread_ident();  // who imports, or calls first
  return PyThread_get_thread_ident() == main_thread;
}

/// Puts a handler before Python's own; false where Python has none, or where it lies there already: a hook of Python
/// that long work calls may begin long work of its own.
bool take_signals() noexcept {
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0 || (current.sa_flags & SA_SIGINFO) != 0) return false;
  for (const auto handler : {SIG_DFL, SIG_IGN, on_interrupt})
    if (current.sa_handler == handler) return false;
  pythons_action = current;
  interrupted.store(false, std::memory_order_relaxed);
  struct sigaction own = pythons_action;
  own.sa_handler = on_interrupt;
  return sigaction(SIGINT, &own, nullptr) == 0;
}

}  // namespace

Released::Released(bool wanted) noexcept : state_(nullptr) {
  if (!wanted) return;
  if (is_main_thread() && take_signals()) guard_.emplace(interrupted);
  state_ = PyEval_SaveThread();
}

Released::~Released() {
  if (!state_) return;
  PyEval_RestoreThread(state_);
  if (guard_) sigaction(SIGINT, &pythons_action, nullptr);
}

}  // namespace tenon::python
