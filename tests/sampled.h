// How much of its cases a test takes where a sanitizer makes it ten times slower.
#pragma once

namespace tenon {

/// Tests of many seeds draw so many times fewer cases with a sanitizer, and tests of every size take every third
/// size: they reach the same loops.
#ifdef TENON_SANITIZED
inline constexpr int kSampled = 3;
#else
inline constexpr int kSampled = 1;
#endif

}  // namespace tenon
