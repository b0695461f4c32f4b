// io: memory that is a file. Takes a descriptor; gives its bytes, and an error instead of SIGBUS when they are gone.
#pragma once
#include <cstddef>
#include <string>
#include <utility>

namespace tenon::io {

/// A mapping of a whole file. Where the file has become shorter, or its disk fails, reading gives zeros instead of
/// SIGBUS, and the mapping is lost from then on.
class Mapping {
 public:
  Mapping() = default;
  /// `protection` and `flags` are those of mmap(). SystemError.
  Mapping(const std::string& path, int descriptor, std::size_t nbytes, int protection, int flags);
  ~Mapping() { unmap(); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  void unmap() noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t nbytes_ = 0;
  int slot_ = -1;
};

/// FileError for a mapping that was lost since the last call, of any file. Whoever read mapped files calls it before he
/// trusts the result.
void check_lost_mappings();

/// Called by the signal handler, on the thread that met a lost page: async-signal-safe functions only.
using LossHook = void (*)();
void set_loss_hook(LossHook hook) noexcept;

}  // namespace tenon::io
