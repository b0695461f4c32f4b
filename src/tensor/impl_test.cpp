// numel and contiguous agree with sizes and strides, however a tensor was made. Impossible tensors are refused.
#include "tensor/impl.h"

#include <gtest/gtest.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <string>
#include <vector>

#include "error_text.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tensor/recycle.h"

namespace tenon {
namespace {

constexpr int64_t kHalf = int64_t{1} << 62;

TEST(Impl, FlagsSayWhatSizesAndStridesSay) {
  const Tensor x = empty({2, 3, 4});
  const struct {
    const char* why;
    Tensor tensor;
  } cases[] = {
      {"no dims", empty({})},
      {"row-major", x},
      {"no elements", empty({2, 0, 3})},
      {"sizes of 1", empty({1, 3, 1})},
      {"meta", empty({2, 3}, Device::meta)},
      {"strided", empty_strided({2, 3}, {1, 2})},
      {"a size of 1 of any stride", empty_strided({1, 3}, {9, 1})},
      {"an inner size of 1 of any stride", empty_strided({3, 1}, {1, 9})},
      {"no elements of any strides", empty_strided({0, 3}, {9, 9})},
      {"a gap", empty_strided({2, 3}, {4, 1})},
      {"transposed", x.transpose(0, 2)},
      {"viewed", x.view({6, 4})},
      {"viewed in no dims", empty({1}).view(SizesView())},
      {"expanded", empty({3, 1}).expand({3, 2})},
      {"selected", x.select(2, 1)},
      {"narrowed", x.narrow(0, 1, 1)},
      {"sliced to nothing", x.slice(1, 3, {})},
      {"one element of three", empty({3}).narrow(0, 1, 1)},
      {"unsqueezed", x.unsqueeze(1)},
      {"as strided", x.as_strided({2, 2}, {3, 1}, 1)},
      {"detached", x.detach()},
      {"resized", empty({2}).resize_({3, 4})},
      {"resized to nothing", empty({2}).resize_({0, 4})},
  };
  for (const auto& c : cases) {
    const Tensor& t = c.tensor;
    EXPECT_EQ(t.numel(), numel_of(t.sizes())) << c.why;
    EXPECT_EQ(t.impl()->contiguous, is_contiguous(t.sizes(), t.strides())) << c.why;
    EXPECT_EQ(t.impl()->row_major, t.numel() > 0 && t.strides() == SizesView(contiguous_strides(t.sizes()))) << c.why;
  }
}

TEST(Impl, NewSizesAndStrides) {
  const struct {
    Dims sizes, strides;
    bool contiguous, row_major;
  } cases[] = {{{2, 3}, {3, 1}, true, true},
               {{2, 3}, {1, 2}, false, false},
               {{1, 3}, {7, 1}, true, false},
               {{0, 3}, {3, 1}, true, false}};
  for (const auto& c : cases) {
    const Tensor x = empty({10});
    set_sizes_and_strides(x, c.sizes, c.strides);
    EXPECT_EQ(to_string(x.sizes()) + to_string(x.strides()), to_string(c.sizes) + to_string(c.strides));
    EXPECT_EQ(x.numel(), numel_of(c.sizes));
    EXPECT_EQ(x.impl()->contiguous, c.contiguous);
    EXPECT_EQ(x.impl()->row_major, c.row_major);
  }
  const Tensor x = empty({2});
  set_sizes_and_strides(x, {5}, {1});
  EXPECT_EQ(x.impl()->storage->nbytes, 5 * 4);
  set_sizes_and_strides(x, {0}, {1});
  EXPECT_EQ(x.impl()->storage->nbytes, 5 * 4);
  const Tensor none = empty({0});
  set_sizes_and_strides(none, {3, 0}, {kHalf, 1});
  EXPECT_EQ(none.impl()->storage->nbytes, 0);
}

TEST(Impl, RefusesWhatHasNoSize) {
  const std::string negative = "Trying to create tensor with negative dimension -1: [2, -1]";
  EXPECT_EQ(error_text([] { new_tensor({2, -1}, float32); }), negative);
  EXPECT_EQ(error_text([] { new_tensor({2, -1}, {1, 1}, float32); }), negative);
  EXPECT_EQ(error_text([] { new_strided_tensor({2, -1}, {1, 1}, float32, Device::meta); }), negative);
  const std::string bytes = "Storage size calculation overflowed with sizes=[4611686018427387904]";
  EXPECT_EQ(error_text([] { new_tensor({kHalf}, float32); }), bytes);
  EXPECT_EQ(error_text([] { new_tensor({kHalf}, {0}, float32); }), bytes);
  EXPECT_EQ(error_text([] {
              new_strided_tensor({kHalf, 2}, {0, 0}, float32, Device::cpu);
            }),
            "numel: integer multiplication overflow");
  EXPECT_EQ(error_text([] { new_strided_tensor({2}, {kHalf}, float32, Device::cpu); }),
            "Storage size calculation overflowed with sizes=[2] and strides=[4611686018427387904]");
  EXPECT_EQ(error_text([] { storage_extent({3}, {kHalf}); }),
            "Storage size calculation overflowed with sizes=[3] and strides=[4611686018427387904]");
  EXPECT_EQ(storage_extent({2, 3}, {3, 1}), 6);
  EXPECT_EQ(storage_extent({}, {}), 1);
  EXPECT_EQ(storage_extent({3, 0}, {kHalf, 1}), 0);
  EXPECT_EQ(storage_extent({2}, {0}), 1);
}

TEST(Impl, Refusals) {
  EXPECT_EQ(error_text([] { new_tensor({2}, float32).data<double>(); }), "expected scalar type Double but found Float");
  const Tensor huge = new_strided_tensor({kHalf}, {0}, float64, Device::cpu);
  EXPECT_EQ(error_text([&] { huge.nbytes(); }),
            "nbytes: 4611686018427387904 elements of 8 bytes are more than an int64 holds");
}

// Only with an allocator that counts. Lists of 20 dims are on the heap.
TEST(Impl, TensorsGiveTheirMemoryBack) {
#if defined(__GLIBC__)
  const auto used = [] { return mallinfo2().uordblks; };
  const Dims sizes(20, 1);
  for (int i = 0; i < 100; ++i) static_cast<void>(empty(sizes));
  const auto before = used();
  for (int i = 0; i < 1000; ++i) static_cast<void>(empty(sizes));
  EXPECT_LT(used(), before + 100 * 20 * sizeof(int64_t));
#endif
  const TensorImpl* first = empty({2}).impl();
  if (recycle::kRecycles) {
    EXPECT_EQ(empty({2}).impl(), first) << "handles are used again";
  }
}

// A loop whose output lies a little after an input, modulo a page, may lose a third of its speed.
TEST(Impl, LargeBlocksBeginWithAPage) {
  std::vector<Tensor> kept;
  for (const int64_t nbytes : {70'000, 100'000, 1'000'000, 3'000'000}) {
    kept.push_back(new_tensor({nbytes}, uint8, Device::cpu));
    kept.push_back(new_tensor({nbytes}, uint8, Device::cpu));
    for (std::size_t i = kept.size() - 2; i < kept.size(); ++i)
      EXPECT_EQ(reinterpret_cast<uintptr_t>(kept[i].data_ptr()) % 4096, 0u) << nbytes;
  }
}

TEST(Impl, DetachedTensorsAreWhatTheyWere) {
  const Tensor plain = empty({2});
  Tensor inference;
  {
    const InferenceMode mode;
    inference = empty({2});
    EXPECT_FALSE(plain.detach().is_inference());
  }
  EXPECT_TRUE(inference.detach().is_inference());
}

TEST(Impl, AStorageLivesAsLongAsAnybodyHoldsIt) {
  const Tensor x = empty({4});
  Storage* storage = x.impl()->storage;
  const Tensor over = new_tensor_over(storage, {2}, {1}, 1, float32);
  EXPECT_EQ(over.impl()->storage, storage);
  EXPECT_EQ(storage->references.load(), 2);
  EXPECT_EQ(new_alias(x, {2}, {1}, 0).impl()->storage, storage);
  EXPECT_EQ(storage->references.load(), 2);
}

}  // namespace
}  // namespace tenon
