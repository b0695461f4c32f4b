// io: mapped files. Takes a descriptor; gives the file's bytes, and an error instead of SIGBUS if they disappear.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "system/mapping.h"

namespace tenon::io {

/// A mapping of a whole file. If the file becomes shorter, or its disk fails, reads give zeros instead of SIGBUS, and
/// the mapping counts as lost.
class Mapping {
 public:
  Mapping() = default;
  /// Throws SystemError.
  Mapping(const std::string& path, int descriptor, int64_t nbytes, system::Access access);
  ~Mapping() { unmap(); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  void unmap() noexcept;

 private:
  std::byte* data_ = nullptr;
  int64_t nbytes_ = 0;
  int slot_ = -1;
};

/// Throws FileError if a mapping of any file was lost since the last call. Call it after reading mapped files, before
/// using the result.
void check_lost_mappings();

/// Called by the signal handler on the thread that read a lost page. It may use async-signal-safe functions only.
using LossHook = void (*)();
void set_loss_hook(LossHook hook) noexcept;

}  // namespace tenon::io
