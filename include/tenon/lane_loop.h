// kernel: loops over a function of lanes that the user's compiler sees whole and turns into vectors, for each
// instruction set that the processor may have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tenon/export.h"
#include "tenon/lane.h"
#include "tenon/lanes.h"

namespace tenon::simd {

/// A kernel, and the same with streaming stores: `out` is aligned to a cache line, `n` a multiple of 64. Null: none.
struct LoopKernels {
  Kernel plain = nullptr;
  Kernel streamed = nullptr;
};

/// Bytes of a vector of the library's kernels: 64, 32 or 16.
TENON_API int vector_bytes() noexcept;

#if defined(__clang__)
#define TENON_LOOP [[gnu::flatten]]
#define TENON_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl")
#else
// GCC would use fused multiply-add, which rounds once, for a product and a sum, and no vectors for a root that sets
// errno.
#define TENON_LOOP [[gnu::flatten, gnu::optimize("fp-contract=off", "no-math-errno")]]
#define TENON_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

/// The vectors of some instructions: their bytes, the lanes that a loop computes at once, and how a vector is stored
/// past the caches. Of fewer lanes GCC 12 takes the loop apart before it could make vectors of it.
/// Bench: tenon_bench --filter '^fuse/chain, compiled', also with TENON_ISA=AVX2.
struct GivenVectors {
  static constexpr std::size_t kBytes = 16;
  static constexpr int64_t kLanes = 32;
  static void stream(void* to, const void* from) {
#if defined(__SSE2__)
    using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = long long;
#if defined(__clang__)
    __builtin_nontemporal_store(*static_cast<const Vector*>(from), static_cast<Vector*>(to));
#else
    __builtin_ia32_movntdq(static_cast<Vector*>(to), *static_cast<const Vector*>(from));
#endif
#else
    std::memcpy(to, from, kBytes);
#endif
  }
};
#if defined(__x86_64__)
struct Avx2Vectors {
  static constexpr std::size_t kBytes = 32;
  static constexpr int64_t kLanes = 32;
  [[gnu::target("avx2")]] static void stream(void* to, const void* from) {
    using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = long long;
#if defined(__clang__)
    __builtin_nontemporal_store(*static_cast<const Vector*>(from), static_cast<Vector*>(to));
#else
    __builtin_ia32_movntdq256(static_cast<Vector*>(to), *static_cast<const Vector*>(from));
#endif
  }
};
struct Avx512Vectors {
  static constexpr std::size_t kBytes = 64;
  static constexpr int64_t kLanes = 16;
  [[TENON_AVX512]] static void stream(void* to, const void* from) {
    using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = long long;
#if defined(__clang__)
    __builtin_nontemporal_store(*static_cast<const Vector*>(from), static_cast<Vector*>(to));
#else
    __builtin_ia32_movntdq512(static_cast<Vector*>(to), *static_cast<const Vector*>(from));
#endif
  }
};
#endif

/// An operand with one value for all lanes becomes a vector of it, which then is read like any other: one loop serves
/// every combination of operands.
template <int64_t kLanes, class T>
inline const T* vector_of(const Lanes& in, T* __restrict vector) {
  const T* const from = static_cast<const T*>(in.data);
  if (in.step != 0) return from;
  const T value = *from;
  for (int64_t lane = 0; lane < kLanes; ++lane) vector[lane] = value;
  return vector;
}

/// Copies fewer than 2 * kPart lanes. GCC would make a slow `rep movs` of one copy of any length.
template <int64_t kPart, class T>
inline void copy_few(T* to, const T* from, int64_t n) {
  if constexpr (kPart > 0) {
    if ((n & kPart) != 0) {
      std::memcpy(to, from, kPart * sizeof(T));
      to += kPart;
      from += kPart;
    }
    copy_few<kPart / 2>(to, from, n);
  }
}
/// `n` lanes as a vector whose other lanes are copies of the first one: what the function does with those, it does
/// anyway.
template <int64_t kLanes, class T>
inline const T* filled(const T* from, T* __restrict vector, int64_t n) {
  const T value = *from;
  for (int64_t lane = 0; lane < kLanes; ++lane) vector[lane] = value;
  copy_few<kLanes / 2>(vector, from, n);
  return vector;
}

/// Stores whole vectors past the caches.
template <class Vectors, std::size_t kCount, class T>
inline void stream_vectors(T* to, const T (&from)[kCount]) {
  constexpr std::size_t kStep = Vectors::kBytes / sizeof(T);
  for (std::size_t lane = 0; lane < kCount; lane += kStep) Vectors::stream(to + lane, from + lane);
}

/// `F` is a class with `static apply(a, b, ...)`, which takes and gives elements. Compilers make one vector of a loop
/// of its lanes whose result lies apart from its operands, even at -O2, and keep it in a register; of two and
/// more vectors GCC 12 stores the result twice.
template <class F, class T, class Vectors, bool kStreamed, std::size_t... I>
[[gnu::flatten]] inline void run_vectors(void* out, const Lanes* in, int64_t n, std::index_sequence<I...>) {
  using Result = decltype(F::apply((static_cast<void>(I), T())...));
  constexpr int64_t kLanes = Vectors::kLanes;
  T splats[sizeof...(I)][kLanes];
  const T* from[] = {vector_of<kLanes>(in[I], splats[I])...};
  auto* to = static_cast<Result*>(out);
  // Lanes may be computed twice where the result takes no operand's place.
  const bool may_repeat = n >= kLanes && ((in[I].data != out) && ...);
  const int64_t steps[] = {in[I].step...};  // `in` could be what the loop writes
  const auto move_by = [&](int64_t lanes) {
    to += lanes;
    ((from[I] += steps[I] * lanes), ...);  // exact: inside the operand; a step is 0 or 1
  };
  for (; n >= kLanes; n -= kLanes, move_by(kLanes)) {
    alignas(64) Result results[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) results[lane] = F::apply(from[I][lane]...);
    if constexpr (kStreamed)
      stream_vectors<Vectors>(to, results);
    else
      std::memcpy(to, results, sizeof(results));
  }
  if (n == 0) return;
  T last[sizeof...(I)][kLanes];
  if (may_repeat)
    move_by(n - kLanes);
  else
    ((from[I] = filled<kLanes>(from[I], last[I], n)), ...);
  alignas(64) Result results[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) results[lane] = F::apply(from[I][lane]...);
  if (may_repeat)
    std::memcpy(to, results, sizeof(results));
  else
    copy_few<kLanes / 2>(to, results, n);
}

/// For the instructions that the user compiles for.
template <class F, class T, class Places, bool kStreamed>
TENON_LOOP void run_given(void* out, const Lanes* in, int64_t n) {
  run_vectors<F, T, GivenVectors, kStreamed>(out, in, n, Places());
}
#if defined(__x86_64__)
template <class F, class T, class Places, bool kStreamed>
TENON_LOOP [[gnu::target("avx2")]] void run_avx2(void* out, const Lanes* in, int64_t n) {
  run_vectors<F, T, Avx2Vectors, kStreamed>(out, in, n, Places());
}
template <class F, class T, class Places, bool kStreamed>
TENON_LOOP [[TENON_AVX512]] void run_avx512(void* out, const Lanes* in, int64_t n) {
  run_vectors<F, T, Avx512Vectors, kStreamed>(out, in, n, Places());
}
#endif
#undef TENON_AVX512
#undef TENON_LOOP

/// Clang fuses products and sums inside one expression of plain numbers where the instructions exist, as they do in
/// AVX-512.
template <class F>
constexpr bool may_use_fused() {
#if defined(__clang__)
  return !F::takes_numbers;
#else
  return true;
#endif
}

template <class F, class T, class Places, bool kStreamed>
Kernel best_kernel() {
#if defined(__x86_64__)
  if (may_use_fused<F>() && vector_bytes() == 64) return &run_avx512<F, T, Places, kStreamed>;
  if (vector_bytes() >= 32) return &run_avx2<F, T, Places, kStreamed>;
#endif
  return &run_given<F, T, Places, kStreamed>;
}

/// The loops over elements of `T`. Booleans are few bytes: they are not streamed.
template <class F, class T, int kArity>
LoopKernels loops() {
  using Places = std::make_index_sequence<static_cast<std::size_t>(kArity)>;
  using Result = decltype(
      []<std::size_t... I>(std::index_sequence<I...>) { return F::apply((static_cast<void>(I), T())...); }(Places()));
  LoopKernels kernels{best_kernel<F, T, Places, false>()};
  if constexpr (sizeof(Result) >= 4) kernels.streamed = best_kernel<F, T, Places, true>();
  return kernels;
}

}  // namespace tenon::simd
