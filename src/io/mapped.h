// io: a file as memory. Takes a path; gives its bytes, mapped. Never knows what they mean.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon::io {

/// FileError "PATH: WHAT".
[[noreturn]] void fail_file(const std::string& path, const std::string& what);
/// The same with the system's words for `errno` behind it.
[[noreturn]] void fail_system(const std::string& path, const std::string& what);

/// The bytes of a file, mapped privately: writes to them never reach the file.
class MappedFile {
 public:
  /// FileError when it cannot be opened, is not a regular file, or cannot be mapped.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* data() const noexcept { return data_; }
  int64_t nbytes() const noexcept { return nbytes_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::byte* data_ = nullptr;
  int64_t nbytes_ = 0;
};

}  // namespace tenon::io
