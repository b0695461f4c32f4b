// Sorting along any dim, of any strides, gives what sorting rows that lie along memory gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
