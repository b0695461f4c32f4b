// gather, scatter and related ops, which select elements by index along one dim. Checks, their order and texts are
// PyTorch's (aten/src/ATen/native/TensorAdvancedIndexing.cpp, ScatterGatherChecks.h).
#include <algorithm>
#include <cstring>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tensor/places.h"
#include "tile/pool.h"
#include "type/overflow.h"
#include "type/visit.h"
#include "type/width.h"

namespace tenon {
namespace {

// --- Layouts

/// A tensor for loops, with at least one dim; strides in bytes.
struct Laid {
  std::byte* data;
  Dims sizes, strides;

  explicit Laid(const Tensor& tensor)
      : data(tensor.impl()->data()), sizes(tensor.sizes().copy()), strides(tensor.strides().copy()) {
    // exact: inside the storage if there are elements
    for (int64_t& stride : strides)
      stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(tensor.itemsize()));
    if (!sizes.empty()) return;
    sizes.push_back(1);
    strides.push_back(0);
  }
  /// An index of at most one dim, expanded to `shape`: it varies along `dim` only.
  Laid(const Tensor& index, SizesView shape, int64_t dim)
      : data(index.impl()->data()), sizes(shape.copy()), strides(shape.size(), 0) {
    if (sizes.empty()) {
      sizes.push_back(1);
      strides.push_back(0);
    }
    if (index.dim() > 0) strides[dim] = index.strides()[0] * index.itemsize();  // exact: inside the storage
  }
  int64_t last() const noexcept { return sizes.size() - 1; }
  /// Moves the start by `count` along a dim.
  void advance(int64_t dim, int64_t count) noexcept { data += count * strides[dim]; }  // exact: inside the storage
};

/// Bytes from one row, and from one column, of a plane to the next.
struct PlaneStrides {
  int64_t row, column;
};
/// The last two dims of an index and of the two tensors of the op.
struct Plane {
  int64_t rows, columns;
  PlaneStrides named, index, other;

  /// Makes the longer side the inner loop. Elements that differ only in `dim` keep their order.
  void turn() noexcept {
    if (columns >= rows || columns >= 8) return;
    std::swap(rows, columns);
    for (PlaneStrides* strides : {&named, &index, &other}) std::swap(strides->row, strides->column);
  }
};

/// Calls `run(plane, named, index, other)` for each plane, with the addresses of its first elements. `index` selects
/// elements of `named` along `dim`; `other` has an element for each index.
template <class Run>
void for_each_plane(Laid named, const Laid& index, const Laid& other, int64_t dim, const Run& run) {
  named.strides[dim] = 0;
  const int64_t last = index.last(), outer = std::max<int64_t>(last - 1, 0);
  const auto strides = [&](const Laid& laid) {
    return PlaneStrides{last > 0 ? laid.strides[last - 1] : 0, laid.strides[last]};
  };
  Plane plane{last > 0 ? index.sizes[last - 1] : 1, index.sizes[last], strides(named), strides(index), strides(other)};
  plane.turn();
  const SizesView sizes(index.sizes.data(), outer);
  Places of_named(sizes, SizesView(named.strides.data(), outer)),
      of_index(sizes, SizesView(index.strides.data(), outer)), of_other(sizes, SizesView(other.strides.data(), outer));
  bool more = true;
  while (more) {
    check_interrupt();
    // exact: inside the storages
    run(plane, named.data + of_named.place(), index.data + of_index.place(), other.data + of_other.place());
    of_named.next();
    of_other.next();
    more = of_index.next();
  }
}

int64_t place_at(const std::byte* index) noexcept {
  int64_t place;
  std::memcpy(&place, index, sizeof place);
  return place;
}
bool is_outside(int64_t place, int64_t size) noexcept {
  return static_cast<uint64_t>(place) >= static_cast<uint64_t>(size);
}

// --- Places out of range

/// Thrown if the index changed between the check and its use.
[[noreturn]] void fail_changed() { throw Error("another thread wrote to the index"); }

std::string out_of_bounds(int64_t place, int64_t dim, int64_t size) {
  return "index " + std::to_string(place) + " is out of bounds for dimension " + std::to_string(dim) + " with size " +
         std::to_string(size);
}

/// The first index out of range. There was one when they were checked.
int64_t first_outside(const std::byte* index, SizesView sizes, SizesView strides, int64_t size) {
  Places places(sizes, strides);
  do {
    const int64_t place = place_at(index + places.place());  // exact: inside the storage
    if (is_outside(place, size)) return place;
  } while (places.next());
  fail_changed();
}

/// Throws for the first index out of range in the order of PyTorch's loop, whose inner loop is `dim`, unless rows are
/// longer.
[[noreturn]] void fail_first_place(const Laid& index, int64_t dim, int64_t size) {
  Dims order;
  for (int64_t i = 0; i <= index.last(); ++i)
    if (i != dim) order.push_back(i);
  const bool rows_last = dim != index.last() && index.sizes[index.last()] >= index.sizes[dim];
  order.insert(rows_last ? order.size() - 1 : order.size(), dim);
  Dims sizes, strides;
  for (int64_t i : order) {
    sizes.push_back(index.sizes[i]);
    strides.push_back(index.strides[i]);
  }
  const int64_t place = first_outside(index.data, sizes, strides, size);
  throw Error(out_of_bounds(place, dim, size));
}

/// Whether an index is out of range. Dims in which the index has stride 0 are read once.
bool is_any_outside(const Laid& index, int64_t size) {
  Laid once = index;
  for (int64_t dim = 0; dim <= once.last(); ++dim)
    if (once.strides[dim] == 0) once.sizes[dim] = 1;
  bool outside = false;
  for_each_plane(once, once, once, 0,
                 [&](const Plane& plane, const std::byte*, const std::byte* places, const std::byte*) {
                   for (int64_t row = 0; row < plane.rows; ++row, places += plane.index.row)
                     for (int64_t column = 0; column < plane.columns; ++column)
                       outside |= is_outside(place_at(places + column * plane.index.column), size);
                 });
  return outside;
}
void check_places(const Laid& index, int64_t dim, int64_t size) {
  if (is_any_outside(index, size)) fail_first_place(index, dim, size);
}

// --- Checks

int64_t size_along(const Tensor& tensor, int64_t dim) { return tensor.dim() == 0 ? 1 : tensor.size(dim); }
int64_t dims_of(const Tensor& tensor) { return std::max<int64_t>(tensor.dim(), 1); }

bool is_index(Dtype dtype) { return dtype == int64 || dtype == int32; }
void check_index_dtype(const Tensor& index, const char* op) {
  if (index.numel() > 0 && !is_index(index.dtype()))
    throw Error(std::string(op) + "(): Expected dtype int32/int64 for index");
}

Tensor as_places(const Tensor& index) {
  check_readable(index);
  return index.dtype() == int64 ? index : run_to(index, int64, MemoryFormat::preserve);
}

void check_gather(const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.numel() == 0) return;
  check_index_dtype(index, "gather");
  if (dims_of(self) != dims_of(index))
    throw Error("Index tensor must have the same number of dimensions as input tensor");
  for (int64_t i = 0; i < dims_of(self); ++i)
    if (i != dim && size_along(index, i) > size_along(self, i))
      throw Error("Size does not match at dimension " + std::to_string(i) + " expected index " +
                  to_string(index.sizes()) + " to be no larger than self " + to_string(self.sizes()) +
                  " apart from dimension " + std::to_string(dim));
}

/// Whether `index` reaches beyond `tensor` along a dim other than `except`.
bool is_larger(const Tensor& index, const Tensor& tensor, int64_t except) {
  for (int64_t i = 0; i < dims_of(index); ++i)
    if (i != except && size_along(index, i) > size_along(tensor, i)) return true;
  return false;
}

/// `src` is null if a number is written.
void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src) {
  check_index_dtype(index, "scatter");
  if (src && self.dtype() != src->dtype()) throw Error("scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  if (dims_of(self) != dims_of(index))
    throw Error("Index tensor must have the same number of dimensions as self tensor");
  const bool wrong = is_larger(index, self, dim) || (src && is_larger(index, *src, -1));
  if (src && dims_of(*src) != dims_of(index))
    throw Error("Index tensor must have the same number of dimensions as src tensor");
  if (wrong)
    throw Error("Expected index " + to_string(index.sizes()) + " to be no larger than self " + to_string(self.sizes()) +
                " apart from dimension " + std::to_string(dim) +
                (src ? " and to be no larger size than src " + to_string(src->sizes()) : ""));
}

/// Checks history of the differentiable operands.
template <class... Operands>
void check_out_history(Op op, const Tensor& out, const Operands&... operands) {
  const Arg* const args[] = {&operands...};
  if (out.impl()->in_graph || in_graph(args, sizeof...(operands)))
    check_out_unrecorded(op, out, args, sizeof...(operands));
}

// --- Reading

/// Copies few or many bytes.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t count) {
  const auto both_ends = [&]<std::size_t width>(std::integral_constant<std::size_t, width>) {
    std::byte first[width], second[width];
    std::memcpy(first, from, width);
    std::memcpy(second, from + count - width, width);
    std::memcpy(to, first, width);
    std::memcpy(to + count - width, second, width);
  };
  if (count <= 8 || count > 64)
    std::memcpy(to, from, count);
  else if (count > 32)
    both_ends(std::integral_constant<std::size_t, 32>());
  else if (count > 16)
    both_ends(std::integral_constant<std::size_t, 16>());
  else
    both_ends(std::integral_constant<std::size_t, 8>());
}

/// Copies the elements that an index selects. False for an index out of range.
template <class Copy>
bool gather_plane(const Plane& plane, const std::byte* from, int64_t step, int64_t size, const std::byte* index,
                  std::byte* to, const Copy& copy) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row) {
    for (int64_t column = 0; column < plane.columns; ++column) {
      const int64_t place = place_at(index + column * plane.index.column);
      if (is_outside(place, size)) [[unlikely]]
        return false;
      copy(to + column * plane.other.column, from + column * plane.named.column + place * step);
    }
    from += plane.named.row;
    index += plane.index.row;
    to += plane.other.row;
  }
  return true;
}

/// The same for elements of one width, with a faster loop for contiguous rows.
template <class T>
bool gather_elements(const Plane& plane, const std::byte* from, int64_t step, int64_t size, const std::byte* index,
                     std::byte* to) {
  constexpr int64_t width = sizeof(T);
  if (plane.named.column != 0 || plane.index.column != int64_t{sizeof(int64_t)} || plane.other.column != width ||
      step != width)
    return gather_plane(plane, from, step, size, index, to,
                        [](std::byte* a, const std::byte* b) { std::memcpy(a, b, sizeof(T)); });
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row) {
    for (int64_t column = 0; column < plane.columns; ++column) {
      const int64_t place = place_at(index + column * int64_t{sizeof(int64_t)});
      if (is_outside(place, size)) [[unlikely]]
        return false;
      std::memcpy(to + column * width, from + place * width, sizeof(T));
    }
    from += plane.named.row;
    index += plane.index.row;
    to += plane.other.row;
  }
  return true;
}

/// Joins the dims after `dim` to larger elements, if the index has stride 0 along them and they are contiguous in both
/// tensors. Returns the size of an element.
int64_t join_behind(Laid& out, Laid& self, Laid& index, int64_t dim, int64_t width) {
  int64_t joined = index.sizes.size(), bytes = width;
  while (joined - 1 > dim && (index.strides[joined - 1] == 0 || index.sizes[joined - 1] == 1)) {
    const int64_t size = index.sizes[joined - 1];
    if (size != 1 && (self.strides[joined - 1] != bytes || out.strides[joined - 1] != bytes)) break;
    bytes *= size;  // exact: inside the storage
    --joined;
  }
  if (joined - 1 > dim) return width;  // all of them or none
  for (Laid* laid : {&out, &self, &index}) {
    laid->sizes.resize(joined);
    laid->strides.resize(joined);
  }
  return bytes;
}

// Elements of a thread's part: work that is smaller stays on the caller. Bench: tenon_bench --ops --filter
// 'ops/(gather|scatter)$'.
constexpr int64_t kPartElements = 1 << 15;

/// out[...] = self[..., index[...], ...]. All have the same number of dims; `index` is not empty. `fail(size)` throws
/// for an index out of range.
template <class Fail>
void gather_into(const Tensor& out, const Tensor& self, Laid index, int64_t dim, const Fail& fail) {
  Laid to(out), from(self);
  const int64_t size = from.sizes[dim], step = from.strides[dim];
  const int64_t width = join_behind(to, from, index, dim, out.itemsize());
  const int64_t longest = std::max_element(index.sizes.begin(), index.sizes.end()) - index.sizes.begin();
  const int64_t length = index.sizes[longest], others = std::max<int64_t>(out.numel() / length, 1),
                each = std::max<int64_t>(kPartElements / others, 1);
  parallel_for((length + each - 1) / each, [&](int64_t part) {
    Laid part_to = to, part_from = from, part_index = index;
    part_index.sizes[longest] = std::min(each, length - part * each);
    part_to.advance(longest, part * each);
    part_index.advance(longest, part * each);
    if (longest != dim) part_from.advance(longest, part * each);
    for_each_plane(part_from, part_index, part_to, dim,
                   [&](const Plane& plane, const std::byte* source, const std::byte* named, std::byte* target) {
                     const bool inside = visit_width(
                         width, [&]<class T>() { return gather_elements<T>(plane, source, step, size, named, target); },
                         [&] {
                           return gather_plane(plane, source, step, size, named, target,
                                               [width](std::byte* a, const std::byte* b) {
                                                 copy_bytes(a, b, static_cast<std::size_t>(width));
                                               });
                         });
                     if (!inside) fail(size);
                   });
  });
}

// --- Writing

/// Calls `write(element of self, element of src)` for each index. Indices have been checked.
template <class T, class Write>
void write_planes(const Laid& self, int64_t dim, const Laid& index, const Laid& src, const Write& write) {
  const int64_t step = self.strides[dim], size = self.sizes[dim];
  const auto inside = [size](const std::byte* places) {
    const int64_t place = place_at(places);
    if (is_outside(place, size)) [[unlikely]]
      fail_changed();
    return place;
  };
  for_each_plane(
      self, index, src, dim, [&](const Plane& plane, std::byte* to, const std::byte* places, const std::byte* from) {
        const auto element = [](auto* bytes) {
          return reinterpret_cast<
              std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(bytes)>>, const T*, T*>>(bytes);
        };
        // exact: inside the storages
        for (int64_t row = 0; row < plane.rows; ++row) {
          if (plane.index.column == 0 && plane.named.column == int64_t{sizeof(T)} &&
              plane.other.column == int64_t{sizeof(T)}) {
            T* target = element(to + inside(places) * step);
            const T* source = element(from);
            for (int64_t column = 0; column < plane.columns; ++column) write(target[column], source[column]);
          } else if (plane.named.column == 0 && plane.index.column == int64_t{sizeof(int64_t)} &&
                     plane.other.column == int64_t{sizeof(T)} && step == int64_t{sizeof(T)}) {
            T* target = element(to);
            const T* source = element(from);
            for (int64_t column = 0; column < plane.columns; ++column)
              write(target[inside(places + column * int64_t{sizeof(int64_t)})], source[column]);
          } else {
            for (int64_t column = 0; column < plane.columns; ++column)
              write(*element(to + column * plane.named.column + inside(places + column * plane.index.column) * step),
                    *element(from + column * plane.other.column));
          }
          to += plane.named.row;
          places += plane.index.row;
          from += plane.other.row;
        }
      });
}

enum class Join : uint8_t { replace, add, multiply };

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

void replace(const Laid& self, int64_t dim, const Laid& index, const Laid& src, int64_t width) {
  visit_width(width,
              [&]<class T>() { write_planes<T>(self, dim, index, src, [](T& to, const T& from) { to = from; }); });
}
void add(const Laid& self, int64_t dim, const Laid& index, const Laid& src, Dtype dtype, Scalar alpha) {
  visit_dtype(dtype, [&]<class T>() {
    const auto factor = widened(scalar_to<T>(alpha));
    write_planes<T>(self, dim, index, src, [=](T& to, const T& from) { to = sum_of(to, from, factor); });
  });
}
void multiply(const Laid& self, int64_t dim, const Laid& index, const Laid& src, Dtype dtype) {
  visit_dtype(dtype, [&]<class T>() {
    write_planes<T>(self, dim, index, src, [](T& to, const T& from) { to = product_of(to, from); });
  });
}

Join join_of(Op op, const char* reduce) {
  if (op == Op::scatter_add) return Join::add;
  if (!reduce) return Join::replace;
  const bool adds = std::strcmp(reduce, "add") == 0;
  if (!adds && std::strcmp(reduce, "multiply") != 0) throw Error("reduce argument must be either add or multiply.");
  return adds ? Join::add : Join::multiply;
}
/// PyTorch's warning, before all checks.
void warn_of_reduce(Op op, const char* reduce) {
  if (op == Op::scatter && reduce)
    warn("UserWarning",
         "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
         "release. Use torch.scatter_reduce instead for more reduction options.");
}

/// A number as a 0-dim tensor. Throws Error if the dtype cannot hold it.
Tensor as_element(Scalar number, Dtype dtype) {
  check_fits(number, dtype);
  const Tensor element = new_tensor(SizesView(), dtype);
  run_fill(element, number);
  return element;
}

/// An operand that is read while `self` is written: a copy if they overlap.
Tensor apart(const Tensor& self, const Tensor& operand) {
  return ranges_meet(self, operand) ? run_clone(operand, MemoryFormat::contiguous) : operand;
}

/// Scatters into `self` after all checks except those of the indices.
void write_scattered(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, Join join) {
  if (index.numel() > 0 && !self.is_meta()) {
    check_has_code(row_of(op), self.dtype());
    if (src.is_tensor()) check_readable(src.tensor());
    const Tensor places = apart(self, as_places(index));
    const Laid of_self(self), of_index(places);
    check_places(of_index, dim, of_self.sizes[dim]);
    const Tensor element = src.is_tensor() ? apart(self, src.tensor()) : as_element(src.number(), self.dtype());
    // A number has strides of 0.
    const Laid of_src = src.is_tensor() ? Laid(element) : Laid(element, index.sizes(), dim);
    const Uninterrupted whole;
    if (join == Join::replace)
      replace(of_self, dim, of_index, of_src, self.itemsize());
    else if (join == Join::add)
      add(of_self, dim, of_index, of_src, self.dtype(), 1);
    else
      multiply(of_self, dim, of_index, of_src, self.dtype());
  }
  bump_version(self);
}

const Tensor* tensor_or_null(const Arg& arg) { return arg.is_tensor() ? &arg.tensor() : nullptr; }

/// The functional form: scatters into a row-major copy of self.
Tensor scattered_copy(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, Join join) {
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  write_scattered(op, result, dim, index, src, join);
  forget_writes(result);
  return result;
}
Tensor scattered(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                 const char* reduce = nullptr) {
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  return scattered_copy(op, self, along, index, src, join_of(op, reduce));
}
void scatter_in_place(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                      const char* reduce = nullptr) {
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  check_no_internal_overlap(self);
  check_no_overlap(self, index);
  if (src.is_tensor()) check_no_overlap(self, src.tensor());
  write_scattered(op, self, along, index, src, join_of(op, reduce));
}
Tensor& scattered_into(Op op, Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                       const char* reduce = nullptr) {
  if (reduce)  // not differentiable: PyTorch checks only `out`
    check_out_unrecorded("aten::scatter", out, nullptr, 0);
  else
    check_out_history(op, out, Arg(self), src);
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  check_no_internal_overlap(out);
  check_no_overlap(out, index);
  if (src.is_tensor()) check_no_overlap(out, src.tensor());
  check_strict_out(out, self.dtype());
  return write_result(op, out, scattered_copy(op, self, along, index, src, join_of(op, reduce)));
}

/// Whether PyTorch calls scatter_add, which has other error texts.
bool adds_by_scatter(const Tensor& self, int64_t dim, const Tensor& index, Scalar alpha) {
  const bool is_one = alpha.is_floating() ? alpha.as_double() == 1 : !alpha.is_boolean() && alpha.as_int64() == 1;
  return self.dim() > 1 && (dim == 0 || dim == self.dim() - 1) && is_one && index.dtype() == int64;
}

void check_index_vector(const Tensor& index, const char* op) {
  if (index.dim() > 1)
    throw IndexError(std::string(op) +
                     ": Index is supposed to be a vector, but got dim: " + std::to_string(index.dim()) +
                     " with type: " + scalar_type_name(index.dtype()) + " and size: " + to_string(index.sizes()));
}

void check_index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  check_index_vector(index, "index_add_()");
  if (!is_index(index.dtype()))
    throw Error(std::string("index_add_(): Expected dtype int32/int64 for index but got: ") +
                scalar_type_name(index.dtype()));
  if (self.dtype() != source.dtype())
    throw Error(std::string("index_add_(): self (") + scalar_type_name(self.dtype()) + ") and source (" +
                scalar_type_name(source.dtype()) + ") must have the same scalar type");
  if (dim != 0 && dim >= source.dim())
    throw Error("index_add_(): Indexing dim " + std::to_string(dim) +
                " is out of bounds of the source tensor with dim " + std::to_string(source.dim()));
  if (index.numel() != size_along(source, dim))
    throw Error("index_add_(): Number of indices (" + std::to_string(index.numel()) +
                ") should be equal to source.size(dim): (" + std::to_string(source.size(dim)) +
                "), for dim: " + std::to_string(dim));
  Dims mine = self.sizes().copy(), others = source.sizes().copy();
  if (!mine.empty() && !others.empty()) {
    mine.erase(dim);
    others.erase(dim);
  }
  if (!(mine == others))
    throw Error(
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = " +
        to_string(self.sizes()) + " source.shape = " + to_string(source.sizes()));
}

void write_added(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  const bool nothing = self.dim() > 1 && (index.numel() == 0 || self.numel() == 0);
  if (!nothing && !self.is_meta()) {
    const bool scatters = adds_by_scatter(self, dim, index, alpha);
    if (is_wide_unsigned(self.dtype()))
      fail_no_code(scatters ? "scatter_gather_tensor_cpu" : self.dim() > 1 ? "add_stub" : "index_add_", self.dtype());
    check_fits(alpha, self.dtype());
    check_readable(source);
    const Tensor places = apart(self, as_places(index)), added = apart(self, source);
    const Laid of_self(self), of_source(added), of_index(places, source.sizes(), dim);
    if (index.numel() > 0 && is_any_outside(of_index, of_self.sizes[dim])) {
      if (scatters) fail_first_place(of_index, dim, of_self.sizes[dim]);
      throw IndexError("index out of range in self");
    }
    const Uninterrupted whole;
    if (source.numel() > 0) add(of_self, dim, of_index, of_source, self.dtype(), alpha);
  }
  bump_version(self);
}

}  // namespace

Tensor plain::gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_gather(self, along, index);
  Tensor result = new_tensor(index.sizes(), self.dtype(), self.device());
  if (result.numel() == 0 || result.is_meta()) return result;
  check_has_code(row_of(Op::gather), self.dtype());
  const Tensor places = as_places(index);
  const Laid of_index(places);
  gather_into(result, self, of_index, along, [&](int64_t size) { fail_first_place(of_index, along, size); });
  return result;
}

Tensor& plain::gather_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  check_out_history(Op::gather, out, Arg(self));
  wrap_dim(dim, self.dim());
  check_strict_out(out, self.dtype());
  if (out.sizes() == index.sizes()) check_no_internal_overlap(out);  // with another shape it gets new strides
  check_no_overlap(out, self);
  check_no_partial_overlap(out, index);
  return write_result(Op::gather, out, plain::gather(self, dim, index, sparse_grad));
}

namespace {

void check_index_select(const Tensor& self, const Tensor& index) {
  if (index.dim() > 1) throw IndexError("index_select(): Index is supposed to be a vector");
  if (self.dim() == 0 && index.numel() != 1)
    throw Error("index_select(): Index to scalar can have only 1 value, got " + std::to_string(index.numel()) +
                " value(s)");
  if (!is_index(index.dtype())) throw Error("index_select(): Expected dtype int32 or int64 for index");
}

/// Throws with PyTorch's other texts, for results without elements and for dim 1.
void check_places_in_other_words(const Laid& index, int64_t size) {
  if (size == 0) throw Error("index_select(): self indexing axis dim should be positive");
  if (!is_any_outside(index, size)) return;
  const int64_t place = first_outside(index.data, index.sizes, index.strides, size);
  throw Error("INDICES element is out of DATA bounds, id=" + std::to_string(place) +
              " axis_dim=" + std::to_string(size));
}

}  // namespace

Tensor plain::index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_index_select(self, index);
  Dims sizes = self.sizes().copy();
  if (!sizes.empty()) sizes[along] = index.numel();
  Tensor result = new_tensor(sizes, self.dtype(), self.device());
  if (result.is_meta()) return result;
  if (self.dim() < 2) check_has_code(row_of(Op::index_select), self.dtype());
  if (index.numel() == 0) return result;
  const Tensor places = as_places(index);
  if (self.dim() > 1 && self.numel() == 0) {
    check_places_in_other_words(Laid(places), self.size(along));
    return result;
  }
  const Laid of_index(places, sizes, along);
  if (along == 1 && self.dim() > 1) check_places_in_other_words(Laid(places), self.size(along));
  gather_into(result, self, of_index, along, [](int64_t) { throw IndexError("index out of range in self"); });
  return result;
}

Tensor& plain::index_select_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  check_out_history(Op::index_select, out, Arg(self));
  wrap_dim(dim, self.dim());
  check_index_select(self, index);
  if (self.dtype() != out.dtype()) throw Error("index_select(): self and result must have the same scalar type");
  check_no_internal_overlap(out);
  check_no_overlap(out, self);
  check_no_overlap(out, index);
  return write_result(Op::index_select, out, plain::index_select(self, dim, index));
}

namespace {

/// The sizes of `shape` with another size in `dim`.
Dims with_size(SizesView shape, int64_t dim, int64_t size) {
  Dims sizes = shape.copy();
  sizes[dim] = size;
  return sizes;
}

/// The arguments for gather.
struct Taken {
  Tensor self, index;
  int64_t dim = 0;
};
/// Wraps indices into the range of a dim.
Tensor wrapped(const Tensor& index, int64_t size) {
  if (index.numel() == 0 || index.is_meta()) return index;
  if (size == 0) throw Error("ZeroDivisionError");
  Tensor places = run_clone(index, MemoryFormat::contiguous);
  int64_t* data = places.data<int64_t>();
  for (int64_t i = 0; i < places.numel(); ++i)
    if (is_outside(data[i], size)) data[i] = ((data[i] % size) + size) % size;  // exact: less than a size
  return places;
}
Taken taken(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (!dim) return {self.view({-1}), indices.view({-1}), 0};
  if (self.dim() != indices.dim())
    throw Error("torch.take_along_dim(): input and indices should have the same number of dimensions, but got " +
                std::to_string(self.dim()) + " dimensions for input, and " + std::to_string(indices.dim()) +
                " dimensions for indices");
  if (indices.dtype() != int64)
    throw Error(std::string("torch.take_along_dim(): dtype of indices should be Long but got ") +
                scalar_type_name(indices.dtype()));
  const int64_t along = wrap_dim(*dim, self.dim()), count = indices.size(along), size = self.size(along);
  const Tensor index = indices.expand(infer_size(with_size(self.sizes(), along, count), indices.sizes()));
  return {self.expand(infer_size(with_size(indices.sizes(), along, size), self.sizes())), wrapped(index, size), along};
}

}  // namespace

Tensor plain::take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  const Taken given = taken(self, indices, dim);
  return given.self.gather(given.dim, given.index);
}

Tensor& plain::take_along_dim_out(Tensor& out, const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  const Taken given = taken(self, indices, dim);
  return tenon::gather_out(out, given.self, given.dim, given.index);
}

Tensor plain::scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const char* reduce) {
  return scattered(Op::scatter, self, dim, index, src, reduce);
}
Tensor& plain::scatter_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           const char* reduce) {
  return scattered_into(Op::scatter, out, self, dim, index, src, reduce);
}
void plain::scatter_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                            const char* reduce) {
  scatter_in_place(Op::scatter, self, dim, index, src, reduce);
}

Tensor plain::scatter_value(const Tensor& self, int64_t dim, const Tensor& index, Scalar value, const char* reduce) {
  return scattered(Op::scatter_value, self, dim, index, value, reduce);
}
Tensor& plain::scatter_value_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                                 const char* reduce) {
  return scattered_into(Op::scatter_value, out, self, dim, index, value, reduce);
}
void plain::scatter_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                                  const char* reduce) {
  scatter_in_place(Op::scatter_value, self, dim, index, value, reduce);
}

Tensor plain::scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered(Op::scatter_add, self, dim, index, src);
}
Tensor& plain::scatter_add_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered_into(Op::scatter_add, out, self, dim, index, src);
}
void plain::scatter_add_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_in_place(Op::scatter_add, self, dim, index, src);
}

Tensor plain::index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_index_add(self, along, index, source);
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  write_added(result, along, index, source, alpha);
  forget_writes(result);
  return result;
}
Tensor& plain::index_add_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                             Scalar alpha) {
  check_out_history(Op::index_add, out, Arg(self), Arg(source));
  check_index_add(self, wrap_dim(dim, self.dim()), index, source);
  check_strict_out(out, self.dtype());
  check_no_internal_overlap(out);
  check_no_overlap(out, index);
  check_no_overlap(out, source);
  return write_result(Op::index_add, out, plain::index_add(self, dim, index, source, alpha));
}
void plain::index_add_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                              Scalar alpha) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_index_add(self, along, index, source);
  check_no_internal_overlap(self);
  check_no_overlap(self, index);
  check_no_overlap(self, source);
  write_added(self, along, index, source, alpha);
}

}  // namespace tenon
