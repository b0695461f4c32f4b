#include "io/output.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "io/fail.h"
#include "io/input.h"

namespace tenon::io {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(10);  // for the reader of a named pipe
constexpr int kPause = 50;                            // milliseconds between checks whether to stop waiting

// Names of the existing temporary files. A fixed array of pointers, because a signal handler may not allocate or lock.
constexpr int kSlots = 16;
std::array<std::atomic<const char*>, kSlots> names{};

int register_name(const char* name) noexcept {
  for (int slot = 0; slot < kSlots; ++slot) {
    const char* free_slot = nullptr;
    if (names[static_cast<std::size_t>(slot)].compare_exchange_strong(free_slot, name)) return slot;
  }
  return -1;  // further files are removed by their destructors only
}
void forget_name(int slot) noexcept {
  if (slot >= 0) names[static_cast<std::size_t>(slot)].store(nullptr);
}

std::optional<struct stat> status_of(const std::string& path) noexcept {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// Whether a link is under /proc. Its target may have no name any more, or the name of another file.
bool lies_in_proc(const fs::path& link) {
  struct statfs system = {};
  const fs::path folder = link.parent_path();
  return statfs(folder.empty() ? "." : folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/// Follows symbolic links, because a rename onto a link would replace the link. A link may lead to a file that does not
/// exist yet. std::nullopt if only the system can follow the link.
std::optional<fs::path> follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  fs::path target = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code failed;
    const fs::path next = fs::read_symlink(target, failed);
    if (failed) return target;
    if (lies_in_proc(target)) return std::nullopt;
    target = target.parent_path() / next;  // an absolute `next` replaces the whole path
  }
  errno = ELOOP;
  fail_system(path, "cannot be written");
}

/// An unpredictable name, short enough for every file system.
std::string random_name() {
  uint64_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
  }
  char name[40];
  std::snprintf(name, sizeof name, ".tenon-%016llx.part", static_cast<unsigned long long>(bits));
  return name;
}

/// Gives the new file the mode and, if permitted, the owner of the file that it will replace.
void take_over(const struct stat& old, int descriptor, const std::string& path) {
  struct stat made = {};
  if (fstat(descriptor, &made) != 0) fail_system(path, "cannot be written");
  mode_t mode = old.st_mode & 0777;
  const bool same_owner = old.st_uid == made.st_uid && old.st_gid == made.st_gid;
  if (!same_owner && fchown(descriptor, old.st_uid, old.st_gid) != 0)
    mode &= 0707;  // the group differs, so it gets no rights
  if (fchmod(descriptor, mode) != 0) fail_system(path, "cannot be written");
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  check_name(path);
  const std::optional<struct stat> old = status_of(path);
  if (old && S_ISDIR(old->st_mode)) {
    errno = EISDIR;
    fail_system(path_, "cannot be written");
  }
  const std::optional<fs::path> target = follow_links(path);
  // Pipes and devices are written directly.
  if (given_descriptor(path) >= 0 || !target || (old && !S_ISREG(old->st_mode))) {
    open_stream();
    return;
  }
  target_ = target->string();
  if (old && faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) fail_system(path_, "cannot be written");
  // Private until it has its final mode: the content of a file of mode 600 must never be readable by others.
  open_temporary(old ? 0600 : 0666);
  try {
    if (old) take_over(*old, descriptor_, path_);
  } catch (...) {  // the destructor does not run if the constructor throws
    abandon();
    throw;
  }
}

void OutputFile::open_stream() {
  const int given = given_descriptor(path_);
  const auto end_of_patience = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    // With O_NONBLOCK, opening a pipe without a reader fails instead of waiting without interrupts.
    descriptor_ = given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, 0)
                             : open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor_ >= 0) return;
    const bool later = errno == ENXIO || errno == EINTR;
    if (!later || std::chrono::steady_clock::now() >= end_of_patience) fail_system(path_, "cannot be written");
    poll(nullptr, 0, kPause);
    call_wait_hook();
  }
}

void OutputFile::open_temporary(unsigned mode) {
  const fs::path folder = fs::path(target_).parent_path();
  do {
    temporary_ = (folder / random_name()).string();
    descriptor_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail_system(path_, "cannot be written");
  slot_ = register_name(temporary_.c_str());
}

OutputFile::~OutputFile() { abandon(); }

void OutputFile::abandon() noexcept {
  mapping_.unmap();
  if (descriptor_ >= 0) close(descriptor_);
  if (!committed_ && !is_stream()) unlink(temporary_.c_str());
  forget_name(slot_);
}

void OutputFile::write(const void* bytes, std::size_t count) {
  const std::byte* next = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, next, count);
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      if (errno != EINTR && errno != EAGAIN) fail_system(path_, "cannot be written");
      struct pollfd waiting = {descriptor_, POLLOUT, 0};
      poll(&waiting, 1, kPause);
      call_wait_hook();
      continue;
    }
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

std::byte* OutputFile::map(int64_t nbytes) {
  // Reserves the disk space now, so that a full disk is an error here and not a SIGBUS in a kernel.
  do {
    errno = posix_fallocate(descriptor_, 0, nbytes);
  } while (errno == EINTR);
  if (errno != 0) fail_system(path_, "cannot be written (" + std::to_string(nbytes) + " bytes)");
  mapping_ = Mapping(path_, descriptor_, static_cast<std::size_t>(nbytes), PROT_READ | PROT_WRITE, MAP_SHARED);
  return mapping_.data();
}

void OutputFile::commit() {
  check_lost_mappings();  // of the inputs and of this file
  mapping_.unmap();
  // Closed before the rename, because network file systems may report a failed write only here.
  if (close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_system(path_, "cannot be written");
  if (!is_stream() && std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_system(path_, "cannot be written");
  committed_ = true;
}

void remove_temporary_files() noexcept {
  for (auto& name : names)
    if (const char* path = name.load()) unlink(path);
}

}  // namespace tenon::io
