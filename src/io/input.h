// io: input files. Takes a path; gives the file's bytes in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/mapping.h"

namespace tenon::io {

/// How a regular file is read. A mapped file may be larger than memory, but must not become shorter while it is mapped
/// (see io/mapping.h). Replacing it by a rename, as OutputFile does, is safe.
enum class Reading : unsigned char { mapped, copied };

/// The descriptor N that "/dev/fd/N" or a standard stream's name stands for; -1 for other paths. Such a path must not
/// be opened again: that could give another end of the pipe.
int given_descriptor(std::string_view path) noexcept;
/// Whether the path is a pipe, a terminal or a device, which have no size. False if it does not exist.
bool is_stream(const std::string& path) noexcept;

/// The bytes of a file. Writes to them never reach the file. Pipes, terminals and devices are read to the end, up to
/// the limit of io/limit.h.
class InputFile {
 public:
  /// Throws FileError if it cannot be opened or read, or becomes shorter while it is read. Waits up to 10 seconds for
  /// the writer of a named pipe. For "/dev/stdin" and "/dev/fd/N" it uses the open descriptor.
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
  Mapping mapping_;  // empty if the file was copied
};

}  // namespace tenon::io
