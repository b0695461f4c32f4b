#include "io/output.h"

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
#include "system/file.h"

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

/// Names are UTF-8, which std::filesystem takes std::string for on some systems alone.
fs::path path_of(const std::string& name) { return std::u8string(name.begin(), name.end()); }
std::string name_of(const fs::path& path) {
  const std::u8string name = path.u8string();
  return {name.begin(), name.end()};
}

/// Follows symbolic links, because a rename onto a link would replace the link. A link may lead to a file that does not
/// exist yet. std::nullopt if only the system can follow the link.
std::optional<fs::path> follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  fs::path target = path_of(path);
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code failed;
    const fs::path next = fs::read_symlink(target, failed);
    if (failed) return target;
    if (system::is_opaque_link(name_of(target))) return std::nullopt;
    target = target.parent_path() / next;  // an absolute `next` replaces the whole path
  }
  errno = ELOOP;
  fail_system(path, "cannot be written");
}

/// An unpredictable name, short enough for every file system.
std::string random_name() {
  char name[40];
  std::snprintf(name, sizeof name, ".tenon-%016llx.part", static_cast<unsigned long long>(system::random_bits()));
  return name;
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  check_name(path);
  const std::optional<system::FileStatus> old = system::status_of(path);
  if (old && old->kind == system::FileKind::folder) {
    errno = EISDIR;
    fail_system(path_, "cannot be written");
  }
  const std::optional<fs::path> target = follow_links(path);
  // Pipes and devices are written directly.
  if (given_descriptor(path) >= 0 || !target || (old && old->kind != system::FileKind::regular)) {
    open_stream();
    return;
  }
  target_ = name_of(*target);
  if (old && !system::may_write(target_)) fail_system(path_, "cannot be written");
  // Private until it has its final mode: the content of a file of mode 600 must never be readable by others.
  open_temporary(old.has_value());
  try {
    if (old && !system::take_over(*old, descriptor_)) fail_system(path_, "cannot be written");
  } catch (...) {  // the destructor does not run if the constructor throws
    abandon();
    throw;
  }
}

void OutputFile::open_stream() {
  const int given = given_descriptor(path_);
  const auto end_of_patience = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    descriptor_ = given >= 0 ? system::duplicate(given) : system::open_to_write(path_);
    if (descriptor_ >= 0) return;
    const bool later = errno == ENXIO || errno == EINTR;
    if (!later || std::chrono::steady_clock::now() >= end_of_patience) fail_system(path_, "cannot be written");
    system::wait_to_write(-1, kPause);
    call_wait_hook();
  }
}

void OutputFile::open_temporary(bool is_private) {
  const fs::path folder = path_of(target_).parent_path();
  do {
    temporary_ = name_of(folder / random_name());
    descriptor_ = system::create_file(temporary_, is_private);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail_system(path_, "cannot be written");
  slot_ = register_name(temporary_.c_str());
}

OutputFile::~OutputFile() { abandon(); }

void OutputFile::abandon() noexcept {
  mapping_.unmap();
  if (descriptor_ >= 0) system::close_file(descriptor_);
  if (!committed_ && !is_stream()) system::remove_file(temporary_.c_str());
  forget_name(slot_);
}

void OutputFile::write(const void* bytes, std::size_t count) {
  const std::byte* next = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const int64_t written = system::write_some(descriptor_, next, count);
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      if (errno != EINTR && errno != EAGAIN) fail_system(path_, "cannot be written");
      system::wait_to_write(descriptor_, kPause);
      call_wait_hook();
      continue;
    }
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

std::byte* OutputFile::map(int64_t nbytes) {
  // Reserves the disk space now, so that a full disk is an error here and not a SIGBUS in a kernel.
  if (!system::reserve(descriptor_, nbytes))
    fail_system(path_, "cannot be written (" + std::to_string(nbytes) + " bytes)");
  mapping_ = Mapping(path_, descriptor_, nbytes, system::Access::shared_write);
  return mapping_.data();
}

void OutputFile::commit() {
  check_lost_mappings();  // of the inputs and of this file
  mapping_.unmap();
  // Closed before the rename, because network file systems may report a failed write only here.
  if (!system::close_file(std::exchange(descriptor_, -1)) && errno != EINTR) fail_system(path_, "cannot be written");
  if (!is_stream() && !system::replace_file(temporary_, target_)) fail_system(path_, "cannot be written");
  committed_ = true;
}

void remove_temporary_files() noexcept {
  for (auto& name : names)
    if (const char* path = name.load()) system::remove_file(path);
}

}  // namespace tenon::io
