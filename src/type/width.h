// type: elements by their width in bytes. Code that only moves elements is compiled once for each width.
#pragma once
#include <cstdint>

namespace tenon {

/// An element of 16 bytes.
struct Wide {
  uint64_t halves[2];
};

/// Calls `visitor.template operator()<T>()` with a type of `width` bytes; `otherwise()` if there is none.
template <class Visitor, class Otherwise>
decltype(auto) visit_width(int64_t bytes, const Visitor& visitor, const Otherwise& otherwise) {
  switch (bytes) {
    case 1:
      return visitor.template operator()<uint8_t>();
    case 2:
      return visitor.template operator()<uint16_t>();
    case 4:
      return visitor.template operator()<uint32_t>();
    case 8:
      return visitor.template operator()<uint64_t>();
    case 16:
      return visitor.template operator()<Wide>();
    default:
      return otherwise();
  }
}
/// The same for the width of a dtype.
template <class Visitor>
decltype(auto) visit_width(int64_t bytes, const Visitor& visitor) {
  return visit_width(bytes, visitor,
                     []() -> decltype(visitor.template operator()<uint8_t>()) { __builtin_unreachable(); });
}

}  // namespace tenon
