// sort and topk: the order of the elements along one dim. Equal elements keep theirs; NaN is larger than every number.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
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

template <class T>
bool is_nan(T value) {
  if constexpr (is_half_v<T>)
    return is_nan(to_float(value));
  else
    return std::isnan(value);
}

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
    if (is_nan(value)) return std::numeric_limits<Bits>::max();
    if (bits == kSign) return kSign;  // -0 is 0
    return static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
  }
}

/// An element's key and its place, compared in this order: what is sorted has no equal items.
struct NarrowItem {
  static constexpr int kKeyBytes = 4;
  uint64_t packed;

  NarrowItem() = default;
  NarrowItem(uint64_t key, int64_t place) : packed(key << 32 | static_cast<uint64_t>(place)) {}
  uint64_t key() const { return packed >> 32; }
  int64_t place() const { return static_cast<int64_t>(packed & 0xFFFFFFFF); }
  bool operator<(const NarrowItem& other) const { return packed < other.packed; }
};
struct WideItem {
  static constexpr int kKeyBytes = 8;
  uint64_t value;
  int64_t at;

  WideItem() = default;
  WideItem(uint64_t key, int64_t place) : value(key), at(place) {}
  uint64_t key() const { return value; }
  int64_t place() const { return at; }
  bool operator<(const WideItem& other) const { return value != other.value ? value < other.value : at < other.at; }
};

/// Of a row of `Element`s.
template <class Element, class Item>
Item item_at(const Element* row, int64_t i, bool descending) {
  constexpr uint64_t kMask = std::numeric_limits<uint64_t>::max() >> (64 - 8 * Item::kKeyBytes);
  const uint64_t key = key_of(row[i]);
  return Item(descending ? ~key & kMask : key, i);
}

// --- Sorting items

// Below, std::sort is faster than a pass for each byte: tenon_bench --filter '^sort'.
constexpr std::size_t kRadixItems = 1024;

/// Byte by byte from the last, bytes that are all equal left out. Keeps the order of equal keys.
template <class Item>
void sort_by_bytes(std::vector<Item>& items, std::vector<Item>& scratch) {
  std::array<std::array<uint32_t, 256>, Item::kKeyBytes> counts{};
  for (const Item& item : items)
    for (int byte = 0; byte < Item::kKeyBytes; ++byte)
      ++counts[static_cast<std::size_t>(byte)][item.key() >> (8 * byte) & 0xFF];
  scratch.resize(items.size());
  for (int byte = 0; byte < Item::kKeyBytes; ++byte) {
    auto& next = counts[static_cast<std::size_t>(byte)];
    if (next[items[0].key() >> (8 * byte) & 0xFF] == items.size()) continue;
    check_interrupt();
    uint32_t start = 0;
    for (uint32_t& count : next) start += std::exchange(count, start);  // exact: at most items.size()
    for (const Item& item : items) scratch[next[item.key() >> (8 * byte) & 0xFF]++] = item;
    items.swap(scratch);
  }
}

template <class Item>
void sort_items(std::vector<Item>& items, std::vector<Item>& scratch) {
  if (items.size() < kRadixItems || items.size() > std::numeric_limits<uint32_t>::max())
    std::sort(items.begin(), items.end());
  else
    sort_by_bytes(items, scratch);
}

/// The `count` least of a row, in order. Keeps at most twice as many, and drops what is above the last bound.
template <class Element, class Item>
void select_items(const Element* row, int64_t length, bool descending, std::size_t count, std::vector<Item>& items) {
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
    const Item item = item_at<Element, Item>(row, i, descending);
    if (bounded && !(item < bound)) continue;
    items.push_back(item);
    if (items.size() == most) shrink();
  }
  if (items.size() > count) shrink();
  std::sort(items.begin(), items.end());
}

// --- Rows

/// The tensor without its history, `dim` moved last.
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

// Elements of a part: enough that short rows don't wait for the threads.
constexpr int64_t kPartElements = 1 << 12;

/// Orders rows of `length` elements, keeping the first `kept` of each.
template <class Element, class Item>
void order_rows(const Tensor& rows, const Results& to, int64_t length, int64_t kept, bool descending) {
  const auto* from = reinterpret_cast<const Element*>(rows.impl()->data());
  auto* values = reinterpret_cast<Element*>(to.values.impl()->data());
  auto* indices = reinterpret_cast<int64_t*>(to.indices.impl()->data());
  // exact: numbers of elements
  const int64_t count = rows.numel() / length, part_rows = std::max<int64_t>(kPartElements / length, 1);
  parallel_for((count + part_rows - 1) / part_rows, [&](int64_t part) {
    std::vector<Item> items, scratch;
    // exact: inside the storages
    for (int64_t row = part * part_rows; row < std::min(count, (part + 1) * part_rows); ++row) {
      check_interrupt();
      const Element* elements = from + row * length;
      if (kept < length) {
        select_items(elements, length, descending, static_cast<std::size_t>(kept), items);
      } else {
        items.resize(static_cast<std::size_t>(length));
        for (int64_t i = 0; i < length; ++i)
          items[static_cast<std::size_t>(i)] = item_at<Element, Item>(elements, i, descending);
        sort_items(items, scratch);
      }
      for (int64_t i = 0; i < kept; ++i) {
        const int64_t place = items[static_cast<std::size_t>(i)].place();
        values[row * kept + i] = elements[place];
        indices[row * kept + i] = place;
      }
    }
  });
}

/// Into `to`, whose `dim` may be shorter: what comes first.
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
    const bool fits = sizeof(T) <= 4 && length <= std::numeric_limits<uint32_t>::max();
    if (fits)
      order_rows<T, NarrowItem>(rows, written, length, kept, descending);
    else
      order_rows<T, WideItem>(rows, written, length, kept, descending);
  });
  if (direct) return;
  run_copy(target.values, written.values);
  run_copy(target.indices, written.indices);
}

}  // namespace

std::tuple<Tensor, Tensor> plain::sort(const Tensor& self, int64_t dim, bool descending, std::optional<bool>) {
  const int64_t along = wrap_dim(dim, self.dim());
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
  if (self.dtype() == bool_) throw Error("topk does not support bool dtypes on CPU");
  check_has_code(row_of(Op::topk), self.dtype());
  order(self, results, along, largest);
  return {std::move(results.values), std::move(results.indices)};
}

}  // namespace tenon
