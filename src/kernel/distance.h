// kernel: what the kernels of distances take and give.
#pragma once
#include <cstdint>

namespace tenon {

/// How two rows are compared: the norm of their difference with p = 0, 1, 2 and infinity.
enum class Apart : uint8_t { differing, sum, euclidean, largest };
inline constexpr int kApartCount = 4;

/// So many rows are compared with so many others at once.
inline constexpr int64_t kRowsBeside = 4, kColumnsBeside = 16;

/// to[i][k] = the distance of rows[i] from other row k; element j of that is others[j * kColumnsBeside + k].
template <class T>
using DistanceKernel = void (*)(T* const* to, const T* const* rows, const T* others, int64_t n);

struct DistanceKernels {
  DistanceKernel<float> float32[kApartCount];
  DistanceKernel<double> float64[kApartCount];
};
}  // namespace tenon
