// kernel: the loops that run a formula over lanes.
#if defined(TENON_KERNEL_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_LOOPS_INL_H
#undef TENON_KERNEL_LOOPS_INL_H
#else
#define TENON_KERNEL_LOOPS_INL_H
#endif

#include <algorithm>
#include <cstring>
#include <utility>

#include "hwy/cache_control.h"
#include "kernel/divide-inl.h"
#include "kernel/kernel.h"
#include "kernel/lane-inl.h"
#include "kernel/masked-inl.h"
#include "kernel/some_lanes-inl.h"
#include "kernel/vector_loop-inl.h"

// The output is one of the inputs or does not overlap them, so lanes are independent.
#if defined(__clang__)
#define TENON_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENON_INDEPENDENT _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#include "ops/blocks-inl.h"

/// The C++ type that lanes of `T` have in memory: a bool is a byte that may hold any value.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
/// What is only moved is an integer of its width, so that dtypes share the code. Not bool, which becomes 0 or 1.
template <class T>
using BitsOfWidth =
    std::conditional_t<std::is_same_v<T, bool>, bool,
                       std::conditional_t<sizeof(T) == 1, uint8_t,
                                          std::conditional_t<sizeof(T) == 2, uint16_t,
                                                             std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>>;

template <class T>
HWY_INLINE Lane<T> load(const Stored<T>* from, int64_t i) {
  return Lane<T>(from[i]);
}
/// Reads lane i, or the one value of a splat.
template <class T, bool kSplat>
struct Source {
  const Stored<T>* data;
  Lane<T> value;
  HWY_INLINE explicit Source(const void* from) : data(static_cast<const Stored<T>*>(from)), value(data[0]) {}
  HWY_INLINE Lane<T> operator[](int64_t i) const {
    if constexpr (kSplat)
      return value;
    else
      return load<T>(data, i);
  }
};

template <class F, class Out, class A, bool kA>
HWY_INLINE void loop(void* out, const Lanes* in, int64_t n) {
  const Source<A, kA> a(in[0].data);
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = F::forward(a[i]).v;
}
template <class F, class Out, class A, class B, bool kA, bool kB>
HWY_INLINE void loop(void* out, const Lanes* in, int64_t n) {
  const Source<A, kA> a(in[0].data);
  const Source<B, kB> b(in[1].data);
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = F::forward(a[i], b[i]).v;
}
template <class F, class Out, class... Sources>
HWY_INLINE void loop_over(void* out, int64_t n, const Sources... in) {
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = F::forward(in[i]...).v;
}

/// One loop for each combination of inputs with step 0 and 1, chosen outside the loop. If all inputs have step 0, the
/// caller passes them as lanes: a splat is stored as a whole block.
template <class F, class Out, class A>
void unary(void* out, const Lanes* in, int64_t n) {
  loop<F, Out, A, false>(out, in, n);
}
template <class F, class Out, class A, class B>
void binary(void* out, const Lanes* in, int64_t n) {
  if (in[1].step == 0) return loop<F, Out, A, B, false, true>(out, in, n);
  if (in[0].step == 0) return loop<F, Out, A, B, true, false>(out, in, n);
  loop<F, Out, A, B, false, false>(out, in, n);
}
template <class F, class Out, class A, class B, bool kA, bool kB>
HWY_INLINE void loop_of_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n,
                             int64_t rows) {
  Lanes row[2] = {in[0], in[1]};
  for (; rows > 0; --rows) {
    loop<F, Out, A, B, kA, kB>(out, row, n);
    out = static_cast<std::byte*>(out) + out_step;
    for (int i = 0; i < 2; ++i) row[i].data = static_cast<const std::byte*>(row[i].data) + steps[i];
  }
}
/// binary for rows. Bench: ./dev bench --sweep, columns and gaps.
template <class F, class Out, class A, class B>
void binary_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  if (in[1].step == 0) return loop_of_rows<F, Out, A, B, false, true>(out, out_step, in, steps, n, rows);
  if (in[0].step == 0) return loop_of_rows<F, Out, A, B, true, false>(out, out_step, in, steps, n, rows);
  loop_of_rows<F, Out, A, B, false, false>(out, out_step, in, steps, n, rows);
}

/// The same for any number of inputs. Each level of the recursion fixes whether one more input is a splat.
template <class F, class Out, class... In>
struct Loops {
  template <bool kMoves, class... Known>
  static HWY_INLINE void run(void* out, const Lanes*, int64_t n, const Known... known) {
    loop_over<F, Out>(out, n, known...);
  }
};
template <class F, class Out, class Next, class... In>
struct Loops<F, Out, Next, In...> {
  /// `kMoves`: an input before this one has step 1.
  template <bool kMoves, class... Known>
  static HWY_INLINE void run(void* out, const Lanes* in, int64_t n, const Known... known) {
    using Rest = Loops<F, Out, In...>;
    constexpr int kPlace = sizeof...(Known), kCount = kPlace + 1 + sizeof...(In);
    if constexpr (kPlace >= operand_count(F::row, kCount))  // a number, which is read once, whatever its step
      return Rest::template run<kMoves>(out, in + 1, n, known..., Source<Next, true>(in->data));
    if constexpr (kMoves || sizeof...(In) > 0)
      if (in->step == 0) return Rest::template run<kMoves>(out, in + 1, n, known..., Source<Next, true>(in->data));
    Rest::template run<true>(out, in + 1, n, known..., Source<Next, false>(in->data));
  }
};
template <class F, class Out, class... In>
void several(void* out, const Lanes* in, int64_t n) {
  Loops<F, Out, In...>::template run<false>(out, in, n);
}
/// One loop for all combinations, element by element: a fiftieth of the code.
template <class F, class Out, class... In>
void by_steps(void* out, const Lanes* in, int64_t n) {
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  [&]<std::size_t... kInput>(std::index_sequence<kInput...>) HWY_ATTR {
    const void* const data[] = {in[kInput].data...};
    const int64_t steps[] = {in[kInput].step...};
    for (int64_t i = 0; i < n; ++i)
      to[i] = F::forward(load<In>(static_cast<const Stored<In>*>(data[kInput]), i * steps[kInput])...).v;
  }
  (std::index_sequence_for<In...>());
}

template <class F, class T>
void unary_vectors(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<T>;
  vector_loop<F>(D(), out, n, MovingSource<D>(in[0]));
}
/// Formulas that limit elements to a range of constants. From a loop over lanes GCC makes comparisons and selections,
/// which take up to three times as long as a maximum and a minimum. Bench: tenon_bench --ops --filter
/// 'ops/hard(swish|sigmoid)$'.
template <class F>
inline constexpr bool kHasConstantLimits = HWY_TARGET <= HWY_AVX2 &&
                                           (std::is_same_v<F, ops::hardswish> || std::is_same_v<F, ops::hardsigmoid>);
template <class F, class T>
void limited_vectors(void* out, const Lanes* in, int64_t n) {
  if (n < static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()))) return unary<F, T, T>(out, in, n);
  unary_vectors<F, T>(out, in, n);
}
template <class F, class T>
void binary_vectors(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<T>;
  vector_loop<F>(D(), out, n, VectorSource<D>(in[0]), VectorSource<D>(in[1]));
}
template <class F, class T, std::size_t kCount>
void several_vectors(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<T>;
  constexpr std::size_t kOperands = operand_count(F::row, kCount);
  using Operand = std::conditional_t<kOperands == 1, MovingSource<D>, VectorSource<D>>;
  [&]<std::size_t... kInput>(std::index_sequence<kInput...>) HWY_ATTR {
    vector_loop<F>(D(), out, n, std::conditional_t<(kInput < kOperands), Operand, NumberSource<D>>(in[kInput])...);
  }
  (std::make_index_sequence<kCount>());
}

/// lerp from the end that is nearer: GCC would read each operand twice, because it selects between them. Bench:
/// tenon_bench --ops --filter 'ops/lerp'.
struct FromStart {
  template <class V>
  static HWY_INLINE V forward(V a, V end, V share) {
    return mul_add(share, end - a, a);
  }
};
struct FromEnd {
  template <class V>
  static HWY_INLINE V forward(V a, V end, V share) {
    return mul_add(share, end - a, end);
  }
};
/// The weight is a number.
template <class T, class... Sources>
HWY_INLINE void between_by(T weight, void* out, int64_t n, const Sources&... in) {
  using D = hn::ScalableTag<T>;
  const T rest = weight - 1;
  if (std::abs(weight) < T{0.5}) return vector_loop<FromStart>(D(), out, n, in..., NumberSource<D>({&weight, 0}));
  vector_loop<FromEnd>(D(), out, n, in..., NumberSource<D>({&rest, 0}));
}
template <class T>
void between_vectors(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<T>;
  using Moving = MovingSource<D>;
  if (in[0].step != 0 && in[1].step != 0 && in[2].step != 0)
    return vector_loop<ops::lerp>(D(), out, n, Moving(in[0]), Moving(in[1]), Moving(in[2]));
  const VectorSource<D> a(in[0]), end(in[1]);
  if (in[2].step != 0) return vector_loop<ops::lerp>(D(), out, n, a, end, VectorSource<D>(in[2]));
  const T weight = *static_cast<const T*>(in[2].data);
  if (in[1].step == 0) return between_by(weight, out, n, Moving(in[0]), NumberSource<D>(in[1]));
  between_by(weight, out, n, a, end);
}

/// Prefetches what is read a little later. The more work a loop does per cache line, the fewer lines the processor
/// prefetches by itself. Beyond the caches, sums of floats and loops over three inputs gain a fifth.
template <std::size_t kBytes>
HWY_INLINE void prefetch(const void* from) {
  constexpr std::size_t kAhead = 1536;
  for (std::size_t i = 0; i < kBytes; i += 64) __builtin_prefetch(static_cast<const char*>(from) + kAhead + i);
}
/// The same for folds of integers, further ahead, into the second-level cache, which takes more requests. Beyond the
/// caches, maxima and sums of four and eight bytes gain a tenth over `prefetch`; sums of floats lose a tenth. Bench:
/// tenon_bench --filter '^reduce/(i32 sum|amax|sum)/(L3|memory)'.
template <class T>
HWY_INLINE void prefetch_ahead(const T* from, int64_t n) {
  constexpr int64_t kAhead = sizeof(T) <= 2 ? 1536 : 4096, kHint = sizeof(T) <= 2 ? 3 : 2;
  const char* at = reinterpret_cast<const char*>(from) + kAhead;
  for (const char* const end = at + n * static_cast<int64_t>(sizeof(T)); at < end; at += 64)
    __builtin_prefetch(at, 0, kHint);
}

/// Streaming stores of whole cache lines.
template <std::size_t kBytes>
HWY_INLINE void stream_lines(uint8_t* to, const uint8_t* from) {
  const hn::CappedTag<uint8_t, 64> d;
  for (std::size_t i = 0; i < kBytes; i += hn::Lanes(d)) hn::Stream(hn::Load(d, from + i), d, to + i);
}
/// Prepares one input for blocks of results. A splat is expanded once, so that one loop serves all combinations.
/// Returns the bytes from one block's lanes to the next block's.
template <class In>
HWY_INLINE int64_t set_block_source(const Lanes& from, Stored<In>* splat, Lanes& lanes) {
  lanes = {from.step == 0 ? splat : from.data, 1};
  if (from.step != 0) return kStreamedLanes * static_cast<int64_t>(sizeof(Stored<In>));
  for (int64_t i = 0; i < kStreamedLanes; ++i) std::memcpy(splat + i, from.data, sizeof(Stored<In>));
  return 0;
}
/// Writes results block by block with streaming stores; `run` computes a block.
template <class Out, class... In, class Run>
HWY_INLINE void stream_blocks(void* out, const Lanes* in, int64_t n, const Run& run) {
  constexpr std::size_t kInputs = sizeof...(In), kWidest = std::max({sizeof(Stored<In>)...});
  constexpr std::size_t kBytes = kStreamedLanes * sizeof(Stored<Out>);
  alignas(64) uint8_t splats[kInputs][kWidest * kStreamedLanes];
  Lanes lanes[kInputs];
  int64_t steps[kInputs];
  std::size_t input = 0;
  ((steps[input] = set_block_source<In>(in[input], reinterpret_cast<Stored<In>*>(splats[input]), lanes[input]),
    ++input),
   ...);
  uint8_t* to = static_cast<uint8_t*>(out);
  for (int64_t start = 0; start < n; start += kStreamedLanes, to += kBytes) {
    if (kInputs >= 3 && steps[1] != 0 && steps[2] != 0) {
      input = 0;
      (prefetch<kStreamedLanes * sizeof(Stored<In>)>(lanes[input++].data), ...);
    }
    alignas(64) uint8_t block[kBytes];
    run(block, lanes);
    stream_lines<kBytes>(to, block);
    for (std::size_t i = 0; i < kInputs; ++i) lanes[i].data = static_cast<const uint8_t*>(lanes[i].data) + steps[i];
  }
}

/// A kernel with streaming stores. It is inlined into one loop: a block is a few vectors, which stay in registers until
/// they are stored.
template <Kernel kKernel, class Out, class... In>
HWY_FLATTEN void streamed(void* out, const Lanes* in, int64_t n) {
  stream_blocks<Out, In...>(out, in, n,
                            [](void* block, const Lanes* lanes) HWY_ATTR { kKernel(block, lanes, kStreamedLanes); });
}
/// The same with a call for each block, for complex numbers: GCC does not vectorise their products in the inlined loop.
template <class Out, class... In>
TENON_ONCE void stream_calls(Kernel kernel, void* out, const Lanes* in, int64_t n) {
  stream_blocks<Out, In...>(
      out, in, n, [kernel](void* block, const Lanes* lanes) HWY_ATTR { kernel(block, lanes, kStreamedLanes); });
}
template <Kernel kKernel, class Out, class... In>
void streamed_by_calls(void* out, const Lanes* in, int64_t n) {
  stream_calls<Out, In...>(kKernel, out, in, n);
}

/// A kernel with ordinary and one with streaming stores; without vector instructions there is no streaming one.
struct KernelPair {
  Kernel plain = nullptr, streamed = nullptr;
};
template <Kernel kKernel, class Out, class... In>
constexpr KernelPair kernel_pair() {
#if TENON_HAS_VECTORS
  if constexpr ((ComplexLane<In> || ...))
    return {kKernel, &streamed_by_calls<kKernel, Out, In...>};
  else
    return {kKernel, &streamed<kKernel, Out, In...>};
#else
  return {kKernel};
#endif
}

/// Runs `turn(0)` to `turn(kCount - 1)`, which are TENON_UNROLLED. GCC unrolls a loop only after it has decided which
/// arrays lie in registers; those that a loop indexes lie in memory, where each use waits for a store.
template <int64_t kCount, class Turn>
HWY_INLINE void unrolled(const Turn& turn) {
  [&]<int64_t... k>(std::integer_sequence<int64_t, k...>) TENON_UNROLLED { (turn(k), ...); }
  (std::make_integer_sequence<int64_t, kCount>());
}

// Bytes of a fold's partial results: several vectors, so that no addition waits for the one before. Bench:
// tenon_bench --filter '^reduce/(sum|amax)/L1'.
inline constexpr int64_t kFoldBytes = 256;

/// Folds `n` >= kWidth lanes with independent partial results, one for each lane of a block, which are joined pairwise
/// at the end. As accurate as pairwise summation of that width.
template <class F, class T, int64_t kWidth>
HWY_INLINE Lane<T> fold_blocks(const Stored<T>* from, int64_t n) {
  Lane<T> partial[kWidth];
  for (int64_t lane = 0; lane < kWidth; ++lane) partial[lane] = Lane<T>(from[lane]);
  int64_t i = kWidth;
  for (; i + kWidth <= n; i += kWidth)
    for (int64_t lane = 0; lane < kWidth; ++lane) partial[lane] = F::forward(partial[lane], Lane<T>(from[i + lane]));
  for (int64_t lane = 0; i + lane < n; ++lane) partial[lane] = F::forward(partial[lane], Lane<T>(from[i + lane]));
  for (int64_t width = kWidth / 2; width > 0; width /= 2)
    for (int64_t lane = 0; lane < width; ++lane) partial[lane] = F::forward(partial[lane], partial[lane + width]);
  return partial[0];
}
template <class F, class T>
void fold(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool /*is_far*/) {
  constexpr int64_t kItemsize = static_cast<int64_t>(sizeof(T)), kWidth = kFoldBytes / kItemsize;
  const Stored<T>* from = static_cast<const Stored<T>*>(in);
  for (int64_t row = 0; row < rows; ++row, from += step) {
    Lane<T> result(from[0]);
    if (n >= kWidth)
      result = fold_blocks<F, T, kWidth>(from, n);
    else
      for (int64_t i = 1; i < n; ++i) result = F::forward(result, Lane<T>(from[i]));
    std::memcpy(static_cast<std::byte*>(out) + row * static_cast<int64_t>(sizeof(result.v)), &result.v,
                sizeof(result.v));
  }
}

/// Loads lanes that need no conversion.
template <class T>
struct PlainLoad {
  using From = T;
  using To = T;
  template <class D>
  static HWY_INLINE hn::Vec<D> vector(D d, const T* from) {
    return hn::LoadU(d, from);
  }
  /// The first `n` lanes.
  template <class D>
  static HWY_INLINE hn::Vec<D> some(D d, const T* from, int64_t n) {
    return load_some(d, from, n);
  }
  static HWY_INLINE T lane(T value) { return value; }
};
/// Stores the first `count` lanes. Masked stores are slow on some processors.
template <class D>
HWY_INLINE void store_first(D d, hn::Vec<D> v, hn::TFromD<D>* to, int64_t count) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  if (count == kLanes) return hn::StoreU(v, d, to);
  hn::TFromD<D> lanes[kLanes];
  hn::StoreU(v, d, lanes);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

/// Folds vectors: the first half with the second one, and so on.
template <class F, int64_t kCount, class V>
HWY_INLINE V fold_halves(V* vectors) {
  if constexpr (kCount > 1) {
    unrolled<kCount / 2>([&](int64_t k)
                             TENON_UNROLLED { vectors[k] = F::forward(vectors[k], vectors[k + kCount / 2]); });
    return fold_halves<F, kCount / 2>(vectors);
  }
  return vectors[0];
}

/// Folds a row of at least one vector to a vector. `kBlocks`: of many vectors.
template <class F, class Load, bool kBlocks, class D>
HWY_INLINE Vector<D> fold_row_to_vector(D d, const typename Load::From* from, int64_t n, bool is_far) {
  using T = typename Load::To;
  constexpr int64_t kLanes = hn::MaxLanes(d), kVectors = kFoldBytes / static_cast<int64_t>(sizeof(T)) / kLanes;
  constexpr int64_t kBlock = kVectors * kLanes;
  const auto load = [&](int64_t i) TENON_UNROLLED { return Vector<D>{Load::vector(d, from + i)}; };
  Vector<D> result = load(0);
  int64_t i = kLanes;
  if (kBlocks && n >= kBlock) {
    Vector<D> partial[kVectors];
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { partial[k] = load(k * kLanes); });
    for (i = kBlock; i + kBlock <= n; i += kBlock) {
      if (is_far) prefetch<kBlock * sizeof(typename Load::From)>(from + i);
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { partial[k] = F::forward(partial[k], load(i + k * kLanes)); });
    }
    result = fold_halves<F, kVectors>(partial);
  }
  for (; i + kLanes <= n; i += kLanes) result = F::forward(result, load(i));
  if (i < n) {  // the last whole vector, without the lanes that were folded before
    const auto counted = hn::FirstN(d, static_cast<std::size_t>(kLanes - (n - i)));
    result.v = hn::IfThenElse(counted, result.v, F::forward(result, load(n - kLanes)).v);
  }
  return result;
}

#if HWY_TARGET != HWY_SCALAR  // its vectors have one lane
/// Folds pairs of neighbouring lanes: those of `low`, then those of `high`.
template <class F, class D>
HWY_INLINE Vector<D> fold_pairs(D d, Vector<D> low, Vector<D> high) {
  return F::forward(Vector<D>{hn::ConcatEven(d, high.v, low.v)}, Vector<D>{hn::ConcatOdd(d, high.v, low.v)});
}
/// The fold of a vector's lanes, in the order of `fold_across`. `kBytes`: of neighbours that are folded already.
template <class F, std::size_t kBytes, class D>
HWY_INLINE hn::TFromD<D> fold_lanes(D d, Vector<D> v) {
  constexpr std::size_t kVector = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (kBytes == kVector) {
    return hn::GetLane(v.v);
  } else if constexpr (kBytes < 16) {
    return fold_lanes<F, 2 * kBytes>(d, F::forward(v, Vector<D>{hn::CombineShiftRightBytes<kBytes>(d, v.v, v.v)}));
  } else {
    using H = hn::Half<D>;
    const H half;
    const auto low = Vector<H>{hn::LowerHalf(half, v.v)}, high = Vector<H>{hn::UpperHalf(half, v.v)};
    if constexpr (kVector == 32) {
      return hn::GetLane(F::forward(low, high).v);
    } else {
      using Q = hn::Half<H>;
      const Q quarter;
      const auto fold_half = [&](Vector<H> pair) HWY_ATTR {
        return F::forward(Vector<Q>{hn::LowerHalf(quarter, pair.v)}, Vector<Q>{hn::UpperHalf(quarter, pair.v)});
      };
      return hn::GetLane(F::forward(fold_half(low), fold_half(high)).v);
    }
  }
}
/// The same as `fold_across` for narrow integers, whose neighbours take several instructions to be brought together:
/// each vector is interleaved with the one half of all further. `vectors` has room for as many as one has lanes.
template <class F, class D>
HWY_INLINE Vector<D> fold_interleaved(D d, Vector<D>* vectors, int64_t count) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  for (int64_t i = count; i < kLanes; ++i) vectors[i] = vectors[0];
  int64_t half = kLanes / 2;
  if constexpr (kLanes * sizeof(hn::TFromD<D>) > 16) {
    for (int64_t i = 0; i < half; ++i) {
      const auto first = vectors[i].v, second = vectors[i + half].v;
      vectors[i] = F::forward(Vector<D>{hn::ConcatLowerLower(d, second, first)},
                              Vector<D>{hn::ConcatUpperUpper(d, second, first)});
    }
    half /= 2;
  }
  for (; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) {
      const auto first = vectors[i].v, second = vectors[i + half].v;
      vectors[i] = F::forward(Vector<D>{hn::InterleaveLower(d, first, second)},
                              Vector<D>{hn::InterleaveUpper(d, first, second)});
    }
  return vectors[0];
}
/// Folds `count` vectors, at most as many as one has lanes, until lane i of the result is vector i.
template <class F, class D>
HWY_INLINE Vector<D> fold_across(D d, Vector<D>* vectors, int64_t count) {
  using T = hn::TFromD<D>;
  constexpr std::size_t kBytes = hn::MaxLanes(D()) * sizeof(T);
  if constexpr (sizeof(T) < 4 && (kBytes == 16 || kBytes == 32)) return fold_interleaved<F>(d, vectors, count);
  for (std::size_t lanes = hn::MaxLanes(d); lanes > 1; lanes /= 2) {
    const int64_t pairs = (count + 1) / 2;
    for (int64_t i = 0; i < pairs; ++i)
      vectors[i] = fold_pairs<F>(d, vectors[2 * i], vectors[std::min(2 * i + 1, count - 1)]);
    count = pairs;
  }
  return vectors[0];
}
#else
template <class F, std::size_t kBytes, class D>
HWY_INLINE hn::TFromD<D> fold_lanes(D, Vector<D> v) {
  return hn::GetLane(v.v);
}
template <class F, class D>
HWY_INLINE Vector<D> fold_across(D, Vector<D>* vectors, int64_t) {
  return vectors[0];
}
#endif

/// Whether rows of a few elements are folded in vectors.
template <class Load>
inline constexpr bool kFoldsShortRows = sizeof(typename Load::To) >= 4;

/// A lane that changes no fold of the row that begins at `row`: minima and maxima take a lane twice.
template <class F, class Load, class D>
HWY_INLINE Vector<D> neutral([[maybe_unused]] D d, [[maybe_unused]] const typename Load::From* row) {
  using T = typename Load::To;
  if constexpr (std::is_same_v<F, ops::sum>)
    return {hn::Set(d, static_cast<T>(-0.0))};
  else if constexpr (std::is_same_v<F, ops::prod>)
    return {hn::Set(d, T{1})};
  else
    return {hn::Set(d, Load::lane(row[0]))};
}
/// A row of less than a vector, and neutral lanes.
template <class F, class Load, class D>
HWY_INLINE Vector<D> short_row(D d, const typename Load::From* from, int64_t n) {
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(n));
  return {hn::IfThenElse(counted, Load::some(d, from, n), neutral<F, Load>(d, from).v)};
}

/// Folds a row of any length to a vector.
template <class F, class Load, bool kBlocks, class D>
HWY_INLINE Vector<D> fold_row(D d, const typename Load::From* from, int64_t n, bool is_far) {
  if constexpr (!kBlocks && kFoldsShortRows<Load>)
    if (n < static_cast<int64_t>(hn::MaxLanes(D()))) return short_row<F, Load>(d, from, n);
  return fold_row_to_vector<F, Load, kBlocks>(d, from, n, is_far);
}

#if HWY_TARGET != HWY_SCALAR
/// Folds pairs of neighbouring lanes of `kCount` vectors, which follow each other, until one vector is left.
template <class F, int64_t kCount, class D>
HWY_INLINE Vector<D> fold_all_pairs(D d, Vector<D>* vectors) {
  if constexpr (kCount > 1) {
    unrolled<kCount / 2>([&](int64_t k)
                             TENON_UNROLLED { vectors[k] = fold_pairs<F>(d, vectors[2 * k], vectors[2 * k + 1]); });
    return fold_all_pairs<F, kCount / 2>(d, vectors);
  }
  return vectors[0];
}
/// Folds as many rows as a vector has lanes. `counted`: lanes of a row of less than a vector; else those of a row's
/// last vector that were folded before.
template <class F, class Load, class D>
HWY_INLINE Vector<D> fold_group(D d, const typename Load::From* from, int64_t n, int64_t step, hn::Mask<D> counted) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const auto load = [&](int64_t row, int64_t i)
                        TENON_UNROLLED { return Vector<D>{Load::vector(d, from + row * step + i)}; };
  Vector<D> rows[kLanes];
  unrolled<kLanes>([&](int64_t k) TENON_UNROLLED { rows[k] = load(k, 0); });
  if constexpr (kFoldsShortRows<Load>)
    if (n < kLanes) {
      unrolled<kLanes>([&](int64_t k) TENON_UNROLLED {
        rows[k].v = hn::IfThenElse(counted, rows[k].v, neutral<F, Load>(d, from + k * step).v);
      });
      return fold_all_pairs<F, kLanes>(d, rows);
    }
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    unrolled<kLanes>([&](int64_t k) TENON_UNROLLED { rows[k] = F::forward(rows[k], load(k, i)); });
  if (i < n)
    unrolled<kLanes>([&](int64_t k) TENON_UNROLLED {
      rows[k].v = hn::IfThenElse(counted, rows[k].v, F::forward(rows[k], load(k, n - kLanes)).v);
    });
  return fold_all_pairs<F, kLanes>(d, rows);
}
/// Folds rows of kRow lanes without gaps. Returns their number.
template <class F, class Load, int64_t kRow, class D>
HWY_INLINE int64_t fold_whole_rows(D d, typename Load::To* out, const typename Load::From* from, int64_t rows) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  int64_t row = 0;
  for (; row + kLanes <= rows; row += kLanes, from += kRow * kLanes) {
    Vector<D> vectors[kRow];
    unrolled<kRow>([&](int64_t k) TENON_UNROLLED { vectors[k].v = Load::vector(d, from + k * kLanes); });
    hn::StoreU(fold_all_pairs<F, kRow>(d, vectors).v, d, out + row);
  }
  return row;
}
/// Folds rows of less than half a vector without gaps, two in each vector. Returns their number.
template <class F, class Load, class D>
HWY_INLINE int64_t fold_half_rows(D d, typename Load::To* out, const typename Load::From* from, int64_t n,
                                  int64_t rows) {
  using Index = hwy::MakeSigned<typename Load::To>;
  constexpr int64_t kLanes = hn::MaxLanes(D()), kHalf = kLanes / 2;
  alignas(64) Index places[kLanes], counts[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    const int64_t row = lane / kHalf, i = lane % kHalf;
    counts[lane] = i < n ? -1 : 0;
    places[lane] = static_cast<Index>(row * n + (i < n ? i : 0));  // behind the row its first lane
  }
  const hn::RebindToSigned<D> d_index;
  const auto from_place = hn::SetTableIndices(d, places);
  const auto counted = hn::RebindMask(d, hn::MaskFromVec(hn::Load(d_index, counts)));
  const auto load = [&](int64_t k) TENON_UNROLLED {
    const auto spread = hn::TableLookupLanes(Load::vector(d, from + 2 * k * n), from_place);
    if constexpr (std::is_same_v<F, ops::sum> || std::is_same_v<F, ops::prod>)
      return Vector<D>{hn::IfThenElse(counted, spread, neutral<F, Load>(d, from).v)};
    else
      return Vector<D>{spread};
  };
  int64_t row = 0;
  for (; (rows - row) * n >= (kLanes - 2) * n + kLanes; row += kLanes, from += kLanes * n) {
    Vector<D> vectors[kHalf];
    unrolled<kHalf>([&](int64_t k) TENON_UNROLLED { vectors[k] = load(k); });
    hn::StoreU(fold_all_pairs<F, kHalf>(d, vectors).v, d, out + row);
  }
  return row;
}
/// Folds rows of a few vectors at most, as many together as a vector has lanes. Returns the number of rows; the last
/// ones are left. Bench: ./dev bench --sweep, inner reductions.
template <class F, class Load, class D>
HWY_INLINE int64_t fold_groups(D d, typename Load::To* out, const typename Load::From* from, int64_t n, int64_t step,
                               int64_t rows) {
  constexpr int64_t kLanes = hn::MaxLanes(D()), kHalf = kLanes / 2;
  if constexpr (kFoldsShortRows<Load> && kHalf > 1)
    if (step == n && n <= kHalf) {
      if (n == kHalf) return fold_whole_rows<F, Load, kHalf>(d, out, from, rows);
      if constexpr (kHalf > 2) {
        if (n == 2) return fold_whole_rows<F, Load, 2>(d, out, from, rows);
        return fold_half_rows<F, Load>(d, out, from, n, rows);
      }
    }
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(n < kLanes ? n : kLanes - n % kLanes));
  const int64_t end = (rows - 1) * step + n;  // of what may be read
  int64_t row = 0;
  for (; row + kLanes <= rows && (row + kLanes - 1) * step + kLanes <= end; row += kLanes)
    hn::StoreU(fold_group<F, Load>(d, from + row * step, n, step, counted).v, d, out + row);
  return row;
}
#else
template <class F, class Load, class D>
HWY_INLINE int64_t fold_groups(D, typename Load::To*, const typename Load::From*, int64_t, int64_t, int64_t) {
  return 0;
}
#endif

// Memory is read best in order, without prefetching: there longer rows are folded one by one. The order of the folds is
// the same.
inline constexpr int64_t kFarGroupBytes = 160;

/// Folds rows, as many together as a vector has lanes. `kBlocks`: rows of at least a vector, which may be long.
template <class F, class Load, bool kBlocks, class D>
HWY_NOINLINE void fold_rows(D d, typename Load::To* out, const typename Load::From* from, int64_t n, int64_t step,
                            int64_t rows, bool is_far) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t row = 0;
  if constexpr (!kBlocks)
    if (!is_far || n * static_cast<int64_t>(sizeof(typename Load::To)) < kFarGroupBytes)
      row = fold_groups<F, Load>(d, out, from, n, step, rows);
  for (from += row * step; row < rows; row += kLanes) {
    Vector<D> vectors[kLanes];
    const int64_t count = std::min(rows - row, kLanes);
    for (int64_t i = 0; i < count; ++i, from += step) vectors[i] = fold_row<F, Load, kBlocks>(d, from, n, is_far);
    if (count == 1)
      out[row] = fold_lanes<F, sizeof(typename Load::To)>(d, vectors[0]);
    else
      store_first(d, fold_across<F>(d, vectors, count).v, out + row, count);
  }
}

/// The same as `fold`, with vectors. Short rows are folded in half vectors, which Zen 4 rearranges twice as fast.
template <class F, class Load>
void fold_vectors(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  using T = typename Load::To;
  constexpr int64_t kItemsize = static_cast<int64_t>(sizeof(T));
  const hn::CappedTag<T, 16> wide;
  constexpr bool kShort = kFoldsShortRows<Load>;
  const hn::CappedTag<T, kShort ? 32 / sizeof(T) : 4> narrow;
  constexpr auto kWide = static_cast<int64_t>(hn::MaxLanes(wide)), kNarrow = static_cast<int64_t>(hn::MaxLanes(narrow));
  T* const to = static_cast<T*>(out);
  const auto* from = static_cast<const typename Load::From*>(in);
  if (n >= (kShort ? kFoldBytes * 3 / 2 / kItemsize : kWide))
    return fold_rows<F, Load, true>(wide, to, from, n, step, rows, is_far);
  // A few rows of up to three lanes are folded faster lane by lane, in the same order. Bench: tenon_bench --filter
  // '^tiny/sum'.
  const int64_t least = !kShort ? kNarrow : rows < 4 ? 4 : 2;
  if constexpr (kNarrow > 1 && (kShort || kNarrow < kWide))
    if (n >= least) return fold_rows<F, Load, false>(narrow, to, from, n, step, rows, is_far);
  for (int64_t row = 0; row < rows; ++row, from += step) {
    Lane<T> result(Load::lane(from[0]));
    for (int64_t i = 1; i < n; ++i) result = F::forward(result, Lane<T>(Load::lane(from[i])));
    to[row] = result.v;
  }
}

// Rows are read in the order of memory: a row's vectors are folded side by side, as many as registers hold. Several
// columns of one row after the other, each over all rows, would read memory at a third of the speed. Bench: ./dev bench
// --sweep, outer and middle reductions.
inline constexpr int64_t kMostColumns = HWY_TARGET <= HWY_AVX3 ? 16 : 8;
// So many rows are folded one after the other before they join the rows before them; rows of one or two vectors are
// folded pairwise, so that no addition waits for the one before, and more of them.
inline constexpr int64_t kRowsInOrder = 16, kPairedRows = 64;

/// Folds `rows` rows of `n` lanes, which kVectors vectors cover: the last ones end at `n`.
template <class F, class Load, int64_t kVectors, class D>
HWY_INLINE void fold_columns(D d, typename Load::To* to, const typename Load::From* from, int64_t n, int64_t step,
                             int64_t rows, bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(d), kAtEnd = kVectors > 8 ? 4 : kVectors > 4 ? 2 : 1;
  const auto place = [&](int64_t k)
                         TENON_UNROLLED { return k < kVectors - kAtEnd ? k * kLanes : n - (kVectors - k) * kLanes; };
  const auto load = [&](int64_t row, int64_t k)
                        TENON_UNROLLED { return Vector<D>{Load::vector(d, from + row * step + place(k))}; };
  Vector<D> sums[kVectors];
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sums[k] = load(0, k); });
  int64_t row = 1;
  if constexpr (kVectors <= 2)
    for (; row + 4 <= rows; row += 4)
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED {
        sums[k] = F::forward(sums[k], F::forward(F::forward(load(row, k), load(row + 1, k)),
                                                 F::forward(load(row + 2, k), load(row + 3, k))));
      });
  for (; row < rows; ++row)
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sums[k] = F::forward(sums[k], load(row, k)); });
  if (joins)
    unrolled<kVectors>([&](int64_t k)
                           TENON_UNROLLED { sums[k] = F::forward(Vector<D>{hn::LoadU(d, to + place(k))}, sums[k]); });
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { hn::StoreU(sums[k].v, d, to + place(k)); });
}
/// Rows of at least one vector and at most kMost.
template <class F, class Load, int64_t kMost, class D>
HWY_INLINE void fold_all_columns(D d, typename Load::To* to, const typename Load::From* from, int64_t n, int64_t step,
                                 int64_t rows, bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  if (n <= kLanes) return fold_columns<F, Load, 1>(d, to, from, n, step, rows, joins);
  if (n <= 2 * kLanes) return fold_columns<F, Load, 2>(d, to, from, n, step, rows, joins);
  if (n <= 3 * kLanes) return fold_columns<F, Load, 3>(d, to, from, n, step, rows, joins);
  if (kMost == 4 || n <= 4 * kLanes) return fold_columns<F, Load, 4>(d, to, from, n, step, rows, joins);
  if constexpr (kMost >= 8) {
    if (n <= 6 * kLanes) return fold_columns<F, Load, 6>(d, to, from, n, step, rows, joins);
    if (kMost == 8 || n <= 8 * kLanes) return fold_columns<F, Load, 8>(d, to, from, n, step, rows, joins);
  }
  if constexpr (kMost >= 16) {
    if (n <= 12 * kLanes) return fold_columns<F, Load, 12>(d, to, from, n, step, rows, joins);
    fold_columns<F, Load, 16>(d, to, from, n, step, rows, joins);
  }
}
/// Rows of at least one vector, at most kMost unless that is kMostColumns.
template <class F, class Load, int64_t kMost, class D>
HWY_NOINLINE void fold_vectors_across(D d, typename Load::To* to, const typename Load::From* from, int64_t n,
                                      int64_t step, int64_t rows, bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(d), kBlock = 4 * kLanes;
  const int64_t together = n <= 2 * kLanes ? kPairedRows : kRowsInOrder;
  for (int64_t count = 0; rows > 0; rows -= count, from += count * step, joins = true) {
    count = std::min(rows, together);
    int64_t i = 0;
    if constexpr (kMost == kMostColumns)
      for (; n - i > kMost * kLanes; i += kBlock)
        fold_columns<F, Load, 4>(d, to + i, from + i, kBlock, step, count, joins);
    fold_all_columns<F, Load, kMost>(d, to + i, from + i, n - i, step, count, joins);
  }
}
/// Folds rows lane by lane. Bench: tenon_bench --filter '^reduce/(sum|amax) dim 0'.
template <class F, class Load>
void fold_across(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool joins) {
  using T = typename Load::To;
  const hn::CappedTag<T, 16> wide;
  const hn::CappedTag<T, 4> narrow;
  constexpr auto kWide = static_cast<int64_t>(hn::MaxLanes(wide)), kNarrow = static_cast<int64_t>(hn::MaxLanes(narrow));
  T* const to = static_cast<T*>(out);
  const auto* from = static_cast<const typename Load::From*>(in);
  if constexpr (sizeof(T) < 4) {  // vectors of so many lanes are shorter than the machine's
    const hn::CappedTag<T, 64 / sizeof(T)> whole;
    if (n >= static_cast<int64_t>(hn::MaxLanes(whole)) && hn::MaxLanes(whole) > hn::MaxLanes(wide))
      return fold_vectors_across<F, Load, kMostColumns>(whole, to, from, n, step, rows, joins);
  }
  if (n >= kWide) return fold_vectors_across<F, Load, kMostColumns>(wide, to, from, n, step, rows, joins);
  if constexpr (kNarrow < kWide)
    if (n >= kNarrow) return fold_vectors_across<F, Load, 4>(narrow, to, from, n, step, rows, joins);
  for (int64_t i = 0; i < n; ++i) {
    Lane<T> result(joins ? to[i] : Load::lane(from[i]));
    for (int64_t row = joins ? 0 : 1; row < rows; ++row)
      result = F::forward(result, Lane<T>(Load::lane(from[row * step + i])));
    to[i] = result.v;
  }
}

#if TENON_HAS_VECTORS
/// Vectors that rows shorter than one are folded in. Their lanes can be shifted: of narrow types within 16 bytes.
template <class T>
using ShortRowLanes = hn::CappedTag<T, sizeof(T) >= 4 ? 16 : 16 / sizeof(T)>;
/// Lane i takes lane i + shift.
template <class D>
class LaneShift {
 public:
  HWY_INLINE explicit LaneShift(int64_t shift) : from_(indices(shift)) {}
  HWY_INLINE Vector<D> operator()(Vector<D> v) const {
    if constexpr (sizeof(T) >= 4)
      return {hn::TableLookupLanes(v.v, from_)};
    else
      return {hn::BitCast(D(), hn::TableLookupBytes(hn::BitCast(Bytes(), v.v), from_))};
  }

 private:
  using T = hn::TFromD<D>;
  using Bytes = hn::Repartition<uint8_t, D>;
  static HWY_INLINE auto indices(int64_t shift) {
    if constexpr (sizeof(T) >= 4) {
      using Index = hwy::MakeSigned<T>;
      constexpr int64_t kLanes = hn::MaxLanes(D());
      alignas(64) Index of[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) of[i] = static_cast<Index>(std::min(i + shift, kLanes - 1));
      return hn::SetTableIndices(D(), of);
    } else {
      constexpr int64_t kBytes = hn::MaxLanes(Bytes());
      alignas(16) uint8_t of[kBytes];
      for (int64_t i = 0; i < kBytes; ++i)
        of[i] = static_cast<uint8_t>(std::min(i + shift * static_cast<int64_t>(sizeof(T)), kBytes - 1));
      return hn::Load(Bytes(), of);
    }
  }
  decltype(indices(0)) from_;
};

/// The rows of a block, which are shorter than a vector: as many as fit are folded side by side if there are no gaps
/// between them, and joined at the block's end.
template <class F, class Load, class D>
class ShortRows {
 public:
  using From = typename Load::From;
  using To = typename Load::To;
  using V = Vector<D>;
  /// `end`: of the memory that may be read.
  HWY_INLINE ShortRows(int64_t n, int64_t step, int64_t rows, const From* end, const Load& as = {})
      : as_(as),
        together_(step == n ? std::min(kLanes / n, rows) : 1),
        turns_(rows / together_),
        stride_(together_ * step),
        has_rest_(rows % together_ != 0),
        rest_(hn::FirstN(D(), static_cast<std::size_t>(rows % together_ * n))),
        end_(end) {
    for (int64_t left = together_; left > 1; left -= left / 2, ++halvings_) {
      const int64_t half = left / 2;
      shifts_[halvings_] = LaneShift<D>((left - half) * n);
      joined_[halvings_] = hn::FirstN(D(), static_cast<std::size_t>(half * n));
    }
  }
  /// The fold of a block's rows in the first lanes.
  HWY_INLINE V fold(const From* block) const {
    V sum = load(block);
    int64_t turn = 1;
    if (turns_ >= 2 * kSums) {
      // A level's sums are joined before they are large, as pairwise summation does.
      const int64_t whole = turns_ / kSums * kSums;
      for (turn = 0; turn < whole;) {
        const int64_t first = turn, end = std::min(turn + kLevel, whole);
        V sums[kSums];
        unrolled<kSums>([&](int64_t k) TENON_UNROLLED { sums[k] = load(block + (first + k) * stride_); });
        while ((turn += kSums) < end)
          unrolled<kSums>([&](int64_t k)
                              TENON_UNROLLED { sums[k] = F::forward(sums[k], load(block + (turn + k) * stride_)); });
        const V level = fold_halves<F, kSums>(sums);
        sum = first == 0 ? level : F::forward(sum, level);
      }
    }
    for (; turn < turns_; ++turn) sum = F::forward(sum, load(block + turn * stride_));
    if (has_rest_) sum.v = hn::IfThenElse(rest_, F::forward(sum, load(block + turns_ * stride_)).v, sum.v);
    for (int i = 0; i < halvings_; ++i) sum.v = hn::IfThenElse(joined_[i], F::forward(sum, shifts_[i](sum)).v, sum.v);
    return sum;
  }

 private:
  static constexpr int64_t kLanes = hn::MaxLanes(D()), kSums = 4, kLevel = 16 * kSums;
  HWY_INLINE V load(const From* from) const {
    if (end_ - from >= kLanes) [[likely]]
      return {as_.vector(D(), from)};
    From last[kLanes] = {};
    std::memcpy(last, from, static_cast<std::size_t>(end_ - from) * sizeof(From));
    return {as_.vector(D(), last)};
  }
  [[no_unique_address]] Load as_;
  int64_t together_, turns_, stride_;
  bool has_rest_;
  hn::Mask<D> rest_;
  const From* end_;
  int halvings_ = 0;
  LaneShift<D> shifts_[4] = {LaneShift<D>(0), LaneShift<D>(0), LaneShift<D>(0), LaneShift<D>(0)};
  hn::Mask<D> joined_[4];
};

/// Folds blocks of rows. Bench: ./dev bench --sweep, middle reductions.
template <class F, class Load>
void fold_blocks(void* out, const void* in, int64_t n, int64_t step, int64_t rows, int64_t jump, int64_t count) {
  using T = typename Load::To;
  const ShortRowLanes<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto* from = static_cast<const typename Load::From*>(in);
  T* to = static_cast<T*>(out);
  if (n >= kLanes) {
    for (; count > 0; --count, to += n, from += jump) fold_across<F, Load>(to, from, n, step, rows, false);
    return;
  }
  const ShortRows<F, Load, ShortRowLanes<T>> block(n, step, rows, from + (count - 1) * jump + (rows - 1) * step + n);
  // Ends are compared, because a counter may be kept in memory: the next turn would wait until it is stored.
  for (T* const last = to + count * n; to != last; to += n, from += jump)
    store_first(d, block.fold(from).v, to, last - to >= kLanes ? kLanes : n);
}
#endif

/// The same for integers, whose long rows are folded as wide as the machine's vectors where memory does not
/// limit them.
template <class F, class T>
void fold_integers(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  constexpr int64_t kLongBytes = 2048;
  if (n >= kLongBytes / static_cast<int64_t>(sizeof(T)) && !is_far) return fold<F, T>(out, in, n, step, rows, is_far);
  fold_vectors<F, PlainLoad<T>>(out, in, n, step, rows, is_far);
}

/// Extremes of narrow integers have vectors, and of 16-bit floats all kernels, from fill_extremes.
template <class F>
inline constexpr bool kIsExtreme = std::is_same_v<F, ops::amax> || std::is_same_v<F, ops::amin>;

template <class F, class T>
constexpr FoldKernel fold_kernel() {
#if TENON_HAS_VECTORS
  if constexpr (kIsExtreme<F> && sizeof(T) <= 2) return nullptr;
  if constexpr (std::is_floating_point_v<T>) return &fold_vectors<F, PlainLoad<T>>;
  if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) return &fold_integers<F, T>;
#endif
  return &fold<F, T>;
}

template <class F, class T>
constexpr FoldAcrossKernel fold_across_kernel() {
#if TENON_HAS_VECTORS
  // Sums and products of narrower integers are folds of int64; see kIsExtreme for their extremes.
  if constexpr (std::is_floating_point_v<T> || (std::is_integral_v<T> && sizeof(T) >= 4))
    return &fold_across<F, PlainLoad<T>>;
#endif
  return nullptr;
}

/// Where rows are folded where they lie, blocks of them are, too.
template <class F, class T>
constexpr FoldBlocksKernel fold_blocks_kernel() {
#if TENON_HAS_VECTORS
  if constexpr (fold_across_kernel<F, T>() != nullptr) return &fold_blocks<F, PlainLoad<T>>;
#endif
  return nullptr;
}

template <class T>
constexpr bool computes(const Row& row) {
  if (row.promotion == Promotion::logical) return std::is_same_v<T, bool>;
  return (row.dtypes & set_of(dtype_of_v<T>)) != 0;
}
/// Whether an op has a kernel for lanes of T. An op that changes nothing for T (such as conj of reals) has none: a cast
/// does it.
template <class F, class T>
constexpr bool has_kernel() {
  if (ComplexLane<T> ? F::row.complex_to_real : F::row.keeps_real) return false;
  return computes<T>(F::row);
}
template <class F, class Z>
constexpr KernelPair complex_kernel() {
  constexpr const Row& row = F::row;
  constexpr int kArity = kFormulaArity<F>;
  // Of functions there is one loop: they are bound by arithmetic, not by memory.
  if constexpr (row.vectors && kArity == 1)
    return {&unary<F, Z, Z>};
  else if constexpr (row.promotion == Promotion::comparison && kArity == 1)
    return kernel_pair<&by_steps<F, bool, Z>, bool, Z>();
  else if constexpr (row.promotion == Promotion::comparison)
    return kernel_pair<&by_steps<F, bool, Z, Z>, bool, Z, Z>();
  else if constexpr (kArity == 1)
    return kernel_pair<&unary<F, Z, Z>, Z, Z>();
  else if constexpr (kArity == 2 && TENON_HAS_VECTORS && !row.vectors)
    return kernel_pair<&binary<F, Z, Z, Z>, Z, Z, Z>();
  else if constexpr (kArity == 2)
    return {&by_steps<F, Z, Z, Z>};
  else if constexpr (kArity == 3)
    return kernel_pair<&by_steps<F, Z, Z, Z, Z>, Z, Z, Z, Z>();
  else
    return kernel_pair<&by_steps<F, Z, Z, Z, Z, Z>, Z, Z, Z, Z, Z>();
}
/// Whether there is a loop for each combination of splats. Without vectors only of common ops and dtypes: machines
/// without AVX2 are rare, and these loops would be 0.3 MB of code that no other machine runs.
template <class F, class T>
inline constexpr bool kHasLoops = TENON_HAS_VECTORS || (F::row.short_rows && sizeof(T) >= 4);
template <class F, class T>
constexpr Kernel steps_kernel() {
  constexpr Promotion promotion = F::row.promotion;
  using Out = std::conditional_t<promotion == Promotion::comparison || promotion == Promotion::logical, bool, T>;
  if constexpr (promotion == Promotion::select)
    return &by_steps<F, BitsOfWidth<T>, bool, BitsOfWidth<T>, BitsOfWidth<T>>;
  else if constexpr (kFormulaArity<F> == 2)
    return &by_steps<F, Out, T, T>;
  else if constexpr (kFormulaArity<F> == 3)
    return &by_steps<F, Out, T, T, T>;
  else
    return &by_steps<F, Out, T, T, T, T>;
}
/// Of ops that divide integers.
template <class F>
inline constexpr bool kFloors = std::is_same_v<F, ops::div_floor> || std::is_same_v<F, ops::remainder>;
template <class F>
inline constexpr bool kGivesRest = std::is_same_v<F, ops::remainder> || std::is_same_v<F, ops::fmod>;

/// Moves elements: one copy for all dtypes of a width.
template <class F, class Bits>
constexpr KernelPair select_kernel() {
  return kernel_pair<&several<F, Bits, bool, Bits, Bits>, Bits, bool, Bits, Bits>();
}

template <class F, class T>
constexpr KernelPair elementwise_kernel() {
  constexpr const Row& row = F::row;
  constexpr int kArity = kFormulaArity<F>;
  // Bound by arithmetic, not by memory.
  constexpr bool is_slow = row.vectors && (row.compiled_once ? HWY_NATIVE_FMA != 0 : kArity > 2);
  if constexpr (!has_kernel<F, T>())
    return {};
  else if constexpr (ComplexLane<T>)
    return complex_kernel<F, T>();
#if TENON_HAS_MASKS
  else if constexpr (row.promotion == Promotion::select && !std::is_same_v<T, bool>)
    return {&select_row<BitsOfWidth<T>, false>, &select_row<BitsOfWidth<T>, true>};
  else if constexpr (kHasMaskedForm<F, T>)
    return {&binary_masked<F, T>, &streamed_masked<F, T>};
#endif
#if TENON_HAS_VECTORS
  else if constexpr (row.divides_integers && kDividesInVectors<T>)
    return kernel_pair<&divide_vectors<T, kFloors<F>, kGivesRest<F>>, T, T, T>();
#endif
  else if constexpr (is_slow && std::is_floating_point_v<T>)
    return {&several_vectors<F, T, kArity>};
  else if constexpr (row.compiled_once && kArity == 1)
    return {&by_steps<F, T, T>};
  else if constexpr (row.compiled_once)
    return {&by_steps<F, T, T, T>};
  else if constexpr (row.vectors && std::is_floating_point_v<T> && kArity == 1)
    return kernel_pair<&unary_vectors<F, T>, T, T>();
  else if constexpr (row.vectors && std::is_floating_point_v<T> && kArity == 2)
    return kernel_pair<&binary_vectors<F, T>, T, T, T>();
  else if constexpr (kHasConstantLimits<F> && std::is_floating_point_v<T>)
    return kernel_pair<&limited_vectors<F, T>, T, T>();
  else if constexpr (TENON_HAS_VECTORS && std::is_same_v<F, ops::lerp> && std::is_floating_point_v<T>)
    return kernel_pair<&between_vectors<T>, T, T, T, T>();
  else if constexpr (kArity > 1 && !kHasLoops<F, T>)
    return {steps_kernel<F, T>()};
  else if constexpr (row.promotion == Promotion::select)
    return select_kernel<F, BitsOfWidth<T>>();
  else if constexpr (row.promotion == Promotion::comparison || row.promotion == Promotion::logical) {
    if constexpr (kArity == 1)
      return kernel_pair<&unary<F, bool, T>, bool, T>();
    else
      return kernel_pair<&binary<F, bool, T, T>, bool, T, T>();
  } else if constexpr (kArity == 1)
    return kernel_pair<&unary<F, T, T>, T, T>();
  else if constexpr (kArity == 2 && operand_count(row, 2) == 1)
    return kernel_pair<&several<F, T, T, T>, T, T, T>();
  else if constexpr (kArity == 2)
    return kernel_pair<&binary<F, T, T, T>, T, T, T>();
  else if constexpr (kArity == 3)
    return kernel_pair<&several<F, T, T, T, T>, T, T, T, T>();
  else
    return kernel_pair<&several<F, T, T, T, T, T>, T, T, T, T, T>();
}

/// Rows of single elements: operands that are read with steps of several elements.
template <class F, class Out, class T>
void single_elements(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t rows) {
  auto* to = static_cast<std::byte*>(out);
  const auto* a = static_cast<const std::byte*>(in[0].data);
  const auto* b = static_cast<const std::byte*>(in[1].data);
  const int64_t a_step = steps[0], b_step = steps[1];
#pragma GCC unroll 4
  for (; rows > 0; --rows, to += out_step, a += a_step, b += b_step)
    *reinterpret_cast<Stored<Out>*>(to) =
        F::forward(Lane<T>(*reinterpret_cast<const T*>(a)), Lane<T>(*reinterpret_cast<const T*>(b))).v;
}
template <class F, class Out, class T, RowsKernel kRows>
void rows_or_elements(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  if (n == 1) return single_elements<F, Out, T>(out, out_step, in, steps, rows);
  kRows(out, out_step, in, steps, n, rows);
}
/// A kernel that also takes rows of single elements, if a vector of their dtype would gain nothing.
template <class F, class T, RowsKernel kRows>
constexpr RowsKernel with_single_elements() {
  constexpr bool kCompares = F::row.promotion == Promotion::comparison;
  if constexpr (sizeof(T) == kSingleElementBytes && !ComplexLane<T>)
    return &rows_or_elements<F, std::conditional_t<kCompares, bool, T>, T, kRows>;
  return kRows;
}

/// Without masks for elements of 4 and 8 bytes: narrower ones have enough lanes in a vector for rows to be joined.
template <class F, class T>
constexpr RowsKernel rows_kernel() {
#if TENON_HAS_MASKS
  if constexpr (has_kernel<F, T>() && kHasMaskedForm<F, T>) return with_single_elements<F, T, &rows_masked<F, T>>();
  if constexpr (F::row.promotion == Promotion::select && !ComplexLane<T> && !std::is_same_v<T, bool>)
    return &select_rows<BitsOfWidth<T>>;
#endif
#if TENON_HAS_VECTORS
  if constexpr (F::row.short_rows && !ComplexLane<T> && sizeof(T) >= 4 && has_kernel<F, T>())
    return with_single_elements<
        F, T, &binary_rows<F, std::conditional_t<F::row.promotion == Promotion::comparison, bool, T>, T, T>>();
#endif
  return nullptr;
}

inline void set_kernels(KernelTable& table, Op op, int column, const KernelPair& forms) {
  table.elementwise[static_cast<int>(op)][column] = forms.plain;
  table.elementwise_streamed[static_cast<int>(op)][column] = forms.streamed;
}

template <class Block, class T, Op kOp>
void fill_op(KernelTable& table) {
  constexpr int column = static_cast<int>(dtype_of_v<T>);
  constexpr bool is_fold = Block::row.kind == Kind::fold;
  if constexpr ((ComplexLane<T> || is_fold) && !has_kernel<Block, T>()) {
  } else if constexpr (is_fold && !HasState<Block>) {
    table.fold[static_cast<int>(kOp)][column] = fold_kernel<Block, T>();
    table.fold_across[static_cast<int>(kOp)][column] = fold_across_kernel<Block, T>();
    table.fold_blocks[static_cast<int>(kOp)][column] = fold_blocks_kernel<Block, T>();
    if constexpr (join_of(kOp) == kOp) table.elementwise[static_cast<int>(kOp)][column] = &binary<Block, T, T, T>;
  } else if constexpr (Block::row.kind == Kind::map) {
    set_kernels(table, kOp, column, elementwise_kernel<Block, T>());
    table.elementwise_rows[static_cast<int>(kOp)][column] = rows_kernel<Block, T>();
  }
}

/// Fills the columns of one compute dtype.
template <class T>
void fill_dtype(KernelTable& table) {  // NOLINT(readability-function-size): a statement for each op
#define TENON_OP(NAME) \
  if constexpr (has_own_kernels(Op::NAME, dtype_of_v<T>)) fill_op<ops::NAME, T, Op::NAME>(table);
#include "ops/list.def"
#undef TENON_OP
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
