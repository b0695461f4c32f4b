// Blocks are copied and transposed element by element as a plain loop does, whatever their width; nothing beside them
// is read or written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "sampled.h"

namespace tenon {
namespace {

constexpr int64_t kWidths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 45, 63, 64, 65, 100, 129};
constexpr int64_t kHeights[] = {1, 2, 3, 5, 8, 12, 17, 70};
constexpr std::byte kUntouched{0xA5};

/// Memory of exactly so many bytes, so that a sanitizer finds what is read beside it.
struct Memory {
  std::unique_ptr<std::byte[]> bytes;
  int64_t size;
  explicit Memory(int64_t count) : bytes(new std::byte[static_cast<std::size_t>(count)]), size(count) {}

  static Memory counted(int64_t count) {
    Memory memory(count);
    for (int64_t i = 0; i < count; ++i) memory.bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    return memory;
  }
  static Memory untouched(int64_t count) {
    Memory memory(count);
    std::memset(memory.bytes.get(), static_cast<int>(kUntouched), static_cast<std::size_t>(count));
    return memory;
  }
};

bool are_equal(const Memory& a, const Memory& b) {
  return a.size == b.size && std::memcmp(a.bytes.get(), b.bytes.get(), static_cast<std::size_t>(a.size)) == 0;
}

/// From row to row and from element to element, in elements.
struct Steps {
  int64_t row, element;
};
/// Element (row, i) of `to` becomes element (row, i) of `from`.
void copy_plainly(Memory& to, Steps out, const Memory& from, Steps in, int64_t rows, int64_t n, int64_t width) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(to.bytes.get() + (row * out.row + i * out.element) * width,
                  from.bytes.get() + (row * in.row + i * in.element) * width, static_cast<std::size_t>(width));
}

int64_t extent(int64_t rows, int64_t row_step, int64_t n, int64_t step) {
  return (rows - 1) * row_step + (n - 1) * step + 1;
}

/// Calls check(shift, bytes of an element, elements of a row, rows).
template <class Check>
void for_all_blocks(const Check& check) {
  for (int shift = 0; shift < 5; ++shift)
    for (const int64_t n : kWidths)
      for (const int64_t rows : kHeights) check(shift, int64_t{1} << shift, n, rows);
}

TEST(Move, GatherReadsAnyRows) {
  int number = 0;
  for_all_blocks([&](int shift, int64_t width, int64_t n, int64_t rows) {
    if (++number % kSampled != 0) return;
    for (const int64_t step : {0, 1, 2, 3, 4, 5})
      for (const int64_t gap : {0, 1, 3})
        for (const auto gather : {kernels().move[shift].gather, kernels().move[shift].gather_far}) {
          const int64_t row_step = n * step + gap;
          const Memory from = Memory::counted(extent(rows, row_step, n, step) * width);
          Memory want = Memory::untouched(rows * n * width), got = Memory::untouched(rows * n * width);
          copy_plainly(want, {n, 1}, from, {row_step, step}, rows, n, width);
          gather(got.bytes.get(), from.bytes.get(), step, n, row_step, rows);
          EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << rows << " rows of " << n << ", step " << step;
        }
  });
}

TEST(Move, GathersEveryFewElements) {
  for (int shift = 0; shift < 5; ++shift)
    for (int64_t step = 2; step <= 5; ++step)
      for (int64_t n = 1; n <= 140; ++n)
        for (const int64_t offset : {0, 1, 3}) {
          const int64_t width = int64_t{1} << shift;
          const Memory from = Memory::counted((offset + (n - 1) * step + 1) * width);
          Memory want = Memory::untouched((n + offset + 70) * width), got = Memory::untouched(want.size);
          for (int64_t i = 0; i < n; ++i)
            std::memcpy(want.bytes.get() + (offset + i) * width, from.bytes.get() + (offset + i * step) * width,
                        static_cast<std::size_t>(width));
          kernels().move[shift].gather(got.bytes.get() + offset * width, from.bytes.get() + offset * width, step, n, 0,
                                       1);
          EXPECT_TRUE(are_equal(want, got)) << width << " bytes, every " << step << " of " << n << " from " << offset;
        }
}

TEST(Move, ScatterWritesNothingBesideTheRows) {
  for_all_blocks([](int shift, int64_t width, int64_t n, int64_t rows) {
    for (const int64_t step : {1, 2, 5})
      for (const int64_t gap : {0, 1, 3}) {
        const int64_t row_step = n * step + gap, size = extent(rows, row_step, n, step) * width;
        const Memory from = Memory::counted(rows * n * width);
        Memory want = Memory::untouched(size), got = Memory::untouched(size);
        copy_plainly(want, {row_step, step}, from, {n, 1}, rows, n, width);
        kernels().move[shift].scatter(got.bytes.get(), step, n, row_step, rows, from.bytes.get());
        EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << rows << " rows of " << n << ", step " << step;
      }
  });
}

TEST(Move, RepeatsAnyNumberOfElementsAnyNumberOfTimes) {
  for (int shift = 0; shift < 5; ++shift)
    for (int64_t times = 1; times <= 70; ++times)
      for (const int64_t n : {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100}) {
        const int64_t width = int64_t{1} << shift, beside = 3;
        const Memory from = Memory::counted(n * width);
        Memory want = Memory::untouched((n * times + beside) * width), got = Memory::untouched(want.size);
        copy_plainly(want, {times, 1}, from, {1, 0}, n, times, width);
        kernels().move[shift].repeat(got.bytes.get(), from.bytes.get(), times, n);
        EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << n << " elements, " << times << " times";
      }
}

void expect_transposed(int shift, int64_t rows, int64_t columns, int64_t gap) {
  const int64_t width = int64_t{1} << shift, stride = rows + gap, out_stride = columns + gap;
  const Memory from = Memory::counted(extent(columns, stride, rows, 1) * width);
  const int64_t size = extent(rows, out_stride, columns, 1) * width;
  Memory want = Memory::untouched(size), got = Memory::untouched(size);
  copy_plainly(want, {out_stride, 1}, from, {1, stride}, rows, columns, width);
  kernels().move[shift].transpose(got.bytes.get(), out_stride, from.bytes.get(), stride, rows, columns);
  EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << rows << " x " << columns << ", gap " << gap;
}

TEST(Move, TransposesBlocksOfAnySides) {
  for_all_blocks([](int shift, int64_t, int64_t columns, int64_t rows) {
    for (const int64_t gap : {0, 1, 5}) expect_transposed(shift, rows, columns, gap);
  });
}

TEST(Move, TransposesWideBlocks) {
  for (int shift = 0; shift < 5; ++shift)
    for (const int64_t columns : {127, 128, 129, 135, 136, 200})
      for (int64_t rows = 1; rows <= 70; rows += rows < 18 || (rows > 30 && rows < 34) ? 1 : 9)
        for (const int64_t gap : {0, 3}) expect_transposed(shift, rows, columns, gap);
}

/// Columns in another order than memory's, each with its own gap.
std::vector<int64_t> shuffled_columns(int64_t columns, int64_t rows, int64_t gap) {
  std::vector<int64_t> offsets;
  for (int64_t column = 0; column < columns; ++column)
    offsets.push_back((column % 2 == 0 ? column : columns - 1 - column + columns % 2) * (rows + gap));
  return offsets;
}

TEST(Move, TransposesListedColumns) {
  for_all_blocks([](int shift, int64_t width, int64_t columns, int64_t rows) {
    for (const int64_t gap : {0, 3}) {
      const std::vector<int64_t> offsets = shuffled_columns(columns, rows, gap);
      const int64_t out_stride = columns + gap;
      const int64_t last = *std::max_element(offsets.begin(), offsets.end());
      const Memory from = Memory::counted((last + rows) * width);
      Memory want = Memory::untouched(rows * out_stride * width), got = Memory::untouched(want.size);
      for (int64_t column = 0; column < columns; ++column)
        for (int64_t row = 0; row < rows; ++row)
          std::memcpy(want.bytes.get() + (row * out_stride + column) * width,
                      from.bytes.get() + (offsets[static_cast<std::size_t>(column)] + row) * width,
                      static_cast<std::size_t>(width));
      kernels().move[shift].transpose_listed(got.bytes.get(), out_stride, from.bytes.get(), offsets.data(), rows,
                                             columns);
      EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << rows << " x " << columns << ", gap " << gap;
    }
  });
}

TEST(Move, CopiesListedRuns) {
  for_all_blocks([](int shift, int64_t width, int64_t n, int64_t runs) {
    const std::vector<int64_t> offsets = shuffled_columns(runs, n, 1);
    const Memory from = Memory::counted((*std::max_element(offsets.begin(), offsets.end()) + n) * width);
    Memory want = Memory::untouched((runs * n + 3) * width), got = Memory::untouched(want.size);
    for (int64_t run = 0; run < runs; ++run)
      std::memcpy(want.bytes.get() + run * n * width, from.bytes.get() + offsets[static_cast<std::size_t>(run)] * width,
                  static_cast<std::size_t>(n * width));
    kernels().move[shift].copy_listed(got.bytes.get(), from.bytes.get(), offsets.data(), n, runs);
    EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << runs << " runs of " << n;
  });
}

TEST(Move, PicksElementsInAnyOrder) {
  for (int shift = 0; shift < 5; ++shift)
    for (int64_t n = 0; n <= 140; ++n) {
      const int64_t width = int64_t{1} << shift;
      const Memory from = Memory::counted((n + 1) * width);
      std::vector<int32_t> offsets;
      for (int64_t i = 0; i < n; ++i) offsets.push_back(static_cast<int32_t>(i * 37 % (n + 1)));
      Memory want = Memory::untouched((n + 3) * width), got = Memory::untouched(want.size);
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(want.bytes.get() + i * width, from.bytes.get() + offsets[static_cast<std::size_t>(i)] * width,
                    static_cast<std::size_t>(width));
      kernels().move[shift].pick(got.bytes.get(), from.bytes.get(), offsets.data(), n);
      EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << n << " elements";
    }
}

TEST(Move, InterleavesAnyNumberOfElements) {
  for (int shift = 0; shift < 4; ++shift)
    for (int64_t n = 0; n <= 140; ++n) {
      const int64_t width = int64_t{1} << shift, beside = 3;
      const Memory even = Memory::counted(n * width), odd = Memory::counted(3 * n * width);
      Memory want = Memory::untouched((2 * n + beside) * width), got = Memory::untouched(want.size);
      copy_plainly(want, {2, 1}, even, {1, 0}, n, 1, width);
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(want.bytes.get() + (2 * i + 1) * width, odd.bytes.get() + i * width,
                    static_cast<std::size_t>(width));
      kernels().move[shift].interleave(got.bytes.get(), even.bytes.get(), odd.bytes.get(), n);
      EXPECT_TRUE(are_equal(want, got)) << width << " bytes, " << n << " elements";
    }
}

}  // namespace
}  // namespace tenon
