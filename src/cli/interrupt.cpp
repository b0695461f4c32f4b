#include "cli/interrupt.h"

#include <csignal>

#include "expr/error.h"
#include "io/fail.h"
#include "io/output.h"
#include "system/program.h"

namespace tenon::cli {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> stopped_by{SIGINT};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_stop(int number) {
  stopped_by.store(number);
  if (!interrupted.exchange(true)) return;
  io::remove_temporary_files();
  system::end_now(interrupted_exit());
}

void stop_if_interrupted() {
  if (is_interrupted()) throw Interrupted("interrupted");
}

}  // namespace

void watch_signals() {
  system::watch_stop(on_stop);
  io::set_wait_hook(stop_if_interrupted);
}
const std::atomic<bool>& interruption() noexcept { return interrupted; }
int interrupted_exit() noexcept { return 128 + stopped_by.load(); }
bool is_interrupted() noexcept { return interrupted.load(std::memory_order_relaxed); }

}  // namespace tenon::cli
