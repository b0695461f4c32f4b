// kernel: loops over 16-bit floats that convert to float32, compute and round once, all in registers.
#if defined(TENON_KERNEL_HALF_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_HALF_INL_H
#undef TENON_KERNEL_HALF_INL_H
#else
#define TENON_KERNEL_HALF_INL_H
#endif

#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

// A block of so many lanes stays near the registers between its conversions. GCC does not vectorise shorter loops: it
// unrolls them first. Blocks are written by vectors of kHalfStored lanes and read by the narrower ones that GCC uses,
// because what two stores wrote is slow to read at once. Bench: tenon_bench --filter '^large/(bf16\+bf16|f16\+f16)/'.
inline constexpr int64_t kHalfBlock = 32, kHalfStored = 16, kHalfRead = 8;

HWY_INLINE void narrow(Float16* to, float value) { to->bits = float16_bits(value); }
HWY_INLINE void narrow(BFloat16* to, float value) { to->bits = bfloat16_bits(value); }
HWY_INLINE void narrow(uint8_t* to, uint8_t value) { *to = value; }

/// One lane, with the processor's conversion instructions where it has them.
template <Half T>
HWY_INLINE float widen_lane(const T* from) {
  return widened(*from);
}
template <Half T>
HWY_INLINE void narrow_lane(T* to, float value) {
  narrow(to, value);
}
template <Half T>
HWY_INLINE void add_to_lane(T* to, float term) {
  narrow(to, widened(*to) + term);
}

template <class From, class To>
HWY_INLINE void widen_block(To* HWY_RESTRICT to, const From* HWY_RESTRICT from) {
  for (int64_t i = 0; i < kHalfBlock; ++i) to[i] = widened(from[i]);
}
template <class To, class From>
HWY_INLINE void narrow_block(To* HWY_RESTRICT to, const From* HWY_RESTRICT from) {
  for (int64_t i = 0; i < kHalfBlock; ++i) narrow(to + i, from[i]);
}

template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}
HWY_INLINE void widen_block(float* HWY_RESTRICT to, const BFloat16* HWY_RESTRICT from) {
  const hn::CappedTag<float, kHalfStored> d;
  for (std::size_t i = 0; i < kHalfBlock; i += hn::Lanes(d)) hn::StoreU(load_widened(d, from + i), d, to + i);
}
/// Like bfloat16_bits, in the upper half of each lane.
template <class D>
HWY_INLINE auto rounded_to_bfloat16(D, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(d32, 0x7FFF)), odd);
  return hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(value)), hn::Set(d32, 0x7FC00000), rounded);
}
HWY_INLINE void narrow_block(BFloat16* HWY_RESTRICT to, const float* HWY_RESTRICT from) {
  const hn::CappedTag<float, kHalfRead> d;
  const hn::RebindToSigned<decltype(d)> signed32;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  for (std::size_t i = 0; i < kHalfBlock; i += hn::Lanes(d)) {
    const auto result = hn::ShiftRight<16>(rounded_to_bfloat16(d, hn::LoadU(d, from + i)));
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(signed32, result)), d16, reinterpret_cast<uint16_t*>(to + i));
  }
}

#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64
// float16, with the processor's conversion instructions.
template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const Float16* from) {
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
}
HWY_INLINE void widen_block(float* HWY_RESTRICT to, const Float16* HWY_RESTRICT from) {
  const hn::CappedTag<float, kHalfStored> d;
  for (std::size_t i = 0; i < kHalfBlock; i += hn::Lanes(d)) hn::StoreU(load_widened(d, from + i), d, to + i);
}
HWY_INLINE float widen_lane(const Float16* from) { return hn::GetLane(load_widened(hn::FixedTag<float, 1>(), from)); }
HWY_INLINE void narrow_lane(Float16* to, float value) {
  const hn::FixedTag<float, 1> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::Set(d, value)), d16, reinterpret_cast<hwy::float16_t*>(to));
}
/// All in one vector register.
HWY_INLINE void add_to_lane(Float16* to, const float& term) {
  const hn::FixedTag<float, 1> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  const auto sum = hn::Add(load_widened(d, to), hn::LoadU(d, &term));
  hn::StoreU(hn::DemoteTo(d16, sum), d16, reinterpret_cast<hwy::float16_t*>(to));
}
HWY_INLINE void narrow_block(Float16* HWY_RESTRICT to, const float* HWY_RESTRICT from) {
  const hn::CappedTag<float, kHalfRead> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  for (std::size_t i = 0; i < kHalfBlock; i += hn::Lanes(d))
    hn::StoreU(hn::DemoteTo(d16, hn::LoadU(d, from + i)), d16, reinterpret_cast<hwy::float16_t*>(to + i));
}
#else
template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const Float16* from) {
  float values[hn::MaxLanes(d)];
  for (std::size_t i = 0; i < hn::MaxLanes(d); ++i) values[i] = widened(from[i]);
  return hn::LoadU(d, values);
}
#endif

/// The type of a block of results before rounding.
template <class Out>
using Unrounded = std::conditional_t<std::is_same_v<Out, bool>, uint8_t, float>;

template <class F, class R, class... In>
HWY_INLINE void forward_block(R* result, const In*... in) {
  if constexpr (F::row.vectors) {
    const hn::CappedTag<float, kHalfStored> d;
    using D = std::remove_const_t<decltype(d)>;
    for (std::size_t i = 0; i < kHalfBlock; i += hn::Lanes(d))
      hn::StoreU(F::forward(Vector<D>{hn::LoadU(d, in + i)}...).v, d, result + i);
  } else {
    for (int64_t i = 0; i < kHalfBlock; ++i) result[i] = F::forward(Lane<float>(in[i])...).v;
  }
}

/// Lanes of one input as float32: converted block by block, or one value expanded once.
template <class T>
struct HalfSource {
  const T* data;
  bool splat;
  alignas(64) float block[kHalfBlock];

  HWY_INLINE explicit HalfSource(const Lanes& lanes) : data(static_cast<const T*>(lanes.data)), splat(lanes.step == 0) {
    if (splat)
      for (float& value : block) value = widened(*data);
  }
  HWY_INLINE const float* at(int64_t i) {
    if (!splat) widen_block(block, data + i);
    return block;
  }
  /// The last of `n` lanes, as many as a block holds; if there are fewer, all.
  HWY_INLINE const float* last(int64_t n) {
    if (TENON_HAS_VECTORS && n >= kHalfBlock) return at(n - kHalfBlock);
    const int64_t first = n > kHalfBlock ? n - kHalfBlock : 0;
    if (splat) return block;
    std::memset(block, 0, sizeof(block));
    for (int64_t k = 0; first + k < n; ++k) block[k] = widened(data[first + k]);
    return block;
  }
};

/// A last, partial block overlaps the one before; it is computed first, because `out` may be an input.
template <class T, class Out, class Run, class... Sources>
HWY_INLINE void half_loop_over(const Run& run, void* out, int64_t n, Sources&&... in) {
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  alignas(64) Unrounded<Out> result[kHalfBlock];
  alignas(64) Stored<Out> last[kHalfBlock];
  const bool is_partial = n % kHalfBlock != 0;
  if (is_partial) {
    run(result, in.last(n)...);
    narrow_block(last, result);
  }
  for (int64_t i = 0; i + kHalfBlock <= n; i += kHalfBlock) {
    run(result, in.at(i)...);
    narrow_block(to + i, result);
  }
  if (!is_partial) return;
  if (n < kHalfBlock)
    std::memcpy(to, last, static_cast<std::size_t>(n) * sizeof(Stored<Out>));
  else
    std::memcpy(to + n - kHalfBlock, last, sizeof(last));
}

template <class F, class T, class Out, class... Sources>
HWY_INLINE void half_loop(void* out, int64_t n, Sources&&... in) {
  const auto run = [](auto* result, const auto*... from) HWY_ATTR { forward_block<F>(result, from...); };
  half_loop_over<T, Out>(run, out, n, in...);
}

template <class F, class T, class Out>
void half_unary(void* out, const Lanes* in, int64_t n) {
  half_loop<F, T, Out>(out, n, HalfSource<T>(in[0]));
}
template <class F, class T, class Out>
void half_binary(void* out, const Lanes* in, int64_t n) {
  half_loop<F, T, Out>(out, n, HalfSource<T>(in[0]), HalfSource<T>(in[1]));
}
template <class F, class T, class Out>
void half_ternary(void* out, const Lanes* in, int64_t n) {
  half_loop<F, T, Out>(out, n, HalfSource<T>(in[0]), HalfSource<T>(in[1]), HalfSource<T>(in[2]));
}

/// A formula that needs no arithmetic, over the bits of 16-bit floats.
template <class F>
struct OfBits {
  template <class... Bits>
  static HWY_INLINE Lane<uint16_t> forward(Bits... bits) {
    return F::of_bits(bits...);
  }
};

/// Widens a block for computations lane by lane, in any order of lanes that `narrow_shuffled` undoes.
template <class T>
HWY_INLINE void widen_shuffled(float* HWY_RESTRICT to, const T* HWY_RESTRICT from) {
  widen_block(to, from);
}
template <class T, class From>
HWY_INLINE void narrow_shuffled(T* HWY_RESTRICT to, const From* HWY_RESTRICT from) {
  narrow_block(to, from);
}
#if HWY_TARGET != HWY_SCALAR
/// The even lanes of a pair of vectors, then the odd ones: a shift and a mask instead of conversions.
HWY_INLINE void widen_shuffled(float* HWY_RESTRICT to, const BFloat16* HWY_RESTRICT from) {
  const hn::CappedTag<uint32_t, kHalfStored> d32;
  const std::size_t lanes = hn::Lanes(d32);
  for (std::size_t i = 0; i < kHalfBlock; i += 2 * lanes) {
    const auto pairs = hn::LoadU(d32, reinterpret_cast<const uint32_t*>(from + i));
    hn::StoreU(hn::ShiftLeft<16>(pairs), d32, reinterpret_cast<uint32_t*>(to + i));
    hn::StoreU(hn::And(pairs, hn::Set(d32, 0xFFFF0000)), d32, reinterpret_cast<uint32_t*>(to + i + lanes));
  }
}
HWY_INLINE void narrow_shuffled(BFloat16* HWY_RESTRICT to, const float* HWY_RESTRICT from) {
  const hn::CappedTag<float, kHalfStored> d;
  const hn::RebindToUnsigned<decltype(d)> d32;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < kHalfBlock; i += 2 * lanes) {
    const auto even = rounded_to_bfloat16(d, hn::LoadU(d, from + i));
    const auto odd = rounded_to_bfloat16(d, hn::LoadU(d, from + i + lanes));
    const auto pairs = hn::Or(hn::ShiftRight<16>(even), hn::And(odd, hn::Set(d32, 0xFFFF0000)));
    hn::StoreU(pairs, d32, reinterpret_cast<uint32_t*>(to + i));
  }
}
#endif

/// Runs the float32 kernel of an op over 16-bit floats. One copy serves every op.
template <class T, class Out, std::size_t kInputs>
HWY_NOINLINE void through_float32(Kernel kernel, void* out, const Lanes* in, int64_t n) {
  constexpr int64_t kChunk = 8 * kHalfBlock;
  alignas(64) float wide[kInputs][kChunk];
  alignas(64) Unrounded<Out> result[kChunk];
  Lanes lanes[kInputs];
  for (std::size_t k = 0; k < kInputs; ++k) {
    lanes[k] = {wide[k], in[k].step};
    wide[k][0] = widened(*static_cast<const T*>(in[k].data));
  }
  constexpr bool kShuffles = !std::is_same_v<Out, bool>;
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t count = std::min(kChunk, n - start), whole = count / kHalfBlock * kHalfBlock;
    for (std::size_t k = 0; k < kInputs; ++k) {
      if (in[k].step == 0) continue;
      const T* from = static_cast<const T*>(in[k].data) + start;
      for (int64_t i = 0; i < whole; i += kHalfBlock)
        if constexpr (kShuffles)
          widen_shuffled(wide[k] + i, from + i);
        else
          widen_block(wide[k] + i, from + i);
      for (int64_t i = whole; i < count; ++i) wide[k][i] = widened(from[i]);
    }
    kernel(result, lanes, count);
    for (int64_t i = 0; i < whole; i += kHalfBlock)
      if constexpr (kShuffles)
        narrow_shuffled(to + start + i, result + i);
      else
        narrow_block(to + start + i, result + i);
    for (int64_t i = whole; i < count; ++i) narrow(to + start + i, result[i]);
  }
}
template <class T, class Out, std::size_t kInputs, Op kOp>
void half_through_float32(void* out, const Lanes* in, int64_t n) {
  const Kernel kernel = kernels().elementwise[static_cast<int>(kOp)][static_cast<int>(float32)];
  through_float32<T, Out, kInputs>(kernel, out, in, n);
}

/// A binary formula over vectors that rounds to the 16-bit type after every step.
template <class F, class T>
void binary_stepped(void* out, const Lanes* in, int64_t n) {
  const auto run = [](float* result, const float* a, const float* b) HWY_ATTR {
    const hn::CappedTag<float, kHalfStored> d;
    using V = SteppedVector<std::remove_const_t<decltype(d)>, T>;
    for (std::size_t i = 0; i < kHalfBlock; i += hn::Lanes(d))
      hn::StoreU(F::forward(V{hn::LoadU(d, a + i)}, V{hn::LoadU(d, b + i)}).v, d, result + i);
  };
  half_loop_over<T, T>(run, out, n, HalfSource<T>(in[0]), HalfSource<T>(in[1]));
}
/// The same, lane by lane.
template <class F, class T>
void binary_stepwise(void* out, const Lanes* in, int64_t n) {
  const T* a = static_cast<const T*>(in[0].data);
  const T* b = static_cast<const T*>(in[1].data);
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i)
    narrow(to + i, F::forward(Lane<T>(widened(a[i * in[0].step])), Lane<T>(widened(b[i * in[1].step]))).v);
}

template <class F, class T, Op kOp>
constexpr KernelPair half_kernel() {
  constexpr const Row& row = F::row;
  // The first would take the float32 kernel; the numbers of the last are float32.
  constexpr bool has_none = (row.dtypes & set_of(dtype_of_v<T>)) == 0 && row.promotion == Promotion::int_to_float;
  if constexpr (has_none || (!row.stepwise && (!has_kernel<F, float>() || keeps_numbers(row))))
    return {};
  else if constexpr (row.stepwise && row.vectors)
    return {&binary_stepped<F, T>};
  else if constexpr (row.stepwise)
    return {&binary_stepwise<F, T>};
  else if constexpr (row.promotion == Promotion::select)
    return kernel_pair<&several<F, uint16_t, bool, uint16_t, uint16_t>, uint16_t, bool, uint16_t,
                       uint16_t>();  // moves elements only
  else {
    using Out = std::conditional_t<row.promotion == Promotion::comparison, bool, T>;
    if constexpr (requires(Lane<uint16_t> bits) { F::of_bits(bits); })
      return kernel_pair<&unary<OfBits<F>, uint16_t, uint16_t>, uint16_t, uint16_t>();
    else if constexpr (requires(Lane<uint16_t> bits) { F::of_bits(bits, bits); })
      return kernel_pair<&binary<OfBits<F>, uint16_t, uint16_t, uint16_t>, uint16_t, uint16_t, uint16_t>();
    else if constexpr (row.through_float32)
      return {&half_through_float32<T, Out, kFormulaArity<F>, kOp>};
    else if constexpr (kFormulaArity<F> == 1)
      return kernel_pair<&half_unary<F, T, Out>, Out, T>();
    else if constexpr (kFormulaArity<F> == 2)
      return kernel_pair<&half_binary<F, T, Out>, Out, T, T>();
    else
      return kernel_pair<&half_ternary<F, T, Out>, Out, T, T, T>();
  }
}

/// Loads 16-bit floats for a fold, which computes in float32.
template <class T>
struct HalfLoad {
  using From = T;
  using To = float;
  template <class D>
  static HWY_INLINE hn::Vec<D> vector(D d, const T* from) {
    return load_widened(d, from);
  }
  static HWY_INLINE float lane(T value) { return widened(value); }
};

template <class Block, class T, Op kOp>
void fill_half_op(KernelTable& table) {
  constexpr int column = static_cast<int>(dtype_of_v<T>);
  if constexpr (Block::row.kind == Kind::map)
    set_kernels(table, kOp, column, half_kernel<Block, T, kOp>());
  else if constexpr (!HasState<Block> && Block::row.kind == Kind::fold && computes<float>(Block::row)) {
    table.fold[static_cast<int>(kOp)][column] = &fold_vectors<Block, HalfLoad<T>>;
#if TENON_HAS_VECTORS
    table.fold_across[static_cast<int>(kOp)][column] = &fold_across<Block, HalfLoad<T>>;
#endif
  }
}

/// Fills the column of a 16-bit float.
template <class T>
void fill_half(KernelTable& table) {  // NOLINT(readability-function-size): a statement for each op
#define TENON_OP(NAME) \
  if constexpr (formula_of(Op::NAME, dtype_of_v<T>) == Op::NAME) fill_half_op<ops::NAME, T, Op::NAME>(table);
#include "ops/list.def"
#undef TENON_OP
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
