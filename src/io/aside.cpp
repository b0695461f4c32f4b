#include "io/aside.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/mapped.h"

namespace tenon::io {
namespace {

// Names of the files now aside. A fixed array of pointers, because a signal handler may not allocate or lock.
constexpr int kSlots = 16;
std::array<std::atomic<const char*>, kSlots> names{};

int register_name(const char* name) noexcept {
  for (int slot = 0; slot < kSlots; ++slot) {
    const char* free_slot = nullptr;
    if (names[static_cast<std::size_t>(slot)].compare_exchange_strong(free_slot, name)) return slot;
  }
  return -1;  // a seventeenth file at once is still removed by its destructor
}
void forget_name(int slot) noexcept {
  if (slot >= 0) names[static_cast<std::size_t>(slot)].store(nullptr);
}

/// Where the file really goes: a rename onto a symbolic link would replace the link.
std::filesystem::path follow_links(const std::string& path) {
  std::error_code failed;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, failed);
  return failed ? std::filesystem::path(path) : target;
}

void check_replaceable(const std::string& path, const std::string& target) {
  struct stat status = {};
  if (stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    fail_file(path, "cannot be written: it is not a regular file");
}

int create_new(const std::filesystem::path& target, std::string& name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string base =
        "." + target.filename().string() + "." + std::to_string(getpid()) + "-" + std::to_string(attempt) + ".part";
    name = (target.parent_path() / base).string();
    const int descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

}  // namespace

AsideFile::AsideFile(const std::string& path) : path_(path) {
  const std::filesystem::path target = follow_links(path);
  target_ = target.string();
  check_replaceable(path_, target_);
  descriptor_ = create_new(target, aside_);
  if (descriptor_ < 0) fail_system(path_, "cannot be written");
  slot_ = register_name(aside_.c_str());
}

AsideFile::~AsideFile() {
  unmap();
  if (descriptor_ >= 0) close(descriptor_);
  if (!committed_) unlink(aside_.c_str());
  forget_name(slot_);
}

void AsideFile::write(const void* bytes, std::size_t count) {
  const std::byte* next = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system(path_, "cannot be written");
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

std::byte* AsideFile::map(int64_t nbytes) {
  // The disk space is taken now: a full disk is an error here, and not a SIGBUS in the middle of a kernel.
  do {
    errno = posix_fallocate(descriptor_, 0, nbytes);
  } while (errno == EINTR);
  if (errno != 0) fail_system(path_, "cannot be written (" + std::to_string(nbytes) + " bytes)");
  void* data = mmap(nullptr, static_cast<std::size_t>(nbytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (data == MAP_FAILED) fail_system(path_, "cannot be mapped");
  data_ = static_cast<std::byte*>(data);
  nbytes_ = nbytes;
  return data_;
}

void AsideFile::commit() {
  unmap();
  // Closed before the rename: network file systems report a failed write as late as here.
  if (close(std::exchange(descriptor_, -1)) != 0) fail_system(path_, "cannot be written");
  if (std::rename(aside_.c_str(), target_.c_str()) != 0) fail_system(path_, "cannot be written");
  committed_ = true;
}

void AsideFile::unmap() noexcept {
  if (data_) munmap(data_, static_cast<std::size_t>(nbytes_));
  data_ = nullptr;
}

void remove_aside_files() noexcept {
  for (auto& name : names)
    if (const char* path = name.load()) unlink(path);
}

}  // namespace tenon::io
