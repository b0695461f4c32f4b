// cli: signals. Ctrl-C sets a flag that long work checks. Temporary files are removed.
#pragma once
#include <atomic>

namespace tenon::cli {

/// Handles SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU and SIGALRM from now on: the first sets the flag, a second one
/// removes temporary files and ends the program at once. Signals that are ignored stay ignored.
void watch_signals();
/// The exit code after a signal, by the convention of shells: 130 after Ctrl-C.
int interrupted_exit() noexcept;
bool is_interrupted() noexcept;
const std::atomic<bool>& interruption() noexcept;

}  // namespace tenon::cli
