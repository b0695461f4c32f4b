// nonzero, masked_select, masked_fill, masked_scatter: the indices of nonzero elements, and reads and writes of the
// elements where a mask is true.
#include <algorithm>
#include <bit>
#include <cstring>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "kernel/kernel.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "type/overflow.h"
#include "type/width.h"

namespace tenon {
namespace {

// Eight bools are read at once. Any byte but 0 is true: in other libraries' memory true is not always 1.
using Truth = uint8_t;
constexpr int64_t kWord = 8;
constexpr uint64_t kOnes = 0x0101010101010101;

/// 1 for each byte that is not 0.
uint64_t ones_of(const Truth* truths) {
  uint64_t word;
  std::memcpy(&word, truths, sizeof word);
  return ((((word & (kOnes * 0x7f)) + kOnes * 0x7f) | word) >> 7) & kOnes;
}

int64_t count_true(const Truth* truths, int64_t length) {
  int64_t count = 0, i = 0;
  for (; i + kWord <= length; i += kWord) count += static_cast<int64_t>((ones_of(truths + i) * kOnes) >> 56);
  for (; i < length; ++i) count += truths[i] != 0;
  return count;
}

/// Writes `value(i)` for each true i. There are `count` of them; it never writes more, even if another thread changes
/// the mask.
template <class T, class Value>
T* write_true(T* to, const Truth* truths, int64_t length, int64_t count, const Value& value) {
  T* const end = to + count;
  int64_t i = 0;
  for (; i + kWord <= length; i += kWord) {
    const uint64_t ones = ones_of(truths + i);
    if (ones == 0) continue;
    if (end - to >= kWord) {  // there is space for one value more than is written
      for (int64_t k = 0; k < kWord; ++k) {
        *to = value(i + k);
        to += ones >> (8 * k) & 1u;
      }
    } else {
      for (int64_t k = 0; k < kWord; ++k)
        if ((ones >> (8 * k) & 1u) && to != end) *to++ = value(i + k);
    }
  }
  for (; i < length; ++i)
    if (truths[i] && to != end) *to++ = value(i);
  return to;
}

Tensor row_major(const Tensor& tensor) {
  return tensor.impl()->row_major ? tensor : run_clone(tensor, MemoryFormat::contiguous);
}

// Longer rows are searched one by one. In shorter ones a place in the whole mask is divided into row and column. Bench:
// tenon_bench --ops --filter 'ops/(nonzero|masked_select)$'.
constexpr int64_t kLongRow = 32;

/// Writes the indices of true elements of a row-major tensor: all indices of the first dim, then those of the next.
void write_places(int64_t* to, const Truth* truths, SizesView sizes, int64_t count) {
  const int64_t last = sizes.size() - 1, length = sizes[last], rows = numel_of(sizes) / length;
  int64_t* const columns = to + last * count;
  const auto split = [&](int64_t row, int64_t at) {
    for (int64_t dim = last - 1; dim > 0; --dim) {
      to[dim * count + at] = row % sizes[dim];
      row /= sizes[dim];
    }
    if (last > 0) to[at] = row;
  };
  // exact: inside the storages
  if (length >= kLongRow || last == 0) {
    int64_t at = 0;
    for (int64_t row = 0; row < rows; ++row, truths += length) {
      const int64_t begin = at;
      at = write_true(columns + begin, truths, length, count - begin, [](int64_t i) { return i; }) - columns;
      if (at == begin || last == 0) continue;
      split(row, begin);
      for (int64_t dim = 0; dim < last; ++dim)
        std::fill(to + dim * count + begin + 1, to + dim * count + at, to[dim * count + begin]);
    }
    return;
  }
  write_true(columns, truths, rows * length, count, [](int64_t i) { return i; });
  for (int64_t at = 0; at < count; ++at) {
    const int64_t place = columns[at];
    columns[at] = place % length;
    split(place / length, at);
  }
}

}  // namespace

List<Tensor> nonzero_places(const Tensor& self) {
  const Tensor rows = nonzero(self.dim() == 0 ? self.reshape({1}) : self);
  List<Tensor> places;
  for (int64_t dim = 0; dim < rows.size(1); ++dim) places.push_back(rows.select(1, dim));
  return places;
}

List<Tensor> plain::where_places(const Tensor& condition) { return nonzero_places(condition); }

Tensor plain::nonzero(const Tensor& self) {
  check_readable(self);
  check_has_code(row_of(Op::nonzero), self.dtype());
  const Tensor truths = row_major(self.dtype() == bool_ ? self : run_to(self, bool_, MemoryFormat::contiguous));
  const Truth* data = reinterpret_cast<const Truth*>(truths.impl()->data());
  const int64_t count = count_true(data, truths.numel());
  const Tensor places = new_tensor({count, self.dim()}, {1, count}, int64);
  if (places.numel() > 0) write_places(places.data<int64_t>(), data, self.sizes(), count);
  return places;
}

Tensor plain::argwhere(const Tensor& self) { return tenon::nonzero(self); }

Tensor& plain::nonzero_out(Tensor& out, const Tensor& self) {
  check_readable(self);
  if (out.dtype() != int64)
    throw Error(std::string("nonzero: Expected out tensor to have scalar type Long but got scalar type") +
                scalar_type_name(out.dtype()));
  check_no_internal_overlap(out);
  check_no_overlap(out, self);
  return write_result(Op::nonzero, out, plain::nonzero(self));
}

namespace {

void check_mask(const Tensor& mask) {
  if (mask.dtype() != bool_) throw Error("masked_select: expected BoolTensor for mask");
}

}  // namespace

Tensor plain::masked_select(const Tensor& self, const Tensor& mask) {
  check_mask(mask);
  check_readable(self);
  check_readable(mask);
  const Dims shape = infer_size(mask.sizes(), self.sizes());
  const Tensor truths = row_major(mask.expand(shape)), elements = row_major(self.detach().expand(shape));
  const Truth* data = reinterpret_cast<const Truth*>(truths.impl()->data());
  const int64_t length = truths.numel(), count = count_true(data, length);
  Tensor result = new_tensor({count}, self.dtype());
  if (count == 0) return result;
  check_has_code(row_of(Op::masked_select), self.dtype());
  visit_width(self.itemsize(), [&]<class T>() {
    const T* from = reinterpret_cast<const T*>(elements.impl()->data());
    write_true(reinterpret_cast<T*>(result.impl()->data()), data, length, count, [from](int64_t i) { return from[i]; });
  });
  return result;
}

Tensor& plain::masked_select_out(Tensor& out, const Tensor& self, const Tensor& mask) {
  check_unrecorded(Op::masked_select, out, self);
  check_mask(mask);
  if (self.dtype() != out.dtype()) throw Error("masked_select(): self and result must have the same scalar type");
  check_no_internal_overlap(out);
  check_no_overlap(out, self);
  check_no_overlap(out, mask);
  return write_result(Op::masked_select, out, plain::masked_select(self, mask));
}

// --- masked_fill

namespace {

void check_fill_mask(const Tensor& mask) {
  if (mask.dtype() != bool_)
    throw Error(std::string("masked_fill_ only supports boolean masks, but got mask with dtype ") +
                cpp_type_name(mask.dtype()));
}
/// The number of a 0-dim tensor.
Scalar fill_number(const Tensor& value) {
  if (value.dim() != 0)
    throw Error("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with " +
                std::to_string(value.dim()) + " dimension(s).");
  if (value.is_meta()) throw Error("Expected `value` to be on same device as `a`");
  return value.item();
}
/// A number as one of a dtype's kind, so that it promotes nothing.
Scalar in_kind_of(Scalar number, Dtype dtype) {
  if (is_complex(dtype)) return number;
  if (dtype == bool_) return number.is_complex() ? !(number.as_complex() == Complex128{0, 0}) : number.as_bool();
  if (is_floating_point(dtype)) return number.is_complex() ? number.as_complex().re : number.as_double();
  return number.is_complex() ? static_cast<int64_t>(number.as_complex().re) : number.to<int64_t>();
}

/// Writes `value` where `mask` is true, otherwise the elements of `self`.
void write_filled(Tensor& to, const Tensor& self, const Tensor& mask, Scalar value) {
  if (is_computed(self)) {
    check_has_code(row_of(Op::masked_fill), self.dtype());
    check_fits(value, self.dtype());
  }
  const Arg choice(mask), number(in_kind_of(value, self.dtype())), kept(self);
  const Arg* const args[] = {&choice, &number, &kept};
  elementwise_out(Op::where, to, args, 3);
}

/// Fills a tensor some of whose dims have stride 0: an element is filled if any of its places is.
void fill_expanded(const Tensor& self, const Tensor& mask, Scalar value) {
  Tensor whole = mask.expand(self.sizes()), distinct = self;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (self.strides()[dim] != 0 || self.size(dim) < 2) continue;
    whole = whole.any(dim, true);
    distinct = distinct.narrow(dim, 0, 1);
  }
  write_filled(distinct, distinct, whole, value);
}

Tensor filled_copy(const Tensor& self, const Tensor& mask, Scalar value) {
  const Dims shape = infer_size(mask.sizes(), self.sizes());
  check_fill_mask(mask);
  Tensor result = new_tensor(shape, contiguous_strides(shape), self.dtype(), self.device());
  write_filled(result, self.detach(), mask, value);
  forget_writes(result);
  return result;
}

void fill_in_place(const Tensor& self, const Tensor& mask, Scalar value) {
  check_fill_mask(mask);
  Tensor written = self.detach();
  const bool is_expanded = internal_overlap(self) == InternalOverlap::yes;
  if (is_expanded)
    warn("UserWarning",
         "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
         "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar");
  check_no_partial_overlap(self, mask);
  check_inplace_shape(self.sizes(), infer_size(self.sizes(), mask.sizes()));
  is_expanded ? fill_expanded(written, mask, value) : write_filled(written, written, mask, value);
}

}  // namespace

Tensor plain::masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  infer_size(mask.sizes(), self.sizes());
  return filled_copy(self, mask, fill_number(value));
}
void plain::masked_fill_inplace(const Tensor& self, const Tensor& mask, const Tensor& value) {
  fill_in_place(self, mask, fill_number(value));
}
Tensor plain::masked_fill_value(const Tensor& self, const Tensor& mask, Scalar value) {
  return filled_copy(self, mask, value);
}
void plain::masked_fill_value_inplace(const Tensor& self, const Tensor& mask, Scalar value) {
  fill_in_place(self, mask, value);
}

// --- masked_scatter

namespace {

void check_scattered(const Tensor& self, const Tensor& source) {
  if (self.dtype() != source.dtype())
    throw Error(std::string("masked_scatter: expected self and source to have same dtypes but got") +
                scalar_type_name(self.dtype()) + " and " + scalar_type_name(source.dtype()));
}

/// Writes elements of `source` to a row-major tensor, one for each true element of a mask of its shape.
void write_scattered(const Tensor& rows, const Tensor& mask, const Tensor& source) {
  if (mask.dtype() != bool_)
    throw Error(std::string("masked_scatter_ only supports boolean masks, but got mask with dtype ") +
                scalar_type_name(mask.dtype()));
  check_has_code(row_of(Op::masked_scatter), rows.dtype());
  const Tensor truths = row_major(mask), elements = row_major(source.detach());
  const Truth* data = reinterpret_cast<const Truth*>(truths.impl()->data());
  if (count_true(data, truths.numel()) > elements.numel())
    throw Error("Number of elements of source < number of ones in mask");
  const auto expand = kernels().index.expand[std::countr_zero(static_cast<std::size_t>(rows.itemsize()))];
  expand(rows.impl()->data(), data, truths.numel(), elements.impl()->data(), elements.numel());
}

}  // namespace

Tensor plain::masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const Dims shape = infer_size(mask.sizes(), self.sizes());
  check_scattered(self, source);
  if (self.is_meta()) return new_tensor(shape, contiguous_strides(shape), self.dtype(), self.device());
  check_readable(mask);
  check_readable(source);
  Tensor result = run_clone(self.detach().expand(shape), MemoryFormat::contiguous);
  write_scattered(result, mask.expand(shape), source);
  return result;
}

void plain::masked_scatter_inplace(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_no_internal_overlap(self);
  check_scattered(self, source);
  const Tensor whole = mask.expand(self.sizes());
  if (self.is_meta()) return;
  check_readable(mask);
  check_readable(source);
  if (self.impl()->row_major && !ranges_meet(self, mask) && !ranges_meet(self, source)) {
    check_unseen(self);
    write_scattered(self.detach(), whole, source);
    return bump_version(self);
  }
  const Tensor rows = run_clone(self.detach(), MemoryFormat::contiguous);
  write_scattered(rows, whole, source);
  run_copy(self.detach(), rows);
}

}  // namespace tenon
