// cli: signals. Takes Ctrl-C; gives a flag that long work looks at, and leaves no half-written file whatever happens.
#pragma once
#include <atomic>

namespace tenon::cli {

/// From now on the first of SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU and SIGALRM raises the flag; a second one ends
/// the program at once. Temporary files are removed. Signals that are ignored already stay so.
void watch_signals();
/// The exit code of a program that a signal ended, as shells have it: 130 after Ctrl-C.
int interrupted_exit() noexcept;
bool is_interrupted() noexcept;
const std::atomic<bool>& interruption() noexcept;

}  // namespace tenon::cli
