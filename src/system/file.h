// system: files. Takes names in UTF-8 and gives descriptors, as in POSIX. What fails returns -1, false or nothing, and
// sets errno.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tenon::system {

enum class FileKind : unsigned char { regular, folder, named_pipe, other };

struct FileStatus {
  FileKind kind = FileKind::other;
  int64_t nbytes = 0;
  unsigned mode = 0, user = 0, group = 0;  // who may do what; 0 where the system has no such numbers
};
std::optional<FileStatus> status_of(const std::string& path) noexcept;
std::optional<FileStatus> status_of(int descriptor) noexcept;

/// Does not wait for the writer of a named pipe.
int open_to_read(const std::string& path) noexcept;
/// Opens what is no regular file. Does not wait for the reader of a named pipe: without one, errno is ENXIO.
int open_to_write(const std::string& path) noexcept;
/// Makes a file to read and write, which others may not open where `is_private`. EEXIST: there is one.
int create_file(const std::string& path, bool is_private) noexcept;
int duplicate(int descriptor) noexcept;
bool close_file(int descriptor) noexcept;

/// The number of bytes, which may be less than wanted; 0 at the end.
int64_t read_some(int descriptor, void* bytes, std::size_t count) noexcept;
int64_t write_some(int descriptor, const void* bytes, std::size_t count) noexcept;
/// Waits until there is something to read, or room to write, or the time is over. A descriptor of -1: for the time.
void wait_to_read(int descriptor, int milliseconds) noexcept;
void wait_to_write(int descriptor, int milliseconds) noexcept;

/// Makes the file so large, and takes the disk's space for it now, so that a full disk is an error here.
bool reserve(int descriptor, int64_t nbytes) noexcept;
bool may_write(const std::string& path) noexcept;
/// Gives a new file the mode and, if permitted, the owner of the file that it will replace.
bool take_over(const FileStatus& old, int descriptor) noexcept;
/// Renames a file, in one step, also where a file of the new name exists.
bool replace_file(const std::string& from, const std::string& to) noexcept;
/// For signal handlers, too.
void remove_file(const char* path) noexcept;

/// Whether a link can be followed by the system alone: its target, as Linux has them under /proc, may have no name any
/// more, or the name of another file.
bool is_opaque_link(const std::string& link) noexcept;
/// Bits that nobody can foresee.
uint64_t random_bits() noexcept;

}  // namespace tenon::system
