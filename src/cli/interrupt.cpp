#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "io/aside.h"

namespace tenon::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int) {
  if (!interrupted.exchange(true)) return;
  io::remove_aside_files();
  _exit(kInterruptedExit);
}

void on_lost_page(int) {
  constexpr char kText[] = "error: a mapped file could not be read: it has become shorter, or its disk failed\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  io::remove_aside_files();
  _exit(1);
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
  handle(SIGBUS, on_lost_page);
}
bool is_interrupted() noexcept { return interrupted.load(std::memory_order_relaxed); }

}  // namespace tenon::cli
