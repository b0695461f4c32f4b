// Sorting along any dim, of any strides, gives what sorting rows that lie along memory gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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

}  // namespace
}  // namespace tenon
