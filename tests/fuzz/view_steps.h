// The library's views, each with index arithmetic that says which element of the tensor an element of the view is.
#pragma once
#include <functional>
#include <optional>

#include "fuzz/world.h"
#include "tenon/tensor.h"

namespace tenon::fuzz {

struct ViewStep {
  Tensor result;
  /// Maps an index of the result to one of the tensor; empty: not modelled.
  std::function<Dims(const Dims&)> source;
  bool shares = true;  // false: the result may be a copy
};

inline int64_t wrapped(int64_t dim, int64_t ndim) { return dim < 0 ? dim + std::max<int64_t>(ndim, 1) : dim; }

inline Dims draw_list(Bytes& bytes, int64_t most = 5) {
  Dims list;
  for (int64_t left = bytes.up_to(most); left > 0; --left) list.push_back(bytes.integer());
  return list;
}
inline std::optional<int64_t> draw_bound(Bytes& bytes) {
  if (bytes.flag()) return bytes.integer();
  return std::nullopt;
}
inline Dims draw_order(Bytes& bytes, int64_t ndim) {
  Dims order(ndim, 0);
  for (int64_t i = 0; i < ndim; ++i) order[i] = i;
  for (int64_t i = 0; i + 1 < ndim; ++i) std::swap(order[i], order[i + bytes.up_to(ndim - 1 - i)]);
  return order;
}
/// Random sizes for a view, mostly of the right numel.
inline Dims draw_split(Bytes& bytes, int64_t numel) {
  Dims sizes;
  while (numel > 1 && sizes.size() < 6) {
    const int64_t factor = bytes.up_to(7);
    if (factor == 0) break;
    if (numel % factor != 0) continue;
    sizes.push_back(factor);
    numel /= factor;
  }
  sizes.push_back(bytes.up_to(3) == 0 ? -1 : numel);
  return sizes;
}

/// The same elements in the same order with other sizes.
inline std::function<Dims(const Dims&)> reordered(const Tensor& self, const Tensor& result) {
  if (result.numel() > (int64_t{1} << 40)) return {};
  return [from = self.sizes().copy(), to = result.sizes().copy()](const Dims& index) {
    return index_at(from, linear_at(to, index));
  };
}
/// Dim `i` of the result is dim `order[i]` of the tensor.
inline std::function<Dims(const Dims&)> permuted(const Dims& order) {
  return [order](const Dims& index) {
    Dims source(order.size(), 0);
    for (int64_t i = 0; i < order.size(); ++i) source[order[i]] = index[i];
    return source;
  };
}
inline std::function<Dims(const Dims&)> swapped(const Tensor& self, int64_t a, int64_t b) {
  Dims order(self.dim(), 0);
  for (int64_t i = 0; i < self.dim(); ++i) order[i] = i;
  if (self.dim() > 0) std::swap(order[wrapped(a, self.dim())], order[wrapped(b, self.dim())]);
  return permuted(order);
}
/// The result has the tensor's dims without those in `dropped`, whose index is 0.
inline std::function<Dims(const Dims&)> dropping(const Tensor& self, const std::vector<bool>& dropped) {
  return [ndim = self.dim(), dropped](const Dims& index) {
    Dims source(ndim, 0);
    for (int64_t dim = 0, next = 0; dim < ndim; ++dim)
      if (!dropped[static_cast<std::size_t>(dim)]) source[dim] = index[next++];
    return source;
  };
}
inline std::vector<bool> size_one_dims(const Tensor& self, const Dims* named) {
  std::vector<bool> dims(static_cast<std::size_t>(self.dim()));
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    bool asked = !named;
    if (named)
      for (int64_t name : *named) asked = asked || wrapped(name, self.dim()) == dim;
    dims[static_cast<std::size_t>(dim)] = asked && self.sizes()[dim] == 1;
  }
  return dims;
}
/// Along `dim` the result begins at `first` and has every `step`th element.
inline std::function<Dims(const Dims&)> stepping(int64_t dim, int64_t first, int64_t step) {
  return [=](const Dims& index) {
    Dims source = index;
    source[dim] = first + index[dim] * step;
    return source;
  };
}
inline int64_t clamped_start(std::optional<int64_t> start, int64_t size) {
  const Wide bound = start.value_or(0) < 0 ? Wide{start.value_or(0)} + size : Wide{start.value_or(0)};
  return static_cast<int64_t>(std::min<Wide>(std::max<Wide>(bound, 0), size));
}

inline ViewStep sliced(const Tensor& self, Bytes& bytes) {
  const int64_t dim = bytes.integer(), step = bytes.integer();
  const std::optional<int64_t> start = draw_bound(bytes), end = draw_bound(bytes);
  const Tensor result = self.slice(dim, start, end, step);
  const int64_t at = wrapped(dim, self.dim());
  return {result, stepping(at, clamped_start(start, self.sizes()[at]), step)};
}

inline ViewStep narrowed(const Tensor& self, Bytes& bytes) {
  const int64_t dim = bytes.integer(), start = bytes.integer(), length = bytes.integer();
  const Tensor result = self.narrow(dim, start, length);
  const int64_t at = wrapped(dim, self.dim());
  CLAIM_OF(result.sizes()[at] == length, describe(result));
  return {result, stepping(at, start < 0 ? start + self.sizes()[at] : start, 1)};
}

inline ViewStep selected(const Tensor& self, Bytes& bytes) {
  const int64_t dim = bytes.integer(), position = bytes.integer();
  const Tensor result = self.select(dim, position);
  const int64_t at = wrapped(dim, self.dim());
  return {result, [at, place = position < 0 ? position + self.sizes()[at] : position](const Dims& index) {
            Dims source = index;
            source.insert(at, place);
            return source;
          }};
}

inline ViewStep moved(const Tensor& self, Bytes& bytes) {
  const Dims from = draw_list(bytes, 3), to = draw_list(bytes, 3);
  const Tensor result = self.movedim(from, to);
  Dims order(self.dim(), -1);
  std::vector<bool> named(static_cast<std::size_t>(self.dim()));
  for (int64_t i = 0; i < from.size() && self.dim() > 0; ++i) {
    order[wrapped(to[i], self.dim())] = wrapped(from[i], self.dim());
    named[static_cast<std::size_t>(wrapped(from[i], self.dim()))] = true;
  }
  int64_t next = 0;
  for (int64_t& place : order) {
    if (place >= 0) continue;
    while (named[static_cast<std::size_t>(next)]) ++next;
    place = next++;
  }
  return {result, permuted(order)};
}

inline ViewStep diagonal(const Tensor& self, Bytes& bytes) {
  const int64_t offset = bytes.integer(), dim1 = bytes.integer(), dim2 = bytes.integer();
  const Tensor result = self.diagonal(offset, dim1, dim2);
  const int64_t row = wrapped(dim1, self.dim()), column = wrapped(dim2, self.dim());
  return {result, [=, ndim = self.dim()](const Dims& index) {
            Dims source(ndim, 0);
            for (int64_t dim = 0, next = 0; dim < ndim; ++dim)
              if (dim != row && dim != column) source[dim] = index[next++];
            source[row] = index.back() + (offset < 0 ? -offset : 0);
            source[column] = index.back() + (offset > 0 ? offset : 0);
            return source;
          }};
}

/// Integers, slices, None and Ellipsis between the brackets.
inline ViewStep indexed(const Tensor& self, Bytes& bytes) {
  std::vector<Index> items;
  for (int64_t left = bytes.up_to(4); left > 0; --left) {
    switch (bytes.up_to(5)) {
      case 0:
        items.push_back(None);
        break;
      case 1:
        items.push_back(Ellipsis);
        break;
      case 2:
      case 3:
        items.push_back(bytes.integer());
        break;
      default: {
        const std::optional<int64_t> start = draw_bound(bytes), stop = draw_bound(bytes);
        items.push_back(Slice(start, stop, bytes.integer()));
      }
    }
  }
  const Tensor result = self.index(items.data(), static_cast<int64_t>(items.size()));
  // The index of each dim of the tensor: an integer, or a dim of the result with a start and a step.
  struct Given {
    int64_t dim, first, step;
  };
  std::vector<Given> given;
  int64_t named = 0, dim = 0;
  for (const Index& item : items) named += item.kind == Index::Kind::integer || item.kind == Index::Kind::slice;
  bool gap = false;
  const auto whole = [&](int64_t count) {
    for (; count > 0; --count) given.push_back({dim++, 0, 1});
  };
  for (const Index& item : items) {
    const int64_t size =
        static_cast<int64_t>(given.size()) < self.dim() ? self.sizes()[static_cast<int64_t>(given.size())] : 0;
    if (item.kind == Index::Kind::none) {
      ++dim;
    } else if (item.kind == Index::Kind::integer) {
      given.push_back({-1, item.integer < 0 ? item.integer + size : item.integer, 0});
    } else if (item.kind == Index::Kind::slice) {
      given.push_back({dim++, clamped_start(item.range.start, size), item.range.step});
    } else if (!gap) {
      gap = true;
      whole(self.dim() - named);
    }
  }
  whole(self.dim() - static_cast<int64_t>(given.size()));
  return {result, [given](const Dims& index) {
            Dims source(static_cast<int64_t>(given.size()), 0);
            for (std::size_t i = 0; i < given.size(); ++i)
              source[static_cast<int64_t>(i)] =
                  given[i].first + (given[i].dim < 0 ? 0 : index[given[i].dim] * given[i].step);
            return source;
          }};
}

/// A random view of `self`. Throws the library's exceptions.
inline ViewStep view_step(const Tensor& self, Bytes& bytes) {
  switch (bytes.up_to(18)) {
    case 0: {
      Dims sizes = bytes.flag() ? self.sizes().copy() : draw_list(bytes);
      for (int64_t& size : sizes)
        if (size == 1 || bytes.up_to(7) == 0) size = bytes.integer();
      if (bytes.up_to(2) == 0) sizes.insert(0, bytes.integer());
      const Tensor result = self.expand(sizes);
      return {result, [from = self.sizes().copy()](const Dims& index) { return operand_index(from, index); }};
    }
    case 1: {
      const Tensor result = self.view(bytes.up_to(4) == 0 ? draw_list(bytes) : draw_split(bytes, self.numel()));
      return {result, reordered(self, result)};
    }
    case 2: {
      if (self.numel() > kMostElements && !self.is_contiguous()) return {};
      const Tensor result = self.reshape(bytes.up_to(4) == 0 ? draw_list(bytes) : draw_split(bytes, self.numel()));
      return {result, reordered(self, result), false};
    }
    case 3: {
      const int64_t dim = bytes.integer();
      const Tensor result = self.unsqueeze(dim);
      return {result, reordered(self, result)};
    }
    case 4: {
      const Tensor result = self.squeeze();
      return {result, dropping(self, size_one_dims(self, nullptr))};
    }
    case 5: {
      const Dims dims{bytes.integer()};
      const Tensor result = self.squeeze(dims[0]);
      return {result, dropping(self, size_one_dims(self, &dims))};
    }
    case 6: {
      const Dims dims = draw_list(bytes);
      const Tensor result = self.squeeze(dims);
      return {result, dropping(self, size_one_dims(self, &dims))};
    }
    case 7: {
      const int64_t a = bytes.integer(), b = bytes.integer();
      const Tensor result = self.transpose(a, b);
      return {result, swapped(self, a, b)};
    }
    case 8: {
      const Tensor result = bytes.flag() ? self.t() : self.mT();
      return {result, self.dim() < 2 ? swapped(self, 0, 0) : swapped(self, -1, -2)};
    }
    case 9: {
      Dims order = bytes.up_to(4) == 0 ? draw_list(bytes) : draw_order(bytes, self.dim());
      const Tensor result = self.permute(order);
      for (int64_t& dim : order) dim = wrapped(dim, self.dim());
      return {result, permuted(order)};
    }
    case 10:
      return moved(self, bytes);
    case 11:
      return selected(self, bytes);
    case 12:
      return narrowed(self, bytes);
    case 13:
      return sliced(self, bytes);
    case 14: {
      if (self.numel() > kMostElements && !self.is_contiguous()) return {};
      const int64_t first = bytes.integer(), last = bytes.integer();
      const Tensor result = bytes.flag() ? self.flatten(first, last) : self.unflatten(first, draw_list(bytes));
      return {result, reordered(self, result), false};
    }
    case 15: {
      const Dims sizes = draw_list(bytes),
                 strides = bytes.flag() ? draw_list(bytes) : Dims(sizes.size(), bytes.integer());
      const std::optional<int64_t> offset = draw_bound(bytes);
      const Tensor result = self.as_strided(sizes, strides, offset);
      CLAIM_OF(result.sizes() == sizes && result.strides() == strides, describe(result));
      return {result, {}};
    }
    case 16:
      return diagonal(self, bytes);
    case 17: {
      const int64_t dim = bytes.integer(), size = bytes.integer(), step = bytes.integer();
      const Tensor result = self.unfold(dim, size, step);
      return {result, [=, ndim = self.dim()](const Dims& index) {
                Dims source(ndim, 0);
                for (int64_t at = 0; at < ndim; ++at) source[at] = index[at];
                if (ndim > 0) source[wrapped(dim, ndim)] = index[wrapped(dim, ndim)] * step + index.back();
                return source;
              }};
    }
    default:
      return indexed(self, bytes);
  }
}

/// As in PyTorch, expand and as_strided accept a negative size if another size is 0.
inline bool has_negative_size(const Tensor& tensor) {
  return std::any_of(tensor.sizes().begin(), tensor.sizes().end(), [](int64_t size) { return size < 0; });
}

/// Checks elements of the result against the index arithmetic.
inline void check_view(const Tensor& self, const ViewStep& step) {
  const Tensor& result = step.result;
  if (step.shares && !result.is_meta()) CLAIM_OF(result.impl()->storage == self.impl()->storage, describe(result));
  if (!step.source || result.numel() == 0) return;
  const bool same_memory = result.impl()->storage && result.impl()->storage == self.impl()->storage;
  for (int64_t linear : {int64_t{0}, result.numel() / 3, result.numel() / 2 + 1, result.numel() - 1}) {
    if (linear >= result.numel()) continue;
    const Dims index = index_at(result.sizes(), linear), source = step.source(index);
    const std::string text = describe(self) + " became " + describe(result) + " at " + to_string(index);
    for (int64_t dim = 0; dim < self.dim(); ++dim) CLAIM_OF(source[dim] >= 0 && source[dim] < self.sizes()[dim], text);
    const Wide from = place_of(self, source), to = place_of(result, index);
    if (same_memory)
      CLAIM_OF(from == to, text);
    else if (!result.is_meta())
      CLAIM_OF(std::memcmp(self.impl()->storage->data + static_cast<int64_t>(from) * self.itemsize(),
                           result.impl()->storage->data + static_cast<int64_t>(to) * self.itemsize(),
                           static_cast<std::size_t>(self.itemsize())) == 0,
               text);
  }
}

}  // namespace tenon::fuzz
