// Products of matrices of whole numbers are exact, modulo the type's range; what cannot be multiplied is refused.
#include <gtest/gtest.h>

#include <string>

#include "error_text.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

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

TEST(Product, RefusesWhatDoesNotFit) {
  const Tensor a = zeros({2, 3});
  EXPECT_EQ(error_text([&] { mm(a, a); }), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  EXPECT_EQ(error_text([&] { mm(a, zeros({3})); }), "mat2 must be a matrix");
  EXPECT_EQ(error_text([&] { mm(zeros({3}), a); }), "self must be a matrix");
  EXPECT_EQ(error_text([&] {
              mm(a, zeros({3, 2}, float64));
            }),
            "expected m1 and m2 to have the same dtype, but got: float != double");
  const Tensor meta = empty({2, 3}, Device::meta);
  EXPECT_EQ(error_text([&] { mm(meta, meta); }), "a and b must have same reduction dim, but got [2, 3] X [2, 3].");
}

}  // namespace
}  // namespace tenon
