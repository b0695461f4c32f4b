// The whole library in a second. If one of these fails, look at it first.
#include <gtest/gtest.h>

#include <vector>

#include "tenon/tenon.h"

namespace {

using namespace tenon;

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> list;
  const Tensor flat = tensor.to(float64).contiguous();
  for (int64_t i = 0; i < flat.numel(); ++i) list.push_back(flat.data<double>()[i]);
  return list;
}

TEST(Tiny, ARowIsAddedToEveryRow) {
  const Tensor sum = tensor({{1, 2, 3}, {4, 5, 6}}) + tensor({10, 20, 30});
  EXPECT_EQ(to_string(sum.sizes()), "[2, 3]");
  EXPECT_EQ(values(sum), (std::vector<double>{11, 22, 33, 14, 25, 36}));
}

TEST(Tiny, AColumnMeetsARow) {
  const Tensor table = arange(1, 4).reshape({3, 1}) * arange(1, 5);
  EXPECT_EQ(to_string(table.sizes()), "[3, 4]");
  EXPECT_EQ(values(table), (std::vector<double>{1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12}));
}

TEST(Tiny, TheDocumentationsShapes) {
  EXPECT_EQ(to_string((zeros({5, 3, 4, 1}) + zeros({3, 1, 1})).sizes()), "[5, 3, 4, 1]");
  EXPECT_EQ(to_string((zeros({5, 1, 4, 1}) + zeros({3, 1, 1})).sizes()), "[5, 3, 4, 1]");
  EXPECT_EQ(to_string((zeros({1}) + zeros({3, 1, 7})).sizes()), "[3, 1, 7]");
}

TEST(Tiny, AMismatchSaysWhichDim) {
  try {
    zeros({5, 2, 4, 1}) + zeros({3, 1, 1});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1");
  }
}

TEST(Tiny, InPlaceKeepsItsShape) {
  Tensor x = zeros({1, 3, 1});
  EXPECT_THROW(x.add_(zeros({3, 1, 7})), Error);
  EXPECT_EQ(to_string(x.sizes()), "[1, 3, 1]");
  Tensor y = zeros({5, 3, 4, 1});
  EXPECT_TRUE(y.add_(ones({3, 1, 1})).is(y));
  EXPECT_EQ(y.sum().item<double>(), 60);
}

TEST(Tiny, DtypesPromote) {
  EXPECT_EQ((ones({2}, int32) + 1.5).dtype(), float32);
  EXPECT_EQ((ones({2}, int32) + ones({2}, float64)).dtype(), float64);
  EXPECT_EQ((ones({2}, uint8) + 300)[0].item<int64_t>(), 45);
}

TEST(Tiny, ASumUndoesABroadcast) {
  const Tensor grad = ones({5, 3, 4, 2}).sum_to_size({3, 1, 2});
  EXPECT_EQ(to_string(grad.sizes()), "[3, 1, 2]");
  EXPECT_EQ(values(grad), std::vector<double>(6, 20));
}

TEST(Tiny, ATransposeIsAView) {
  const Tensor a = arange(6).reshape({2, 3});
  EXPECT_EQ(a.t().data_ptr(), a.data_ptr());
  EXPECT_EQ(values(a.t() + 0), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

TEST(Tiny, PrintsAsPyTorchPrints) {
  EXPECT_EQ(to_string(tensor({{1.0, 2.0}, {3.0, 4.5}})), "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])");
}

}  // namespace
