#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "expr/error.h"
#include "io/fail.h"
#include "io/output.h"

namespace tenon::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int) {
  if (!interrupted.exchange(true)) return;
  io::remove_aside_files();
  _exit(kInterruptedExit);
}

void stop_if_interrupted() {
  if (is_interrupted()) throw expr::Interrupted();
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

void watch_signals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) handle(number, on_stop);
  handle(SIGXFSZ, SIG_IGN);  // a file that may not grow further is an error of write()
  io::set_wait_hook(stop_if_interrupted);
}
const std::atomic<bool>& interruption() noexcept { return interrupted; }
bool is_interrupted() noexcept { return interrupted.load(std::memory_order_relaxed); }

}  // namespace tenon::cli
