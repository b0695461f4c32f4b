// New tensors have PyTorch's sizes, strides, dtypes, values and error texts.
#include "tenon/factories.h"
#include "tenon/random.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tenon {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;

std::string geometry(const Tensor& x) {
  return std::string(dtype_name(x.dtype())) + " " + to_string(x.sizes()) + " " + to_string(x.strides());
}

std::string outcome(const std::function<std::string()>& run) {
  try {
    return run();
  } catch (const NotImplementedError& error) {
    return std::string("NotImplementedError: ") + error.what();
  } catch (const ValueError& error) {
    return std::string("ValueError: ") + error.what();
  } catch (const TypeError& error) {
    return std::string("TypeError: ") + error.what();
  } catch (const Error& error) {
    return std::string("Error: ") + error.what();
  }
}

struct Case {
  const char* call;
  std::function<std::string()> run;
  const char* want;
};
#define PRINTED(CALL, WANT)                     \
  Case {                                        \
#CALL, [] { return to_string(CALL); }, WANT \
  }
#define GEOMETRY(CALL, WANT)                   \
  Case {                                       \
#CALL, [] { return geometry(CALL); }, WANT \
  }

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(outcome(c.run), c.want) << c.call;
}

// clang-format off
TEST(Factories, Values) {
  check({
      PRINTED(zeros({2, 2}),                          "tensor([[0., 0.],\n        [0., 0.]])"),
      PRINTED(ones({3}, int32),                       "tensor([1, 1, 1], dtype=torch.int32)"),
      PRINTED(full({2}, 3),                           "tensor([3, 3])"),
      PRINTED(full({2}, 3.0),                         "tensor([3., 3.])"),
      PRINTED(full({2}, true),                        "tensor([True, True])"),
      PRINTED(full({2}, -1, uint8),                   "tensor([255, 255], dtype=torch.uint8)"),
      PRINTED(full({2}, 1.5, int32),                  "tensor([1, 1], dtype=torch.int32)"),
      PRINTED(full({2}, 0x1p63, int64),               "tensor([-9223372036854775808, -9223372036854775808])"),
      PRINTED(full({2}, 300, uint8),                  "Error: value cannot be converted to type uint8_t without overflow"),
      PRINTED(full({0}, 300, uint8),                  "Error: value cannot be converted to type uint8_t without overflow"),
      GEOMETRY(full({2}, 300, {uint8, Device::meta}), "uint8 [2] [1]"),
      PRINTED(scalar_tensor(3),                       "tensor(3.)"),
      PRINTED(scalar_tensor(3, int64),                "tensor(3)"),
      PRINTED(eye(2, 3),                              "tensor([[1., 0., 0.],\n        [0., 1., 0.]])"),
      PRINTED(eye(2, bool_),                          "tensor([[ True, False],\n        [False,  True]])"),
      PRINTED(eye(0),                                 "tensor([], size=(0, 0))"),
      GEOMETRY(eye(2, Device::meta),                  "float32 [2, 2] [2, 1]"),
      PRINTED(eye(-2, -1),                            "Error: n must be greater or equal to 0, got -2"),
      PRINTED(eye(2, -1),                             "Error: m must be greater or equal to 0, got -1"),
  });
}

TEST(Factories, Geometry) {
  check({
      GEOMETRY(empty({2, 0, 3}),                                          "float32 [2, 0, 3] [3, 3, 1]"),
      GEOMETRY(empty({2, -1}),                                            "Error: Trying to create tensor with negative dimension -1: [2, -1]"),
      GEOMETRY(zeros({-1, -2}),                                           "Error: zeros: Dimension size must be non-negative."),
      GEOMETRY(zeros({-1}, Device::meta),                                 "Error: Trying to create tensor with negative dimension -1: [-1]"),
      GEOMETRY(ones({-1}),                                                "Error: Trying to create tensor with negative dimension -1: [-1]"),
      GEOMETRY(empty({int64_t{1} << 61}),                                 "Error: Storage size calculation overflowed with sizes=[2305843009213693952]"),
      GEOMETRY(empty_strided({2, 3}, {1, 1}),                             "float32 [2, 3] [1, 1]"),
      GEOMETRY(empty_strided({1, 3}, {-5, 2}),                            "float32 [1, 3] [6, 2]"),
      GEOMETRY(empty_strided({0, 3}, {-1, -1}),                           "float32 [0, 3] [3, 1]"),
      GEOMETRY(empty_strided({2, 3}, {1}),                                "Error: dimensionality of sizes (2) must match dimensionality of strides (1)"),
      GEOMETRY(empty_strided({-2, 3}, {1}),                               "Error: Trying to create tensor with negative dimension -2: [-2, 3]"),
      GEOMETRY(empty_strided({2, 3}, {-1, 1}),                            "Error: Storage size calculation overflowed with sizes=[2, 3] and strides=[-1, 1]"),
      GEOMETRY(empty_strided({2}, {int64_t{1} << 62}),                    "Error: Storage size calculation overflowed with sizes=[2] and strides=[4611686018427387904]"),
      GEOMETRY(empty_like(empty({2, 3}).t()),                             "float32 [3, 2] [1, 3]"),
      GEOMETRY(empty_like(empty({2, 3}).t(), {}, MemoryFormat::contiguous), "float32 [3, 2] [2, 1]"),
      GEOMETRY(empty_like(empty({2, 3}), {}, MemoryFormat::channels_last), "Error: required rank 4 tensor to use channels_last format"),
      GEOMETRY(ones_like(empty({2, 3}).slice(1, {}, {}, 2)),              "float32 [2, 2] [2, 1]"),
      GEOMETRY(zeros_like(empty({2, 3}, int8).expand({4, 2, 3})),         "int8 [4, 2, 3] [6, 3, 1]"),
      GEOMETRY(full_like(empty({2}, uint8), 1.5),                         "uint8 [2] [1]"),
      GEOMETRY(full_like(empty({2}, uint8), 300),                         "Error: value cannot be converted to type uint8_t without overflow"),
  });
}

TEST(Factories, LikeKeepsOrChangesTheDevice) {
  EXPECT_TRUE(zeros_like(empty({2}, Device::meta)).is_meta());
  EXPECT_FALSE(zeros_like(empty({2}, Device::meta), Device::cpu).is_meta());
  EXPECT_TRUE(rand_like(empty({2}), Device::meta).is_meta());
  const Tensor x = empty({4, 3}).t();
  EXPECT_EQ(geometry(x.to(Device::meta)), "float32 [3, 4] [1, 3]");
  EXPECT_TRUE(x.to(Device::meta).is_meta());
  EXPECT_TRUE(x.to(Device::cpu).is(x));
  check({GEOMETRY(empty({2}, Device::meta).to(Device::cpu), "NotImplementedError: Cannot copy out of meta tensor; no data!")});
}

TEST(Factories, NewTensorsHaveVersionZero) {
  for (const Tensor& x : {zeros({2}), full({2}, 3), eye(2), ones_like(ones({2})), linspace(0, 1, 1), arange(3), rand({2}), tensor(3)})
    EXPECT_EQ(x.version(), 0u) << to_string(x);
}

TEST(NestedValues, Table) {
  check({
      PRINTED(tensor(3),                             "tensor(3)"),
      PRINTED(tensor({{1, 2}, {3, 4}}),              "tensor([[1, 2],\n        [3, 4]])"),
      PRINTED(tensor({true, false}),                 "tensor([ True, False])"),
      PRINTED(tensor({true, 2}),                     "tensor([1, 2])"),
      PRINTED(tensor({1, 2.5}),                      "tensor([1.0000, 2.5000])"),
      PRINTED(tensor({}),                            "tensor([])"),
      PRINTED(tensor({{}, {}}),                      "tensor([], size=(2, 0))"),
      PRINTED(tensor({NestedValues{}, {1}}),         "tensor([], size=(2, 0))"),
      PRINTED(tensor({1.5}, int64),                  "tensor([1])"),
      PRINTED(tensor(-1, uint8),                     "tensor(255, dtype=torch.uint8)"),
      PRINTED(tensor(1e6, float16),                  "tensor(inf, dtype=torch.float16)"),
      PRINTED(tensor(kNan, bool_),                   "tensor(True)"),
      PRINTED(tensor(300, uint8),                    "Error: value cannot be converted to type uint8 without overflow"),
      PRINTED(tensor(kNan, int64),                   "Error: value cannot be converted to type int64 without overflow"),
      GEOMETRY(tensor(300, {uint8, Device::meta}),   "uint8 [] []"),
      PRINTED(tensor({{1, 2}, {3}}),                 "ValueError: expected sequence of length 2 at dim 1 (got 1)"),
      PRINTED(tensor({{{1}, {2}}, {{1}, {2, 3}}}),   "ValueError: expected sequence of length 1 at dim 2 (got 2)"),
      PRINTED(tensor({{1, 2}, 3}),                   "TypeError: not a sequence"),
      PRINTED(tensor({1, {2, 3}}),                   "TypeError: 'list' object cannot be interpreted as an integer"),
      PRINTED(tensor({1.5, {2, 3}}),                 "TypeError: must be real number, not list"),
  });
}

TEST(Ranges, Table) {
  check({
      PRINTED(arange(5),                             "tensor([0, 1, 2, 3, 4])"),
      PRINTED(arange(5.0),                           "tensor([0., 1., 2., 3., 4.])"),
      PRINTED(arange(5, 0, -2),                      "tensor([5, 3, 1])"),
      PRINTED(arange(0.5, 5, 1.5, int64),            "tensor([0, 1, 2, 3, 4])"),
      PRINTED(arange(300, 303, 1, uint8),            "tensor([44, 45, 46], dtype=torch.uint8)"),
      PRINTED(arange(0, 70000, 10000, float16),      "tensor([    0., 10000., 20000., 30000., 40000., 49984., 60000.],\n       dtype=torch.float16)"),
      PRINTED(arange(kMin, kMax, kMax),              "tensor([-9223372036854775808,                   -1,  9223372036854775806])"),
      PRINTED(arange(0, 5, kInf),                    "tensor([])"),
      PRINTED(arange(3, 3, -1),                      "tensor([], dtype=torch.int64)"),
      GEOMETRY(arange(5, {int64, Device::meta}),     "int64 [5] [1]"),
      PRINTED(arange(-1),                            "Error: upper bound and lower bound inconsistent with step sign"),
      PRINTED(arange(0, 5, 0),                       "Error: step must be nonzero"),
      PRINTED(arange(0, 5, kNan),                    "Error: step must be nonzero"),
      PRINTED(arange(0, 5, 0.5, int64),              "ValueError: step must be nonzero"),
      PRINTED(arange(1234567.5, kInf),               "Error: unsupported range: 1.23457e+06 -> inf"),
      PRINTED(arange(kNan, 5),                       "Error: unsupported range: nan -> 5"),
      PRINTED(arange(0, 1e300),                      "Error: invalid size, possible overflow?"),
      PRINTED(arange(0, 1e20, 1e19, int64),          "Error: value cannot be converted to type int64_t without overflow"),
      PRINTED(arange(0, int64_t{1} << 62),           "Error: Storage size calculation overflowed with sizes=[4611686018427387904]"),
      PRINTED(arange(5, bool_),                      "NotImplementedError: \"arange_cpu\" not implemented for 'Bool'"),
      PRINTED(linspace(0, 1, 5),                     "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])"),
      PRINTED(linspace(0, 10, 4, int64),             "tensor([ 0,  3,  6, 10])"),
      PRINTED(linspace(-3, 1000, 6, float16),        "tensor([  -3.0000,  197.6250,  398.2500,  599.0000,  799.5000, 1000.0000],\n       dtype=torch.float16)"),
      PRINTED(linspace(-3, 1000, 6, bfloat16),       "tensor([  -3.,  198.,  400.,  600.,  800., 1000.], dtype=torch.bfloat16)"),
      PRINTED(linspace(5, 0, 1),                     "tensor([5.])"),
      PRINTED(linspace(0, 1, 0),                     "tensor([])"),
      PRINTED(linspace(0, kInf, 3),                  "tensor([nan, nan, nan])"),
      PRINTED(linspace(0, 1, 1, bool_),              "tensor([False])"),
      PRINTED(linspace(0, 1, -1),                    "Error: number of steps must be non-negative"),
      PRINTED(linspace(300, 0, 4, uint8),            "Error: value cannot be converted to type uint8_t without overflow"),
      PRINTED(linspace(0, 1, 2, bool_),              "NotImplementedError: \"linspace_cpu\" not implemented for 'Bool'"),
  });
}
// clang-format on

// torch.arange(0, 1.6, 0.1): values 8 to 15 are computed from a rounded 0.8.
TEST(Ranges, RoundAsPyTorchsVectors) {
  const Tensor x = arange(0, 1.6, 0.1), y = arange(0, 1.5, 0.1);
  ASSERT_EQ(x.numel(), 16);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(x.data<float>()[8 + i], static_cast<float>(static_cast<double>(0.8f) + i * 0.1)) << i;
  }
  for (int i = 0; i < 15; ++i) EXPECT_EQ(y.data<float>()[i], static_cast<float>(i * 0.1)) << i;
}

TEST(FromBuffer, SharesTheBufferAndFreesItOnce) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  int freed = 0;
  {
    const Tensor x = from_buffer(
        data, {3, 2}, {1, 3}, float32, [](void*, void* count) { ++*static_cast<int*>(count); }, &freed);
    const Tensor row = x[1];
    EXPECT_EQ(to_string(x), "tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]])");
    data[4] = 9;
    EXPECT_EQ(to_string(row), "tensor([1., 9.])");
  }
  EXPECT_EQ(freed, 1);
}

TEST(FromBuffer, Errors) {
  static float data[6];
  check({
      GEOMETRY(from_buffer(data, {2, 3}, float32), "float32 [2, 3] [3, 1]"),
      GEOMETRY(from_buffer(nullptr, {0, 3}, float32), "float32 [0, 3] [3, 1]"),
      GEOMETRY(from_buffer(nullptr, {2, 3}, float32), "ValueError: from_buffer: no data for sizes [2, 3]"),
      GEOMETRY(from_buffer(data, {2, 3}, {-3, 1}, float32),
               "ValueError: from_buffer: strides [-3, 1] must not be negative"),
      GEOMETRY(from_buffer(data, {2, 3}, {1}, float32),
               "Error: dimensionality of sizes (2) must match dimensionality of strides (1)"),
      GEOMETRY(from_buffer(data, {2}, {int64_t{1} << 61}, float32),
               "Error: Storage size calculation overflowed with sizes=[2] and strides=[2305843009213693952]"),
  });
}

TEST(Factories, FewIndicesOfALongTriangle) {
  constexpr int64_t kMany = int64_t{1} << 40;
  EXPECT_EQ(to_string(triu_indices(kMany, 1)), "tensor([[0],\n        [0]])");
  const Tensor last = tril_indices(kMany, 1, 1 - kMany);
  EXPECT_EQ(last.numel(), 2);
  EXPECT_EQ(last.select(0, 0).item<int64_t>(), kMany - 1);
}

TEST(Factories, PlacesOfTrianglesAreThoseOfLoops) {
  for (const int64_t rows : {1, 3, 13, 40})
    for (const int64_t columns : {1, 5, 12, 13, 41})
      for (const int64_t offset : {-50, -14, -3, 0, 1, 12, 30, 50}) {
        std::vector<int64_t> lower[2], upper[2];
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t column = 0; column < columns; ++column) {
            if (const int64_t place[] = {row, column}; column - row <= offset)
              for (int i = 0; i < 2; ++i) lower[i].push_back(place[i]);
            if (const int64_t place[] = {row, column}; column - row >= offset)
              for (int i = 0; i < 2; ++i) upper[i].push_back(place[i]);
          }
        const auto expect = [&](const Tensor& got, const std::vector<int64_t>* wanted) {
          ASSERT_EQ(got.sizes(), SizesView({2, static_cast<int64_t>(wanted[0].size())}));
          const Tensor wide = got.to(int64).contiguous();
          for (std::size_t i = 0; i < 2 * wanted[0].size(); ++i)
            ASSERT_EQ(wide.data<int64_t>()[i], i < wanted[0].size() ? wanted[0][i] : wanted[1][i - wanted[0].size()])
                << rows << " x " << columns << ", " << offset;
        };
        for (const Dtype dtype : {int64, int32}) {
          expect(tril_indices(rows, columns, offset, dtype), lower);
          expect(triu_indices(rows, columns, offset, dtype), upper);
        }
      }
}

}  // namespace
}  // namespace tenon
