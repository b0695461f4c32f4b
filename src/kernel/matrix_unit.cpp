#include "kernel/matrix_unit.h"

#include <algorithm>
#include <cstring>

#include "system/processor.h"

// LP64: GCC's intrinsics take a stride as a long, which must be as wide as an address.
#if defined(__x86_64__) && defined(__LP64__) && (__has_include(<amxbf16intrin.h>) || __has_include(<amxintrin.h>))
#define TENON_HAS_MATRIX_UNIT 1
#include <cpuid.h>
#include <immintrin.h>
#else
#define TENON_HAS_MATRIX_UNIT 0
#endif

namespace tenon::matrix_unit {
namespace {

constexpr int64_t kRowBytes = 64;

}  // namespace

#if TENON_HAS_MATRIX_UNIT
namespace {

#define TENON_TILES __attribute__((target("amx-tile,amx-bf16")))
#define TENON_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#define TENON_ROUNDS __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

/// What LDTILECFG reads: palette 1, and the bytes of a row and the rows of each register. In memory from the start: GCC
/// 12 believes that the instruction reads a pointer, and would leave out stores of the rest.
struct alignas(64) Configuration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr Configuration kConfiguration;

bool has_instructions() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSavesState = 1U << 27;                  // leaf 1, ecx: XGETBV is there
  constexpr unsigned kBfloat16 = 1U << 22, kTile = 1U << 24;  // leaf 7, edx
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSavesState) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  return (d & kBfloat16) != 0 && (d & kTile) != 0;
}

TENON_TILES void configure() { _tile_loadconfig(&kConfiguration); }
TENON_TILES void release() { _tile_release(); }

/// `kRowTiles` by `kColumnTiles` tiles of sums, in registers 0 to 3; of a in 4 and 5, of b in 6 and 7.
template <int kRowTiles, int kColumnTiles>
TENON_TILES void multiply_tiles(const std::byte* a, const std::byte* b, int64_t steps, float* out, bool adds) {
  constexpr auto bytes = kSide * static_cast<int64_t>(sizeof(float));
  float* const lower = out + kTileRows * kSide;
  if (adds) {
    _tile_loadd(0, out, bytes);
    if constexpr (kColumnTiles == 2) _tile_loadd(1, out + kTileRows, bytes);
    if constexpr (kRowTiles == 2) _tile_loadd(2, lower, bytes);
    if constexpr (kRowTiles == 2 && kColumnTiles == 2) _tile_loadd(3, lower + kTileRows, bytes);
  } else {
    _tile_zero(0);
    if constexpr (kColumnTiles == 2) _tile_zero(1);
    if constexpr (kRowTiles == 2) _tile_zero(2);
    if constexpr (kRowTiles == 2 && kColumnTiles == 2) _tile_zero(3);
  }
  for (; steps > 0; --steps, a += kStepBytes, b += kStepBytes) {
    _tile_loadd(4, a, kRowBytes);
    _tile_loadd(6, b, kRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kColumnTiles == 2) {
      _tile_loadd(7, b + kTileBytes, kRowBytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kRowTiles == 2) {
      _tile_loadd(5, a + kTileBytes, kRowBytes);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kColumnTiles == 2) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, out, bytes);
  if constexpr (kColumnTiles == 2) _tile_stored(1, out + kTileRows, bytes);
  if constexpr (kRowTiles == 2) _tile_stored(2, lower, bytes);
  if constexpr (kRowTiles == 2 && kColumnTiles == 2) _tile_stored(3, lower + kTileRows, bytes);
}

/// 16 columns of two neighbours along depth as pairs, of those that the masks name.
TENON_AVX512 inline void store_pairs(std::byte* to, const uint16_t* from, int64_t depth_stride, __mmask16 first,
                                     __mmask16 second) {
  // With masks: GCC 12 warns of what its headers leave undefined in the forms without masks.
  const __m512i low = _mm512_maskz_cvtepu16_epi32(first, _mm256_maskz_loadu_epi16(first, from)),
                high = _mm512_maskz_cvtepu16_epi32(second, _mm256_maskz_loadu_epi16(second, from + depth_stride));
  _mm512_storeu_si512(to, _mm512_or_si512(low, _mm512_maskz_slli_epi32(second, high, 16)));
}

}  // namespace

bool is_there() noexcept {
  static const bool found = has_instructions() && system::permit_matrix_registers();
  return found;
}

Tiles::Tiles() noexcept { configure(); }
Tiles::~Tiles() { release(); }

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): it needs the registers' configuration
void Tiles::multiply(const std::byte* a, const std::byte* b, int64_t steps, float* sums, bool has_two_rows,
                     bool has_two_columns, bool adds) noexcept {
  if (has_two_rows && has_two_columns) return multiply_tiles<2, 2>(a, b, steps, sums, adds);
  if (has_two_rows) return multiply_tiles<2, 1>(a, b, steps, sums, adds);
  if (has_two_columns) return multiply_tiles<1, 2>(a, b, steps, sums, adds);
  multiply_tiles<1, 1>(a, b, steps, sums, adds);
}

TENON_AVX512 void pack_columns(std::byte* to, int64_t panel_bytes, const uint16_t* from, int64_t depth_stride,
                               int64_t columns, int64_t depth) noexcept {
  const int64_t padded = (depth + kStepDepth - 1) / kStepDepth * kStepDepth;
  // Row by row: memory is read in its order, and no two rows wait for the same place of a cache.
  for (int64_t k = 0; k < padded; k += 2, from += 2 * depth_stride) {
    std::byte* row = to + k / kStepDepth * kStepBytes + k % kStepDepth / 2 * kRowBytes;
    for (int64_t column = 0; column < columns; column += kSide, row += panel_bytes) {
      const auto present = static_cast<uint32_t>((uint64_t{1} << std::min(kSide, columns - column)) - 1);
      const uint32_t first = k < depth ? present : 0, second = k + 1 < depth ? present : 0;
      store_pairs(row, from + column, depth_stride, static_cast<__mmask16>(first), static_cast<__mmask16>(second));
      store_pairs(row + kTileBytes, from + column + kTileRows, depth_stride, static_cast<__mmask16>(first >> kTileRows),
                  static_cast<__mmask16>(second >> kTileRows));
    }
  }
}

TENON_ROUNDS void store_rounded(uint16_t* out, int64_t out_stride, const float* sums, int64_t rows,
                                int64_t columns) noexcept {
  const auto present = static_cast<__mmask32>((uint64_t{1} << columns) - 1);
  for (int64_t row = 0; row < rows; ++row, out += out_stride, sums += kSide) {
    const __m512bh rounded = _mm512_cvtne2ps_pbh(_mm512_load_ps(sums + kTileRows), _mm512_load_ps(sums));
    _mm512_mask_storeu_epi16(out, present, reinterpret_cast<__m512i>(rounded));
  }
}
#else
bool is_there() noexcept { return false; }
Tiles::Tiles() noexcept = default;
Tiles::~Tiles() = default;
void Tiles::multiply(const std::byte*, const std::byte*, int64_t, float*, bool, bool, bool) noexcept {}
void pack_columns(std::byte*, int64_t, const uint16_t*, int64_t, int64_t, int64_t) noexcept {}
void store_rounded(uint16_t*, int64_t, const float*, int64_t, int64_t) noexcept {}
#endif

void pack_rows(std::byte* to, const uint16_t* from, int64_t row_stride, int64_t rows, int64_t depth) noexcept {
  const int64_t whole = depth / kStepDepth, rest = depth % kStepDepth, steps = whole + (rest > 0 ? 1 : 0);
  for (int64_t row = 0; row < kSide; ++row, from += row_stride) {
    std::byte* at = to + row / kTileRows * kTileBytes + row % kTileRows * kRowBytes;
    if (row >= rows) {
      for (int64_t step = 0; step < steps; ++step, at += kStepBytes) std::memset(at, 0, kRowBytes);
      continue;
    }
    for (int64_t step = 0; step < whole; ++step, at += kStepBytes) std::memcpy(at, from + step * kStepDepth, kRowBytes);
    if (rest == 0) continue;
    std::memset(at, 0, kRowBytes);
    std::memcpy(at, from + whole * kStepDepth, static_cast<std::size_t>(rest) * sizeof(uint16_t));
  }
}

}  // namespace tenon::matrix_unit
