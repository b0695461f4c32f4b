// kernel: loops of folds with a State. The fields of a state are vectors here, and each lane folds its own elements.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/states.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"
#include "kernel/short_row_sums-inl.h"
#include "kernel/spread-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// What a formula may read besides the element.
template <class D>
struct At {
  using T = hn::TFromD<D>;
  using V = Vector<D>;

  int64_t place;          // index of the first lane's element
  bool is_run;            // whether the next lanes have the following indices, or the same one
  int64_t taken;          // elements that each lane has folded, this one included
  const double* numbers;  // parameters of the op

  // Iota(0) + place, not Iota(place): the compiler can compute only a constant Iota in advance.
  HWY_INLINE V index() const { return is_run ? V{hn::Iota(D(), T{0})} + number(place) : number(place); }
  /// 1 / taken.
  HWY_INLINE V share() const { return number(1.0 / static_cast<double>(taken)); }
  HWY_INLINE V given(int i) const { return number(numbers[i]); }
  template <class Number>
  HWY_INLINE V number(Number value) const {
    return V{hn::Set(D(), static_cast<T>(value))};
  }
  HWY_INLINE V lowest() const {
    if constexpr (std::is_floating_point_v<T>)
      return number(-std::numeric_limits<T>::infinity());
    else
      return number(std::numeric_limits<T>::lowest());
  }
  HWY_INLINE V highest() const {
    if constexpr (std::is_floating_point_v<T>)
      return number(std::numeric_limits<T>::infinity());
    else
      return number(std::numeric_limits<T>::max());
  }
};

template <class F, class V>
using StateOf = typename F::template State<V>;
template <class F>
inline constexpr int kFields = static_cast<int>(sizeof(StateOf<F, int>) / sizeof(int));
/// An op with two results returns them as a struct.
template <class F>
constexpr int result_count() {
  if constexpr (requires { sizeof(typename F::template Results<int>); })
    return static_cast<int>(sizeof(typename F::template Results<int>) / sizeof(int));
  else
    return 1;
}

template <class F, class V>
struct Fields {
  V of[kFields<F>];
  HWY_INLINE explicit Fields(const StateOf<F, V>& state) {
    if constexpr (kFields<F> == 1) {
      const auto& [a] = state;
      of[0] = a;
    } else if constexpr (kFields<F> == 2) {
      const auto& [a, b] = state;
      of[0] = a, of[1] = b;
    } else {
      const auto& [a, b, c] = state;
      of[0] = a, of[1] = b, of[2] = c;
    }
  }
};
/// Builds a state from its fields.
template <class F, class V, class Make>
HWY_INLINE StateOf<F, V> made(const Make& make) {
  if constexpr (kFields<F> == 1)
    return {make(0)};
  else if constexpr (kFields<F> == 2)
    return {make(0), make(1)};
  else
    return {make(0), make(1), make(2)};
}

template <class F, class D>
HWY_INLINE StateOf<F, Vector<D>> load_state(D d, const hn::TFromD<D>* from, int64_t stride) {
  return made<F, Vector<D>>([&](int field) HWY_ATTR { return Vector<D>{hn::LoadU(d, from + field * stride)}; });
}
template <class F, class D>
HWY_INLINE void store_state(D d, const StateOf<F, Vector<D>>& state, hn::TFromD<D>* to, int64_t stride) {
  const Fields<F, Vector<D>> fields(state);
  for (int field = 0; field < kFields<F>; ++field) hn::StoreU(fields.of[field].v, d, to + field * stride);
}
template <class F, class D>
HWY_INLINE StateOf<F, Vector<D>> choose_state(hn::Mask<D> condition, const StateOf<F, Vector<D>>& a,
                                              const StateOf<F, Vector<D>>& b) {
  const Fields<F, Vector<D>> left(a), right(b);
  return made<F, Vector<D>>(
      [&](int field) HWY_ATTR { return Vector<D>{hn::IfThenElse(condition, left.of[field].v, right.of[field].v)}; });
}

template <class T>
#if TENON_HAS_VECTORS
using StateLanes = hn::CappedTag<T, 16>;
#else
using StateLanes = hn::CappedTag<T, 1>;
#endif
template <class T>
using Tag = std::remove_const_t<decltype(StateLanes<T>())>;
inline constexpr int kInFlight =
    4;  // states computed side by side, so that no step waits for the one before; see tenon_bench --filter '^reduce/'

#if HWY_TARGET != HWY_SCALAR  // its vectors have one lane
/// Joins pairs of neighbouring lanes: those of `low`, then those of `high`.
template <class F, class D>
HWY_INLINE StateOf<F, Vector<D>> join_pairs(D d, const StateOf<F, Vector<D>>& low, const StateOf<F, Vector<D>>& high) {
  using V = Vector<D>;
  const Fields<F, V> first(low), second(high);
  auto even = made<F, V>([&](int i) HWY_ATTR { return V{hn::ConcatEven(d, second.of[i].v, first.of[i].v)}; });
  const auto odd = made<F, V>([&](int i) HWY_ATTR { return V{hn::ConcatOdd(d, second.of[i].v, first.of[i].v)}; });
  F::join(even, odd, At<D>{});
  return even;
}
/// Joins `count` states, at most as many as they have lanes, until lane i of the first is the state of run i.
template <class F, class D>
HWY_INLINE void join_across(D d, StateOf<F, Vector<D>>* states, int64_t count) {
  for (std::size_t lanes = hn::MaxLanes(d); lanes > 1; lanes /= 2) {
    const int64_t pairs = (count + 1) / 2;
    for (int64_t i = 0; i < pairs; ++i)
      states[i] = join_pairs<F>(d, states[2 * i], states[std::min(2 * i + 1, count - 1)]);
    count = pairs;
  }
}
#else
template <class F, class D>
HWY_INLINE void join_across(D, StateOf<F, Vector<D>>*, int64_t) {}
#endif

/// Folds one run in the lanes of one state.
template <class F, class D>
HWY_INLINE StateOf<F, Vector<D>> fold_run(D d, const hn::TFromD<D>* from, int64_t n, const double* numbers) {
  using T = hn::TFromD<D>;
  using V = Vector<D>;
  using S = StateOf<F, V>;
  constexpr int64_t kLanes = hn::MaxLanes(D()), kBlock = kLanes * kInFlight;
  const auto at = [&](int64_t i, int64_t taken) HWY_ATTR { return At<D>{i, true, taken, numbers}; };
  const S empty = F::template init<V>(at(0, 0));
  if (n < kLanes) {
    T few[kLanes] = {};
    std::memcpy(few, from, static_cast<std::size_t>(n) * sizeof(T));
    S state = empty;
    F::step(state, V{hn::LoadU(d, few)}, at(0, 1));
    return choose_state<F, D>(hn::FirstN(d, static_cast<std::size_t>(n)), state, empty);
  }
  // The last whole vector, without the lanes that were folded before.
  const auto end = [&](S& state, int64_t i, int64_t taken) HWY_ATTR {
    if (i == n) return;
    S next = state;
    F::step(next, V{hn::LoadU(d, from + n - kLanes)}, at(n - kLanes, taken));
    state = choose_state<F, D>(hn::FirstN(d, static_cast<std::size_t>(kLanes - (n - i))), state, next);
  };
  int64_t i = 0, taken = 0;
  if (n < kBlock) {
    S state = empty;
    for (; i + kLanes <= n; i += kLanes) F::step(state, V{hn::LoadU(d, from + i)}, at(i, ++taken));
    end(state, i, taken + 1);
    return state;
  }
  S states[kInFlight];
  for (S& state : states) state = empty;
  for (; i + kBlock <= n; i += kBlock) {
    ++taken;
    prefetch_ahead(from + i, kBlock);
    for (int k = 0; k < kInFlight; ++k)
      F::step(states[k], V{hn::LoadU(d, from + i + k * kLanes)}, at(i + k * kLanes, taken));
  }
  ++taken;
  for (int k = 0; k + 1 < kInFlight; ++k) {
    if (i + kLanes > n) break;
    F::step(states[k], V{hn::LoadU(d, from + i)}, at(i, taken));
    i += kLanes;
  }
  end(states[kInFlight - 1], i, taken);
  for (int width = kInFlight / 2; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) F::join(states[k], states[k + width], at(0, 0));
  return states[0];
}

template <class F, class T>
void state_along(void* states, int64_t stride, const void* in, int64_t step, int64_t count, int64_t n,
                 const double* numbers) {
  const Tag<T> d;
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(states);
  constexpr int64_t kLanes = hn::MaxLanes(d);
  for (int64_t run = 0; run < count; run += kLanes) {
    StateOf<F, Vector<Tag<T>>> together[kLanes];
    const int64_t runs = std::min(count - run, kLanes);
    for (int64_t i = 0; i < runs; ++i, from += step) together[i] = fold_run<F>(d, from, n, numbers);
    join_across<F>(d, together, runs);
    const Fields<F, Vector<Tag<T>>> fields(together[0]);
    for (int field = 0; field < kFields<F>; ++field)
      store_first(d, fields.of[field].v, to + run + field * stride, runs);
  }
}

/// Folds rows into `kVectors` neighbouring vectors of states, which stay in registers.
template <int kVectors, class F, class D>
HWY_INLINE void step_rows(D d, StateOf<F, Vector<D>>* states, const hn::TFromD<D>* to, int64_t stride,
                          const hn::TFromD<D>* from, int64_t step, int64_t rows, int64_t taken, const double* numbers) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const auto at = [&](int64_t row) HWY_ATTR { return At<D>{taken + row, false, taken + row + 1, numbers}; };
  for (int k = 0; k < kVectors; ++k)
    states[k] = taken == 0 ? F::template init<Vector<D>>(at(0)) : load_state<F>(d, to + k * kLanes, stride);
  for (int64_t row = 0; row < rows; ++row)
    for (int k = 0; k < kVectors; ++k)
      F::step(states[k], Vector<D>{hn::LoadU(d, from + row * step + k * kLanes)}, at(row));
}

template <class F, class T>
void state_across(void* states, int64_t stride, const void* in, int64_t step, int64_t rows, int64_t n, int64_t taken,
                  const double* numbers) {
  const Tag<T> d;
  using D = Tag<T>;
  using S = StateOf<F, Vector<D>>;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(states);
  // The last vector overlaps the one before, so it starts from the states before this call.
  const int64_t last = n < kLanes ? 0 : n - kLanes;
  S end[1];
  if (n % kLanes != 0) step_rows<1, F>(d, end, to + last, stride, from + last, step, rows, taken, numbers);
  int64_t lane = 0;
  S block[kInFlight];
  for (; lane + kInFlight * kLanes <= n; lane += kInFlight * kLanes) {
    step_rows<kInFlight, F>(d, block, to + lane, stride, from + lane, step, rows, taken, numbers);
    for (int k = 0; k < kInFlight; ++k) store_state<F>(d, block[k], to + lane + k * kLanes, stride);
  }
  for (; lane + kLanes <= n; lane += kLanes) {
    step_rows<1, F>(d, block, to + lane, stride, from + lane, step, rows, taken, numbers);
    store_state<F>(d, block[0], to + lane, stride);
  }
  if (n % kLanes != 0) store_state<F>(d, end[0], to + last, stride);
}

template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

template <class F, class T>
void state_absorb(void* wide, const void* states, int64_t stride, int64_t n, int64_t start, bool fresh,
                  const double* numbers) {
  using D = Tag<Wide<T>>;
  using V = Vector<D>;
  const D d;
  const hn::Rebind<T, D> narrow;
  const At<D> at{0, false, 0, numbers};
  const T* from = static_cast<const T*>(states);
  Wide<T>* to = static_cast<Wide<T>*>(wide);
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::MaxLanes(d))) {
    auto state = made<F, V>([&](int field) HWY_ATTR {
      const auto loaded = hn::LoadU(narrow, from + field * stride + i);
      if constexpr (std::is_same_v<T, Wide<T>>)
        return V{loaded};
      else
        return V{hn::PromoteTo(d, loaded)};
    });
    if constexpr (requires { F::shift(state, at.index()); }) F::shift(state, at.number(start));
    if (!fresh) {
      auto joined = load_state<F>(d, to + i, stride);
      F::join(joined, state, at);
      state = joined;
    }
    store_state<F>(d, state, to + i, stride);
  }
}

template <class F, class T>
void state_finish(void* out, const void* states, int64_t stride, int64_t n, const double* numbers) {
  const Tag<T> d;
  const At<Tag<T>> at{0, false, 0, numbers};
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::MaxLanes(d))) {
    const auto state = load_state<F>(d, static_cast<const T*>(states) + i, stride);
    T* const to = static_cast<T*>(out) + i;
    if constexpr (result_count<F>() == 1) {
      hn::StoreU(F::finish(state, at).v, d, to);
    } else {
      const auto [first, second] = F::finish(state, at);
      hn::StoreU(first.v, d, to);
      hn::StoreU(second.v, d, to + stride);
    }
  }
}

/// The op whose steps this op has; they differ only in `finish`.
template <class F>
struct StepsOf {
  using type = F;
};
template <class F>
requires requires { typename F::Steps; }
struct StepsOf<F> {
  using type = typename F::Steps;
};

/// var and its like, of elements as they lie in memory.
template <class F>
inline constexpr bool kIsSpread = std::is_same_v<typename StepsOf<F>::type, ops::var>;
/// argmax and its like have kernels of their own: PlaceKernels.
template <class F>
inline constexpr bool kFindsPlaces = std::is_base_of_v<ops::argmax, F> || std::is_base_of_v<ops::argmin, F>;
#if TENON_HAS_VECTORS
template <class F, class T>
void spread_results(void* const* out, const void* in, int64_t n, int64_t step, int64_t rows, const double* numbers) {
  constexpr bool kHasMean = result_count<F>() == 2, kTakesRoot = std::is_base_of_v<ops::std_, F>;
  T* const means = kHasMean ? static_cast<T*>(out[1]) : nullptr;
  spread_rows(static_cast<T*>(out[0]), means, static_cast<const T*>(in), n, step, rows, numbers[0], kTakesRoot);
}
template <class F, class T>
void set_spread(KernelTable& table, Op op) {
  static constexpr StateKernels kernels{
      &spread_along<T>,         &spread_across<T>,     &spread_blocks<T>, &state_absorb<ops::var, double>,
      &state_finish<F, double>, &spread_results<F, T>, kFields<F>,        result_count<F>()};
  table.state_fold[static_cast<int>(op)][static_cast<int>(dtype_of_v<T>)] = &kernels;
}
#endif

using FinishedKernel = decltype(StateKernels::finished);
template <class F, class T>
constexpr FinishedKernel finished_rows() {
#if TENON_HAS_VECTORS
  if constexpr (std::is_same_v<F, ops::linalg_vector_norm>) return &norm_results<T>;
#endif
  return nullptr;
}

template <class F, class T>
void set_states(KernelTable& table, Op op) {
  using Steps = typename StepsOf<F>::type;
  if constexpr ((F::row.lanes & set_of(dtype_of_v<T>)) != 0) {
    static constexpr StateKernels kernels{&state_along<Steps, T>,
                                          &state_across<Steps, T>,
                                          nullptr,
                                          &state_absorb<Steps, T>,
                                          std::is_same_v<T, Wide<T>> ? &state_finish<F, Wide<T>> : nullptr,
                                          finished_rows<F, T>(),
                                          kFields<F>,
                                          result_count<F>()};
    table.state_fold[static_cast<int>(op)][static_cast<int>(dtype_of_v<T>)] = &kernels;
  }
}

template <class F>
void set_states([[maybe_unused]] KernelTable& table, [[maybe_unused]] Op op) {
#if TENON_HAS_VECTORS
  if constexpr (kIsSpread<F>) {
    set_spread<F, float>(table, op);
    set_spread<F, double>(table, op);
  } else if constexpr (kFindsPlaces<F>) {
  } else
#endif
      if constexpr (HasState<F>) {
    set_states<F, int32_t>(table, op);
    set_states<F, int64_t>(table, op);
    set_states<F, float>(table, op);
    set_states<F, double>(table, op);
  }
}

void fill_states(KernelTable& table) {
#define TENON_OP(NAME) set_states<ops::NAME>(table, Op::NAME);
#include "ops/list.def"
#undef TENON_OP
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
