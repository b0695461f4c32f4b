// Shared by the tests of fused functions.
#pragma once
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tenon/fuse.h"
#include "tenon/ops.h"

namespace tenon::fuse_tests {

using Tensors = List<Tensor>;

inline void expect_same(const Tensor& fused, const Tensor& eager, const std::string& what) {
  ASSERT_EQ(fused.dtype(), eager.dtype()) << what;
  ASSERT_TRUE(fused.sizes() == eager.sizes()) << what;
  EXPECT_TRUE(fused.strides() == eager.strides()) << what;
  if (eager.numel() == 0) return;
  const Tensor same = eq(fused, eager).logical_or(ne(fused, fused).logical_and(ne(eager, eager)));
  EXPECT_TRUE(all(same).item().as_bool()) << what << "\n" << to_string(fused) << "\n" << to_string(eager);
}
inline void expect_same(const Tensors& fused, const Tensors& eager, const std::string& what) {
  ASSERT_EQ(fused.size(), eager.size());
  for (std::size_t i = 0; i < eager.size(); ++i) expect_same(fused[i], eager[i], what);
}

inline std::string error_of(const Fused::Function& function, const Tensors& inputs) {
  try {
    Fused{function}(inputs);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

struct Rows {
  const char* name;
  int passes;
  Fused::Function function;
};
inline const Rows kRows[] = {
    {"softmax", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor e = (x[0] - x[0].amax({-1}, true)).exp();
       return {e / e.sum({-1}, true)};
     }},
    {"softmax without keepdim, transposed", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor e = (x[0] - x[0].amax({-1}).unsqueeze(1)).exp();
       return {(e / e.sum({-1}).unsqueeze(-1)).t()};
     }},
    {"layer norm", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor d = x[0] - x[0].mean({-1}, true);
       return {d * ((d * d).mean({-1}, true) + 1e-5).rsqrt() * x[1], x[0].mean({-1})};
     }},
    {"a squared error in one pass", 1,
     [](const Tensors& x) -> Tensors { return {((x[0] - x[1]) * (x[0] - x[1])).sum()}; }},
    {"several reductions of the same elements", 3,
     [](const Tensors& x) -> Tensors {
       const Tensor low = x[0].min();
       return {(x[0] - low) / (x[0].max() - low), x[0].sum({0}), (x[0] * x[0]).mean(),
               x[0].to(float16).amax({0}, true)};
     }},
    {"the columns of long rows", 3,
     [](const Tensors& x) -> Tensors { return {(x[0] - x[0].mean({0})) / (x[0] * x[0]).mean({0}).sqrt()}; }},
    {"ops of rows", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor e = x[0].exp(), variance = e.var({1}, {}, true);
       return {(e - x[1]) / variance, e.argmax(1), (softmax(e, 1) * 2).cumsum(1), std::get<0>((e * 2).max(1)) + 1};
     }},
    {"distances", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor d = x[0].narrow(1, 0, 8).unsqueeze(1) - x[0].narrow(1, 8, 8).unsqueeze(0);
       return {(d * d).sum({-1})};
     }},
};

}  // namespace tenon::fuse_tests
