#include "tile/small.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "tile/rows.h"
#include "tile/streamed.h"

namespace tenon {
namespace {

// Rows of so many bytes begin on a cache line of the output. Bench: ./dev bench --sweep, rows.
constexpr int64_t kLongRowBytes = 1024;
// Copies in chunks may write this many bytes beyond the end.
constexpr int64_t kChunk = 16, kLongChunk = 64;
// A call of a kernel costs as much as copying so many bytes; beyond kSmallBytes, so many elements, as planning does.
// Bench: tenon_bench --filter '^large/(row|column)/L1'.
constexpr int64_t kShortestRowBytes = 64, kShortestPlannedRow = 64;
// Elements of the shortest rows that are cast one by one: tiles of a plan cast several shorter ones together. Bench:
// ./dev bench --sweep, mixed dtypes.
constexpr int64_t kShortestCastRow = 32;

/// Continues a pattern of `period` bytes at `filled`, in pieces. The first `period + kPiece` bytes are there: pieces
/// are read from them, because reading what was stored just before would wait for it.
template <int64_t kPiece>
inline int64_t continue_pattern(std::byte* to, int64_t period, int64_t filled, int64_t total) {
  for (int64_t from = filled - period; filled < total; filled += kPiece, from += kPiece) {
    if (from >= period) from -= period;
    std::memcpy(to + filled, to + from, kPiece);
  }
  return filled;
}
// From this many elements on, a call of a kernel that moves data costs less than moving them one by one.
// Bench: tenon_bench --filter '^tiny/'.
constexpr int64_t kFewMoved = 64;

/// Repeats the first `block` bytes until there are `total`.
inline void repeat_block(std::byte* to, int64_t block, int64_t total) {
  int64_t period = block;
  int64_t filled = block;
  for (; period < kChunk; period += block)
    for (int64_t i = 0; i < block; ++i, ++filled) to[filled] = to[filled - period];
  if (total < 2 * kLongChunk + period) return void(continue_pattern<kChunk>(to, period, filled, total));
  const int64_t long_period = (kLongChunk + period - 1) / period * period;
  filled = continue_pattern<kChunk>(to, period, filled, long_period + kLongChunk);
  continue_pattern<kLongChunk>(to, long_period, filled, total);
}

/// Copies exactly `nbytes` bytes in a few moves of fixed size; the last two may overlap.
inline void copy_bytes(std::byte* to, const std::byte* from, int64_t nbytes) {
  if (nbytes >= kChunk) {
    for (int64_t i = 0; i + kChunk <= nbytes; i += kChunk) std::memcpy(to + i, from + i, kChunk);
    std::memcpy(to + nbytes - kChunk, from + nbytes - kChunk, kChunk);
  } else if (nbytes >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + nbytes - 8, from + nbytes - 8, 8);
  } else if (nbytes >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + nbytes - 4, from + nbytes - 4, 4);
  } else {
    for (int64_t i = 0; i < nbytes; ++i) to[i] = from[i];
  }
}

/// The innermost loop: contiguous, one repeated element, or strided.
template <class T>
inline void expand_run(T* to, const T* from, int64_t stride, int64_t count) {
  constexpr int64_t kWidth = static_cast<int64_t>(sizeof(T)), kPattern = kChunk / kWidth;
  if (stride == 1)
    return copy_bytes(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from), count * kWidth);
  if (stride != 0) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
    return;
  }
  T pattern[kPattern];
  for (T& element : pattern) element = *from;
  for (int64_t i = 0; i < count; i += kPattern) std::memcpy(to + i, pattern, kChunk);
}

/// The two innermost loops by the kernels that move data.
template <class T>
[[gnu::noinline]] void expand_pair(T* to, const T* from, const int64_t* strides, const int64_t* counts) {
  const MoveKernels& move = kernels().move[std::countr_zero(sizeof(T))];
  if (strides[0] == 0 && strides[1] == 1) return move.repeat(to, from, counts[0], counts[1]);
  move.gather(to, from, strides[0], counts[0], strides[1], counts[1]);
}

/// Fills `to` with the operand over loops [0, loops). Returns the number of elements.
template <class T>
int64_t expand(T* to, const T* from, const SmallBroadcast& broadcast, const int64_t* strides, int64_t loops) {
  const int64_t loop = loops - 1, count = broadcast.counts[loop], stride = strides[loop];
  if (loop == 0) {
    if (stride > 1 && count >= kFewMoved)
      kernels().move[std::countr_zero(sizeof(T))].gather(to, from, stride, count, 0, 1);
    else
      expand_run(to, from, stride, count);
    return count;
  }
  const int64_t inner = broadcast.counts[0];
  if (loop == 1 && stride != 0 && inner * count >= kFewMoved) {
    expand_pair(to, from, strides, broadcast.counts);
    return inner * count;
  }
  const int64_t block = loop == 1 ? inner : expand(to, from, broadcast, strides, loop);
  const int64_t total = block * count, width = static_cast<int64_t>(sizeof(T));
  if (loop == 1) expand_run(to, from, strides[0], inner);
  if (stride == 0) {
    repeat_block(reinterpret_cast<std::byte*>(to), block * width, total * width);
  } else if (loop == 1) {
    for (int64_t i = 1; i < count; ++i) expand_run(to + i * block, from + i * stride, strides[0], inner);
  } else {
    for (int64_t i = 1; i < count; ++i) expand(to + i * block, from + i * stride, broadcast, strides, loop);
  }
  return total;
}

/// Calls run(data) for each row, or all rows along the next loop, with both operands' elements there. `widths`: their
/// itemsizes; `inside`: the loops of a call.
template <class Run>
inline void for_each_row(const SmallBroadcast& broadcast, const int64_t* widths, const Run& run, int64_t inside = 1) {
  const std::byte* data[2] = {static_cast<const std::byte*>(broadcast.data[0]),
                              static_cast<const std::byte*>(broadcast.data[1])};
  int64_t index[kSmallDims] = {};
  const int64_t numel = broadcast.counts[0] * (inside == 2 ? broadcast.counts[1] : 1);
  for (int64_t left = broadcast.numel;;) {
    run(data);
    if ((left -= numel) == 0) return;
    for (int64_t loop = inside;; ++loop) {
      const bool wraps = ++index[loop] == broadcast.counts[loop];
      const int64_t turns = wraps ? 1 - broadcast.counts[loop] : 1;
      for (int i = 0; i < 2; ++i) data[i] += turns * broadcast.strides[i][loop] * widths[i];
      if (!wraps) break;
      index[loop] = 0;
    }
  }
}

/// How the rows of an output that is no input are computed: long ones begin with a few lanes that are computed twice,
/// so that the others begin on a cache line. Vectors that cross lines would cost more.
int64_t lanes_before_line(const std::byte* to, int64_t itemsize) {
  return (-static_cast<int64_t>(reinterpret_cast<uintptr_t>(to)) & (kLine - 1)) / itemsize;
}

/// Calls the kernel for rows once for all rows along the next loop.
void run_rows_together(const SmallBroadcast& broadcast, int64_t out_itemsize, void* out) {
  const int64_t length = broadcast.counts[0], rows = broadcast.counts[1], itemsize = broadcast.itemsize;
  const int64_t widths[2] = {itemsize, itemsize};
  const int64_t steps[2] = {broadcast.strides[0][1] * itemsize, broadcast.strides[1][1] * itemsize};
  std::byte* to = static_cast<std::byte*>(out);
  const auto run = [&](const std::byte* const* data) {
    const Lanes lanes[2] = {{data[0], broadcast.strides[0][0]}, {data[1], broadcast.strides[1][0]}};
    broadcast.rows_kernel(to, length * out_itemsize, lanes, steps, length, rows);
    to += rows * length * out_itemsize;
  };
  for_each_row(broadcast, widths, run, 2);
}

/// Calls the kernel for each row.
void run_rows(const SmallBroadcast& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  const int64_t length = broadcast.counts[0];
  const int64_t itemsize = broadcast.itemsize, widths[2] = {itemsize, itemsize},
                steps[2] = {broadcast.strides[0][0], broadcast.strides[1][0]};
  const bool is_input = broadcast.data[0] == out || broadcast.data[1] == out;
  const RowCalls calls = is_input ? RowCalls{length, 0} : RowCalls::of(length, std::min(itemsize, out_itemsize));
  const int64_t start = length - calls.last;
  const bool is_long = !is_input && length * out_itemsize >= kLongRowBytes;
  const int64_t block = kLine / std::min(itemsize, out_itemsize);
  std::byte* to = static_cast<std::byte*>(out);
  for_each_row(broadcast, widths, [&](const std::byte* const* data) {
    const auto run = [&](int64_t from, int64_t lanes_count) {
      const Lanes lanes[2] = {{data[0] + from * steps[0] * itemsize, steps[0]},
                              {data[1] + from * steps[1] * itemsize, steps[1]}};
      kernel(to + from * out_itemsize, lanes, lanes_count);
    };
    const int64_t head = is_long ? lanes_before_line(to, out_itemsize) : 0;
    if (head > 0) run(0, block);
    run(head, calls.first - head);
    if (calls.last > 0) run(start, calls.last);
    to += length * out_itemsize;
  });
}

/// The same for operands that are cast, piece by piece.
[[gnu::noinline]] void run_rows_cast(const SmallBroadcast& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  alignas(64) std::byte buffers[2][kSmallNumel * kMaxItemsize];
  const int64_t length = broadcast.counts[0];
  const int64_t widths[2] = {broadcast.casts[0] ? broadcast.widths[0] : broadcast.itemsize,
                             broadcast.casts[1] ? broadcast.widths[1] : broadcast.itemsize};
  std::byte* to = static_cast<std::byte*>(out);
  for_each_row(broadcast, widths, [&](const std::byte* const* data) {
    for (int64_t start = 0, n; start < length; start += n, to += n * out_itemsize) {
      n = std::min(kSmallNumel, length - start);
      Lanes lanes[2];
      for (int i = 0; i < 2; ++i) {
        const int64_t step = broadcast.strides[i][0];
        const Lanes from{data[i] + start * step * widths[i], 1};
        lanes[i] = {broadcast.casts[i] ? buffers[i] : from.data, step};
        if (broadcast.casts[i]) broadcast.casts[i](buffers[i], &from, step == 0 ? 1 : n);
      }
      kernel(to, lanes, n);
    }
  });
}

/// Whether the operand's elements follow each other in memory as the result's do.
inline bool is_whole(const SmallBroadcast& broadcast, const int64_t* strides) {
  int64_t expected = 1;
  for (int64_t loop = 0; loop < broadcast.loops; ++loop) {
    if (strides[loop] != expected) return false;
    expected *= broadcast.counts[loop];
  }
  return true;
}

template <class T>
void run_sized(const SmallBroadcast& broadcast, Kernel kernel, void* out) {
  alignas(64) T buffers[2][kSmallBytes / static_cast<int64_t>(sizeof(T)) + kLongChunk];
  Lanes lanes[2];
  for (int i = 0; i < 2; ++i) {
    const bool whole = is_whole(broadcast, broadcast.strides[i]);
    lanes[i] = {whole ? broadcast.data[i] : buffers[i], 1};
    if (!whole)
      expand(buffers[i], static_cast<const T*>(broadcast.data[i]), broadcast, broadcast.strides[i], broadcast.loops);
  }
  kernel(out, lanes, broadcast.numel);
}

}  // namespace

void SmallBroadcast::add_loop(int64_t count, const int64_t* own) noexcept {
  if (count == 1) return;
  const int64_t last = loops - 1;
  const bool merges =
      loops > 0 && own[0] == strides[0][last] * counts[last] && own[1] == strides[1][last] * counts[last];
  if (merges) {
    counts[last] *= count;
    return;
  }
  counts[loops] = count;
  strides[0][loops] = own[0];
  strides[1][loops] = own[1];
  ++loops;
}

bool SmallBroadcast::set(SizesView a, SizesView a_strides, SizesView b, SizesView b_strides, int64_t width,
                         int64_t most, ResultStrides result) noexcept {
  ndim = a.size() > b.size() ? a.size() : b.size();
  if (ndim > kSmallDims) return false;
  const SizesView shapes[2] = {a, b}, steps[2] = {a_strides, b_strides};
  // More elements than fit need long rows. The result has at least those of each operand.
  const bool needs_rows = most * width > kSmallBytes;
  itemsize = width;
  numel = 1;
  loops = 0;
  int64_t last_stride[2] = {0, 0}, last_size[2] = {0, 0};
  for (int64_t back = 1; back <= ndim; ++back) {
    int64_t own[2];
    for (int i = 0; i < 2; ++i) own[i] = back <= shapes[i].size() ? shapes[i][shapes[i].size() - back] : 1;
    if (!sizes_broadcast(own[0], own[1])) return false;
    const int64_t dim = ndim - back, size = broadcast_size(own[0], own[1]);
    sizes[dim] = size;
    numel *= size;
    if (numel > kSmallRowsNumel) return false;
    int64_t own_strides[2];
    for (int i = 0; i < 2; ++i) {
      const bool moves = back <= shapes[i].size() && (own[i] != 1 || size == 1);
      const int64_t stride = moves ? steps[i][shapes[i].size() - back] : 0;
      own_strides[i] = stride;
      if (stride == 0 || result == ResultStrides::given) continue;
      // Strides must not get smaller from the last dim to the first: then the result is row-major.
      if (stride < last_stride[i] || (stride == last_stride[i] && last_size[i] > size)) return false;
      last_stride[i] = stride;
      last_size[i] = size;
    }
    add_loop(size, own_strides);
    if (needs_rows && loops > 0 && !has_rows_of(loops == 1 ? 1 : shortest_row(true))) return false;
  }
  return loops > 0 && (numel * itemsize <= kSmallBytes || has_rows());
}

bool SmallBroadcast::casts_many() const noexcept {
  return (casts[0] && numels[0] > kSmallNumel) || (casts[1] && numels[1] > kSmallNumel);
}

int64_t SmallBroadcast::shortest_row(bool is_planned) const noexcept {
  return is_planned && !rows_kernel ? kShortestPlannedRow : kShortestRowBytes / itemsize;
}
bool SmallBroadcast::has_rows_of(int64_t shortest) const noexcept {
  const int64_t a = strides[0][0], b = strides[1][0];
  return counts[0] >= shortest && (a | b) == 1 && a >= 0 && b >= 0;
}
bool SmallBroadcast::has_rows_to_cast() const noexcept { return counts[0] >= kShortestCastRow && has_rows(); }
bool SmallBroadcast::has_rows() const noexcept { return has_rows_of(shortest_row(numel * itemsize > kSmallBytes)); }

namespace {

void run_of_one_dtype(const SmallBroadcast& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  if (broadcast.has_rows()) {
    const bool is_short = broadcast.loops > 1 && broadcast.counts[0] * out_itemsize < kLongRowBytes;
    if (broadcast.rows_kernel && is_short) return run_rows_together(broadcast, out_itemsize, out);
    return run_rows(broadcast, kernel, out_itemsize, out);
  }
  switch (broadcast.itemsize) {
    case 1:
      return run_sized<uint8_t>(broadcast, kernel, out);
    case 2:
      return run_sized<uint16_t>(broadcast, kernel, out);
    case 4:
      return run_sized<uint32_t>(broadcast, kernel, out);
    case 8:
      return run_sized<uint64_t>(broadcast, kernel, out);
    default:
      return run_sized<Complex128>(broadcast, kernel, out);
  }
}

/// The same after casts of whole operands into buffers on the stack.
[[gnu::noinline]] void run_cast(SmallBroadcast& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  alignas(64) std::byte buffers[2][kSmallNumel * kMaxItemsize];
  for (int i = 0; i < 2; ++i) {
    if (!broadcast.casts[i]) continue;
    const Lanes from{broadcast.data[i], 1};
    broadcast.casts[i](buffers[i], &from, broadcast.numels[i]);
    broadcast.data[i] = buffers[i];
  }
  run_of_one_dtype(broadcast, kernel, out_itemsize, out);
}

}  // namespace

void run_small(SmallBroadcast& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  if (!broadcast.casts[0] && !broadcast.casts[1])
    run_of_one_dtype(broadcast, kernel, out_itemsize, out);
  else if (broadcast.casts_many())
    run_rows_cast(broadcast, kernel, out_itemsize, out);
  else
    run_cast(broadcast, kernel, out_itemsize, out);
}

}  // namespace tenon
