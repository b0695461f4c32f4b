// kernel: binary formulas over vectors whose last lanes are loaded and stored by a mask, where the processor has masks.
// Short rows then cost one vector each, and results of one or two bytes have no single lanes.
#if defined(TENON_KERNEL_MASKED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_MASKED_INL_H
#undef TENON_KERNEL_MASKED_INL_H
#else
#define TENON_KERNEL_MASKED_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernel/kernel.h"
#include "kernel/lane-inl.h"
#include "kernel/load_store-inl.h"
#include "kernel/once.h"

#undef TENON_HAS_MASKS
#if HWY_TARGET <= HWY_AVX3
#define TENON_HAS_MASKS 1
#else
#define TENON_HAS_MASKS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_MASKS
/// Lanes of an input, or its one value.
template <class D, bool kSplat>
class MaskedSource {
 public:
  using T = hn::TFromD<D>;
  HWY_INLINE explicit MaskedSource(const void* from) : data_(static_cast<const T*>(from)), value_(hn::Zero(D())) {
    if constexpr (kSplat) value_ = hn::Set(D(), *data_);
  }
  HWY_INLINE Vector<D> at(int64_t i) const {
    if constexpr (kSplat)
      return {value_};
    else
      return {hn::LoadU(D(), data_ + i)};
  }
  HWY_INLINE Vector<D> some(hn::Mask<D> mask, int64_t i) const {
    if constexpr (kSplat)
      return {value_};
    else
      return {hn::MaskedLoad(mask, D(), data_ + i)};
  }

 private:
  const T* data_;
  hn::Vec<D> value_;
};

// Rows up to this length that are read again and again are copied to where more can be read behind them.
inline constexpr int64_t kFixedRowBytes = 1024;
/// One input of rows. Reads under a mask that miss the caches wait for each other, so whole vectors are read in those
/// rows in which they end before the last row does. Bench: ./dev bench --sweep, columns.
template <class D, bool kSplat>
class MaskedRows {
 public:
  using Source = MaskedSource<D, kSplat>;
  HWY_INLINE MaskedRows(const Lanes& lanes, int64_t step, int64_t n, int64_t rows)
      : from_(static_cast<const std::byte*>(lanes.data)), step_(step) {
    constexpr auto kBytes = static_cast<int64_t>(hn::MaxLanes(D()) * sizeof(hn::TFromD<D>));
    const int64_t bytes = n * static_cast<int64_t>(sizeof(hn::TFromD<D>));
    whole_ = rows;
    if (kSplat || bytes % kBytes == 0) return;
    if (step == 0 && bytes <= kFixedRowBytes) {
      std::memcpy(fixed_, from_, static_cast<std::size_t>(bytes));
      std::memset(fixed_ + bytes, 0, kBytes);
      from_ = fixed_;
      return;
    }
    const int64_t behind = kBytes - bytes % kBytes;  // what the last vector reads behind a row
    whole_ = step <= 0 ? 0 : rows - std::min(rows, (behind + step - 1) / step);
  }
  HWY_INLINE int64_t whole() const { return whole_; }
  HWY_INLINE Source next() {
    const Source source(from_);
    from_ += step_;
    return source;
  }

 private:
  const std::byte* from_;
  int64_t step_;
  int64_t whole_;
  alignas(64) std::byte fixed_[kSplat ? 1 : kFixedRowBytes + 64];
};

/// A row's vectors: `whole` lanes in full ones, and the rest.
template <class D>
struct MaskedSpan {
  int64_t whole;
  hn::Mask<D> rest;
  bool has_rest;
  HWY_INLINE explicit MaskedSpan(int64_t n)
      : whole(n / static_cast<int64_t>(hn::MaxLanes(D())) * static_cast<int64_t>(hn::MaxLanes(D()))),
        rest(hn::FirstN(D(), static_cast<std::size_t>(n - whole))),
        has_rest(n != whole) {}
};
/// Results as they lie in memory: a truth is a byte.
template <class D>
struct MaskedResults {
  using Tag = D;
  template <class V>
  static HWY_INLINE hn::Vec<D> of(V result) {
    return result.v;
  }
  static HWY_INLINE hn::Mask<D> stored(hn::Mask<D> mask) { return mask; }
};
template <class D>
struct MaskedTruths {
  using Tag = hn::Rebind<uint8_t, D>;
  static HWY_INLINE hn::Vec<Tag> of(VectorTruth<D> result) {
    return hn::IfThenElseZero(hn::Mask<Tag>{result.v.raw}, hn::Set(Tag(), 1));
  }
  static HWY_INLINE hn::Mask<Tag> stored(hn::Mask<D> mask) { return hn::Mask<Tag>{mask.raw}; }
};

/// A formula over vectors.
template <class F, class T>
struct Masked {
  static constexpr bool kGivesTruth = F::row.promotion == Promotion::comparison;
  using D = hn::ScalableTag<T>;
  using Results = std::conditional_t<kGivesTruth, MaskedTruths<D>, MaskedResults<D>>;
  using Tag = typename Results::Tag;
  using Out = hn::TFromD<Tag>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  template <class A, class B>
  static HWY_INLINE auto at(const A& a, const B& b, int64_t i) {
    return Results::of(F::forward(a.at(i), b.at(i)));
  }
  static HWY_INLINE void store_rest(hn::Vec<Tag> results, Out* to, const MaskedSpan<D>& span) {
    hn::BlendedStore(results, Results::stored(span.rest), Tag(), to + span.whole);
  }
  /// The last lanes are masked: a vector that overlaps the one before would be computed first, because `out` may be an
  /// input, and memory is read slower from the end.
  template <bool kA, bool kB>
  static HWY_INLINE void loop(void* out, const Lanes* in, int64_t n) {
    const MaskedSpan<D> span(n);
    const MaskedSource<D, kA> a(in[0].data);
    const MaskedSource<D, kB> b(in[1].data);
    auto* to = static_cast<Out*>(out);
    for (int64_t i = 0; i < span.whole; i += kLanes) hn::StoreU(at(a, b, i), Tag(), to + i);
    if (!span.has_rest) return;
    store_rest(Results::of(F::forward(a.some(span.rest, span.whole), b.some(span.rest, span.whole))), to, span);
  }
  /// Gives how many rows it computed: those that may read whole vectors.
  template <bool kA, bool kB>
  static HWY_INLINE int64_t loop_of_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n,
                                         int64_t rows) {
    const MaskedSpan<D> span(n);
    MaskedRows<D, kA> first(in[0], steps[0], n, rows);
    MaskedRows<D, kB> second(in[1], steps[1], n, rows);
    const int64_t whole = std::min(first.whole(), second.whole());
    auto* row = static_cast<std::byte*>(out);
    for (int64_t left = whole; left > 0; --left, row += out_step) {
      const auto a = first.next();
      const auto b = second.next();
      auto* to = reinterpret_cast<Out*>(row);
      for (int64_t i = 0; i < span.whole; i += kLanes) hn::StoreU(at(a, b, i), Tag(), to + i);
      if (span.has_rest) store_rest(at(a, b, span.whole), to, span);
    }
    return whole;
  }
  /// Whole blocks of kStreamedLanes.
  template <bool kA, bool kB>
  static HWY_INLINE void stream(void* out, const Lanes* in, int64_t n) {
    const MaskedSource<D, kA> a(in[0].data);
    const MaskedSource<D, kB> b(in[1].data);
    auto* to = static_cast<Out*>(out);
    if constexpr (kGivesTruth) {
      const hn::CappedTag<uint8_t, 64> d;
      for (int64_t i = 0; i < n; i += kStreamedLanes) {
        uint64_t truths = 0;
        for (int64_t k = 0; k < kStreamedLanes; k += kLanes)
          truths |= uint64_t{F::forward(a.at(i + k), b.at(i + k)).v.raw} << k;
        hn::Stream(hn::IfThenElseZero(hn::Mask<decltype(hn::CappedTag<uint8_t, 64>())>{truths}, hn::Set(d, 1)), d,
                   to + i);
      }
    } else {
      for (int64_t i = 0; i < n; i += kLanes) hn::Stream(at(a, b, i), Tag(), to + i);
    }
  }
};

template <class F, class T>
void binary_masked(void* out, const Lanes* in, int64_t n) {
  using M = Masked<F, T>;
  if (in[1].step == 0) return M::template loop<false, true>(out, in, n);
  if (in[0].step == 0) return M::template loop<true, false>(out, in, n);
  M::template loop<false, false>(out, in, n);
}
template <class F, class T>
void streamed_masked(void* out, const Lanes* in, int64_t n) {
  using M = Masked<F, T>;
  if (in[1].step == 0) return M::template stream<false, true>(out, in, n);
  if (in[0].step == 0) return M::template stream<true, false>(out, in, n);
  M::template stream<false, false>(out, in, n);
}
/// Calls the kernel for each of the last rows.
TENON_ONCE inline void run_last_rows(Kernel kernel, void* out, int64_t out_step, const Lanes* in, const int64_t* steps,
                                     int64_t n, int64_t row, int64_t rows) {
  for (; row < rows; ++row) {
    Lanes lanes[2];
    for (std::size_t i = 0; i < 2; ++i)
      lanes[i] = {static_cast<const std::byte*>(in[i].data) + row * steps[i], in[i].step};
    kernel(static_cast<std::byte*>(out) + row * out_step, lanes, n);
  }
}
template <class F, class T>
void rows_masked(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  using M = Masked<F, T>;
  const int64_t done = in[1].step == 0   ? M::template loop_of_rows<false, true>(out, out_step, in, steps, n, rows)
                       : in[0].step == 0 ? M::template loop_of_rows<true, false>(out, out_step, in, steps, n, rows)
                                         : M::template loop_of_rows<false, false>(out, out_step, in, steps, n, rows);
  run_last_rows(&binary_masked<F, T>, out, out_step, in, steps, n, done, rows);
}

/// where: moves elements, so that dtypes of one width share it. Conditions are bytes of any value.
template <class T>
struct MaskedSelection {
  using D = hn::CappedTag<T, 64 / sizeof(T)>;
  using C = hn::Rebind<uint8_t, D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  static HWY_INLINE hn::Vec<D> chosen(Vector<C> condition, Vector<D> a, Vector<D> b) {
    // GCC would load `a` by the mask. Such a load waits for the condition: from memory it took four times as long.
    // Bench: ./dev bench --sweep, where.
    asm("" : "+v"(a.v.raw));
    return hn::IfThenElse(hn::Mask<D>{hn::Ne(condition.v, hn::Zero(C())).raw}, a.v, b.v);
  }
  template <bool kC, bool kA, bool kB>
  static HWY_INLINE hn::Vec<D> at(const MaskedSource<C, kC>& c, const MaskedSource<D, kA>& a,
                                  const MaskedSource<D, kB>& b, int64_t i) {
    return chosen(c.at(i), a.at(i), b.at(i));
  }
  /// The last lanes of a row that ends where the memory of an input may end.
  template <bool kC, bool kA, bool kB>
  static HWY_INLINE hn::Vec<D> some(const MaskedSource<C, kC>& c, const MaskedSource<D, kA>& a,
                                    const MaskedSource<D, kB>& b, const MaskedSpan<D>& span) {
    return chosen(c.some(hn::Mask<C>{span.rest.raw}, span.whole), a.some(span.rest, span.whole),
                  b.some(span.rest, span.whole));
  }
  /// One row; of streaming stores whole blocks of kStreamedLanes.
  template <bool kStreams>
  struct Row {
    template <bool kC, bool kA, bool kB>
    static HWY_INLINE void run(void* out, const Lanes* in, int64_t n) {
      const MaskedSpan<D> span(n);
      const MaskedSource<C, kC> c(in[0].data);
      const MaskedSource<D, kA> a(in[1].data);
      const MaskedSource<D, kB> b(in[2].data);
      T* const to = static_cast<T*>(out);
      for (int64_t i = 0; i < span.whole; i += kLanes) {
        if constexpr (kStreams)
          hn::Stream(at(c, a, b, i), D(), to + i);
        else
          hn::StoreU(at(c, a, b, i), D(), to + i);
      }
      if (!kStreams && span.has_rest) hn::BlendedStore(some(c, a, b, span), span.rest, D(), to + span.whole);
    }
  };
  struct Rows {
    template <bool kC, bool kA, bool kB>
    static HWY_INLINE void run(void* out, const Lanes* in, int64_t n, int64_t out_step, const int64_t* steps,
                               int64_t rows) {
      const MaskedSpan<D> span(n);
      MaskedRows<C, kC> conditions(in[0], steps[0], n, rows);
      MaskedRows<D, kA> first(in[1], steps[1], n, rows);
      MaskedRows<D, kB> second(in[2], steps[2], n, rows);
      int64_t whole = std::min({conditions.whole(), first.whole(), second.whole()});
      auto* row = static_cast<std::byte*>(out);
      for (; rows > 0; --rows, --whole, row += out_step) {
        const auto c = conditions.next();
        const auto a = first.next();
        const auto b = second.next();
        auto* to = reinterpret_cast<T*>(row);
        for (int64_t i = 0; i < span.whole; i += kLanes) hn::StoreU(at(c, a, b, i), D(), to + i);
        if (!span.has_rest) continue;
        const auto rest = whole > 0 ? at(c, a, b, span.whole) : some(c, a, b, span);
        hn::BlendedStore(rest, span.rest, D(), to + span.whole);
      }
    }
  };
  /// One loop for each combination of splats; at least one input is not a splat.
  template <class Loop, bool... kSplats, class... More>
  static HWY_INLINE void pick(void* out, const Lanes* in, int64_t n, More... more) {
    constexpr std::size_t kKnown = sizeof...(kSplats);
    if constexpr (kKnown == 3) {
      Loop::template run<kSplats...>(out, in, n, more...);
    } else {
      if constexpr (kKnown < 2 || !(kSplats && ...))
        if (in[kKnown].step == 0) return pick<Loop, kSplats..., true>(out, in, n, more...);
      pick<Loop, kSplats..., false>(out, in, n, more...);
    }
  }
};
template <class T>
TENON_ONCE void select_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n,
                            int64_t rows) {
  using Selection = MaskedSelection<T>;
  Selection::template pick<typename Selection::Rows>(out, in, n, out_step, steps, rows);
}
template <class T, bool kStreams>
TENON_ONCE void select_row(void* out, const Lanes* in, int64_t n) {
  using Selection = MaskedSelection<T>;
  Selection::template pick<typename Selection::template Row<kStreams>>(out, in, n);
}
/// Results of one or two bytes: in rows of wider ones, the loops that GCC vectorises have few single lanes.
template <class F, class T>
inline constexpr bool kHasMaskedForm = F::row.short_rows&& std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                       (sizeof(T) <= 2 || F::row.promotion == Promotion::comparison);
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
