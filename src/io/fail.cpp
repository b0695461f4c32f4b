#include "io/fail.h"

#include <atomic>
#include <cerrno>
#include <cstring>

namespace tenon::io {
namespace {

std::atomic<WaitHook> wait_hook{nullptr};

}  // namespace

void fail_file(const std::string& path, const std::string& what) { throw FileError(path + ": " + what); }
void fail_damaged(const std::string& path, const std::string& what) { fail_file(path, "the file is damaged: " + what); }
void fail_system(const std::string& path, const std::string& what) {
  const int code = errno;
  throw SystemError(path + ": " + what + ": " + std::strerror(code), code);
}

void check_name(const std::string& path) {
  const std::size_t nul = path.find('\0');
  if (nul != std::string::npos) fail_file(path.substr(0, nul), "the name goes on behind a NUL");
}

void set_wait_hook(WaitHook hook) noexcept { wait_hook.store(hook); }
void call_wait_hook() {
  if (const WaitHook hook = wait_hook.load()) hook();
}

}  // namespace tenon::io
