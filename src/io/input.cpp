#include "io/input.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "io/fail.h"
#include "io/limit.h"
#include "system/file.h"
#include "tenon/error.h"

namespace tenon::io {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);  // for the writer of a named pipe
constexpr int kPause = 50;                            // milliseconds between checks whether to stop waiting

class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) system::close_file(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const noexcept { return value_; }

 private:
  int value_;
};

int open_input(const std::string& path) noexcept {
  const int given = given_descriptor(path);
  return given >= 0 ? system::duplicate(given) : system::open_to_read(path);
}

bool try_later(int code) noexcept { return code == EINTR || code == EAGAIN || code == EWOULDBLOCK; }

void wait_for_bytes(int descriptor) {
  system::wait_to_read(descriptor, kPause);
  call_wait_hook();
}

std::byte* resized(std::byte* data, std::size_t nbytes) {
  void* moved = std::realloc(data, nbytes);
  if (!moved)
    throw OutOfMemoryError("not enough memory to read a file of " + std::to_string(nbytes) + " bytes or more");
  return static_cast<std::byte*>(moved);
}

}  // namespace

int given_descriptor(std::string_view path) noexcept {
  constexpr std::string_view kFolder = "/dev/fd/";
  constexpr std::string_view kNames[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int number = 0; number < 3; ++number)
    if (path == kNames[number]) return number;
  if (path.substr(0, kFolder.size()) != kFolder) return -1;
  int number = -1;
  const char* end = path.data() + path.size();
  const auto [stop, failed] = std::from_chars(path.data() + kFolder.size(), end, number);
  return failed == std::errc() && stop == end ? number : -1;
}

bool is_stream(const std::string& path) noexcept {
  if (given_descriptor(path) >= 0) return true;
  const std::optional<system::FileStatus> status = system::status_of(path);
  return status && status->kind != system::FileKind::regular && status->kind != system::FileKind::folder;
}

InputFile::InputFile(const std::string& path, Reading reading) : path_(path) {
  check_name(path);
  const Descriptor file(open_input(path));
  if (file.value() < 0) fail_system(path, "cannot be opened");
  const std::optional<system::FileStatus> status = system::status_of(file.value());
  if (!status) fail_system(path, "cannot be read");
  const bool given = given_descriptor(path) >= 0;
  // Files under /proc are regular files of size 0 that have content.
  const bool has_size = status->kind == system::FileKind::regular && status->nbytes > 0 && !given;
  if (has_size && reading == Reading::mapped) {
    map_regular(file.value(), status->nbytes);
    return;
  }
  try {
    if (has_size)
      read_regular(file.value(), status->nbytes);
    else
      read_stream(file.value(), status->kind == system::FileKind::named_pipe && !given);
  } catch (...) {
    std::free(data_);
    throw;
  }
}

InputFile::~InputFile() {
  if (!mapping_.data()) std::free(data_);
}

void InputFile::map_regular(int descriptor, int64_t nbytes) {
  // First a writable mapping, so that in-place ops on the tensor work; if memory limits forbid that, a read-only one.
  try {
    mapping_ = Mapping(path_, descriptor, nbytes, system::Access::private_write);
  } catch (const SystemError&) {
    mapping_ = Mapping(path_, descriptor, nbytes, system::Access::read);
  }
  data_ = mapping_.data();
  nbytes_ = nbytes;
}

void InputFile::read_regular(int descriptor, int64_t nbytes) {
  data_ = resized(nullptr, static_cast<std::size_t>(nbytes));
  while (nbytes_ < nbytes) {
    const int64_t count = system::read_some(descriptor, data_ + nbytes_, static_cast<std::size_t>(nbytes - nbytes_));
    if (count < 0 && !try_later(errno)) fail_system(path_, "cannot be read");
    if (count == 0) fail_file(path_, "became shorter while it was read");
    if (count > 0) nbytes_ += count;
    call_wait_hook();
  }
}

void InputFile::read_stream(int descriptor, bool waits_for_writer) {
  constexpr int64_t kFirst = 1 << 16;
  const auto end_of_patience = std::chrono::steady_clock::now() + kPatience;
  int64_t capacity = 0;
  for (;;) {
    if (nbytes_ == capacity) {
      capacity = std::max(kFirst, 2 * capacity);
      data_ = resized(data_, static_cast<std::size_t>(capacity));
    }
    const int64_t count = system::read_some(descriptor, data_ + nbytes_, static_cast<std::size_t>(capacity - nbytes_));
    if (count < 0 && !try_later(errno)) fail_system(path_, "cannot be read");
    // A named pipe without a writer looks like one at its end.
    const bool lonely = count == 0 && waits_for_writer;
    if (count == 0 && !lonely) return;
    if (lonely && std::chrono::steady_clock::now() >= end_of_patience)
      fail_file(path_, "is a pipe, and nobody has written to it for 10 seconds");
    if (count <= 0) {
      if (count < 0) waits_for_writer = false;
      wait_for_bytes(lonely ? -1 : descriptor);
      continue;
    }
    waits_for_writer = false;
    nbytes_ += count;
    check_load_limit(path_, "holds", nbytes_);
  }
}

}  // namespace tenon::io
