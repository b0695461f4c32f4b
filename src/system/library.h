// system: shared libraries that are opened while the process runs.
#pragma once
#include <string>

namespace tenon::system {

/// How names of shared libraries end, with the dot.
extern const char* const kLibrarySuffix;

/// The folder of the library or program that holds this code, with a separator; empty if it is not known.
std::string folder_of_code(const void* code);
/// Null if there is none. A name without a folder is looked for where the system looks for libraries.
void* open_library(const std::string& path) noexcept;
/// Null if the library has no such symbol.
void* find_symbol(void* library, const char* name) noexcept;

}  // namespace tenon::system
