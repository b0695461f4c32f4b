#include "io/mapped.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tenon/error.h"

namespace tenon::io {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const noexcept { return value_; }

 private:
  int value_;
};

/// Writable first, so that in-place ops on the tensor work; no swap is set aside, because a file may exceed memory.
void* map_privately(int descriptor, std::size_t nbytes) noexcept {
  void* data = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  if (data != MAP_FAILED) return data;
  return mmap(nullptr, nbytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
}

}  // namespace

void fail_file(const std::string& path, const std::string& what) { throw FileError(path + ": " + what); }
void fail_system(const std::string& path, const std::string& what) {
  const int code = errno;
  fail_file(path, what + ": " + std::strerror(code));
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // Without O_NONBLOCK opening a named pipe would wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.value() < 0) fail_system(path, "cannot be opened");
  struct stat status = {};
  if (fstat(file.value(), &status) != 0) fail_system(path, "cannot be read");
  if (!S_ISREG(status.st_mode)) fail_file(path, "is not a regular file");
  nbytes_ = status.st_size;
  if (nbytes_ == 0) return;  // nothing to map
  void* data = map_privately(file.value(), static_cast<std::size_t>(nbytes_));
  if (data == MAP_FAILED) fail_system(path, "cannot be mapped");
  data_ = static_cast<std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_) munmap(data_, static_cast<std::size_t>(nbytes_));
}

}  // namespace tenon::io
