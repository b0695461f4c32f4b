// Searching and counting: searchsorted, bucketize, isin, histc, bincount. PyTorch: Bucketization.cpp,
// TensorCompare.cpp, Histogram.cpp and SummaryOps.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/keys.h"
#include "dispatch/plain.h"
#include "dispatch/sorted_places.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon {
namespace {

// Elements of a thread's part: work that is smaller stays on the caller.
constexpr int64_t kPartElements = 1 << 13;

// --- searchsorted

struct Search {
  const Tensor& boundaries;
  const Tensor& sorter;
  bool out_int32, right;
  std::optional<Scalar> number = {};  // that is searched for, instead of a tensor

  /// In which elements are compared.
  Dtype dtype(const Tensor& self) const {
    return number ? tenon::result_type(boundaries, *number) : tenon::result_type(boundaries, self);
  }

  Dtype result() const { return out_int32 ? int32 : int64; }
};

bool is_right(bool right, const char* side) {
  if (!side) return right;
  if (std::strcmp(side, "left") != 0 && std::strcmp(side, "right") != 0)
    throw Error(std::string("torch.searchsorted(): side can only be 'left' or 'right' but got ") + side);
  if (right && std::strcmp(side, "left") == 0)
    throw Error(
        "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  return std::strcmp(side, "right") == 0;
}

void check_sorter(const Search& search) {
  const Tensor& sorter = search.sorter;
  if (!sorter.defined()) return;
  if (!(sorter.sizes() == search.boundaries.sizes()))
    throw Error("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor " +
                to_string(search.boundaries.sizes()) + "and got sorter tensor " + to_string(sorter.sizes()));
  if (sorter.dtype() != int64)
    throw Error(std::string("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ") +
                scalar_type_name(sorter.dtype()));
  if (sorter.numel() == 0) return;
  check_readable(sorter);
  const auto [low, high] = tenon::aminmax(sorter.detach());
  const bool is_negative = low.item().as_int64() < 0;
  if (!is_negative && sorter.dim() == 0) throw Error("ArrayRef: attempted to access back() of empty list");
  if (is_negative || high.item().as_int64() >= sorter.size(-1))
    throw Error("torch.searchsorted(): sorter index out of range");
}

bool matches_rows(const Tensor& boundaries, const Tensor& self) {
  if (boundaries.dim() != self.dim()) return false;
  for (int64_t dim = 0; dim + 1 < self.dim(); ++dim)
    if (boundaries.size(dim) != self.size(dim)) return false;
  return true;
}

void check_search(const Search& search, const Tensor& self) {
  const Tensor& boundaries = search.boundaries;
  if (boundaries.device() != self.device())
    throw Error(std::string("torch.searchsorted(): boundaries and input value tensors should have same device type, "
                            "but got boundaries tensor device type ") +
                device_name(boundaries.device()) + " and input value tensor device type " + device_name(self.device()));
  check_sorter(search);
  if (self.dim() == 0 && boundaries.dim() != 1)
    throw Error(
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
        "boundaries tensor dim(" +
        std::to_string(boundaries.dim()) + ") and input value's dim(0) numel(1)");
  if (boundaries.dim() == 0)
    throw Error("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
  if (boundaries.dim() != 1 && !matches_rows(boundaries, self))
    throw Error(
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
        "tensor and input value tensor must match, but we got boundaries tensor " +
        to_string(boundaries.sizes()) + " and input value tensor " + to_string(self.sizes()));
}

void check_search_out(const Search& search, const Tensor& out) {
  if (out.dtype() == search.result()) return;
  throw Error(
      std::string("torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
                  "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype ") +
      scalar_type_name(out.dtype()) + " and out_int32 flag is " + (search.out_int32 ? "True" : "False"));
}

void warn_of_copy(const char* name, const char* what, const Tensor& tensor) {
  if (tensor.defined() && !tensor.is_contiguous())
    warn("UserWarning", std::string("torch.searchsorted(): ") + name +
                            " tensor is non-contiguous, this will lower the performance due to extra data copy when "
                            "converting non-contiguous tensor to contiguous, please use contiguous " +
                            what + " tensor if possible. This message will only appear once per program.");
}

/// Sorted elements, as they lie or by their places.
template <class T>
struct Sorted {
  const T* elements;
  T operator[](uint64_t i) const { return elements[i]; }
};
template <class T>
struct SortedBy {
  const T* elements;
  const int64_t* places;
  T operator[](uint64_t i) const { return elements[places[i]]; }
};

// Values that are searched for side by side. Bench: tenon_bench --ops --factor --filter '^(searchsorted|bucketize)/'.
constexpr int64_t kSideBySide = 8;

/// For each of some values, the first of `n` sorted elements that is not less than it; with `kRight` the first that is
/// larger. The values are searched for side by side, without branches that depend on elements. Elements are looked at
/// as in PyTorch, so that the result is the same where they are not in order.
template <int kValues, bool kRight, class T, class Elements>
void find_places(int64_t* to, const T* values, const Elements& sorted, uint64_t n) {
  std::array<uint64_t, kValues> starts{}, left;
  left.fill(n);
  for (uint64_t rest = n; rest > 0; rest /= 2)
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kValues; ++i) {
      // exact: inside the row
      const uint64_t half = left[i] / 2, middle = std::min(starts[i] + half, n - 1);
      const T other = sorted[middle];
      const bool is_behind = kRight ? !(other > values[i]) : !(other >= values[i]);
      const uint64_t mask = 0 - (static_cast<uint64_t>(is_behind) & static_cast<uint64_t>(left[i] > 0));
      starts[i] += (half + 1) & mask;
      left[i] = half - ((1 - left[i] % 2) & mask);
    }
  for (std::size_t i = 0; i < kValues; ++i) to[i] = static_cast<int64_t>(starts[i]);
}

/// The same among elements in order, where any way of halving gives the same result: a few instructions a step.
template <int kValues, bool kRight, class T, class Elements>
void find_places_in_order(int64_t* to, const T* values, const Elements& sorted, uint64_t n) {
  std::array<uint64_t, kValues> starts{};
  const auto behind = [&](std::size_t i, uint64_t place) {
    const T other = sorted[place];
    return static_cast<uint64_t>(kRight ? !(other > values[i]) : !(other >= values[i]));
  };
  for (uint64_t left = n; left > 1; left -= left / 2)
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kValues; ++i)
      starts[i] += left / 2 & (0 - behind(i, starts[i] + left / 2 - 1));  // exact: inside the row
  for (std::size_t i = 0; i < kValues; ++i) to[i] = static_cast<int64_t>(starts[i] + behind(i, starts[i]));
}

/// Whether no element is less than the one before it, or NaN.
template <class Elements>
bool are_in_order(const Elements& elements, int64_t n) {
  constexpr int64_t kTogether = 64;  // without a branch
  if (n > 0 && !(elements[0] <= elements[0])) return false;
  for (int64_t i = 1; i < n;) {
    bool broken = false;
    for (const int64_t end = std::min(n, i + kTogether); i < end; ++i)
      broken |= !(elements[static_cast<uint64_t>(i - 1)] <= elements[static_cast<uint64_t>(i)]);
    if (broken) return false;
  }
  return true;
}
/// So many times as many elements are checked for their order in a fraction of the time of a search for the values.
constexpr int64_t kCheckedForEach = 4;
template <class Elements>
bool are_soon_in_order(const Elements& elements, int64_t n, int64_t values) {
  return n > 0 && values >= kSideBySide && n / kCheckedForEach <= values && are_in_order(elements, n);
}

/// The same for one value, where few are searched for.
template <bool kRight, class T, class Elements>
int64_t find_place(T value, const Elements& sorted, uint64_t n) {
  uint64_t start = 0, end = n;
  while (start < end) {
    const uint64_t middle = start + (end - start) / 2;  // exact: inside the row
    const T other = sorted[middle];
    if (kRight ? !(other > value) : !(other >= value))
      start = middle + 1;
    else
      end = middle;
  }
  return static_cast<int64_t>(start);
}

/// For `count` values. `in_order`: whether the elements are known to be.
template <bool kRight, class T, class Elements>
void find_all_places(int64_t* to, const T* values, int64_t count, const Elements& sorted, int64_t n, bool in_order) {
  const auto length = static_cast<uint64_t>(n);
  for (; count >= kSideBySide; count -= kSideBySide, to += kSideBySide, values += kSideBySide)
    if (in_order)
      find_places_in_order<kSideBySide, kRight>(to, values, sorted, length);
    else
      find_places<kSideBySide, kRight>(to, values, sorted, length);
  for (; count > 0; --count) *to++ = find_place<kRight>(*values++, sorted, length);
}

/// How a row is searched.
struct Way {
  bool right, in_order;
};
template <class T, class Elements>
void find_all_places(int64_t* to, const T* values, int64_t count, const Elements& sorted, int64_t n, Way way) {
  way.right ? find_all_places<true>(to, values, count, sorted, n, way.in_order)
            : find_all_places<false>(to, values, count, sorted, n, way.in_order);
}

template <class T>
void search_all(const Tensor& sorted, const Tensor& sorter, const Tensor& self, const Tensor& out, bool right) {
  const int64_t n = sorted.size(-1), width = self.dim() > 0 ? std::max<int64_t>(self.size(-1), 1) : 1;
  const bool has_rows = sorted.dim() > 1;
  const T* const from = reinterpret_cast<const T*>(sorted.impl()->data());
  const T* const values = reinterpret_cast<const T*>(self.impl()->data());
  const int64_t* const order = sorter.defined() ? reinterpret_cast<const int64_t*>(sorter.impl()->data()) : nullptr;
  auto* const to = reinterpret_cast<int64_t*>(out.impl()->data());
  const int64_t count = self.numel();
  const auto search_rows = [&](const auto& row_of) {
    const bool is_known = !has_rows && are_soon_in_order(row_of(0), n, count);
    run_or_plan(to, (count + kPartElements - 1) / kPartElements, [&](int64_t part) {
      check_interrupt();
      // exact: inside the storages
      const int64_t end = std::min(count, (part + 1) * kPartElements);
      for (int64_t i = part * kPartElements, next; i < end; i = next) {
        const int64_t row = has_rows ? i / width : 0;
        next = has_rows ? std::min(end, (row + 1) * width) : end;
        const auto elements = row_of(row);
        const bool in_order = has_rows ? are_soon_in_order(elements, n, next - i) : is_known;
        find_all_places(to + i, values + i, next - i, elements, n, {right, in_order});
      }
    });
  };
  // exact: inside the storages
  if (order)
    search_rows([=](int64_t row) { return SortedBy<T>{from + row * n, order + row * n}; });
  else
    search_rows([=](int64_t row) { return Sorted<T>{from + row * n}; });
}

Tensor found(const Search& search, const Tensor& self) {
  if (!is_computed(self)) return new_tensor(self.sizes(), search.result(), self.device());
  if (self.numel() == 0) return new_tensor(self.sizes(), search.result(), self.device());
  warn_of_copy("input value", "input value", self);
  warn_of_copy("boundary", "boundary", search.boundaries);
  warn_of_copy("sorter", "sorter", search.sorter);
  const Dtype dtype = search.dtype(self), inside = widened(dtype);
  check_has_code(row_of(Op::searchsorted), dtype);
  const Tensor places = new_tensor(self.sizes(), int64, self.device());
  const Tensor sorted = row_major(search.boundaries, inside), values = row_major(self, inside);
  const Tensor sorter = search.sorter.defined() ? row_major(search.sorter, int64) : Tensor();
  note_course({.route = "binary search", .stores = "in place"});
  visit_dtype(inside, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>) search_all<T>(sorted, sorter, values, places, search.right);
  });
  return search.out_int32 ? run_to(places, int32, MemoryFormat::contiguous) : places;
}

Tensor searched(const Search& search, const Tensor& self) {
  check_search(search, self);
  return found(search, self);
}
Tensor& write_search(const Search& search, Tensor& out, const Tensor& self) {
  check_search(search, self);
  check_search_out(search, out);
  if (out.is(search.boundaries) || out.is(search.sorter))
    return write_result(Op::searchsorted, out, found(search, self));
  // As in PyTorch the warning of a resized output comes before those of copies.
  ResizedOutput resized(out, self.sizes(), contiguous_strides(self.sizes()));
  write_result(Op::searchsorted, out, found(search, self));
  resized.keep();
  return out;
}
Tensor as_tensor(Scalar number, const Tensor& beside) {
  return full({}, number, Options(dtype_of_number(number), beside.device()));
}

}  // namespace

Tensor plain::searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                           const char* side, const Tensor& sorter) {
  return searched({sorted_sequence, sorter, out_int32, is_right(right, side)}, self);
}
Tensor& plain::searchsorted_out(Tensor& out, const Tensor& sorted_sequence, const Tensor& self, bool out_int32,
                                bool right, const char* side, const Tensor& sorter) {
  return write_search({sorted_sequence, sorter, out_int32, is_right(right, side)}, out, self);
}
Tensor plain::searchsorted_number(const Tensor& sorted_sequence, Scalar self, bool out_int32, bool right,
                                  const char* side, const Tensor& sorter) {
  return searched({sorted_sequence, sorter, out_int32, is_right(right, side), self}, as_tensor(self, sorted_sequence));
}
Tensor& plain::searchsorted_number_out(Tensor& out, const Tensor& sorted_sequence, Scalar self, bool out_int32,
                                       bool right, const char* side, const Tensor& sorter) {
  return write_search({sorted_sequence, sorter, out_int32, is_right(right, side), self}, out,
                      as_tensor(self, sorted_sequence));
}

namespace {

void check_boundaries(const Tensor& boundaries) {
  if (boundaries.dim() != 1)
    throw Error("boundaries tensor must be 1 dimension, but got dim(" + std::to_string(boundaries.dim()) + ")");
}

}  // namespace

Tensor plain::bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  check_boundaries(boundaries);
  return searched({boundaries, {}, out_int32, right}, self);
}
Tensor& plain::bucketize_out(Tensor& out, const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  check_boundaries(boundaries);
  return write_search({boundaries, {}, out_int32, right}, out, self);
}
Tensor plain::bucketize_number(Scalar self, const Tensor& boundaries, bool out_int32, bool right) {
  check_boundaries(boundaries);
  return searched({boundaries, {}, out_int32, right, self}, as_tensor(self, boundaries));
}

// --- isin

namespace {

void check_is_ordered(Dtype dtype) {
  if (dtype == bool_ || is_complex(dtype))
    throw Error(std::string("Unsupported input type encountered for isin(): ") + scalar_type_name(dtype));
}

/// PyTorch compares with each of a few elements, for which it has code for fewer dtypes.
bool are_few(int64_t tested, int64_t elements) {
  return static_cast<double>(tested) < std::floor(10.0 * std::pow(static_cast<double>(elements), 0.145));
}

/// A set of keys: one bit for each key in their range, if these are not many more than the elements, else in order.
class KeySet {
 public:
  /// Of at least one key; `questions`: how many keys will be looked for.
  KeySet(std::vector<int64_t> keys, int64_t questions) {
    const auto [least, range] = range_of_keys(keys.data(), std::ssize(keys));
    least_ = static_cast<uint64_t>(least);
    range_ = range;
    const uint64_t most_words = static_cast<uint64_t>(questions) + keys.size();
    if (range / kWordBits < most_words) {
      bits_.resize(range / kWordBits + 1);
      for (int64_t key : keys) bits_[distance(key) / kWordBits] |= uint64_t{1} << distance(key) % kWordBits;
      return;
    }
    if (keys.size() > std::numeric_limits<uint32_t>::max()) {
      std::sort(keys.begin(), keys.end());
      sorted_ = std::move(keys);
      return;
    }
    SortedPlaces places(std::ssize(keys));
    places.sort(keys.data(), {least, range});
    sorted_.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      sorted_[i] = keys[static_cast<std::size_t>(places[static_cast<int64_t>(i)])];
  }
  /// Whether each of `n` keys is in the set.
  void find(bool* to, const int64_t* keys, int64_t n) const {
    if (!bits_.empty()) {
      for (int64_t i = 0; i < n; ++i) to[i] = distance(keys[i]) <= range_ && has_bit(distance(keys[i]));
      return;
    }
    std::vector<int64_t> places(static_cast<std::size_t>(n));
    const int64_t count = std::ssize(sorted_);
    find_all_places<false>(places.data(), keys, n, Sorted<int64_t>{sorted_.data()}, count, true);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = places[static_cast<std::size_t>(i)];
      to[i] = place < count && sorted_[static_cast<std::size_t>(place)] == keys[i];
    }
  }

 private:
  static constexpr uint64_t kWordBits = 64;
  bool has_bit(uint64_t distance) const { return (bits_[distance / kWordBits] >> distance % kWordBits & 1) != 0; }
  uint64_t distance(int64_t key) const { return static_cast<uint64_t>(key) - least_; }

  uint64_t least_, range_;
  std::vector<uint64_t> bits_;
  std::vector<int64_t> sorted_;
};

Tensor members(const Tensor& elements, const Tensor& tested, Dtype dtype, bool invert) {
  check_device(tested, elements.device());
  const Tensor result = new_tensor(elements.sizes(), bool_, elements.device());
  if (has_no_work(elements.numel(), result.data_ptr())) return result;
  if (are_few(tested.numel(), elements.numel())) check_has_code(row_of(Op::isin), dtype);
  const Tensor self = row_major(elements, dtype), others = row_major(tested, dtype);
  auto* const to = reinterpret_cast<bool*>(result.impl()->data());
  if (!to) return result;
  std::optional<KeySet> set;
  if (others.numel() > 0) set.emplace(keys_of(others, 0, others.numel()), self.numel());
  const std::optional<int64_t> nan = nan_key(dtype);
  const int64_t count = self.numel();
  note_course({.route = "a set of keys", .stores = "in place"});
  run_or_plan(to, (count + kPartElements - 1) / kPartElements, [&](int64_t part) {
    check_interrupt();
    const int64_t first = part * kPartElements, n = std::min(kPartElements, count - first);
    const std::vector<int64_t> keys = keys_of(self, first, n);
    if (set)
      set->find(to + first, keys.data(), n);
    else
      std::fill_n(to + first, n, false);
    for (int64_t i = 0; i < n; ++i)
      to[first + i] = (to[first + i] && keys[static_cast<std::size_t>(i)] != nan) != invert;
  });
  return result;
}

Tensor number_as_tensor(Scalar number, Dtype dtype, Device device) { return full({}, number, Options(dtype, device)); }
/// The dtype that PyTorch gives a number alone.
Dtype dtype_of_wrapped(Scalar number) {
  return number.is_boolean() ? bool_ : number.is_floating() ? float64 : number.is_complex() ? complex128 : int64;
}

}  // namespace

Tensor plain::isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  check_is_ordered(elements.dtype());
  check_is_ordered(test_elements.dtype());
  // PyTorch promotes only where there are elements.
  const bool promotes = elements.numel() > 0;
  return members(elements, test_elements, promotes ? tenon::result_type(elements, test_elements) : bool_, invert);
}
Tensor& plain::isin_out(Tensor& out, const Tensor& elements, const Tensor& test_elements, bool assume_unique,
                        bool invert) {
  check_is_ordered(elements.dtype());
  check_is_ordered(test_elements.dtype());
  check_strict_out(out, bool_);
  return write_result(Op::isin, out, plain::isin(elements, test_elements, assume_unique, invert));
}
Tensor plain::isin_number(const Tensor& elements, Scalar test_element, bool, bool invert) {
  check_is_ordered(elements.dtype());
  check_is_ordered(dtype_of_wrapped(test_element));
  const Tensor same = invert ? tenon::ne(elements.detach(), test_element) : tenon::eq(elements.detach(), test_element);
  const Tensor result = new_tensor(same.sizes(), bool_, same.device());
  run_copy(result, same);
  forget_writes(result);
  return result;
}
Tensor& plain::isin_number_out(Tensor& out, const Tensor& elements, Scalar test_element, bool assume_unique,
                               bool invert) {
  check_is_ordered(elements.dtype());
  check_is_ordered(dtype_of_wrapped(test_element));
  check_strict_out(out, bool_);
  return write_result(Op::isin, out, plain::isin_number(elements, test_element, assume_unique, invert));
}
Tensor plain::isin_of_number(Scalar element, const Tensor& test_elements, bool, bool invert) {
  check_is_ordered(dtype_of_wrapped(element));
  check_is_ordered(test_elements.dtype());
  const Dtype dtype = tenon::result_type(element, test_elements);
  if (overflows(element, dtype)) return full({}, invert, Options(bool_, test_elements.device()));  // equals no element
  return members(number_as_tensor(element, dtype, test_elements.device()), test_elements, dtype, invert);
}
Tensor& plain::isin_of_number_out(Tensor& out, Scalar element, const Tensor& test_elements, bool assume_unique,
                                  bool invert) {
  check_is_ordered(dtype_of_wrapped(element));
  check_is_ordered(test_elements.dtype());
  check_strict_out(out, bool_);
  return write_result(Op::isin, out, plain::isin_of_number(element, test_elements, assume_unique, invert));
}

// --- bincount

namespace {

void check_counted(const Tensor& self) {
  const bool is_vector = self.dim() == 1;
  if (is_vector && tenon::amin(self).item().to<int64_t>() >= 0) return;
  throw Error("bincount only supports 1-d non-negative integral inputs.");
}

template <class Weight>
void add_counts(const Tensor& self, const Tensor& weights, const Tensor& counts) {
  const auto* const places = reinterpret_cast<const int64_t*>(self.impl()->data());
  auto* const to = reinterpret_cast<Weight*>(counts.impl()->data());
  const auto* const of = weights.defined() ? reinterpret_cast<const Weight*>(weights.impl()->data()) : nullptr;
  for (int64_t i = 0; i < self.numel(); ++i) to[places[i]] += of ? of[i] : Weight(1);
}

}  // namespace

Tensor plain::bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  check_readable(self);
  check_has_code(row_of(Op::bincount), self.dtype());
  if (minlength < 0) throw Error("minlength should be >= 0");
  if (self.dim() == 1 && self.numel() == 0) return zeros({minlength}, Options(int64, self.device()));
  const Tensor plain = self.detach();
  check_counted(plain);
  const int64_t last = tenon::amax(plain).item().to<int64_t>();
  if (last == std::numeric_limits<int64_t>::max())
    throw Error("maximum value of input overflowed, it should be < 9223372036854775807 but got " +
                std::to_string(last));
  if (weights.defined() && (weights.dim() != 1 || weights.size(0) != self.size(0)))
    throw Error("weights should be 1-d and have the same length as input");
  if (weights.defined()) check_readable(weights);
  const Dtype dtype = !weights.defined() ? int64 : weights.dtype() == float32 ? float32 : float64;
  const Tensor counts = zeros({std::max(last + 1, minlength)}, Options(dtype, self.device()));
  const Tensor places = row_major(plain, int64);
  if (weights.defined()) warn_of_lost_parts(weights.dtype(), dtype, weights.numel());
  const Tensor terms = weights.defined() ? row_major(weights, dtype) : Tensor();
  if (dtype == int64)
    add_counts<int64_t>(places, terms, counts);
  else if (dtype == float32)
    add_counts<float>(places, terms, counts);
  else
    add_counts<double>(places, terms, counts);
  return counts;
}

}  // namespace tenon
