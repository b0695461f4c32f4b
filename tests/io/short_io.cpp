// Preloaded into a program: every read and write moves 1 to 7 bytes, and every third one is interrupted by a signal
// first. Results must not differ.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace {

std::atomic<unsigned> calls{0};

template <class Function>
ssize_t shortened(const char* name, Function, int descriptor, auto* bytes, std::size_t count) {
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  const unsigned call = calls.fetch_add(1);
  if (call % 3 == 2) {
    errno = EINTR;
    return -1;
  }
  return real(descriptor, bytes, std::min<std::size_t>(count, 1 + call % 7));
}

}  // namespace

extern "C" ssize_t read(int descriptor, void* bytes, size_t count) {
  return shortened("read", static_cast<ssize_t (*)(int, void*, size_t)>(nullptr), descriptor, bytes, count);
}
extern "C" ssize_t write(int descriptor, const void* bytes, size_t count) {
  return shortened("write", static_cast<ssize_t (*)(int, const void*, size_t)>(nullptr), descriptor, bytes, count);
}
