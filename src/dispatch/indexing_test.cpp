#include <gtest/gtest.h>

#include <functional>

#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

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

std::string text_of(const std::function<Tensor()>& call) {
  try {
    return seen(call());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Indexing, PlacesAtTheirBounds) {
  const Tensor none = empty({0, 3}, int64);
  EXPECT_EQ(text_of([] { return x.index({0, 0, places({-4, 3})}); }), "[2] [1] 3");
  EXPECT_EQ(text_of([] {
              return x.index({0, 0, places({4})});
            }),
            "index 4 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(text_of([] {
              return x.index({0, 0, places({-5})});
            }),
            "index -5 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(text_of([] {
              return x.index({Slice(), places({0}), places({4})});
            }),
            "index 4 is out of bounds for dimension 1 with size 4");
  EXPECT_EQ(text_of([&] { return none.index({places({0})}); }), "index is out of bounds for dimension with size 0");
  EXPECT_EQ(text_of([&] { return none.index({places({0}).narrow(0, 0, 0)}); }), "[0, 3] [3, 1] 0");
  EXPECT_EQ(text_of([&] { return none.index({Slice(), places({1, 1})}); }), "[0, 2] [2, 1] 0");
  EXPECT_EQ(text_of([] { return x.index({ones({}, bool_), ones({}, bool_)}); }), "[1, 2, 3, 4] [24, 12, 4, 1] 276");
  EXPECT_EQ(text_of([] { return x.index({zeros({}, bool_)}); }), "[0, 2, 3, 4] [24, 12, 4, 1] 0");
  EXPECT_EQ(text_of([] {
              return x.index({places({1}), 0, places({0}), places({0})});
            }),
            "too many indices for tensor of dimension 3");
}

TEST(IndexPut, RefusesWhatItWouldReadAndWrite) {
  const char* text =
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
      "location. Please clone() the tensor before performing the operation.";
  const auto text_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  Tensor self = arange(3);
  EXPECT_EQ(text_of([&] { self.index_put_({places({0, -1}), None}, self); }), text);
  EXPECT_EQ(text_of([&] { self.index_put_({self}, places({2, 1, 0})); }), text);
  EXPECT_EQ(to_string(self), "tensor([0, 1, 2])");
  self.index_put_({places({0, 1})}, self.slice(0, 2, 3).expand({2}));  // elsewhere in the same memory
  EXPECT_EQ(to_string(self), "tensor([2, 2, 2])");
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
}

TEST(IndexPut, WarnsOfExpandedTensors) {
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

}  // namespace
}  // namespace tenon
