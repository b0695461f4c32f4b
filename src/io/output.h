// io: output files that appear complete or not at all. Takes a path; writes a temporary file beside it, which is
// renamed at the end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/mapping.h"

namespace tenon::io {

/// A temporary file in the directory of `path`, with an unpredictable name. `commit` renames it to `path`; otherwise
/// the destructor removes it. If several are written to one path at the same time, the last commit wins, and each is
/// complete. As with open(), symbolic links are followed and an existing file's mode and owner are kept; other hard
/// links keep the old content.
/// A pipe, a terminal or a device is written directly.
/// There is no fsync: after a power failure the file may be the old one, the new one, or empty.
class OutputFile {
 public:
  /// Throws FileError if the directory or an existing file is not writable.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Whether the path is written directly. Then writes cannot be undone, and `map` must not be called.
  bool is_stream() const noexcept { return temporary_.empty(); }
  /// Appends. Throws FileError if the disk is full.
  void write(const void* bytes, std::size_t count);
  /// Reserves `nbytes` bytes of disk for the file and maps them. Bytes written there are the file's content.
  std::byte* map(int64_t nbytes);
  /// Renames the file to its path. Nothing may be written after. Throws FileError, also if a mapped file was lost.
  void commit();

 private:
  void open_stream();
  void open_temporary(bool is_private);
  void abandon() noexcept;

  std::string path_;       // as given by the user; error texts use it
  std::string target_;     // with symbolic links followed
  std::string temporary_;  // "" for a stream
  int descriptor_ = -1;
  bool committed_ = false;
  int slot_ = -1;  // index in the list of files that the signal handler removes
  Mapping mapping_;
};

/// Removes every temporary file. For signal handlers: calls async-signal-safe functions only.
void remove_temporary_files() noexcept;

}  // namespace tenon::io
