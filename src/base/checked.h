// base: arithmetic on sizes, strides, offsets and bytes that detects overflow.
// Note [Bounds]
// Sizes, strides and offsets come from users, files and other libraries, so each may be any int64. Numbers computed
// from them are computed in Checked; tools/check_sizes.py finds those that are not.
// Plain arithmetic is exact where a tensor on the cpu has elements: every element lies inside its storage, which holds
// less than 2^60 bytes (kMaxStorageBytes), so size * stride of each dim is far below 2^63. A dim of size 1 may have any
// stride: loops never step along it. Tensors without elements and meta tensors may have any strides and offset: no loop
// visits them. Code that relies on this says so in a comment that begins with "exact:".
#pragma once
#include <cstdint>

#include "tenon/error.h"

namespace tenon {

/// Every storage is smaller: no machine addresses so much.
inline constexpr int64_t kMaxStorageBytes = int64_t{1} << 60;

/// An integer that remembers overflow: once a result overflowed, all further results count as overflowed. It can be
/// read only through a check.
class Checked {
 public:
  constexpr Checked(int64_t value) noexcept : value_(value) {}

  constexpr bool fits() const noexcept { return !overflowed_; }
  /// The number; if it has overflowed, calls `fail`, which throws.
  template <class Fail>
  constexpr int64_t or_else(const Fail& fail) const {
    if (overflowed_) [[unlikely]]
      fail();
    return value_;
  }
  constexpr int64_t or_throw(const char* text) const {
    return or_else([text] { throw Error(text); });
  }
  /// The number, or `other` if it has overflowed.
  constexpr int64_t value_or(int64_t other) const noexcept { return overflowed_ ? other : value_; }

  constexpr Checked& operator+=(Checked other) noexcept {
    overflowed_ |= other.overflowed_ | __builtin_add_overflow(value_, other.value_, &value_);
    return *this;
  }
  constexpr Checked& operator-=(Checked other) noexcept {
    overflowed_ |= other.overflowed_ | __builtin_sub_overflow(value_, other.value_, &value_);
    return *this;
  }
  constexpr Checked& operator*=(Checked other) noexcept {
    overflowed_ |= other.overflowed_ | __builtin_mul_overflow(value_, other.value_, &value_);
    return *this;
  }
  friend constexpr Checked operator+(Checked a, Checked b) noexcept { return a += b; }
  friend constexpr Checked operator-(Checked a, Checked b) noexcept { return a -= b; }
  friend constexpr Checked operator*(Checked a, Checked b) noexcept { return a *= b; }

  /// Whether it equals `number`, or is at most `number`. False after an overflow.
  constexpr bool is(int64_t number) const noexcept { return !overflowed_ && value_ == number; }
  constexpr bool is_at_most(int64_t number) const noexcept { return !overflowed_ && value_ <= number; }

 private:
  int64_t value_;
  bool overflowed_ = false;
};

/// Errors with PyTorch's texts.
inline int64_t stride_from(Checked value) { return value.or_throw("Stride calculation overflowed"); }
inline int64_t numel_from(Checked value) { return value.or_throw("numel: integer multiplication overflow"); }
/// PyTorch refuses an offset that became negative, but accepts one that wrapped round twice; here both are errors.
inline int64_t offset_from(Checked value) { return value.or_throw("Storage offset calculation overflowed"); }

}  // namespace tenon
