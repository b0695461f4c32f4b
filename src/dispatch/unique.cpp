// unique, unique_dim and unique_consecutive. PyTorch: Unique.cpp.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/keys.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

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

/// Of single elements.
std::tuple<Tensor, Tensor, Tensor> of_elements(const Tensor& self, bool sorts, bool return_inverse,
                                               bool return_counts) {
  check_readable(self);
  check_has_code(row_of(Op::unique), self.dtype());
  const Tensor row = run_clone(self.detach(), MemoryFormat::contiguous).view({self.numel()});
  const Rows rows{row, self.numel(), 1};
  const Groups groups(rows, sorts ? sorted(rows) : in_order(rows.count));
  const int64_t count = static_cast<int64_t>(groups.firsts.size());
  return {picked(rows, groups.firsts), return_inverse ? as_tensor(groups.inverse, self.sizes()) : nothing(),
          return_counts ? as_tensor(groups.counts, {count}) : nothing()};
}

/// Of slices along `dim`.
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
  const Tensor slices = run_clone(self.detach().movedim(along, 0), MemoryFormat::contiguous);
  const Rows rows{slices, count, slices.numel() / count};
  const Groups groups(rows, sorts ? sorted(rows) : in_order(count));
  const int64_t found = static_cast<int64_t>(groups.firsts.size());
  return {picked(rows, groups.firsts).movedim(0, along), as_tensor(groups.inverse, {count}),
          as_tensor(groups.counts, {found})};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> plain::unique(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  return of_elements(self, true, return_inverse, return_counts);
}
std::tuple<Tensor, Tensor, Tensor> plain::unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) {
  return of_slices(self, dim, true);
}
std::tuple<Tensor, Tensor, Tensor> plain::unique_consecutive(const Tensor& self, bool return_inverse,
                                                             bool return_counts, std::optional<int64_t> dim) {
  if (dim && !(*dim == 0 && self.dim() == 1)) return of_slices(self, *dim, false);
  return of_elements(self, false, return_inverse, return_counts);
}

}  // namespace tenon
