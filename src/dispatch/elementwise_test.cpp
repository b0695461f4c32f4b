// In-place and out= forms, devices and policies: what a call may write, what it refuses, and that an error changes
// nothing.
#include "dispatch/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "error_text.h"
#include "gtest/gtest.h"
#include "plan/plan.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/random.h"

namespace tenon {
namespace {

std::vector<double> values(const Tensor& tensor) {
  const Tensor dense = tensor.to(float64).contiguous();
  const double* data = dense.data<double>();
  return {data, data + dense.numel()};
}
using Values = std::vector<double>;

Tensor counted(int64_t count, Dtype dtype = float32) { return arange(count, dtype); }

TEST(Elementwise, WritesThatMeetAnInputGiveTheOutOfPlaceResult) {
  const struct {
    const char* why;
    std::function<Tensor()> call;
    Values want;
  } cases[] = {
      {"x += x.T",
       [] {
         Tensor x = counted(4).view({2, 2});
         return x.add_(x.t());
       },
       {0, 3, 3, 6}},
      {"x += x[0]",
       [] {
         Tensor x = counted(4).view({2, 2});
         return x.add_(x.select(0, 0));
       },
       {0, 2, 2, 4}},
      {"x += x[0, 1]",
       [] {
         Tensor x = counted(4).view({2, 2});
         return x.add_(x.select(0, 0).select(0, 1));
       },
       {1, 2, 3, 4}},
      {"every other one",
       [] {
         Tensor x = counted(6);
         return x.slice(0, 0, 6, 2).add_(x.slice(0, 1, 6, 2));
       },
       {1, 5, 9}},
      {"out= is an input",
       [] {
         Tensor x = counted(3);
         return add_out(x, x, x);
       },
       {0, 2, 4}},
      {"out= is a transposed input",
       [] {
         Tensor x = counted(4).view({2, 2});
         Tensor out = x.t();
         return sub_out(out, x, Arg(1)).contiguous();
       },
       {-1, 0, 1, 2}},
      {"a condition that is written",
       [] {
         Tensor x = tensor({true, false, true});
         return where_out(x, x, tensor({false, true, true}), tensor({true, true, false}));
       },
       {0, 1, 1}},
      {"copy of itself, reversed dims",
       [] {
         Tensor x = counted(4).view({2, 2});
         return x.copy_(x.t());
       },
       {0, 2, 1, 3}},
  };
  for (const auto& c : cases) {
    // A layout that overlaps itself may also be refused, with PyTorch's text.
    Values got;
    const std::string text = error_text([&] { got = values(c.call()); });
    if (text == "no error")
      EXPECT_EQ(got, c.want) << c.why;
    else
      EXPECT_EQ(text.substr(0, 21), "unsupported operation") << c.why;
  }
}

TEST(Elementwise, Refusals) {
  const Tensor cpu = ones({2, 3}), meta = ones({2, 3}, Device::meta), meta_scalar = ones({}, Device::meta);
  const Tensor bytes = ones({3}, int8), truths = ones({3}, bool_), halves = ones({3}, float16);
  const struct {
    const char* want;
    std::function<void()> call;
  } cases[] = {
      {"Tensor on device meta is not on the expected device cpu!", [&] { add(cpu, meta); }},
      {"Tensor on device cpu is not on the expected device meta!", [&] { add(meta, cpu); }},
      {"Tensor on device meta is not on the expected device cpu!", [&] { add(cpu, meta_scalar); }},
      {"no error", [&] { add(meta, tensor(1.0)); }},
      {"Attempting to copy from device cpu to device meta, but cross-device copies are not allowed!",
       [&] {
         Tensor out = meta.clone();
         add_out(out, cpu, cpu);
       }},
      {"Attempting to copy from device meta to device cpu, but cross-device copies are not allowed!",
       [&] {
         Tensor out = cpu.clone();
         add_out(out, meta, meta);
       }},
      {"Attempting to copy from device meta to device cpu, but cross-device copies are not allowed!",
       [&] {
         Tensor out = cpu.clone();
         sum_out(out, meta);
       }},
      {"Cannot copy out of meta tensor; no data!", [&] { cpu.clone().copy_(meta); }},
      {"Tensor on device meta is not on the expected device cpu!", [&] { mm(cpu, meta.t()); }},
      {"no error", [&] { mm(meta, cpu.t()); }},
      {"Cannot copy out of meta tensor; no data!",
       [&] {
         cpu.index({ones({2}, {int64, Device::meta})});
       }},
      {"Cannot copy out of meta tensor; no data!",
       [&] {
         cpu.index({ones({2}, {bool_, Device::meta})});
       }},
      {"Cannot copy out of meta tensor; no data!",
       [&] {
         cpu.index({ones({}, {bool_, Device::meta})});
       }},
      {"Cannot copy out of meta tensor; no data!",
       [&] {
         cpu.clone().index_put_({tensor({0, 1})}, meta);
       }},
      {"no error", [&] { meta.clone().copy_(cpu); }},
      {"no error",
       [&] {
         abs(ones({2}, {bool_, Device::meta}));
       }},
      {"no error",
       [&] {
         div(ones({2}, {int32, Device::meta}), 0, "floor");
       }},
      {"no error", [&] { div(empty({0}, int32), 0, "floor"); }},
      {"ZeroDivisionError", [&] { div(bytes, 256, "trunc"); }},
      {"ZeroDivisionError", [&] { div(bytes, tensor(256), "floor"); }},
      {"Found dtype Float but expected Char",
       [&] {
         Tensor out = empty({3});
         abs_out(out, bytes);
       }},
      {"Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
       "or `logical_not()` operator instead.",
       [&] {
         Tensor out = empty({3});
         neg_out(out, truths);
       }},
      {"value cannot be converted to type int8_t without overflow", [&] { clamp(bytes, 300); }},
      {"value cannot be converted to type float without overflow", [&] { clamp(cpu, 1e300); }},
      {"value cannot be converted to type c10::Half without overflow", [&] { clamp(halves, std::nullopt, 1e10); }},
      {"no error", [&] { clamp(halves, std::nan(""), 1e10); }},
      {"result type Float can't be cast to the desired output type signed char", [&] { bytes.clone().clamp_(0.5); }},
      {"\"clamp_cpu\" not implemented for 'Bool'", [&] { clamp(truths, truths, truths); }},
      {"no error", [&] { clamp(truths, truths); }},
      {"\"clamp_min_scalar_cpu\" not implemented for 'Bool'", [&] { clamp(truths, true); }},
      {"value cannot be converted to type int8_t without overflow", [&] { add(bytes, bytes, 128); }},
      {"no error", [&] { sub(bytes, bytes, 128); }},  // -128 fits
      {"The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
       [&] { add(bytes, ones({2}), true); }},
      {"Expected out type to be Float but got Char",
       [&] {
         Tensor out = bytes.clone();
         where_out(out, bytes, ones({3}), ones({3}));
       }},
      {"value cannot be converted to type int8_t without overflow", [&] { where(truths, bytes, 300); }},
      {"no error", [&] { where(truths, halves, 1e10); }},
      {"mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Char",
       [&] {
         Tensor out = empty({});
         mean_out(out, bytes);
       }},
  };
  for (const auto& c : cases) EXPECT_EQ(error_text(c.call), c.want);
}

TEST(Elementwise, ManyDims) {
  const Tensor a = counted(256).view({2, 1, 2, 4, 1, 2, 2, 4}), b = counted(8).view({2, 1, 1, 2, 1, 2, 1});
  const Dims shape{2, 2, 2, 4, 2, 2, 2, 4};
  const Tensor got = add(a, b);
  EXPECT_EQ(to_string(got.sizes()), to_string(shape));
  EXPECT_EQ(values(got), values(a.expand(shape).contiguous().add(b.expand(shape).contiguous())));
  EXPECT_EQ(values(sum(got, {0, 2, 4, 6})), values(sum(got.contiguous().sum(6).sum(4).sum(2), 0)));
}

TEST(Elementwise, NumbersAndZeros) {
  // 16-bit floats: add rounds a number first; mul and div do not.
  const Tensor x = tensor({1.0, 3.0, 100.0}).to(bfloat16);
  EXPECT_EQ(values(add(x, 0.3)), values(add(x, tensor({0.3}).to(bfloat16))));
  EXPECT_EQ(values(mul(x, 0.3)), values(mul(x.to(float32), 0.3).to(bfloat16)));
  EXPECT_EQ(values(0.3 * x), values(mul(x, 0.3)));
  Tensor out = empty({}, bfloat16);
  EXPECT_EQ(values(mean_out(out, tensor({1.0, 1.001, 1.005, 1.006}))), values(tensor(1.003).to(bfloat16)));
  EXPECT_EQ(values(maximum(tensor({0.0, -0.0}), tensor({-0.0, 0.0}))), (Values{0, 0}));
  EXPECT_TRUE(std::signbit(maximum(tensor({-0.0}), tensor({0.0})).item<double>()));
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<std::size_t>(x.nbytes())) == 0;
}

/// Numbers of both signs, most of them below `size`.
Tensor drawn(SizesView sizes, Dtype dtype, double size = 9) { return rand(sizes).sub(0.4).mul(size).to(dtype); }

// Rows of few elements in all are computed without a plan.
TEST(Elementwise, ShortBroadcastsOfEveryRowLength) {
  manual_seed(5);
  for (const Dtype dtype : {int8, float16, float32, int64, float64})
    for (const int64_t rows : {5, 40})
      for (int64_t length = 1; length <= 200; ++length) {
        const Tensor a = drawn({rows, length}, dtype), column = drawn({rows, 1}, dtype), row = drawn({length}, dtype);
        const Tensor gaps = drawn({rows, length + 3}, dtype).slice(1, 0, length);
        for (const Tensor& other : {column, row, gaps}) {
          // The same elements without a broadcast, one dim, in one call.
          const Tensor flat = other.expand({rows, length}).contiguous().view({-1}), self = a.view({-1});
          const Tensor product = mul(self, flat).view({rows, length});
          const std::string where = dtype_name(dtype) + to_string(a.sizes()) + to_string(other.strides());
          EXPECT_TRUE(same_bits(mul(a, other), product)) << where;
          EXPECT_TRUE(same_bits(mul(other, a), product)) << where;
          EXPECT_TRUE(same_bits(lt(other, a), lt(flat, self).view({rows, length}))) << where;
          Tensor out = empty({rows, length}, dtype), own = a.clone(), right = a.clone();
          EXPECT_TRUE(same_bits(mul_out(out, a, other), product)) << where << " out=";
          EXPECT_TRUE(same_bits(own.mul_(other), product)) << where << " in place";
          EXPECT_TRUE(same_bits(mul_out(right, other, right), product)) << where << " out= is the second operand";
        }
      }
}

/// Sizes of a view that leaves out some of its memory's elements, and the others.
Tensor with_gaps(const Tensor& values, Tensor& memory) {
  Dims sizes = values.sizes().copy();
  for (int64_t dim = std::max<int64_t>(0, sizes.size() - 2); dim < sizes.size(); ++dim) sizes[dim] += 2;
  Tensor view = memory = full(sizes, 77, values.dtype());
  for (int64_t dim = 0; dim < sizes.size(); ++dim) view = view.narrow(dim, 0, values.sizes()[dim]);
  return view.copy_(values);
}
/// The memory after `write(view)`, where the view had `before`; `after` is what is expected in the view.
void expect_written(const Tensor& before, const Tensor& after, const std::function<void(Tensor&)>& write,
                    const std::string& what) {
  Tensor memory, want;
  Tensor view = with_gaps(before, memory);
  with_gaps(after, want);
  write(view);
  EXPECT_TRUE(same_bits(memory, want)) << what << " of " << dtype_name(before.dtype()) << to_string(before.sizes());
}

TEST(Elementwise, SmallResultsWithGapsAreThoseWithout) {
  manual_seed(7);
  for (const Dtype dtype : {uint8, int32, int64, float16, float32, float64})
    for (const Dims& sizes :
         {Dims{9}, Dims{1, 5}, Dims{5, 1}, Dims{6, 7}, Dims{3, 40}, Dims{4, 3, 5}, Dims{2, 3, 4, 33}}) {
      const Tensor a = drawn(sizes, dtype), last = drawn({sizes.back()}, dtype);
      Dims first = sizes;
      first[sizes.size() - 1] = 1;
      Tensor unused;
      for (const Tensor& other :
           {drawn(sizes, dtype), last, drawn(first, dtype), with_gaps(drawn(sizes, dtype), unused)}) {
        const std::string where = to_string(other.sizes()) + to_string(other.strides());
        expect_written(
            a, sub(a, other), [&](Tensor& x) { x.sub_(other); }, "x - " + where);
        expect_written(
            a, maximum(other, a), [&](Tensor& x) { maximum_out(x, other, x); }, "maximum with " + where);
        expect_written(
            a, mul(a, other), [&](Tensor& x) { mul_out(x, a, other); }, "a * " + where);
        expect_written(
            a, lt(a, other).to(dtype), [&](Tensor& x) { lt_out(x, a, other); }, "a < " + where);
      }
      expect_written(
          a, add(a, 3), [&](Tensor& x) { x.add_(3); }, "x + 3");
      expect_written(
          a, sub(2, a), [&](Tensor& x) { sub_out(x, 2, x); }, "2 - x");
      const Tensor flags = lt(a, 2), none = zeros(sizes, bool_);
      expect_written(
          none, flags, [&](Tensor& x) { lt_out(x, a, 2); }, "a < 2");
      expect_written(
          flags, logical_and(flags, none), [&](Tensor& x) { x.logical_and_(none); }, "and");
    }
}

TEST(Elementwise, SmallViewsAloneAndBesideNumbersAreAsTheirCopies) {
  manual_seed(8);
  const std::pair<const char*, std::function<Tensor(const Tensor&)>> calls[] = {
      {"x * 2", [](const Tensor& x) { return mul(x, 2); }},
      {"3 - x", [](const Tensor& x) { return sub(3, x); }},
      {"x < 1", [](const Tensor& x) { return lt(x, 1); }},
      {"x * 1.5", [](const Tensor& x) { return mul(x, 1.5); }},
      {"x / 4", [](const Tensor& x) { return div(x, 4); }},
      {"x + x", [](const Tensor& x) { return add(x, x); }},
      {"-x", [](const Tensor& x) { return neg(x); }},
      {"clamp(x, 1, 3)", [](const Tensor& x) { return clamp(x, 1, 3); }},
      {"x + 2 x", [](const Tensor& x) { return add(x, x, 2); }},
      {"exp(x)", [](const Tensor& x) { return exp(x); }},
      {"signbit(x)", [](const Tensor& x) { return signbit(x); }},
      {"logical_not(x)", [](const Tensor& x) { return logical_not(x); }},
      {"x and 2", [](const Tensor& x) { return logical_and(x, tensor(2)); }}};
  for (const Dtype dtype : {uint8, int32, int64, bfloat16, float32, float64}) {
    const Tensor x = drawn({6, 5, 7}, dtype);
    const Tensor views[] = {x.slice(2, 0, 4),
                            x.select(2, 1),
                            x.select(0, 2).t(),
                            x.permute({2, 0, 1}),
                            x.permute({1, 2, 0}).slice(1, 0, 3),
                            x.slice(2, 0, 7, 3),
                            x.slice(0, 0, 1).expand({4, 5, 7}),
                            x.as_strided({1, 5, 1, 7}, {3, 7, 2, 1}),
                            x.as_strided({5, 1, 6}, {1, 9, 5}),
                            x.slice(1, 0, 0).permute({2, 1, 0})};
    for (const Tensor& view : views)
      for (const auto& [name, call] : calls) {
        const Tensor got = call(view);
        const std::string what = std::string(name) + ", " + dtype_name(dtype) + to_string(view.strides());
        EXPECT_TRUE(same_bits(got, call(view.contiguous()))) << what;
      }
  }
}

TEST(Elementwise, SmallDenseOutputsOfAnyOrderAreAsTheirCopies) {
  manual_seed(9);
  for (const Dtype dtype : {uint8, int64, bfloat16, float32}) {
    const Tensor x = drawn({4, 5, 6}, dtype);
    for (const Dims& order : {Dims{2, 1, 0}, Dims{0, 2, 1}, Dims{1, 2, 0}}) {
      const Tensor a = x.permute(order), b = drawn({4, 5, 6}, dtype).permute(order);
      Tensor out = drawn({4, 5, 6}, dtype).permute(order);
      EXPECT_TRUE(same_bits(mul_out(out, a, b), mul(a.contiguous(), b.contiguous())));
      EXPECT_TRUE(same_bits(out.mul_(a), mul(mul(a.contiguous(), b.contiguous()), a.contiguous())));
      const Tensor before = out.contiguous();
      const uint32_t version = out.version();
      EXPECT_TRUE(same_bits(out.neg_(), neg(before)));
      EXPECT_TRUE(same_bits(out.clamp_(1, 3), clamp(neg(before), 1, 3)));
      EXPECT_EQ(out.version(), version + 2);
      Tensor other = drawn({4, 5, 6}, dtype).permute({0, 2, 1}).contiguous().permute({0, 2, 1});
      EXPECT_TRUE(same_bits(add_out(other, other, 1), other)) << "in another order";
    }
  }
  Tensor square = counted(9).view({3, 3});
  EXPECT_THROW(square.t().add_(square), Error) << "the same memory, turned";
  EXPECT_EQ(values(square), values(counted(9)));
}

TEST(Elementwise, TwoNumbersGiveOne) {
  EXPECT_EQ(values(add(1, 2)), (Values{3}));
  EXPECT_EQ(add(1, 2).dtype(), int64);
  Tensor out = zeros({2, 2}).t().slice(0, 0, 1).select(1, 0).select(0, 0);
  EXPECT_EQ(values(mul_out(out, 2, 2.5)), (Values{5}));
}

TEST(Elementwise, ResultsWithGapsThatMeetAnInputOrHaveAnotherShape) {
  Tensor x = counted(24).view({4, 6});
  Tensor left = x.slice(1, 0, 4);
  left.add_(x.slice(1, 2, 6));  // shares memory: as if computed before
  EXPECT_EQ(values(left), (Values{2, 4, 6, 8, 14, 16, 18, 20, 26, 28, 30, 32, 38, 40, 42, 44}));
  Tensor part = zeros({2, 6}).slice(1, 0, 4);
  EXPECT_EQ(error_text([&] {
              part.add_(ones({3, 2, 4}));
            }),
            "output with shape [2, 4] doesn't match the broadcast shape [3, 2, 4]");
  Tensor same = ones({3, 1}).expand({3, 4});
  EXPECT_THROW(same.add_(1), Error);
  EXPECT_EQ(values(same), Values(12, 1));
  Tensor memory = zeros({1, 6}), whole = memory.slice(1, 0, 4);
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  EXPECT_EQ(values(add_out(whole, ones({4}), ones({4}))), Values(4, 2)) << "resized to the operands' shape";
  set_warning_handler(nullptr);
  EXPECT_EQ(whole.sizes(), (Dims{4}));
}

using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;

TEST(Elementwise, MixedDtypesAreThoseOfCastOperands) {
  manual_seed(6);
  constexpr double kSize = 9000;          // 16-bit floats round such integers
  const int64_t rows = 300, length = 40;  // so many that small operands are cast before
  const std::pair<const char*, Binary> calls[] = {
      {"add", [](const Tensor& a, const Tensor& b) { return add(a, b); }},
      {"add with alpha", [](const Tensor& a, const Tensor& b) { return add(b, a, 2); }},
      {"div", [](const Tensor& a, const Tensor& b) { return div(a, b); }},
      {"lt", [](const Tensor& a, const Tensor& b) { return lt(a, b); }},
      {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); }},
      {"where", [](const Tensor& a, const Tensor& b) { return where(lt(a, 0), a, b); }},
      {"where, first", [](const Tensor& a, const Tensor& b) { return where(gt(a, 1), b, a); }},
      {"clamp", [](const Tensor& a, const Tensor& b) { return clamp(a, b, b); }},
      {"addcmul", [](const Tensor& a, const Tensor& b) { return addcmul(a, b, a, 2); }},
  };
  for (const Dtype large : {float32, int32, float16, bfloat16})
    for (const Dtype dtype : {int64, float64, float16, float32, bool_, uint8}) {
      const Tensor a = drawn({rows, length}, large, kSize);
      const Tensor smalls[] = {drawn({length}, dtype, kSize),
                               drawn({rows, 1}, dtype, kSize),
                               drawn({}, dtype, kSize),
                               drawn({1, length * 2}, dtype, kSize).slice(1, 0, {}, 2),
                               drawn({3, rows}, dtype, kSize).t().slice(1, 1, 2),
                               drawn({1, 1}, dtype, kSize).expand({rows, 1})};
      for (const Tensor& small : smalls) {
        if (itemsize(large) == 2 && small.dim() == 0) continue;  // a divisor of one element is not rounded
        const Dtype common = result_type(a, small);
        const Tensor wide = a.to(common), cast = small.to(common);
        const std::string where = std::string(dtype_name(large)) + ", " + dtype_name(dtype) + to_string(small.sizes());
        for (const auto& [name, call] : calls) {
          EXPECT_TRUE(same_bits(call(a, small), call(wide, cast))) << name << " of " << where;
        }
        const Tensor sum = add(wide, cast);
        Tensor out = empty({rows, length}, common), own = wide.clone();
        EXPECT_TRUE(same_bits(add_out(out, a, small), sum)) << "out= of " << where;
        EXPECT_TRUE(same_bits(add_out(own, small, own), sum)) << "out= is an operand of " << where;
        if (!can_cast(common, large)) continue;
        Tensor self = a.clone();
        EXPECT_TRUE(same_bits(self.add_(small), sum.to(large))) << "in place of " << where;
      }
    }
}

// --- policies -------------------------------------------------------------------------------------------------------

struct Heard {
  std::vector<std::string> texts;
  Heard() {
    set_warning_handler([](const char*, const std::string& text, const std::string&,
                           void* to) { static_cast<Heard*>(to)->texts.push_back(text); },
                        this);
  }
  ~Heard() { set_warning_handler(nullptr); }
};

TEST(Policy, RankAndOuter) {
  const Tensor row = ones({3}), column = ones({3, 1}), matrix = ones({3, 3});
  const struct {
    const char* policy;
    std::function<void()> call;
    bool refused;
  } cases[] = {
      {"rank=raise", [&] { add(matrix, row); }, true},
      {"rank=raise", [&] { add(matrix, column); }, false},
      {"rank=raise", [&] { add(matrix, tensor(1.0)); }, false},
      {"rank=raise", [&] { matrix.clone().add_(row); }, true},
      {"rank=raise",
       [&] {
         Tensor out = empty({3, 3});
         add_out(out, matrix, row);
       },
       true},
      {"outer=raise", [&] { add(row, column); }, true},
      {"outer=raise", [&] { add(matrix, row); }, false},
      {"outer=raise",
       [&] {
         Tensor out = empty({3, 3});
         add_out(out, row, column);
       },
       true},
      {"raise", [&] { add(matrix, 2); }, false},
      {"raise", [&] { add(matrix, matrix); }, false},
      {"blow_up=2",
       [&] {
         add(ones({100, 1}), ones({100}));
       },
       true},
      {"blow_up=50.5",
       [&] {
         add(ones({100, 1}), ones({100}));
       },
       false},
      {"blow_up=2",
       [&] {
         Tensor out = empty({0});
         add_out(out, ones({100, 1}), ones({100}));
       },
       true},
      {"blow_up=1", [&] { matrix.clone().add_(row); }, false},
      {"blow_up=2",
       [&] {
         ones({100, 1}, Device::meta).add(ones({100}, Device::meta));
       },
       true},
  };
  for (const auto& c : cases) {
    const PolicyGuard guard(parse_broadcast_policy(c.policy));
    EXPECT_EQ(error_text(c.call) != "no error", c.refused) << c.policy;
  }
  Heard heard;
  {
    const PolicyGuard guard(parse_broadcast_policy("warn"));
    add(row, column);
  }
  EXPECT_EQ(heard.texts.size(), 2u);
  EXPECT_EQ(error_text([&] { add(row, column); }), "no error");
}

TEST(Policy, ARefusedResultLeavesOutAlone) {
  const PolicyGuard guard(parse_broadcast_policy("blow_up=2"));
  Tensor out = counted(2);
  EXPECT_NE(error_text([&] { add_out(out, ones({100, 1}), ones({100})); }), "no error");
  EXPECT_EQ(values(out), (Values{0, 1}));
}

TEST(Backcompat, BroadcastWarning) {
  Heard heard;
  backcompat::set_broadcast_warning(true);
  add(ones({4, 1}), ones({4}));
  add(ones({4}), ones({4}));
  add(ones({4, 2}), ones({2}));
  ones({1, 4}).add_(ones({4}));
  backcompat::set_broadcast_warning(false);
  add(ones({4, 1}), ones({4}));
  ASSERT_EQ(heard.texts.size(), 2u);
  EXPECT_EQ(heard.texts[0].substr(0, 76),
            "self and other do not have the same shape, but are broadcastable, and have t");
}

TEST(Backcompat, Pointwise1d) {
  Heard heard;
  const Tensor a = counted(6).view({2, 3}), b = counted(6).view({3, 2});
  EXPECT_NE(error_text([&] { add(a, b); }), "no error");
  backcompat::set_pointwise_1d(true);
  const Tensor got = add(a, b);
  EXPECT_EQ(to_string(got.sizes()), "[2, 3]");
  EXPECT_EQ(values(got), (Values{0, 2, 4, 6, 8, 10}));
  Tensor self = a.clone(), out = empty({0});
  EXPECT_EQ(values(self.add_(b, 2)), (Values{0, 3, 6, 9, 12, 15}));
  EXPECT_EQ(to_string(add_out(out, a, b).sizes()), "[2, 3]");
  EXPECT_EQ(values(a.t().clone().add_(counted(6).view({6}))).size(), 6u);
  EXPECT_NE(error_text([&] { add(a, ones({4})); }), "no error");
  backcompat::set_pointwise_1d(false);
  ASSERT_GE(heard.texts.size(), 4u);
  EXPECT_EQ(heard.texts[0],
            "self and other not broadcastable, but have the same number of elements.  Falling back to deprecated "
            "pointwise behavior.");
  EXPECT_EQ(heard.texts[1],
            "other is not broadcastable to self, but they have the same number of elements.  Falling back to "
            "deprecated pointwise behavior.");
}

// --- fills, copies, sizes -------------------------------------------------------------------------------------------

TEST(Copies, FillsAndOverlaps) {
  Tensor x = zeros({1}).expand({4});
  EXPECT_EQ(values(x.fill_(2)), (Values{2, 2, 2, 2}));
  EXPECT_EQ(error_text([&] { x.fill_(tensor(3.0)); }).substr(0, 21), "unsupported operation");
  EXPECT_EQ(error_text([&] { x.copy_(ones({4})); }).substr(0, 21), "unsupported operation");
  Tensor y = counted(5);
  EXPECT_EQ(values(y.fill_(y.select(0, 3))), (Values{3, 3, 3, 3, 3}));
  Tensor z = counted(5);
  EXPECT_EQ(error_text([&] { z.slice(0, 1, 5).copy_(z.slice(0, 0, 4)); }).substr(0, 21), "unsupported operation");
  EXPECT_EQ(error_text([&] { empty({2}, uint8).fill_(-7.25); }),
            "value cannot be converted to type uint8_t without overflow");
}

/// Small views of a tensor, in any order and with gaps.
std::vector<Tensor> small_views(const Tensor& whole) {
  return {whole,
          whole.slice(2, 0, 8),
          whole.slice(2, 1, 12, 3),
          whole.permute({2, 0, 1}),
          whole.select(2, 3),
          whole.select(0, 1).select(1, 2),
          whole.slice(0, 0, 2).slice(1, 1, 4),
          whole.slice(1, 0, 1),
          whole.select(0, 0).select(0, 0).select(0, 5)};
}

TEST(Copies, SmallViewsAreFilledAndNothingBesideThem) {
  for (const Dtype dtype : {bool_, uint8, float16, int32, float64, complex128})
    for (std::size_t which = 0; which < 9; ++which) {
      const Tensor filled = zeros({3, 10, 12}, Options(dtype)), copied = zeros({3, 10, 12}, Options(dtype));
      Tensor view = small_views(filled)[which], other = small_views(copied)[which];
      const Tensor ones_there = ones(view.sizes(), Options(dtype));
      view.fill_(1);
      other.copy_(ones_there);
      EXPECT_TRUE(equal(view, ones_there)) << dtype_name(dtype) << " " << which;
      EXPECT_TRUE(equal(filled, copied)) << dtype_name(dtype) << " " << which;
      EXPECT_EQ(filled.to(float64).sum().item().to<double>(), static_cast<double>(view.numel()));
    }
}

TEST(Copies, SmallViewsAreCopiedIntoSmallViews) {
  for (const Dtype dtype : {bool_, uint8, float16, int32, float64, complex128}) {
    const Tensor source = arange(360).remainder(2).to(dtype).view({3, 10, 12});
    for (std::size_t which = 0; which < 9; ++which) {
      const Tensor whole = zeros({3, 10, 12}, Options(dtype));
      Tensor view = small_views(whole)[which];
      const Tensor from = small_views(source)[which];
      view.copy_(from);
      EXPECT_TRUE(equal(view, from)) << dtype_name(dtype) << " " << which;
      EXPECT_TRUE(equal(whole.to(float64).sum(), from.to(float64).sum())) << dtype_name(dtype) << " " << which;
    }
  }
}

// PyTorch 2.13 writes both elements of place 4, that of the second row first.
TEST(Copies, ElementsThatLieInOnePlaceAreWrittenInPytorchsOrder) {
  const Tensor got = as_strided_scatter(zeros({8}), counted(6).view({2, 3}), {2, 3}, {2, 2});
  EXPECT_EQ(values(got), (Values{0, 0, 1, 0, 2, 0, 5, 0}));
}

TEST(Copies, ResizeKeepsElementsAndForeignMemory) {
  Tensor x = counted(4);
  const Tensor view = x.slice(0, 1, 3);
  x.resize_({2, 4});
  EXPECT_EQ(values(x.view({8}).slice(0, 0, 4)), (Values{0, 1, 2, 3}));
  EXPECT_EQ(values(view), (Values{1, 2}));
  float buffer[4] = {1, 2, 3, 4};
  int freed = 0;
  {
    Tensor foreign = from_buffer(
        buffer, {4}, float32, [](void*, void* count) { ++*static_cast<int*>(count); }, &freed);
    EXPECT_EQ(error_text([&] { foreign.resize_({5}); }), "Trying to resize storage that is not resizable");
    EXPECT_EQ(error_text([&] { foreign.resize_({2}); }), "no error");
    const Tensor part = foreign.slice(0, 1, 2);
    foreign = Tensor();
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
}

// The last block of a transposed operand may have any number of columns, including one.
TEST(Copies, OfTransposedIntoOutputsWithGaps) {
  for (const int64_t cols : {1, 127, 128, 129, 130, 257, 385}) {
    const Tensor turned = counted(8 * cols).view({cols, 8}).t();
    for (const int64_t step : {1, 2, 3}) {
      Tensor wide = full({8, cols * step}, -1.0), out = wide.slice(1, 0, cols * step, step);
      out.copy_(turned);
      EXPECT_EQ(values(out), values(turned.contiguous())) << cols << " step " << step;
      EXPECT_EQ(wide.sum().item<double>(), turned.sum().item<double>() - static_cast<double>(8 * cols * (step - 1)))
          << "gaps are left alone: " << cols << " step " << step;
      Tensor added = full({8, cols * step}, -1.0).slice(1, 0, cols * step, step);
      add_out(added, turned, turned);
      EXPECT_EQ(values(added), values((turned * 2).contiguous())) << cols << " step " << step;
    }
  }
}

/// Operands of drawn shapes that broadcast, row-major, some of them at an offset.
class DrawnOperands {
 public:
  explicit DrawnOperands(uint64_t seed) : random_(seed) {
    const int64_t ndim = below(3) + 1;
    int64_t left = 6000;
    for (int64_t dim = 0; dim < ndim; ++dim) {
      sizes_.push_back(1 + below(std::min<int64_t>(left, below(2) == 0 ? 9 : 200)));
      left /= sizes_[dim];
    }
  }
  Tensor next(Dtype dtype) {
    Dims sizes = sizes_;
    for (int64_t& size : sizes)
      if (below(3) == 0) size = 1;
    if (sizes.size() > 1 && sizes[0] == 1 && below(2) == 0) sizes = Dims(sizes.data() + 1, sizes.size() - 1);
    const int64_t numel = numel_of(sizes), skipped = below(3);
    const Tensor values = arange(numel + skipped).mul(below(5) + 1).remainder(below(2) == 0 ? 2 : 11).sub(1);
    return values.to(dtype).slice(0, skipped, numel + skipped).view(sizes);
  }
  int64_t below(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }

 private:
  std::mt19937_64 random_;
  Dims sizes_;
};
constexpr Dtype kDrawnDtypes[] = {uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64};

TEST(SmallBroadcasts, OfTwoGiveWhatExpandedOperandsGive) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    DrawnOperands drawn(seed);
    const Dtype dtype = kDrawnDtypes[drawn.below(9)],
                other = drawn.below(2) == 0 ? dtype : kDrawnDtypes[drawn.below(9)];
    const Tensor a = drawn.next(dtype), b = drawn.next(other);
    const Tensor sum = a + b, less = a.lt(b);
    const Tensor wide_a = a.expand(sum.sizes()).to(sum.dtype()).contiguous();
    const Tensor wide_b = b.expand(sum.sizes()).to(sum.dtype()).contiguous();
    const std::string what = "seed " + std::to_string(seed) + " " + to_string(a.sizes()) + " " + to_string(b.sizes());
    ASSERT_EQ(values(sum), values(wide_a + wide_b)) << what;
    ASSERT_EQ(values(less), values(wide_a.lt(wide_b))) << what;
    Tensor out = full(sum.sizes(), 3, sum.dtype());
    ASSERT_EQ(values(add_out(out, a, b)), values(sum)) << what;
    if (a.sizes() != sum.sizes() || a.dtype() != sum.dtype()) continue;
    ASSERT_EQ(values(a.clone().add_(b)), values(sum)) << what;
  }
}

TEST(SmallBroadcasts, OfThreeGiveWhatExpandedOperandsGive) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    DrawnOperands drawn(seed);
    const Dtype dtype = kDrawnDtypes[drawn.below(9)];
    const Tensor condition = drawn.next(bool_), a = drawn.next(dtype), b = drawn.next(dtype);
    const Tensor chosen = where(condition, a, b);
    const auto wide = [&](const Tensor& operand) { return operand.expand(chosen.sizes()).contiguous(); };
    const std::string what = "seed " + std::to_string(seed) + " " + to_string(condition.sizes()) + " " +
                             to_string(a.sizes()) + " " + to_string(b.sizes());
    ASSERT_EQ(values(chosen), values(where(wide(condition), wide(a), wide(b)))) << what;
    const Tensor beside_number = where(condition, a, 1);
    ASSERT_EQ(values(beside_number.expand(chosen.sizes())), values(where(wide(condition), wide(a), 1))) << what;
    Tensor out = full(chosen.sizes(), 3, dtype);
    ASSERT_EQ(values(where_out(out, condition, a, b)), values(chosen)) << what;
    if (!is_floating_point(dtype)) continue;
    const Tensor weight = condition.to(dtype);
    ASSERT_EQ(values(lerp(a, b, weight)), values(lerp(wide(a), wide(b), wide(weight)))) << what;
    if (a.sizes() != chosen.sizes()) continue;
    ASSERT_EQ(values(a.clone().lerp_(b, weight)), values(lerp(wide(a), wide(b), wide(weight)))) << what;
  }
}

#ifndef TENON_SANITIZED
// Misaligned memory, as other libraries may pass. The processor allows it; the sanitizer does not.
TEST(Copies, LargeOutputsBetweenElements) {
  const Tensor values_of = rand({3000, 1500}), other = rand({3000, 1500});
  std::vector<std::byte> buffer(static_cast<std::size_t>(values_of.nbytes()) + 64);
  for (const int64_t shift : {1, 2, 3, 6}) {
    Tensor out = from_buffer(buffer.data() + shift, {3000, 1500}, float32);
    add_out(out, values_of, other);
    EXPECT_TRUE(eq(out, values_of + other).all().item<bool>()) << shift;
    out.copy_(values_of);
    EXPECT_TRUE(eq(out, values_of).all().item<bool>()) << shift;
  }
}
#endif

}  // namespace
}  // namespace tenon
