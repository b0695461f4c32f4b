// kernel: loops over a function of lanes that the user's compiler sees whole and turns into vectors, for each
// instruction set that the processor may have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Compilers make vectors of a loop of fixed length whose result lies apart from its operands, even at -O2. 64 lanes
// are whole cache lines of any dtype.
inline constexpr int64_t kBlockLanes = 64;

/// An operand with one value for all lanes becomes a block of it, which then is read like any other: one loop serves
/// every combination of operands, and the block stays in the first cache.
template <class T>
inline const T* block_of(const Lanes& in, T* __restrict block, int64_t n) {
  const T* const from = static_cast<const T*>(in.data);
  if (in.step != 0) return from;
  if (n < kBlockLanes) {
    for (int64_t lane = 0; lane < n; ++lane) block[lane] = *from;
    return block;
  }
  // A loop of fixed length is made of vectors.
  const T value = *from;
  for (int64_t lane = 0; lane < kBlockLanes; ++lane) block[lane] = value;
  return block;
}

template <class T>
inline void stream_block(T* to, const T* block) {
#if defined(__SSE2__)
  // Four such stores fill a line as well as one of 64 bytes does. Bench: tenon_bench --filter '^fuse/chain, .*memory'.
  using Part [[gnu::vector_size(16), gnu::may_alias]] = long long;
  constexpr int64_t kStep = 16 / static_cast<int64_t>(sizeof(T));
  for (int64_t lane = 0; lane < kBlockLanes; lane += kStep) {
    const Part part = *reinterpret_cast<const Part*>(block + lane);
#if defined(__clang__)
    __builtin_nontemporal_store(part, reinterpret_cast<Part*>(to + lane));
#else
    __builtin_ia32_movntdq(reinterpret_cast<Part*>(to + lane), part);
#endif
  }
#else
  std::memcpy(to, block, kBlockLanes * sizeof(T));
#endif
}

/// `F` is a class with `static apply(a, b, ...)`, which takes and gives elements.
template <class F, class T, bool kStreamed, std::size_t... I>
[[gnu::flatten]] inline void run_blocks(void* out, const Lanes* in, int64_t n, std::index_sequence<I...>) {
  using Result = decltype(F::apply((static_cast<void>(I), T())...));
  T blocks[sizeof...(I)][kBlockLanes];
  const T* from[] = {block_of(in[I], blocks[I], n)...};
  const int64_t steps[] = {in[I].step * kBlockLanes...};  // exact: a step is 0 or 1
  auto* to = static_cast<Result*>(out);
  for (; n >= kBlockLanes; n -= kBlockLanes, to += kBlockLanes) {
    alignas(64) Result results[kBlockLanes];
    for (int64_t lane = 0; lane < kBlockLanes; ++lane) results[lane] = F::apply(from[I][lane]...);
    if constexpr (kStreamed)
      stream_block(to, results);
    else
      std::memcpy(to, results, sizeof(results));
    ((from[I] += steps[I]), ...);  // exact: inside the operand
  }
  for (int64_t lane = 0; lane < n; ++lane) to[lane] = F::apply(from[I][lane]...);
}

#if defined(__clang__)
#define TENON_LOOP [[gnu::flatten]]
#define TENON_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl")
#else
// GCC would use fused multiply-add, which rounds once, for a product and a sum, and no vectors for a root that sets
// errno.
#define TENON_LOOP [[gnu::flatten, gnu::optimize("fp-contract=off", "no-math-errno")]]
#define TENON_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

/// For the instructions that the user compiles for.
template <class F, class T, class Places, bool kStreamed>
TENON_LOOP void run_given(void* out, const Lanes* in, int64_t n) {
  run_blocks<F, T, kStreamed>(out, in, n, Places());
}
#if defined(__x86_64__)
template <class F, class T, class Places, bool kStreamed>
TENON_LOOP [[gnu::target("avx2")]] void run_avx2(void* out, const Lanes* in, int64_t n) {
  run_blocks<F, T, kStreamed>(out, in, n, Places());
}
template <class F, class T, class Places, bool kStreamed>
TENON_LOOP [[TENON_AVX512]] void run_avx512(void* out, const Lanes* in, int64_t n) {
  run_blocks<F, T, kStreamed>(out, in, n, Places());
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
