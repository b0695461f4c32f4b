// Products of integer matrices are exact, modulo the type's range. Impossible products are refused.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "error_text.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"
#include "tile/course.h"
#include "type/half.h"

namespace tenon {
namespace {

TEST(Product, OfWholeNumbers) {
  for (const Dtype dtype : {uint8, int8, int16, int32, int64}) {
    const Tensor a = arange(6).reshape({2, 3}).to(dtype), b = arange(6).reshape({3, 2}).to(dtype);
    const Tensor product = mm(a, b);
    EXPECT_EQ(product.dtype(), dtype);
    EXPECT_EQ(to_string(product.to(int64)), "tensor([[10, 13],\n        [28, 40]])") << dtype_name(dtype);
    EXPECT_EQ(to_string(mm(b.t(), a.t()).t().to(int64)), to_string(product.to(int64))) << dtype_name(dtype);
  }
  const Tensor large = full({1, 2}, 100, int8);
  EXPECT_EQ(mm(large, large.t()).item<int64_t>(), 32) << "20000 is 78 * 256 + 32";
}

/// Integers from -3 to 3, whose sums are exact; row-major, column-major, or with gaps.
Tensor drawn(SizesView sizes, Dtype dtype, int layout, uint32_t& state) {
  Dims stored = sizes.copy();
  const int64_t last = stored.size() - 1;
  if (layout == 1) std::swap(stored[last], stored[last - 1]);
  if (layout == 2) stored[last] *= 2;
  Tensor numbers = empty(stored, int64);
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    numbers.data<int64_t>()[i] = static_cast<int64_t>(state >> 24) % 7 - 3;
  }
  numbers = numbers.to(dtype);
  return layout == 1 ? numbers.mT() : layout == 2 ? numbers.slice(-1, 0, {}, 2) : numbers;
}

/// The sum of products, computed by the definition.
int64_t sum_of_products(const Tensor& a, const Tensor& b, int64_t batch, int64_t row, int64_t column) {
  const int64_t depth = a.size(2), columns = b.size(2);
  int64_t sum = 0;
  for (int64_t k = 0; k < depth; ++k)
    sum += a.data<int64_t>()[(batch * a.size(1) + row) * depth + k] *
           b.data<int64_t>()[(batch * depth + k) * columns + column];
  return sum;
}

TEST(Product, OfEverySizeAndLayout) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 13, 16, 17, 31, 33, 49, 65, 130, 300};
  uint32_t state = 1;
  const auto size = [&] { return kSizes[(state = state * 1664525u + 1013904223u) >> 28]; };
  for (int number = 0; number < 600 / kSampled; ++number) {
    const int64_t batches = number % 3 + 1, rows = size(), depth = size(), columns = size();
    const Dtype dtype =
        std::array{float32, float64, int32, int64, float16, bfloat16, int8}[static_cast<std::size_t>(number % 7)];
    const Tensor a = drawn({batches, rows, depth}, dtype, number / 7 % 3, state);
    const Tensor b = drawn({batches, depth, columns}, dtype, number / 21 % 3, state);
    const Tensor got = bmm(a, b).to(int64), left = a.to(int64).contiguous(), right = b.to(int64).contiguous();
    const auto rounded = [&](int64_t sum) {
      if (dtype == int8) return int64_t{static_cast<int8_t>(sum)};
      return dtype == bfloat16 ? static_cast<int64_t>(bfloat16_value(bfloat16_bits(static_cast<float>(sum)))) : sum;
    };
    for (int64_t i = 0; i < got.numel(); ++i) {
      const int64_t want = sum_of_products(left, right, i / (rows * columns), i / columns % rows, i % columns);
      ASSERT_EQ(got.data<int64_t>()[i], rounded(want))
          << number << ": " << dtype_name(dtype) << " " << to_string(a.sizes()) << to_string(a.strides()) << " @ "
          << to_string(b.sizes()) << to_string(b.strides()) << " at " << i;
    }
  }
}

/// The same with imaginary parts.
Tensor drawn_complex(SizesView sizes, Dtype dtype, int layout, uint32_t& state) {
  Dims stored = sizes.copy();
  const int64_t last = stored.size() - 1;
  if (layout == 1) std::swap(stored[last], stored[last - 1]);
  if (layout == 2) stored[last] *= 2;
  const Tensor numbers = complex(drawn(stored, float64, 0, state), drawn(stored, float64, 0, state)).to(dtype);
  return layout == 1 ? numbers.mT() : layout == 2 ? numbers.slice(-1, 0, {}, 2) : numbers;
}
TEST(Product, OfComplexNumbersOfEverySizeAndLayout) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 17, 65};
  uint32_t state = 1;
  const auto size = [&] { return kSizes[(state = state * 1664525u + 1013904223u) >> 29]; };
  for (int number = 0; number < 400; ++number) {
    const int64_t batches = number % 3 + 1, rows = number % 4 ? size() : 1, depth = size(), columns = size();
    const Dtype dtype = number % 2 ? complex64 : complex128;
    const Tensor a = drawn_complex({batches, rows, depth}, dtype, number / 2 % 3, state);
    Tensor b = drawn_complex({batches, depth, columns}, dtype, number / 6 % 3, state);
    if (number % 5 == 0) b = b.slice(0, 0, 1).expand({batches, depth, columns});
    const auto parts = [](const Tensor& x) { return std::pair(real(x).to(int64), imag(x).to(int64)); };
    const auto [a_re, a_im] = parts(a);
    const auto [b_re, b_im] = parts(b);
    const auto [re, im] = parts(bmm(a, b));
    EXPECT_TRUE(equal(re, bmm(a_re, b_re) - bmm(a_im, b_im)) && equal(im, bmm(a_re, b_im) + bmm(a_im, b_re)))
        << dtype_name(dtype) << " " << to_string(a.sizes()) << to_string(a.strides()) << " by " << to_string(b.sizes())
        << to_string(b.strides());
    if (batches > 1) continue;
    EXPECT_TRUE(equal(matmul(a[0], b[0]), bmm(a, b)[0]));
    EXPECT_TRUE(equal(mv(a[0], b.select(2, 0)[0]), bmm(a, b)[0].select(1, 0)));
  }
}

TEST(Product, OfColumnsAlongMemoryReadsNothingBesideThem) {
  constexpr int64_t kBatches = 3;
  uint32_t state = 1;
  for (const Dtype dtype : {float32, float64, int32, int64})
    for (const auto& [rows, depth, columns] : {std::array<int64_t, 3>{7, 3, 9},
                                               {16, 16, 16},
                                               {5, 8, 2},
                                               {9, 56, 9},
                                               {64, 8, 64},
                                               {3, 15, 17},
                                               {12, 7, 33}}) {
      const Tensor a = drawn({kBatches, rows, depth}, dtype, 0, state);
      const Tensor packed = drawn({kBatches, columns, depth}, dtype, 0, state);
      Tensor apart = full({kBatches, columns + 1, depth + 2}, is_floating_point(dtype) ? std::nan("") : 1e6, dtype);
      Tensor within = apart.narrow(1, 0, columns).narrow(2, 1, depth);
      within.copy_(packed);
      const Tensor wanted = bmm(a, packed.transpose(1, 2).contiguous());
      for (const Tensor& b : {packed, within})
        EXPECT_TRUE(equal(bmm(a, b.transpose(1, 2)), wanted))
            << dtype_name(dtype) << rows << "," << depth << "," << columns;
    }
}

TEST(Product, OfFewColumnsOfBfloat16) {
  uint32_t state = 8;
  for (int64_t columns = 2; columns < 19; ++columns)
    for (const int64_t depth : {16, 18, 30, 31, 32, 34, 62, 64, 66, 130, 520})
      for (const int64_t rows : {64, 75, 126}) {
        const int layout = static_cast<int>(columns + depth + rows) % 3, other = static_cast<int>(state >> 8) % 3;
        const Tensor a = drawn({1, rows, depth}, bfloat16, layout, state);
        const Tensor b = drawn({1, depth, columns}, bfloat16, other, state);
        const Tensor got = bmm(a, b), want = bmm(a.to(float32), b.to(float32)).to(bfloat16);
        ASSERT_TRUE(eq(got, want).all().item<bool>())
            << rows << " x " << depth << " x " << columns << ", layouts " << layout << " " << other;
      }
}

TEST(Product, OfOverlappingColumnsOfBfloat16) {
  uint32_t state = 11;
  for (const int64_t step : {1, 2, 4})
    for (const int64_t columns : {3, 12, 20}) {
      const Tensor a = drawn({70, 16}, bfloat16, 0, state);
      const Tensor b = drawn({1, 16 + step * (columns - 1)}, bfloat16, 0, state).as_strided({16, columns}, {1, step});
      const Tensor want = mm(a.to(float32), b.to(float32)).to(bfloat16);
      EXPECT_TRUE(eq(mm(a, b), want).all().item<bool>()) << step << " " << columns;
    }
}

TEST(Product, OfManyRowsOfBfloat16IsThatOfFloats) {
  uint32_t state = 9;
  for (const auto& [rows, depth, columns] :
       {std::array<int64_t, 3>{40000, 16, 4}, {20001, 17, 16}, {9000, 20, 15}, {2100, 64, 64}, {1100, 32, 65}}) {
    const Tensor a = drawn({rows, depth}, bfloat16, static_cast<int>(rows % 3), state);
    const Tensor b = drawn({depth, columns}, bfloat16, static_cast<int>(depth % 3), state);
    Tensor out = empty({rows, columns}, Options(bfloat16));
    const Tensor want = mm(a.to(float32), b.to(float32)).to(bfloat16);
    EXPECT_TRUE(eq(mm(a, b), want).all().item<bool>()) << rows << " x " << depth << " x " << columns;
    EXPECT_TRUE(eq(mm_out(out, a, b), want).all().item<bool>()) << rows << " x " << depth << " x " << columns;
    EXPECT_EQ(mm(a, b).version(), 0u);
  }
}

TEST(Product, OfAVectorAndALargeMatrixOf16BitFloats) {
  uint32_t state = 12;
  for (const Dtype dtype : {float16, bfloat16})
    for (const auto& [count, length] : {std::array<int64_t, 2>{9001, 16},
                                        {2100, 64},
                                        {700, 300},
                                        {131, 1030},
                                        {34, 4096},
                                        {900, 2050},
                                        {40, 5000},
                                        {17, 12301}}) {
      const Tensor gaps = drawn({count, length}, dtype, 2, state), wide = drawn({count, length + 3}, dtype, 0, state);
      for (const Tensor& matrix : {drawn({count, length}, dtype, 0, state), gaps, wide.slice(1, 1, length + 1)}) {
        const Tensor short_vector = drawn({1, length}, dtype, 2, state).select(0, 0);
        const Tensor long_vector = drawn({1, count}, dtype, 0, state).select(0, 0);
        const Tensor floats = matrix.to(float32);
        const auto where = dtype_name(dtype) + to_string(matrix.sizes()) + to_string(matrix.strides());
        EXPECT_TRUE(eq(mv(matrix, short_vector), mv(floats, short_vector.to(float32)).to(dtype)).all().item<bool>())
            << where;
        EXPECT_TRUE(
            eq(mv(matrix.t(), long_vector), mv(floats.t(), long_vector.to(float32)).to(dtype)).all().item<bool>())
            << where;
        EXPECT_TRUE(
            eq(matmul(long_vector, matrix), matmul(long_vector.to(float32), floats).to(dtype)).all().item<bool>())
            << where;
        EXPECT_TRUE(eq(mm(short_vector.unsqueeze(0), matrix.t()),
                       mm(short_vector.to(float32).unsqueeze(0), floats.t()).to(dtype))
                        .all()
                        .item<bool>())
            << where;
      }
    }
}

TEST(Product, OfEqualRowsHasEqualBits) {
  uint32_t state = 10;
  for (const Dtype dtype : {float32, float64, bfloat16})
    for (const int64_t columns : {2, 3, 5, 6, 8, 11, 16, 17})
      for (const int64_t depth : {6, 16, 40, 300})
        for (const int64_t rows : {70, 4097, 20001}) {
          const Tensor row = div(drawn({1, depth}, dtype, 0, state), 7),
                       b = div(drawn({depth, columns}, dtype, 0, state), 7);
          const Tensor all = mm(row.expand({rows, depth}).contiguous(), b);
          EXPECT_TRUE(eq(all, all.select(0, 0)).all().item<bool>())
              << dtype_name(dtype) << " " << rows << " x " << depth << " x " << columns;
        }
}

TEST(Product, MayReplaceAnOperand) {
  uint32_t state = 2;
  for (const Dtype dtype : {float32, bfloat16, int8, int64})
    for (const int64_t side : {1, 3, 4, 9, 40}) {
      const Tensor a = drawn({2, side, side}, dtype, 0, state), want = bmm(a, a);
      Tensor matrices = a.clone(), matrix = a.select(0, 0).clone(), other = a.clone();
      EXPECT_TRUE(eq(bmm_out(matrices, matrices, a), want).all().item<bool>()) << dtype_name(dtype) << " " << side;
      EXPECT_TRUE(eq(matmul_out(other, a, other), want).all().item<bool>()) << dtype_name(dtype) << " " << side;
      EXPECT_TRUE(eq(mm_out(matrix, matrix, matrix), want.select(0, 0)).all().item<bool>())
          << dtype_name(dtype) << " " << side;
    }
}

TEST(Product, OfSmallMatricesIsWrittenWhereItIsWanted) {
  uint32_t state = 6;
  for (int number = 0; number < 2000; ++number) {
    const auto draw = [&](uint32_t most) {
      return static_cast<int64_t>(((state = state * 1664525u + 1013904223u) >> 16) % most) + 1;
    };
    const int64_t rows = draw(9), depth = draw(12), columns = draw(9);
    const Dtype dtype = std::array{float32, float64, int32, int64}[static_cast<std::size_t>(number % 4)];
    const Tensor a = drawn({rows, depth}, dtype, number / 4 % 3, state);
    const Tensor b = drawn({depth, columns}, dtype, number / 12 % 3, state);
    const Tensor vector = b.select(1, 0), row = a.select(0, 0);
    const Tensor left = a.to(int64).contiguous().unsqueeze(0), right = b.to(int64).contiguous().unsqueeze(0);
    Tensor out = full({rows, columns}, 77, dtype), same = out.clone(), column = full({rows}, 77, dtype);
    const uint32_t version = out.version();
    mm_out(out, a, b);
    matmul_out(same, a, b);
    mv_out(column, a, vector);
    EXPECT_GT(out.version(), version);
    const Tensor products[] = {out, same, mm(a, b), matmul(a, b)}, sums[] = {column, mv(a, vector), matmul(a, vector)};
    for (int64_t i = 0; i < rows * columns; ++i)
      for (const Tensor& product : products)
        ASSERT_EQ(product.to(int64).data<int64_t>()[i], sum_of_products(left, right, 0, i / columns, i % columns))
            << number << ": " << dtype_name(dtype) << " " << to_string(a.sizes()) << " @ " << to_string(b.sizes());
    for (int64_t i = 0; i < rows; ++i)
      for (const Tensor& sum : sums)
        ASSERT_EQ(sum.to(int64).data<int64_t>()[i], sum_of_products(left, right, 0, i, 0)) << number;
    ASSERT_EQ(dot(row, vector).to(int64).item<int64_t>(), sum_of_products(left, right, 0, 0, 0)) << number;
    ASSERT_TRUE(eq(matmul(row, b), out.select(0, 0)).all().item<bool>()) << number;
  }
}

TEST(Product, OfSmallMatricesMayMeetItsOperands) {
  const Tensor numbers = arange(32, float32);
  const Tensor a = numbers.slice(0, 0, 9).view({3, 3}), want = mm(a.clone(), a.clone());
  Tensor shifted = numbers.slice(0, 3, 12).view({3, 3});
  mm_out(shifted, a, a);
  EXPECT_TRUE(eq(shifted, want).all().item<bool>());
  Tensor wide = empty({3, 6}, float32), gaps = wide.slice(1, 0, 6, 2), leaf = ones({2, 2}).requires_grad_();
  mm_out(gaps, want, want);
  EXPECT_TRUE(eq(gaps, mm(want, want)).all().item<bool>());
  EXPECT_EQ(error_text([&] {
              mm_out(leaf, ones({2, 2}), ones({2, 2}));
            }),
            "mm(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad.");
}

TEST(Product, OfVectorsIsThatOfMatrices) {
  uint32_t state = 3;
  for (const Dtype dtype : {float32, float16, int16, int64})
    for (const int64_t depth : {1, 2, 13, 100})
      for (const int64_t columns : {1, 2, 7, 40}) {
        const Tensor row = drawn({1, depth}, dtype, 0, state), matrix = drawn({depth, columns}, dtype, 1, state);
        const Tensor want = mm(row, matrix).squeeze(0), got = matmul(row.squeeze(0), matrix);
        EXPECT_EQ(got.sizes(), want.sizes());
        EXPECT_TRUE(eq(got, want).all().item<bool>()) << dtype_name(dtype) << " " << depth << " " << columns;
        EXPECT_TRUE(eq(mv(matrix.t(), row.squeeze(0)), want).all().item<bool>())
            << dtype_name(dtype) << " " << depth << " " << columns;
      }
}

TEST(Product, OfEqualMatricesHasEqualBits) {
  uint32_t state = 4;
  for (const Dtype dtype : {float32, float64})
    for (const int64_t rows : {3, 4, 5, 8, 9, 10, 16, 17, 18})
      for (int64_t columns = 1; columns < 16; ++columns) {
        const Tensor a = div(drawn({rows, 9}, dtype, 0, state), 7), b = div(drawn({9, columns}, dtype, 0, state), 7);
        const Tensor all = bmm(a.expand({20, rows, 9}), b.expand({20, 9, columns}));
        EXPECT_TRUE(eq(all, all.select(0, 0)).all().item<bool>()) << dtype_name(dtype) << " " << rows << " " << columns;
      }
}

// Few rows read b in blocks of its rows, which differ with their bytes and with where b lies.
TEST(Product, FewRowsReadRowsTogether) {
  uint32_t state = 5;
  for (const Dtype dtype : {float32, float64, int32, int64})
    for (const int64_t rows : {1, 2, 3, 4, 5})
      for (const auto& [depth, columns] :
           {std::pair<int64_t, int64_t>{300, 301}, {70, 1999}, {33, 9000}, {257, 130}, {8, 70000}, {1100, 1000}}) {
        const Tensor a = drawn({rows, depth}, dtype, 0, state), b = drawn({depth, columns}, dtype, 0, state);
        Tensor want = zeros({rows, columns}, dtype);
        for (int64_t k = 0; k < depth; ++k) want.add_(mul(a.narrow(1, k, 1), b.narrow(0, k, 1)));
        EXPECT_TRUE(equal(mm(a, b), want)) << dtype_name(dtype) << " " << rows << " " << depth << " " << columns;
      }
}

TEST(Product, HasTheSameBitsForAnyNumberOfThreads) {
  const int before = get_num_threads();
  for (const auto& [rows, depth, columns] : {std::array<int64_t, 3>{300, 300, 300},
                                             {7, 600, 500},
                                             {500, 600, 1},
                                             {1, 700, 900},
                                             {30, 1000, 300},
                                             {900, 40, 50},
                                             {70000, 29, 1},
                                             {1, 3, 90000},
                                             {6, 20, 30000},
                                             {8, 100, 20000},
                                             {3000, 100, 1},
                                             {1, 3000, 100},
                                             {1, 2500, 3000},
                                             {20, 20000, 1},
                                             {3, 900, 1100},
                                             {9000, 2, 299},
                                             {900, 70, 200}})
    for (const auto& [turned, dtype] :
         {std::pair{false, float32}, {true, float32}, {false, bfloat16}, {true, bfloat16}}) {
      const Tensor a = (arange(rows * depth, float32).reshape({rows, depth}) * 0.37f).add(0.1).reciprocal().to(dtype);
      const Tensor b = (arange(depth * columns, float32) * 0.73f)
                           .add(0.2)
                           .reciprocal()
                           .reshape(turned ? Dims{columns, depth} : Dims{depth, columns})
                           .to(dtype);
      std::string first;
      for (const int threads : {1, 2, 3, 8}) {
        set_num_threads(threads);
        const Tensor product = mm(a, turned ? b.t() : b);
        const std::string bytes(static_cast<const char*>(product.data_ptr()),
                                static_cast<std::size_t>(product.nbytes()));
        if (threads == 1) first = bytes;
        EXPECT_EQ(bytes == first, true) << rows << " x " << depth << " x " << columns << ", " << threads << " threads";
      }
    }
  set_num_threads(before);
}

TEST(Product, OfNothing) {
  EXPECT_EQ(to_string(mm(ones({2, 0}), ones({0, 2}))), "tensor([[0., 0.],\n        [0., 0.]])");
  EXPECT_EQ(mm(ones({0, 2}), ones({2, 3})).numel(), 0);
  EXPECT_EQ(dot(ones({0}), ones({0})).item<float>(), 0);
  EXPECT_EQ(to_string(addmm(ones({2}), ones({2, 0}), ones({0, 2}), 3)), "tensor([[3., 3.],\n        [3., 3.]])");
}

TEST(Product, TimesAlpha0LeavesWhatItIsAddedTo) {
  const Tensor start = tensor({{-0.0, 2.0}}), a = full({1, 1}, 3.0),
               b = full({1, 2}, std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_string(addmm(start, a, b, 1, 0)), "tensor([[-0., 2.]])");
  EXPECT_EQ(to_string(addmm(start, a, b, -2, 0)), "tensor([[ 0., -4.]])");
  EXPECT_EQ(to_string(addmm(start, a, b, 0, 0)), "tensor([[0., 0.]])");
  const Tensor meta = zeros({1, 2}, Device::meta);
  EXPECT_EQ(addmm(meta, zeros({1, 1}, Device::meta), meta, -2, 0).sizes(), meta.sizes());
}

TEST(Product, NamesSharedElementsOfTheOutputBeforeItsDtype) {
  const Tensor a = ones({2, 2}, Options(bool_));
  Tensor out = zeros({2, 1}, Options(bool_)).expand({2, 2}), vector = zeros({1}, Options(bool_)).expand({2});
  EXPECT_NE(error_text([&] { addmm_out(out, a, a, a); }).find("more than one element"), std::string::npos);
  EXPECT_NE(error_text([&] { addmv_out(vector, a.select(0, 0), a, a.select(0, 0)); }).find("more than one element"),
            std::string::npos);
}

TEST(Product, IsPlannedWithoutMemory) {
  for (const Dtype dtype : {float32, bfloat16, int32})
    for (const Dims& sizes : {Dims{64, 64, 64}, Dims{300, 1, 40}, Dims{300, 50, 3}, Dims{8, 4098, 16}}) {
      CourseRecord record(false);
      const Options options(dtype, Device::meta);
      mm(zeros({sizes[0], sizes[1]}, options), zeros({sizes[1], sizes[2]}, options));
      EXPECT_FALSE(record.courses.empty());
    }
}

TEST(Product, RefusesWhatDoesNotFit) {
  const Tensor a = zeros({2, 3});
  EXPECT_EQ(error_text([&] { mm(a, a); }), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  EXPECT_EQ(error_text([&] { mm(a, zeros({3})); }), "mat2 must be a matrix");
  EXPECT_EQ(error_text([&] { mm(zeros({3}), a); }), "self must be a matrix");
  EXPECT_EQ(error_text([&] {
              mm(a, zeros({3, 2}, float64));
            }),
            "expected m1 and m2 to have the same dtype, but got: float != double");
  // PyTorch gives a library batches whose product has no gaps, and others to mm.
  const auto batch_text = [](Tensor out) {
    return error_text([&] { bmm_out(out, zeros({3, 2, 33}, float64), zeros({3, 33, 17})); });
  };
  EXPECT_EQ(batch_text(zeros({3, 2, 17})), "expected scalar type Float but found Double");
  EXPECT_EQ(batch_text(zeros({3, 2, 34}).slice(2, 0, 34, 2)),
            "expected m1 and m2 to have the same dtype, but got: double != float");
  const Tensor meta = empty({2, 3}, Device::meta);
  EXPECT_EQ(error_text([&] { mm(meta, meta); }), "a and b must have same reduction dim, but got [2, 3] X [2, 3].");
}

}  // namespace
}  // namespace tenon
