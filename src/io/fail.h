// io: what goes wrong with files. Takes a path and words; gives a FileError that begins with the path.
#pragma once
#include <string>

#include "tenon/error.h"

namespace tenon::io {

/// The system refused: `code` is its errno.
class SystemError : public FileError {
 public:
  SystemError(std::string text, int code) : FileError(std::move(text)), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// FileError "PATH: WHAT".
[[noreturn]] void fail_file(const std::string& path, const std::string& what);
/// FileError "PATH: the file is damaged: WHAT". For every file whose bytes are not what its format allows.
[[noreturn]] void fail_damaged(const std::string& path, const std::string& what);
/// SystemError with the system's words for `errno` behind WHAT.
[[noreturn]] void fail_system(const std::string& path, const std::string& what);

/// FileError for a path with a NUL inside, which the system would cut there.
void check_name(const std::string& path);

/// Called again and again while a pipe or a terminal keeps a reader or writer waiting; may throw, to stop waiting.
using WaitHook = void (*)();
void set_wait_hook(WaitHook hook) noexcept;
void call_wait_hook();

}  // namespace tenon::io
