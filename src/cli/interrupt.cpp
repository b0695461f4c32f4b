#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "expr/error.h"
#include "io/fail.h"
#include "io/output.h"

namespace tenon::cli {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> stopped_by{SIGINT};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int number) {
  stopped_by.store(number);
  if (!interrupted.exchange(true)) return;
  io::remove_temporary_files();
  _exit(interrupted_exit());
}

void stop_if_interrupted() {
  if (is_interrupted()) throw Interrupted("interrupted");
}

/// Whether a signal is ignored, as under `nohup` or for a program that a shell starts in the background.
bool is_ignored(int number) {
  struct sigaction before = {};
  return sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

void watch_signals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM})
    if (!is_ignored(number)) handle(number, on_stop);
  handle(SIGXFSZ, SIG_IGN);  // at the file size limit, write() then fails instead
  io::set_wait_hook(stop_if_interrupted);
}
const std::atomic<bool>& interruption() noexcept { return interrupted; }
int interrupted_exit() noexcept { return 128 + stopped_by.load(); }
bool is_interrupted() noexcept { return interrupted.load(std::memory_order_relaxed); }

}  // namespace tenon::cli
