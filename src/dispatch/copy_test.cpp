// Copies of drawn sizes, orders and gaps against a loop over single elements.
#include <algorithm>
#include <cstring>
#include <random>

#include "gtest/gtest.h"
#include "pages.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }
  /// A view of at most `most` elements: of up to six dims in any order, some of them cut at the end.
  Tensor view(Dtype dtype, int64_t most) {
    Dims stored, order;
    for (int64_t dim = 0, left = most, ndim = between(1, 6); dim < ndim; ++dim) {
      const int64_t sizes[] = {1, 2, 2, 3, 4, 4, 5, 7, 8, 16, 37, left};
      stored.push_back(std::min(left, sizes[between(0, 11)]));
      left /= stored.back();
      order.push_back(dim);
    }
    for (int64_t dim = order.size() - 1; dim > 0; --dim)
      if (between(0, 1) == 0) std::swap(order[dim], order[between(0, dim)]);
    Tensor whole = randint(-100, 100, stored, int16).to(dtype);
    for (int64_t dim = 0; dim < stored.size(); ++dim) {
      if (between(0, 5) == 0 && stored[dim] > 1) whole = whole.narrow(dim, between(0, 1), stored[dim] - 1);
      if (between(0, 9) == 0) whole = whole.slice(dim, 0, {}, 2);
    }
    return whole.permute(order);
  }

 private:
  std::mt19937_64 random_;
};

bool same_bytes(const std::byte* a, const std::byte* b, int64_t nbytes) {
  return std::memcmp(a, b, static_cast<std::size_t>(nbytes)) == 0;
}
const std::byte* bytes_of(const Tensor& tensor) { return static_cast<const std::byte*>(tensor.data_ptr()); }

/// Whether each element of the row-major `copy` is that of `view`.
bool is_copy(const Tensor& copy, const Tensor& view) {
  Dims index(view.dim(), 0);
  const int64_t width = view.itemsize();
  for (int64_t i = 0; i < view.numel(); ++i) {
    int64_t offset = 0;
    for (int64_t dim = 0; dim < view.dim(); ++dim) offset += index[dim] * view.stride(dim);
    if (!same_bytes(bytes_of(copy) + i * width, bytes_of(view) + offset * width, width)) return false;
    for (int64_t dim = view.dim() - 1; dim >= 0 && ++index[dim] == view.size(dim); --dim) index[dim] = 0;
  }
  return true;
}

/// Copies drawn views into memory with other elements around it.
void check_copies(Draw& draw, Dtype dtype, int number, int64_t most) {
  const Tensor view = draw.view(dtype, most);
  const int64_t place = draw.between(0, 20), numel = view.numel();
  const Tensor memory = full({numel + 40}, 55, dtype), before = memory.clone();
  Tensor out = memory.narrow(0, place, numel).view(view.sizes());
  out.copy_(view);
  ASSERT_TRUE(is_copy(out, view)) << dtype_name(dtype) << " " << number << " " << to_string(view.sizes())
                                  << to_string(view.strides());
  const int64_t end = (place + numel) * view.itemsize();
  ASSERT_TRUE(same_bytes(bytes_of(memory), bytes_of(before), place * view.itemsize())) << number;
  ASSERT_TRUE(same_bytes(bytes_of(memory) + end, bytes_of(before) + end, memory.nbytes() - end)) << number;
}

TEST(Copy, OfAnyOrderAndGaps) {
  Draw draw(1);
  for (const Dtype dtype : {uint8, int16, float32, float64, complex128})
    for (int number = 0; number < 1500 / kSampled; ++number)
      check_copies(draw, dtype, number, number % 10 == 0 ? 30000 : 3000);
}

TEST(Copy, OfManyElementsByAllThreads) {
  const int threads = get_num_threads();
  set_num_threads(4);
  Draw draw(3);
  for (const Dtype dtype : {uint8, int16, float32, float64, complex128})
    for (int number = 0; number < 40 / kSampled; ++number) check_copies(draw, dtype, number, 300000);
  set_num_threads(threads);
}

TEST(Copy, OfRowsThatAreBroadcast) {
  for (const Dtype to : {float32, float64, int8, bool_, bfloat16, complex128})
    for (const Dtype from : {float32, int64, uint8, float16})
      for (const int64_t n : {1, 2, 3, 7, 66, 300})
        for (const int64_t rows : {2, 3, 9, 100}) {
          const Tensor row = arange(static_cast<double>(n)).add_(3).to(from);
          Tensor out = zeros({rows, 1, n}, to);
          out.copy_(row.view({1, n}));
          const Tensor wanted = row.to(to);
          for (int64_t i = 0; i < rows; ++i)
            EXPECT_TRUE(out.select(0, i).select(0, 0).eq(wanted).all().item<bool>())
                << dtype_name(from) << " to " << dtype_name(to) << ", row " << i << " of " << rows << " x " << n;
        }
}

TEST(Copy, OfElementsThatLieMoreThan32BitsApart) {
  constexpr std::size_t kBytes = std::size_t{13} << 30;  // of addresses; a few pages are touched
  void* const memory = take_pages(kBytes);
  if (!memory) GTEST_SKIP() << "no such address space";
  const Dims sizes{4, 5, 6, 3}, strides{int64_t{3} << 30, 100000, 1000, 7};
  const Tensor far = from_buffer(memory, sizes, strides, uint8);
  auto* const bytes = static_cast<uint8_t*>(memory);
  for (int64_t a = 0; a < 4; ++a)
    for (int64_t b = 0; b < 5; ++b)
      for (int64_t c = 0; c < 6; ++c)
        for (int64_t d = 0; d < 3; ++d)
          bytes[a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]] =
              static_cast<uint8_t>(a * 50 + b * 9 + c + d);
  const Tensor copy = far.contiguous();
  EXPECT_TRUE(is_copy(copy, far));
  EXPECT_TRUE(eq(far + copy, copy + copy).all().item<bool>());
  const Tensor turned = far.permute({3, 2, 0, 1});
  EXPECT_TRUE(is_copy(turned.contiguous(), turned));
  free_pages(memory, kBytes);
}

TEST(Copy, OfOperandsThatLaterTilesNeedAgain) {
  Draw draw(2);
  for (const Dtype dtype : {uint8, int16, float32, float64})
    for (int number = 0; number < 150; ++number) {
      Dims all, kept;
      for (const int64_t most : {60, 30, 30, 8}) {
        all.push_back(draw.between(1, most));
        kept.push_back(draw.between(0, 1) == 0 ? 1 : all.back());
      }
      const Tensor a = randint(0, 100, all, int16).to(dtype), b = randint(0, 100, kept, int16).to(dtype);
      EXPECT_TRUE(eq(a + b, a + b.expand(all).contiguous()).all().item<bool>())
          << dtype_name(dtype) << to_string(all) << to_string(kept);
      const Tensor turned = b.permute({3, 1, 2, 0}).contiguous().permute({3, 1, 2, 0});
      EXPECT_TRUE(eq(a + turned, a + b).all().item<bool>()) << dtype_name(dtype) << to_string(all) << to_string(kept);
    }
}

}  // namespace
}  // namespace tenon
