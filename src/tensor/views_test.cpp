// Views have PyTorch's sizes, strides, offsets and error texts, on every device.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "spec.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;

Tensor dense(SizesView sizes, Dtype dtype = float32) { return empty(sizes, dtype); }

std::string geometry(const Tensor& tensor) {
  return to_string(tensor.sizes()) + " " + to_string(tensor.strides()) + " " + std::to_string(tensor.storage_offset());
}

/// The type and text of the exception that `call` throws, or the geometry of its result.
std::string outcome(const std::function<Tensor()>& call) {
  try {
    return geometry(call());
  } catch (const IndexError& error) {
    return std::string("IndexError: ") + error.what();
  } catch (const ValueError& error) {
    return std::string("ValueError: ") + error.what();
  } catch (const Error& error) {
    return std::string("Error: ") + error.what();
  }
}

struct Case {
  const char* call;
  std::function<Tensor()> run;
  const char* want;
};
#define CASE(CALL, WANT)             \
  Case {                             \
#CALL, [] { return CALL; }, WANT \
  }

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(outcome(c.run), c.want) << c.call;
}

// clang-format off
TEST(Views, OfAnotherDtype) {
  check({
      CASE(dense({3, 4}).view(int32),                     "[3, 4] [4, 1] 0"),
      CASE(dense({3, 4}).view(int16),                     "[3, 8] [8, 1] 0"),
      CASE(dense({3, 4}).view(complex128),                "[3, 1] [1, 1] 0"),
      CASE(dense({3, 4}).t().view(int32),                 "[4, 3] [1, 4] 0"),
      CASE(dense({}).view(int32),                         "[] [] 0"),
      CASE(dense({1, 1}).view({}),                        "[] [] 0"),
      CASE(dense({0, 4}).view(float64),                   "[0, 2] [2, 1] 0"),
      CASE(dense({3, 8}).narrow(1, 2, 4).view(float64),   "[3, 2] [4, 1] 1"),
      CASE(dense({3, 8}).narrow(1, 2, 4).view(int8),      "[3, 16] [32, 1] 8"),
      CASE(dense({3, 4}).expand({2, 3, 4}).view(float64), "[2, 3, 2] [0, 2, 1] 0"),
      CASE(dense({}).view(int16),                         "Error: self.dim() cannot be 0 to view Float as Short (different element sizes)"),
      CASE(dense({3, 4}).t().view(int8),                  "Error: self.stride(-1) must be 1 to view Float as Char (different element sizes), but got 4"),
      CASE(dense({4, 1}).expand({4, 2}).view(float64),    "Error: self.stride(-1) must be 1 to view Float as Double (different element sizes), but got 0"),
      CASE(dense({3, 3}).view(float64),                   "Error: self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), but got 3"),
      CASE(dense({4, 4}).narrow(1, 1, 2).view(float64),   "Error: self.storage_offset() must be divisible by 2 to view Float as Double (different element sizes), but got 1"),
      CASE(dense({3, 5}).narrow(1, 0, 2).view(float64),   "Error: self.stride(0) must be divisible by 2 to view Float as Double (different element sizes), but got 5"),
      CASE(dense({1, 1}, int8).expand({kMax, 1}).view(int8), "[9223372036854775807, 1] [0, 1] 0"),
      CASE(dense({1, 1}, float32).expand({kMax, 1}).view(int8), "Error: numel: integer multiplication overflow"),
  });
}
TEST(Views, OfAnotherDtypeShareBytesAndVersion) {
  const Tensor x = full({2, 3}, 1, Options(float32));
  Tensor bits = x.view(int32);
  EXPECT_EQ(bits.data<int32_t>()[5], 0x3F800000);
  bits.fill_(0x40000000);
  EXPECT_EQ(x.data<float>()[4], 2);
  EXPECT_EQ(x.version(), 1u);
  Tensor leaf = full({2}, 1, Options(float32));
  leaf.requires_grad_();
  EXPECT_FALSE(leaf.view(float32).requires_grad());
}
TEST(Views, OfAnotherDtypeNeedAlignedMemory) {
  alignas(16) static std::byte memory[32];
  const Tensor bytes = from_buffer(memory + 1, {16}, uint8);
  EXPECT_EQ(outcome([&] { return bytes.view(int8); }), "[16] [1] 0");
  EXPECT_EQ(outcome([&] { return bytes.view(float64); }),
            "Error: view: the elements are not aligned to 8 bytes, as Double elements have to be; clone the tensor first");
  EXPECT_EQ(outcome([&] { return bytes.clone().view(float64); }), "[2] [1] 0");
}
TEST(Views, Geometry) {
  check({
      CASE(dense({}).unsqueeze(0),                        "[1] [1] 0"),
      CASE(dense({2, 3}).unsqueeze(-1),                   "[2, 3, 1] [3, 1, 1] 0"),
      CASE(dense({2, 3}).unsqueeze(0),                    "[1, 2, 3] [6, 3, 1] 0"),
      CASE(dense({1, 3, 1}).squeeze(),                    "[3] [1] 0"),
      CASE(dense({1, 3, 1}).squeeze(0),                   "[3, 1] [1, 1] 0"),
      CASE(dense({1, 3, 1}).squeeze(1),                   "[1, 3, 1] [3, 1, 1] 0"),
      CASE(dense({1, 1}).squeeze(SizesView{}),            "[1, 1] [1, 1] 0"),
      CASE(dense({1, 3, 1}).squeeze({0, -1}),             "[3] [1] 0"),
      CASE(dense({}).squeeze(-1),                         "[] [] 0"),
      CASE(dense({2, 3}).transpose(0, -1),                "[3, 2] [1, 3] 0"),
      CASE(dense({}).transpose(0, -1),                    "[] [] 0"),
      CASE(dense({2, 3}).t(),                             "[3, 2] [1, 3] 0"),
      CASE(dense({2}).t(),                                "[2] [1] 0"),
      CASE(dense({}).mT(),                                "[] [] 0"),
      CASE(dense({2, 3, 4}).mT(),                         "[2, 4, 3] [12, 1, 4] 0"),
      CASE(dense({2, 3, 4}).permute({2, 0, -2}),          "[4, 2, 3] [1, 12, 4] 0"),
      CASE(dense({2, 3, 4}).movedim(0, 2),                "[3, 4, 2] [4, 1, 12] 0"),
      CASE(dense({2, 3, 4, 5}).movedim({0, 3}, {1, 0}),   "[5, 2, 3, 4] [1, 60, 20, 5] 0"),
      CASE(dense({2, 3}).movedim(SizesView{}, SizesView{}), "[2, 3] [3, 1] 0"),
      CASE(dense({2, 3}).select(1, -1),                   "[2] [3] 2"),
      CASE(dense({2, 3}).narrow(1, -2, 2),                "[2, 2] [3, 1] 1"),
      CASE(dense({2, 3}).narrow(1, 3, 0),                 "[2, 0] [3, 1] 3"),
      CASE(dense({10}).slice(0, {}, {}, 3),               "[4] [3] 0"),
      CASE(dense({10}).slice(0, kMin, kMax, kMax),        "[1] [9223372036854775807] 0"),
      CASE(dense({10}).slice(0, 20, 30),                  "[0] [1] 10"),
      CASE(dense({10}).slice(0, -3, -1),                  "[2] [1] 7"),
      CASE(dense({2, 3}).slice(0, 5, 1),                  "[0, 3] [3, 1] 6"),
      CASE(dense({}).flatten(),                           "[1] [1] 0"),
      CASE(dense({2, 3, 4}).flatten(1),                   "[2, 12] [12, 1] 0"),
      CASE(dense({2, 0, 4}).flatten(),                    "[0] [1] 0"),
      CASE(dense({4, 6}).t().unflatten(0, {2, 3}),        "[2, 3, 4] [3, 1, 6] 0"),
      CASE(dense({6}).unflatten(-1, {-1, 2}),             "[3, 2] [2, 1] 0"),
      CASE(dense({0, 3}).unflatten(0, {-1, 2}),           "[0, 2, 3] [6, 3, 1] 0"),
      CASE(dense({4}).as_strided({}, {}, 3),              "[] [] 3"),
      CASE(dense({4}).as_strided({0}, {1}, 9),            "[0] [1] 9"),
      CASE(dense({4}).slice(0, 2, {}).as_strided({2}, {1}),    "[2] [1] 2"),
      CASE(dense({4}).slice(0, 2, {}).as_strided({2}, {1}, 0), "[2] [1] 0"),
      CASE(dense({2, 3}).diagonal(),                      "[2] [4] 0"),
      CASE(dense({2, 3}).diagonal(1),                     "[2] [4] 1"),
      CASE(dense({2, 3}).diagonal(-1),                    "[1] [4] 3"),
      CASE(dense({2, 3}).diagonal(kMin),                  "[0] [4] 0"),
      CASE(dense({2, 3}).diagonal(kMax),                  "[0] [4] 0"),
      CASE(dense({2, 3, 4}).diagonal(1, 2, 0),            "[3, 1] [4, 13] 12"),
      CASE(dense({2, 3}).slice(1, 1, {}).detach(),        "[2, 2] [3, 1] 1"),
      CASE(dense({2, 1}).squeeze(Dims{0}),                "[2, 1] [1, 1] 0"),
      CASE(dense({}).movedim(0, -1),                      "[] [] 0"),
      CASE(dense({2, 3, 4}).movedim(-1, 0),               "[4, 2, 3] [1, 12, 4] 0"),
      CASE(dense({7}).as_strided({3}, {3}),               "[3] [3] 0"),
      CASE(dense({0, 3}).select(1, 2),                    "[0] [3] 2"),
  });
}

// Strides and offset of a tensor without elements may be huge: results computed from them fit or are refused.
TEST(Views, HugeStridesAndOffsets) {
  const auto strided = [](SizesView sizes, SizesView strides) { return empty_strided(sizes, strides); };
  const int64_t huge = int64_t{1} << 62;
  check({
      {"select reaches the last offset", [=] { return strided({0, 5}, {1, kMax}).select(1, 1); }, "[0] [1] 9223372036854775807"},
      {"select", [=] { return strided({0, 5}, {1, kMax}).select(1, 4); }, "Error: Storage offset calculation overflowed"},
      {"select wraps to 0", [=] { return strided({0, 5}, {1, huge}).select(1, 4); }, "Error: Storage offset calculation overflowed"},
      {"narrow", [=] { return strided({0, 5}, {1, kMax}).narrow(1, 2, 1); }, "Error: Storage offset calculation overflowed"},
      {"slice", [=] { return strided({0, 5}, {1, kMax}).slice(1, 2, {}); }, "Error: Storage offset calculation overflowed"},
      {"slice with a step", [=] { return strided({0, 5}, {1, kMax}).slice(1, {}, {}, 2); }, "Error: Stride calculation overflowed"},
      {"slice of an ordinary tensor", [] { return dense({5, 4}).slice(0, {}, {}, int64_t{1} << 62); }, "Error: Stride calculation overflowed"},
      {"unsqueeze", [=] { return strided({0, 5}, {1, kMax}).unsqueeze(1); }, "Error: Stride calculation overflowed"},
      {"expand needs no stride", [=] { return strided({5, 0}, {kMax, 1}).expand({3, 5, 0}); }, "[3, 5, 0] [0, 9223372036854775807, 1] 0"},
      {"expand to one", [=] { return strided({5, 0}, {kMax, 1}).expand({1, 5, 0}); }, "Error: Stride calculation overflowed"},
      {"diagonal, stride", [=] { return strided({5, 5, 0}, {kMax, kMax, 1}).diagonal(); }, "Error: Stride calculation overflowed"},
      {"diagonal, offset", [=] { return strided({5, 5, 0}, {huge, 1, 1}).diagonal(-2); }, "Error: Storage offset calculation overflowed"},
      {"view", [=] { return dense({0}).view({0, huge, huge}); }, "Error: Stride calculation overflowed"},
      {"view beside a 0 in front", [=] { return dense({0}).view({huge, 2, 0}); }, "[4611686018427387904, 2, 0] [2, 1, 1] 0"},
      {"flatten", [=] { return dense({0, 1, 1}).expand({0, huge, 8}).flatten(1); }, "Error: numel: integer multiplication overflow"},
      {"empty", [=] { return dense({0, huge, huge}); }, "Error: Stride calculation overflowed"},
      {"empty, a 0 amid", [] { return dense({int64_t{1} << 40, 0, int64_t{1} << 40}); }, "[1099511627776, 0, 1099511627776] [1099511627776, 1099511627776, 1] 0"},
      {"a lone element, unsqueezed", [] { return dense({5}).as_strided({1}, {kMax}, 4).unsqueeze(0); }, "[1, 1] [9223372036854775807, 9223372036854775807] 4"},
      {"a lone element, sliced", [] { return dense({5}).as_strided({1}, {kMax}, 4).slice(0, {}, {}, 2); }, "Error: Stride calculation overflowed"},
      {"meta keeps any layout", [] { return empty({5}, Device::meta).as_strided({2}, {kMax}, 4); }, "[2] [9223372036854775807] 4"},
      {"meta, its second element", [] { return empty({5}, Device::meta).as_strided({2}, {kMax}, 4).select(0, 1); }, "Error: Storage offset calculation overflowed"},
  });
}

// Without elements no memory is needed. Otherwise the storage grows to hold offset plus elements, or nothing changes.
TEST(Views, ResizeFromHugeOffsets) {
  Tensor view = empty_strided({0, 5}, {1, kMax}).select(1, 1);
  EXPECT_EQ(outcome([&] { return view.resize_({3}); }), "Error: Storage size calculation overflowed with sizes=[3]");
  EXPECT_EQ(geometry(view), "[0] [1] 9223372036854775807");
  EXPECT_EQ(outcome([&] { return view.resize_({2, 0}); }), "[2, 0] [1, 1] 9223372036854775807");
  Tensor far = empty_strided({0, 5}, {1, int64_t{1} << 58}).select(1, 1);
  EXPECT_THROW(far.resize_({1}), OutOfMemoryError);
  EXPECT_EQ(geometry(far), "[0] [1] 288230376151711744");
  EXPECT_THROW(empty({0}).resize_({0, kMax, 2}), Error);
  EXPECT_EQ(empty_strided({0, 2}, {1, 3}).select(1, 1).resize_({4}).fill_(7).sum().item<double>(), 28);
}

// A dim of size 1 may have any stride: no loop steps along it.
TEST(Views, SingleElementsWithHugeStrides) {
  Tensor five = empty({5});
  for (int64_t i = 0; i < 5; ++i) five.select(0, i).fill_(i);
  const Tensor odd = five.as_strided({1, 5, 1}, {kMax, 1, kMax});
  EXPECT_EQ(to_string(odd.clone().reshape({-1})), to_string(five));
  EXPECT_EQ(to_string(odd.to(int32).reshape({-1})), to_string(five.to(int32)));
  EXPECT_EQ(to_string(odd.add(odd).reshape({-1})), to_string(five.add(five)));
  EXPECT_EQ(odd.sum().item<double>(), 10);
  EXPECT_EQ(to_string(odd.sum(1).reshape({-1})), "tensor([10.])");
}

TEST(Views, Errors) {
  check({
      CASE(dense({6}).as_strided({3}, {3}), "Error: setStorage: sizes [3], strides [3], storage offset 0, and itemsize 4 requiring a storage size of 28 are out of bounds for storage of size 24"),
      CASE(dense({4}).as_strided({0, -1}, {1, 0}), "Error: numel: integer multiplication overflow"),
      CASE(empty({5}, Device::meta).as_strided({int64_t{1} << 62, 4}, {0, 0}), "Error: numel: integer multiplication overflow"),
      CASE(dense({6}).view({-1, -6}), "Error: invalid shape dimension -6 at index 1 of shape [-1, -6]"),
      CASE(dense({}).movedim(1, 0), "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)"),
      CASE(dense({2, 3}).expand({3}), "Error: expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)"),
      CASE(dense({2, 3}, int64).expand({3}), "Error: expand(torch.LongTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)"),
      CASE(dense({2, 3}, bool_).expand({3}), "Error: expand(CPUBoolType{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)"),
      CASE(dense({2, 3}, bfloat16).expand({3}), "Error: expand(CPUBFloat16Type{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)"),
      CASE(empty({2, 3}, Device::meta).expand({3}), "Error: expand(MetaFloatType{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)"),
      CASE(dense({2, 3}).expand_as(dense({2, 4})), "Error: The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]"),
      CASE(dense({0}).view({int64_t{1} << 62, int64_t{1} << 62, 0}), "Error: numel: integer multiplication overflow"),
      CASE(dense({2, 3}).t().view({6}), "Error: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead."),
      CASE(dense({2, 3}).reshape({-2, 3}), "Error: invalid shape dimension -2 at index 0 of shape [-2, 3]"),
      CASE(dense({2, 3}).unsqueeze(kMin), "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got -9223372036854775808)"),
      CASE(dense({1, 1}).squeeze({0, 0, 5}), "Error: dim 0 appears multiple times in the list of dims"),
      CASE(dense({1, 1}).squeeze({0, 5, 0}), "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
      CASE(dense({2, 3, 4}).t(), "Error: t() expects a tensor with <= 2 dimensions, but self is 3D"),
      CASE(dense({3}).mT(), "Error: tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."),
      CASE(dense({2, 3}).permute({0}), "Error: permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = 2 is not equal to len(dims) = 1"),
      CASE(dense({2, 3}).permute({0, -2}), "Error: permute(): duplicate dims are not allowed."),
      CASE(dense({2, 3}).permute({0, 2}), "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
      CASE(dense({2, 3}).movedim({0, 1}, {0}), "Error: movedim: Invalid source or destination dims: source ([0, 1] dims) should contain the same number of dims as destination ([0] dims)"),
      CASE(dense({2, 3}).movedim({0, -2}, {0, 1}), "Error: movedim: repeated dim in `source` ([0, -2])"),
      CASE(dense({2, 3}).movedim({0, 1}, {0, 0}), "Error: movedim: repeated dim in `destination` ([0, 0])"),
      CASE(dense({2, 3}).select(1, 3), "IndexError: select(): index 3 out of range for tensor of size [2, 3] at dimension 1"),
      CASE(dense({2, 3}).select(0, kMin), "IndexError: select(): index -9223372036854775808 out of range for tensor of size [2, 3] at dimension 0"),
      CASE(dense({}).select(0, 0), "IndexError: select() cannot be applied to a 0-dim tensor."),
      CASE(dense({2, 3}).narrow(1, 2, 2), "Error: start (2) + length (2) exceeds dimension size (3)."),
      CASE(dense({2, 3}).narrow(1, 1, kMax), "Error: start (1) + length (9223372036854775807) exceeds dimension size (3)."),
      CASE(dense({2, 3}).narrow(1, 4, 0), "IndexError: start out of range (expected to be in range of [-3, 3], but got 4)"),
      CASE(dense({2, 3}).narrow(1, 4, -1), "Error: narrow(): length must be non-negative."),
      CASE(dense({}).narrow(0, 0, 1), "Error: narrow() cannot be applied to a 0-dim tensor."),
      CASE(dense({4}).slice(0, {}, {}, 0), "ValueError: slice step cannot be zero"),
      CASE(dense({4}).slice(0, {}, {}, kMin), "ValueError: step must be greater than zero"),
      CASE(dense({2, 3}).flatten(1, 0), "Error: flatten() has invalid args: start_dim cannot come after end_dim"),
      CASE(dense({2, 3}).flatten(0, 2), "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
      CASE(dense({6}).unflatten(0, {4, 2}), "Error: unflatten: Provided sizes [4, 2] don't multiply up to the size of dim 0 (6) in the input tensor"),
      CASE(dense({6}).unflatten(0, SizesView{}), "Error: unflatten: sizes must be non-empty"),
      CASE(dense({6}).unflatten(0, {-1, -1}), "Error: unflatten got an unexpected error:\nonly one dimension can be inferred"),
      CASE(dense({}).unflatten(0, {1, 1}), "Error: unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions"),
      CASE(dense({4}).as_strided({3, 3}, {3, 1}), "Error: setStorage: sizes [3, 3], strides [3, 1], storage offset 0, and itemsize 4 requiring a storage size of 36 are out of bounds for storage of size 16"),
      CASE(dense({4}).as_strided({2}, {-1}), "Error: as_strided: Negative strides are not supported at the moment, got strides: [-1]"),
      CASE(dense({4}).as_strided({2}, {1, 1}), "Error: mismatch in length of strides and shape"),
      CASE(dense({4}).as_strided({2}, {1}, -1), "Error: Tensor: invalid storage offset -1"),
      CASE(dense({4}).as_strided({2}, {1}, kMax), "Error: Storage size calculation overflowed with sizes=[2] and strides=[1]"),
      CASE(dense({4}).as_strided({-1}, {1}), "Error: Storage size calculation overflowed with sizes=[-1] and strides=[1]"),
      CASE(dense({4}).as_strided({-5}, {0}), "Error: numel: integer multiplication overflow"),
      CASE(dense({4}).as_strided({int64_t{1} << 40, int64_t{1} << 40}, {0, 0}), "Error: numel: integer multiplication overflow"),
      CASE(dense({2, 3}).narrow(0, -3, 1), "IndexError: start out of range (expected to be in range of [-2, 2], but got -3)"),
      CASE(dense({}).slice(0, 0, {}), "IndexError: slice() cannot be applied to a 0-dim tensor."),
      CASE(dense({2}).slice(0, 0, {}, 0), "ValueError: slice step cannot be zero"),
      CASE(dense({2}).as_strided({-1}, {0}), "Error: numel: integer multiplication overflow"),
      CASE(dense({2}).as_strided({2}, {1}, -1), "Error: Tensor: invalid storage offset -1"),
      CASE(dense({2}).as_strided({2}, {1}, 1), "Error: setStorage: sizes [2], strides [1], storage offset 1, and itemsize 4 requiring a storage size of 12 are out of bounds for storage of size 8"),
      CASE(dense(Dims(65, 1)).squeeze(SizesView({0})), "Error: only tensors with up to 64 dims are supported"),
      CASE(dense({2, 3}).squeeze(SizesView({1, -1})), "Error: dim 1 appears multiple times in the list of dims"),
      CASE(dense({2, 3}).diagonal(0, 1, -1), "Error: diagonal dimensions cannot be identical 1, -1"),
      CASE(dense({3}).diagonal(), "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)"),
  });
}

TEST(Indexing, Table) {
  check({
      CASE(dense({2, 3})[1],                                     "[3] [1] 3"),
      CASE(dense({2, 3})[-2],                                    "[3] [1] 0"),
      CASE(dense({2, 3}).index({}),                              "[2, 3] [3, 1] 0"),
      CASE(dense({2, 3}).index({0, Slice(1, 3), None}),          "[2, 1] [1, 1] 1"),
      CASE(dense({2, 3, 4}).index({Ellipsis, -1}),               "[2, 3] [12, 4] 3"),
      CASE(dense({2, 3, 4}).index({0, Ellipsis, None}),          "[3, 4, 1] [4, 1, 1] 0"),
      CASE(dense({2, 3, 4}).index({Slice({}, {}, 2), 1}),        "[1, 4] [24, 1] 4"),
      CASE(dense({2, 3}).index({None, Slice(), None}),           "[1, 2, 1, 3] [6, 3, 3, 1] 0"),
      CASE(dense({2, 3}).index({0, 0, Ellipsis, None}),          "[1] [1] 0"),
      CASE(dense({}).index({Ellipsis, None}),                    "[1] [1] 0"),
      CASE(dense({2, 3})[2],                                     "IndexError: index 2 is out of bounds for dimension 0 with size 2"),
      CASE(dense({2, 3})[kMin],                                  "IndexError: index -9223372036854775808 is out of bounds for dimension 0 with size 2"),
      CASE(dense({2, 3}).index({None, 5}),                       "IndexError: index 5 is out of bounds for dimension 1 with size 2"),
      CASE(dense({2, 3}).index({0, -4}),                         "IndexError: index -4 is out of bounds for dimension 1 with size 3"),
      CASE(dense({2, 3}).index({Slice(), 5}),                    "IndexError: index 5 is out of bounds for dimension 1 with size 3"),
      CASE(dense({2, 3}).index({0, 0, 0}),                       "IndexError: too many indices for tensor of dimension 2"),
      CASE(dense({}).index({None, 0}),                           "IndexError: too many indices for tensor of dimension 0"),
      CASE(dense({})[0],                                         "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"),
      CASE(dense({}).index({0}),                                 "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"),
      CASE(dense({}).index({Slice()}),                           "IndexError: slice() cannot be applied to a 0-dim tensor."),
      CASE(dense({4}).index({Slice({}, {}, -1)}),                "ValueError: step must be greater than zero"),
      CASE(dense({4}).index({Slice({}, {}, 0)}),                 "ValueError: slice step cannot be zero"),
      CASE(dense({2, 3}).index({Ellipsis, Ellipsis, 0}),         "IndexError: index 0 is out of bounds for dimension 2 with size 0"),
      CASE(dense({2, 3}).index({Ellipsis, Ellipsis, Slice(0, 0)}), "[2, 3] [3, 1] 0"),
  });
}
// clang-format on

// clang-format off
TEST(Views, AtTheirBounds) {
  check({
      CASE(dense({4}).as_strided({2, 2}, {2, 1}),             "[2, 2] [2, 1] 0"),
      CASE(dense({4}).as_strided({4}, {0}, 3),                "[4] [0] 3"),
      CASE(dense({4}).as_strided({0}, {9}, 4),                "[0] [9] 4"),
      CASE(dense({4}).as_strided({}, {}, 3),                  "[] [] 3"),
      CASE(dense({4}).narrow(0, -4, 4),                       "[4] [1] 0"),
      CASE(dense({4}).narrow(0, 4, 0),                        "[0] [1] 4"),
      CASE(dense({4}).slice(0, 1, 4, 3),                      "[1] [3] 1"),
      CASE(dense({4}).slice(0, 0, 4, 3),                      "[2] [3] 0"),
      CASE(dense({4}).slice(0, 3, 1),                         "[0] [1] 3"),
      CASE(dense({4}).slice(0, 3, 1, 2),                      "[0] [2] 3"),
      CASE(dense({2, 3, 4}).flatten(0, 1),                    "[6, 4] [4, 1] 0"),
      CASE(dense({2, 3, 4, 5}).flatten(0, 1),                 "[6, 4, 5] [20, 5, 1] 0"),
      CASE(dense({2, 3, 4, 5}).flatten(1, 2),                 "[2, 12, 5] [60, 5, 1] 0"),
      CASE(dense({2, 3, 4}).t().flatten(1, 1),                "Error: t() expects a tensor with <= 2 dimensions, but self is 3D"),
      CASE(dense({2, 6, 4}).unflatten(1, {2, -1}),            "[2, 2, 3, 4] [24, 12, 4, 1] 0"),
      CASE(dense({2, 3, 6}).unflatten(2, {2, 3}),             "[2, 3, 2, 3] [18, 6, 3, 1] 0"),
      CASE(dense({}).movedim(0, 0),                           "[] [] 0"),
      CASE(dense({}).movedim(SizesView({-1}), SizesView({0})), "[] [] 0"),
      CASE(dense({2, 3, 4}).movedim(0, -1),                   "[3, 4, 2] [4, 1, 12] 0"),
      CASE(dense({2, 3, 4}).movedim({0, 2}, {2, 0}),          "[4, 3, 2] [1, 4, 12] 0"),
      CASE(dense({2, 1, 3, 1}).squeeze(SizesView({1, 2})),    "[2, 3, 1] [3, 1, 1] 0"),
      CASE(dense({1, 2}).squeeze(SizesView({0, 1})),          "[2] [1] 0"),
      CASE(dense({}).squeeze(SizesView({0})),                 "[] [] 0"),
      CASE(dense(Dims(64, 1)).squeeze(SizesView({0})).unsqueeze(0).squeeze(), "[] [] 0"),
      CASE(dense({3, 4}).diagonal(-3),                        "[0] [5] 0"),
      CASE(dense({3, 4}).diagonal(-2),                        "[1] [5] 8"),
      CASE(dense({3, 4}).diagonal(-4),                        "[0] [5] 0"),
      CASE(dense({3, 4}).diagonal(3),                         "[1] [5] 3"),
      CASE(dense({2, 3, 4}).diagonal(1, 2, 0),                "[3, 1] [4, 13] 12"),
      CASE(dense({0, 3}).view({3, 0}),                        "[3, 0] [1, 1] 0"),
      CASE(dense({0, 3}).reshape({0, 5}),                     "[0, 5] [5, 1] 0"),
      CASE(dense({2, 3}).expand({2, 3}),                      "[2, 3] [3, 1] 0"),
      CASE(dense({2, 3}, float64).expand({3}),                "Error: expand(torch.DoubleTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)"),
      CASE(dense({2, 3}, bool_).expand({3}),                  "Error: expand(CPUBoolType{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)"),
      CASE(dense({2, 3}, float64).expand({4, 3}),             "Error: The expanded size of the tensor (4) must match the existing size (2) at non-singleton dimension 0.  Target sizes: [4, 3].  Tensor sizes: [2, 3]"),
  });
  const Tensor x = dense({2, 3});
  EXPECT_TRUE(x.flatten(1, 1).is(x)) << "nothing to do";
}
// clang-format on

TEST(Views, OfWhatIsUnchangedAreTheTensorItself) {
  const Tensor real = ones({2}), whole = ones({2}, complex64);
  EXPECT_TRUE(positive(real).is(real));
  EXPECT_TRUE(positive(whole).is(whole));
  EXPECT_TRUE(resolve_conj(whole).is(whole));
  EXPECT_EQ(outcome([&] { return positive(ones({2}, bool_)); }),
            "Error: The `+` operator, on a bool tensor is not supported.");
}

TEST(Views, SizeOfADimThatIsNotThere) {
  EXPECT_THROW(dense({2}).size(1), IndexError);
  try {
    dense({}).stride(0);
    FAIL();
  } catch (const IndexError& error) {
    EXPECT_STREQ(error.what(), "Dimension specified as 0 but tensor has no dimensions");
  }
}

/// A list of indices as the views that it stands for, one after another.
Tensor chain_of(Tensor view, const std::vector<Index>& list, int64_t rest) {
  int64_t at = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Index& index = list[i];
    if (index.kind == Index::Kind::integer && (index.integer < -view.size(at) || index.integer >= view.size(at)))
      throw IndexError("index " + std::to_string(index.integer) + " is out of bounds for dimension " +
                       std::to_string(i) + " with size " + std::to_string(view.size(at)));
    if (index.kind == Index::Kind::integer) view = view.select(at, index.integer);
    if (index.kind == Index::Kind::slice)
      view = view.slice(at++, index.range.start, index.range.stop, index.range.step);
    if (index.kind == Index::Kind::none) view = view.unsqueeze(at++);
    if (index.kind == Index::Kind::ellipsis) at += rest;
  }
  return view;
}

TEST(Views, AnIndexListIsAChainOfViews) {
  std::mt19937_64 random(7);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 20'000; ++round) {
    Dims sizes;
    for (int64_t dims = draw(0, 5); dims > 0; --dims) sizes.push_back(draw(0, 6));
    Tensor x = dense(sizes);
    if (x.dim() > 1) x = x.transpose(draw(0, x.dim() - 1), draw(0, x.dim() - 1));
    std::vector<Index> list;
    int64_t rest = x.dim();
    const auto bound = [&]() -> std::optional<int64_t> {
      return draw(0, 3) == 0 ? std::nullopt : std::optional<int64_t>(draw(-8, 8));
    };
    for (int64_t named = draw(0, x.dim()); named > 0; --named, --rest) {
      if (draw(0, 4) == 0) list.emplace_back(None);
      if (draw(0, 2) == 0)
        list.emplace_back(draw(-4, 3));
      else
        list.emplace_back(Slice(bound(), bound(), draw(draw(0, 9) == 0 ? -1 : 1, 3)));
    }
    if (draw(0, 1) == 0) list.insert(list.begin() + draw(0, static_cast<int64_t>(list.size())), Ellipsis);
    if (draw(0, 3) == 0) list.emplace_back(None);
    if (list.size() < 2) continue;
    EXPECT_EQ(outcome([&] { return x.index(list.data(), static_cast<int64_t>(list.size())); }),
              outcome([&] { return chain_of(x, list, rest); }));
  }
}

TEST(Views, ShareStorageAndVersion) {
  const Tensor x = dense({2, 3});
  const Tensor view = x.t().unsqueeze(0);
  EXPECT_EQ(view.data_ptr(), x.data_ptr());
  bump_version(view);
  EXPECT_EQ(x.version(), view.version());
  EXPECT_EQ(x.detach().version(), x.version());
  EXPECT_EQ(view.impl()->base, x.impl()) << "not the view between";
}

// --- the cases measured on PyTorch

using Json = nlohmann::json;

/// "[2, 3] [3, 1] 0", or the text of the error.
std::string wanted(const Json& result) {
  if (result.is_string()) return "Error: " + result.get<std::string>();
  return to_string(spec::to_dims(result[0])) + " " + to_string(spec::to_dims(result[1])) + " 0";
}

class SpecOn : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override { TENON_NEEDS_SPEC(); }
};

TEST_P(SpecOn, View) {
  for (const Json& c : spec::read_cases("view")) {
    const Tensor x = empty_strided(spec::to_dims(c[0]), spec::to_dims(c[1]), GetParam());
    EXPECT_EQ(outcome([&] { return x.view(spec::to_dims(c[2])); }), wanted(c[3])) << c;
  }
}

TEST_P(SpecOn, ReshapeCopiesWhereViewFails) {
  for (const Json& c : spec::read_cases("view")) {
    const Tensor x = empty_strided(spec::to_dims(c[0]), spec::to_dims(c[1]), GetParam());
    const bool copies = c[3].is_string() && c[3].get<std::string>().starts_with("view size is not compatible");
    if (!copies)
      EXPECT_EQ(outcome([&] { return x.reshape(spec::to_dims(c[2])); }), wanted(c[3])) << c;
    else
      EXPECT_TRUE(x.reshape(spec::to_dims(c[2])).is_contiguous()) << c;
  }
}

TEST_P(SpecOn, Expand) {
  for (const Json& c : spec::read_cases("expand")) {
    const Tensor x = empty_strided(spec::to_dims(c[0]), spec::to_dims(c[1]), GetParam());
    std::string want = wanted(c[3]);
    // The only text that names the device.
    if (const auto at = want.find("torch.FloatTensor"); x.is_meta() && at != std::string::npos)
      want.replace(at, 17, "MetaFloatType");
    // An intended difference: -1 is refused for a 0-dim tensor as for any other; PyTorch treats it as a huge size.
    for (std::size_t dim = 0; c[0].empty() && dim < c[2].size(); ++dim)
      if (c[2][dim] == -1)
        want = "Error: The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension " +
               std::to_string(dim);
    EXPECT_EQ(outcome([&] { return x.expand(spec::to_dims(c[2])); }), want) << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Views, SpecOn, testing::Values(Device::cpu, Device::meta),
                         [](const auto& device) { return device.param == Device::cpu ? "Cpu" : "Meta"; });

}  // namespace
}  // namespace tenon
