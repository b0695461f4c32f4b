// io: file errors. Takes a path and a text; throws a FileError that begins with the path.
#pragma once
#include <string>

#include "tenon/error.h"

namespace tenon::io {

/// A system call failed; `code` is its errno.
class SystemError : public FileError {
 public:
  SystemError(std::string text, int code) : FileError(std::move(text)), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// FileError "PATH: WHAT".
[[noreturn]] void fail_file(const std::string& path, const std::string& what);
/// FileError "PATH: the file is damaged: WHAT". For bytes that the file's format does not allow.
[[noreturn]] void fail_damaged(const std::string& path, const std::string& what);
/// SystemError "PATH: WHAT" with the system's text for `errno`.
[[noreturn]] void fail_system(const std::string& path, const std::string& what);

/// Throws FileError for a path that contains a NUL, at which the system would cut it.
void check_name(const std::string& path);

/// Called repeatedly while a read or write waits for a pipe or a terminal. It may throw to stop waiting.
using WaitHook = void (*)();
void set_wait_hook(WaitHook hook) noexcept;
void call_wait_hook();

}  // namespace tenon::io
