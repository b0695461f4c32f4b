#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "error_text.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/random.h"

namespace tenon {
namespace {

constexpr int64_t kLeast = INT64_MIN, kMost = INT64_MAX;

Tensor places(NestedValues values) { return tensor(std::move(values)); }

/// A call that reads or writes elements of a 2-D `self` by index along dim 0. The index has one or two dims.
struct Use {
  const char* name;
  bool takes_vector;
  std::function<void(Tensor& self, const Tensor& index)> call;
};
Tensor beside(const Tensor& self, const Tensor& index) { return ones(index.sizes(), self.dtype()); }
Tensor rows_beside(const Tensor& self, const Tensor& index) {
  return ones({index.numel(), self.size(1)}, self.dtype());
}
const Use kUses[] = {
    {"gather", false, [](Tensor& self, const Tensor& index) { self.gather(0, index); }},
    {"index_select", true, [](Tensor& self, const Tensor& index) { self.index_select(0, index); }},
    {"scatter_", false, [](Tensor& self, const Tensor& index) { self.scatter_(0, index, beside(self, index)); }},
    {"scatter_ of a number", false, [](Tensor& self, const Tensor& index) { self.scatter_(0, index, 7); }},
    {"scatter_ adds", false, [](Tensor& self, const Tensor& index) { self.scatter_(0, index, 7, "add"); }},
    {"scatter_ multiplies", false, [](Tensor& self, const Tensor& index) { self.scatter_(0, index, 7, "multiply"); }},
    {"scatter_add_", false,
     [](Tensor& self, const Tensor& index) { self.scatter_add_(0, index, beside(self, index)); }},
    {"index_add_", true,
     [](Tensor& self, const Tensor& index) { self.index_add_(0, index, rows_beside(self, index)); }},
    {"index_add_ with alpha", true,
     [](Tensor& self, const Tensor& index) { self.index_add_(0, index, rows_beside(self, index), 2); }},
};

/// [3, 2] in each layout that a write handles separately.
std::vector<Tensor> layouts(Dtype dtype) {
  return {arange(6, dtype).reshape({3, 2}), arange(6, dtype).reshape({2, 3}).t(),
          arange(24, dtype).reshape({6, 4}).slice(0, 1, 6, 2).slice(1, 1, 4, 2)};
}

/// Indices with `place` among zeros: first, last, or everywhere, in each layout.
std::vector<Tensor> indices_with(int64_t place, bool vector) {
  if (vector) {
    const Tensor once = scalar_tensor(place, int64);
    return {places({place, int64_t{0}, int64_t{0}}), places({int64_t{0}, int64_t{0}, place}), once, once.expand({3}),
            places({int64_t{0}, int64_t{9}, place}).slice(0, 0, 3, 2)};
  }
  const Tensor first = places({{place, int64_t{0}}, {int64_t{0}, int64_t{0}}});
  const Tensor last = places({{int64_t{0}, int64_t{0}}, {int64_t{0}, place}});
  return {first, last, first.t(), last.t(), first.narrow(1, 0, 1).expand({2, 2}), places({{place}}).expand({2, 2})};
}

TEST(Places, OutsideAreRefusedBeforeAnythingIsWritten) {
  for (const Use& use : kUses)
    for (Dtype dtype : {uint8, float16, float32, int64})
      for (int64_t place : {int64_t{-1}, int64_t{3}, int64_t{1} << 32, kLeast, kMost})
        for (const Tensor& index : indices_with(place, use.takes_vector))
          for (Tensor& self : layouts(dtype)) {
            const std::string before = to_string(self);
            EXPECT_NE(error_text([&] { use.call(self, index); }), "no error") << use.name << " " << place;
            EXPECT_EQ(to_string(self), before) << use.name << " " << place;
          }
}

TEST(Places, OfNothing) {
  const Tensor one = places({{0, 0}, {0, 0}});
  for (const Use& use : kUses) {
    Tensor self = zeros({0, 2});
    if (use.takes_vector) continue;  // index_add without indices does nothing
    EXPECT_EQ(error_text([&] { use.call(self, one); }), "index 0 is out of bounds for dimension 0 with size 0");
  }
  Tensor zero = zeros({0}), scalar = tensor(5.);
  EXPECT_EQ(error_text([&] { zero.index_select(0, places({0})); }), "index out of range in self");
  EXPECT_EQ(error_text([&] { zero.index_add_(0, places({0}), ones({1})); }), "index out of range in self");
  EXPECT_EQ(error_text([&] { scalar.gather(0, tensor(1)); }), "index 1 is out of bounds for dimension 0 with size 1");
  EXPECT_EQ(error_text([&] { scalar.scatter_(0, tensor(-1), 7); }),
            "index -1 is out of bounds for dimension 0 with size 1");
  EXPECT_EQ(to_string(scalar.scatter_(0, places({0, 0}), 7)), "tensor(7.)");
  EXPECT_EQ(to_string(scalar.index_add_(0, tensor(0), tensor(1.))), "tensor(8.)");
}

// A write that overlaps its index would change the indices it reads.
TEST(Places, InTheMemoryThatIsWritten) {
  const int64_t far = int64_t{1} << 40;
  const std::function<void(Tensor&, const Tensor&, const Tensor&)> writes[] = {
      [](Tensor& self, const Tensor& index, const Tensor& src) { self.scatter_(0, index, src); },
      [](Tensor& self, const Tensor& index, const Tensor& src) { self.scatter_add_(0, index, src); },
      [](Tensor& self, const Tensor& index, const Tensor& src) { self.index_add_(0, index, src, 3); }};
  for (const auto& write : writes)
    for (int64_t apart : {0, 2}) {  // the same memory, and memory further on
      Tensor memory = places({1, 9, 0, 9, 2, 9, 0, 9}), plain = memory.slice(0, 0, 6, 2).clone();
      Tensor self = memory.slice(0, 0, 6, 2);
      const Tensor index = memory.slice(0, apart, 6 + apart, 2), src = full({3}, far, int64);
      write(plain, index.clone(), src);
      write(self, index, src);
      EXPECT_EQ(to_string(self), to_string(plain)) << apart;
    }
  int64_t memory[] = {1, 0, 2, 0};  // two owners of the same memory
  Tensor self = from_buffer(memory, {3}, int64);
  const Tensor index = from_buffer(memory + 1, {3}, int64);
  self.scatter_(0, index, far);
  EXPECT_EQ(to_string(self), "tensor([1099511627776,             0, 1099511627776])");
}

TEST(Places, SourcesInTheMemoryThatIsWritten) {
  Tensor memory = arange(10, int64), self = memory.slice(0, 0, 10, 2);
  self.scatter_(0, places({1, 2, 3, 4}), self.narrow(0, 0, 4));
  EXPECT_EQ(to_string(memory), "tensor([0, 1, 0, 3, 2, 5, 4, 7, 6, 9])");
}

bool are_equal(const Tensor& a, const Tensor& b) { return a.eq(b).all().item().as_bool(); }

// Sums of many elements at one place, in each loop: along rows, of whole rows, with gaps. scatter_add, and index_add by
// it, round once; other sums are rounded after every addition.
TEST(Places, SumsOf16BitFloatsAreRoundedAsInPyTorch) {
  const struct {
    Dtype dtype;
    int64_t odd;  // 1 more than this rounds to this
  } cases[] = {{float16, 2048}, {bfloat16, 256}};
  for (const auto& [dtype, odd] : cases) {
    const Tensor start = full({20, 20}, odd, dtype), one = ones({20, 20}, dtype), first = zeros({20}, int64);
    for (int64_t dim : {0, 1}) {
      const Tensor once = start.clone();
      once.select(dim, 0).add_(20);
      EXPECT_TRUE(are_equal(start.scatter_add(dim, zeros({20, 20}, int64), one), once)) << dim;
      EXPECT_TRUE(are_equal(start.index_add(dim, first, one), once)) << dim;
      EXPECT_TRUE(are_equal(start.index_add(dim, first.to(int32), one), start)) << dim;
      EXPECT_TRUE(are_equal(start.t().clone().t().index_add(dim, first.to(int32), one.t()), start)) << dim;
    }
    EXPECT_TRUE(are_equal(start.select(0, 0).index_add(0, first, one.select(0, 0)), start.select(0, 0)));
  }
}

TEST(Places, ComplexProductsAreNotFused) {
  const auto random = [] { return view_as_complex(rand({7, 7, 2}, float64)); };
  const Tensor a = random(), b = random(), re = real(b), im = imag(b);
  const Tensor product = view_as_complex(stack({re.mul(0.3).sub(im.mul(0.7)), im.mul(0.3).add(re.mul(0.7))}, -1));
  for (int64_t dim : {0, 1})
    EXPECT_TRUE(are_equal(a.index_add(dim, arange(7), b, Complex128{0.3, 0.7}), a.add(product))) << dim;
}

TEST(Places, OutIsAnInput) {
  Tensor x = arange(6, int64).reshape({2, 3}).remainder(2);
  const Tensor before = x.clone();
  const char* refused =
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
      "location. Please clone() the tensor before performing the operation.";
  EXPECT_EQ(error_text([&] { gather_out(x, x, 0, x); }), refused);
  EXPECT_EQ(error_text([&] { scatter_out(x, x, 0, x, x); }), refused);
  EXPECT_EQ(error_text([&] { scatter_add_out(x, x, 0, before, x); }), refused);
  EXPECT_EQ(error_text([&] { index_select_out(x, x, 0, places({1})); }), refused);
  EXPECT_EQ(error_text([&] { masked_select_out(x, x, x.to(bool_)); }), refused);
  EXPECT_EQ(error_text([&] { nonzero_out(x, x); }), refused);
  EXPECT_EQ(to_string(x), to_string(before));
  gather_out(x, arange(6, int64).reshape({2, 3}), 0, x);
  EXPECT_EQ(to_string(x), "tensor([[0, 4, 2],\n        [3, 1, 5]])");
}

TEST(Places, OfHugeExpandedTensors) {
  const Tensor wide = arange(2).reshape({2, 1}).expand({2, int64_t{1} << 40});
  EXPECT_EQ(to_string(wide.gather(1, places({{int64_t{0}, (int64_t{1} << 40) - 1}, {int64_t{5}, int64_t{1} << 39}}))),
            "tensor([[0, 0],\n        [1, 1]])");
  EXPECT_EQ(to_string(wide.index_select(1, places({(int64_t{1} << 40) - 1}))), "tensor([[0],\n        [1]])");
  EXPECT_EQ(to_string(take_along_dim(wide, places({{kLeast}}), 1)), "tensor([[0],\n        [1]])");
}

TEST(Places, NoneIsReadOfAnEmptyIndexThatIsExpanded) {
  const Tensor none = scalar_tensor(9, int64).expand({0});
  EXPECT_EQ(to_string(index_reduce(ones({3}), 0, none, ones({0}), "amax")), "tensor([1., 1., 1.])");
  EXPECT_EQ(to_string(index_add(ones({3}), 0, none, ones({0}))), "tensor([1., 1., 1.])");
  EXPECT_EQ(to_string(ones({3}).index_select(0, none)), "tensor([])");
}

TEST(Places, ElementsOfTheTensorItselfAreReadBeforePlacesAreReset) {
  const Tensor memory = tensor({3., 9., 2., 9., 1., 9.});
  Tensor x = memory.slice(0, 0, 6, 2);
  x.scatter_reduce_(0, places({int64_t{0}, int64_t{0}, int64_t{2}}), memory.slice(0, 0, 6, 2), "amax", false);
  EXPECT_EQ(to_string(memory), "tensor([3., 9., 2., 9., 1., 9.])");
}

TEST(Places, TruthsOfOthersAreAnyByte) {
  uint8_t bytes[] = {2, 0, 255, 1, 0, 0, 128, 64, 3, 0, 7};
  const Tensor truths = from_buffer(bytes, {11}, bool_);
  EXPECT_EQ(to_string(nonzero(truths).view({-1})), "tensor([ 0,  2,  3,  6,  7,  8, 10])");
  EXPECT_EQ(to_string(arange(11).masked_select(truths)), "tensor([ 0,  2,  3,  6,  7,  8, 10])");
}

/// Elements [1, n] of a tensor that begins with one more, so that they lie at an odd address of vectors.
Tensor moved(const Tensor& numbers, Dtype dtype) {
  return cat({zeros({1}, dtype), numbers.to(dtype)}).narrow(0, 1, numbers.numel());
}

TEST(ByIndex, RowsOfAllLengthsAndDtypes) {
  constexpr int64_t kSize = 17;
  for (Dtype dtype : {uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64})
    for (int64_t n = 1; n <= 40; ++n) {
      const std::string name = std::string(dtype_name(dtype)) + ", " + std::to_string(n) + " places";
      std::vector<int64_t> added(kSize), twice(kSize), kept(kSize), gathered;
      for (int64_t i = 0; i < kSize; ++i) added[i] = twice[i] = kept[i] = i;
      Tensor index = empty({n}, int64), source = empty({n}, int64);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t place = index.data<int64_t>()[i] = (i * i * 7 + 3) % kSize,
                      from = source.data<int64_t>()[i] = i % 3;
        added[place] += from, twice[place] += 2 * from, kept[place] = from;
        gathered.push_back(place);
      }
      const auto wanted = [&](const std::vector<int64_t>& numbers) {
        Tensor all = empty({std::ssize(numbers)}, int64);
        std::copy(numbers.begin(), numbers.end(), all.data<int64_t>());
        return to_string(all.to(dtype));
      };
      const Tensor from = moved(source, dtype), whole = moved(arange(kSize), dtype);
      const auto changed = [&](const auto& change) {
        Tensor self = moved(arange(kSize), dtype);
        change(self);
        return to_string(self);
      };
      EXPECT_EQ(changed([&](Tensor& self) { self.scatter_add_(0, index, from); }), wanted(added)) << name;
      EXPECT_EQ(changed([&](Tensor& self) { self.index_add_(0, index, from); }), wanted(added)) << name;
      EXPECT_EQ(changed([&](Tensor& self) { self.index_add_(0, index, from, 2); }), wanted(twice)) << name;
      EXPECT_EQ(changed([&](Tensor& self) { self.scatter_(0, index, from); }), wanted(kept)) << name;
      Tensor out = moved(zeros({n}), dtype);
      EXPECT_EQ(to_string(gather_out(out, whole, 0, index)), wanted(gathered)) << name;
      out.zero_();
      EXPECT_EQ(to_string(index_select_out(out, whole, 0, index)), wanted(gathered)) << name;
    }
}

TEST(ByIndex, OutKeepsItsStridesAndIsUntouchedByAnError) {
  const Tensor table = arange(12.0).view({4, 3});
  Tensor out = zeros({3, 2}, float32).t();
  index_select_out(out, table.to(float32), 0, places({3, 1}));
  EXPECT_EQ(to_string(out), "tensor([[ 9., 10., 11.],\n        [ 3.,  4.,  5.]])");
  EXPECT_EQ(out.strides(), SizesView({1, 2}));
  Tensor wide = zeros({1, 3}, float64);
  EXPECT_NE(error_text([&] { gather_out(wide, table.to(float64), 0, places({{1, 2, 4}})); }), "");
  EXPECT_NE(error_text([&] { index_select_out(wide, table.to(float64), 0, places({4})); }), "");
  EXPECT_EQ(to_string(wide), to_string(zeros({1, 3}, float64)));
  gather_out(wide, table.to(float64), 0, places({{1, 2, 3}}));
  EXPECT_EQ(to_string(wide), to_string(tensor({{3.0, 7.0, 11.0}}, float64)));
}

TEST(ByIndex, OperandsWithoutMemoryAreNotRead) {
  const Tensor table = zeros({5, 4}), two = zeros({2, 4}), first = places({1, 2}), all = zeros({2, 4}, int64);
  const auto without = [](const Tensor& tensor, bool has_none) { return has_none ? tensor.to(Device::meta) : tensor; };
  for (const int which : {0, 1, 2}) {
    const Tensor self = without(table, which == 0);
    Tensor out = without(two, which == 1);
    EXPECT_NE(error_text([&] { index_select_out(out, self, 0, without(first, which == 2)); }), "") << which;
    EXPECT_NE(error_text([&] { gather_out(out, self, 0, without(all, which == 2)); }), "") << which;
  }
}

TEST(Joined, RunsThatAKernelCopies) {
  for (int64_t width : {1024, 1025, 1500, 2047, 2559, 2560, 2561})
    for (int64_t count : {2, 3, 4}) {
      List<Tensor> parts;
      for (int64_t part = 0; part < count; ++part)
        parts.push_back((arange(5 * (width + part)) * (part + 3)).to(uint8).view({5, width + part}));
      const Tensor joined = cat(parts, 1);
      int64_t start = 0;
      for (const Tensor& part : parts) {
        EXPECT_TRUE(joined.narrow(1, start, part.size(1)).eq(part).all().item<bool>())
            << width << ", part at " << start;
        start += part.size(1);
      }
    }
}

TEST(Diagonals, FarAway) {
  const Tensor square = ones({2, 2});
  for (int64_t diagonal : {kMost, kMost - 1, int64_t{2}}) {
    EXPECT_EQ(to_string(square.tril(diagonal)), to_string(square)) << diagonal;
    EXPECT_EQ(to_string(square.triu(diagonal)), to_string(zeros({2, 2}))) << diagonal;
    EXPECT_EQ(diag(square, diagonal).numel(), 0) << diagonal;
  }
  for (int64_t diagonal : {kLeast, kLeast + 1, int64_t{-2}}) {
    EXPECT_EQ(to_string(square.tril(diagonal)), to_string(zeros({2, 2}))) << diagonal;
    EXPECT_EQ(to_string(square.triu(diagonal)), to_string(square)) << diagonal;
    EXPECT_EQ(diag(square, diagonal).numel(), 0) << diagonal;
  }
  for (int64_t offset : {kLeast, kLeast + 1, kMost})
    EXPECT_EQ(error_text([&] { diag_embed(square, offset); }), "diag_embed: the offset is too large") << offset;
}

TEST(Roll, ByAnyNumber) {
  const Tensor x = arange(5);
  EXPECT_EQ(to_string(x.roll(kMost, 0)), "tensor([3, 4, 0, 1, 2])");
  EXPECT_EQ(to_string(x.roll(kLeast)), "tensor([3, 4, 0, 1, 2])");
  EXPECT_EQ(to_string(x.roll({kMost, kLeast}, {0, 0})), "tensor([1, 2, 3, 4, 0])");
  // As in PyTorch dims are rolled one after the other, and one by nothing makes the result row-major for all others.
  const Tensor images = empty({4, 2, 3, 2}).contiguous(MemoryFormat::channels_last);
  EXPECT_EQ(images.roll({1, 1}, {1, 3}).strides(), images.strides());
  EXPECT_TRUE(images.roll({0, 1}, {1, 3}).is_contiguous());
  EXPECT_EQ(empty({kMost}, Options(uint8, Device::meta)).roll(kMost - 1, 0).numel(), kMost);
}

}  // namespace
}  // namespace tenon
