// io: output that appears whole or not at all. Takes a path; gives a file beside it that takes its name in the end.
// Never touches an existing file before then.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon::io {

/// A new file in the directory of `path`. `commit` renames it to `path`; without that the destructor removes it.
class AsideFile {
 public:
  /// FileError when the directory cannot be written, or `path` exists and is not a regular file.
  explicit AsideFile(const std::string& path);
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  /// Appends. FileError when the disk is full.
  void write(const void* bytes, std::size_t count);
  /// Gives the file `nbytes` bytes of disk and maps them; what is stored there is what the file will hold.
  std::byte* map(int64_t nbytes);
  /// The file takes its name. Nothing may be written after.
  void commit();

 private:
  void unmap() noexcept;

  std::string path_;    // as the user wrote it: what errors name
  std::string target_;  // links followed
  std::string aside_;
  int descriptor_ = -1;
  bool committed_ = false;
  int slot_ = -1;  // in the list of files that a signal handler removes
  std::byte* data_ = nullptr;
  int64_t nbytes_ = 0;
};

/// Removes every file that is still aside. For signal handlers: calls async-signal-safe functions only.
void remove_aside_files() noexcept;

}  // namespace tenon::io
