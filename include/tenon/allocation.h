// base: allocations that are too large to be tried.
#pragma once
#include "tenon/export.h"

namespace tenon {

/// Throws a std::bad_alloc. In the library, so that the headers compile with -fno-exceptions, too.
[[noreturn]] TENON_API void fail_allocation();

}  // namespace tenon
