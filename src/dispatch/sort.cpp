// sort and topk along one dim. Both are stable; NaN is larger than every number.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "kernel/kernel.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"
#include "type/width.h"

namespace tenon {
namespace {

/// An element's key and its index, compared in this order, so that no two items are equal.
struct Item {
  uint64_t packed;

  Item() = default;
  Item(uint64_t key, int64_t place) : packed(key << 32 | static_cast<uint64_t>(place)) {}
  uint64_t key() const { return packed >> 32; }
  int64_t place() const { return static_cast<int64_t>(packed & 0xFFFFFFFF); }
  bool operator<(const Item& other) const { return packed < other.packed; }
};

// --- Sorting items

// Bench: tenon_bench --filter '^(sort|topk1?|topk_half)/'.
constexpr int64_t kItemsOfPass = 96;  // fewer items for each pass over digits: std::sort
constexpr int kDigitBits = 8;
constexpr uint64_t kCountedKeys = 1 << 16;  // fewer different keys: counting sort

/// Radix sort from the last digit. Stable.
void sort_by_digits(std::span<Item> items, std::span<Item> scratch, int digits) {
  constexpr uint64_t kMask = (1u << kDigitBits) - 1;
  std::array<std::array<uint32_t, kMask + 1>, 32 / kDigitBits> counts;
  std::fill_n(counts.begin(), digits, std::array<uint32_t, kMask + 1>{});
  for (const Item& item : items)
    for (int digit = 0; digit < digits; ++digit)
      ++counts[static_cast<std::size_t>(digit)][item.key() >> (kDigitBits * digit) & kMask];
  std::span<Item> from = items, to = scratch;
  for (int digit = 0; digit < digits; ++digit) {
    auto& next = counts[static_cast<std::size_t>(digit)];
    if (next[from[0].key() >> (kDigitBits * digit) & kMask] == items.size()) continue;
    check_interrupt();
    uint32_t start = 0;
    for (uint32_t& count : next) start += std::exchange(count, start);  // exact: at most items.size()
    for (const Item& item : from) to[next[item.key() >> (kDigitBits * digit) & kMask]++] = item;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

void sort_items(std::span<Item> items, std::span<Item> scratch, int key_bits) {
  const int digits = (key_bits + kDigitBits - 1) / kDigitBits;  // exact: at most 32 bits
  if (std::ssize(items) < kItemsOfPass * digits)
    std::sort(items.begin(), items.end());
  else
    sort_by_digits(items, scratch, digits);
}

/// The places of a row's keys, sorted. Keys are reached as their distances from the smallest one, so that they have few
/// bits.
template <class Key>
class SortedPlaces {
 public:
  /// For rows of `length` keys, with fewer than 2^32.
  explicit SortedPlaces(int64_t length)
      : items_(static_cast<std::size_t>(length)), scratch_(static_cast<std::size_t>(length)) {}

  void sort(const Key* keys, Key least, uint64_t range) {
    const int bits = static_cast<int>(std::bit_width(range)), low_bits = std::max(bits - 32, 0);
    const auto distance = [&](int64_t i) { return static_cast<uint64_t>(keys[i]) - static_cast<uint64_t>(least); };
    for (int64_t i = 0; i < std::ssize(items_); ++i)
      items_[static_cast<std::size_t>(i)] = Item(distance(i) >> low_bits, i);
    sort_items(items_, scratch_, bits - low_bits);
    if (low_bits > 0) sort_runs(low_bits, distance);
  }
  int64_t operator[](int64_t i) const { return items_[static_cast<std::size_t>(i)].place(); }

 private:
  /// Sorts items whose keys are equal but for the low bits.
  template <class Distance>
  void sort_runs(int low_bits, const Distance& distance) {
    const uint64_t low = (uint64_t{1} << low_bits) - 1;
    for (std::size_t first = 0, end; first < items_.size(); first = end) {
      for (end = first + 1; end < items_.size() && items_[end].key() == items_[first].key();) ++end;
      if (end - first == 1) continue;
      const auto run = std::span(items_).subspan(first, end - first);
      for (Item& item : run) item = Item(distance(item.place()) & low, item.place());
      sort_items(run, std::span(scratch_).subspan(first, end - first), low_bits);
    }
  }

  std::vector<Item> items_, scratch_;
};

// --- Rows

/// The tensor without its history, with `dim` as the last dim.
Tensor rows_along(const Tensor& tensor, int64_t dim) {
  Dims sizes = tensor.sizes().copy(), strides = tensor.strides().copy();
  for (int64_t i = dim; i + 1 < tensor.dim(); ++i) {
    std::swap(sizes[i], sizes[i + 1]);
    std::swap(strides[i], strides[i + 1]);
  }
  if (tensor.is_meta()) return new_tensor(sizes, strides, tensor.dtype(), Device::meta);
  return new_tensor_over(tensor.impl()->storage, sizes, strides, tensor.storage_offset(), tensor.dtype());
}

/// A row-major tensor with the same elements.
Tensor dense_rows(const Tensor& rows) {
  if (rows.is_contiguous()) return rows;
  Tensor copy = new_tensor(rows.sizes(), rows.dtype(), rows.device());
  run_copy(copy, rows);
  return copy;
}

struct Results {
  Tensor values, indices;
};

// Elements of a thread's part: work that is smaller stays on the caller. Bench: tenon_bench --filter
// '^(sort|topk1?|topk_half)/'.
constexpr int64_t kPartElements = 1 << 12;

// Bench: tenon_bench --filter '^(sort|topk1?|topk_half)/'.
constexpr int64_t kRankedTogether = 1024;  // keys of short rows that are ranked in one call
constexpr int64_t kTakeCost = 40;          // comparisons of whole vectors in the time that it takes to find one element

/// Sorts rows of elements of one width. Only their keys depend on the dtype.
template <class Element>
class RowOrder {
  using Key = std::conditional_t<sizeof(Element) == 8, int64_t, int32_t>;

 public:
  /// For rows of `length` elements, of which the first `kept` are wanted.
  RowOrder(Dtype dtype, int64_t length, int64_t kept, bool descending)
      : kernels_(kernels().order[static_cast<std::size_t>(dtype)]),
        length_(length),
        kept_(kept),
        descending_(descending) {}

  void operator()(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    if (ranks()) return rank_rows(from, values, indices, rows);
    if (takes()) return take_first(from, values, indices, rows);
    sort_rows(from, values, indices, rows);
  }
  /// Scratch memory is the most that a row may need: it depends on the keys.
  Course course(Dtype dtype) const {
    const int64_t key = sizeof(Key), items = 2 * sizeof(Item);
    Course course{.route = ranks()   ? "rows ranked"
                           : takes() ? "first elements taken"
                                     : "rows sorted",
                  .stores = "in place"};
    // exact: half of it fits
    course.scratch_bytes = ranks() ? 0 : takes() ? take_first_room(length_) * key : length_ * (key + items);
    course.kernels.push_back({"order", dtype});
    return course;
  }

 private:
  // exact: for short rows
  bool ranks() const { return is_short() && length_ * length_ <= kTakeCost * kernels_.lanes * kept_; }
  bool takes() const { return kept_ < length_ && (is_short() || kept_ <= length_ / 8); }
  /// Whether to count, for each element, those before it: an effort of the square of the length, by vectors.
  bool is_short() const {
    constexpr int64_t kDigits = std::min<int64_t>(sizeof(Element), 4);
    const int64_t by_vectors = std::max<int64_t>(12 * kernels_.lanes * kernels_.lanes, 32);
    return length_ <= std::min(by_vectors, kItemsOfPass * kDigits);
  }

  void rank_rows(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    alignas(64) std::array<Key, kKeySlack + kRankedTogether + kKeySlack> buffer;
    alignas(64) std::array<Key, kRankedTogether + kKeySlack> ranks;
    Key* const keys = buffer.data() + kKeySlack;
    const int64_t most = kRankedTogether / length_;
    for (int64_t done = 0; done < rows; done += most) {
      const int64_t together = std::min(most, rows - done);
      kernels_.keys(keys, from, together * length_, descending_);  // exact: at most kRankedTogether
      kernels_.rank(ranks.data(), keys, length_, together);
      for (int64_t at = 0; at < together * length_; at += length_, from += length_, values += kept_, indices += kept_)
        if (kept_ == length_)
          place_all(from, ranks.data() + at, values, indices);
        else
          place_first(from, ranks.data() + at, keys, values, indices);
    }
  }
  // NOLINTNEXTLINE(readability-non-const-parameter): `indices` is written
  void place_all(const Element* row, const Key* ranks, Element* values, int64_t* indices) const {
    for (int64_t i = 0; i < length_; ++i) {
      values[ranks[i]] = row[i];
      indices[ranks[i]] = i;
    }
  }
  /// Through all `places`, so that no branch depends on ranks.
  void place_first(const Element* row, const Key* ranks, Key* places, Element* values, int64_t* indices) const {
    for (int64_t i = 0; i < length_; ++i) places[ranks[i]] = static_cast<Key>(i);
    for (int64_t i = 0; i < kept_; ++i) {
      values[i] = row[places[i]];
      indices[i] = places[i];
    }
  }

  void take_first(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    Scratch scratch(take_first_room(length_) * static_cast<int64_t>(sizeof(Key)));  // exact: half of it fits
    Key* const keys = reinterpret_cast<Key*>(scratch.data());
    for (int64_t row = 0; row < rows; ++row, from += length_, values += kept_, indices += kept_) {
      kernels_.keys(keys, from, length_, descending_);
      const int64_t found = kernels_.take_first(indices, keys, length_, kept_);
      if (found < kept_) take_last_keys(keys, from, indices, found);
      for (int64_t i = 0; i < kept_; ++i) values[i] = from[indices[i]];
    }
  }
  /// Elements whose key is the largest integer, after `found` others.
  void take_last_keys(Key* keys, const Element* row, int64_t* indices, int64_t found) {
    kernels_.keys(keys, row, length_, descending_);
    for (int64_t i = 0; found < kept_; ++i)
      if (keys[i] == std::numeric_limits<Key>::max()) indices[found++] = i;
  }

  void sort_rows(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    Scratch scratch(length_ * static_cast<int64_t>(sizeof(Key)));  // exact: no more than the elements' indices
    Key* const keys = reinterpret_cast<Key*>(scratch.data());
    std::optional<SortedPlaces<Key>> places;
    for (int64_t row = 0; row < rows; ++row, from += length_, values += kept_, indices += kept_) {
      kernels_.keys(keys, from, length_, descending_);
      const auto [least, most] = std::minmax_element(keys, keys + length_);
      const uint64_t range = static_cast<uint64_t>(*most) - static_cast<uint64_t>(*least);
      if (range < kCountedKeys && range < static_cast<uint64_t>(length_)) {
        count_row(keys, *least, range, from, values, indices);
      } else if (length_ > std::numeric_limits<uint32_t>::max()) {
        sort_huge_row(keys, from, values, indices);
      } else {
        if (!places) places.emplace(length_);
        places->sort(keys, *least, range);
        write(*places, from, values, indices);
      }
    }
  }
  /// Counting sort, for a row with few different keys.
  void count_row(const Key* keys, Key least, uint64_t range, const Element* row, Element* values, int64_t* indices) {
    next_.assign(range + 1, 0);
    const auto next_of = [&](int64_t i) -> int64_t& { return next_[static_cast<std::size_t>(keys[i] - least)]; };
    for (int64_t i = 0; i < length_; ++i) ++next_of(i);
    int64_t start = 0;
    for (int64_t& count : next_) start += std::exchange(count, start);  // exact: at most `length_`
    for (int64_t i = 0; i < length_; ++i) {
      const int64_t to = next_of(i)++;
      if (to >= kept_) continue;
      values[to] = row[i];
      indices[to] = i;
    }
  }
  /// Places that an Item cannot hold.
  void sort_huge_row(const Key* keys, const Element* row, Element* values, int64_t* indices) {
    std::vector<int64_t> places(static_cast<std::size_t>(length_));
    std::iota(places.begin(), places.end(), 0);
    std::sort(places.begin(), places.end(),
              [&](int64_t a, int64_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
    write(places, row, values, indices);
  }
  template <class Places>
  void write(const Places& places, const Element* row, Element* values, int64_t* indices) {
    for (int64_t i = 0; i < kept_; ++i) {
      const int64_t place = places[i];
      values[i] = row[place];
      indices[i] = place;
    }
  }

  const OrderKernels& kernels_;
  int64_t length_, kept_;
  bool descending_;
  std::vector<int64_t> next_;
};

/// Sorts rows of `length` elements and keeps the first `kept` of each.
template <class Element>
void order_rows(const Tensor& rows, const Results& to, int64_t length, int64_t kept, bool descending) {
  const auto* from = reinterpret_cast<const Element*>(rows.impl()->data());
  auto* values = reinterpret_cast<Element*>(to.values.impl()->data());
  auto* indices = reinterpret_cast<int64_t*>(to.indices.impl()->data());
  // exact: numbers of elements
  const int64_t count = rows.numel() / length, part_rows = std::max<int64_t>(kPartElements / length, 1);
  if (CourseRecord::now()) [[unlikely]]
    note_course(RowOrder<Element>(rows.dtype(), length, kept, descending).course(rows.dtype()));
  run_or_plan(values, (count + part_rows - 1) / part_rows, [&](int64_t part) {
    RowOrder<Element> order_part(rows.dtype(), length, kept, descending);
    check_interrupt();
    // exact: inside the storages
    const int64_t row = part * part_rows;
    order_part(from + row * length, values + row * kept, indices + row * kept, std::min(count - row, part_rows));
  });
}

/// Sorts into `to`. If its `dim` is shorter, only the first elements are kept.
void order(const Tensor& self, const Results& to, int64_t dim, bool descending) {
  if (has_no_work(to.values.numel(), to.values.data_ptr())) return;
  if (self.dim() == 0) {
    run_copy(to.values, self);
    write_fill(to.indices, 0);
    return forget_writes(to.values);
  }
  const Tensor rows = dense_rows(rows_along(self, dim));
  Results target{rows_along(to.values, dim), rows_along(to.indices, dim)};
  const bool direct = target.values.is_contiguous() && target.indices.is_contiguous();
  Results written = target;
  if (!direct)
    written = {new_tensor(target.values.sizes(), self.dtype(), self.device()),
               new_tensor(target.indices.sizes(), int64, self.device())};
  const int64_t length = self.sizes()[dim], kept = to.values.sizes()[dim];
  visit_width(itemsize(self.dtype()), [&]<class Bits>() {
    if constexpr (sizeof(Bits) <= 8) order_rows<Bits>(rows, written, length, kept, descending);
  });
  if (direct) return;
  run_copy(target.values, written.values);
  run_copy(target.indices, written.indices);
}

}  // namespace

std::tuple<Tensor, Tensor> plain::sort(const Tensor& self, int64_t dim, bool descending, std::optional<bool>) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (is_complex(self.dtype()) && is_computed(self)) throw Error(" Sort does not support complex dtypes on CPU");
  const Dims strides = dense_strides_like(self.sizes(), self.strides());
  Results results{new_tensor(self.sizes(), strides, self.dtype(), self.device()),
                  new_tensor(self.sizes(), strides, int64, self.device())};
  order(self, results, along, descending);
  return {std::move(results.values), std::move(results.indices)};
}

Tensor plain::argsort(const Tensor& self, int64_t dim, bool descending, std::optional<bool> stable) {
  return std::get<1>(sort(self, dim, descending, stable));
}

Tensor& plain::argsort_out(Tensor& out, const Tensor& self, int64_t dim, bool descending, std::optional<bool> stable) {
  if (!is_recorded(self)) {
    wrap_dim(dim, self.dim());
    check_strict_out(out, int64);
  }
  check_unrecorded(Op::sort, out, self);
  return write_result(Op::argsort, out, plain::argsort(self, dim, descending, stable));
}

std::tuple<Tensor, Tensor> plain::topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (k < 0 || k > (self.dim() > 0 ? self.sizes()[along] : 1)) throw Error("selected index k out of range");
  Dims sizes = self.sizes().copy();
  if (self.dim() > 0) sizes[along] = k;
  Results results{new_tensor(sizes, self.dtype(), self.device()), new_tensor(sizes, int64, self.device())};
  if (!is_computed(self)) return {std::move(results.values), std::move(results.indices)};
  if (is_complex(self.dtype())) throw Error(" topk does not support complex dtypes on CPU");
  if (self.dtype() == bool_) throw Error("topk does not support bool dtypes on CPU");
  if (self.dim() == 0) {  // a copy, even of dtypes without code
    write_fill(results.indices, 0);
    return {run_clone(self, MemoryFormat::contiguous), std::move(results.indices)};
  }
  check_has_code(row_of(Op::topk), self.dtype());
  order(self, results, along, largest);
  return {std::move(results.values), std::move(results.indices)};
}

}  // namespace tenon
