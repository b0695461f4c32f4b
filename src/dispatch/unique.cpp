// unique, unique_dim and unique_consecutive. PyTorch: Unique.cpp.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/keys.h"
#include "dispatch/plain.h"
#include "dispatch/sorted_places.h"
#include "kernel/kernel.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tile/scratch.h"
#include "type/visit.h"

namespace tenon {
namespace {

using Places = std::vector<int64_t>;

/// Rows of `width` elements, by keys; one that holds a NaN differs from every other.
struct Rows {
  Tensor elements;  // row-major
  int64_t count, width;
  std::vector<int64_t> keys = keys_of(elements, 0, elements.numel());
  std::optional<int64_t> nan = nan_key(elements.dtype());

  // exact: inside `keys`
  const int64_t* row(int64_t i) const { return keys.data() + i * width; }
  bool less(int64_t a, int64_t b) const {
    return std::lexicographical_compare(row(a), row(a) + width, row(b), row(b) + width);
  }
  bool same(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i)
      if (row(a)[i] != row(b)[i] || row(a)[i] == nan) return false;
    return true;
  }
};

/// The rows in an order, as groups of equal neighbours.
struct Groups {
  Places firsts, inverse, counts;

  Groups(const Rows& rows, const Places& order) : inverse(order.size()) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || !rows.same(order[i - 1], order[i])) {
        firsts.push_back(order[i]);
        counts.push_back(0);
      }
      inverse[static_cast<std::size_t>(order[i])] = static_cast<int64_t>(firsts.size()) - 1;
      ++counts.back();
    }
  }
};

Places in_order(int64_t count) {
  Places places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  return places;
}
Places sorted(const Rows& rows) {
  Places places = in_order(rows.count);
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) { return rows.less(a, b); });
  return places;
}

Tensor as_tensor(const Places& places, SizesView sizes) {
  const Tensor result = new_tensor(sizes, int64, Device::cpu);
  if (!places.empty()) std::memcpy(result.impl()->data(), places.data(), places.size() * sizeof(int64_t));
  return result;
}
/// The rows at these places.
Tensor picked(const Rows& rows, const Places& places) {
  Dims sizes = rows.elements.sizes().copy();
  sizes[0] = static_cast<int64_t>(places.size());
  const Tensor result = new_tensor(sizes, rows.elements.dtype(), Device::cpu);
  // exact: inside the storages
  const int64_t bytes = rows.width * itemsize(result.dtype());
  const auto* const from = reinterpret_cast<const std::byte*>(rows.elements.impl()->data());
  auto* to = reinterpret_cast<std::byte*>(result.impl()->data());
  for (int64_t place : places) {
    std::memcpy(to, from + place * bytes, static_cast<std::size_t>(bytes));
    to += bytes;
  }
  return result;
}
Tensor nothing() { return new_tensor({0}, int64, Device::cpu); }

// --- Of slices along `dim`

std::tuple<Tensor, Tensor, Tensor> of_slices(const Tensor& self, int64_t dim, bool sorts) {
  check_readable(self);
  check_has_code(row_of(Op::unique_dim), self.dtype());
  if (self.dim() == 0)
    throw IndexError("Dimension specified as " + std::to_string(dim) + " but tensor has no dimensions");
  const int64_t along = wrap_dim(dim, self.dim()), count = self.size(along);
  for (int64_t i = 0; i < self.dim(); ++i)
    if (i != along && self.size(i) == 0)
      throw Error(count == 0 ? "Number of zero sized dimensions is more than one, so unique cannot be applied "
                             : "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  if (count == 0) return {new_tensor(self.sizes(), self.dtype(), Device::cpu), nothing(), nothing()};
  const Tensor slices = run_clone(with_plain_truths(self.detach()).movedim(along, 0), MemoryFormat::contiguous);
  const Rows rows{slices, count, slices.numel() / count};
  const Groups groups(rows, sorts ? sorted(rows) : in_order(count));
  const int64_t found = static_cast<int64_t>(groups.firsts.size());
  return {picked(rows, groups.firsts).movedim(0, along), as_tensor(groups.inverse, {count}),
          as_tensor(groups.counts, {found})};
}

// --- Of single elements

struct Wanted {
  bool inverse, counts;
};
/// Undefined what is not wanted.
struct Found {
  Tensor values, inverse, counts;

  /// For at most `groups` groups of the elements of `row`.
  Found(const Tensor& row, int64_t groups, const Wanted& wanted)
      : values(new_tensor({groups}, row.dtype(), Device::cpu)),
        inverse(wanted.inverse ? new_tensor({row.numel()}, int64, Device::cpu) : Tensor()),
        counts(wanted.counts ? new_tensor({groups}, int64, Device::cpu) : Tensor()) {}

  /// Keeps the first `groups` groups. The memory of others stays, as in PyTorch, unless it is most of it.
  void shorten(int64_t groups) {
    for (Tensor* tensor : {&values, &counts}) {
      if (!tensor->defined() || tensor->numel() == groups) continue;
      const Tensor first =
          new_tensor_over(tensor->impl()->storage, SizesView({groups}), SizesView({1}), 0, tensor->dtype());
      *tensor = 2 * groups > tensor->numel() ? first : run_clone(first, MemoryFormat::contiguous);
    }
  }
};

int64_t* data_if_wanted(const Tensor& tensor) {
  return tensor.defined() ? reinterpret_cast<int64_t*>(tensor.impl()->data()) : nullptr;
}

/// From where each group starts, how many elements it has; the last one ends at `n`.
void count_from_starts(int64_t* starts, int64_t groups, int64_t n) {
  for (int64_t i = 1; i < groups; ++i) starts[i - 1] = starts[i] - starts[i - 1];
  if (groups > 0) starts[groups - 1] = n - starts[groups - 1];
}

/// Writes the first element of each group of equal neighbours, where it starts, and the number of each element's group.
/// Gives how many there are. A NaN equals no element.
template <bool kStarts, bool kInverse, class T>
int64_t write_firsts(T* to, [[maybe_unused]] int64_t* starts, [[maybe_unused]] int64_t* inverse, const T* from,
                     int64_t n) {
  using Number = std::conditional_t<is_half_v<T>, float, T>;
  to[0] = from[0];
  if constexpr (kStarts) starts[0] = 0;
  if constexpr (kInverse) inverse[0] = 0;
  int64_t groups = 1;
  auto before = element_cast<Number>(from[0]);
  // What begins no group is overwritten by the next element: a branch would often be mispredicted.
  for (int64_t i = 1; i < n; ++i) {
    const T element = from[i];
    const auto number = element_cast<Number>(element);
    to[groups] = element;
    if constexpr (kStarts) starts[groups] = i;
    groups += !(number == before);
    if constexpr (kInverse) inverse[i] = groups - 1;
    before = number;
  }
  return groups;
}
/// The same with the number of elements in each group. `counts` and `inverse` may be null.
template <class T>
int64_t write_groups(T* to, int64_t* counts, int64_t* inverse, const T* from, int64_t n) {
  if (n == 0) return 0;
  if (const auto kernel = kernels().order[static_cast<std::size_t>(dtype_of_v<T>)].groups)
    return kernel(to, counts, inverse, from, n);
  if (!counts && !inverse) return write_firsts<false, false>(to, counts, inverse, from, n);
  if (!counts) return write_firsts<false, true>(to, counts, inverse, from, n);
  const int64_t groups = inverse ? write_firsts<true, true>(to, counts, inverse, from, n)
                                 : write_firsts<true, false>(to, counts, inverse, from, n);
  count_from_starts(counts, groups, n);
  return groups;
}

/// Groups of equal neighbours: of `row` as it is, or at `places` of it.
template <class T>
Found neighbours(const Tensor& row, const SortedPlaces* places, const Wanted& wanted) {
  using Number = std::conditional_t<is_half_v<T>, float, T>;
  const int64_t n = row.numel();
  Found found(row, n, wanted);
  const T* const from = reinterpret_cast<const T*>(row.impl()->data());
  T* const to = reinterpret_cast<T*>(found.values.impl()->data());
  int64_t *const inverse = data_if_wanted(found.inverse), *const starts = data_if_wanted(found.counts);
  if (!places) {
    found.shorten(write_groups(to, starts, inverse, from, n));
    return found;
  }
  int64_t groups = 0;
  Number before = {};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t place = (*places)[i];
    const T element = from[place];
    const auto number = element_cast<Number>(element);
    to[groups] = element;
    if (starts) starts[groups] = i;
    groups += static_cast<int64_t>(i == 0) | static_cast<int64_t>(!(number == before));
    if (inverse) inverse[place] = groups - 1;
    before = number;
  }
  if (starts) count_from_starts(starts, groups, n);
  found.shorten(groups);
  return found;
}
Found neighbours(const Tensor& row, const SortedPlaces* places, const Wanted& wanted) {
  return visit_dtype(row.dtype() == bool_ ? uint8 : row.dtype(), [&]<class T>() -> Found {
    if constexpr (is_complex_v<T>)
      fail_no_code("unique", row.dtype());
    else
      return neighbours<T>(row, places, wanted);
  });
}

/// Groups by a table of all keys in their range.
template <class Key>
Found counted(const Tensor& row, const Key* keys, const KeyRange<Key>& of, const Wanted& wanted) {
  std::vector<int64_t> counts(of.range + 1), firsts(of.range + 1);
  const auto slot = [&](int64_t i) { return static_cast<std::size_t>(keys[i] - of.least); };
  for (int64_t i = 0; i < row.numel(); ++i)
    if (counts[slot(i)]++ == 0) firsts[slot(i)] = i;
  const auto groups =
      static_cast<int64_t>(std::count_if(counts.begin(), counts.end(), [](int64_t n) { return n > 0; }));
  Found found(row, groups, wanted);
  int64_t *const inverse = data_if_wanted(found.inverse), *const totals = data_if_wanted(found.counts);
  const int64_t width = itemsize(row.dtype());
  const auto* const from = reinterpret_cast<const std::byte*>(row.impl()->data());
  auto* const to = reinterpret_cast<std::byte*>(found.values.impl()->data());
  int64_t group = 0;
  for (std::size_t key = 0; key <= of.range; ++key) {
    if (counts[key] == 0) continue;
    // exact: inside the storages
    std::memcpy(to + group * width, from + firsts[key] * width, static_cast<std::size_t>(width));
    if (totals) totals[group] = counts[key];
    firsts[key] = group++;
  }
  for (int64_t i = 0; inverse && i < row.numel(); ++i) inverse[i] = firsts[slot(i)];
  return found;
}

template <class Key>
Found sorted_groups(const Tensor& row, const Wanted& wanted) {
  const int64_t n = row.numel();
  Scratch scratch(n * static_cast<int64_t>(sizeof(Key)));  // exact: no more than the inverse
  Key* const keys = reinterpret_cast<Key*>(scratch.data());
  kernels().order[static_cast<std::size_t>(row.dtype())].keys(keys, row.impl()->data(), n, false);
  const KeyRange<Key> of = range_of_keys(keys, n);
  const std::optional<int64_t> nan = nan_key(row.dtype());
  const bool has_nan = nan && static_cast<uint64_t>(*nan) - static_cast<uint64_t>(of.least) == of.range;
  if (are_counted(of.range, n) && !has_nan) return counted(row, keys, of, wanted);
  SortedPlaces places(n);
  places.sort(keys, of);
  return neighbours(row, &places, wanted);
}
Found sorted_groups(const Tensor& row, const Wanted& wanted) {
  if (row.numel() == 0) return Found(row, 0, wanted);
  return itemsize(row.dtype()) == 8 ? sorted_groups<int64_t>(row, wanted) : sorted_groups<int32_t>(row, wanted);
}

std::tuple<Tensor, Tensor, Tensor> of_elements(const Tensor& self, bool sorts, const Wanted& wanted) {
  check_readable(self);
  check_has_code(row_of(Op::unique), self.dtype());
  const Tensor row = with_plain_truths(self.detach()).contiguous().view({self.numel()});
  if (sorts && row.numel() > std::numeric_limits<uint32_t>::max()) {
    const auto [values, inverse, counts] = of_slices(row, 0, true);
    return {values, wanted.inverse ? inverse.view(self.sizes()) : nothing(), wanted.counts ? counts : nothing()};
  }
  Found found = sorts ? sorted_groups(row, wanted) : neighbours(row, nullptr, wanted);
  return {std::move(found.values), wanted.inverse ? found.inverse.view(self.sizes()) : nothing(),
          wanted.counts ? std::move(found.counts) : nothing()};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> plain::unique(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  return of_elements(self, true, {return_inverse, return_counts});
}
std::tuple<Tensor, Tensor, Tensor> plain::unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) {
  return of_slices(self, dim, true);
}
std::tuple<Tensor, Tensor, Tensor> plain::unique_consecutive(const Tensor& self, bool return_inverse,
                                                             bool return_counts, std::optional<int64_t> dim) {
  if (dim && !(*dim == 0 && self.dim() == 1)) return of_slices(self, *dim, false);
  return of_elements(self, false, {return_inverse, return_counts});
}

}  // namespace tenon
