// kernel: which first elements of a row are found all at once.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tenon {

inline constexpr int64_t kMostFew = 16;  // as many as rows of a block

/// Whether networks of comparisons (first_few-inl.h) find `wanted` elements, all at once, in less time than they are
/// found one by one. Only with AVX-512. Bench: tenon_bench --filter '^topk'.
template <class Key>
constexpr bool are_found_at_once(int64_t length, int64_t wanted) {
  if (wanted < 3 || wanted > kMostFew) return false;
  const int64_t least = wanted <= kMostFew / 2 ? 24 : 48, of_each = sizeof(Key) == 8 ? 16 : 32;
  return length >= least && length <= std::min<int64_t>(of_each * wanted, 320);
}

}  // namespace tenon
