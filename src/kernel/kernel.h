// kernel: takes contiguous lanes; gives contiguous lanes. Never sees a shape, a stride or a dtype rule.
// One table per instruction set, chosen once; every entry is a plain function.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernel/distance.h"
#include "kernel/shuffle.h"
#include "ops/row.h"
#include "tenon/dtype.h"
#include "tenon/lanes.h"

namespace tenon {

/// out[row] = the fold of the `n` >= 1 lanes of a row, for `rows` rows that begin `step` lanes apart. Sums and
/// products of 16-bit floats are float32. A row's result does not depend on the others. `is_far`: `in` comes from
/// beyond the caches.
using FoldKernel = void (*)(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far);

/// out[i] = the fold of lane i of `rows` >= 1 rows of `n` lanes that begin `step` lanes apart, and of out[i], too, if
/// it `joins`. Dtypes as of a FoldKernel.
using FoldAcrossKernel = void (*)(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool joins);

/// The same for `count` >= 1 blocks of rows that begin `jump` lanes apart: out[block * n + i] is the fold of lane i of
/// the block's rows. Steps and jumps are not negative.
using FoldBlocksKernel = void (*)(void* out, const void* in, int64_t n, int64_t step, int64_t rows, int64_t jump,
                                  int64_t count);

/// Computes `n` lanes of a chain of elementwise ops (kernel/chain.h). in[0] is the value that it begins with, of step
/// 1; then follows what each link reads beside its value. `out` may be an operand. If it `streams`, `out` is aligned to
/// a cache line, and `n` a multiple of kStreamedLanes.
enum class Link : uint8_t;
using ChainKernel = void (*)(void* out, const Lanes* in, const Link* links, int count, int64_t n, bool streams);

/// Null: there are none.
struct FoldKernels {
  FoldKernel along = nullptr;
  FoldAcrossKernel across = nullptr;
  FoldBlocksKernel blocks = nullptr;
};

/// Copies by element size: index 0 for 1 byte, 1 for 2, 2 for 4, 3 for 8, 4 for 16.
struct MoveKernels {
  /// Reads a two-dimensional block: out[i1 * n0 + i0] = in[i1 * stride1 + i0 * stride0]. Strides in elements.
  void (*gather)(void* out, const void* in, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1);
  /// The same from beyond the second-level cache: steps of 2 to 4 are prefetched.
  void (*gather_far)(void* out, const void* in, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1);
  /// The inverse of gather: out[i1 * stride1 + i0 * stride0] = in[i1 * n0 + i0].
  void (*scatter)(void* out, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1, const void* in);
  /// out[i] = in[i / times] for n * times elements.
  void (*repeat)(void* out, const void* in, int64_t times, int64_t n);
  /// out[i] = value for n elements.
  void (*fill)(void* out, const void* value, int64_t n);
  /// out[row * out_stride + column] = in[column * stride + row].
  void (*transpose)(void* out, int64_t out_stride, const void* in, int64_t stride, int64_t rows, int64_t columns);
  /// out[row * out_stride + column] = in[offsets[column] + row].
  void (*transpose_listed)(void* out, int64_t out_stride, const void* in, const int64_t* offsets, int64_t rows,
                           int64_t columns);
  /// out[run * n + i] = in[offsets[run] + i].
  void (*copy_listed)(void* out, const void* in, const int64_t* offsets, int64_t n, int64_t runs);
  /// out[i] = in[offsets[i]].
  void (*pick)(void* out, const void* in, const int32_t* offsets, int64_t n);
  /// out[row * n + i] = in[row * n + n - 1 - i].
  void (*reverse)(void* out, const void* in, int64_t n, int64_t rows);
  /// out[2 i] = even[i], out[2 i + 1] = odd[i]. Null for elements of 16 bytes.
  void (*interleave)(void* out, const void* even, const void* odd, int64_t n);
};

/// A block of a matrix product: out = a b, or out += a b. Strides are in elements; rows of `out` and `b` are
/// contiguous.
struct ProductBlock {
  void* out;
  int64_t out_stride;  // between rows
  const void* a;
  int64_t a_row, a_depth;
  int64_t a_tile;  // between tiles of rows that are packed; 0: rows lie a_row apart
  const void* b;
  int64_t b_depth;  // between rows
  int64_t b_panel;  // between panels: the columns of one tile
  int64_t rows, columns, depth;
  bool adds;
};
/// A batch of products. The rows of `out` follow each other.
struct SmallProducts {
  ProductBlock block;  // the first product
  int64_t batches, a_batch, b_batch;
};
/// Most rows of a product's tile.
inline constexpr int64_t kProductRows = 6;
/// Rows are divided evenly among as few tiles as hold them: tiles of few rows wait for their sums.
constexpr int64_t tiles_of(int64_t rows, int64_t most) { return (rows + most - 1) / most; }
/// The order in which an element is summed depends on depth only.
struct ProductKernels {
  void (*multiply)(const ProductBlock& block) = nullptr;
  /// out = a b for operands that are both contiguous along depth; b_depth: between columns of `b`. Sums in an order of
  /// its own.
  void (*multiply_transposed)(const SmallProducts& products) = nullptr;
  /// Sums in the order of `multiply`. If b_panel > 0, `b` has contiguous columns so far apart: they are turned.
  void (*multiply_small)(const SmallProducts& products) = nullptr;
  int64_t panel = 0;   // columns of a tile
  int64_t vector = 0;  // columns of a vector
};

/// Running sums over `count` blocks of [length, inner] elements: each row of `out` is the sum of the rows of its block
/// up to it: of floats in float64, of 16-bit floats in float32, of integers in 64 bits. `sums` has room for the sums of
/// a row. `out` may be `in` if there are at least kFewSummed columns: with fewer, elements behind a row are overwritten
/// before their sums are written.
using ScanKernel = void (*)(void* out, const void* in, int64_t length, int64_t inner, int64_t count, void* sums);
inline constexpr int64_t kFewSummed = 16;
/// Running sums of each of `rows` rows of `length` elements, which follow each other. `out` may be `in`. What is read
/// next is prefetched; what is written next too, if it `fetches_out`.
using RowScanKernel = void (*)(void* out, const void* in, int64_t rows, int64_t length, bool fetches_out);

/// softmax, or its logarithm. `out` may be `in`.
struct SoftmaxKernels {
  /// Of each of `rows` rows of `length` elements, which follow each other.
  void (*along)(void* out, const void* in, int64_t rows, int64_t length, bool is_log) = nullptr;
  /// Of each of `n` columns of `length` elements; rows are `stride` elements apart.
  void (*across)(void* out, const void* in, int64_t length, int64_t n, int64_t stride, bool is_log) = nullptr;
};

/// Which elements are extreme: the largest of the numbers whose bits are those of the elements, some of them flipped,
/// as signed integers or as floats.
struct PlaceOrder {
  uint64_t flip;
  uint64_t infinite;    // the bits of infinity; 0 for integers
  uint8_t most = 0xFF;  // larger bytes count as this one: bool
};
/// The most rows that PlaceKernels::across searches, and the fewest elements of its rows.
inline constexpr int64_t kSearchedRows = 254, kSearchedColumns = 16;
/// Where extremes lie. `infinite`: see PlaceOrder. Zeros are equal, and so are NaN, which are the most extreme.
struct PlaceKernels {
  /// Of each of `count` runs of `n` elements, `step` apart, the first place of its extreme.
  void (*along)(int64_t* places, const void* in, const void* extremes, int64_t n, int64_t step, int64_t count,
                uint64_t infinite) = nullptr;
  /// Of each of `rows` rows of `n` elements, `step` apart, the first row where element i is extreme i; for `count`
  /// blocks of rows, `jump` apart. Up to 64 bytes may be read behind the extremes.
  void (*blocks)(int64_t* places, const void* in, const void* extremes, int64_t n, int64_t step, int64_t rows,
                 int64_t jump, int64_t count, uint64_t infinite) = nullptr;
  /// Of each of `rows` rows of `n` elements, `step` apart, the row where element i is extreme, the first one of equal
  /// ones. Rows are counted from `first`. The extremes are kept in `best`, which has room for `n` elements, in an order
  /// of its own. If it `joins`, these and the places are those of rows before.
  void (*across)(int64_t* places, void* best, const void* in, int64_t n, int64_t step, int64_t rows, int64_t first,
                 bool joins, PlaceOrder order) = nullptr;
  /// Of each of `rows` rows of `n` <= kSearchedRows elements, `step` >= 0 apart, the first place of its extreme. The
  /// extremes are kept in `best`, if that is not null, in an order of its own.
  void (*rows)(int64_t* places, void* best, const void* in, int64_t n, int64_t step, int64_t rows,
               PlaceOrder order) = nullptr;
};

/// Rows that are normalized: less their mean, over their deviation. Each is a run of segments.
struct NormalizedRows {
  int64_t length = 0;   // of a row
  int64_t segment = 1;  // neighbours with the same weight
  int64_t groups = 1;   // row i has weights of group i % groups, which follow each other
  double eps = 0;       // added to the mean square
  bool keeps_mean = false;
  const void* weight = nullptr;  // null: 1
  const void* bias = nullptr;    // null: 0
};

/// Sums for each weight, of the gradients and of these times the normalized elements. Null: not wanted. Each row with
/// segments has its own; without them each row of a group is added to `length` sums.
struct WeightSums {
  void *plain = nullptr, *products = nullptr;
};

struct NormalizeKernels {
  /// Rows from number `first` on, which `in` begins with. `out` may be `in`.
  void (*rows)(void* out, const void* in, int64_t first, int64_t count, const NormalizedRows& given) = nullptr;
  // Of float32 only, which models are trained in; gradients of float64 are ops.
  /// The gradient of `in` by that of the result, and the sums. `out` may be `grad`, or null.
  void (*gradient)(void* out, const void* grad, const void* in, int64_t first, int64_t count,
                   const NormalizedRows& given, const WeightSums& sums) = nullptr;
};

/// The longest rows that are folded to results at once. A group of longer ones would leave the first cache.
inline constexpr int64_t kFinishedRow = 512;
/// A fold whose partial result is a State of up to three numbers (fields). Field f of state i is states[f * stride +
/// i]; kernels may write up to 16 states behind the last one. Wide states have fields of float64 or int64. `numbers`:
/// the op's parameters.
struct StateKernels {
  /// Folds each of `count` runs of `n` elements to a state. Runs are `step` apart.
  void (*along)(void* states, int64_t stride, const void* in, int64_t step, int64_t count, int64_t n,
                const double* numbers);
  /// Folds `rows` rows of `n` elements, `step` apart, into `n` states: element i of each row into state i. The states
  /// hold `taken` elements before; 0: they begin here. If `n` is less than 16, 16 elements may be read.
  void (*across)(void* states, int64_t stride, const void* in, int64_t step, int64_t rows, int64_t n, int64_t taken,
                 const double* numbers);
  /// Folds each of `count` blocks of `rows` rows of `n` elements: element i of each row of block b into state b * n +
  /// i. Rows are `step` apart, blocks `jump`. Null: most ops.
  void (*blocks)(void* states, int64_t stride, const void* in, int64_t n, int64_t step, int64_t rows, int64_t jump,
                 int64_t count, const double* numbers);
  /// Joins states into wide ones, or begins these if `fresh`. `start`: the index of the states' first element.
  void (*absorb)(void* wide, const void* states, int64_t stride, int64_t n, int64_t start, bool fresh,
                 const double* numbers);
  /// Computes the results of wide states, if this is the kernel of their dtype. Result r of state i is out[r * stride +
  /// i].
  void (*finish)(void* out, const void* states, int64_t stride, int64_t n, const double* numbers);
  /// Folds each of `rows` rows of 2 to kFinishedRow elements, `step` apart, to results in the elements' dtype. A row's
  /// results do not depend on the others. Null: most ops.
  void (*finished)(void* const* out, const void* in, int64_t n, int64_t step, int64_t rows, const double* numbers);
  int fields, results;
};

/// Order along rows. Elements become keys: int64 for dtypes of 8 bytes, else int32. They are ordered as the elements
/// are, NaN last, or the other way round. `rank` reads up to kKeySlack keys before and behind, and writes ranks behind.
struct OrderKernels {
  void (*keys)(void* keys, const void* in, int64_t n, bool descending);
  /// For each row of `length` keys, the place of each in stable order. Ranks have the type of keys.
  void (*rank)(void* ranks, const void* keys, int64_t length, int64_t rows);
  /// The places of the `wanted` first keys of a row in stable order. Ends before keys that are the largest integer;
  /// gives how many it found. Overwrites the keys, for which there is room for take_first_room(length).
  int64_t (*take_first)(int64_t* places, void* keys, int64_t length, int64_t wanted);
  /// Writes those of `n` keys that are at most `most`, and their places, which begin with `place`, in their order.
  /// Places have the type of keys. Gives how many there are. There is room for `n` and kKeySlack.
  int64_t (*select)(void* selected, void* places, const void* keys, int64_t n, int64_t place, int64_t most);
  int64_t lanes;  // keys of a vector
  /// Writes the first element of each group of equal neighbours, how many the group has, and for each element the
  /// number of its group; `counts` and `inverse` may be null. Gives how many groups there are. A NaN equals no element.
  /// There is at least one element, and room for as many as are read. Null of bool, and without AVX-512.
  int64_t (*groups)(void* firsts, int64_t* counts, int64_t* inverse, const void* in, int64_t n);
};
/// Orders of keys of one type, which they are passed as.
struct KeyKernels {
  /// Writes the smallest of `n` keys, then the largest, to `ends`; there is at least one.
  void (*range)(void* ends, const void* keys, int64_t n);
  /// items[i] = the key's distance from `least` without its `low_bits` lowest bits, in the upper half, and i.
  void (*pack)(uint64_t* items, const void* keys, int64_t n, int64_t least, int low_bits);
};
/// Items are sorted in blocks of so many: there is room for whole blocks.
inline constexpr int64_t kSortedBlock = 128;
inline constexpr int64_t kKeySlack = 64;
/// A block of the square root of the vectors in a row may be added twice: at most 8 * sqrt(length) and a few vectors.
constexpr int64_t take_first_room(int64_t length) { return length + length / 8 + 512; }

/// Two dims of an op by index, for two nested loops. Strides in bytes.
struct IndexedPlane {
  struct Operand {
    std::byte* data;
    int64_t row, column;  // from one row, and from one column, to the next
  };
  int64_t rows, columns;
  Operand named;         // the elements that the index selects; its stride along the indexed dim is 0
  Operand index;         // int64 places
  Operand other;         // an element for each place
  int64_t size, stride;  // of the indexed dim of `named`

  /// Moves to the next row.
  void step() noexcept {
    named.data += named.row;
    index.data += index.row;
    other.data += other.row;
  }
  /// Whether each place selects a contiguous row, for elements of `width` bytes.
  bool selects_rows(int64_t width) const noexcept {
    return index.column == 0 && named.column == width && other.column == width;
  }
  /// Whether a contiguous row of places selects elements of a contiguous row.
  bool selects_in_rows(int64_t width) const noexcept {
    return index.column == int64_t{sizeof(int64_t)} && named.column == 0 && stride == width && other.column == width;
  }
  /// The same plane with constant strides, for which compilers make faster loops.
  IndexedPlane in_rows(int64_t width) const noexcept {
    IndexedPlane plane = *this;
    plane.index.column = sizeof(int64_t);
    plane.named.column = 0;
    plane.stride = plane.other.column = width;
    return plane;
  }
};
inline int64_t place_at(const std::byte* index) noexcept {
  int64_t place;
  std::memcpy(&place, index, sizeof place);
  return place;
}
inline bool is_outside(int64_t place, int64_t size) noexcept {
  return static_cast<uint64_t>(place) >= static_cast<uint64_t>(size);
}
/// All but the first go through a plane in row-major order, stop at a place out of range and then return false.
struct IndexKernels {
  bool (*is_any_outside)(const int64_t* places, int64_t n, int64_t size);
  // By element size, as in KernelTable::move.
  bool (*gather[5])(const IndexedPlane& plane);   // other = named
  bool (*replace[5])(const IndexedPlane& plane);  // named = other
  // By dtype; null: none. 16-bit floats are computed in float32 and rounded for each element; then alpha is a float32.
  bool (*add[kDtypeCount])(const IndexedPlane& plane, const void* alpha);  // named += alpha * other
  bool (*multiply[kDtypeCount])(const IndexedPlane& plane);                // named *= other
  /// to[i] += the sum of the elements i of `count` rows of `n` 16-bit floats, in float32 and in their order, rounded
  /// once. The lower 32 bits of rows[k] say which row of `from`, where they lie `step` bytes apart. There are at least
  /// kShortestAddedRow elements. By dtype; null: none.
  void (*add_rows[kDtypeCount])(void* to, const void* from, int64_t step, const uint64_t* rows, int64_t count,
                                int64_t n);
  /// Writes the next of `count` elements of `from` where `truths`, of which there are `n`, are not 0, as long as there
  /// are some. By element size.
  void (*expand[5])(void* to, const uint8_t* truths, int64_t n, const void* from, int64_t count);
};
inline constexpr int64_t kShortestAddedRow = 32;

/// Random numbers from the words of the Mersenne Twister (dispatch/random.cpp).
struct RandomKernels {
  /// The next 624 words of the state.
  void (*twist)(uint32_t* state);
  /// out[i] = the words that `n` words of the state give.
  void (*temper)(uint32_t* out, const uint32_t* state, int64_t n);
  /// out[i] = the lower 24 bits of a word times 2^-24.
  void (*uniform)(float* out, const uint32_t* words, int64_t n);
  /// out[i] = the lower 53 bits of two words, the upper one first, times 2^-53, times `width`, plus `from`.
  void (*uniform_of_pairs)(double* out, const uint32_t* words, int64_t n, double from, double width);
  /// Makes each run of 16 uniform numbers normal, for `n` a multiple of 16: number i with number i + 8, by Box and
  /// Muller.
  void (*normal_float32)(float* numbers, int64_t n, float mean, float deviation);
  void (*normal_float64)(double* numbers, int64_t n, double mean, double deviation);
};

/// Lanes of one streaming store: one cache line or several, for every dtype.
inline constexpr int64_t kStreamedLanes = 64;

/// The op whose kernels this op uses: mostly itself.
constexpr Op formula_of(Op op) {
  switch (op) {
    case Op::mean:
      return Op::sum;
    case Op::sgn:
      return Op::sign;
    case Op::rsub:
      return Op::sub;
    case Op::sub_alpha:
    case Op::rsub_alpha:
      return Op::add_alpha;
    case Op::floor_divide:
      return Op::div_floor;
    case Op::celu:
      return Op::elu;
    case Op::clamp_low:
    case Op::clamp_min:
      return Op::maximum;
    case Op::clamp_high:
    case Op::clamp_max:
      return Op::minimum;
    case Op::clamp_low_scalar:
      return Op::clamp_min_scalar;
    case Op::clamp_high_scalar:
      return Op::clamp_max_scalar;
    case Op::float_power:
    case Op::pow_of_number:
    case Op::pow_to_number:
      return Op::pow;
    case Op::pow_of_1:
      return Op::pow_to_0;
    case Op::pow_to_2:
      return Op::square;
    case Op::pow_to_half:
      return Op::sqrt;
    case Op::pow_to_minus_1:
      return Op::reciprocal;
    case Op::pow_to_minus_half:
      return Op::rsqrt;
    case Op::special_round:
      return Op::round;
    default:
      return op;
  }
}
/// The same for one dtype: some formulas differ only for floats, for NaN or by their rounding.
constexpr Op formula_of(Op op, Dtype dtype) {
  const Op formula = formula_of(op);
  const bool truth = dtype == bool_, integer = is_integral(dtype) && !truth, is_unsigned = dtype == uint8;
  switch (formula) {
    case Op::add:
    case Op::bitwise_or:
    case Op::maximum:
      return truth ? Op::logical_or : formula;
    case Op::mul:
    case Op::bitwise_and:
    case Op::minimum:
      return truth ? Op::logical_and : formula;
    case Op::bitwise_xor:
      return truth ? Op::logical_xor : formula;
    case Op::bitwise_not:
      return truth ? Op::logical_not : formula;
    case Op::sign:
    case Op::square:
      return truth ? Op::pow_to_1 : formula;
    case Op::signbit:
      return truth || is_unsigned ? Op::isnan : formula;
    case Op::abs:
    case Op::relu:
      return is_unsigned ? Op::trunc : formula;
    case Op::div_floor:
      return is_unsigned ? Op::div_trunc : formula;
    case Op::fmod:
      return is_unsigned ? Op::remainder : formula;
    case Op::all:
      return truth ? Op::amin : formula;
    case Op::any:
      return truth ? Op::amax : formula;
    case Op::isneginf:
    case Op::isposinf:
      return truth || integer ? Op::isnan : formula;
    case Op::ceil:
    case Op::floor:
    case Op::round:
    case Op::pow_to_1:
      return integer ? Op::trunc : formula;
    case Op::clamp_scalar:
      return integer ? Op::clamp : formula;
    case Op::fmin:
    case Op::clamp_max_scalar:
      return truth ? Op::logical_and : integer ? Op::minimum : formula;
    case Op::fmax:
    case Op::clamp_min_scalar:
      return truth ? Op::logical_or : integer ? Op::maximum : formula;
    case Op::hardtanh:
      if (integer) return Op::clamp;
      return dtype == float32 || dtype == float64 ? Op::clamp_scalar : formula;
    case Op::lerp_scalar:
      return dtype == float16 || dtype == bfloat16 ? formula : Op::lerp;
    case Op::leaky_relu:
    case Op::rrelu:
      return dtype == float32 || dtype == float64 ? Op::prelu_kernel : formula;
    case Op::deg2rad:
    case Op::rad2deg:
    case Op::rrelu_drawn:
      return dtype == float32 || dtype == float64 ? Op::mul : formula;
    default:
      return formula;
  }
}

/// Whether an op gives uint8 the bits that it gives int8: arithmetic modulo 256, and what only compares or moves bits.
constexpr bool ignores_sign(Op op) {
  switch (op) {
    case Op::add:
    case Op::add_alpha:
    case Op::addcmul:
    case Op::bitwise_and:
    case Op::bitwise_not:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::eq:
    case Op::mul:
    case Op::ne:
    case Op::neg:
    case Op::pow_to_0:
    case Op::pow_to_3:
    case Op::square:
    case Op::sub:
    case Op::trunc:
    case Op::where:
      return true;
    default:
      return false;
  }
}
/// Whether an op has kernels of its own for a dtype.
constexpr bool has_own_kernels(Op op, Dtype dtype) {
  return formula_of(op, dtype) == op && !(dtype == uint8 && ignores_sign(op));
}

/// The op of two operands whose kernels join two partial results of a fold: its own, if no other has its formula.
constexpr Op join_of(Op fold) {
  switch (formula_of(fold)) {
    case Op::sum:
      return Op::add;
    case Op::prod:
      return Op::mul;
    case Op::amax:
      return Op::maximum;
    case Op::amin:
      return Op::minimum;
    case Op::all:
      return Op::logical_and;
    case Op::any:
      return Op::logical_or;
    default:
      return fold;
  }
}

/// Elements so wide may be computed one by one where they are read with steps: vectors would gain little.
inline constexpr int64_t kSingleElementBytes = 4;
/// A Kernel for `rows` rows of `n` lanes, so that short ones cost no call each. Steps are bytes from a row to the next.
/// Of two operands whose elements have at least kSingleElementBytes, rows may be of single ones that are read with any
/// step; complex ones are not.
using RowsKernel = void (*)(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n,
                            int64_t rows);

struct JoinTurn;  // kernel/join.h

/// The column of a 16-bit float in tables of these.
constexpr std::size_t half_column(Dtype half) { return half == float16 ? 0 : 1; }

struct KernelTable {
  const char* name;      // the instruction set
  int64_t vector_bytes;  // of its vectors
  // By op and compute dtype; null: none. Those of a fold join two partial results: see join_of.
  Kernel elementwise[kOpCount][kDtypeCount];
  Kernel cast[kDtypeCount][kDtypeCount];  // [from][to]; a copy if they are equal
  // The same with streaming stores: `out` is aligned to a cache line, `n` a multiple of kStreamedLanes.
  Kernel elementwise_streamed[kOpCount][kDtypeCount];
  Kernel cast_streamed[kDtypeCount][kDtypeCount];
  RowsKernel elementwise_rows[kOpCount][kDtypeCount];  // null: of most ops
  // Of 16-bit floats beside numbers in float32, which are the last arguments and are read once, whatever their step.
  // By op and half_column; null: of most ops.
  Kernel beside_numbers[kOpCount][2];
  Kernel beside_numbers_streamed[kOpCount][2];
  ChainKernel chain[kDtypeCount];                       // of float32 and float64; null without vectors
  FoldKernel fold[kOpCount][kDtypeCount];               // reductions over lanes
  FoldAcrossKernel fold_across[kOpCount][kDtypeCount];  // reductions over rows; null: lanes are joined row by row
  FoldBlocksKernel fold_blocks[kOpCount][kDtypeCount];  // where fold_across is
  FoldKernels sum_in_int64[kDtypeCount];                // of integers narrower than int64, and of bool
  const StateKernels* state_fold[kOpCount][kDtypeCount];
  ScanKernel sum_columns[kDtypeCount];      // of floats and of integers up to int64
  RowScanKernel sum_rows[kDtypeCount];      // of floats, int32 and int64
  SoftmaxKernels softmax[kDtypeCount];      // of float32 and float64
  NormalizeKernels normalize[kDtypeCount];  // of float32 and float64
  MoveKernels move[5];
  /// Rows of `bytes` bytes in reverse order.
  void (*reverse_rows)(void* out, const void* in, int64_t bytes, int64_t rows);
  OrderKernels order[kDtypeCount];  // none of complex dtypes
  KeyKernels keys32, keys64;
  /// Sorts `n` different items that lie on a cache line. Null without AVX-512.
  void (*sort_items)(uint64_t* items, int64_t n);
  ProductKernels product[kDtypeCount];  // of float32, float64, int32 and int64; of pairs of bfloat16, if fast
  IndexKernels index;
  RandomKernels random;
  DistanceKernels distances;
  PlaceKernels place[kDtypeCount];  // null without vectors, and of most dtypes
  /// Writes `turns` turns of joined rows. Reads and writes nothing beside them. Null without vectors.
  void (*join)(void* out, const void* const* parts, const JoinTurn& turn, int64_t turns);
  ShuffleKernels shuffle[5];  // as `move`; none of 16 bytes
};

/// The table of the best instruction set this machine has (TENON_ISA=AVX2 asks for another one).
const KernelTable& kernels() noexcept;

/// The kernels of a custom op, by compute dtype.
using CustomKernels = std::array<Kernel, kDtypeCount>;
const CustomKernels& custom_kernels(Op op) noexcept;
const CustomKernels& custom_streamed_kernels(Op op) noexcept;
void set_custom_kernels(Op op, const CustomKernels& kernels, const CustomKernels& streamed);
/// The kernel of any elementwise op; null if it has none for the dtype.
inline Kernel kernel_of(Op op, Dtype compute) noexcept {
  if (is_custom(op)) [[unlikely]]
    return custom_kernels(op)[static_cast<std::size_t>(compute)];
  return kernels().elementwise[static_cast<int>(op)][static_cast<int>(compute)];
}
/// Its kernel with streaming stores; null if it has none.
inline Kernel streamed_kernel_of(Op op, Dtype compute) noexcept {
  if (is_custom(op)) [[unlikely]]
    return custom_streamed_kernels(op)[static_cast<std::size_t>(compute)];
  return kernels().elementwise_streamed[static_cast<int>(op)][static_cast<int>(compute)];
}
/// Its kernel for rows; null if it has none.
inline RowsKernel rows_kernel_of(Op op, Dtype compute) noexcept {
  if (is_custom(op)) [[unlikely]]
    return nullptr;
  return kernels().elementwise_rows[static_cast<int>(op)][static_cast<int>(compute)];
}

}  // namespace tenon
