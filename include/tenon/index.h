// tensor: the kinds of index that `x[...]` takes.
#pragma once
#include <cstdint>
#include <optional>
#include <type_traits>

#include "tenon/export.h"

namespace tenon {

class Tensor;
/// A 0-dim bool tensor that lives as long as the process.
TENON_API const Tensor& truth_tensor(bool truth);

/// `start:stop:step`; a part that is left out is std::nullopt.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
  Slice(std::optional<int64_t> start_ = {}, std::optional<int64_t> stop_ = {}, int64_t step_ = 1)
      : start(start_), stop(stop_), step(step_) {}
};
/// The type of None.
struct NoneIndex {};
/// The type of Ellipsis.
struct EllipsisIndex {};
/// A new dim of size 1.
inline constexpr NoneIndex None{};
/// As many full slices as are needed.
inline constexpr EllipsisIndex Ellipsis{};

/// One entry of an index list.
struct Index {
  /// Which of the members below holds the entry.
  enum class Kind : uint8_t { integer, slice, none, ellipsis, tensor } kind;
  int64_t integer = 0;
  Slice range{};
  const Tensor* tensor = nullptr;  // lives for one call

  Index(int i) : kind(Kind::integer), integer(i) {}
  Index(int64_t i) : kind(Kind::integer), integer(i) {}
  /// True or false: a new dim of size 1 or 0, as in Python.
  template <class T>
  requires std::is_same_v<T, bool> Index(T truth) : kind(Kind::tensor), tensor(&truth_tensor(truth)) {}
  Index(Slice s) : kind(Kind::slice), range(s) {}
  Index(NoneIndex) : kind(Kind::none) {}
  Index(EllipsisIndex) : kind(Kind::ellipsis) {}
  /// A tensor of integers selects along one dim. A mask of bool (or uint8, with a warning) selects along as many dims
  /// as it has.
  Index(const Tensor& places) : kind(Kind::tensor), tensor(&places) {}
};

}  // namespace tenon
