// Scans along one dim: cumsum, cummax and cummin.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "hwy/cache_control.h"
#include "kernel/kernel.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "tile/prefetch.h"
#include "tile/run.h"
#include "tile/streamed.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// Scans of 16-bit floats are scans of float32, rounded at the end.
bool is_half(Dtype dtype) { return is_floating_point(dtype) && itemsize(dtype) == 2; }

// Elements of a thread's part: work that is smaller stays on the caller. Bench: tenon_bench --filter
// '^(cumsum|cummax)/'.
constexpr int64_t kPartElements = 1 << 15;

/// `to[i]` is the sum of `from[0]` to `from[i]`, for a row of `length`.
template <class Sum, class T>
void scan_row(const T* from, T* to, int64_t length) {
  Sum sum = 0;
  for (int64_t i = 0; i < length; ++i) to[i] = static_cast<T>(sum += static_cast<Sum>(from[i]));
}

/// Four rows at once, because each sum of one row waits for the one before.
template <class Sum, class T>
void scan_four_rows(const T* from, T* to, int64_t length) {
  // exact: inside the storage
  const int64_t second = length, third = 2 * length, fourth = 3 * length;
  Sum a = 0, b = 0, c = 0, d = 0;
  for (int64_t i = 0; i < length; ++i) {
    a += static_cast<Sum>(from[i]);
    b += static_cast<Sum>(from[second + i]);
    c += static_cast<Sum>(from[third + i]);
    d += static_cast<Sum>(from[fourth + i]);
    to[i] = static_cast<T>(a);
    to[second + i] = static_cast<T>(b);
    to[third + i] = static_cast<T>(c);
    to[fourth + i] = static_cast<T>(d);
  }
}

template <class Sum, class T>
ScanKernel scan_kernel() {
  return std::is_same_v<Sum, float> ? kernels().sum_columns_in_float32
                                    : kernels().sum_columns[static_cast<int>(dtype_of_v<T>)];
}
/// Over [length, inner] elements: each row of `to` is the sum of the rows of `from` up to it.
template <class Sum, class T>
void scan_columns(const T* from, T* to, int64_t length, int64_t inner, Sum* sums) {
  std::fill_n(sums, inner, Sum(0));
  scan_kernel<Sum, T>()(to, from, length, inner, sums);
}

// Rows that are scanned together, as columns of a tile, and the tile's bytes. Bench: ./dev bench --sweep, scans.
constexpr int64_t kRowsTogether = 32, kTileBytes = 16 << 10;

// Shorter rows, or fewer, are scanned as they lie.
constexpr int64_t kShortest = 8, kFewest = 8;

// The processor reads ahead by itself in shorter rows. Bench: ./dev bench --sweep, scans.
constexpr int64_t kLongRowBytes = 1024;

/// At most kRowsTogether rows, transposed tile by tile. The same rows of the next call are prefetched meanwhile, unless
/// they were read already to be summed in place.
template <class Sum, class T>
void scan_transposed(const T* from, T* to, int64_t length, int64_t rows) {
  constexpr int64_t kWidth = static_cast<int64_t>(sizeof(T)), kColumns = kTileBytes / kWidth / kRowsTogether;
  alignas(64) std::byte tile[kTileBytes];
  Sum sums[kRowsTogether] = {};
  const auto transpose = kernels().move[std::countr_zero(sizeof(T))].transpose;
  for (int64_t first = 0; first < length; first += kColumns) {
    const int64_t columns = std::min(kColumns, length - first);
    if (from != to) {
      // exact: inside the storage
      const int64_t next = rows * length + first, row_bytes = length * kWidth;
      const auto* const ahead = reinterpret_cast<const std::byte*>(from + next);
      if (row_bytes >= kLongRowBytes)
        prefetch_rows(ahead, columns * kWidth, row_bytes, rows);
      else
        prefetch_rows(ahead, rows * columns * kWidth, 0, 1);
    }
    transpose(tile, rows, from + first, length, columns, rows);
    scan_kernel<Sum, T>()(tile, tile, columns, rows, sums);
    transpose(to + first, length, tile, rows, rows, columns);
  }
}

/// The same for a few columns, with the sums in registers.
template <class Sum, class T, int64_t kInner>
void scan_few_columns(const T* from, T* to, int64_t length) {
  Sum sums[kInner] = {};
  for (int64_t row = 0; row < length; ++row, from += kInner, to += kInner)
#pragma GCC unroll 8
    for (int64_t i = 0; i < kInner; ++i) to[i] = static_cast<T>(sums[i] += static_cast<Sum>(from[i]));
}

// So many columns have code of their own. Bench: ./dev bench --sweep, scans.
constexpr int64_t kFew = 8;

/// A row-major tensor with elements as [outer, length, inner], scanned along `length`.
struct Blocks {
  int64_t outer = 1, length, inner = 1;

  /// `parts`: numbers in an element (2 for complex ones).
  Blocks(SizesView sizes, int64_t dim, int64_t parts = 1) : length(sizes[dim]), inner(parts) {
    // exact: parts of the number of elements
    for (int64_t i = 0; i < dim; ++i) outer *= sizes[i];
    for (int64_t i = dim + 1; i < sizes.size(); ++i) inner *= sizes[i];
  }
  /// Divides `outer` into parts for threads. Calls body(state, offset of the first element, number of blocks); `make()`
  /// makes a thread's state.
  template <class Make, class Body>
  void for_each(const void* out, int64_t scratch_bytes, const Make& make, const Body& body) const {
    if (CourseRecord::now()) [[unlikely]]
      note_course({.route = inner == 1 ? "along" : "across", .stores = "in place", .scratch_bytes = scratch_bytes});
    // exact: inside the storage
    const int64_t block = length * inner, together = std::max<int64_t>(kPartElements / block, 1);
    run_or_plan(out, (outer + together - 1) / together, make, [&](auto& state, int64_t part) {
      check_interrupt();
      const int64_t first = part * together;
      body(state, first * block, std::min(outer - first, together));
    });
  }
};

/// Integers of eight bytes gain nothing by vectors: a sum of two takes one cycle.
template <class T>
constexpr bool transposes_rows = std::is_floating_point_v<T> || sizeof(T) < 8;

template <class Sum, class T>
void scan_rows(const T* from, T* to, int64_t rows, int64_t length) {
  // exact: inside the storage
  for (int64_t count = kRowsTogether; transposes_rows<T> && length >= kShortest && rows >= kFewest; rows -= count) {
    count = std::min(count, rows);
    scan_transposed<Sum>(from, to, length, count);
    from += count * length;
    to += count * length;
  }
  for (; rows >= 4; rows -= 4, from += 4 * length, to += 4 * length) scan_four_rows<Sum>(from, to, length);
  for (; rows > 0; --rows, from += length, to += length) scan_row<Sum>(from, to, length);
}

// Rows beyond the caches are scanned in a block of at most so many bytes, which goes to memory by whole cache lines.
// Bench: ./dev bench --sweep, scans.
constexpr int64_t kBlockBytes = 512 << 10;
// Rows gain by it from so many bytes on, those that are scanned as they lie up to so many: in others the processor
// reads ahead.
constexpr int64_t kTransposedRowBytes = 128, kFewRowBytes = 512, kManyRowBytes = 4096;

/// What a thread needs while it scans.
struct ScanMemory {
  ScanMemory(int64_t sum_bytes, int64_t block_bytes)
      : sums(sum_bytes), block(block_bytes), output(block_bytes > 0 ? StreamedOutput::bytes(kLine) : 0) {}
  Scratch sums;
  Scratch block;  // empty: results are written where they belong
  StreamedOutput output;
};

/// Bytes of the block for rows that need one; 0: none.
template <class T>
int64_t far_block_bytes(const Blocks& blocks) {
  // exact: at most the storage's bytes
  const int64_t row = blocks.length * static_cast<int64_t>(sizeof(T));
  const bool is_far = blocks.inner == 1 && blocks.outer * row > streaming_threshold();
  const bool gains = transposes_rows<T> ? row >= kTransposedRowBytes
                                        : (blocks.outer >= 4 && row >= kFewRowBytes && row < kManyRowBytes);
  return is_far && gains && kRowsTogether * row <= kBlockBytes ? kRowsTogether * row : 0;
}

template <class Sum, class T>
void scan_far_rows(const T* from, T* to, int64_t rows, int64_t length, ScanMemory& memory) {
  T* const block = reinterpret_cast<T*>(memory.block.data());
  // exact: inside the storage
  for (int64_t count = 0; rows > 0; rows -= count, from += count * length, to += count * length) {
    count = std::min(kRowsTogether, rows);
    std::copy_n(from, count * length, block);
    scan_rows<Sum>(block, block, count, length);
    stream_bytes(reinterpret_cast<std::byte*>(to), memory.block.data(),
                 count * length * static_cast<int64_t>(sizeof(T)), memory.output);
  }
  memory.output.flush();
  hwy::FlushStream();  // makes streaming stores visible before the caller continues
}

template <class Sum, class T>
void scan_blocks(const T* from, T* to, int64_t count, const Blocks& blocks, ScanMemory& memory) {
  static constexpr auto kNarrow = []<std::size_t... kInner>(std::index_sequence<kInner...>) {
    return std::array{&scan_few_columns<Sum, T, kInner + 1>...};
  }
  (std::make_index_sequence<kFew>());
  if (memory.output.is_open()) return scan_far_rows<Sum>(from, to, count, blocks.length, memory);
  if (blocks.inner == 1) return scan_rows<Sum>(from, to, count, blocks.length);
  const int64_t block = blocks.length * blocks.inner;  // exact: inside the storage
  for (; count > 0; --count, from += block, to += block)
    if (blocks.inner <= kFew)
      kNarrow[static_cast<std::size_t>(blocks.inner - 1)](from, to, blocks.length);
    else
      scan_columns<Sum>(from, to, blocks.length, blocks.inner, reinterpret_cast<Sum*>(memory.sums.data()));
}

/// Running sums along `dim` of a row-major tensor with elements. `to` has its dtype and may be the same tensor. Floats
/// are summed in `Float`, complex numbers part by part; integers wrap.
template <class Float>
void scan(const Tensor& self, const Tensor& sums, int64_t dim) {
  const Blocks blocks(self.sizes(), dim, is_complex(self.dtype()) ? 2 : 1);
  visit_dtype(to_real(self.dtype()), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool> && !is_half_v<T> && !is_complex_v<T>) {
      using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, Float>;
      const T* const from = reinterpret_cast<const T*>(self.impl()->data());
      T* const to = reinterpret_cast<T*>(sums.impl()->data());
      const int64_t kept = (blocks.inner <= kFew ? 0 : blocks.inner) * static_cast<int64_t>(sizeof(Sum));
      const int64_t block = far_block_bytes<T>(blocks);
      blocks.for_each(
          to, kept + block, [&] { return ScanMemory(kept, block); },
          [&](ScanMemory& memory, int64_t first, int64_t count) {
            scan_blocks<Sum>(from + first, to + first, count, blocks, memory);
          });
    }
  });
}

// --- cummax and cummin

/// Whether an element replaces the running extreme. NaN and an equal element do.
template <bool largest, class T>
bool wins(T element, T before) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(before)) return std::isnan(element);
  return largest ? !(element < before) : !(element > before);
}

// Elements that are compared together with the running extreme. Bench: tenon_bench --filter '^cummax/'.
constexpr int64_t kComparedTogether = 16;

/// Whether none of the next elements replaces the running extreme.
template <bool largest, class T>
bool stays(const T* from, T best) {
  int below = 0;
  for (int64_t i = 0; i < kComparedTogether; ++i) below += largest ? from[i] < best : from[i] > best;
  return below == kComparedTogether;
}

/// The running extremes of a row and their indices.
template <bool largest, class T>
void scan_extremes(const T* from, T* to, int64_t* indices, int64_t length) {
  T best = from[0];
  int64_t at = 0;
  for (int64_t start = 0; start < length; start += kComparedTogether) {
    // exact: inside the row
    const int64_t end = std::min(start + kComparedTogether, length);
    // Baseline instructions have no comparison of vectors of int64.
    if (sizeof(T) < 8 && end - start == kComparedTogether && stays<largest>(from + start, best)) {
      for (int64_t i = 0; i < kComparedTogether; ++i) to[start + i] = best;
      for (int64_t i = 0; i < kComparedTogether; ++i) indices[start + i] = at;
      continue;
    }
    for (int64_t i = start; i < end; ++i) {
      const bool takes = wins<largest>(from[i], best);
      if constexpr (std::is_integral_v<T>) {  // without a branch: short rows have many new extremes
        best = takes ? from[i] : best;
        at = takes ? i : at;
      } else if (takes) {
        best = from[i];
        at = i;
      }
      to[i] = best;
      indices[i] = at;
    }
  }
}

/// The same along the first dim of [length, inner] elements.
template <bool largest, class T>
void scan_extremes(const T* from, T* to, int64_t* indices, int64_t length, int64_t inner) {
  std::copy_n(from, inner, to);
  std::fill_n(indices, inner, 0);
  for (int64_t row = 1; row < length; ++row)
    for (int64_t i = 0; i < inner; ++i) {
      // exact: inside the storage
      const int64_t at = row * inner + i;
      const T element = from[at], before = to[at - inner];
      const bool takes = wins<largest>(element, before);
      indices[at] = takes ? row : indices[at - inner];
      to[at] = takes ? element : before;
    }
}

/// Running extremes along `dim` of a row-major tensor with elements. `to` has its dtype and may be the same tensor.
template <bool largest>
void scan_extremes(const Tensor& self, const Tensor& values, const Tensor& indices, int64_t dim) {
  const Blocks blocks(self.sizes(), dim);
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (!is_half_v<T> && !is_complex_v<T>) {
      const T* const from = reinterpret_cast<const T*>(self.impl()->data());
      T* const to = reinterpret_cast<T*>(values.impl()->data());
      auto* const places = reinterpret_cast<int64_t*>(indices.impl()->data());
      blocks.for_each(
          to, 0, [] { return nullptr; },
          [&](std::nullptr_t, int64_t first, int64_t count) {
            // exact: inside the storages
            const int64_t block = blocks.length * blocks.inner;
            for (int64_t at = first; at < first + count * block; at += block)
              if (blocks.inner == 1)
                scan_extremes<largest>(from + at, to + at, places + at, blocks.length);
              else
                scan_extremes<largest>(from + at, to + at, places + at, blocks.length, blocks.inner);
          });
    }
  });
}

/// The tensor in `dtype` and row-major; the same tensor if it is that already.
Tensor laid_out(const Tensor& self, Dtype dtype) {
  return self.dtype() == dtype && self.is_contiguous() ? self : run_to(self, dtype, MemoryFormat::contiguous);
}

template <bool largest>
std::tuple<Tensor, Tensor> extremes(Op op, const Tensor& self, int64_t dim) {
  if (self.dim() == 0 && dim != 0 && dim != -1)
    throw IndexError(std::string(row_of(op).name) + "(): Expected reduction dim -1 or 0 for scalar but got " +
                     std::to_string(dim));
  // PyTorch does not check `dim` if there are no elements.
  const int64_t along = self.numel() > 0 ? wrap_dim(dim, self.dim()) : 0;
  if (self.dim() > 0 && self.numel() > 0 && is_computed(self)) check_has_code(row_of(op), self.dtype());
  Tensor indices = new_tensor(self.sizes(), int64, self.device());
  if (self.numel() == 0 || !is_computed(self))
    return {new_tensor(self.sizes(), self.dtype(), self.device()), std::move(indices)};
  if (self.dim() == 0) {  // a copy, even of dtypes without order
    write_fill(indices, 0);
    return {run_clone(self, MemoryFormat::contiguous), std::move(indices)};
  }
  const Dtype inside = is_half(self.dtype()) ? float32 : self.dtype();
  const Tensor rows = laid_out(self, inside);
  const Tensor values = rows.is(self) ? new_tensor(self.sizes(), inside, self.device()) : rows;
  scan_extremes<largest>(rows, values, indices, along);
  return {laid_out(values, self.dtype()), std::move(indices)};
}

void check_scalar_type(const Tensor& out, Dtype wanted) {
  if (out.dtype() != wanted)
    throw Error(std::string("expected scalar_type ") + scalar_type_name(wanted) + " but found " +
                scalar_type_name(out.dtype()));
}
std::tuple<Tensor&, Tensor&> write_extremes(Op op, Tensor& values, Tensor& indices, const Tensor& self,
                                            std::tuple<Tensor, Tensor> (*run)(const Tensor&, int64_t), int64_t dim) {
  check_unrecorded(op, values, self);
  check_unrecorded(op, indices, self);
  check_scalar_type(values, self.dtype());
  check_scalar_type(indices, int64);
  Tensor* const outs[] = {&values, &indices};
  write_results(op, outs, as_list(run(self, dim)));
  return {values, indices};
}

}  // namespace

namespace {

// Elements that are summed in a fraction of a second.
constexpr int64_t kUninterrupted = int64_t{1} << 26;

/// Whether the sums can be computed where they are wanted. What takes long can be interrupted while they are nobody's.
bool takes_sums(const Tensor& out, const Tensor& input) {
  const bool is_long = thread_interrupt_source && input.numel() > kUninterrupted;
  return out.is_contiguous() && out.sizes() == input.sizes() && !is_half(out.dtype()) && !is_long && !out.is_meta() &&
         !storages_meet(out.impl()->storage, input.impl()->storage);
}

/// The running sums; in `out`, if it takes them.
Tensor running_sums(const Tensor& input, int64_t dim, Dtype result, const Tensor* out) {
  const int64_t along = wrap_dim(dim, input.dim());
  if (is_computed(input)) warn_of_lost_parts(input.dtype(), result, input.numel());
  if (input.dim() == 0 || input.numel() == 0 || !is_computed(input))
    return run_to(input, result, MemoryFormat::contiguous);
  check_has_code(row_of(Op::cumsum), result);
  const Tensor rows = laid_out(input, result);
  if (out && takes_sums(*out, input)) {
    const Uninterrupted whole;
    scan<double>(rows, *out, along);
    bump_version(*out);
    return *out;
  }
  const Tensor wide = is_half(result) ? laid_out(rows, float32) : rows;
  const Tensor sums = wide.is(input) ? new_tensor(input.sizes(), result, input.device()) : wide;
  if (is_half(result))
    scan<float>(wide, sums, along);
  else
    scan<double>(wide, sums, along);
  return laid_out(sums, result);
}

}  // namespace

Tensor plain::cumsum(const Tensor& input, int64_t dim, std::optional<Dtype> dtype) {
  return running_sums(input, dim, dtype ? *dtype : is_inexact(input.dtype()) ? input.dtype() : int64, nullptr);
}

Tensor& plain::cumsum_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  check_unrecorded(Op::cumsum, out, self);
  wrap_dim(dim, self.dim());
  if (dtype) check_strict_out(out, *dtype);
  if (out.sizes() == self.sizes()) check_no_partial_overlap(out, self);
  return write_result(Op::cumsum, out, running_sums(self, dim, out.dtype(), &out));
}

std::tuple<Tensor, Tensor> plain::cummax(const Tensor& self, int64_t dim) {
  return extremes<true>(Op::cummax, self, dim);
}
std::tuple<Tensor, Tensor> plain::cummin(const Tensor& self, int64_t dim) {
  return extremes<false>(Op::cummin, self, dim);
}
std::tuple<Tensor&, Tensor&> plain::cummax_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  return write_extremes(Op::cummax, values, indices, self, &plain::cummax, dim);
}
std::tuple<Tensor&, Tensor&> plain::cummin_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  return write_extremes(Op::cummin, values, indices, self, &plain::cummin, dim);
}

void plain::cumsum_inplace(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  wrap_dim(dim, self.dim());
  if (dtype && *dtype != self.dtype())
    throw Error(std::string("Bad in-place call: input tensor dtype ") + cpp_type_name(self.dtype()) +
                " and output tensor dtype " + cpp_type_name(*dtype) + " should match");
  run_copy(self, plain::cumsum(self, dim, self.dtype()));
}

}  // namespace tenon
