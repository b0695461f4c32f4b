// Small broadcasts of drawn shapes and strides against a loop over single elements.
#include "tile/small.h"

#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "ops/row.h"
#include "sampled.h"
#include "tenon/dtype.h"

namespace tenon {
namespace {

using Bytes = std::vector<std::byte>;

class Drawn {
 public:
  Drawn(Dtype dtype, uint64_t seed) : random_(seed), dtype_(dtype), width_(itemsize(dtype)) {
    const int64_t ndim = between(1, kSmallDims);
    for (int64_t dim = 0; dim < ndim; ++dim) sizes_.push_back(numel_of(sizes_) > 64 ? between(1, 3) : size());
    for (Operand& operand : operands_) draw(operand);
  }

  Dims shape() const { return infer_size(operands_[0].sizes, operands_[1].sizes); }
  bool set(SmallBroadcast<2>& broadcast, ResultStrides result) const {
    const int64_t most = std::max(numel_of(operands_[0].sizes), numel_of(operands_[1].sizes));
    const StridedView views[] = {{operands_[0].sizes, operands_[0].strides},
                                 {operands_[1].sizes, operands_[1].strides}};
    return broadcast.set(views, width_, most, false, result);
  }
  Kernel kernel() const { return kernels().elementwise[static_cast<int>(Op::add)][static_cast<int>(dtype_)]; }

  /// The result of `run_small` at this place in a cache line, and what is around it.
  Bytes computed(SmallBroadcast<2>& broadcast, int64_t place) const {
    Bytes result = untouched(place);
    for (int i = 0; i < 2; ++i) {
      broadcast.data[i] = operands_[i].data.data();
      broadcast.casts[i] = nullptr;
    }
    run_small(broadcast, kernel(), width_, result.data() + start(result) + place * width_);
    return result;
  }
  Bytes expected(int64_t place) const {
    Bytes result = untouched(place);
    std::byte* to = result.data() + start(result) + place * width_;
    Dims index(shape().size(), 0);
    for (int64_t left = numel_of(shape()); left > 0; --left, to += width_) {
      const Lanes in[2] = {{at(operands_[0], index), 1}, {at(operands_[1], index), 1}};
      kernel()(to, in, 1);
      for (int64_t dim = index.size() - 1; dim >= 0 && ++index[dim] == shape()[dim]; --dim) index[dim] = 0;
    }
    return result;
  }

 private:
  struct Operand {
    Dims sizes, strides;
    Bytes data;
  };

  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }
  int64_t size() {
    const int64_t sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 20, 31, 33, 64, 65, 100, 257, 721, 1100};
    return sizes[between(0, static_cast<int64_t>(std::size(sizes)) - 1)];
  }
  /// Some sizes are 1; strides are those of a permuted tensor with gaps.
  void draw(Operand& operand) {
    operand.sizes = sizes_;
    for (int64_t dim = 0; dim < sizes_.size(); ++dim)
      if (between(0, 2) == 0) operand.sizes[dim] = 1;
    Dims order;
    for (int64_t dim = sizes_.size() - 1; dim >= 0; --dim) order.push_back(dim);
    if (between(0, 1) == 0) std::swap(order[0], order[between(0, order.size() - 1)]);
    operand.strides = Dims(sizes_.size(), 0);
    int64_t stride = between(0, 3) == 0 ? between(2, 5) : 1;
    for (const int64_t dim : order) {
      operand.strides[dim] = stride;
      stride = stride * operand.sizes[dim] + (between(0, 4) == 0 ? between(1, 3) : 0);
    }
    operand.data.resize(static_cast<std::size_t>(stride * width_));
    for (int64_t i = 0; i < stride; ++i) {
      const double value = static_cast<double>(between(-9, 9));
      const Lanes from{&value, 1};
      kernels().cast[static_cast<int>(float64)][static_cast<int>(dtype_)](operand.data.data() + i * width_, &from, 1);
    }
  }
  const std::byte* at(const Operand& operand, const Dims& index) const {
    int64_t offset = 0;
    for (int64_t dim = 0; dim < index.size(); ++dim)
      if (operand.sizes[dim] != 1) offset += index[dim] * operand.strides[dim];
    return operand.data.data() + offset * width_;
  }
  Bytes untouched(int64_t place) const {
    return Bytes(static_cast<std::size_t>((numel_of(shape()) + place) * width_ + 192), std::byte{0x5A});
  }
  /// Where the first cache line begins.
  static int64_t start(const Bytes& bytes) {
    return -static_cast<int64_t>(reinterpret_cast<uintptr_t>(bytes.data())) & 63;
  }

  std::mt19937_64 random_;
  Dtype dtype_;
  int64_t width_;
  Dims sizes_;
  Operand operands_[2];
};

/// The bytes from the first cache line on.
Bytes aligned(Bytes bytes) {
  const int64_t start = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(bytes.data())) & 63;
  return {bytes.begin() + start, bytes.begin() + start + static_cast<int64_t>(bytes.size()) - 64};
}

TEST(Small, IsWhatEachElementAloneGives) {
  int64_t computed = 0, in_rows = 0;
  for (const Dtype dtype : {uint8, int16, bfloat16, int32, float32, float64, complex128})
    for (uint64_t seed = 0; seed < 3000 / kSampled; ++seed) {
      const Drawn drawn(dtype, seed);
      SmallBroadcast<2> broadcast;
      if (!drawn.set(broadcast, seed % 2 == 0 ? ResultStrides::given : ResultStrides::from_operands)) continue;
      ASSERT_TRUE(SizesView(drawn.shape()) == broadcast.shape());
      const int64_t place = static_cast<int64_t>(seed % 5);
      ASSERT_EQ(aligned(drawn.computed(broadcast, place)), aligned(drawn.expected(place)))
          << dtype_name(dtype) << " seed " << seed << " " << to_string(drawn.shape());
      ++computed;
      in_rows += broadcast.has_rows();
    }
  EXPECT_GT(computed, 5000 / kSampled);
  EXPECT_GT(in_rows, 500 / kSampled);
}

TEST(Small, RefusesOperandsWhoseResultMayNotBeRowMajor) {
  SmallBroadcast<2> broadcast;
  const Dims sizes{3, 4}, strides{1, 3};
  const StridedView turned[] = {{sizes, strides}, {sizes, strides}};
  EXPECT_FALSE(broadcast.set(turned, 4, 12, false, ResultStrides::from_operands));
  EXPECT_TRUE(broadcast.set(turned, 4, 12, false, ResultStrides::given));
}

}  // namespace
}  // namespace tenon
