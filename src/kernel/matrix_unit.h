// kernel: products of bfloat16 matrices by the processor's matrix unit: Intel's AMX ("Intel 64 and IA-32 Architectures
// Software Developer's Manual", volume 1, chapter 18).
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon::matrix_unit {

/// A tile register has 16 rows of 64 bytes: of a, 32 numbers along depth for each of 16 rows; of b, 16 pairs of
/// neighbours along depth, each for 16 columns; of sums, 16 float32 for each of 16 rows. A step multiplies two tiles of
/// a by two of b: 32 rows by 32 columns.
inline constexpr int64_t kTileRows = 16, kTileBytes = 1024;
inline constexpr int64_t kSide = 2 * kTileRows, kStepDepth = 32, kStepBytes = 2 * kTileBytes;

/// Whether there is one that this process may use. The first call asks the operating system.
bool is_there() noexcept;

/// The configuration of a thread's tile registers. The thread has one at a time.
class Tiles {
 public:
  Tiles() noexcept;
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  /// sums = a b, or sums += a b, over `steps` steps: kSide rows of kSide float32, or only the first half of the rows or
  /// columns. `a` and `b` are packed, a step behind the other. Subnormal numbers and sums count as 0.
  void multiply(const std::byte* a, const std::byte* b, int64_t steps, float* sums, bool has_two_rows,
                bool has_two_columns, bool adds) noexcept;
};

/// Packs up to kSide rows of `depth` numbers, which lie side by side; what is missing of a tile is 0.
void pack_rows(std::byte* to, const uint16_t* from, int64_t row_stride, int64_t rows, int64_t depth) noexcept;
/// Packs columns in panels of kSide, which begin `panel_bytes` apart; what is missing of the last one is 0. `from` has
/// a row of contiguous columns for each of `depth` numbers.
void pack_columns(std::byte* to, int64_t panel_bytes, const uint16_t* from, int64_t depth_stride, int64_t columns,
                  int64_t depth) noexcept;
/// Rounds `rows` rows of `columns` sums to bfloat16. `out_stride`: between rows.
void store_rounded(uint16_t* out, int64_t out_stride, const float* sums, int64_t rows, int64_t columns) noexcept;

}  // namespace tenon::matrix_unit
