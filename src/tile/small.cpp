#include "tile/small.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

#include "tile/gather.h"
#include "tile/rows.h"
#include "tile/shuffled.h"
#include "tile/streamed.h"

namespace tenon {
namespace {

// Rows of so many bytes begin on a cache line of the output, unless one call computes several rows, which it does up to
// kTogetherBytes. Bench: ./dev bench --sweep, rows and columns.
constexpr int64_t kLongRowBytes = 1024, kTogetherBytes = 2560;
// Copies in chunks may write this many bytes beyond the end.
constexpr int64_t kChunk = 16, kLongChunk = 64;
// A call of a kernel costs as much as copying so many bytes; beyond kSmallBytes, so many elements, as planning does.
// Bench: tenon_bench --filter '^large/(row|column)/L1'.
constexpr int64_t kShortestRowBytes = 64, kShortestPlannedRow = 64;
// Elements of the shortest rows that kernels compute by a mask; a row that is read again and again is soon repeated in
// a tile. Bench: ./dev bench --sweep, columns and rows.
constexpr int64_t kShortestMaskedRow = 12, kShortestRepeatedRow = 24;
// Bytes of such a row if all others are added to it, which few tiles or many share; of a few rows, half a vector.
constexpr int64_t kShortestOnlyRowBytes = 64, kShortestSharedRowBytes = 128, kFewRows = 64, kFewRowBytes = 32;
// Rows of three operands that are computed where they lie. Bench: ./dev bench --sweep, masks.
constexpr int64_t kFairRowBytes = 512;
// Bytes of an operand's tile, and its elements: a few operands stay in the first-level cache. Bench: ./dev bench
// --sweep, mixed dtypes.
constexpr int64_t kTileBytes = 4096, kTileNumel = 2048;
// Bytes of a repeated operand that serve several calls. Bench: ./dev bench --sweep, rows.
constexpr int64_t kPieceBytes = 2048;
// What is expanded may write this many bytes beyond the end.
constexpr int64_t kExpandSlack = 128;

/// Continues a pattern of `period` bytes, at least a piece, at `filled`. Pieces are read from the first `period +
/// kPiece` bytes, because reading what was stored just before would wait for it.
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

__extension__ using Pattern = unsigned __int128;

/// The first `nbytes` bytes there, fewer than 16, and zeros.
inline Pattern load_pattern(const std::byte* from, int64_t nbytes) {
  const auto part = [from]<class Word>(Word word, int64_t at) {
    std::memcpy(&word, from + at, sizeof(Word));
    return static_cast<Pattern>(word) << (8 * at);
  };
  if (nbytes >= 8) return part(uint64_t{}, 0) | part(uint64_t{}, nbytes - 8);
  if (nbytes >= 4) return part(uint32_t{}, 0) | part(uint32_t{}, nbytes - 4);
  if (nbytes >= 2) return part(uint16_t{}, 0) | part(uint16_t{}, nbytes - 2);
  return part(uint8_t{}, 0);
}

/// Writes a pattern of `nbytes` bytes, fewer than 16, until there are `total`.
inline void repeat_pattern(std::byte* to, Pattern pattern, int64_t nbytes, int64_t total) {
  static_assert(std::endian::native == std::endian::little);
  int64_t filled = nbytes;
  for (; filled < kChunk; filled *= 2) pattern |= pattern << (8 * filled);
  const int64_t step = kChunk / nbytes * nbytes;
  for (int64_t i = 0; i < total; i += step) std::memcpy(to + i, &pattern, kChunk);
}

/// Repeats the first `block` bytes until there are `total`.
inline void repeat_block(std::byte* to, int64_t block, int64_t total) {
  if (block < kChunk) return repeat_pattern(to, load_pattern(to, block), block, total);
  if (total < 2 * kLongChunk + block) return void(continue_pattern<kChunk>(to, block, block, total));
  const int64_t long_period = (kLongChunk + block - 1) / block * block;
  const int64_t filled = continue_pattern<kChunk>(to, block, block, long_period + kLongChunk);
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

// So many elements of all loops but the last are named by a list where that is contiguous.
constexpr int64_t kListed = 128, kListedRows = 8;
[[gnu::noinline]] int64_t expand_listed(void* to, const void* from, const int64_t* counts, const int64_t* strides,
                                        int64_t loop, int shift) {
  int64_t offsets[kListed + kListSlack], columns = 1;
  for (int64_t i = 0; i < loop; ++i) columns *= counts[i];
  list_offsets(counts, strides, loop, counts[loop - 1], offsets);
  kernels().move[shift].transpose_listed(to, columns, from, offsets, counts[loop], columns);
  return columns * counts[loop];
}

/// The loops that a list names, which has room for `most` places and offsets of type Offset.
template <class Offset>
int64_t listed_loops(const int64_t* counts, const int64_t* strides, int64_t loops, int64_t most) {
  int64_t inside = 0, listed = 1;
  for (int64_t span = 0; inside < loops && listed * counts[inside] <= most; ++inside) {
    span += (counts[inside] - 1) * strides[inside];  // exact: within the operand
    if (span > std::numeric_limits<Offset>::max()) break;
    listed *= counts[inside];
  }
  return inside;
}
/// Calls move(to, from) for every turn of the loops [inside, loops), each of which fills `nbytes`.
template <class Move>
void for_each_turn(std::byte* to, const std::byte* from, const int64_t* counts, const int64_t* strides, int64_t inside,
                   int64_t loops, int shift, int64_t nbytes, const Move& move) {
  int64_t index[kSmallDims] = {};
  for (;; to += nbytes) {
    move(to, from);
    int64_t loop = inside;
    for (; loop < loops; ++loop) {
      from += strides[loop] * (int64_t{1} << shift);
      if (++index[loop] < counts[loop]) break;
      from -= counts[loop] * strides[loop] * (int64_t{1} << shift);
      index[loop] = 0;
    }
    if (loop == loops) return;
  }
}
inline int64_t total_of(const int64_t* counts, int64_t loops) {
  int64_t total = 1;
  for (int64_t loop = 0; loop < loops; ++loop) total *= counts[loop];
  return total;
}

/// Short loops: element by element from a list, which names the elements of as many loops as it has room for.
constexpr int64_t kPicked = 1024;
[[gnu::noinline]] int64_t expand_picked(void* to, const void* from, const int64_t* counts, const int64_t* strides,
                                        int64_t loops, int shift) {
  const int64_t inside = listed_loops<int32_t>(counts, strides, loops, kPicked), block = total_of(counts, inside);
  int32_t offsets[kPicked + kListSlack];
  list_offsets(counts, strides, inside, inside > 0 ? counts[inside - 1] : 1, offsets);
  const auto pick = kernels().move[shift].pick;
  for_each_turn(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), counts, strides, inside, loops, shift,
                block << shift, [&](std::byte* out, const std::byte* in) { pick(out, in, offsets, block); });
  return total_of(counts, loops);
}
/// The same for runs: the innermost loop is contiguous.
constexpr int64_t kRuns = 512;
[[gnu::noinline]] int64_t expand_runs(void* to, const void* from, const int64_t* counts, const int64_t* strides,
                                      int64_t loops, int shift) {
  const int64_t inside = listed_loops<int64_t>(counts + 1, strides + 1, loops - 1, kRuns);
  const int64_t runs = total_of(counts + 1, inside);
  int64_t offsets[kRuns + kListSlack];
  list_offsets(counts + 1, strides + 1, inside, inside > 0 ? counts[inside] : 1, offsets);
  const auto copy = kernels().move[shift].copy_listed;
  for_each_turn(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), counts, strides, inside + 1, loops,
                shift, (runs * counts[0]) << shift,
                [&](std::byte* out, const std::byte* in) { copy(out, in, offsets, counts[0], runs); });
  return total_of(counts, loops);
}
/// Whether the two innermost loops have so few elements that a call for each of them costs more than a list; a run that
/// is only repeated costs little.
inline bool is_picked(const int64_t* counts, const int64_t* strides) {
  if (strides[0] > 1 && strides[1] == 1) return is_few_transposed(counts);
  return counts[0] * counts[1] < kFewMoved && !(strides[0] == 1 && strides[1] == 0);
}
/// Loops of which the last is contiguous and the others have so few elements that a list names them: transposed.
inline bool is_listed(const int64_t* counts, const int64_t* strides, int64_t loops) {
  if (loops <= 2 || strides[loops - 1] != 1 || counts[loops - 1] < kListedRows) return false;
  int64_t columns = 1;
  for (int64_t i = 0; i < loops - 1; ++i) columns *= counts[i];
  return columns <= kListed;
}
// With fewer elements, or fewer repeated runs, a list of shuffles is not made. Bench: ./dev bench --sweep, both sides.
constexpr int64_t kFewShuffled = 160, kFewRepeats = 32;
/// Memory for a list of shuffles.
struct ShuffleMemory {
  alignas(64) std::byte bytes[ShuffledBlock{0, 1, ShuffledBlock::kMost}.list_bytes(3)];
};
/// How shuffles bring the elements of short loops together; a run that is only repeated is then short. None if there
/// are few elements, or they lie far apart.
[[gnu::noinline]] Shuffled shuffles_of(const int64_t* counts, const int64_t* strides, int64_t loops, int shift,
                                       ShuffleMemory& memory) {
  if (loops <= 2 || strides[loops - 1] == 0) return {};
  const bool repeats = strides[0] == 1 && strides[1] == 0 && counts[0] << shift <= kLongChunk;
  if (!repeats && !is_picked(counts, strides)) return {};
  if (is_listed(counts, strides, loops)) return {};
  if (copies_runs(counts, strides, shift)) return {};
  if (total_of(counts, loops) < (repeats ? kFewRepeats * counts[0] * counts[1] : kFewShuffled)) return {};
  const ShuffledBlock block = ShuffledBlock::of(counts, strides, loops, shift);
  return block ? Shuffled(counts, strides, loops, shift, block, memory.bytes) : Shuffled();
}
/// Returns the number of elements; 0 if there are no such shuffles.
[[gnu::noinline]] int64_t expand_shuffled(void* to, const void* from, const int64_t* counts, const int64_t* strides,
                                          int64_t loops, int shift) {
  ShuffleMemory memory;
  const Shuffled shuffled = shuffles_of(counts, strides, loops, shift, memory);
  if (!shuffled) return 0;
  const auto* const data = static_cast<const std::byte*>(from);
  shuffled.load(static_cast<std::byte*>(to), data, data + (extent(counts, strides, loops) << shift), counts[loops - 1]);
  return total_of(counts, loops);
}

/// Fills `to` with the operand over loops [0, loops). Returns the number of elements.
template <class T>
int64_t expand(T* to, const T* from, const int64_t* counts, const int64_t* strides, int64_t loops) {
  const int64_t loop = loops - 1, count = counts[loop], stride = strides[loop];
  if (loop == 0) {
    if (stride > 1 && count >= kFewMoved)
      kernels().move[std::countr_zero(sizeof(T))].gather(to, from, stride, count, 0, 1);
    else
      expand_run(to, from, stride, count);
    return count;
  }
  const int64_t inner = counts[0];
  if (loop == 1 && stride != 0 && inner * count >= kFewMoved) {
    expand_pair(to, from, strides, counts);
    return inner * count;
  }
  constexpr int kShift = std::countr_zero(sizeof(T));
  if (is_listed(counts, strides, loops)) return expand_listed(to, from, counts, strides, loop, kShift);
  if (loop > 1 && stride != 0) {
    const bool is_few = total_of(counts, loops) < kFewShuffled;
    if (!is_few && copies_runs(counts, strides, kShift)) return expand_runs(to, from, counts, strides, loops, kShift);
    if (!is_few)
      if (const int64_t moved = expand_shuffled(to, from, counts, strides, loops, kShift)) return moved;
    if (is_picked(counts, strides)) return expand_picked(to, from, counts, strides, loops, kShift);
  }
  const int64_t width = static_cast<int64_t>(sizeof(T));
  if (loop == 1 && stride == 0 && strides[0] == 1 && inner * width < kChunk) {
    const std::byte* const run = reinterpret_cast<const std::byte*>(from);
    repeat_pattern(reinterpret_cast<std::byte*>(to), load_pattern(run, inner * width), inner * width,
                   inner * count * width);
    return inner * count;
  }
  const int64_t block = loop == 1 ? inner : expand(to, from, counts, strides, loop);
  const int64_t total = block * count;
  if (loop == 1) expand_run(to, from, strides[0], inner);
  if (stride == 0) {
    repeat_block(reinterpret_cast<std::byte*>(to), block * width, total * width);
  } else if (loop == 1) {
    for (int64_t i = 1; i < count; ++i) expand_run(to + i * block, from + i * stride, strides[0], inner);
  } else {
    for (int64_t i = 1; i < count; ++i) expand(to + i * block, from + i * stride, counts, strides, loop);
  }
  return total;
}

/// An operand's own loops: those that only the other operands keep apart are merged.
struct OwnLoops {
  int64_t counts[kSmallDims], strides[kSmallDims];
  int64_t loops = 1;
  OwnLoops() = default;
  OwnLoops(const int64_t* all, const int64_t* all_strides, int64_t count) {
    counts[0] = all[0];
    strides[0] = all_strides[0];
    int64_t last = 0;
    for (int64_t loop = 1; loop < count; ++loop) {
      if (all_strides[loop] == strides[last] * counts[last]) {
        counts[last] *= all[loop];
        continue;
      }
      counts[++last] = all[loop];
      strides[last] = all_strides[loop];
    }
    loops = last + 1;
  }
};
/// Calls run(data) for each row, or all rows along the next loops, with the operands' elements there. `widths`: their
/// itemsizes; `inside`: the loops of a call, at least one.
template <int kCount, class Run>
inline void for_each_row(const SmallBroadcast<kCount>& broadcast, const int64_t* widths, const Run& run,
                         int64_t inside = 1) {
  const std::byte* data[kCount];
  for (int i = 0; i < kCount; ++i) data[i] = static_cast<const std::byte*>(broadcast.data[i]);
  int64_t index[kSmallDims] = {};
  int64_t numel = broadcast.counts[0];
  for (int64_t loop = 1; loop < inside; ++loop) numel *= broadcast.counts[loop];
  for (int64_t left = broadcast.numel;;) {
    run(data);
    if ((left -= numel) == 0) return;
    for (int64_t loop = inside;; ++loop) {
      const bool wraps = ++index[loop] == broadcast.counts[loop];
      const int64_t turns = wraps ? 1 - broadcast.counts[loop] : 1;
      for (int i = 0; i < kCount; ++i) data[i] += turns * broadcast.strides[i][loop] * widths[i];
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
template <int kCount>
void run_rows_together(const SmallBroadcast<kCount>& broadcast, int64_t out_itemsize, void* out) {
  const int64_t length = broadcast.counts[0], rows = broadcast.counts[1];
  int64_t widths[kCount], steps[kCount];
  for (int i = 0; i < kCount; ++i) {
    widths[i] = broadcast.itemsize_of(i);
    steps[i] = broadcast.strides[i][1] * widths[i];
  }
  std::byte* to = static_cast<std::byte*>(out);
  const auto run = [&](const std::byte* const* data) {
    Lanes lanes[kCount];
    for (int i = 0; i < kCount; ++i) lanes[i] = {data[i], broadcast.strides[i][0]};
    broadcast.rows_kernel(to, length * out_itemsize, lanes, steps, length, rows);
    to += rows * length * out_itemsize;
  };
  for_each_row(broadcast, widths, run, 2);
}

/// Calls the kernel for each row.
template <int kCount>
void run_rows(const SmallBroadcast<kCount>& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  const int64_t length = broadcast.counts[0];
  int64_t widths[kCount], narrowest = out_itemsize;
  bool is_input = false;
  for (int i = 0; i < kCount; ++i) {
    widths[i] = broadcast.itemsize_of(i);
    narrowest = std::min(narrowest, widths[i]);
    is_input = is_input || broadcast.data[i] == out;
  }
  const RowCalls calls = is_input ? RowCalls{length, 0} : RowCalls::of(length, narrowest);
  const int64_t start = length - calls.last;
  const bool is_long = !is_input && length * out_itemsize >= kLongRowBytes;
  const int64_t block = kLine / narrowest;
  std::byte* to = static_cast<std::byte*>(out);
  for_each_row(broadcast, widths, [&](const std::byte* const* data) {
    const auto run = [&](int64_t from, int64_t lanes_count) {
      Lanes lanes[kCount];
      for (int i = 0; i < kCount; ++i)
        lanes[i] = {data[i] + from * broadcast.strides[i][0] * widths[i], broadcast.strides[i][0]};
      kernel(to + from * out_itemsize, lanes, lanes_count);
    };
    const int64_t head = is_long ? lanes_before_line(to, out_itemsize) : 0;
    if (head > 0) run(0, block);
    run(head, calls.first - head);
    if (calls.last > 0) run(start, calls.last);
    to += length * out_itemsize;
  });
}

/// Whether the operand's elements over loops [0, loops) follow each other in memory as the result's do.
inline bool is_whole(const int64_t* counts, const int64_t* strides, int64_t loops) {
  int64_t expected = 1;
  for (int64_t loop = 0; loop < loops; ++loop) {
    if (strides[loop] != expected) return false;
    expected *= counts[loop];
  }
  return true;
}

template <class T>
void expand_merged(T* to, const T* from, const int64_t* counts, const int64_t* strides, int64_t loops) {
  const OwnLoops own(counts, strides, loops);
  expand(to, from, own.counts, own.strides, own.loops);
}
template <class T>
void expand_bytes(std::byte* to, const std::byte* from, const OwnLoops& own) {
  expand(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), own.counts, own.strides, own.loops);
}
using Expand = void (*)(std::byte* to, const std::byte* from, const OwnLoops& own);
Expand expand_of(int64_t itemsize) {
  static constexpr Expand all[] = {&expand_bytes<uint8_t>, &expand_bytes<uint16_t>, &expand_bytes<uint32_t>,
                                   &expand_bytes<uint64_t>, &expand_bytes<Complex128>};
  return all[std::countr_zero(static_cast<uint64_t>(itemsize))];
}

/// The loops of a result in tiles: whole turns of the loops before `cut`, and some turns of that.
struct Cut {
  int64_t loop = 0;
  int64_t inner = 1;  // elements of a turn
  int64_t turns;      // of a tile

  Cut(const int64_t* counts, int64_t loops, int64_t most) {
    while (loop < loops - 1 && inner * counts[loop] <= most) inner *= counts[loop++];
    turns = std::clamp(most / inner, int64_t{1}, counts[loop]);
    const int64_t tiles = (counts[loop] + turns - 1) / turns;
    turns = (counts[loop] + tiles - 1) / tiles;  // tiles of equal length
  }
};

template <int kCount>
Cut cut_of(const SmallBroadcast<kCount>& broadcast) {
  return {broadcast.counts, broadcast.loops, std::min(kTileBytes / broadcast.itemsize, kTileNumel)};
}

/// An operand's elements of a tile. Casts what the tile reads, then expands it, unless rows are computed where they
/// lie.
class TileOperand {
 public:
  template <int kCount>
  void prepare(const SmallBroadcast<kCount>& broadcast, int i, const Cut& cut, bool in_rows) {
    const int64_t* const counts = broadcast.counts;
    const int64_t* const strides = broadcast.strides[i];
    cast_ = broadcast.casts[i];
    moves_ = strides[cut.loop] != 0;
    is_one_ = !moves_;
    for (int64_t loop = 0; loop < cut.loop; ++loop) {
      if (strides[loop] == 0) continue;
      read_ *= counts[loop];
      is_one_ = false;
    }
    step_ = in_rows ? strides[0] : is_one_ ? 0 : 1;
    expands_ = !in_rows && !is_one_ && !is_whole(counts, strides, cut.loop + 1);
    if (expands_) prepare_to_expand(counts, strides, cut, broadcast.itemsize_of(i));
  }
  Lanes lanes(const std::byte* from, int64_t turns) {
    if (!cast_ && !expands_) return {from, step_};
    if (from == built_ && turns <= turns_) return {expands_ ? expanded_ : casted_, step_};
    built_ = from;
    turns_ = turns;
    if (cast_) {
      const Lanes given{from, 1};
      cast_(casted_, &given, moves_ ? read_ * turns : read_);
      from = casted_;
    }
    if (!expands_) return {from, step_};
    expand(from, turns);
    return {expanded_, step_};
  }

 private:
  void prepare_to_expand(const int64_t* counts, const int64_t* strides, const Cut& cut, int64_t itemsize) {
    own_ = OwnLoops(counts, strides, cut.loop + 1);
    rows_ = own_.counts[own_.loops - 1] / counts[cut.loop];
    own_.counts[own_.loops - 1] = rows_ * cut.turns;
    shift_ = std::countr_zero(static_cast<uint64_t>(itemsize));
    expand_ = expand_of(itemsize);
    shuffled_ = shuffles_of(own_.counts, own_.strides, own_.loops, shift_, shuffles_);
  }
  void expand(const std::byte* from, int64_t turns) {
    own_.counts[own_.loops - 1] = rows_ * turns;
    if (!shuffled_) return expand_(expanded_, from, own_);
    const std::byte* const end = from + (extent(own_.counts, own_.strides, own_.loops) << shift_);
    shuffled_.load(expanded_, from, end, rows_ * turns);
  }

  int64_t step_;
  Kernel cast_;
  bool moves_, is_one_, expands_;
  int64_t read_ = 1;  // elements of a turn
  OwnLoops own_;
  int64_t rows_;  // turns of the last of them in one of the tile's
  int shift_;
  Expand expand_;
  ShuffleMemory shuffles_;
  Shuffled shuffled_;
  const std::byte* built_ = nullptr;  // the elements that were made lanes last
  int64_t turns_ = 0;
  alignas(64) std::byte casted_[kTileBytes];
  alignas(64) std::byte expanded_[kTileBytes + kExpandSlack];
};

/// Calls the kernel for each tile, or the kernel for rows.
template <int kCount>
[[gnu::noinline]] void run_tiles(const SmallBroadcast<kCount>& broadcast, Kernel kernel, int64_t out_itemsize,
                                 void* out) {
  const Cut cut = cut_of(broadcast);
  const bool in_rows = broadcast.rows_kernel && cut.loop == 1 && broadcast.has_rows();
  TileOperand operands[kCount];
  int64_t widths[kCount], steps[kCount];
  for (int i = 0; i < kCount; ++i) {
    operands[i].prepare(broadcast, i, cut, in_rows);
    widths[i] = broadcast.casts[i] ? broadcast.widths[i] : broadcast.itemsize_of(i);
    steps[i] = broadcast.strides[i][cut.loop] * broadcast.itemsize_of(i);
  }
  std::byte* to = static_cast<std::byte*>(out);
  const auto run = [&](const std::byte* const* data) {
    for (int64_t turn = 0, turns; turn < broadcast.counts[cut.loop]; turn += turns) {
      turns = std::min(cut.turns, broadcast.counts[cut.loop] - turn);
      Lanes lanes[kCount];
      for (int i = 0; i < kCount; ++i)
        lanes[i] = operands[i].lanes(data[i] + turn * broadcast.strides[i][cut.loop] * widths[i], turns);
      if (in_rows)
        broadcast.rows_kernel(to, cut.inner * out_itemsize, lanes, steps, cut.inner, turns);
      else
        kernel(to, lanes, cut.inner * turns);
      to += cut.inner * turns * out_itemsize;
    }
  };
  for_each_row(broadcast, widths, run, cut.loop + 1);
}

/// Calls the kernel for pieces of the result, which share a piece of operand `i`: that is repeated along the last loop,
/// in which the other one is whole.
[[gnu::noinline]] void run_pieces(const SmallBroadcast<2>& broadcast, int i, Kernel kernel, int64_t out_itemsize,
                                  void* out) {
  alignas(64) std::byte buffer[kSmallBytes + kExpandSlack];
  const int64_t last = broadcast.loops - 1, turn = total_of(broadcast.counts, last);
  const int64_t turns = std::max(kPieceBytes / (turn * broadcast.itemsize), int64_t{1}), piece = turns * turn;
  OwnLoops own(broadcast.counts, broadcast.strides[i], broadcast.loops);
  own.counts[own.loops - 1] = turns;  // no other loop is repeated after the last one
  expand_of(broadcast.itemsize)(buffer, static_cast<const std::byte*>(broadcast.data[i]), own);
  const auto* whole = static_cast<const std::byte*>(broadcast.data[1 - i]);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t left = broadcast.numel; left > 0; left -= piece) {
    Lanes lanes[2];
    lanes[i] = {buffer, 1};
    lanes[1 - i] = {whole, 1};
    kernel(to, lanes, std::min(left, piece));
    whole += piece * broadcast.itemsize;
    to += piece * out_itemsize;
  }
}
/// The operand that is repeated along the last loop beside a whole one; -1: there is none.
int repeated_operand(const SmallBroadcast<2>& broadcast) {
  for (int i = 0; i < 2; ++i)
    if (broadcast.strides[i][broadcast.loops - 1] == 0)
      return is_whole(broadcast.counts, broadcast.strides[1 - i], broadcast.loops) ? i : -1;
  return -1;
}
/// The same for two operands that fit in one tile and are not cast: of known type, because they may be tiny.
template <class T>
void run_one_tile(const SmallBroadcast<2>& broadcast, Kernel kernel, void* out) {
  alignas(64) T buffers[2][kSmallBytes / static_cast<int64_t>(sizeof(T)) + kLongChunk];
  Lanes lanes[2];
  for (int i = 0; i < 2; ++i) {
    const bool whole = is_whole(broadcast.counts, broadcast.strides[i], broadcast.loops);
    lanes[i] = {whole ? broadcast.data[i] : buffers[i], 1};
    if (!whole)
      expand_merged(buffers[i], static_cast<const T*>(broadcast.data[i]), broadcast.counts, broadcast.strides[i],
                    broadcast.loops);
  }
  kernel(out, lanes, broadcast.numel);
}

}  // namespace

template <int kCount>
void SmallBroadcast<kCount>::add_loop(int64_t count, const int64_t* own) noexcept {
  if (count == 1) return;
  const int64_t last = loops - 1;
  bool merges = loops > 0;
  for (int i = 0; merges && i < kCount; ++i) merges = own[i] == strides[i][last] * counts[last];
  if (merges) {
    counts[last] *= count;
    return;
  }
  counts[loops] = count;
  for (int i = 0; i < kCount; ++i) strides[i][loops] = own[i];
  ++loops;
}

template <int kCount>
bool SmallBroadcast<kCount>::set(const StridedView* operands, int64_t width, int64_t most, bool are_dense,
                                 ResultStrides result) noexcept {
  ndim = 0;
  for (int i = 0; i < kCount; ++i) ndim = std::max(ndim, operands[i].sizes.size());
  if (ndim > kSmallDims) return false;
  // More elements than fit need long rows. The result has at least those of each operand.
  const bool needs_rows = !are_dense && most * width > kSmallBytes;
  itemsize = width;
  is_dense = are_dense;
  numel = 1;
  loops = 0;
  int64_t last_stride[kCount] = {}, last_size[kCount] = {};
  for (int64_t back = 1; back <= ndim; ++back) {
    int64_t own[kCount], size = 1;
    for (int i = 0; i < kCount; ++i) {
      const SizesView shape = operands[i].sizes;
      own[i] = back <= shape.size() ? shape[shape.size() - back] : 1;
      if (!sizes_broadcast(size, own[i])) return false;
      size = broadcast_size(size, own[i]);
    }
    sizes[ndim - back] = size;
    numel *= size;
    if (numel > limit) return false;
    int64_t own_strides[kCount];
    for (int i = 0; i < kCount; ++i) {
      const int64_t dims = operands[i].sizes.size();
      const bool moves = back <= dims && (own[i] != 1 || size == 1);
      const int64_t stride = moves ? operands[i].strides[dims - back] : 0;
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
  return loops > 0 && (are_dense || numel * itemsize <= kSmallBytes || has_rows());
}

template <int kCount>
bool SmallBroadcast<kCount>::casts_any() const noexcept {
  bool any = false;
  for (int i = 0; i < kCount; ++i) any = any || casts[i];
  return any;
}

template <int kCount>
bool SmallBroadcast<kCount>::casts_again() const noexcept {
  const Cut cut = cut_of(*this);
  if (cut.turns == counts[cut.loop]) return false;
  for (int i = 0; i < kCount; ++i) {
    if (!casts[i] || numels[i] <= kSmallNumel) continue;
    const int64_t* const own = strides[i];
    const auto is_repeated = [](int64_t stride) { return stride == 0; };
    const bool moves = !std::all_of(own, own + cut.loop + 1, is_repeated);
    if (moves && std::any_of(own + cut.loop + 1, own + loops, is_repeated)) return true;
  }
  return false;
}

template <int kCount>
int64_t SmallBroadcast<kCount>::shortest_row(bool is_planned) const noexcept {
  if (rows_kernel && masks_rows(itemsize)) {
    const bool repeats = repeats_rows();
    if (repeats && shares_row() && (counts[1] >= kFewRows || counts[0] * itemsize <= kFewRowBytes))
      return (is_planned ? kShortestSharedRowBytes : kShortestOnlyRowBytes) / itemsize;
    return itemsize == 2 || repeats ? kShortestRepeatedRow : kShortestMaskedRow;
  }
  return is_planned && !rows_kernel ? kShortestPlannedRow : kShortestRowBytes / itemsize;
}
template <int kCount>
bool SmallBroadcast<kCount>::repeats_rows() const noexcept {
  bool repeats = false;
  for (int i = 0; loops > 1 && i < kCount; ++i) repeats = repeats || (strides[i][0] != 0 && strides[i][1] == 0);
  return repeats;
}
template <int kCount>
bool SmallBroadcast<kCount>::shares_row() const noexcept {
  bool has_column = false;
  for (int i = 0; i < kCount; ++i) has_column = has_column || (strides[i][0] == 0 && strides[i][1] != 0);
  return loops == 2 && is_dense && !has_column;
}
template <int kCount>
bool SmallBroadcast<kCount>::has_rows_of(int64_t shortest) const noexcept {
  if (counts[0] < shortest) return false;
  bool moves = false;
  for (int i = 0; i < kCount; ++i) {
    if (strides[i][0] != 0 && strides[i][0] != 1) return false;
    moves = moves || strides[i][0] == 1;
  }
  return moves;
}
template <int kCount>
bool SmallBroadcast<kCount>::has_rows() const noexcept {
  return has_rows_of(shortest_row(numel * itemsize > kSmallBytes));
}
template <int kCount>
bool SmallBroadcast<kCount>::fills_in_order() const noexcept {
  const int64_t* const own = strides[kCount - 1];
  int64_t reach = 1;
  for (int64_t loop = 0; loop < loops; ++loop) {
    if (own[loop] < reach) return false;
    reach = own[loop] * counts[loop];
  }
  return true;
}
template <int kCount>
bool SmallBroadcast<kCount>::is_in_rows() const noexcept {
  bool moves = false;  // an input
  for (int i = 0; i < kCount; ++i) {
    if (strides[i][0] != 0 && strides[i][0] != 1) return false;
    moves = moves || (i < kCount - 1 && strides[i][0] == 1);
  }
  return moves;
}
template struct SmallBroadcast<1>;
template struct SmallBroadcast<2>;
template struct SmallBroadcast<3>;
template struct SmallBroadcast<4>;

namespace {

template <int kCount>
bool takes_rows_together(const SmallBroadcast<kCount>& broadcast, int64_t out_itemsize) {
  return broadcast.rows_kernel && broadcast.loops > 1 && broadcast.counts[0] * out_itemsize < kTogetherBytes;
}

void run_of_one_dtype(const SmallBroadcast<2>& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  if (broadcast.has_rows()) {
    if (takes_rows_together(broadcast, out_itemsize)) return run_rows_together(broadcast, out_itemsize, out);
    return run_rows(broadcast, kernel, out_itemsize, out);
  }
  if (broadcast.numel * broadcast.itemsize > kSmallBytes) return run_tiles(broadcast, kernel, out_itemsize, out);
  if (broadcast.numel * broadcast.itemsize >= 2 * kPieceBytes)
    if (const int i = repeated_operand(broadcast); i >= 0) return run_pieces(broadcast, i, kernel, out_itemsize, out);
  switch (broadcast.itemsize) {
    case 1:
      return run_one_tile<uint8_t>(broadcast, kernel, out);
    case 2:
      return run_one_tile<uint16_t>(broadcast, kernel, out);
    case 4:
      return run_one_tile<uint32_t>(broadcast, kernel, out);
    case 8:
      return run_one_tile<uint64_t>(broadcast, kernel, out);
    default:
      return run_one_tile<Complex128>(broadcast, kernel, out);
  }
}

/// The same after casts of whole operands into buffers on the stack.
[[gnu::noinline]] void run_cast(SmallBroadcast<2>& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  alignas(64) std::byte buffers[2][kSmallNumel * kMaxItemsize];
  for (int i = 0; i < 2; ++i) {
    if (!broadcast.casts[i]) continue;
    const Lanes from{broadcast.data[i], 1};
    broadcast.casts[i](buffers[i], &from, broadcast.numels[i]);
    broadcast.data[i] = buffers[i];
    broadcast.casts[i] = nullptr;
  }
  run_of_one_dtype(broadcast, kernel, out_itemsize, out);
}

bool fits_buffer(const SmallBroadcast<2>& broadcast, int i) {
  return !broadcast.casts[i] || broadcast.numels[i] <= kSmallNumel;
}

}  // namespace

void run_small(const SmallBroadcast<1>& broadcast, void* out) {
  alignas(64) std::byte expanded[kSmallBytes + kExpandSlack];
  const OwnLoops own(broadcast.counts, broadcast.strides[0], broadcast.loops);
  expand_of(broadcast.itemsize)(expanded, static_cast<const std::byte*>(broadcast.data[0]), own);
  std::memcpy(out, expanded, static_cast<std::size_t>(broadcast.numel * broadcast.itemsize));
}

namespace {

/// Calls the kernel for each row.
template <int kCount>
void run_rows_into(const SmallBroadcast<kCount>& broadcast, Kernel kernel) {
  int64_t widths[kCount];
  std::fill_n(widths, kCount, broadcast.itemsize);
  for_each_row(broadcast, widths, [&](const std::byte* const* data) {
    Lanes lanes[kCount - 1];
    for (int i = 0; i < kCount - 1; ++i) lanes[i] = {data[i], broadcast.strides[i][0]};
    kernel(const_cast<std::byte*>(data[kCount - 1]), lanes, broadcast.counts[0]);
  });
}

}  // namespace

void run_small_into(const SmallBroadcast<2>& broadcast, Kernel kernel) { run_rows_into(broadcast, kernel); }
void run_small_into(const SmallBroadcast<4>& broadcast, Kernel kernel) { run_rows_into(broadcast, kernel); }
void run_small_into(const SmallBroadcast<3>& broadcast, Kernel kernel) {
  const bool in_rows = broadcast.is_in_rows();
  if (in_rows && (!broadcast.rows_kernel || broadcast.loops == 1)) return run_rows_into(broadcast, kernel);
  const int64_t loop = in_rows ? 1 : 0, length = in_rows ? broadcast.counts[0] : 1, rows = broadcast.counts[loop];
  int64_t widths[3], steps[3];
  for (int i = 0; i < 3; ++i) {
    widths[i] = broadcast.itemsize;
    steps[i] = broadcast.strides[i][loop] * broadcast.itemsize;
  }
  const auto run = [&](const std::byte* const* data) {
    const Lanes lanes[] = {{data[0], broadcast.strides[0][0]}, {data[1], broadcast.strides[1][0]}};
    broadcast.rows_kernel(const_cast<std::byte*>(data[2]), steps[2], lanes, steps, length, rows);
  };
  for_each_row(broadcast, widths, run, loop + 1);
}

void run_small(SmallBroadcast<2>& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  if (!broadcast.casts_any()) return run_of_one_dtype(broadcast, kernel, out_itemsize, out);
  if (fits_buffer(broadcast, 0) && fits_buffer(broadcast, 1)) return run_cast(broadcast, kernel, out_itemsize, out);
  run_tiles(broadcast, kernel, out_itemsize, out);
}

void run_small(SmallBroadcast<3>& broadcast, Kernel kernel, int64_t out_itemsize, void* out) {
  const bool has_rows = broadcast.has_rows() && !broadcast.casts_any();
  if (has_rows && takes_rows_together(broadcast, out_itemsize)) return run_rows_together(broadcast, out_itemsize, out);
  if (has_rows && broadcast.counts[0] * broadcast.itemsize >= kFairRowBytes)
    return run_rows(broadcast, kernel, out_itemsize, out);
  run_tiles(broadcast, kernel, out_itemsize, out);
}

}  // namespace tenon
