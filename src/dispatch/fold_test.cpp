// Folds with a state of their own: against plain loops, over shapes, layouts and dims that reach every way they run.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "last_page.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/schema.h"
#include "tenon/threads.h"
#include "tile/course.h"
#include "tile/run.h"

namespace tenon {
namespace {

using Elements = std::vector<double>;

double place_of(const Elements& x, bool largest) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size() && !std::isnan(x[best]); ++i)
    if (std::isnan(x[i]) || (largest ? x[i] > x[best] : x[i] < x[best])) best = i;
  return static_cast<double>(best);
}
double variance(const Elements& x) {
  long double mean = 0, squares = 0;
  for (const double value : x) mean += value;
  mean /= static_cast<long double>(x.size());
  for (const double value : x) squares += (value - mean) * (value - mean);
  return static_cast<double>(squares / static_cast<long double>(x.size() - 1));
}

struct Case {
  const char* name;
  std::function<double(const Elements&)> plain;
  bool one_dim = false;  // it knows places
  double error = 0;      // relative
  double least = 0;      // to results of this size at least: a logarithm near 0 keeps the error of its sum
};
const Case kCases[] = {
    {"argmax", [](const Elements& x) { return place_of(x, true); }, true},
    {"argmin", [](const Elements& x) { return place_of(x, false); }, true},
    {"count_nonzero",
     [](const Elements& x) {
       double count = 0;
       for (const double value : x) count += value != 0;
       return count;
     }},
    {"var", variance, false, 1e-6},
    {"logsumexp",
     [](const Elements& x) {
       double sum = 0, top = *std::max_element(x.begin(), x.end());
       for (const double value : x) sum += std::exp(value - (std::isinf(top) ? 0 : top));
       return std::log(sum) + (std::isinf(top) ? 0 : top);
     },
     false, 1e-6, 1},
    {"linalg_vector_norm",
     [](const Elements& x) {
       double sum = 0;
       for (const double value : x) sum += value * value;
       return std::sqrt(sum);
     },
     false, 1e-6},
    {"std", [](const Elements& x) { return std::sqrt(variance(x)); }, false, 1e-6},
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int64_t below(int64_t bound) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound)); }

 private:
  std::mt19937_64 engine_;
};

/// Small numbers with ties, zeros and, of floats, now and then an infinity or a NaN.
Tensor drawn(Random& random, SizesView sizes, Dtype dtype, bool special) {
  Tensor values = empty(sizes, float64);
  for (int64_t i = 0; i < values.numel(); ++i) {
    double value = static_cast<double>(random.below(41) - 20) / 2;
    if (special && random.below(200) == 0)
      value = random.below(2) ? std::nan("") : -std::numeric_limits<double>::infinity();
    values.data<double>()[i] = value;
  }
  return values.to(dtype);
}

Tensor laid_out(Random& random, const Tensor& dense) {
  const int64_t ndim = dense.dim();
  std::vector<int64_t> order(static_cast<std::size_t>(ndim));
  for (int64_t i = 0; i < ndim; ++i) order[static_cast<std::size_t>(i)] = i;
  for (int64_t i = ndim - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
  std::vector<int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<int64_t>(i);
  Tensor view = dense.permute(order).contiguous().permute(back);
  if (random.below(4) == 0 && ndim > 0) {  // every other element of a wider tensor
    Dims wide = view.sizes().copy();
    const int64_t dim = random.below(ndim);
    wide[dim] *= 2;
    Tensor whole = zeros(wide, view.dtype());
    Tensor part = whole.slice(dim, 0, wide[dim], 2);
    part.copy_(view);
    view = part;
  }
  if (random.below(6) == 0 && ndim > 0) {
    const int64_t dim = random.below(ndim);
    view = view.slice(dim, 0, 1).expand(view.sizes());
  }
  return view;
}

Dims drawn_sizes(Random& random) {
  static constexpr int64_t kSizes[] = {1,  2,  3,  5,   7,   8,   9,   16,   17,   33,
                                       63, 64, 65, 100, 257, 300, 513, 1030, 4100, 9000};
  Dims sizes;
  int64_t numel = 1;
  const int64_t ndim = 1 + random.below(4);
  for (int64_t dim = 0; dim < ndim; ++dim) {
    int64_t size = kSizes[random.below(20)];
    if (numel * size > 40000) size = kSizes[random.below(6)];
    if (numel * size > 40000) size = 1;
    sizes.push_back(size);
    numel *= size;
  }
  return sizes;
}

/// The elements of each result, in the order of the results.
std::vector<Elements> gathered(const Tensor& x, SizesView mask) {
  Dims order, kept;
  int64_t reduced = 1;
  for (int64_t dim = 0; dim < x.dim(); ++dim)
    if (!mask[dim]) order.push_back(dim);
  for (int64_t dim = 0; dim < x.dim(); ++dim)
    if (mask[dim]) {
      order.push_back(dim);
      reduced *= x.sizes()[dim];
    }
  const Tensor rows = x.to(float64).permute(order).contiguous();
  std::vector<Elements> all;
  for (int64_t i = 0; i < rows.numel(); i += reduced)
    all.emplace_back(rows.data<double>() + i, rows.data<double>() + i + reduced);
  return all;
}

/// Compares the fold of `x` along `dims` with plain loops.
void expect_plain(const Case& c, const Tensor& x, const Dims& dims) {
  const Schema* schema = find_schema(c.name);
  std::vector<Value> values(static_cast<std::size_t>(schema->count));
  values[0] = x;
  values[static_cast<std::size_t>(schema->place_of("dim"))] = c.one_dim ? Value(dims[0]) : Value(dims);
  const Tensor got = schema->function(values.data())[0].to(float64).contiguous();
  const std::vector<Elements> rows = gathered(x, reduced_mask(dims, x.dim()));
  ASSERT_EQ(got.numel(), static_cast<int64_t>(rows.size()));
  if (rows[0].size() == 1 && c.error > 0) return;
  const double error = c.error + (x.dtype() == float16 ? 1e-3 : x.dtype() == bfloat16 ? 1e-2 : 0) * (c.error > 0);
  for (int64_t i = 0; i < got.numel(); ++i) {
    const double have = got.data<double>()[i], want = c.plain(rows[static_cast<std::size_t>(i)]);
    const bool same = have == want || (std::isnan(have) && std::isnan(want)) ||
                      std::abs(have - want) <= error * std::max(std::abs(want), c.least);
    ASSERT_TRUE(same) << c.name << " " << dtype_name(x.dtype()) << to_string(x.sizes()) << to_string(x.strides())
                      << " dims " << to_string(dims) << " at " << i << ": wanted " << want << ", got " << have;
  }
}

TEST(Fold, AgainstPlainLoops) {
  Random random(11);
  for (int round = 0; round < 600; ++round) {
    const Case& c = kCases[static_cast<std::size_t>(random.below(static_cast<int64_t>(std::size(kCases))))];
    const Dtype dtypes[] = {float32, float64, float16, bfloat16, int64, int32, int16, uint8, int8};
    const Dtype dtype = dtypes[random.below(c.error > 0 ? 4 : 9)];
    const Tensor x =
        laid_out(random, drawn(random, drawn_sizes(random), dtype, is_floating_point(dtype) && random.below(3) == 0));
    Dims dims;
    for (int64_t dim = 0; dim < x.dim(); ++dim)
      if (random.below(2) == 0) dims.push_back(dim);
    if (c.one_dim) dims = Dims{random.below(x.dim())};
    if (dims.empty()) dims.push_back(0);
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(expect_plain(c, x, dims));
  }
}

// Few elements without gaps, which are folded without a plan; nothing behind them is read.
TEST(Fold, FewElementsAgainstPlainLoops) {
  const LastPage page(1 << 20);
  Random random(12);
  for (const int64_t inner : {1, 2, 3, 7, 8, 9, 16, 17, 100, 128, 129, 257, 600})
    for (const int64_t rows : {1, 2, 3, 4, 9, 20, 40, 255, 257, 4096, 4097})
      for (const int64_t outer : {1, 2, 9, 40, 300}) {
        if (outer * rows * inner > 30'000) continue;
        const Case& c = kCases[static_cast<std::size_t>(2 + random.below(static_cast<int64_t>(std::size(kCases)) - 2))];
        const Dtype dtypes[] = {float32, float64, float16, bfloat16, int16, uint8};
        const Dtype dtype = dtypes[random.below(c.error > 0 ? 4 : 6)];
        const Dims sizes{outer, 1, rows, inner};
        const Tensor x = from_buffer(page.last(outer * rows * inner * itemsize(dtype)), sizes, dtype);
        Tensor(x).copy_(drawn(random, sizes, dtype, false));
        ASSERT_NO_FATAL_FAILURE(expect_plain(c, x, {2}));
        ASSERT_NO_FATAL_FAILURE(expect_plain(kCases[3], x.to(float32), {1, 2}));
      }
}

// The same, of two groups of dims.
TEST(Fold, FewElementsOfTwoGroupsAgainstPlainLoops) {
  const LastPage page(1 << 20);
  Random random(13);
  for (int round = 0; round < 600; ++round) {
    static constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 9, 16, 17, 40, 100, 257, 300};
    Dims sizes;
    for (int64_t dim = 0, numel = 1; dim < 5; ++dim, numel *= sizes[dim - 1]) {
      const int64_t size = kSizes[random.below(12)];
      sizes.push_back(numel * size > 20'000 ? 1 : size);
    }
    const Dtype dtype = std::array{float32, float64, float16, bfloat16}[static_cast<std::size_t>(random.below(4))];
    const Tensor x = from_buffer(page.last(numel_of(sizes) * itemsize(dtype)), sizes, dtype);
    Tensor(x).copy_(drawn(random, sizes, dtype, round % 4 == 0));
    ASSERT_NO_FATAL_FAILURE(expect_plain(kCases[round % 2 == 0 ? 3 : 6], x, {1, 3}));
  }
}

// Short runs of channels, whose states are joined at the end; nothing behind them is read.
TEST(Fold, BatchesOfImagesAgainstPlainLoops) {
  const LastPage page(1 << 20);
  Random random(14);
  for (const Dims& sizes : {Dims{16'000, 3, 2}, Dims{9'000, 2, 7}, Dims{3'793, 4, 7}, Dims{300, 30, 9},
                            Dims{40, 700, 3}, Dims{20, 70, 64}, Dims{1'100, 1, 64}})
    for (const Dtype dtype : {float32, float64, float16}) {
      const Tensor x = from_buffer(page.last(numel_of(sizes) * itemsize(dtype)), sizes, dtype);
      Tensor(x).copy_(drawn(random, sizes, dtype, false));
      for (const int c : {3, 6}) ASSERT_NO_FATAL_FAILURE(expect_plain(kCases[c], x, {0, 2}));
    }
}

// Rows with gaps between them, a few for each output or many, of few outputs and of vectors of them.
TEST(Fold, ShortRowsWithGapsAgainstPlainLoops) {
  Random random(17);
  for (const int64_t row : {2, 3, 5})
    for (const int64_t outputs : {1, 2, 7, 20})
      for (const int64_t rows : {4, 9, 30, 400})
        for (const Dtype dtype : {float32, float64, bfloat16}) {
          const Tensor x = drawn(random, {outputs, rows, row + 2}, dtype, false).narrow(2, 1, row);
          for (const int c : {2, 3, 6}) ASSERT_NO_FATAL_FAILURE(expect_plain(kCases[c], x, {1, 2}));
        }
}

// Far from zero distances are small beside the elements.
TEST(Fold, VarOfFewElementsFarFromZero) {
  for (const Dtype dtype : {float32, float64})
    for (const Dims& sizes : {Dims{50, 30, 1}, Dims{50, 3, 1}, Dims{20, 30, 3}, Dims{3, 40, 20}, Dims{2, 30, 300}}) {
      const Tensor x = (arange(sizes[0] * sizes[1] * sizes[2], float64) % 7).view(sizes).add(1e6).to(dtype);
      ASSERT_NO_FATAL_FAILURE(expect_plain(kCases[3], x, {1}));
      ASSERT_NO_FATAL_FAILURE(expect_plain(kCases[3], x, {0, 2}));
    }
}

TEST(Fold, ALongRunIsFoldedInPieces) {
  for (const Dims& sizes : {Dims{3000000, 1}, Dims{3, 1000000}, Dims{1000000, 3}, Dims{2, 700000, 2}})
    for (int64_t dim = 0; dim < sizes.size(); ++dim) {
      if (sizes[dim] < 100000) continue;
      for (const Dtype dtype : {float32, int8, uint8}) {
        Tensor x = zeros(sizes, dtype);
        const int64_t place = sizes[dim] - 12345;
        x.narrow(dim, place, 2).fill_(1);
        EXPECT_EQ(amin(argmax(x, dim)).item().as_int64(), place);
        EXPECT_EQ(amax(argmax(x, dim)).item().as_int64(), place);
        EXPECT_EQ(amin(argmin(x, dim)).item().as_int64(), 0);
        EXPECT_EQ(amin(count_nonzero(x, dim)).item().as_int64(), 2);
      }
    }
}

/// The first place of the extreme of `rows` numbers, `step` apart; NaN is the most extreme.
int64_t first_place(const double* numbers, int64_t rows, int64_t step, bool largest) {
  int64_t best = 0;
  for (int64_t row = 1; row < rows; ++row) {
    const double a = numbers[row * step], b = numbers[best * step];
    if (std::isnan(a) ? !std::isnan(b) : largest ? a > b : a < b) best = row;
  }
  return best;
}
/// argmax, argmin, max and min along dim 1 of [outer, rows, inner] elements, of which many are equal and some NaN.
void expect_first_places(Dtype dtype, int64_t outer, int64_t rows, int64_t inner, bool in_order) {
  Tensor numbers = empty({outer, rows, inner}, float64);
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    const int64_t drawn = (i * 7919 + i / 13 * 31) % 1009;
    const bool is_nan = is_floating_point(dtype) && drawn % 200 == 7;
    numbers.data<double>()[i] = is_nan ? std::nan("") : static_cast<double>(drawn % 120);
  }
  const Tensor x = in_order ? numbers.to(dtype) : numbers.to(dtype).transpose(0, 2).contiguous().transpose(0, 2);
  const Tensor largest = argmax(x, 1), smallest = argmin(x, 1);
  const auto [max_value, max_place] = max(x, 1);
  const auto [min_value, min_place] = min(x, 1);
  EXPECT_EQ(sum(ne(max_place, largest)).item().as_int64() + sum(ne(min_place, smallest)).item().as_int64(), 0);
  const Tensor highest = max_value.to(float64).contiguous(), lowest = min_value.to(float64).contiguous();
  const Tensor largest_places = largest.contiguous(), smallest_places = smallest.contiguous();
  for (int64_t i = 0; i < outer * inner; ++i) {
    const double* const column = numbers.data<double>() + i / inner * rows * inner + i % inner;
    for (const bool is_largest : {true, false}) {
      const int64_t want = first_place(column, rows, inner, is_largest);
      const Tensor &places = is_largest ? largest_places : smallest_places, &values = is_largest ? highest : lowest;
      const double value = values.data<double>()[i], wanted = column[want * inner];
      ASSERT_EQ(places.data<int64_t>()[i], want) << dtype_name(dtype) << to_string(x.sizes()) << to_string(x.strides());
      ASSERT_TRUE(value == wanted || (std::isnan(value) && std::isnan(wanted))) << dtype_name(dtype);
    }
  }
}
TEST(Fold, PlacesAreTheFirstOfEqualExtremes) {
  const std::array<int64_t, 3> shapes[] = {{1, 700, 6},  {1, 5000, 3}, {40, 7, 9},   {9, 300, 2},  {5, 3, 1000},
                                           {2, 140, 70}, {1, 33, 17},  {3, 20, 700}, {100, 81, 1}, {30, 300, 1},
                                           {3, 9000, 1}, {50, 12, 1},  {50, 23, 1},  {4, 5, 1},    {1, 4, 4},
                                           {300, 26, 1}, {2, 600, 20}, {7, 1, 5},    {20, 2, 64},  {1, 1, 1}};
  for (const Dtype dtype : {uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64})
    for (const auto& [outer, rows, inner] : shapes)
      for (const bool in_order : {true, false}) expect_first_places(dtype, outer, rows, inner, in_order);
}

TEST(Fold, PlacesOfBoolCountAnyByteButZeroAsTrue) {
  for (const int64_t inner : {1, 3, 40}) {
    Tensor x = zeros({2, 300, inner}, bool_);
    auto* const bytes = static_cast<unsigned char*>(x.data_ptr());
    for (int64_t i = 0; i < x.numel(); ++i) bytes[i] = i / inner % 300 == 123 ? 5 : i / inner % 300 == 200 ? 255 : 0;
    const auto [values, places] = max(x, 1);
    EXPECT_EQ(amin(places).item().as_int64(), 123);
    EXPECT_EQ(amax(places).item().as_int64(), 123);
    EXPECT_EQ(sum(values).item().as_int64(), values.numel());
  }
}

/// A row's result does not depend on where it stands, nor on how many rows there are.
TEST(Fold, EqualRowsGiveEqualBits) {
  std::mt19937 random(11);
  std::normal_distribution<double> numbers;
  for (const Dtype dtype : {float32, float64})
    for (const int64_t n : {2, 5, 7, 9, 15, 20, 33, 64, 100, 300, 512})
      for (const int64_t rows : {2, 9, 17, 37, 300, 1025}) {
        const Tensor row = empty({1, n}, float64);
        for (int64_t i = 0; i < n; ++i) row.data<double>()[i] = numbers(random);
        const Tensor x = row.to(dtype).expand({rows, n}).contiguous();
        for (const Tensor& result : {linalg_vector_norm(x, 2, 1), var(x, 1), std(x, 1)}) {
          const Tensor first = result.narrow(0, 0, 1);
          EXPECT_TRUE(result.eq(first).all().item<bool>()) << dtype_name(dtype) << " [" << rows << ", " << n << "]";
        }
        EXPECT_TRUE(linalg_vector_norm(x.narrow(0, 0, 1), 2, 1).eq(linalg_vector_norm(x, 2, 1)).all().item<bool>());
      }
}

TEST(Fold, RowsFromMemoryHaveTheBitsOfAFew) {
  const int64_t n = 70, rows = 2 * streaming_threshold() / (4 * n) + 5;
  const Tensor x = arange(rows * n).mul(37).remainder(1009).to(float32).view({rows, n});
  const Tensor last = x.narrow(0, rows - 40, 40).clone();
  EXPECT_TRUE(equal(linalg_vector_norm(x, 2, 1).narrow(0, rows - 40, 40), linalg_vector_norm(last, 2, 1)));
  EXPECT_TRUE(equal(var(x, 1).narrow(0, rows - 40, 40), var(last, 1)));
  EXPECT_TRUE(equal(std::get<1>(var_mean(x, 1)).narrow(0, rows - 40, 40), std::get<1>(var_mean(last, 1))));
}

TEST(Fold, RowsOfAFewNeighbours) {
  Random random(17);
  for (const Dims& sizes : {Dims{16, 2, 2}, Dims{40, 12, 9}, Dims{700, 5, 15}, Dims{17, 300, 3}, Dims{3, 20, 70, 4}})
    for (const Dtype dtype : {float32, float64, bfloat16}) {
      const Tensor x = drawn(random, sizes, dtype, false);
      for (const Case& c : kCases)
        if (!c.one_dim) expect_plain(c, x, {x.dim() - 2});
    }
  CourseRecord record;
  linalg_vector_norm(ones({5000, 12, 9}), 2, 1);
  EXPECT_STREQ(record.courses[0].stores, "in place");
}

TEST(Fold, SameBitsWithAnyNumberOfThreads) {
  Random random(5);
  const int before = get_num_threads();
  for (const Dims& sizes : {Dims{500003}, Dims{703, 701}, Dims{100001, 5}, Dims{61, 67, 71}}) {
    const Tensor x = drawn(random, sizes, float32, false);
    for (const Schema& schema : schemas()) {
      if (!schema.is_fold()) continue;
      std::vector<Value> values(static_cast<std::size_t>(schema.count));
      values[0] = x;
      for (int64_t dim = 0; dim < sizes.size(); ++dim) {
        values[static_cast<std::size_t>(schema.place_of("dim"))] = dim;
        set_num_threads(1);
        const List<Tensor> alone = schema.function(values.data());
        for (int threads : {2, 5}) {
          set_num_threads(threads);
          const List<Tensor> together = schema.function(values.data());
          for (std::size_t i = 0; i < alone.size(); ++i)
            EXPECT_EQ(
                std::memcmp(alone[i].data_ptr(), together[i].data_ptr(), static_cast<std::size_t>(alone[i].nbytes())),
                0)
                << schema.name << to_string(sizes) << dim;
        }
      }
    }
  }
  set_num_threads(before);
}

// Short runs that lie apart are copied and folded several at a time, or across the longest dim. Numbers are small
// integers, so that every order of summation is exact.
TEST(Fold, ShortRunsThatLieApart) {
  int number = 0;
  for (const Dtype dtype : {bool_, uint8, int32, int64, float16, float32, float64})
    for (const int64_t rows : {1, 2, 70, 1025, 5000})
      for (const int64_t run : {1, 2, 3, 17, 200}) {
        if (++number % kSampled != 0) continue;
        const Tensor wide = arange(rows * (run + 3)).remainder(3).to(dtype).view({rows, run + 3});
        const Tensor apart = wide.slice(1, 2, 2 + run), dense = apart.clone(MemoryFormat::contiguous);
        const auto expect_same = [&](const char* op, const auto& folded) {
          for (const Tensor& x : {apart, apart.view({rows, 1, run}).expand({rows, 2, run})}) {
            const Tensor own = x.dim() == 2 ? dense : dense.view({rows, 1, run}).expand({rows, 2, run}).contiguous();
            EXPECT_TRUE(equal(folded(x), folded(own))) << op << " " << dtype_name(dtype) << to_string(x.sizes());
          }
        };
        expect_same("all", [](const Tensor& x) { return all(x); });
        expect_same("any", [](const Tensor& x) { return any(eq(x, 7)); });
        expect_same("all 0", [](const Tensor& x) { return all(x, {0}); });
        expect_same("sum", [](const Tensor& x) { return sum(x, {}, false, float64); });
        expect_same("prod 0", [](const Tensor& x) { return prod(x.remainder(2).add(1).to(uint8), 0); });
        expect_same("count_nonzero", [](const Tensor& x) { return count_nonzero(x); });
        if (is_floating_point(dtype))
          expect_same("nansum", [](const Tensor& x) { return nansum(x, {}, false, float64); });
      }
}

/// Reading each of 2^40 equal elements would take minutes.
TEST(Fold, PlacesAlongAnExpandedDimAreTheFirst) {
  const int64_t many = int64_t{1} << 40;
  const Tensor numbers = tensor({3.0F, -1.0F, std::nanf(""), 7.0F}).reshape({4, 1});
  const Tensor wide = numbers.expand({4, many});
  for (const Tensor& place : {argmax(wide, 1), argmin(wide, 1), std::get<1>(max(wide, 1)), std::get<1>(min(wide, 1))})
    EXPECT_EQ(to_string(place), "tensor([0, 0, 0, 0])");
  EXPECT_EQ(argmax(wide, 1, true).sizes(), (Dims{4, 1}));
  EXPECT_EQ(to_string(std::get<0>(max(wide, 1))), to_string(numbers.reshape({4})));
  const Tensor few = numbers.expand({4, 3});
  EXPECT_EQ(to_string(argmax(few, 0)), "tensor([2, 2, 2])");
}

}  // namespace
}  // namespace tenon
