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
#include "kernel/folds-inl.h"
#include "kernel/load_store-inl.h"
#include "kernel/masked-inl.h"
#include "kernel/truths-inl.h"
#include "kernel/vector_loop-inl.h"

// The output is one of the inputs or does not overlap them, so lanes are independent.
#if defined(__clang__)
#define TENON_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENON_INDEPENDENT _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
template <class F>
requires kIsOneOf<F, ops::pow, ops::sinh, ops::cosh, ops::asinh, ops::acosh>
inline constexpr bool kByHalves<F> = true;
#endif

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

/// An input block by block: where it lies, or a copy of a splat or of the last lanes, with zeros behind them.
template <class T, int64_t kCount>
class BlockSource {
 public:
  HWY_INLINE explicit BlockSource(const Lanes& lanes)
      : from_(static_cast<const T*>(lanes.data)), is_splat_(lanes.step == 0) {
    if (is_splat_) std::fill(copy_, copy_ + kCount, *from_);
  }
  HWY_INLINE const T* block(int64_t start, int64_t count) {
    if (is_splat_) return copy_;
    if (count == kCount) return from_ + start;
    std::fill(std::copy(from_ + start, from_ + start + count, copy_), copy_ + kCount, T{0});
    return copy_;
  }

 private:
  const T* from_;
  bool is_splat_;
  T copy_[kCount];
};
/// A block of powers takes a step for each bit of its largest exponent, in loops without branches, which compilers
/// vectorise. Powers of 1 and -1 alternate with the lowest bit of an exponent below 0; other such powers are 0.
template <class T, int64_t kCount>
HWY_INLINE void raise_block(T (&results)[kCount], const T* numbers, const T* exponents) {
  using Bits = std::make_unsigned_t<T>;
  Bits powers[kCount], rests[kCount], all = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const bool is_below = exponents[i] < 0;
    const bool is_share = is_below && numbers[i] != 1 && numbers[i] != -1;
    powers[i] = is_share ? Bits{0} : static_cast<Bits>(numbers[i]);
    rests[i] = static_cast<Bits>(is_share ? 1 : is_below ? exponents[i] & 1 : exponents[i]);
    results[i] = 1;
    all |= rests[i];
  }
  for (; all != 0; all >>= 1)
    for (int64_t i = 0; i < kCount; ++i) {
      results[i] = static_cast<T>(static_cast<Bits>(results[i]) * ((rests[i] & 1) != 0 ? powers[i] : Bits{1}));
      powers[i] *= powers[i];
      rests[i] >>= 1;
    }
}
/// Powers of int32 and int64, block by block. A few are computed one by one: a block takes as long as a dozen. Bench:
/// tenon_bench --filter '^large/pow'.
inline constexpr int64_t kFewPowers = 12;
template <class T>
HWY_NOINLINE void many_integer_powers(void* out, const Lanes* in, int64_t n) {
  static constexpr int64_t kTogether = 256 / static_cast<int64_t>(sizeof(T));
  T* to = static_cast<T*>(out);
  BlockSource<T, kTogether> a(in[0]), b(in[1]);
  int64_t start = 0;
  for (; n - start > kFewPowers; start += kTogether) {
    const int64_t count = std::min(n - start, kTogether);
    T results[kTogether];
    raise_block(results, a.block(start, count), b.block(start, count));
    std::copy(results, results + count, to + start);
  }
  if (start >= n) return;
  Lanes rest[] = {in[0], in[1]};
  for (Lanes& lanes : rest) lanes.data = static_cast<const T*>(lanes.data) + lanes.step * start;
  by_steps<ops::pow, T, T, T>(to + start, rest, n - start);
}
template <class T>
void integer_powers(void* out, const Lanes* in, int64_t n) {
  if (n > kFewPowers) return many_integer_powers<T>(out, in, n);
  by_steps<ops::pow, T, T, T>(out, in, n);
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
template <class F, class T, std::size_t kCount, class Form = F>
void several_vectors(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<T>;
  constexpr std::size_t kOperands = operand_count(F::row, kCount);
  using Operand = std::conditional_t<kOperands == 1, MovingSource<D>, VectorSource<D>>;
  [&]<std::size_t... kInput>(std::index_sequence<kInput...>) HWY_ATTR {
    vector_loop<Form>(D(), out, n, std::conditional_t<(kInput < kOperands), Operand, NumberSource<D>>(in[kInput])...);
  }
  (std::make_index_sequence<kCount>());
}
#if TENON_HAS_VECTORS
/// addcmul of bytes. There are only products of 16 bits: those of pairs have the first byte's product in their low
/// byte; the second one's is in the high byte where the last factor's low byte is 0. Bench: tenon_bench --ops --dtype
/// uint8 --filter 'ops/addcmul'.
struct AddedByteProducts {
  template <class D>
  static HWY_INLINE Vector<D> forward(Vector<D> a, Vector<D> b, Vector<D> c, Vector<D> factor) {
    const D d;
    const hn::Repartition<uint16_t, D> pairs;
    const auto left = hn::BitCast(pairs, b.v), right = hn::BitCast(pairs, c.v), by = hn::BitCast(pairs, factor.v);
    const auto even = hn::Mul(hn::Mul(left, by), right);
    const auto odd = hn::Mul(hn::Mul(hn::ShiftRight<8>(left), by), hn::And(right, hn::Set(pairs, 0xFF00)));
    return {hn::Add(a.v, hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even)))};
  }
};
#endif

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
/// Shifts by lanes as the instructions compute them: by the width or more, or by a negative number, they leave 0 or
/// copies of the sign, which GCC computes beside them. AVX2 has none of 16 bits: those of 32 shift one of two lanes.
/// Bench: tenon_bench --ops --dtype int16 --filter 'ops/bitwise_.*shift$'.
template <bool kLeft>
struct ShiftedLanes {
  template <class D>
  static HWY_INLINE Vector<D> forward(Vector<D> a, Vector<D> b) {
    const D d;
    if constexpr (sizeof(hn::TFromD<D>) > sizeof(int16_t)) {
      static_assert(kLeft);
      return {hn::Shl(a.v, b.v)};
    } else {
#if HWY_TARGET <= HWY_AVX3
      return {hn::Vec<D>{kLeft ? _mm512_sllv_epi16(a.v.raw, b.v.raw) : _mm512_srav_epi16(a.v.raw, b.v.raw)}};
#else
      static_assert(kLeft);
      const hn::Repartition<uint32_t, D> pairs;
      const auto left = hn::BitCast(pairs, a.v), by = hn::BitCast(pairs, b.v), low = hn::Set(pairs, 0xFFFF);
      const auto even = hn::Shl(left, hn::And(by, low)), odd = hn::Shl(hn::AndNot(low, left), hn::ShiftRight<16>(by));
      return {hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even))};
#endif
    }
  }
};
template <class F, class T>
inline constexpr bool kShiftsLanes =
    (std::is_same_v<F, ops::bitwise_left_shift> &&
     (std::is_same_v<T, int16_t> || (HWY_TARGET == HWY_AVX2 && kIsOneOf<T, int32_t, int64_t>))) ||
    (HWY_TARGET <= HWY_AVX3 && std::is_same_v<F, ops::bitwise_right_shift> && std::is_same_v<T, int16_t>);
// Fewer take less time in the loop that compilers make.
inline constexpr int64_t kFewShifts = HWY_TARGET <= HWY_AVX3 ? 0 : kStreamedLanes;
template <class F, class T>
void shifted_lanes(void* out, const Lanes* in, int64_t n) {
  if (kFewShifts > 0 && n < kFewShifts) return binary<F, T, T, T>(out, in, n);
  several_vectors<F, T, 2, ShiftedLanes<std::is_same_v<F, ops::bitwise_left_shift>>>(out, in, n);
}
#endif

/// A number's conjugate, and its square, of the numbers in a vector of parts. GCC takes three times as long.
/// Bench: tenon_bench --ops --dtype complex64 --rows 8 --filter 'ops/(conj_physical|square)$'.
#if TENON_HAS_VECTORS
struct ConjugateParts {
  template <class D>
  static HWY_INLINE Vector<D> forward(Vector<D> a) {
    const D d;
    return {hn::Xor(a.v, hn::OddEven(hn::Set(d, -0.0), hn::Zero(d)))};
  }
};
struct SquareOfParts {
  template <class D>
  static HWY_INLINE Vector<D> forward(Vector<D> a) {
    const D d;
    const auto by_re = hn::Mul(a.v, hn::DupEven(a.v)), by_im = hn::Mul(hn::Reverse2(d, a.v), hn::DupOdd(a.v));
    return {hn::OddEven(hn::Add(by_re, by_im), hn::Sub(by_re, by_im))};
  }
};
template <class F, class Form, class Z>
void vectors_of_parts(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<typename Z::value_type>;
  if (2 * n < static_cast<int64_t>(hn::MaxLanes(D()))) return by_steps<F, Z, Z>(out, in, n);
  vector_loop<Form>(D(), out, 2 * n, MovingSource<D>(in[0]));
}
#endif

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
#if TENON_HAS_VECTORS
  else if constexpr (std::is_same_v<F, ops::conj_physical>)
    return kernel_pair<&vectors_of_parts<F, ConjugateParts, Z>, Z, Z>();
  else if constexpr (std::is_same_v<F, ops::square>)
    return kernel_pair<&vectors_of_parts<F, SquareOfParts, Z>, Z, Z>();
#endif
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
  else if constexpr (std::is_same_v<F, ops::pow> && std::is_integral_v<T> && sizeof(T) >= 4)
    return {&integer_powers<T>};
#if TENON_HAS_VECTORS
  else if constexpr (row.divides_integers && kDividesInVectors<T>)
    return kernel_pair<&divide_vectors<T, kFloors<F>, kGivesRest<F>>, T, T, T>();
  else if constexpr (std::is_same_v<F, ops::addcmul> && sizeof(T) == 1)
    return kernel_pair<&several_vectors<F, T, kArity, AddedByteProducts>, T, T, T, T, T>();
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  else if constexpr (kShiftsLanes<F, T>)
    return kernel_pair<&shifted_lanes<F, T>, T, T, T>();
#endif
#if TENON_NARROWS_TRUTHS
  else if constexpr (kNarrowsTruths<T> && row.promotion == Promotion::comparison && kArity == 1)
    return kernel_pair<&unary_truths<F, T>, bool, T>();
  else if constexpr (kNarrowsTruths<T> && row.promotion == Promotion::comparison)
    return kernel_pair<&binary_truths<F, T>, bool, T, T>();
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

#if TENON_HAS_VECTORS && !TENON_HAS_MASKS
/// The lanes of bytes that are not 0.
template <class D>
HWY_INLINE hn::Mask<D> load_condition(D d, const uint8_t* from) {
  constexpr std::size_t kWidth = sizeof(hn::TFromD<D>);
  const auto bytes = hn::LoadU(hn::Rebind<uint8_t, D>(), from);
  const auto is_set = [d](const auto& lanes) HWY_ATTR { return hn::Ne(lanes, hn::Zero(d)); };
  if constexpr (kWidth == 1) return is_set(bytes);
  if constexpr (kWidth == 8) return is_set(hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<uint32_t, D>(), bytes)));
  if constexpr (kWidth == 2 || kWidth == 4) return is_set(hn::PromoteTo(d, bytes));
}
// Long rows take less time in the loop that compilers make. Bench: ./dev bench --sweep, where.
inline constexpr int64_t kLongChoices = 256;
/// A row of where. The last vector overlaps the one before.
template <class Bits>
HWY_INLINE void choose_row(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<Bits>;
  const D d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  const auto* const condition = static_cast<const uint8_t*>(in[0].data);
  Bits* const to = static_cast<Bits*>(out);
  if (n < kLanes) {
    const auto at = [](const Lanes& lanes, int64_t i) { return static_cast<const Bits*>(lanes.data)[i * lanes.step]; };
    for (int64_t i = 0; i < n; ++i) to[i] = at(in[condition[i * in[0].step] != 0 ? 1 : 2], i);
    return;
  }
  const auto store_all = [=](const auto& chosen) TENON_UNROLLED {
    store_overlapping<kLanes>(n, chosen(0), chosen,
                              [&](int64_t i, hn::Vec<D> v) TENON_UNROLLED { hn::StoreU(v, d, to + i); });
  };
  if (in[0].step == 0) {
    const VectorSource<D> of_all(in[*condition != 0 ? 1 : 2]);
    return store_all([&](int64_t i) TENON_UNROLLED { return of_all.at(i).v; });
  }
  if (n >= kLongChoices) return several<ops::where, Bits, bool, Bits, Bits>(out, in, n);
  const VectorSource<D> a(in[1]), b(in[2]);
  store_all([&](int64_t i)
                TENON_UNROLLED { return hn::IfThenElse(load_condition(d, condition + i), a.at(i).v, b.at(i).v); });
}
/// where for rows. Bench: ./dev bench --sweep, where.
template <class Bits>
void choose_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  Lanes row[] = {in[0], in[1], in[2]};
  for (; rows > 0; --rows) {
    choose_row<Bits>(out, row, n);
    out = static_cast<std::byte*>(out) + out_step;
    for (int i = 0; i < 3; ++i) row[i].data = static_cast<const std::byte*>(row[i].data) + steps[i];
  }
}
#endif

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
  if constexpr (sizeof(T) >= kSingleElementBytes && !ComplexLane<T>)
    return &rows_or_elements<F, std::conditional_t<kCompares, bool, T>, T, kRows>;
  return kRows;
}

#if TENON_NARROWS_TRUTHS
// Shorter rows take less time in the loop that compilers make.
inline constexpr int64_t kShortTruths = 64;
template <class F, class T>
void comparison_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  if (n < kShortTruths) return binary_rows<F, bool, T, T>(out, out_step, in, steps, n, rows);
  rows_of_truths<F, T>(out, out_step, in, steps, n, rows);
}
#endif

/// Without masks for elements of 4 and 8 bytes: narrower ones have enough lanes in a vector for rows to be joined.
template <class F, class T>
constexpr RowsKernel rows_kernel() {
#if TENON_HAS_MASKS
  if constexpr (has_kernel<F, T>() && kHasMaskedForm<F, T>) return with_single_elements<F, T, &rows_masked<F, T>>();
  if constexpr (F::row.promotion == Promotion::select && !ComplexLane<T> && !std::is_same_v<T, bool>)
    return &select_rows<BitsOfWidth<T>>;
#endif
#if TENON_NARROWS_TRUTHS
  if constexpr (F::row.promotion == Promotion::comparison && F::row.short_rows && kNarrowsTruths<T>)
    return with_single_elements<F, T, &comparison_rows<F, T>>();
#endif
#if TENON_HAS_VECTORS
  if constexpr (F::row.short_rows && !ComplexLane<T> && sizeof(T) >= 4 && has_kernel<F, T>())
    return with_single_elements<
        F, T, &binary_rows<F, std::conditional_t<F::row.promotion == Promotion::comparison, bool, T>, T, T>>();
#if !TENON_HAS_MASKS
  if constexpr (F::row.promotion == Promotion::select && !ComplexLane<T> && !std::is_same_v<T, bool>)
    return &choose_rows<BitsOfWidth<T>>;
#endif
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
