// Reductions: the same bits for any number of threads, and sums of the accuracy that float64 can check.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "dispatch/differentiate.h"
#include "dispatch/reduce.h"
#include "error_text.h"
#include "gtest/gtest.h"
#include "kernel/kernel.h"
#include "ops/row.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"
#include "tile/run.h"

namespace tenon {
namespace {

/// Numbers between 0 and 1, or with both signs, that every floating dtype rounds.
Tensor drawn(SizesView sizes, Dtype dtype, bool signs) {
  std::mt19937 random(7);
  Tensor values = empty(sizes, float32);
  float* data = values.data<float>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = static_cast<float>(random()) * 0x1p-32f - (signs ? 0.5f : 0);
  return values.to(dtype);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.nbytes() == y.nbytes() && std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<std::size_t>(x.nbytes())) == 0;
}

TEST(Reduce, SameBitsWithAnyNumberOfThreads) {
  const struct {
    Dims sizes;
    Dims order;
    std::vector<int64_t> dims;
  } cases[] = {
      {{1000003}, {0}, {0}},
      {{1003, 1001}, {0, 1}, {0}},
      {{1003, 1001}, {0, 1}, {1}},
      {{1003, 1001}, {1, 0}, {0}},
      {{300001, 3}, {0, 1}, {1}},
      {{300001, 3}, {0, 1}, {0}},
      {{3, 300001}, {0, 1}, {1}},
      {{3, 300001}, {1, 0}, {1}},
      {{61, 67, 71, 3}, {0, 1, 2, 3}, {0, 2}},
      {{61, 67, 71, 3}, {2, 0, 3, 1}, {1, 3}},
      {{61, 67, 71, 3}, {3, 1, 0, 2}, {0, 1, 2, 3}},
  };
  const int before = get_num_threads();
  for (const Dtype dtype : {float32, float16, bfloat16, float64})
    for (const auto& c : cases) {
      const Tensor input = drawn(c.sizes, dtype, true).permute(c.order);
      const DimsArg dims(SizesView(c.dims.data(), static_cast<int64_t>(c.dims.size())));
      set_num_threads(1);
      const Tensor alone_sum = sum(input, dims), alone_mean = mean(input, dims), alone_max = amax(input, dims);
      for (int threads = 2; threads <= 8; threads += kSampled) {
        set_num_threads(threads);
        EXPECT_TRUE(same_bits(sum(input, dims), alone_sum)) << "sum " << to_string(c.sizes) << " threads " << threads;
        EXPECT_TRUE(same_bits(mean(input, dims), alone_mean))
            << "mean " << to_string(c.sizes) << " threads " << threads;
        EXPECT_TRUE(same_bits(amax(input, dims), alone_max)) << "amax " << to_string(c.sizes) << " threads " << threads;
      }
    }
  set_num_threads(before);
}

/// Numbers of both signs and so many sizes that their sums are rounded.
Tensor rough(SizesView sizes, Dtype dtype) {
  const Tensor x = drawn(sizes, float64, true);
  return (x * exp(x * 10) / 3).to(dtype);
}
Dtype summed(Dtype dtype) { return dtype == float16 ? Dtype(float32) : dtype; }

/// The sums over the rows of `input[batch]`, of blocks of columns that are so small that they come from the caches.
Tensor sums_of_blocks(const Tensor& input, int64_t batch) {
  constexpr int64_t kColumns = 1000, kFewest = 512;  // fewer columns may be folded in another order than more of them
  const int64_t width = input.size(2);
  std::vector<Tensor> sums;
  for (int64_t start = 0; start < width;) {
    const int64_t end = width - start < kColumns + kFewest ? width : start + kColumns;
    sums.push_back(sum(input.select(0, batch).slice(1, start, end).contiguous(), 0, false, summed(input.dtype())));
    start = end;
  }
  return cat(sums);
}

/// The same, of two of the batch, if they are so few elements that they are not cut.
Tensor near_sums(const Tensor& input, int64_t batch) {
  constexpr int64_t kSegment = 1 << 17;
  if (2 * input.size(1) * input.size(2) > kSegment) return sums_of_blocks(input, batch);
  const int64_t first = std::max<int64_t>(batch - 1, 0);
  const Tensor pair = input.slice(0, first, first + 2).contiguous();
  return sum(pair, 1, false, summed(input.dtype())).select(0, batch - first);
}

// Each of the batch is one segment, whether many are summed or few.
TEST(Reduce, RowsFromBeyondTheCachesAreSummedInTheSameOrder) {
  const struct { int64_t rows, width; } cases[] = {{67, 129}, {67, 131}, {70, 257}, {150, 16}, {67, 4100}, {130, 300}};
  const int before = get_num_threads();
  for (const Dtype dtype : {float32, float64, float16})
    for (const auto& [rows, width] : cases) {
      const int64_t far = 2 * streaming_threshold() / (rows * width * itemsize(dtype)) + 1;
      const Tensor input = rough({std::max<int64_t>(far, 33), rows, width}, dtype);
      const std::string where = dtype_name(dtype) + to_string(input.sizes());
      const Tensor total = sum(input, 1, false, summed(dtype));
      for (const int64_t batch : {int64_t{0}, int64_t{17}, input.size(0) - 1})
        EXPECT_TRUE(same_bits(total.select(0, batch), near_sums(input, batch))) << where << " " << batch;
      for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        EXPECT_TRUE(same_bits(sum(input, 1, false, summed(dtype)), total)) << where << " threads " << threads;
      }
      set_num_threads(before);
    }
}

/// Whole numbers from -3 to 3.
Tensor whole_numbers(SizesView sizes, Dtype dtype) {
  std::mt19937 random(11);
  Tensor values = empty(sizes, float32);
  float* data = values.data<float>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = static_cast<float>(static_cast<int>(random() % 7) - 3);
  return values.to(dtype);
}
/// The sum or the maximum over the dims whose bits are set, over whole rows of a copy.
Tensor over_rows(Op op, const Tensor& input, unsigned bits) {
  std::vector<int64_t> order;
  int64_t kept = 1, reduced = 1;
  Dims sizes;
  for (const bool asked : {false, true})
    for (int64_t dim = 0; dim < input.dim(); ++dim) {
      if ((bits >> dim & 1) != (asked ? 1u : 0u)) continue;
      order.push_back(dim);
      (asked ? reduced : kept) *= input.size(dim);
      if (!asked) sizes.push_back(input.size(dim));
    }
  const Tensor rows = input.permute(SizesView(order.data(), static_cast<int64_t>(order.size()))).contiguous();
  return reduce(op, rows.reshape({kept, reduced}), Dims{1}, false, {}).reshape(sizes);
}

// The sums are exact, whatever their order.
TEST(Reduce, DimsOfAllSizesInAllPlaces) {
  const Dims shapes[] = {{3, 5, 7, 2},   {2, 70, 3, 5},  {9, 2, 40, 3}, {4, 3, 2, 90},
                         {3, 20, 4, 17}, {2, 3, 6, 300}, {40, 3, 2, 16}};
  for (const Dtype dtype : {float32, float64, float16, int8, int32, bool_})
    for (const Dims& shape : shapes)
      for (unsigned bits = 1; bits < 16; ++bits) {
        Dims dims;
        for (int64_t dim = 0; dim < 4; ++dim)
          if ((bits >> dim & 1) != 0) dims.push_back(dim);
        const Tensor dense = whole_numbers(shape, dtype);
        const Tensor gaps = cat({dense, dense}, 3).narrow(3, shape[3] / 2, shape[3]);
        for (const Tensor& input : {dense, gaps, dense.permute({1, 0, 2, 3}).contiguous().permute({1, 0, 2, 3})})
          for (const Op op : {Op::sum, Op::amax}) {
            const Tensor want = over_rows(op, input, bits);
            const std::string what =
                std::string(row_of(op).name) + " " + dtype_name(dtype) + to_string(shape) + to_string(dims);
            EXPECT_TRUE(same_bits(reduce(op, input, dims, false, {}), want)) << what;
            Dims pairs;
            for (const int64_t size : want.sizes()) pairs.push_back(size);
            pairs.push_back(2);
            Tensor out = empty(pairs, want.dtype()).select(want.dim(), 0);
            EXPECT_TRUE(same_bits(reduce_out(op, out, input, dims, false, {}), want)) << what << ", out=";
          }
      }
}

TEST(Reduce, SumsOfTenMillion) {
  const struct {
    Dims sizes;
    int64_t dim;
  } cases[] = {{{10000000}, 0},   {{10000000, 1}, 0}, {{3333333, 3}, 0},   {{2500, 4000}, 0},
               {{2500, 4000}, 1}, {{3, 3333333}, 1},  {{2, 1250000, 4}, 1}};
  for (const Dtype dtype : {float32, float16, bfloat16})
    for (const bool signs : {false, true})
      for (const auto& c : cases) {
        const Tensor input = drawn(c.sizes, dtype, signs);
        const Tensor exact = sum(input.to(float64), c.dim), magnitude = sum(abs(input).to(float64), c.dim);
        const Tensor got = sum(input, c.dim, false, float32).to(float64), rounded = sum(input, c.dim).to(float64);
        for (int64_t i = 0; i < exact.numel(); ++i) {
          const double want = exact.data<double>()[i], bound = magnitude.data<double>()[i];
          EXPECT_LE(std::abs(got.data<double>()[i] - want), bound * 0x1p-24 * 8)
              << dtype_name(dtype) << to_string(c.sizes) << c.dim;
          // A sum outside the dtype's range must be infinite.
          const double half_step = dtype == float32 ? 0x1p-24 : dtype == float16 ? 0x1p-11 : 0x1p-8;
          if (dtype == float16 && std::abs(want) > 65000)
            EXPECT_TRUE(std::isinf(rounded.data<double>()[i]));
          else
            EXPECT_LE(std::abs(rounded.data<double>()[i] - want),
                      bound * 0x1p-24 * 8 + std::abs(want) * half_step + 0x1p-24)
                << dtype_name(dtype) << to_string(c.sizes) << c.dim;
        }
      }
}

// 16-bit floats are summed in float32, in the same order as converted ones.
TEST(Reduce, SixteenBitsFoldAsFloat32) {
  for (const Dtype dtype : {float16, bfloat16})
    for (const int64_t cols : {1, 15, 16, 17, 63, 64, 65, 130, 4097, 9000}) {
      const Tensor input = drawn({7, cols}, dtype, true), wide = input.to(float32);
      EXPECT_TRUE(same_bits(sum(input, 1, false, float32), sum(wide, 1))) << dtype_name(dtype) << cols;
      EXPECT_TRUE(same_bits(sum(input, 1), sum(wide, 1).to(dtype))) << dtype_name(dtype) << cols;
      EXPECT_TRUE(same_bits(amax(input, 1), amax(wide, 1).to(dtype))) << dtype_name(dtype) << cols;
      EXPECT_TRUE(same_bits(amin(input, 1), amin(wide, 1).to(dtype))) << dtype_name(dtype) << cols;
    }
}

// At any position, with any other elements.
TEST(Reduce, NanWins) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Dtype dtype : {float16, bfloat16, float32, float64})
    for (const int64_t cols : {2, 15, 16, 17, 64, 65, 130, 5000})
      for (const int64_t at : {int64_t{0}, cols / 2, cols - 1}) {
        const Tensor input = drawn({3, cols}, float32, true);
        input[1][at].fill_(nan);
        const Tensor drawn_input = input.to(dtype);
        for (const Tensor& found : {amax(drawn_input, 1), amin(drawn_input, 1)}) {
          EXPECT_TRUE(std::isnan(found[1].item<double>())) << dtype_name(dtype) << cols << " at " << at;
          EXPECT_FALSE(std::isnan(found[0].item<double>()) || std::isnan(found[2].item<double>()));
        }
        EXPECT_TRUE(std::isnan(amax(drawn_input, 0)[at].item<double>())) << dtype_name(dtype) << cols << " at " << at;
      }
}

// Of finite numbers it is infinite, of others NaN, wherever they lie.
TEST(Reduce, VarOfNumbersWhoseDistancesOverflow) {
  if (!kernels().state_fold[static_cast<int>(Op::var)][static_cast<int>(float64)]->blocks)
    GTEST_SKIP() << "without vectors each element moves the mean, as in PyTorch";
  for (const int64_t length : {2, 3, 10, 100, 3000})
    for (const bool is_infinite : {false, true}) {
      Tensor input = full({length, 3}, 1.0, float64);
      input.narrow(0, 0, length / 2).fill_(1e308);
      input.narrow(0, length / 2, 1).fill_(-1e308);
      if (is_infinite) input[length - 1].fill_(std::numeric_limits<double>::infinity());
      for (const Tensor& got : {var(input, 0), var(input.t().contiguous(), 1), var(input, {}).view({1})})
        for (int64_t i = 0; i < got.numel(); ++i) {
          const double number = got[i].item<double>();
          EXPECT_TRUE(is_infinite ? std::isnan(number) : std::isinf(number)) << length << " gives " << number;
        }
    }
}

// PyTorch's sums start at 0. Every route: few elements, whole tiles, segments for threads, outer, inner and both dims.
TEST(Reduce, NothingButNegativeZerosAddUpToZero) {
  const std::vector<std::pair<Dims, std::vector<int64_t>>> cases = {{{}, {}},
                                                                    {{1}, {0}},
                                                                    {{3}, {0}},
                                                                    {{64}, {0}},
                                                                    {{1000}, {0}},
                                                                    {{3000}, {0}},
                                                                    {{1 << 20}, {0}},
                                                                    {{5, 1}, {1}},
                                                                    {{1, 5}, {0}},
                                                                    {{100, 3}, {0}},
                                                                    {{100, 3}, {1}},
                                                                    {{3, 5000}, {0}},
                                                                    {{3, 5000}, {1}},
                                                                    {{5000, 64}, {0}},
                                                                    {{5000, 64}, {1}},
                                                                    {{300, 400}, {}},
                                                                    {{30, 4, 50}, {0, 2}},
                                                                    {{30, 4, 50}, {1}},
                                                                    {{30, 1, 50}, {1}},
                                                                    {{1, 300, 40}, {0}},
                                                                    {{300, 1, 40, 1}, {1, 3}},
                                                                    {{7, 7, 7}, {0, 1}}};
  for (const Dtype dtype : {float32, float64, float16, bfloat16})
    for (const auto& [sizes, dims] : cases) {
      const DimsArg over(SizesView(dims.data(), static_cast<int64_t>(dims.size())));
      const Tensor input = full(sizes, -0., Options(dtype));
      Tensor into = empty({0}, dtype);
      for (const Tensor& result : {sum(input, over), mean(input, over), sum(input, over, true, float64)})
        EXPECT_FALSE(any(reciprocal(result) < 0).item<bool>()) << dtype_name(dtype) << to_string(sizes);
      EXPECT_FALSE(any(reciprocal(sum_out(into, input, over)) < 0).item<bool>())
          << dtype_name(dtype) << to_string(sizes);
      EXPECT_TRUE(all(reciprocal(amax(input, over)) < 0).item<bool>()) << dtype_name(dtype) << to_string(sizes);
    }
}

TEST(Reduce, DimsOfSizeOne) {
  for (const Dtype dtype : {float32, float64, float16, bfloat16, int8, uint8, int32, int64, complex64})
    for (const Dims& order : {Dims{0, 1, 2}, Dims{2, 1, 0}, Dims{1, 0, 2}}) {
      const Tensor input = (drawn({40, 1, 70}, float32, true) * 100).to(dtype).permute(order);
      int64_t one = 0;
      while (input.size(one) != 1) ++one;
      const Tensor want = input.squeeze(one);
      EXPECT_TRUE(same_bits(sum(input, one), want.to(is_integral(dtype) ? int64 : dtype))) << dtype_name(dtype);
      EXPECT_TRUE(same_bits(prod(input, one, true).squeeze(one), want.to(is_integral(dtype) ? int64 : dtype)));
      EXPECT_TRUE(same_bits(sum(input, one, false, complex128), want.to(complex128))) << dtype_name(dtype);
      if (is_complex(dtype)) continue;
      EXPECT_TRUE(same_bits(amax(input, one), want)) << dtype_name(dtype);
      Tensor gaps = zeros({140, 80}, dtype).slice(0, 0, 2 * want.size(0), 2).narrow(1, 0, want.size(1));
      EXPECT_TRUE(same_bits(amin_out(gaps, input, one), want)) << dtype_name(dtype);
      if (!is_floating_point(dtype)) continue;
      EXPECT_TRUE(same_bits(mean(input, one), want)) << dtype_name(dtype);
    }
}

TEST(Reduce, MeansOfTenMillion) {
  for (const Dtype dtype : {float32, float16, bfloat16}) {
    const Tensor input = drawn({10000000}, dtype, false);
    const double want = sum(input.to(float64)).item<double>() / 1e7;
    const double half_step = dtype == float32 ? 0x1p-22 : dtype == float16 ? 0x1p-11 : 0x1p-8;
    EXPECT_NEAR(mean(input).item<double>(), want, want * half_step) << dtype_name(dtype);
  }
}

/// A contiguous row is folded without a plan, one with gaps is not.
TEST(Reduce, ARowGivesTheSameBitsWithAndWithoutAPlan) {
  for (const Op op : {Op::sum, Op::mean, Op::prod, Op::amax, Op::amin, Op::all, Op::any})
    for (const Dtype dtype : {float32, float64, int64, int32, bool_, bfloat16, complex64})
      for (const int64_t numel : {1, 2, 7, 64, 1000, 1025, 4096, 8191, 8192, 9000}) {
        const bool is_refused =
            (op == Op::mean && !is_inexact(dtype)) || (is_complex(dtype) && (op == Op::amax || op == Op::amin));
        if (is_refused) continue;
        const Tensor row = (sin(arange(numel, float32)) * 3.).to(dtype);
        const Tensor gaps = empty({numel, 2}, Options(dtype)).select(1, 0);
        run_copy(gaps, row);
        const Tensor direct = run_reduce(op, row, {}, false, {}), planned = run_reduce(op, gaps, {}, false, {});
        ASSERT_EQ(direct.dtype(), planned.dtype());
        EXPECT_EQ(std::memcmp(direct.data_ptr(), planned.data_ptr(), static_cast<std::size_t>(direct.nbytes())), 0)
            << row_of(op).name << " " << dtype_name(dtype) << " " << numel;
      }
}

/// Reductions over the last dims of contiguous elements need no plan, but those into an output with gaps do.
TEST(Reduce, RowsGiveTheSameBitsWithAndWithoutAPlan) {
  std::mt19937_64 random(5);
  const auto below = [&](std::size_t count) { return static_cast<int64_t>(random() % count); };
  const Dtype dtypes[] = {float32, float64, int64, int16, bool_, complex64, float16};
  for (int i = 0; i < 3000 / kSampled; ++i) {
    const Op ops[] = {Op::sum, Op::mean, Op::prod, Op::amax, Op::amin, Op::all, Op::any};
    const Op op = ops[below(std::size(ops))];
    const Dtype dtype = dtypes[below(std::size(dtypes))];
    if ((op == Op::mean && !is_inexact(dtype)) || (is_complex(dtype) && (op == Op::amax || op == Op::amin))) continue;
    Dims sizes, dims;
    const int64_t ndim = 1 + below(3), first = below(static_cast<std::size_t>(ndim));
    for (int64_t dim = 0; dim < ndim; ++dim) sizes.push_back(1 + below(dim + 1 == ndim ? 90 : 6));
    for (int64_t dim = ndim - 1; dim >= first; --dim) dims.push_back(below(2) ? dim : dim - ndim);
    const bool keepdim = below(2) == 0;
    const Tensor rows = (sin(arange(numel_of(sizes), float32)) * 3.).to(dtype).view(sizes);
    std::optional<Dtype> asked;
    if ((op == Op::sum || op == Op::prod || op == Op::mean) && below(3) == 0) asked = dtypes[below(2) ? 0 : 6];
    if (asked && is_complex(dtype)) asked = complex64;
    const Tensor direct = run_reduce(op, rows, dims, keepdim, asked);
    Dims apart = direct.sizes().copy();
    apart.push_back(2);
    Tensor planned = empty(apart, Options(direct.dtype())).select(-1, 0);
    reduce_out(op, planned, rows, dims, keepdim, asked);
    EXPECT_TRUE(same_bits(direct, planned))
        << row_of(op).name << " " << dtype_name(dtype) << to_string(sizes) << " dims " << to_string(dims)
        << (keepdim ? " kept" : "") << (asked ? dtype_name(*asked) : "");
  }
}

/// The same of dims in the middle.
TEST(Reduce, BlocksGiveTheSameBitsWithAndWithoutAPlan) {
  std::mt19937_64 random(6);
  const auto below = [&](std::size_t count) { return static_cast<int64_t>(random() % count); };
  const Dtype dtypes[] = {float32, float64, int64, int32, int16, uint8, bool_, complex64, float16, bfloat16};
  for (int i = 0; i < 3000; ++i) {
    const Op ops[] = {Op::sum, Op::mean, Op::prod, Op::amax, Op::amin, Op::all, Op::any};
    const Op op = ops[below(std::size(ops))];
    const Dtype dtype = dtypes[below(std::size(dtypes))];
    if ((op == Op::mean && !is_inexact(dtype)) || (is_complex(dtype) && (op == Op::amax || op == Op::amin))) continue;
    const std::size_t most_rows[] = {4, 30, 1100}, most_columns[] = {3, 20, 120};
    const Dims sizes{2 + below(7), 1 + below(3), 1 + below(most_rows[below(3)]), 1 + below(most_columns[below(3)])};
    const Dims dims = below(2) ? Dims{2} : Dims{-2, 1};
    const Tensor blocks = (sin(arange(numel_of(sizes), float32)) * 3.).to(dtype).view(sizes);
    const Tensor direct = run_reduce(op, blocks, dims, false, {});
    Dims apart = direct.sizes().copy();
    apart.push_back(2);
    Tensor planned = empty(apart, Options(direct.dtype())).select(-1, 0);
    reduce_out(op, planned, blocks, dims, false, {});
    EXPECT_TRUE(same_bits(direct, planned))
        << row_of(op).name << " " << dtype_name(dtype) << to_string(sizes) << " dims " << to_string(dims);
  }
}

/// Small integers, whose folds are exact in any order, along dims that are folded in two stages.
TEST(Reduce, FewElementsOfSeveralDims) {
  for (const Dtype dtype : {uint8, int8, int32, int64, float16, float32, float64})
    for (const Dims& sizes : {Dims{3, 923, 5, 7}, Dims{31, 3, 8, 2}, Dims{2, 6, 7, 70}, Dims{5, 1, 4, 9}})
      for (const Dims& dims : {Dims{0, 2}, Dims{1, 3}}) {
        const Tensor x = remainder(arange(numel_of(sizes), int64) * 7, 5).view(sizes);
        const Tensor swapped = x.permute({dims[0], dims[1], 1 - dims[0], 5 - dims[1]}).contiguous().flatten(0, 1);
        for (const Op op : {Op::sum, Op::amax}) {
          const Tensor got = reduce(op, x.to(dtype), dims, false, {}), want = reduce(op, swapped, Dims{0}, false, {});
          EXPECT_TRUE(same_bits(got, want.to(got.dtype()))) << dtype_name(dtype) << to_string(sizes);
        }
      }
}

// Rows are folded together, as many as a vector has lanes; each as if it were alone.
TEST(Reduce, RowsOfEveryWidth) {
  const auto check = [](const Tensor& rows, const char* layout) {
    const Tensor sums = sum(rows, 1), means = mean(rows.to(float64), 1), largest = amax(rows, 1), least = amin(rows, 1);
    for (int64_t i = 0; i < rows.size(0); ++i) {
      const Tensor row = rows.select(0, i).contiguous();
      const std::string where =
          std::string(dtype_name(rows.dtype())) + to_string(rows.sizes()) + layout + " row " + std::to_string(i);
      EXPECT_TRUE(same_bits(sums.select(0, i), sum(row))) << where;
      EXPECT_TRUE(same_bits(means.select(0, i), mean(row.to(float64)))) << where;
      EXPECT_TRUE(same_bits(largest.select(0, i), amax(row))) << where;
      EXPECT_TRUE(same_bits(least.select(0, i), amin(row))) << where;
    }
  };
  for (const Dtype dtype : {float32, float64, float16, bfloat16, int64, int32, uint8, bool_})
    for (const int64_t width : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 45, 63, 64, 65, 100, 257, 300}) {
      const int64_t height = width % 2 == 0 ? 16 : 37;
      const Tensor wide = drawn({height, width + 3}, float32, true).mul(200).to(dtype);
      check(wide.narrow(1, 0, width).contiguous(), "");
      check(wide.narrow(1, 2, width), " with gaps");
      // Summed in another order: whole numbers, whose sums are exact.
      check(drawn({width, height}, float32, true).mul(200).to(int32).to(dtype).t(), " transposed");
      check(wide.narrow(0, 0, 1).narrow(1, 0, width).expand({height, width}), " expanded");
    }
}

/// Short runs of kept elements on both sides of short reduced ones are folded together, in tiles of whole runs.
TEST(Reduce, FewElementsOfManyOutputs) {
  const auto check = [](const Tensor& x, int64_t dim) {
    Tensor want = x.select(dim, 0).to(int64), largest = want;
    for (int64_t i = 1; i < x.size(dim); ++i) {
      want = want + x.select(dim, i).to(int64);
      largest = maximum(largest, x.select(dim, i).to(int64));
    }
    const std::string where = std::string(dtype_name(x.dtype())) + to_string(x.sizes()) + to_string(x.strides());
    EXPECT_TRUE(same_bits(sum(x, dim).to(int64), want)) << where;
    EXPECT_TRUE(same_bits(amax(x, dim).to(int64), largest)) << where;
    Dims apart = want.sizes().copy();
    apart.push_back(2);
    Tensor gaps = zeros(apart, Options(sum(x, dim).dtype())).select(-1, 1);
    reduce_out(Op::sum, gaps, x, Dims{dim}, false, {});
    EXPECT_TRUE(same_bits(gaps.to(int64), want)) << where;
  };
  for (const Dtype dtype : {float32, float64, bfloat16, int32, uint8})
    for (const int64_t inner : {2, 3, 5})
      for (const int64_t length : {2, 7, 30}) {
        const Tensor x = (arange(401 * length * inner * 2, int64) % 7).to(dtype).view({401, length, inner * 2});
        check(x.narrow(2, 0, inner).contiguous(), 1);
        check(x.narrow(2, inner, inner), 1);
        check(x.view({401, length, inner, 2}).select(3, 1), 1);
        check(x.narrow(2, 0, inner).contiguous().permute({1, 0, 2}), 0);
        check(x.view({401, length, inner, 2}).permute({3, 0, 1, 2}), 2);
        check(x.select(2, 0).unsqueeze(2).expand({401, length, inner}), 1);
      }
  const Tensor z = view_as_complex(arange(6000, float64).view({200, 5, 3, 2}));
  EXPECT_TRUE(same_bits(real(sum(z, 1)), sum(real(z).contiguous(), 1)));
}

TEST(Reduce, FewRowsAreFoldedAsWithAnOutput) {
  for (const Dtype dtype : {bool_, int64, float32, float64, complex64})
    for (const Op op : {Op::sum, Op::mean, Op::prod, Op::amax, Op::any, Op::all})
      for (int64_t rows = 1; rows <= 20; rows += kSampled)
        for (const int64_t columns : {1, 2, 3, 5, 8, 17, 31, 64, 100, 257, 1000, 1100}) {
          if ((op == Op::mean && !is_inexact(dtype)) || (op == Op::amax && is_complex(dtype))) continue;
          const Tensor x = sin(arange(rows * columns, float64) * 1.7).gt(0).to(dtype).mul(dtype == bool_ ? 1 : 3) *
                           (is_inexact(dtype) ? exp(arange(rows * columns, float64).mul(0.37).sin() * 9).to(dtype)
                                              : ones({rows * columns}, dtype));
          const Tensor two = x.view({rows, columns}), three = x.view({rows, 1, columns});
          Tensor out = empty({0}, Options(reduce(op, two, Dims{0}, false, {}).dtype()));
          reduce_out(op, out, two, Dims{0}, false, {});
          EXPECT_TRUE(same_bits(reduce(op, two, Dims{0}, false, {}), out))
              << dtype_name(dtype) << rows << "," << columns;
          EXPECT_TRUE(same_bits(reduce(op, three, Dims{1, 0}, true, {}), out.view({1, 1, columns})));
        }
  EXPECT_THROW(sum(ones({2, 3}), {0, 0}), Error);
  EXPECT_THROW(sum(ones({2, 3}), {2}), IndexError);
}

TEST(Reduce, TruthsOfNothingAndOfEverything) {
  const Tensor x = tensor({{1, 0}, {2, 3}});
  EXPECT_EQ(to_string(all(x, 1)), "tensor([False,  True])");
  EXPECT_EQ(to_string(any(x.mul(0), 0, true)), "tensor([[False, False]])");
  EXPECT_TRUE(all(empty({0, 3})).item<bool>());
  EXPECT_FALSE(any(empty({0, 3})).item<bool>());
  EXPECT_EQ(all(empty({0, 3}), 0).numel(), 3);
  EXPECT_TRUE(all(full({2}, __builtin_nan(""))).item<bool>()) << "NaN is not zero";
  EXPECT_EQ(all(ones({2}, uint8)).dtype(), uint8);
}

/// Of small integers, so that sums in any order are exact.
TEST(Reduce, RepeatedElementsGiveWhatTheirCopiesGive) {
  const std::vector<DimsArg> all_dims = {{}, 0, 1, 2, 3, {0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 1, 2}, {1, 2, 3}};
  const std::vector<Dims> all_strides = {{0, 3, 0, 1}, {1, 0, 2, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}, {6, 0, 1, 2}};
  for (const Dtype dtype : {float32, float64, int32, uint8, bool_, float16, bfloat16, complex64})
    for (const Dims& strides : all_strides) {
      const Tensor base = arange(60).remainder(5).sub(2).to(dtype);
      const Tensor x = base.as_strided({4, 5, 6, 3}, strides), copied = x.contiguous();
      const bool is_floating = is_inexact(dtype), is_ordered = !is_complex(dtype);
      for (const DimsArg& dims : all_dims)
        for (const bool keepdim : {false, true}) {
          const auto expect_same = [&](const char* name, const Tensor& got, const Tensor& wanted) {
            EXPECT_TRUE(same_bits(got, wanted) && got.strides() == wanted.strides() && got.sizes() == wanted.sizes())
                << name << " of " << dtype_name(dtype) << " " << to_string(strides) << " along "
                << to_string(dims.view()) << ": " << to_string(got) << " is not " << to_string(wanted);
          };
          expect_same("sum", sum(x, dims, keepdim), sum(copied, dims, keepdim));
          if (is_floating) expect_same("mean", mean(x, dims, keepdim), mean(copied, dims, keepdim));
          expect_same("any", any(x, dims, keepdim), any(copied, dims, keepdim));
          expect_same("all", all(x, dims, keepdim), all(copied, dims, keepdim));
          if (is_ordered) expect_same("amax", amax(x, dims, keepdim), amax(copied, dims, keepdim));
          if (is_ordered) expect_same("amin", amin(x, dims, keepdim), amin(copied, dims, keepdim));
          expect_same("count_nonzero", count_nonzero(x, dims), count_nonzero(copied, dims));
          Tensor out = empty({7}, sum(copied, dims, keepdim).dtype());
          expect_same("sum into out", sum_out(out, x, dims, keepdim), sum(copied, dims, keepdim));
          if (dims.view().size() != 1) continue;
          const int64_t dim = dims.view()[0];
          if (!is_ordered) continue;
          expect_same("prod", prod(x, dim, keepdim), prod(copied, dim, keepdim));
          if (dtype == bool_) continue;
          expect_same("argmax", argmax(x, dim, keepdim), argmax(copied, dim, keepdim));
          expect_same("min", std::get<0>(min(x, dim, keepdim)), std::get<0>(min(copied, dim, keepdim)));
          expect_same("its place", std::get<1>(min(x, dim, keepdim)), std::get<1>(min(copied, dim, keepdim)));
        }
    }
}

/// Results that lie in another order than the elements.
TEST(Reduce, SmallViewsGiveWhatTheirCopiesGive) {
  const std::vector<DimsArg> all_dims = {{}, 0, 1, 2, {0, 1}, {0, 2}, {1, 2}};
  for (const Dtype dtype : {float32, float64, int32, uint8, bool_, float16, bfloat16, complex64}) {
    const Tensor base = arange(720).remainder(7).sub(3).to(dtype);
    const Tensor blocks = base.view({6, 10, 12});
    for (const Tensor& x : {blocks.slice(2, 0, 8), blocks.slice(2, 0, 12, 3), blocks.permute({2, 0, 1}),
                            blocks.slice(1, 2, 9).permute({0, 2, 1}), blocks.slice(0, 0, 1).slice(2, 3, 4)})
      for (const DimsArg& dims : all_dims)
        for (const bool keepdim : {false, true}) {
          const Tensor copied = x.contiguous();
          const auto expect_same = [&](const char* name, const Tensor& got, const Tensor& wanted) {
            EXPECT_TRUE(same_bits(got, wanted) && got.strides() == wanted.strides() && got.sizes() == wanted.sizes())
                << name << " of " << dtype_name(dtype) << " " << to_string(x.sizes()) << " along "
                << to_string(dims.view());
          };
          expect_same("sum", sum(x, dims, keepdim), sum(copied, dims, keepdim));
          if (is_inexact(dtype)) expect_same("mean", mean(x, dims, keepdim), mean(copied, dims, keepdim));
          expect_same("any", any(x, dims, keepdim), any(copied, dims, keepdim));
          if (!is_complex(dtype)) expect_same("amax", amax(x, dims, keepdim), amax(copied, dims, keepdim));
          Tensor out = empty({7}, sum(copied, dims, keepdim).dtype());
          expect_same("sum into out", sum_out(out, x, dims, keepdim), sum(copied, dims, keepdim));
        }
  }
}

TEST(Reduce, ResultsMayLieAcross) {
  for (const Dtype dtype : {float32, int16, float64, bool_})
    for (const Dims& sizes : {Dims{4, 50, 8}, Dims{3, 8, 50}, Dims{2, 300, 3}})
      for (const int64_t dim : {0, 1, 2}) {
        const Tensor x = arange(numel_of(sizes)).remainder(7).to(dtype).view(sizes), wanted = sum(x, dim);
        Tensor out = empty({wanted.size(1), wanted.size(0)}, wanted.dtype()).t();
        EXPECT_TRUE(equal(sum_out(out, x, dim), wanted)) << dtype_name(dtype) << to_string(sizes) << dim;
        EXPECT_EQ(out.stride(0), 1) << "as it was";
      }
}

TEST(Reduce, TruthsAreBytesOfOne) {
  const auto expect_ones = [](const Tensor& truths) {
    EXPECT_TRUE(same_bits(truths, ones(truths.sizes(), truths.dtype()))) << to_string(truths.view(uint8));
  };
  for (int64_t columns : {1, 3, 20}) {
    const Tensor numbers = full({6, 20}, 7, int8).narrow(1, 0, columns), truths = numbers.view(bool_);
    const Tensor column = full({6, 1}, 7, int8).view(bool_), row = full({1, columns}, 7, int8).view(bool_);
    for (const Tensor& operand : {numbers, truths, truths.narrow(1, 0, 1), truths.narrow(0, 0, 1), column, row})
      for (int64_t dim : {0, 1}) {
        expect_ones(any(operand, {dim}));
        expect_ones(all(operand, {dim}));
      }
    for (int64_t dim : {0, 1}) {
      for (const Tensor& operand : {column, row}) expect_ones(amin(operand, {dim}));
      expect_ones(amax(truths, {dim}));
      expect_ones(std::get<0>(max(truths, dim)));
      expect_ones(std::get<0>(min(truths, dim)));
    }
  }
}

TEST(Reduce, AMeanGoesIntoFloatsOnly) {
  for (const Dtype dtype : {bool_, uint8, int8, int16, int32, int64}) {
    Tensor out = zeros({}, dtype);
    const std::string cannot = std::string(" can't be cast to the desired output type ") + scalar_type_name(dtype);
    try {
      mean_out(out, ones({2}));
      ADD_FAILURE() << dtype_name(dtype);
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "mean.dtype_out(): input types" + cannot);
    }
    EXPECT_EQ(error_text([&] { mean_out(out, ones({2}), {}, false, int64); }),
              "mean.dtype_out(): input types" + cannot);
    try {
      mean_out(out, ones({2}), 0);
      ADD_FAILURE() << dtype_name(dtype);
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "result type Float" + cannot);
    }
  }
}

// Kernels fold short rows of blocks by themselves: not one after the other, which would lose digits of equal numbers.
TEST(Reduce, SumsOfManyShortRowsAreAsExactAsPairwiseOnes) {
  for (const int64_t width : {1, 2, 3, 5, 7, 12, 17, 33})
    for (const int64_t rows : {200, 512, 1000, 2048, 5000}) {
      const Tensor x = full({20, rows, width + 2}, 0.1, float32), all = sum(x, {1}),
                   some = sum(x.narrow(2, 0, width), {1});
      const double exact = static_cast<double>(rows) * static_cast<double>(0.1F);
      for (const Tensor& sums : {all, some}) {
        const double error = max(abs(sums.to(float64) - exact)).item<double>() / exact;
        EXPECT_LT(error, 12 * std::numeric_limits<float>::epsilon()) << width << " x " << rows;
      }
    }
}

}  // namespace
}  // namespace tenon
