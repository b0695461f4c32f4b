// Kernels of var and kernels that search extremes give what plain loops give, for rows of any length, with and without
// gaps, and in blocks; they read nothing behind the last element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "last_page.h"
#include "ops/row.h"
#include "sampled.h"
#include "tenon/dtype.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// `count` blocks of `rows` rows of `n` elements.
struct Blocks {
  int64_t n, step, rows, jump, count;
  int64_t numel() const { return (count - 1) * jump + (rows - 1) * step + n; }
  int64_t columns() const { return count * n; }
  int64_t at(int64_t column, int64_t row) const { return column / n * jump + row * step + column % n; }
  std::string text() const {
    return std::to_string(count) + " blocks " + std::to_string(jump) + " apart of " + std::to_string(rows) + " rows " +
           std::to_string(step) + " apart of " + std::to_string(n);
  }
};
/// A copy behind whose last element nothing may be read.
template <class T>
class Exact {
 public:
  explicit Exact(const std::vector<T>& elements)
      : page_(nbytes_of(elements)), elements_(reinterpret_cast<T*>(page_.last(nbytes_of(elements)))) {
    std::copy(elements.begin(), elements.end(), elements_);
  }
  T* get() const { return elements_; }
  T& operator[](std::size_t i) const { return elements_[i]; }

 private:
  static int64_t nbytes_of(const std::vector<T>& elements) { return static_cast<int64_t>(elements.size() * sizeof(T)); }

  LastPage page_;
  T* elements_;
};

// --- var

template <class T>
const StateKernels* spread_kernels() {
  const StateKernels* found = kernels().state_fold[static_cast<int>(Op::var)][static_cast<int>(dtype_of_v<T>)];
  return found && found->blocks ? found : nullptr;
}
/// Numbers around 1000, and columns of equal ones.
template <class T>
std::vector<T> spread_numbers(const Blocks& blocks) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < blocks.numel(); ++i) {
    const bool is_equal = blocks.n > 1 && blocks.step > 0 && i % blocks.step == 0;
    numbers.push_back(static_cast<T>(is_equal ? 0.1 : 1000 + static_cast<double>((i * 37 + i / 11 * 5) % 23)));
  }
  return numbers;
}
struct States {
  static constexpr int64_t kSlack = 16;
  int64_t stride;
  std::vector<double> fields;
  explicit States(int64_t columns) : stride(columns + kSlack), fields(static_cast<std::size_t>(3 * stride), -1) {}
  double field(int64_t i, int64_t column) const { return fields[static_cast<std::size_t>(i * stride + column)]; }
};
template <class T>
void expect_spread(const States& states, const std::vector<T>& numbers, const Blocks& blocks, const char* form) {
  for (int64_t column = 0; column < blocks.columns(); ++column) {
    long double sum = 0, squares = 0;
    const auto number = [&](int64_t row) { return numbers[static_cast<std::size_t>(blocks.at(column, row))]; };
    for (int64_t row = 0; row < blocks.rows; ++row) sum += static_cast<long double>(number(row) - number(0));
    const long double mean = sum / static_cast<long double>(blocks.rows) + static_cast<long double>(number(0));
    for (int64_t row = 0; row < blocks.rows; ++row) {
      const long double distance = static_cast<long double>(number(row)) - mean;
      squares += distance * distance;
    }
    const std::string what = std::string(form) + ", " + dtype_name(dtype_of_v<T>) + ", " + blocks.text() + ", column " +
                             std::to_string(column);
    ASSERT_EQ(states.field(0, column), static_cast<double>(blocks.rows)) << what;
    ASSERT_NEAR(states.field(1, column), static_cast<double>(mean), 1e-12 * std::abs(static_cast<double>(mean)))
        << what;
    ASSERT_NEAR(states.field(2, column), static_cast<double>(squares), 1e-11 * static_cast<double>(squares)) << what;
  }
}
/// The results of runs, in memory that ends with the last one.
template <class T>
std::vector<T> finished(const StateKernels& kernels, int result, const Exact<T>& memory, const Blocks& blocks) {
  const Exact<T> results{std::vector<T>(static_cast<std::size_t>(blocks.count))},
      others{std::vector<T>(static_cast<std::size_t>(blocks.count))};
  void* const out[] = {results.get(), others.get()};
  const double correction = 1;
  kernels.finished(out, memory.get(), blocks.rows, blocks.jump, blocks.count, &correction);
  const T* const from = result == 0 ? results.get() : others.get();
  return {from, from + blocks.count};
}
/// Variances and norms of runs.
template <class T>
void expect_finished(const Exact<T>& memory, const std::vector<T>& numbers, const Blocks& blocks) {
  const auto states_of = [](Op op) -> const StateKernels& {
    return *kernels().state_fold[static_cast<int>(op)][static_cast<int>(dtype_of_v<T>)];
  };
  const auto variances = finished<T>(states_of(Op::var_mean), 0, memory, blocks),
             means = finished<T>(states_of(Op::var_mean), 1, memory, blocks),
             deviations = finished<T>(states_of(Op::std_), 0, memory, blocks),
             norms = finished<T>(states_of(Op::linalg_vector_norm), 0, memory, blocks);
  const double error = sizeof(T) == 4 ? 1e-6 : 1e-11;
  for (int64_t run = 0; run < blocks.count; ++run) {
    const auto at = static_cast<std::size_t>(run);
    const auto number = [&](int64_t i) {
      return static_cast<double>(numbers[static_cast<std::size_t>(blocks.at(run, i))]);
    };
    double sum = 0, squares = 0, of_distances = 0;
    for (int64_t i = 0; i < blocks.rows; ++i) sum += number(i) - number(0), squares += number(i) * number(i);
    const double mean = sum / static_cast<double>(blocks.rows) + number(0);
    for (int64_t i = 0; i < blocks.rows; ++i) of_distances += (number(i) - mean) * (number(i) - mean);
    const double variance = of_distances / static_cast<double>(blocks.rows - 1);
    const std::string what = dtype_name(dtype_of_v<T>) + (", " + blocks.text()) + ", run " + std::to_string(run);
    ASSERT_NEAR(variances[at], variance, error * variance) << what;
    ASSERT_NEAR(means[at], mean, error * std::abs(mean)) << what;
    ASSERT_NEAR(deviations[at], std::sqrt(variance), error * std::sqrt(variance)) << what;
    ASSERT_NEAR(norms[at], std::sqrt(squares), error * std::sqrt(squares)) << what;
  }
}
template <class T>
void expect_spread(const Blocks& blocks) {
  const StateKernels* const found = spread_kernels<T>();
  if (!found) return;
  const std::vector<T> numbers = spread_numbers<T>(blocks);
  const Exact memory(numbers);
  States states(blocks.columns());
  const auto stride = states.stride;
  found->blocks(states.fields.data(), stride, memory.get(), blocks.n, blocks.step, blocks.rows, blocks.jump,
                blocks.count, nullptr);
  expect_spread(states, numbers, blocks, "blocks");
  if (blocks.n == 1) {
    found->along(states.fields.data(), stride, memory.get(), blocks.jump, blocks.count, blocks.rows, nullptr);
    if (blocks.step == 1) expect_spread(states, numbers, blocks, "along");
    if (blocks.step == 1 && blocks.rows > 1 && blocks.rows <= kFinishedRow) expect_finished<T>(memory, numbers, blocks);
  }
  if (blocks.n < States::kSlack || blocks.count > 1) return;
  const int64_t first = blocks.rows / 3;  // the others join
  if (first > 0) found->across(states.fields.data(), stride, memory.get(), blocks.step, first, blocks.n, 0, nullptr);
  found->across(states.fields.data(), stride, memory.get() + first * blocks.step, blocks.step, blocks.rows - first,
                blocks.n, first, nullptr);
  expect_spread(states, numbers, blocks, "across");
}
void expect_spreads(const Blocks& blocks) {
  expect_spread<float>(blocks);
  expect_spread<double>(blocks);
}

TEST(Spread, ShortRowsInBlocks) {
  for (int64_t n = 2; n <= 17; ++n)
    for (int64_t rows = 1; rows <= 40; ++rows)
      for (const int64_t gap : {0, 3}) expect_spreads({n, n + gap, rows, rows * (n + gap) + gap, 3});
}
// Rows without distance and with less than their length, as of expanded and overlapping views, and with little more.
TEST(Spread, ShortRowsThatOverlap) {
  for (int64_t n = 2; n <= 8; ++n)
    for (int64_t rows = 1; rows <= 24; ++rows)
      for (const int64_t step : {int64_t{0}, int64_t{1}, n - 1, n + 1})
        for (const int64_t count : {1, 2}) expect_spreads({n, step, rows, 1, count});
}
TEST(Spread, Runs) {
  for (int64_t n = 1; n <= 150; n += kSampled)
    for (const int64_t runs : {1, 3, 8, 9, 16, 29, 77})
      for (const int64_t step : {n, n + 1, int64_t{1}, int64_t{0}}) expect_spreads({1, 1, n, step, runs});
  for (const int64_t n : {511, 512, 513, 1030, 4099}) expect_spreads({1, 1, n, n, 3});
}
TEST(Spread, Rows) {
  for (int64_t n = 16; n <= 150; ++n)
    for (const int64_t rows : {1, 2, 7, 33}) expect_spreads({n, n + n % 3, rows, 0, 1});
  expect_spreads({600, 600, 5, 0, 1});
}
TEST(Spread, WhatIsNotFinite) {
  const StateKernels* const found = spread_kernels<double>();
  if (!found) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double one[] = {kInfinity}, last[] = {1, kInfinity}, first[] = {kInfinity, 1}, far[] = {1e200, -1e200};
  States states(1);
  const auto fold = [&](const double* run, int64_t n) {
    found->along(states.fields.data(), states.stride, run, n, 1, n, nullptr);
  };
  fold(one, 1);
  EXPECT_EQ(states.field(1, 0), kInfinity);
  EXPECT_TRUE(std::isnan(states.field(2, 0)));
  fold(last, 2);
  EXPECT_EQ(states.field(1, 0), kInfinity);
  EXPECT_TRUE(std::isnan(states.field(2, 0)));
  fold(first, 2);
  EXPECT_TRUE(std::isnan(states.field(1, 0)));
  fold(far, 2);
  EXPECT_EQ(states.field(1, 0), 0);
  EXPECT_EQ(states.field(2, 0), kInfinity);
}

// --- places

/// The bits of few numbers, of floats also of both zeros and of NaN.
template <class U>
std::vector<U> searched_bits(int64_t numel, U infinite, bool has_nan) {
  const U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  const U bits[] = {0,       infinite == 0 ? U{3} : sign, 1, static_cast<U>(infinite - 1), static_cast<U>(sign | 5),
                    infinite};
  std::vector<U> elements;
  for (int64_t i = 0; i < numel; ++i) {
    const int64_t drawn = (i * 37 + i / 7 * 3) % 13;
    const bool is_nan = has_nan && drawn == 7;
    elements.push_back(is_nan ? static_cast<U>(infinite + 1 + (i % 2 == 0 ? 0 : sign)) : bits[drawn % 6]);
  }
  return elements;
}
template <class U>
bool are_same(U a, U b, U infinite) {
  const U size = static_cast<U>(static_cast<U>(~U{0}) >> 1), of_a = a & size, of_b = b & size;
  if (infinite == 0) return a == b;
  return a == b || (of_a == 0 && of_b == 0) || (of_a > infinite && of_b > infinite);
}
/// The first place of each column's extreme if that of its element number 5 * column is one.
template <class U>
void expect_places(Dtype dtype, const Blocks& blocks, U infinite, bool has_nan) {
  const PlaceKernels& find = kernels().place[static_cast<int>(dtype)];
  if (!find.along) return;
  const std::vector<U> elements = searched_bits<U>(blocks.numel(), infinite, has_nan);
  const Exact memory(elements);
  std::vector<U> extremes;
  std::vector<int64_t> want;
  for (int64_t column = 0; column < blocks.columns(); ++column) {
    const auto bits = [&](int64_t row) { return elements[static_cast<std::size_t>(blocks.at(column, row))]; };
    extremes.push_back(bits(column * 5 % blocks.rows));
    int64_t row = 0;
    while (!are_same(bits(row), extremes.back(), infinite)) ++row;
    want.push_back(row);
  }
  const std::string what = std::to_string(sizeof(U)) + " bytes, " + blocks.text();
  std::vector<int64_t> places(want.size());
  extremes.resize(want.size() + 64 / sizeof(U));
  if (blocks.n < kSearchedColumns) {
    find.blocks(places.data(), memory.get(), extremes.data(), blocks.n, blocks.step, blocks.rows, blocks.jump,
                blocks.count, infinite);
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(places[i], want[i]) << what << ", column " << i;
  }
  if (blocks.n > 1 || blocks.step != 1) return;
  find.along(places.data(), memory.get(), extremes.data(), blocks.rows, blocks.jump, blocks.count, infinite);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(places[i], want[i]) << what << ", run " << i;
}
void expect_places(const Blocks& blocks) {
  expect_places<uint8_t>(int8, blocks, 0, false);
  for (const bool has_nan : {false, true}) {
    expect_places<uint16_t>(float16, blocks, 0x7C00, has_nan);
    expect_places<uint16_t>(bfloat16, blocks, 0x7F80, has_nan);
    expect_places<uint32_t>(float32, blocks, 0x7F800000, has_nan);
    expect_places<uint64_t>(float64, blocks, 0x7FF0000000000000, has_nan);
  }
  expect_places<uint16_t>(int16, blocks, 0, false);
  expect_places<uint32_t>(int32, blocks, 0, false);
  expect_places<uint64_t>(int64, blocks, 0, false);
}

/// The rows of the extremes of columns, all at once and in two parts.
template <class T>
void expect_extremes(Dtype dtype, const Blocks& blocks, PlaceOrder order, bool is_smallest) {
  using U = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  const auto search = kernels().place[static_cast<int>(dtype)].across;
  if (!search) return;
  const std::vector<U> bits = searched_bits<U>(blocks.numel(), static_cast<U>(order.infinite), order.infinite != 0);
  const Exact memory(bits);
  const auto number = [&](int64_t column, int64_t row) {
    T element;
    std::memcpy(&element, &bits[static_cast<std::size_t>(blocks.at(column, row))], sizeof element);
    return element_cast<double>(element);
  };
  const auto columns = static_cast<std::size_t>(blocks.n);
  std::vector<int64_t> places(columns, -1), joined(columns, -1);
  const Exact<U> best{std::vector<U>(columns)};
  const int64_t half = blocks.rows / 2;
  search(places.data(), best.get(), memory.get(), blocks.n, blocks.step, blocks.rows, 7, false, order);
  if (half > 0) {
    search(joined.data(), best.get(), memory.get(), blocks.n, blocks.step, half, 7, false, order);
    search(joined.data(), best.get(), memory.get() + half * blocks.step, blocks.n, blocks.step, blocks.rows - half,
           7 + half, true, order);
  }
  for (int64_t column = 0; column < blocks.n; ++column) {
    int64_t want = 0;
    for (int64_t row = 1; row < blocks.rows; ++row) {
      const double a = number(column, row), b = number(column, want);
      if (std::isnan(a) ? !std::isnan(b) : is_smallest ? a < b : a > b) want = row;
    }
    const std::string what = std::to_string(static_cast<int>(dtype)) + ", " + blocks.text();
    ASSERT_EQ(places[static_cast<std::size_t>(column)], want + 7) << what << ", column " << column;
    if (half == 0) continue;
    ASSERT_EQ(joined[static_cast<std::size_t>(column)], want + 7) << what << ", column " << column << ", joined";
  }
}
/// The first places of the extremes of runs, and the extremes themselves where all equal ones have the same bits.
template <class T, class U>
void expect_places_of_rows(Dtype dtype, const Blocks& runs, PlaceOrder order, bool is_smallest) {
  const auto search = kernels().place[static_cast<int>(dtype)].rows;
  if (!search) return;
  const std::vector<U> bits = searched_bits<U>(runs.numel(), static_cast<U>(order.infinite), order.infinite != 0);
  const Exact memory(bits);
  const auto count = static_cast<std::size_t>(runs.count);
  const Exact<int64_t> places{std::vector<int64_t>(count, -1)}, alone{std::vector<int64_t>(count, -1)};
  const Exact<U> best{std::vector<U>(count)};
  search(places.get(), best.get(), memory.get(), runs.rows, runs.jump, runs.count, order);
  search(alone.get(), nullptr, memory.get(), runs.rows, runs.jump, runs.count, order);
  for (int64_t run = 0; run < runs.count; ++run) {
    const auto bits_of = [&](int64_t i) { return bits[static_cast<std::size_t>(runs.at(run, i))]; };
    const auto number = [&](int64_t i) {
      T element;
      const U of = bits_of(i);
      std::memcpy(&element, &of, sizeof element);
      return element_cast<double>(element);
    };
    int64_t want = 0;
    for (int64_t i = 1; i < runs.rows; ++i) {
      const double a = number(i), b = number(want);
      if (std::isnan(a) ? !std::isnan(b) : is_smallest ? a < b : a > b) want = i;
    }
    const auto at = static_cast<std::size_t>(run);
    const std::string what = dtype_name(dtype) + (", " + runs.text()) + ", run " + std::to_string(run);
    ASSERT_EQ(places[at], want) << what;
    ASSERT_EQ(alone[at], want) << what;
    if (dtype == float16 || dtype == bfloat16) continue;
    ASSERT_EQ(static_cast<U>(best[at] ^ static_cast<U>(order.flip)), bits_of(want)) << what;
  }
}
void expect_places_of_rows(const Blocks& runs) {
  for (const bool is_smallest : {false, true}) {
    const uint64_t flip = is_smallest ? ~uint64_t{0} : 0;
    expect_places_of_rows<uint8_t, uint8_t>(uint8, runs, {is_smallest ? 0x7Fu : 0x80u, 0}, is_smallest);
    expect_places_of_rows<int8_t, uint8_t>(int8, runs, {flip, 0}, is_smallest);
    expect_places_of_rows<int16_t, uint16_t>(int16, runs, {flip, 0}, is_smallest);
    expect_places_of_rows<int32_t, uint32_t>(int32, runs, {flip, 0}, is_smallest);
    expect_places_of_rows<int64_t, uint64_t>(int64, runs, {flip, 0}, is_smallest);
    expect_places_of_rows<Float16, uint16_t>(float16, runs, {flip & 0x8000, 0x7C00}, is_smallest);
    expect_places_of_rows<BFloat16, uint16_t>(bfloat16, runs, {flip & 0x8000, 0x7F80}, is_smallest);
    expect_places_of_rows<float, uint32_t>(float32, runs, {flip & 0x80000000, 0x7F800000}, is_smallest);
    expect_places_of_rows<double, uint64_t>(float64, runs, {flip & (uint64_t{1} << 63), 0x7FF0000000000000},
                                            is_smallest);
  }
}
void expect_extremes(const Blocks& blocks) {
  expect_extremes<uint8_t>(uint8, blocks, {0x80, 0}, false);
  expect_extremes<uint8_t>(uint8, blocks, {0x7F, 0}, true);
  for (const bool is_smallest : {false, true}) {
    const uint64_t flip = is_smallest ? ~uint64_t{0} : 0;
    expect_extremes<int8_t>(int8, blocks, {flip, 0}, is_smallest);
    expect_extremes<int16_t>(int16, blocks, {flip, 0}, is_smallest);
    expect_extremes<int32_t>(int32, blocks, {flip, 0}, is_smallest);
    expect_extremes<int64_t>(int64, blocks, {flip, 0}, is_smallest);
    expect_extremes<Float16>(float16, blocks, {flip & 0x8000, 0x7C00}, is_smallest);
    expect_extremes<BFloat16>(bfloat16, blocks, {flip & 0x8000, 0x7F80}, is_smallest);
    expect_extremes<float>(float32, blocks, {flip & 0x80000000, 0x7F800000}, is_smallest);
    expect_extremes<double>(float64, blocks, {flip & (uint64_t{1} << 63), 0x7FF0000000000000}, is_smallest);
  }
}

/// The extremes of runs, of which zeros may have any sign, and NaN any bits.
template <class T>
void expect_values(int64_t n, int64_t step, bool is_smallest, bool has_nan) {
  constexpr uint16_t kInfinite = std::is_same_v<T, Float16> ? 0x7C00 : 0x7F80;
  constexpr int64_t kRuns = 19;
  const Op op = is_smallest ? Op::amin : Op::amax;
  const FoldKernel fold = kernels().fold[static_cast<int>(op)][static_cast<int>(dtype_of_v<T>)];
  const std::vector<uint16_t> elements = searched_bits<uint16_t>((kRuns - 1) * step + n, kInfinite, has_nan);
  const Exact memory(elements);
  const auto number = [](uint16_t bits) { return element_cast<float>(T{bits}); };
  for (const bool is_far : {false, true}) {
    uint16_t got[kRuns];
    fold(got, memory.get(), n, step, kRuns, is_far);
    for (int64_t run = 0; run < kRuns; ++run) {
      const uint16_t* const from = memory.get() + run * step;
      float want = number(from[0]);
      for (int64_t i = 1; i < n; ++i) {
        const float next = number(from[i]);
        if (std::isnan(next) || next == want || (is_smallest ? next < want : next > want)) want = next;
        if (std::isnan(want)) break;
      }
      const float found = number(got[run]);
      ASSERT_TRUE(std::isnan(want) ? std::isnan(found) : found == want)
          << dtype_name(dtype_of_v<T>) << ", " << n << " elements, run " << run << ": " << found << ", not " << want;
    }
  }
}

TEST(Place, ExtremesOfHalves) {
  for (int64_t n = 1; n <= 330; ++n)
    for (const bool is_smallest : {false, true})
      for (const bool has_nan : {false, true}) {
        expect_values<Float16>(n, n + n % 3, is_smallest, has_nan);
        expect_values<BFloat16>(n, n + n % 3, is_smallest, has_nan);
      }
}
TEST(Place, Blocks) {
  for (int64_t n = 2; n <= 17; ++n)
    for (const int64_t rows : {1, 2, 3, 16, 33, 254, 255, 256, 600})
      for (const int64_t gap : {0, 3}) expect_places({n, n + gap, rows, rows * (n + gap), 3});
}
TEST(Place, Rows) {
  for (int64_t n = kSearchedColumns; n <= 200; n += kSampled) expect_extremes({n, n + n % 3, 1 + n * 7 % 32, 0, 1});
  for (int64_t n = 300; n <= 330; n += kSampled) expect_extremes({n, n, kSearchedRows, 0, 1});
}
TEST(Place, ShortRows) {
  for (int64_t n = 1; n <= kSearchedRows; n += n < 70 ? kSampled : 23)
    for (const int64_t rows : {1, 7, 16, 65, 150})
      for (const int64_t step : {n, n + 3, int64_t{1}, int64_t{0}})
        if (n < 70 || step >= n) expect_places_of_rows({1, 1, n, step, rows});
}
TEST(Place, Runs) {
  for (int64_t n = 1; n <= 200; n += kSampled) expect_places({1, 1, n, n + n % 2, 5});
  for (int64_t n = 200; n <= 2000; n += 31) expect_places({1, 1, n, n + n % 2, 5});
}

}  // namespace
}  // namespace tenon
