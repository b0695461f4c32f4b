// sort and topk along one dim. Both are stable; NaN is larger than every number.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

// --- Keys: unsigned integers in the order of the elements

template <std::size_t bytes>
using Unsigned =
    std::conditional_t<bytes == 1, uint8_t,
                       std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

/// The key of a floating dtype.
template <class T>
constexpr Unsigned<sizeof(T)> kInfinityBits = static_cast<Unsigned<sizeof(T)>>(std::is_same_v<T, Float16>    ? 0x7C00
                                                                               : std::is_same_v<T, BFloat16> ? 0x7F80
                                                                               : sizeof(T) == 4
                                                                                   ? 0x7F80'0000
                                                                                   : 0x7FF0'0000'0000'0000);

template <class T>
Unsigned<sizeof(T)> key_of(T value) {
  using Bits = Unsigned<sizeof(T)>;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  const Bits bits = std::bit_cast<Bits>(value);
  if constexpr (std::is_unsigned_v<T>) {
    return bits;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Bits>(bits ^ kSign);
  } else {
    const Bits magnitude = static_cast<Bits>(bits & ~kSign);
    const Bits key = static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
    const Bits number = magnitude == 0 ? kSign : key;  // -0 is 0
    return magnitude > kInfinityBits<T> ? std::numeric_limits<Bits>::max() : number;
  }
}

/// The keys of a row as distances from its smallest key, or, descending, from its largest, so that they have few bits.
template <class Element>
struct Keys {
  const Element* row;
  uint64_t first, range;
  bool descending;

  Keys(const Element* elements, int64_t length, bool down) : row(elements), descending(down) {
    auto least = key_of(row[0]), most = least;
    for (int64_t i = 1; i < length; ++i) {
      const auto key = key_of(row[i]);
      least = std::min(least, key);
      most = std::max(most, key);
    }
    first = down ? most : least;
    range = static_cast<uint64_t>(most) - least;
  }
  uint64_t operator[](int64_t i) const { return descending ? first - key_of(row[i]) : key_of(row[i]) - first; }
};

/// An element's key and its index, compared in this order, so that no two items are equal.
struct NarrowItem {
  uint64_t packed;

  NarrowItem() = default;
  NarrowItem(uint64_t key, int64_t place) : packed(key << 32 | static_cast<uint64_t>(place)) {}
  uint64_t key() const { return packed >> 32; }
  int64_t place() const { return static_cast<int64_t>(packed & 0xFFFFFFFF); }
  bool operator<(const NarrowItem& other) const { return packed < other.packed; }
};
struct WideItem {
  uint64_t value;
  int64_t at;

  WideItem() = default;
  WideItem(uint64_t key, int64_t place) : value(key), at(place) {}
  uint64_t key() const { return value; }
  int64_t place() const { return at; }
  bool operator<(const WideItem& other) const { return value != other.value ? value < other.value : at < other.at; }
};

// --- Sorting items

// Bench: tenon_bench --filter '^(sort|topk)/'.
constexpr int kRankedItems = 32;          // fewer items: each counts the items before it
constexpr std::size_t kItemsOfPass = 96;  // fewer items for each pass over digits: std::sort
constexpr int kDigitBits = 8;
constexpr uint64_t kCountedKeys = 1 << 16;  // fewer different keys: counting sort

/// Radix sort from the last digit. Stable.
template <class Item>
void sort_by_digits(std::vector<Item>& items, std::vector<Item>& scratch, int digits) {
  constexpr uint64_t kMask = (1u << kDigitBits) - 1;
  std::array<std::array<uint32_t, kMask + 1>, 64 / kDigitBits> counts;
  std::fill_n(counts.begin(), digits, std::array<uint32_t, kMask + 1>{});
  for (const Item& item : items)
    for (int digit = 0; digit < digits; ++digit)
      ++counts[static_cast<std::size_t>(digit)][item.key() >> (kDigitBits * digit) & kMask];
  scratch.resize(items.size());
  for (int digit = 0; digit < digits; ++digit) {
    auto& next = counts[static_cast<std::size_t>(digit)];
    if (next[items[0].key() >> (kDigitBits * digit) & kMask] == items.size()) continue;
    check_interrupt();
    uint32_t start = 0;
    for (uint32_t& count : next) start += std::exchange(count, start);  // exact: at most items.size()
    for (const Item& item : items) scratch[next[item.key() >> (kDigitBits * digit) & kMask]++] = item;
    items.swap(scratch);
  }
}

template <class Item>
void sort_items(std::vector<Item>& items, std::vector<Item>& scratch, uint64_t range) {
  // exact: at most 64 bits
  const int digits = (static_cast<int>(std::bit_width(range)) + kDigitBits - 1) / kDigitBits;
  if (items.size() < kItemsOfPass * static_cast<std::size_t>(digits) ||
      items.size() > std::numeric_limits<uint32_t>::max())
    std::sort(items.begin(), items.end());
  else
    sort_by_digits(items, scratch, digits);
}

/// The `count` smallest items of a row, sorted. Keeps at most twice as many, and skips items above the largest one
/// kept.
template <class Element, class Item>
void select_items(const Element* row, int64_t length, bool descending, std::size_t count, std::vector<Item>& items) {
  constexpr uint64_t kMost = std::numeric_limits<Unsigned<sizeof(Element)>>::max();
  items.clear();
  const std::size_t most = std::max<std::size_t>(2 * count, 64);  // exact: count <= length
  bool bounded = false;
  Item bound{};
  const auto shrink = [&] {
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count - 1), items.end());
    items.resize(count);
    bound = items.back();
    bounded = true;
  };
  for (int64_t i = 0; i < length; ++i) {
    const uint64_t key = key_of(row[i]);
    const Item item(descending ? kMost - key : key, i);
    if (bounded && !(item < bound)) continue;
    items.push_back(item);
    if (items.size() == most) shrink();
  }
  if (items.size() > count) shrink();
  std::sort(items.begin(), items.end());
}

/// Sorts a short row: each element counts those that come before it, without branches.
template <class Element>
void rank_row(const Element* row, int64_t length, bool descending, int64_t* places) {
  std::array<uint64_t, kRankedItems> keys;
  std::array<uint32_t, kRankedItems> ranks{};
  const auto count = static_cast<std::size_t>(length);
  const uint64_t flip = descending ? std::numeric_limits<uint64_t>::max() : 0;
  for (std::size_t i = 0; i < count; ++i) keys[i] = key_of(row[i]) ^ flip;
  for (std::size_t i = 1; i < count; ++i) {
    uint32_t before = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const uint32_t is_before = keys[j] <= keys[i];
      before += is_before;
      ranks[j] += 1 - is_before;
    }
    ranks[i] = before;
  }
  for (std::size_t i = 0; i < count; ++i) places[ranks[i]] = static_cast<int64_t>(i);
}

/// Counting sort, for a row with few different keys.
template <class Element>
void count_row(const Keys<Element>& keys, int64_t length, std::vector<int64_t>& next, Element* values,
               int64_t* indices) {
  next.assign(keys.range + 1, 0);
  for (int64_t i = 0; i < length; ++i) ++next[keys[i]];
  int64_t start = 0;
  for (int64_t& count : next) start += std::exchange(count, start);  // exact: at most `length`
  for (int64_t i = 0; i < length; ++i) {
    const int64_t to = next[keys[i]]++;
    values[to] = keys.row[i];
    indices[to] = i;
  }
}

// --- Rows

/// The tensor without its history, with `dim` as the last dim.
Tensor rows_along(const Tensor& tensor, int64_t dim) {
  Dims sizes = tensor.sizes().copy(), strides = tensor.strides().copy();
  for (int64_t i = dim; i + 1 < tensor.dim(); ++i) {
    std::swap(sizes[i], sizes[i + 1]);
    std::swap(strides[i], strides[i + 1]);
  }
  return new_tensor_over(tensor.impl()->storage, sizes, strides, tensor.storage_offset(), tensor.dtype());
}

/// A row-major tensor with the same elements.
Tensor dense_rows(const Tensor& rows) {
  if (rows.is_contiguous()) return rows;
  Tensor copy = new_tensor(rows.sizes(), rows.dtype());
  run_copy(copy, rows);
  return copy;
}

struct Results {
  Tensor values, indices;
};

// Elements of a thread's part: work that is smaller stays on the caller. Bench: tenon_bench --filter '^(sort|topk)/'.
constexpr int64_t kPartElements = 1 << 12;

/// Sorts rows.
template <class Element>
class RowOrder {
 public:
  /// For rows of `length` elements, of which the first `kept` are wanted.
  RowOrder(int64_t length, int64_t kept, bool descending) : length_(length), kept_(kept), descending_(descending) {}

  void operator()(const Element* row, Element* values, int64_t* indices) {
    if (length_ <= kRankedItems) {
      std::array<int64_t, kRankedItems> places;
      rank_row(row, length_, descending_, places.data());
      return write(row, values, indices, [&](int64_t i) { return places[static_cast<std::size_t>(i)]; });
    }
    const bool narrow_places = length_ <= std::numeric_limits<uint32_t>::max();
    if (kept_ < length_) {
      const auto count = static_cast<std::size_t>(kept_);
      if (sizeof(Element) > 4 || !narrow_places) {
        select_items(row, length_, descending_, count, wide_);
        return write_items(wide_, row, values, indices);
      }
      select_items(row, length_, descending_, count, narrow_);
      return write_items(narrow_, row, values, indices);
    }
    const Keys<Element> keys(row, length_, descending_);
    if (keys.range < kCountedKeys && keys.range < static_cast<uint64_t>(length_))
      return count_row(keys, length_, counts_, values, indices);
    if (keys.range > std::numeric_limits<uint32_t>::max() || !narrow_places)
      sort(keys, wide_, wide_scratch_, values, indices);
    else
      sort(keys, narrow_, narrow_scratch_, values, indices);
  }

 private:
  template <class Item>
  void sort(const Keys<Element>& keys, std::vector<Item>& items, std::vector<Item>& scratch, Element* values,
            int64_t* indices) {
    items.resize(static_cast<std::size_t>(length_));
    for (int64_t i = 0; i < length_; ++i) items[static_cast<std::size_t>(i)] = Item(keys[i], i);
    sort_items(items, scratch, keys.range);
    write_items(items, keys.row, values, indices);
  }
  template <class Item>
  void write_items(const std::vector<Item>& items, const Element* row, Element* values, int64_t* indices) {
    write(row, values, indices, [&](int64_t i) { return items[static_cast<std::size_t>(i)].place(); });
  }
  template <class Place>
  void write(const Element* row, Element* values, int64_t* indices, const Place& place_of) {
    for (int64_t i = 0; i < kept_; ++i) {
      const int64_t place = place_of(i);
      values[i] = row[place];
      indices[i] = place;
    }
  }

  int64_t length_, kept_;
  bool descending_;
  std::vector<int64_t> counts_;
  std::vector<NarrowItem> narrow_, narrow_scratch_;
  std::vector<WideItem> wide_, wide_scratch_;
};

/// Sorts rows of `length` elements and keeps the first `kept` of each.
template <class Element>
void order_rows(const Tensor& rows, const Results& to, int64_t length, int64_t kept, bool descending) {
  const auto* from = reinterpret_cast<const Element*>(rows.impl()->data());
  auto* values = reinterpret_cast<Element*>(to.values.impl()->data());
  auto* indices = reinterpret_cast<int64_t*>(to.indices.impl()->data());
  // exact: numbers of elements
  const int64_t count = rows.numel() / length, part_rows = std::max<int64_t>(kPartElements / length, 1);
  parallel_for((count + part_rows - 1) / part_rows, [&](int64_t part) {
    RowOrder<Element> order_row(length, kept, descending);
    check_interrupt();
    // exact: inside the storages
    for (int64_t row = part * part_rows; row < std::min(count, (part + 1) * part_rows); ++row)
      order_row(from + row * length, values + row * kept, indices + row * kept);
  });
}

/// Sorts into `to`. If its `dim` is shorter, only the first elements are kept.
void order(const Tensor& self, const Results& to, int64_t dim, bool descending) {
  if (to.values.numel() == 0 || self.is_meta()) return;
  if (self.dim() == 0) {
    run_copy(to.values, self);
    run_fill(to.indices, 0);
    return;
  }
  const Tensor rows = dense_rows(rows_along(self, dim));
  Results target{rows_along(to.values, dim), rows_along(to.indices, dim)};
  const bool direct = target.values.is_contiguous() && target.indices.is_contiguous();
  Results written = target;
  if (!direct) written = {new_tensor(target.values.sizes(), self.dtype()), new_tensor(target.indices.sizes(), int64)};
  const int64_t length = self.sizes()[dim], kept = to.values.sizes()[dim];
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (!is_complex_v<T>) order_rows<T>(rows, written, length, kept, descending);
  });
  if (direct) return;
  run_copy(target.values, written.values);
  run_copy(target.indices, written.indices);
}

}  // namespace

std::tuple<Tensor, Tensor> plain::sort(const Tensor& self, int64_t dim, bool descending, std::optional<bool>) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (is_complex(self.dtype()) && !self.is_meta()) throw Error(" Sort does not support complex dtypes on CPU");
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
  if (self.is_meta()) return {std::move(results.values), std::move(results.indices)};
  if (is_complex(self.dtype())) throw Error(" topk does not support complex dtypes on CPU");
  if (self.dtype() == bool_) throw Error("topk does not support bool dtypes on CPU");
  if (self.dim() == 0) {  // a copy, even of dtypes without code
    *reinterpret_cast<int64_t*>(results.indices.impl()->data()) = 0;
    return {run_clone(self, MemoryFormat::contiguous), std::move(results.indices)};
  }
  check_has_code(row_of(Op::topk), self.dtype());
  order(self, results, along, largest);
  return {std::move(results.values), std::move(results.indices)};
}

}  // namespace tenon
