// system: what a command line needs of its process: arguments, standard streams, signals.
#pragma once
#include <string>
#include <vector>

namespace tenon::system {

/// The arguments after the program's name, in UTF-8.
std::vector<std::string> arguments(int argc, char** argv);

/// Opens standard streams that the caller has closed: otherwise files would get their numbers, and printed text would
/// go to them. Reading or writing those still fails. Streams pass bytes on as they are, and a console shows UTF-8.
void prepare_standard_streams() noexcept;
/// Whether a standard stream (0, 1, 2) is a terminal that understands escape sequences.
bool is_terminal(int stream) noexcept;

/// Calls `on_stop` with a signal's number, in a signal handler or on a thread of its own, each time the process is
/// asked to end. Signals that are ignored stay ignored, as under `nohup`. At a limit for the size of files, writing
/// fails.
void watch_stop(void (*on_stop)(int signal)) noexcept;
/// Ends the process without flushing or destroying anything. For signal handlers, too.
[[noreturn]] void end_now(int code) noexcept;

}  // namespace tenon::system
