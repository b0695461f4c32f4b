// Sorting along any dim, of any strides, gives what sorting rows that lie along memory gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"

namespace tenon {
namespace {

bool is_same(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && all(eq(a, b)).item<bool>(); }

/// Compares with the same call on a copy whose dim is the innermost one.
template <class Sort>
void expect_as_rows(const Tensor& x, int64_t dim, const Sort& sorted) {
  const auto [values, indices] = sorted(x, dim);
  const auto [row_values, row_indices] = sorted(x.transpose(dim, -1).contiguous(), -1);
  const std::string where = to_string(x.sizes()) + to_string(x.strides()) + " dim " + std::to_string(dim);
  EXPECT_TRUE(is_same(values, row_values.transpose(dim, -1))) << where;
  EXPECT_TRUE(is_same(indices, row_indices.transpose(dim, -1))) << where;
}

// Larger than a block of rows, with blocks that end within a dim, and dims that are larger than a block.
TEST(Sort, AlongAnyDimIsThatOfRows) {
  manual_seed(1);
  for (const Tensor& x : {rand({300, 500}), rand({70'000, 3}), rand({3, 70'000}), rand({40, 3, 1, 700}),
                          rand({700, 3, 40}).permute({2, 0, 1}), rand({2, 100, 900}).slice(2, 0, 900, 2)})
    for (int64_t dim = 0; dim < x.dim(); ++dim) {
      expect_as_rows(x, dim, [](const Tensor& a, int64_t along) { return sort(a, along); });
      const int64_t k = std::min<int64_t>(x.size(dim), 5);
      expect_as_rows(x, dim, [k](const Tensor& a, int64_t along) { return topk(a, k, along); });
    }
}

/// Compares with the first elements of a stable sort. `kind`: how the elements are distributed.
void expect_first_of_sorted(const Tensor& x, int64_t k, const std::string& kind) {
  for (bool largest : {false, true}) {
    const auto [values, indices] = topk(x, k, -1, largest);
    const auto [sorted_values, sorted_indices] = sort(x, -1, largest);
    const std::string where = kind + to_string(x.sizes()) + " " + dtype_name(x.dtype()) + " k " + std::to_string(k);
    EXPECT_TRUE(is_same(indices, sorted_indices.slice(-1, 0, k))) << where;
    EXPECT_TRUE(is_same(values.nan_to_num(0.5), sorted_values.slice(-1, 0, k).nan_to_num(0.5))) << where;
  }
}

// A sample says which elements may be among the first; it says too little about sorted rows, rows with a period, and
// rows of equal elements.
TEST(Sort, FirstElementsAreThoseOfTheWholeOrder) {
  manual_seed(2);
  for (const int64_t length : {191, 192, 250, 640, 1000, 4095, 4096, 30'000})
    for (const int64_t part : {50, 11, 5, 3, 2})
      for (const Dtype dtype : {float32, float64, int64, int16}) {
        const int64_t k = length / part, rows = length < 1000 ? 3 : 1;
        const Tensor random = randn({rows, length}), ramp = arange(length).to(float32).expand({rows, length});
        expect_first_of_sorted((random * 1000).to(dtype), k, "normal ");
        expect_first_of_sorted((random * 2).to(dtype), k, "with ties ");
        expect_first_of_sorted(ramp.to(dtype), k, "sorted ");
        expect_first_of_sorted((ramp % 64).to(dtype), k, "with a period ");
        expect_first_of_sorted(((ramp % (length / 64)).eq(7) * -5).to(dtype), k, "few small ones ");
        expect_first_of_sorted(ones({rows, length}).to(dtype), k, "equal ");
        if (is_floating_point(dtype))
          expect_first_of_sorted(where(random.gt(0), random, NAN).to(dtype), k, "half NaN ");
      }
}

/// Compares with what is known of rows that are in order, or in the opposite one.
void expect_in_order(const Tensor& ascending, const Tensor& places, const std::string& kind) {
  const int64_t n = ascending.size(-1), dim = -1;
  for (bool reversed : {false, true}) {
    const Tensor x = reversed ? ascending.flip(SizesView({1})) : ascending,
                 wanted = reversed ? places.flip(SizesView({1})) : places;
    const std::string where = kind + to_string(x.sizes()) + dtype_name(x.dtype()) + (reversed ? " reversed" : "");
    const auto [values, indices] = sort(x, dim);
    EXPECT_TRUE(is_same(values.nan_to_num(0.5), ascending.nan_to_num(0.5))) << where;
    EXPECT_TRUE(is_same(indices, wanted)) << where;
    for (const int64_t k : {int64_t{1}, std::min<int64_t>(n, 5), n / 2, n - 1}) {
      EXPECT_TRUE(is_same(std::get<1>(topk(x, k, dim, false)), wanted.slice(dim, 0, k))) << where << " k " << k;
      EXPECT_TRUE(is_same(std::get<1>(topk(x, k, dim, true)), wanted.flip(SizesView({1})).slice(dim, 0, k)))
          << where << " k " << k;
    }
  }
}
TEST(Sort, RowsThatAreInOrder) {
  for (const int64_t n : {2, 5, 6, 8, 13, 30, 64, 65, 66, 129, 300, 1000, 9000})
    for (const Dtype dtype : {float32, float64, int64, int32}) {
      const Tensor places = arange(n).expand({3, n});
      expect_in_order((places - n / 2).to(dtype), places, "negative and positive ");
      if (!is_floating_point(dtype)) continue;
      Tensor last_is_nan = places.to(dtype);
      last_is_nan.select(-1, n - 1).fill_(NAN);
      expect_in_order(last_is_nan, places, "the last NaN ");
    }
  // One pair that is not in order, at any place; equal elements in descending rows keep their order.
  for (int64_t n : {8, 70, 200})
    for (int64_t at = 1; at < n; ++at) {
      Tensor x = arange(n);
      x.select(0, at - 1).fill_(at);
      x.select(0, at).fill_(at - 1);
      Tensor wanted = arange(n);
      wanted.select(0, at - 1).fill_(at);
      wanted.select(0, at).fill_(at - 1);
      EXPECT_TRUE(is_same(std::get<1>(sort(x)), wanted)) << n << " " << at;
      const Tensor ties = arange(n).floor_divide(2);
      EXPECT_TRUE(is_same(std::get<1>(sort(ties, 0)), arange(n))) << n;
      EXPECT_TRUE(is_same(std::get<1>(sort(ties, 0, true)), arange(n).bitwise_xor(1).flip(SizesView({0})))) << n;
      EXPECT_TRUE(is_same(std::get<1>(topk(ties, n / 2 - 1)),
                          arange(n).bitwise_xor(1).flip(SizesView({0})).slice(0, 0, n / 2 - 1)))
          << n;
    }
}

// Rows of few elements, whose first ones are found at once, beside the same ones of a sort.
TEST(Sort, FewFirstElements) {
  manual_seed(4);
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const int64_t length : {24, 25, 47, 48, 61, 64, 65, 100, 127, 128, 129, 200, 256, 320, 321})
    for (const int64_t k : {2, 3, 4, 7, 8, 9, 15, 16, 17}) {
      const Tensor random = randn({4, length}), close = randint(0, 1 << 20, {4, length});
      for (const Dtype dtype : {float32, float64, int64, int32, bfloat16}) {
        expect_first_of_sorted((random * 1000).to(dtype), k, "normal ");
        expect_first_of_sorted((random * 2).to(dtype), k, "with ties ");
        expect_first_of_sorted(ones({4, length}).to(dtype), k, "equal ");
        if (is_floating_point(dtype))
          expect_first_of_sorted(where(random.gt(0), random, NAN).to(dtype), k, "half NaN ");
      }
      expect_first_of_sorted(where(close.lt(1 << 19), full({}, kLargest), close - kLargest), k, "largest integers ");
      expect_first_of_sorted(close.mul(int64_t{1} << 43) - (int64_t{1} << 62) + close, k, "all bits ");
      expect_first_of_sorted(close.remainder(2).mul(kLargest) - close.remainder(5), k, "low bits ");
    }
}

/// Compares with the order of std::stable_sort.
void expect_stable(const Tensor& x, const std::string& kind) {
  const auto* const elements = x.data<int64_t>();
  std::vector<int64_t> places(static_cast<std::size_t>(x.numel()));
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) { return elements[a] < elements[b]; });
  const Tensor indices = std::get<1>(sort(x, 0));
  EXPECT_TRUE(std::equal(places.begin(), places.end(), indices.data<int64_t>())) << kind << x.numel();
}
// 32 bits of a key are packed with its place. The others order keys that are equal in those: few of many, or most.
TEST(Sort, KeysOfMoreThan32Bits) {
  manual_seed(3);
  for (const int64_t n : {2, 70, 129, 300, 1000, 5000, 9000}) {
    const Tensor close = randint(0, 1 << 20, {n}), far = close.mul(int64_t{1} << 40);
    expect_stable(far + close, "all bits ");
    expect_stable(far.floor_divide(int64_t{1} << 58).mul(int64_t{1} << 58) + close, "low bits ");
    expect_stable(where(arange(n) == 1, full({}, int64_t{1} << 62), randint(0, 300, {n})), "equal ");
  }
}

}  // namespace
}  // namespace tenon
