// cli: signals. Takes Ctrl-C; gives a flag that long work looks at, and leaves no half-written file whatever happens.
#pragma once
#include <atomic>

namespace tenon::cli {

/// The exit code of a program that Ctrl-C ended.
inline constexpr int kInterruptedExit = 130;

/// From now on the first SIGINT, SIGTERM or SIGHUP raises the flag; a second one ends the program at once. Files that
/// are still aside are removed.
void watch_signals();
bool is_interrupted() noexcept;
const std::atomic<bool>& interruption() noexcept;

}  // namespace tenon::cli
