// Scans along one dim: cumsum, cummax and cummin.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/keys.h"
#include "dispatch/plain.h"
#include "hwy/cache_control.h"
#include "kernel/kernel.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/streamed.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// Extremes of 16-bit floats are those of float32, rounded at the end.
bool is_half(Dtype dtype) { return is_floating_point(dtype) && itemsize(dtype) == 2; }

// Rows are summed by eights.
constexpr int64_t kRowsTogether = 8;

// Elements of a thread's part: work that is smaller stays on the caller. Bench: tenon_bench --filter
// '^(cumsum|cummax)/'.
constexpr int64_t kPartElements = 1 << 15;

/// What elements are summed in.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, uint64_t, std::conditional_t<is_half_v<T>, float, double>>;

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

// The processor reads ahead in four long rows at once, and in rows that follow each other. Bench: ./dev bench --sweep,
// scans.
constexpr int64_t kManyRowBytes = 4096, kOneByOneBytes = 128;

/// Whether four rows at once are slower, because they come from beyond the caches.
template <class T>
bool goes_one_by_one(int64_t length, bool is_far) {
  const int64_t bytes = length * static_cast<int64_t>(sizeof(T));
  return is_far && bytes >= kOneByOneBytes && bytes < kManyRowBytes;
}
template <class Sum, class T>
void scan_few_rows(const T* from, T* to, int64_t rows, int64_t length, bool is_far) {
  for (; rows >= 4 && !goes_one_by_one<T>(length, is_far); rows -= 4, from += 4 * length, to += 4 * length)
    scan_four_rows<Sum>(from, to, length);
  for (; rows > 0; --rows, from += length, to += length) scan_row<Sum>(from, to, length);
}

/// Short rows of 16-bit floats are float32 in between. Calls scan(float32 elements, number of rows) for some rows at a
/// time.
template <class T, class Scan>
void scan_widened(const T* from, T* to, int64_t rows, int64_t length, const Scan& scan) {
  constexpr int64_t kPiece = 1024;
  float piece[kPiece];
  const auto half = static_cast<std::size_t>(dtype_of_v<T>), whole = static_cast<std::size_t>(float32);
  // exact: inside the storage
  for (int64_t count = kPiece / length; rows > 0; rows -= count, from += count * length, to += count * length) {
    count = std::min(count, rows);
    const Lanes narrow{from, 1}, wide{piece, 1};
    kernels().cast[half][whole](piece, &narrow, count * length);
    scan(piece, count);
    kernels().cast[whole][half](to, &wide, count * length);
  }
}

// Shorter rows are scanned four at once.
constexpr int64_t kShortest = 8;

/// Whether several rows are scanned as vectors. Elements of eight bytes gain little, and nothing from beyond the
/// caches. Integers and they lose where the rows meet at the same places of the first-level cache. Bench: ./dev bench
/// --sweep, scans.
template <class T>
bool sums_in_vectors(int64_t length, bool is_far) {
  if (length < kShortest || is_half_v<T> || std::is_same_v<T, float>) return length >= kShortest;
  if (sizeof(T) < 4 || length * int64_t{sizeof(T)} % kManyRowBytes == 0) return false;
  return sizeof(T) < 8 || (length >= 2 * kShortest && !is_far);
}

/// Each row of `to` gets the running sums of that row of `from`.
template <class T>
void scan_rows(const T* from, T* to, int64_t rows, int64_t length, bool is_far) {
  if (sums_in_vectors<T>(length, is_far))
    kernels().sum_rows[static_cast<int>(dtype_of_v<T>)](to, from, rows, length, !is_far && from != to);
  else if constexpr (is_half_v<T>)
    scan_widened(from, to, rows, length,
                 [&](float* piece, int64_t count) { scan_few_rows<float>(piece, piece, count, length, false); });
  else
    scan_few_rows<SumOf<T>>(from, to, rows, length, is_far);
}

/// Over [length, kInner] elements: each row of `to` is the sum of the rows of `from` up to it.
template <class Sum, class T, int64_t kInner>
void scan_few_columns(const T* from, T* to, int64_t length) {
  Sum sums[kInner] = {};
  for (int64_t row = 0; row < length; ++row, from += kInner, to += kInner)
#pragma GCC unroll 8
    for (int64_t i = 0; i < kInner; ++i) to[i] = static_cast<T>(sums[i] += static_cast<Sum>(from[i]));
}

// Up to so many columns have code of their own here; float32 and 16-bit floats have none, because their kernels are as
// fast. Bench: ./dev bench --sweep, scans.
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
    const int64_t block = length * inner, many = kPartElements / block, of_thread = outer / get_num_threads();
    const int64_t together = many > kRowsTogether ? many - many % kRowsTogether
                                                  : std::max({many, std::min(of_thread, kRowsTogether), int64_t{1}});
    run_or_plan(out, (outer + together - 1) / together, make, [&](auto& state, int64_t part) {
      check_interrupt();
      const int64_t first = part * together;
      body(state, first * block, std::min(outer - first, together));
    });
  }
};

/// What a thread needs while it scans.
struct ScanMemory {
  ScanMemory(int64_t sum_bytes, int64_t block_bytes)
      : sums(sum_bytes), block(block_bytes), output(block_bytes > 0 ? StreamedOutput::bytes(kLine) : 0) {}
  Scratch sums;
  Scratch block;  // empty: results are written where they belong
  StreamedOutput output;
};

/// Whether rows come from beyond the caches.
template <class T>
bool are_far(const Blocks& blocks) {
  // exact: at most the storage's bytes
  const int64_t row = blocks.length * static_cast<int64_t>(sizeof(T));
  return blocks.inner == 1 && outgrows_cache(blocks.outer * row, blocks.outer * row);
}
// Rows from beyond the caches are scanned in a block of so many bytes, which goes to memory by whole cache lines.
// Longer rows than an eighth of it are written where they belong. Bench: ./dev bench --sweep, scans.
constexpr int64_t kBlockBytes = 8 << 10;

/// Rows of the block; 0: there is none.
template <class T>
int64_t far_block_rows(const Blocks& blocks) {
  const int64_t row = blocks.length * static_cast<int64_t>(sizeof(T));  // exact: at most the storage's bytes
  const bool uses = are_far<T>(blocks) && sums_in_vectors<T>(blocks.length, true) && row <= kBlockBytes / kRowsTogether;
  return uses ? kBlockBytes / row / kRowsTogether * kRowsTogether : 0;
}

template <class T>
void scan_far_rows(const T* from, T* to, int64_t rows, int64_t length, int64_t together, ScanMemory& memory) {
  T* const block = reinterpret_cast<T*>(memory.block.data());
  // exact: inside the storage
  for (int64_t count = 0; rows > 0; rows -= count, from += count * length, to += count * length) {
    count = std::min(together, rows);
    scan_rows(from, block, count, length, true);
    stream_bytes(reinterpret_cast<std::byte*>(to), memory.block.data(),
                 count * length * static_cast<int64_t>(sizeof(T)), memory.output);
  }
  memory.output.flush();
  hwy::FlushStream();  // makes streaming stores visible before the caller continues
}

/// Whether the sums of so many columns stay in registers here.
template <class T>
bool has_few_columns(const Blocks& blocks) {
  return !is_half_v<T> && !std::is_same_v<T, float> && blocks.inner <= kFew;
}

template <class T>
void scan_narrow_block(const T* from, T* to, const Blocks& blocks) {
  using Sum = SumOf<T>;
  static constexpr auto kNarrow = []<std::size_t... kInner>(std::index_sequence<kInner...>) {
    return std::array{&scan_few_columns<Sum, T, kInner + 1>...};
  }
  (std::make_index_sequence<kFew>());
  kNarrow[static_cast<std::size_t>(blocks.inner - 1)](from, to, blocks.length);
}

/// Elements that are sums of their own: 0 is added to them, which makes -0 positive.
template <class T>
void scan_single(const T* from, T* to, int64_t count) {
  const T zero{};
  const Lanes lanes[] = {{from, 1}, {&zero, 0}};
  kernels().elementwise[static_cast<int>(Op::add)][static_cast<int>(dtype_of_v<T>)](to, lanes, count);
}

template <class T>
void scan_blocks(const T* from, T* to, int64_t count, const Blocks& blocks, ScanMemory& memory) {
  if (blocks.length == 1) return scan_single(from, to, count);
  if (memory.output.is_open()) return scan_far_rows(from, to, count, blocks.length, far_block_rows<T>(blocks), memory);
  if (blocks.inner == 1) return scan_rows(from, to, count, blocks.length, are_far<T>(blocks));
  if (!has_few_columns<T>(blocks))
    return kernels().sum_columns[static_cast<int>(dtype_of_v<T>)](to, from, blocks.length, blocks.inner, count,
                                                                  memory.sums.data());
  if constexpr (!is_half_v<T> && !std::is_same_v<T, float>) {
    const int64_t block = blocks.length * blocks.inner;  // exact: inside the storage
    for (; count > 0; --count, from += block, to += block) scan_narrow_block(from, to, blocks);
  }
}

Blocks blocks_of_numbers(const Tensor& self, int64_t dim) {
  return {self.sizes(), dim, is_complex(self.dtype()) ? 2 : 1};
}

/// Whether sums of `self` may be written over it: kernels of float32 and 16-bit floats with less than kFewSummed
/// columns write behind a row before they read what lies there.
bool can_be_overwritten(const Tensor& self, int64_t dim) {
  const int64_t columns = blocks_of_numbers(self, dim).inner;
  return columns == 1 || columns >= kFewSummed || !is_inexact(self.dtype()) || to_real(self.dtype()) == float64;
}

/// Running sums along `dim` of a row-major tensor with elements. `sums` has its dtype; it may be the same tensor if
/// that can be overwritten. Floats are summed in float64, 16-bit ones in float32, complex numbers part by part;
/// integers wrap.
void scan(const Tensor& self, const Tensor& sums, int64_t dim) {
  Blocks blocks = blocks_of_numbers(self, dim);
  if (blocks.length == 1) blocks.outer *= std::exchange(blocks.inner, 1);  // exact: the number of elements
  visit_dtype(to_real(self.dtype()), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool> && !is_complex_v<T>) {
      const T* const from = reinterpret_cast<const T*>(self.impl()->data());
      T* const to = reinterpret_cast<T*>(sums.impl()->data());
      const bool keeps = blocks.inner > 1 && !has_few_columns<T>(blocks);
      // exact: at most the storage's bytes, twice
      const int64_t kept = keeps ? blocks.inner * static_cast<int64_t>(sizeof(SumOf<T>)) : 0;
      const int64_t block = far_block_rows<T>(blocks) * blocks.length * static_cast<int64_t>(sizeof(T));
      blocks.for_each(
          to, kept + block, [&] { return ScanMemory(kept, block); },
          [&](ScanMemory& memory, int64_t first, int64_t count) {
            scan_blocks(from + first, to + first, count, blocks, memory);
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
  std::conditional_t<sizeof(T) == 8, int64_t, int> below = 0;
  for (int64_t i = 0; i < kComparedTogether; ++i) below += largest ? from[i] < best : from[i] > best;
  return below == kComparedTogether;
}

/// So many elements of a row are not compared together. Baseline instructions have no comparison of vectors of int64;
/// of float64 it is slow where many elements are new extremes.
template <class T>
constexpr int64_t compared_apart(int64_t length) {
  constexpr int64_t kManyExtremes = 128;
  return sizeof(T) < 8 ? 0 : std::is_same_v<T, double> ? std::min(length, kManyExtremes) : length;
}

/// A running extreme and its index.
template <bool largest, class T>
struct Extreme {
  T best;
  int64_t at;

  /// Takes element `i` of a row.
  [[gnu::always_inline]] void take(const T* from, T* to, int64_t* indices, int64_t i) {
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
  /// Takes the elements from `i` to `end`.
  [[gnu::always_inline]] void scan(const T* from, T* to, int64_t* indices, int64_t i, int64_t end) {
    for (; i < end; ++i) take(from, to, indices, i);
  }
};

/// Two rows, the second `step` elements behind the first, at once: each element of a row waits for the one before.
/// Bench: ./dev bench --sweep, scans.
template <bool largest, class T>
void scan_two_extremes(const T* from, int64_t step, T* to, int64_t* indices, int64_t length) {
  Extreme<largest, T> first{from[0], 0}, second{from[step], 0};
  for (int64_t i = 0; i < length; ++i) {
    first.take(from, to, indices, i);
    second.take(from + step, to + length, indices + length, i);  // exact: inside the storages
  }
}

/// The running extremes of a row and their indices.
template <bool largest, class T>
void scan_extremes(const T* from, T* to, int64_t* indices, int64_t length) {
  Extreme<largest, T> running{from[0], 0};
  int64_t start = compared_apart<T>(length);
  running.scan(from, to, indices, 0, start);
  for (int64_t end = start; start < length; start = end) {
    end = std::min(start + kComparedTogether, length);  // exact: inside the row
    // exact: inside the row
    if (end - start < kComparedTogether || !stays<largest>(from + start, running.best)) {
      running.scan(from, to, indices, start, end);
      continue;
    }
    std::fill_n(to + start, kComparedTogether, running.best);
    std::fill_n(indices + start, kComparedTogether, running.at);
  }
}

/// The same of `rows` rows, `step` elements apart.
template <bool largest, class T>
void scan_rows_of_extremes(const T* from, int64_t step, T* to, int64_t* indices, int64_t rows, int64_t length) {
  // exact: inside the storages
  if (std::is_integral_v<T> && compared_apart<T>(length) == length)
    for (; rows >= 2; rows -= 2, from += 2 * step, to += 2 * length, indices += 2 * length)
      scan_two_extremes<largest>(from, step, to, indices, length);
  for (; rows > 0; --rows, from += step, to += length, indices += length)
    scan_extremes<largest>(from, to, indices, length);
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

/// Whether the rows along `dim` of a matrix, gaps in between, are read where they lie.
bool has_gaps_between_rows(const Tensor& self, int64_t dim) {
  return self.dim() == 2 && dim == 1 && self.strides()[1] == 1 && !self.is_contiguous();
}

/// Running extremes along `dim` of a tensor with elements, which is row-major or has gaps between its rows. `to` has
/// its dtype and may be the same tensor.
template <bool largest>
void scan_extremes(const Tensor& self, const Tensor& values, const Tensor& indices, int64_t dim) {
  const Blocks blocks(self.sizes(), dim);
  const int64_t step = has_gaps_between_rows(self, dim) ? self.strides()[0] : blocks.length;
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (!is_half_v<T> && !is_complex_v<T>) {
      const T* const from = reinterpret_cast<const T*>(self.impl()->data());
      T* const to = reinterpret_cast<T*>(values.impl()->data());
      auto* const places = reinterpret_cast<int64_t*>(indices.impl()->data());
      blocks.for_each(
          to, 0, [] { return nullptr; },
          [&](std::nullptr_t, int64_t first, int64_t count) {
            // exact: inside the storages
            if (blocks.inner == 1)
              return scan_rows_of_extremes<largest>(from + first / blocks.length * step, step, to + first,
                                                    places + first, count, blocks.length);
            const int64_t block = blocks.length * blocks.inner;
            for (int64_t at = first; at < first + count * block; at += block)
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
  const bool is_read_in_place = has_gaps_between_rows(self, along) && self.dtype() == inside && self.dtype() != bool_;
  const Tensor rows = is_read_in_place ? self : laid_out(with_plain_truths(self), inside);
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
  return out.is_contiguous() && out.sizes() == input.sizes() && !is_long && !out.is_meta() &&
         !storages_meet(out.impl()->storage, input.impl()->storage);
}

/// The running sums; in `out`, if it takes them.
Tensor running_sums(const Tensor& input, int64_t dim, Dtype result, const Tensor* out) {
  const int64_t along = wrap_dim(dim, input.dim());
  if (input.dim() == 0 || input.numel() == 0 || !is_computed(input))
    return run_to(input, result, MemoryFormat::contiguous);
  check_has_code(row_of(Op::cumsum), result);
  const Tensor rows = laid_out(input, result);
  if (out && takes_sums(*out, input)) {
    const Uninterrupted whole;
    scan(rows, *out, along);
    bump_version(*out);
    return *out;
  }
  const bool needs_room = rows.is(input) || !can_be_overwritten(rows, along);
  const Tensor sums = needs_room ? new_tensor(input.sizes(), result, input.device()) : rows;
  scan(rows, sums, along);
  return sums;
}

}  // namespace

Tensor plain::cumsum(const Tensor& input, int64_t dim, std::optional<Dtype> dtype) {
  const Dtype result = dtype ? *dtype : is_inexact(input.dtype()) ? input.dtype() : int64;
  wrap_dim(dim, input.dim());
  if (is_computed(input)) warn_of_lost_parts(input.dtype(), result, input.numel());
  return running_sums(input, dim, result, nullptr);
}

Tensor& plain::cumsum_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  check_unrecorded(Op::cumsum, out, self);
  wrap_dim(dim, self.dim());
  if (dtype) check_strict_out(out, *dtype);
  if (out.sizes() == self.sizes()) check_no_partial_overlap(out, self);
  return write_cast_result(Op::cumsum, out, self, [&] { return running_sums(self, dim, out.dtype(), &out); });
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
