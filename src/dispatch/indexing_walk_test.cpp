// Indexing with tensors against a plain loop over the result: every element is read from, written to and, in the
// gradient, added to the element that its index selects, for every layout, and nothing else changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

/// A dim of the indexed view: the indices that it selects along a dim of self.
struct Axis {
  int64_t dim;  // -1: a new dim
  Dims shape;   // of the indices: several dims for an index tensor
  std::vector<int64_t> places;
  bool by_tensor = false;
};

struct Key {
  std::vector<Index> entries;
  std::deque<Tensor> tensors;  // the entries point to these
  std::vector<Axis> axes;
  std::vector<std::pair<int64_t, int64_t>> fixed;  // dims indexed by an integer, and the integer
  std::string text;
};

/// A whole dim of self.
Axis whole(SizesView sizes, int64_t dim) {
  Axis axis{dim, {sizes[dim]}, {}};
  for (int64_t i = 0; i < sizes[dim]; ++i) axis.places.push_back(i);
  return axis;
}

class KeyMaker {
 public:
  KeyMaker(SizesView sizes, std::mt19937& random) : sizes_(sizes), random_(random), marks_(below(3) == 0) {}

  Key make() {
    int64_t dim = 0;
    bool skipped = false;
    while (dim < sizes_.size()) {
      if (below(8) == 0) add(None, {-1, {1}, {0}}, "None");
      if (!skipped && below(5) == 0) {
        key_.entries.push_back(Ellipsis);
        key_.text += "..., ";
        skipped = true;
        for (int64_t rest = below(sizes_.size() - dim + 1); rest > 0; --rest) take_all(dim++);
        continue;
      }
      if (!skipped && below(6) == 0) break;
      dim += add_entry(dim);
    }
    while (dim < sizes_.size()) take_all(dim++);
    return std::move(key_);
  }

 private:
  int64_t below(int64_t count) { return static_cast<int64_t>(random_() % static_cast<unsigned>(count)); }

  void add(Index entry, Axis axis, const std::string& text) {
    key_.entries.push_back(entry);
    key_.axes.push_back(std::move(axis));
    key_.text += text + ", ";
  }
  void take_all(int64_t dim) { key_.axes.push_back(whole(sizes_, dim)); }
  /// Returns the number of dims that the entry indexes.
  int64_t add_entry(int64_t dim) {
    const int64_t size = sizes_[dim];
    switch (below(4)) {
      case 0: {
        const int64_t place = below(size);
        key_.entries.push_back(below(2) ? place : place - size);
        key_.fixed.emplace_back(dim, place);
        key_.text += std::to_string(place) + ", ";
        return 1;
      }
      case 1: {
        const int64_t start = below(size + 1), step = 1 + below(2);
        Axis axis{dim, {0}, {}};
        for (int64_t i = start; i < size; i += step) axis.places.push_back(i);
        axis.shape[0] = static_cast<int64_t>(axis.places.size());
        add(Slice(start, {}, step), axis, std::to_string(start) + "::" + std::to_string(step));
        return 1;
      }
      case 2:
        if (marks_ && !marked_) return add_mask(dim);
        [[fallthrough]];
      default:
        add_places(dim);
        return 1;
    }
  }
  void add_places(int64_t dim) {
    const std::vector<Dims> shapes =
        marks_ ? std::vector<Dims>{{}, {1}} : std::vector<Dims>{{}, {1}, {3}, {2, 1}, {2, 3}, {1, 3}};
    Axis axis{dim, shapes[static_cast<std::size_t>(below(static_cast<int64_t>(shapes.size())))], {}, true};
    Tensor tensor = empty(axis.shape, int64);
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      axis.places.push_back(below(sizes_[dim]));
      tensor.data<int64_t>()[i] = axis.places.back() - (below(2) ? sizes_[dim] : 0);
    }
    if (below(2)) tensor = tensor.to(int32);
    key_.tensors.push_back(tensor);
    add(key_.tensors.back(), axis, "places " + to_string(axis.shape));
  }
  int64_t add_mask(int64_t dim) {
    marked_ = true;
    const int64_t dims = 1 + below(sizes_.size() - dim);
    Tensor mask = empty(SizesView(sizes_.data() + dim, dims), bool_);
    std::vector<Axis> axes;
    for (int64_t i = 0; i < dims; ++i) axes.push_back({dim + i, {0}, {}, true});
    for (int64_t i = 0; i < mask.numel(); ++i) {
      mask.data<bool>()[i] = below(2) != 0;
      if (!mask.data<bool>()[i]) continue;
      int64_t rest = i;
      for (int64_t own = dims - 1; own >= 0; --own) {
        axes[static_cast<std::size_t>(own)].places.push_back(rest % mask.sizes()[own]);
        rest /= mask.sizes()[own];
      }
    }
    key_.tensors.push_back(dims > 1 && below(2) ? mask.transpose(0, 1).contiguous().transpose(0, 1) : mask);
    key_.entries.push_back(key_.tensors.back());
    key_.text += "mask of " + std::to_string(dims) + ", ";
    for (Axis& axis : axes) {
      axis.shape[0] = static_cast<int64_t>(axis.places.size());
      key_.axes.push_back(std::move(axis));
    }
    return dims;
  }

  SizesView sizes_;
  std::mt19937& random_;
  bool marks_, marked_ = false;
  Key key_;
};

/// The result: the view's dims, in which the broadcast dims of the index tensors replace the indexed dims, or come
/// first if these are not neighbours.
struct Walked {
  Dims shape;
  std::vector<int64_t> offsets;  // of each element of the result, in self
};

Walked walk(const Tensor& self, const Key& key) {
  Dims common;
  int64_t first = -1, last = -1, count = 0;
  for (std::size_t i = 0; i < key.axes.size(); ++i) {
    if (!key.axes[i].by_tensor) continue;
    broadcast_into(common, key.axes[i].shape);
    if (first < 0) first = static_cast<int64_t>(i);
    last = static_cast<int64_t>(i);
    ++count;
  }
  const bool apart = count > 0 && last - first + 1 != count;
  // Dims of the result: an axis, or -1 for the dims of the index tensors.
  std::vector<int64_t> order;
  for (std::size_t i = 0; i < key.axes.size(); ++i) {
    if (!key.axes[i].by_tensor) order.push_back(static_cast<int64_t>(i));
    if (static_cast<int64_t>(i) == first) order.insert(apart ? order.begin() : order.end(), -1);
  }
  Walked walked;
  for (int64_t axis : order)
    for (int64_t size : SizesView(axis < 0 ? common : key.axes[static_cast<std::size_t>(axis)].shape))
      walked.shape.push_back(size);
  int64_t start = 0;
  for (const auto& [dim, place] : key.fixed) start += place * self.strides()[dim];
  for (int64_t i = 0; i < numel_of(walked.shape); ++i) {
    int64_t rest = i, offset = start;
    std::vector<int64_t> at(key.axes.size(), 0);  // the index along each axis
    Dims inside(common.size(), 0);
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      const SizesView sizes =
          *axis < 0 ? SizesView(common) : SizesView(key.axes[static_cast<std::size_t>(*axis)].shape);
      for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
        const int64_t index = rest % sizes[dim];
        rest /= sizes[dim];
        if (*axis < 0)
          inside[dim] = index;
        else
          at[static_cast<std::size_t>(*axis)] = index;
      }
    }
    for (std::size_t axis = 0; axis < key.axes.size(); ++axis) {
      const Axis& named = key.axes[axis];
      int64_t own = named.by_tensor ? 0 : at[axis];
      for (int64_t dim = 0; named.by_tensor && dim < named.shape.size(); ++dim)
        own = own * named.shape[dim] + (named.shape[dim] == 1 ? 0 : inside[common.size() - named.shape.size() + dim]);
      if (named.dim >= 0) offset += named.places[static_cast<std::size_t>(own)] * self.strides()[named.dim];
    }
    walked.offsets.push_back(offset);
  }
  return walked;
}

/// A tensor with dims in any order and with gaps.
Tensor random_layout(SizesView sizes, Dtype dtype, std::mt19937& random) {
  Dims strides(sizes.size());
  std::vector<int64_t> order;
  for (int64_t dim = 0; dim < sizes.size(); ++dim) order.push_back(dim);
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  int64_t step = 1 + random() % 2;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    strides[*dim] = step;
    step *= sizes[*dim] + random() % 2;
  }
  Tensor memory = empty({step + 3}, int64);
  for (int64_t i = 0; i < memory.numel(); ++i) memory.data<int64_t>()[i] = i % 100;
  return memory.to(dtype).as_strided(sizes, strides, random() % 4);
}

/// All elements of a tensor's storage.
std::vector<int64_t> memory(const Tensor& tensor) {
  const int64_t count = static_cast<int64_t>(tensor.impl()->storage->nbytes) / tensor.itemsize();
  const Tensor all = tensor.as_strided({count}, {1}, 0).to(int64);
  return {all.data<int64_t>(), all.data<int64_t>() + count};
}
std::vector<int64_t> values(const Tensor& tensor) {
  const Tensor dense = tensor.to(int64).contiguous();
  return {dense.data<int64_t>(), dense.data<int64_t>() + dense.numel()};
}

/// A value that broadcasts to a shape: with missing dims and dims of size 1, in any layout.
Tensor random_value(SizesView shape, Dtype dtype, std::mt19937& random) {
  Dims sizes = shape.copy();
  for (int64_t& size : sizes)
    if (random() % 4 == 0) size = 1;
  while (!sizes.empty() && random() % 4 == 0) sizes.erase(0);
  return random_layout(sizes, dtype, random).neg();
}

class IndexingWalk : public testing::TestWithParam<Dtype> {};

TEST_P(IndexingWalk, ReadsWritesAndAddsWhereTheKeySays) {
  const Dtype dtype = GetParam();
  std::mt19937 random(17);
  for (int round = 0; round < 1000; ++round) {
    Dims sizes;
    for (unsigned dims = 1 + random() % 4; dims > 0; --dims) sizes.push_back(1 + random() % 4);
    const Tensor self = random_layout(sizes, dtype, random);
    const Key key = KeyMaker(sizes, random).make();
    const Walked walked = walk(self, key);
    const int64_t count = static_cast<int64_t>(key.entries.size());
    SCOPED_TRACE("round " + std::to_string(round) + ": " + to_string(sizes) + to_string(self.strides()) + ", " +
                 key.text);
    std::vector<int64_t> cells = memory(self), want;
    for (int64_t offset : walked.offsets)
      want.push_back(cells[static_cast<std::size_t>(self.storage_offset() + offset)]);

    const Tensor read = self.index(key.entries.data(), count);
    ASSERT_EQ(to_string(read.sizes()), to_string(walked.shape));
    ASSERT_EQ(values(read), want);

    const Tensor value = random_value(walked.shape, dtype, random);
    const std::vector<int64_t> given = values(value.expand(walked.shape));
    for (std::size_t i = 0; i < given.size(); ++i)
      cells[static_cast<std::size_t>(self.storage_offset() + walked.offsets[i])] = given[i];
    Tensor written = self;
    written.index_put_(key.entries.data(), count, value);
    ASSERT_EQ(memory(self), cells);

    if (!is_floating_point(dtype)) continue;
    const Tensor leaf = self.clone().requires_grad_();
    const Walked own = walk(leaf, key);
    const Tensor gradient = random_layout(own.shape, dtype, random);
    autograd::backward({leaf.index(key.entries.data(), count)}, {gradient});
    std::vector<int64_t> sums(memory(leaf).size(), 0);
    const std::vector<int64_t> added = values(gradient);
    for (std::size_t i = 0; i < added.size(); ++i) sums[static_cast<std::size_t>(own.offsets[i])] += added[i];
    Key everything;
    for (int64_t dim = 0; dim < leaf.dim(); ++dim) everything.axes.push_back(whole(sizes, dim));
    std::vector<int64_t> by_index;
    for (const int64_t offset : walk(leaf, everything).offsets)
      by_index.push_back(sums[static_cast<std::size_t>(offset)]);
    ASSERT_EQ(values(leaf.grad()), by_index);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, IndexingWalk, testing::Values(int8, int16, int32, int64, float32, float64),
                         [](const auto& dtype) { return dtype_name(dtype.param); });

}  // namespace
}  // namespace tenon
