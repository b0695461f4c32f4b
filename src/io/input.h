// io: a file as memory. Takes a path; gives its bytes. Never knows what they mean.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/mapping.h"

namespace tenon::io {

/// How the bytes of a regular file come into memory. A mapped file may be larger than memory, but must not become
/// shorter while it is mapped: io/mapping.h says what happens then. Replacing the file by a rename, as OutputFile does,
/// leaves the mapping whole.
enum class Reading : unsigned char { mapped, copied };

/// N of "/dev/fd/N" and of the standard streams' names, or -1. Opening such a path would give a second, unrelated end
/// of the same pipe.
int given_descriptor(std::string_view path) noexcept;
/// A pipe, a terminal or a device: something without a size. False where nothing is.
bool is_stream(const std::string& path) noexcept;

/// The bytes of a file. Writes to them never reach the file. Pipes, terminals and devices are read to their end, up to
/// the limit of io/limit.h.
class InputFile {
 public:
  /// FileError when it cannot be opened or read, or becomes shorter while it is read. A named pipe waits 10 seconds for
  /// its writer; "/dev/stdin" and "/dev/fd/N" are descriptors that are open already.
  InputFile(const std::string& path, Reading reading);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::byte* data() const noexcept { return data_; }
  int64_t nbytes() const noexcept { return nbytes_; }
  const std::string& path() const noexcept { return path_; }

 private:
  void map_regular(int descriptor, int64_t nbytes);
  void read_regular(int descriptor, int64_t nbytes);
  void read_stream(int descriptor, bool waits_for_writer);

  std::string path_;
  std::byte* data_ = nullptr;
  int64_t nbytes_ = 0;
  Mapping mapping_;  // empty for what was copied
};

}  // namespace tenon::io
