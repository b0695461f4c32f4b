// io: output that appears whole or not at all. Takes a path; gives a file beside it that takes its name in the end.
// Never touches an existing file before then.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/mapping.h"

namespace tenon::io {

/// A new file in the directory of `path`, under a random name that nobody can foresee. `commit` renames it to `path`;
/// without that the destructor removes it. Of several that are written to one path at a time, each is whole, and the
/// last to commit stays. As with open(), symbolic links lead to the file that is written and stay what they are, and an
/// existing file keeps its mode and owner; other hard links to it keep the old content.
///
/// A pipe, a terminal or a device is written as it comes, in its place.
///
/// Nothing is forced to the disk (no fsync): after a power failure the file may be the old one, the new one, or empty.
class OutputFile {
 public:
  /// FileError when the directory or an existing file cannot be written.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Written in its place: what is written cannot be taken back, and `map` is not for it.
  bool is_stream() const noexcept { return aside_.empty(); }
  /// Appends. FileError when the disk is full.
  void write(const void* bytes, std::size_t count);
  /// Gives the file `nbytes` bytes of disk and maps them; what is stored there is what the file will hold.
  std::byte* map(int64_t nbytes);
  /// The file takes its name. Nothing may be written after. FileError also where a mapped file was lost meanwhile.
  void commit();

 private:
  void open_stream();
  void open_aside(unsigned mode);
  void abandon() noexcept;

  std::string path_;    // as the user wrote it: what errors name
  std::string target_;  // links followed
  std::string aside_;   // "" for a stream
  int descriptor_ = -1;
  bool committed_ = false;
  int slot_ = -1;  // in the list of files that a signal handler removes
  Mapping mapping_;
};

/// Removes every temporary file. For signal handlers: calls async-signal-safe functions only.
void remove_aside_files() noexcept;

}  // namespace tenon::io
