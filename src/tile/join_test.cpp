// Rows of runs of any length against a loop over single bytes, for lengths on both sides of every threshold.
#include "tile/join.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "sampled.h"
#include "tenon/threads.h"
#include "tile/run.h"

namespace tenon {
namespace {

using Bytes = std::vector<std::byte>;

Bytes drawn(int64_t count) {
  static std::mt19937 random(1);
  Bytes bytes(static_cast<std::size_t>(count));
  std::generate(bytes.begin(), bytes.end(), [] { return static_cast<std::byte>(random()); });
  return bytes;
}

/// Whether `rows` rows of runs of these lengths are right, and nothing around them is written.
/// `gap`: bytes between the rows of every second part.
bool joins(const std::vector<int64_t>& lengths, int64_t rows, int64_t offset = 0, int64_t gap = 0) {
  std::vector<Bytes> data;
  std::vector<Part> parts;
  int64_t row_bytes = 0;
  for (int64_t length : lengths) {
    const int64_t step = length + (data.size() % 2 == 0 ? gap : 0);
    data.push_back(drawn(step * (rows - 1) + length + offset));
    parts.push_back({data.back().data() + offset, length, step});
    row_bytes += length;
  }
  const Bytes before = drawn(row_bytes * rows + offset + 64);
  Bytes out = before, wanted = before;
  auto to = wanted.begin() + offset;
  for (int64_t row = 0; row < rows; ++row)
    for (const Part& part : parts) to = std::copy_n(part.data + row * part.step, part.nbytes, to);
  join(out.data() + offset, parts.data(), static_cast<int64_t>(parts.size()), rows);
  return out == wanted;
}

TEST(Join, ShortRuns) {
  for (int64_t rows : {1, 2, 3, 31, 33, 1000})
    for (int64_t a : {1, 2, 3, 4, 5, 8, 12, 31, 32, 33, 64, 255, 256, 257})
      for (int64_t b : {1, 4, 8, 20, 257}) {
        EXPECT_TRUE(joins({a}, rows)) << a << " " << rows;
        EXPECT_TRUE(joins({a, b}, rows)) << a << " " << b << " " << rows;
        EXPECT_TRUE(joins({b, a, b}, rows, 3)) << a << " " << b << " " << rows;
      }
}

TEST(Join, RunsWithGaps) {
  int number = 0;
  for (int64_t rows : {1, 2, 3, 33, 5000})
    for (int64_t a : {1, 3, 8, 31, 32, 66, 193, 264, 1025})
      for (int64_t gap : {1, 2, 40}) {
        if (++number % kSampled != 0) continue;
        EXPECT_TRUE(joins({a}, rows, 0, gap)) << a << " " << rows << " " << gap;
        EXPECT_TRUE(joins({a, 20}, rows, 3, gap)) << a << " " << rows << " " << gap;
        EXPECT_TRUE(joins({7, a, 300, a}, rows, 1, gap)) << a << " " << rows << " " << gap;
      }
}

TEST(Join, RunsOfSomeHundredBytes) {
  for (int64_t rows : {1, 2, 3, 50})
    for (int64_t a : {193, 258, 415, 1000, 1023, 1024, 1025})
      for (int64_t b : {1, 6, 17, 130, 700, 1024}) {
        EXPECT_TRUE(joins({a, b}, rows)) << a << " " << b << " " << rows;
        EXPECT_TRUE(joins({b, a, b}, rows, 3)) << a << " " << b << " " << rows;
        EXPECT_TRUE(joins({b, a, a, b}, rows, 1)) << a << " " << b << " " << rows;
        EXPECT_TRUE(joins({b, a, 2, a, b}, rows, 2)) << a << " " << b << " " << rows;
      }
}

TEST(Join, ManyShortRuns) {
  for (std::size_t count : {31u, 32u, 33u})
    for (int64_t rows : {1, 5, 40'000})
      EXPECT_TRUE(joins(std::vector<int64_t>(count, 3), rows)) << count << " " << rows;
}

TEST(Join, RunsOfOneElement) {
  for (int64_t width : {1, 2, 4, 8})
    for (int64_t rows : {1, 100, 10'000})
      for (std::size_t count : {1u, 2u, 3u, 7u, 100u, 5000u}) {
        if (rows * static_cast<int64_t>(count) > 100'000) continue;
        EXPECT_TRUE(joins(std::vector<int64_t>(count, width), rows)) << width << " " << rows << " " << count;
        EXPECT_TRUE(joins(std::vector<int64_t>(count, width), rows, 1)) << width << " " << rows << " " << count;
      }
}

TEST(Join, RowsOfAFewBytes) {
  for (int64_t rows : {15, 16, 257, 700, 5000})
    for (int64_t a : {1, 2, 3, 4, 7, 8, 12})
      for (int64_t b : {1, 2, 3, 5, 8, 16}) {
        EXPECT_TRUE(joins({a, b}, rows)) << a << " " << b << " " << rows;
        EXPECT_TRUE(joins({a, b, a}, rows, 1)) << a << " " << b << " " << rows;
        EXPECT_TRUE(joins({b, 1, a, 6}, rows, 2)) << a << " " << b << " " << rows;
        EXPECT_TRUE(joins({b, 2, a, 3, a}, rows, 2)) << a << " " << b << " " << rows;
      }
}

TEST(Join, PastTheCachesAndByAnyNumberOfThreads) {
  const int64_t many = 3 * streaming_threshold() / 2 + 100'000;
  const int before = get_num_threads();
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (int64_t nbytes : {many, int64_t{500'000}}) {
      EXPECT_TRUE(joins({nbytes}, 1)) << nbytes;
      EXPECT_TRUE(joins({nbytes / 2 + 13, nbytes / 2, 7}, 1, 5)) << nbytes;
      EXPECT_TRUE(joins({5000, 1024}, nbytes / 6024)) << nbytes;
      EXPECT_TRUE(joins({12, 20}, nbytes / 32)) << nbytes;
      EXPECT_TRUE(joins({4, 4, 4}, nbytes / 12)) << nbytes;
      EXPECT_TRUE(joins({1, 2, 1}, nbytes / 4, 3)) << nbytes;
      EXPECT_TRUE(joins({7, 2, 40}, nbytes / 49)) << nbytes;
      EXPECT_TRUE(joins({100, 144, 100}, nbytes / 344)) << nbytes;
      EXPECT_TRUE(joins({65, 3, 191, 7}, nbytes / 266, 3)) << nbytes;
      EXPECT_TRUE(joins({300, 2000}, nbytes / 2300)) << nbytes;
      EXPECT_TRUE(joins({876, 16, 876}, nbytes / 1768)) << nbytes;
      EXPECT_TRUE(joins({515, 1, 300}, nbytes / 816, 5)) << nbytes;
      EXPECT_TRUE(joins({1, 20'000, 3, 1}, nbytes / 20'005, 63)) << nbytes;
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace tenon
