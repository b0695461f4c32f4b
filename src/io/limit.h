// io: a limit on the memory that a small file can claim, such as a compressed one.
#pragma once
#include <cstdint>
#include <string>

namespace tenon::io {

/// The limit in bytes: 1 GiB, or the environment variable TENON_LOAD_LIMIT. It applies to unpacked text, to pixels, and
/// to data from a pipe. Throws ValueError if the variable is not a number.
int64_t load_limit();

/// Throws FileError, with the limit and the variable's name, if `nbytes` are more. `what`: "the picture takes".
void check_load_limit(const std::string& path, const std::string& what, int64_t nbytes);

}  // namespace tenon::io
