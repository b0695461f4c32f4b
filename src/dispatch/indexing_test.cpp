#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "error_text.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/random.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

const Tensor x = arange(24).reshape({2, 3, 4});
Tensor places(NestedValues values) { return tensor(std::move(values)); }

std::string seen(const Tensor& result) {
  return to_string(result.sizes()) + " " + to_string(result.strides()) + " " +
         std::to_string(result.sum().item<int64_t>());
}

TEST(Indexing, ShapesStridesAndSums) {
  const Tensor mask = tensor({{true, false, true}, {false, true, false}});
  const struct {
    const char* why;
    Tensor got;
    const char* want;
  } cases[] = {
      {"integers name places of one dim", x.index({places({1, 0, 1})}), "[3, 3, 4] [12, 4, 1] 486"},
      {"negative ones count from the end", x.index({Ellipsis, places({-1})}), "[2, 3, 1] [3, 1, 1] 78"},
      {"side by side they broadcast together", x.index({places({0, 1}), places({{0}, {2}})}),
       "[2, 2, 4] [8, 4, 1] 184"},
      {"apart their dims come first", x.index({places({0, 1}), Slice(), places({0, 3})}), "[2, 3] [3, 1] 69"},
      {"a mask marks places of its dims", x.index({mask}), "[3, 4] [4, 1] 114"},
      {"what follows a mask is the dim behind it", x.index({mask, Slice(1)}), "[3, 3] [3, 1] 90"},
      {"a truth is a new dim, there or empty", x.index({ones({}, bool_), 0}), "[1, 3, 4] [12, 4, 1] 66"},
      {"memory order is kept", x.transpose(0, 2).index({Slice(), places({0, 1})}), "[4, 2, 2] [1, 4, 8] 152"},
      {"nothing is named", x.index({places({0}).narrow(0, 0, 0)}), "[0, 3, 4] [12, 4, 1] 0"},
  };
  for (const auto& c : cases) EXPECT_EQ(seen(c.got), c.want) << c.why;
}

// As PyTorch gives them: dims of the view keep their order in memory, and so do those of the index tensors.
TEST(Indexing, Strides) {
  const Tensor wide = arange(120).reshape({2, 3, 4, 5}), y = wide.permute({3, 1, 0, 2});
  const Tensor square = places({{0, 2}, {1, 1}}), none = empty({3, 0}, int64);
  const struct {
    Tensor got;
    const char* want;
  } cases[] = {
      {y.index({Slice(), places({0, 2})}), "[5, 2, 2, 4] [1, 20, 40, 5] 0"},
      {y.index({Slice(), Slice(), places({0, 1, 1})}), "[5, 3, 3, 4] [1, 60, 5, 15] 0"},
      {y.index({Slice(), places({0, 2}), places({0, 1})}), "[5, 2, 4] [1, 5, 10] 0"},
      {y.index({Slice(), Slice(), places({0, 1}), places({3, 0})}), "[5, 3, 2] [2, 10, 1] 0"},
      {y.index({places({0, 2})}), "[2, 3, 2, 4] [24, 4, 12, 1] 0"},
      {y.index({Ellipsis, places({0, 2})}), "[5, 3, 2, 2] [2, 10, 30, 1] 0"},
      {y.index({Slice(), places({0, 2}), Slice(), places({0, 1})}), "[2, 5, 2] [10, 1, 5] 0"},
      {y.index({Slice(), square}), "[5, 2, 2, 2, 4] [1, 40, 20, 80, 5] 0"},
      {wide.index({Slice(), square.t()}), "[2, 2, 2, 4, 5] [80, 20, 40, 5, 1] 0"},
      {wide.index({Slice(), square.t(), places({0, 1})}), "[2, 2, 2, 5] [20, 5, 10, 1] 0"},
      {wide.index({Slice(), places({0, 1}), square.t().to(int32)}), "[2, 2, 2, 5] [20, 5, 10, 1] 0"},
      {wide.index({Slice(), places({0, 1}).expand({3, 2})}), "[2, 3, 2, 4, 5] [120, 40, 20, 5, 1] 0"},
      {y.index({Slice(), square.t()}), "[5, 2, 2, 2, 4] [1, 20, 40, 80, 5] 0"},
      {arange(5).index({square.t()}), "[2, 2] [1, 2] 0"},
      {arange(5).index({places({{0}, {1}}).expand({2, 3})}), "[2, 3] [3, 1] 0"},
      {wide.permute({3, 2, 1, 0}).index({Slice(), places({{0}, {1}}), places({0, 2, 1})}),
       "[5, 2, 3, 2] [1, 15, 5, 30] 0"},
      {none.index({places({5})}), "[1, 0] [1, 1] 0"},
  };
  for (const auto& c : cases) {
    const std::string got = to_string(c.got.sizes()) + " " + to_string(c.got.strides()) + " 0";
    EXPECT_EQ(got, c.want);
  }
}

TEST(Indexing, OfOneElement) {
  const Tensor one = tensor(7);
  const std::string alone =
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
      "tensor to a number";
  EXPECT_EQ(error_text([&] { one.index({0}); }), alone);
  EXPECT_EQ(error_text([&] { one[0]; }), alone);
  EXPECT_EQ(error_text([&] { one.index({5}); }), "index 5 is out of bounds for dimension 0 with size 0");
  EXPECT_EQ(error_text([&] { one.index({1}); }), "index 1 is out of bounds for dimension 0 with size 0");
  EXPECT_EQ(error_text([&] { one.index({-1}); }), "index -1 is out of bounds for dimension 0 with size 0");
  EXPECT_EQ(error_text([&] { one.index({Slice()}); }), "slice() cannot be applied to a 0-dim tensor.");
  EXPECT_EQ(error_text([&] { one.index({Slice({}, {}, 0)}); }), "slice step cannot be zero");
  EXPECT_EQ(error_text([&] { one.index({Slice({}, {}, -1)}); }), "step must be greater than zero");
  EXPECT_EQ(error_text([&] { one.index({places({0})}); }), "too many indices for tensor of dimension 0");
  Tensor meta = empty({2, 3}, Device::meta);
  EXPECT_EQ(error_text([&] { meta.index_put_({meta}, meta); }),
            "tensors used as indices must be long, int, byte or bool tensors");
  EXPECT_EQ(error_text([&] { one.index({0, 0}); }), "too many indices for tensor of dimension 0");
  EXPECT_EQ(seen(one.index({None})), "[1] [1] 7");
  EXPECT_EQ(seen(one.index({Ellipsis})), "[] [] 7");
  EXPECT_EQ(seen(one.index({true})), "[1] [1] 7");
  EXPECT_EQ(seen(one.index({false})), "[0] [1] 0");
}

/// The texts of a call's warnings, up to the first dot.
std::vector<std::string> warnings_of(const std::function<void()>& call) {
  std::vector<std::string> texts;
  set_warning_handler(
      [](const char*, const std::string& text, const std::string&, void* into) {
        static_cast<std::vector<std::string>*>(into)->push_back(text.substr(0, text.find('.')));
      },
      &texts);
  call();
  set_warning_handler(nullptr);
  return texts;
}

TEST(Indexing, MasksOfBytes) {
  const Tensor mask = tensor({true, false}), bytes = mask.to(uint8);
  const std::vector<std::string> warned =
      warnings_of([&] { EXPECT_EQ(seen(x.index({bytes})), seen(x.index({mask}))); });
  EXPECT_EQ(warned, std::vector<std::string>{"indexing with dtype torch"});
  EXPECT_TRUE(warnings_of([&] { EXPECT_EQ(seen(x.index({tensor(true).to(uint8)})), seen(x.unsqueeze(0))); }).empty());
  EXPECT_EQ(to_string(nonzero_places(tensor(3))[0]), "tensor([0])");
  EXPECT_EQ(to_string(nonzero_places(tensor(0))[0]), "tensor([], dtype=torch.int64)");
}

TEST(Indexing, MetaTensors) {
  const char* text = "Cannot copy out of meta tensor; no data!";
  const Tensor meta = empty({2}, Options(int64, Device::meta));
  Tensor self = zeros({2, 3});
  for (const Tensor& index : {meta, meta.to(bool_), empty({}, Options(bool_, Device::meta))}) {
    EXPECT_EQ(error_text([&] { self.index({index}); }), text);
    EXPECT_EQ(error_text([&] { self.index_put_({index}, ones({3})); }), text);
  }
  EXPECT_EQ(error_text([&] { self.index_put_({places({0})}, empty({3}, Device::meta)); }), text);
  EXPECT_EQ(error_text([&] { self.index_put_({tensor({true, false})}, empty({}, Device::meta)); }), text);
  EXPECT_EQ(error_text([&] { self.index_put_({0}, empty({}, Device::meta)); }), text);
  EXPECT_EQ(error_text([&] { nonzero_places(meta); }), text);
  Tensor to = empty({2, 3}, Device::meta);
  EXPECT_EQ(error_text([&] { to.index({places({0})}); }), "indexing a meta tensor with tensors is not supported");
  to.index_put_({places({0})}, ones({3}));  // checks nothing, writes nothing
  to.index_put_({true}, ones({3}));
  to.index_put_({empty({}, Options(bool_, Device::meta))}, ones({3}));
}

TEST(Indexing, AnInterruptEndsAReadAndNotAWrite) {
  const std::atomic<bool> stop{true};
  Tensor self = zeros({3});
  const InterruptGuard guard(stop);
  EXPECT_THROW(self.index({places({0})}), Interrupted);
}

TEST(Indexing, WritesWhatItNames) {
  Tensor zero = zeros({2, 3});
  zero.index_put_({Slice(), places({0, 2})}, tensor({1., 2.}));
  EXPECT_EQ(to_string(zero), "tensor([[1., 0., 2.],\n        [1., 0., 2.]])");
  zero.index_put_({zero.eq(0)}, tensor(7.));
  EXPECT_EQ(to_string(zero), "tensor([[1., 7., 2.],\n        [1., 7., 2.]])");
  zero.index_put_({places({0, 0})}, zero.index({places({1, 0})}).mul(2));
  EXPECT_EQ(to_string(zero), "tensor([[ 2., 14.,  4.],\n        [ 1.,  7.,  2.]])");
}

TEST(Indexing, ErrorsLeaveTheTensorAlone) {
  const struct {
    const char* want;
    void (*call)(Tensor& self);
  } cases[] = {
      {"index 5 is out of bounds for dimension 0 with size 2",
       [](Tensor& self) {
         self.index_put_({places({1, 5})}, tensor(1.));
       }},
      {"tensors used as indices must be long, int, byte or bool tensors",
       [](Tensor& self) { self.index({tensor({0.5})}); }},
      {"The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [2, 3] at index 0",
       [](Tensor& self) { self.index({ones({3}, bool_)}); }},
      {"too many indices for tensor of dimension 2 (got 3)",
       [](Tensor& self) {
         self.index({Ellipsis, Ellipsis, places({0})});
       }},
      {"too many indices for tensor of dimension 2",
       [](Tensor& self) {
         self.index({ones({2, 3}, bool_), places({0})});
       }},
      {"shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
       [](Tensor& self) {
         self.index({places({0, 1}), places({0, 1, 2})});
       }},
      {"shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of shape [6]",
       [](Tensor& self) {
         self.index_put_({self.eq(0)}, tensor({1., 2.}));
       }},
      {"Index put requires the source and destination dtypes match, got Float for the destination and Long for the "
       "source.",
       [](Tensor& self) { self.index_put_({places({0})}, tensor(1)); }},
      {"Index put requires the source and destination dtypes match, got Float for the destination and Long for the "
       "source.",
       [](Tensor& self) { self.index_put_({tensor(true)}, tensor(1)); }},
      {"Index put requires the source and destination dtypes match, got Float for the destination and Long for the "
       "source.",
       [](Tensor& self) {
         self.index_put_({ones({2}, bool_)}, tensor({{1}, {2}}));
       }},
      {"Index put requires the source and destination dtypes match, got Float for the destination and Long for the "
       "source.",
       [](Tensor& self) { self.index_put_({ones({2}, bool_)}, empty({}, Options(int64, Device::meta))); }},
      {"too many indices for tensor of dimension 2 (got 3)",
       [](Tensor& self) {
         self.index_put_({Ellipsis, Ellipsis, places({0})}, tensor(1.));
       }},
      {"The shape of the mask [3, 2] at index 1 does not match the shape of the indexed tensor [1, 2, 3] at index 3",
       [](Tensor& self) {
         self.unsqueeze(0).index({Ellipsis, Ellipsis, ones({3, 2}, bool_)});
       }},
      {"not enough memory for 288230376151711744 indices",
       [](Tensor& self) { self.index({places({0}).expand({int64_t{1} << 58})}); }},
  };
  for (const auto& c : cases) {
    Tensor self = zeros({2, 3});
    try {
      c.call(self);
      ADD_FAILURE() << c.want;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), c.want);
    }
    EXPECT_EQ(self.ne(0).sum().item<int64_t>(), 0) << c.want;
  }
}

std::string seen_or_text(const std::function<Tensor()>& call) {
  try {
    return seen(call());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Indexing, PlacesAtTheirBounds) {
  const Tensor none = empty({0, 3}, int64);
  EXPECT_EQ(seen_or_text([] { return x.index({0, 0, places({-4, 3})}); }), "[2] [1] 3");
  EXPECT_EQ(seen_or_text([] {
              return x.index({0, 0, places({4})});
            }),
            "index 4 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(seen_or_text([] {
              return x.index({0, 0, places({-5})});
            }),
            "index -5 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(seen_or_text([] {
              return x.index({0, 0, places({-4, 5})});
            }),
            "index 5 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(seen_or_text([] {
              return x.index({Slice(), places({0}), places({4})});
            }),
            "index 4 is out of bounds for dimension 1 with size 4");
  EXPECT_EQ(seen_or_text([&] { return none.index({places({0})}); }),
            "index is out of bounds for dimension with size 0");
  EXPECT_EQ(seen_or_text([&] { return none.index({places({0}).narrow(0, 0, 0)}); }), "[0, 3] [3, 1] 0");
  EXPECT_EQ(seen_or_text([&] { return none.index({Slice(), places({1, 1})}); }), "[0, 2] [2, 1] 0");
  EXPECT_EQ(seen_or_text([] {
              return x.index({ones({}, bool_), ones({}, bool_)});
            }),
            "[1, 2, 3, 4] [24, 12, 4, 1] 276");
  EXPECT_EQ(seen_or_text([] { return x.index({zeros({}, bool_)}); }), "[0, 2, 3, 4] [24, 12, 4, 1] 0");
  EXPECT_EQ(seen_or_text([] {
              return x.index({places({1}), 0, places({0}), places({0})});
            }),
            "too many indices for tensor of dimension 3");
}

TEST(IndexPut, LeadingOnesOfAValueAreOverlooked) {
  Tensor self = zeros({2, 3});
  self.index_put_({places({1})}, ones({1, 1, 1, 3}));
  self.index_put_({0}, full({1, 1, 3}, 2));
  EXPECT_EQ(to_string(self), "tensor([[2., 2., 2.],\n        [1., 1., 1.]])");
  self.index_put_({0}, full({3}, 4));
  self.index_put_({Slice(), 0}, full({}, 5));
  self.index_put_({Slice(1)}, full({1}, 6));
  EXPECT_EQ(to_string(self), "tensor([[5., 4., 4.],\n        [6., 6., 6.]])");
  const int64_t version = self.version();
  self.index_put_({places({0})}, zeros({3}));
  EXPECT_EQ(self.version(), version + 1);
}

TEST(IndexPut, RefusesWhatItWouldReadAndWrite) {
  const char* text =
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
      "location. Please clone() the tensor before performing the operation.";
  Tensor self = arange(3);
  EXPECT_EQ(error_text([&] { self.index_put_({places({0, -1}), None}, self); }), text);
  EXPECT_EQ(error_text([&] { self.index_put_({self}, places({2, 1, 0})); }), text);
  EXPECT_EQ(to_string(self), "tensor([0, 1, 2])");
  self.index_put_({places({0, 1})}, self.slice(0, 2, 3).expand({2}));  // elsewhere in the same memory
  EXPECT_EQ(to_string(self), "tensor([2, 2, 2])");
  Tensor eight = arange(8);  // where it is hard to tell, one place is written after the other
  eight.slice(0, 0, 6, 2).index_put_({places({2, 1, 0})}, eight.slice(0, 2, 8, 2));
  EXPECT_EQ(to_string(eight), "tensor([6, 1, 2, 3, 2, 5, 6, 7])");
  Tensor truths = ones({2}, bool_);
  truths.index_put_({truths}, tensor(false));  // a mask is read before anything is filled
  EXPECT_EQ(to_string(truths), "tensor([False, False])");
}

TEST(IndexPut, OneValueBehindOneMaskMayHaveAnotherDtype) {
  Tensor bytes = zeros({3}, uint8);
  bytes.index_put_({tensor({true, false, true})}, tensor(7.5));
  EXPECT_EQ(to_string(bytes), "tensor([7, 0, 7], dtype=torch.uint8)");
  EXPECT_THROW(bytes.index_put_({tensor({true, false, true})}, tensor(300)), Error);
  EXPECT_THROW(bytes.index_put_({tensor({true, false, true})}, tensor({1, 2})), Error);
  EXPECT_EQ(to_string(bytes), "tensor([7, 0, 7], dtype=torch.uint8)");
  Tensor square = zeros({2, 2}, uint8);
  const Tensor first = tensor({true, false});
  EXPECT_THROW(square.index_put_({first, first}, tensor(7.5)), Error) << "two masks";
  EXPECT_THROW(square.index_put_({first, places({0})}, tensor(7.5)), Error) << "a mask and places";
  try {
    square.index_put_({ones({3}, bool_)}, tensor(300));
    ADD_FAILURE();
  } catch (const IndexError&) {  // of the mask, before the value is looked at
  }
}

TEST(IndexPut, WarnsOfExpandedTensors) {
  Tensor three = zeros({1, 3}).expand({2, 3}), plain = zeros({2, 3});
  const Tensor mask = tensor({true, false});
  EXPECT_EQ(warnings_of([&] { three.index_put_({mask}, tensor(1.)); }),
            (std::vector<std::string>{"Use of index_put_ on expanded tensors is deprecated",
                                      "Use of masked_fill_ on expanded tensors is deprecated"}));
  EXPECT_EQ(warnings_of([&] { EXPECT_THROW(three.index_put_({ones({3}, bool_)}, tensor(1.)), IndexError); }).size(), 1u)
      << "the mask comes before the value";
  EXPECT_TRUE(warnings_of([&] { plain.index_put_({mask}, tensor(1.)); }).empty());
  EXPECT_TRUE(warnings_of([&] { plain.index_put_({places({0})}, tensor(1.)); }).empty());

  std::string seen_text;
  set_warning_handler([](const char*, const std::string& text, const std::string&,
                         void* into) { *static_cast<std::string*>(into) = text; },
                      &seen_text);
  Tensor expanded = zeros({1, 3}).expand({4, 3});
  expanded.index_put_({places({0})}, ones({3}));
  set_warning_handler(nullptr);
  EXPECT_EQ(seen_text.rfind("Use of index_put_ on expanded tensors is deprecated.", 0), 0u) << seen_text;
  EXPECT_EQ(expanded.sum().item<double>(), 12);
}

// --- Sums of 16-bit floats by an index

using Call = std::function<Tensor(const Tensor& self, const Tensor& source)>;

/// Compares with the same call in float32, rounded once.
void check_rounds_once(const char* why, const Tensor& self, const Tensor& source, const Call& call) {
  const Tensor want = call(self.to(float32), source.to(float32)).to(self.dtype()), before = self.clone();
  EXPECT_TRUE(eq(call(self, source), want).all().item<bool>())
      << why << " " << to_string(self.sizes()) << " " << to_string(source.sizes());
  EXPECT_TRUE(eq(self, before).all().item<bool>()) << why;
}
void check_halves(Dtype dtype, int64_t size, int64_t width, int64_t count) {
  const Tensor index = randint(0, size, {count}), spread = index.unsqueeze(1).expand({count, width});
  const Tensor rows = randn({size, width}).to(dtype), more = randn({count, width}).to(dtype);
  check_rounds_once("rows", rows, more, [&](auto& self, auto& source) { return self.index_add(0, index, source); });
  check_rounds_once("columns", rows.t(), more.t(),
                    [&](auto& self, auto& source) { return self.index_add(-1, index, source); });
  check_rounds_once("scatter_add", rows, more,
                    [&](auto& self, auto& source) { return self.scatter_add(0, spread, source); });
  check_rounds_once("amax", rows, more,
                    [&](auto& self, auto& source) { return self.scatter_reduce(0, spread, source, "amax", true); });
  check_rounds_once("prod without self", rows, more,
                    [&](auto& self, auto& source) { return self.scatter_reduce(0, spread, source, "prod", false); });
  Tensor target = rows.clone();
  target.index_add_(0, index, more);
  EXPECT_TRUE(eq(target, rows.index_add(0, index, more)).all().item<bool>());
  EXPECT_EQ(target.version(), 1u);
}

TEST(IndexAdd, HalvesAreRoundedOnceWhetherFewOrManyPartsAreNamed) {
  for (const Dtype dtype : {float16, bfloat16})
    for (const int64_t size : {400, 90, 3})
      for (const int64_t width : {1, 7, 31, 32, 47, 64, 99, 1025})
        for (const int64_t count : {1, 5, 60, 300}) check_halves(dtype, size, width, count);
  Tensor target = zeros({100, 3}, Options(float16));
  EXPECT_THROW(target.index_add_(0, tensor({100}), ones({1, 3}, Options(float16))), Error);
  EXPECT_THROW(target.scatter_add(0, tensor({{-1}}), ones({1, 1}, Options(float16))), Error);
  EXPECT_EQ(target.version(), 0u);
}

/// Masks with few and with many true elements, which end inside a word; elements that are just enough, or more.
TEST(MaskedScatter, WritesTheNextElementWhereTheMaskIsTrue) {
  manual_seed(8);
  for (const Dtype dtype : {uint8, int16, float32, int64, complex128})
    for (int64_t length = 1; length < 40; ++length)
      for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        const Tensor mask = rand({length}).lt(share), self = arange(100, 100 + length).to(dtype);
        const int64_t count = mask.sum().item<int64_t>();
        for (const int64_t more : {0, 1, 20}) {
          const Tensor source = arange(1, 1 + count + more).to(dtype);
          Tensor want = self.clone();
          for (int64_t i = 0, used = 0; i < length; ++i)
            if (mask[i].item<bool>()) want[i].copy_(source[used++]);
          Tensor written = self.clone(), strided = stack({self, self}, 1).select(1, 1);
          written.masked_scatter_(mask, source);
          strided.masked_scatter_(mask, source);
          const std::string where = dtype_name(dtype) + to_string(mask.sizes());
          EXPECT_TRUE(equal(masked_scatter(self, mask, source), want)) << where;
          EXPECT_TRUE(equal(written, want)) << where;
          EXPECT_TRUE(equal(strided, want)) << where;
        }
      }
}
TEST(MaskedScatter, ReadsItsOperandsBeforeItWrites) {
  const Tensor given = arange(20).to(float32), mask = given.remainder(3).eq(0);
  Tensor own = given.clone();
  const uint32_t version = own.version();
  own.masked_scatter_(mask, own);
  EXPECT_TRUE(equal(own, masked_scatter(given, mask, given)));
  EXPECT_GT(own.version(), version);
}

}  // namespace
}  // namespace tenon
