// system: mapped files. Takes a descriptor; gives the addresses of the file's bytes.
#pragma once
#include <cstdint>

namespace tenon::system {

/// What may be done with the bytes of a mapped file: read them; write to private copies of pages; write to the file.
enum class Access : unsigned char { read, private_write, shared_write };

/// Maps the first `nbytes` bytes of a file. Null on failure, with errno set.
void* map_file(int descriptor, int64_t nbytes, Access access) noexcept;
void unmap_file(void* memory, int64_t nbytes) noexcept;

/// Calls `on_lost` on the thread that reads a page of a mapped file which the file no longer has: other programs may
/// make it shorter, and disks may fail. True: the page is there now, and the access is repeated. Otherwise the process
/// ends as it would have without this. `on_lost` may neither allocate nor lock.
/// Returns whether the system can do this and does; always true where a mapped file can't become shorter.
bool watch_lost_pages(bool (*on_lost)(uintptr_t address)) noexcept;
/// Puts pages of zeros in place of those from the page of `address` to `end`.
bool map_zeros(uintptr_t address, uintptr_t end) noexcept;

}  // namespace tenon::system
