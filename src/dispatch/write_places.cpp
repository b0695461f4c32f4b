#include "dispatch/write_places.h"

#include "dispatch/places.h"
#include "type/visit.h"
#include "type/width.h"

namespace tenon {
namespace {

/// The offset of the place in `index`. The index was checked, but another thread may have changed it.
int64_t offset_at(const std::byte* index, IndexedDim dim) {
  const int64_t place = place_at(index);
  if (is_outside(place, dim.size)) [[unlikely]]
    fail_changed();
  return place * dim.stride;  // exact: inside the storage
}

/// Calls `write(element of self, element of src)` for each index of a plane. Inlined, so that the caller's constants
/// make a faster loop.
template <class T, class Write>
[[gnu::always_inline]] inline void write_plane(const Plane& plane, IndexedDim dim, std::byte* to,
                                               const std::byte* index, const std::byte* from, const Write& write) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row) {
    for (int64_t column = 0; column < plane.columns; ++column)
      write(
          *reinterpret_cast<T*>(to + column * plane.named.column + offset_at(index + column * plane.index.column, dim)),
          *reinterpret_cast<const T*>(from + column * plane.other.column));
    to += plane.named.row;
    index += plane.index.row;
    from += plane.other.row;
  }
}

/// The same if the index is constant along contiguous rows of both tensors.
template <class T, class Write>
void write_whole_rows(const Plane& plane, IndexedDim dim, std::byte* to, const std::byte* index, const std::byte* from,
                      const Write& write) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row) {
    T* target = reinterpret_cast<T*>(to + offset_at(index, dim));
    const T* source = reinterpret_cast<const T*>(from);
    for (int64_t column = 0; column < plane.columns; ++column) write(target[column], source[column]);
    to += plane.named.row;
    index += plane.index.row;
    from += plane.other.row;
  }
}

/// The same for every layout.
template <class T, class Write>
void write_planes(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, const Write& write) {
  constexpr int64_t width = sizeof(T), index_width = sizeof(int64_t);
  const IndexedDim indexed{self.sizes[dim], self.strides[dim]};
  for_each_plane(self, index, src, dim,
                 [&](const Plane& plane, std::byte* to, const std::byte* places, const std::byte* from) {
                   const int64_t named = plane.named.column, step = plane.index.column;
                   if (plane.other.column == width && step == 0 && named == width)
                     return write_whole_rows<T>(plane, indexed, to, places, from, write);
                   if (plane.other.column != width || step != index_width || named != 0 || indexed.stride != width)
                     return write_plane<T>(plane, indexed, to, places, from, write);
                   Plane dense = plane;
                   dense.named.column = 0;
                   dense.index.column = index_width;
                   dense.other.column = width;
                   write_plane<T>(dense, {indexed.size, width}, to, places, from, write);
                 });
}

/// The type in which sums and products are computed: 16-bit floats are rounded once.
template <class T>
auto widened(T value) {
  if constexpr (is_half_v<T>)
    return element_cast<float>(value);
  else
    return value;
}
/// a + alpha * b in the element type.
template <class T, class Wide>
T sum_of(T a, T b, Wide alpha) {
  if constexpr (std::is_same_v<T, bool>)
    return a || (b && alpha);
  else if constexpr (is_half_v<T>)
    return element_cast<T>(widened(a) + alpha * widened(b));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(alpha) * static_cast<uint64_t>(b));
  else
    return a + alpha * b;
}
template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else if constexpr (is_half_v<T>)
    return element_cast<T>(widened(a) * widened(b));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

}  // namespace

void replace_at(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, int64_t width) {
  visit_width(width,
              [&]<class T>() { write_planes<T>(self, dim, index, src, [](T& to, const T& from) { to = from; }); });
}
void add_at(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, Dtype dtype, Scalar alpha) {
  visit_dtype(dtype, [&]<class T>() {
    const auto factor = widened(scalar_to<T>(alpha));
    write_planes<T>(self, dim, index, src, [=](T& to, const T& from) { to = sum_of(to, from, factor); });
  });
}
void multiply_at(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, Dtype dtype) {
  visit_dtype(dtype, [&]<class T>() {
    write_planes<T>(self, dim, index, src, [](T& to, const T& from) { to = product_of(to, from); });
  });
}

}  // namespace tenon
