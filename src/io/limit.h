// io: how much a small file may grow. Takes a number of bytes; gives an error when memory should not be spent on it.
#pragma once
#include <cstdint>
#include <string>

namespace tenon::io {

/// 1 GiB, or what the environment variable TENON_LOAD_LIMIT says, in bytes. It holds for what a file does not take on
/// disk: unpacked text and pixels, and whatever comes through a pipe. ValueError when the variable holds no number.
int64_t load_limit();

/// FileError that names the limit and the variable, when `nbytes` are more. `what`: "the picture takes".
void check_load_limit(const std::string& path, const std::string& what, int64_t nbytes);

}  // namespace tenon::io
