// Edge cases of shapes and strides: formats of five dims, 64 dims, sizes of 0 and 1, numbers near 2^63.
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>
#include <vector>

#include "tenon/error.h"
#include "tenon/shape.h"

namespace tenon {
namespace {

constexpr int64_t kHalf = int64_t{1} << 62;

std::string text_of(const std::function<Dims()>& call) {
  try {
    return to_string(call());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Layout, MemoryFormats) {
  const auto strides = [](SizesView sizes, MemoryFormat format) {
    return text_of([&] { return format_strides(sizes, format); });
  };
  EXPECT_EQ(strides({2, 3, 4, 5, 6}, MemoryFormat::channels_last_3d), "[360, 1, 90, 18, 3]");
  EXPECT_EQ(strides({2, 3, 4, 5}, MemoryFormat::channels_last), "[60, 1, 15, 3]");
  EXPECT_EQ(strides({2, 3, 4, 5}, MemoryFormat::contiguous), "[60, 20, 5, 1]");
  EXPECT_EQ(strides({2, 0, 4, 5}, MemoryFormat::channels_last), "[0, 1, 0, 0]");
  EXPECT_EQ(strides({}, MemoryFormat::contiguous), "[]");
  EXPECT_EQ(strides({2, 0, 3}, MemoryFormat::contiguous), "[3, 3, 1]");
  EXPECT_EQ(strides({2, 0, 3}, MemoryFormat::preserve), "[3, 3, 1]");
  EXPECT_EQ(strides({2, 3, 4, 5}, MemoryFormat::channels_last_3d),
            "required rank 5 tensor to use channels_last_3d format");
  EXPECT_EQ(strides({2, 3, 4, 5, 6}, MemoryFormat::channels_last),
            "required rank 4 tensor to use channels_last format");
}

TEST(Layout, IsContiguous) {
  const struct {
    const char* why;
    Dims sizes, strides;
    bool row_major, channels_last, channels_last_3d, dense;
  } cases[] = {
      {"no dims", {}, {}, true, false, false, true},
      {"row-major", {2, 3}, {3, 1}, true, false, false, true},
      {"transposed", {2, 3}, {1, 2}, false, false, false, true},
      {"a gap", {2, 3}, {4, 1}, false, false, false, false},
      {"a step", {3}, {2}, false, false, false, false},
      {"one element, any stride", {1, 1}, {7, 9}, true, false, false, true},
      {"no elements, any stride", {0, 3}, {7, 9}, true, false, false, true},
      {"row-major, four dims", {2, 3, 4, 5}, {60, 20, 5, 1}, true, false, false, true},
      {"channels last", {2, 3, 4, 5}, {60, 1, 15, 3}, false, true, false, true},
      {"one channel is both", {2, 1, 4, 5}, {20, 1, 5, 1}, true, true, false, true},
      {"channels last, no elements: not told", {2, 0, 4, 5}, {20, 1, 5, 1}, true, false, false, true},
      {"row-major, five dims", {2, 3, 4, 5, 6}, {360, 120, 30, 6, 1}, true, false, false, true},
      {"channels last of five dims", {2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}, false, false, true, true},
      {"five dims of one channel", {2, 1, 4, 5, 6}, {120, 1, 30, 6, 1}, true, false, true, true},
      {"five dims, no elements", {2, 0, 4, 5, 6}, {120, 1, 30, 6, 1}, true, false, false, true},
      {"expanded", {2, 3}, {0, 1}, false, false, false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(is_contiguous(c.sizes, c.strides), c.row_major) << c.why;
    EXPECT_EQ(is_contiguous(c.sizes, c.strides, MemoryFormat::channels_last), c.channels_last) << c.why;
    EXPECT_EQ(is_contiguous(c.sizes, c.strides, MemoryFormat::channels_last_3d), c.channels_last_3d) << c.why;
    EXPECT_EQ(is_non_overlapping_and_dense(c.sizes, c.strides), c.dense) << c.why;
  }
}

TEST(Layout, Expand) {
  const struct {
    const char* why;
    Dims sizes, strides, desired;
    const char* want;
  } cases[] = {
      {"nothing to do", {2, 3}, {3, 1}, {2, 3}, "[2, 3] [3, 1]"},
      {"a dim of size 1", {2, 1}, {1, 1}, {2, 4}, "[2, 4] [1, 0]"},
      {"kept by -1", {2, 1}, {5, 7}, {-1, -1}, "[2, 1] [5, 7]"},
      {"leading dims", {3}, {2}, {4, 3}, "[4, 3] [0, 2]"},
      {"leading dims of size 1 step over the rest", {3}, {2}, {1, 1, 3}, "[1, 1, 3] [6, 6, 2]"},
      {"leading dims over an expanded one", {1}, {1}, {1, 4}, "[1, 4] [0, 0]"},
      {"no dims", {}, {}, {}, "[] []"},
      {"no dims to dims of size 1", {}, {}, {1, 1}, "[1, 1] [0, 0]"},
      {"no dims to more", {}, {}, {2, 3}, "[2, 3] [0, 0]"},
      {"to no elements", {1, 3}, {3, 1}, {0, 3}, "[0, 3] [0, 1]"},
      {"too many",
       {2, 3},
       {3, 1},
       {4, 3},
       "The expanded size of the tensor (4) must match the existing size (2) at non-singleton dimension 0.  Target "
       "sizes: "
       "[4, 3].  Tensor sizes: [2, 3]"},
      {"-1 in front",
       {3},
       {1},
       {-1, 3},
       "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0"},
      {"too few dims",
       {2, 3},
       {3, 1},
       {3},
       "expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the "
       "number of dimensions in the tensor (2)"},
      {"too many elements", {1, 1}, {1, 1}, {kHalf, 2}, "numel: integer multiplication overflow"},
      {"a stride that overflows", {2}, {kHalf}, {1, 2}, "Stride calculation overflowed"},
  };
  for (const auto& c : cases) {
    Dims sizes, strides;
    const std::string text = text_of([&] {
      expand_layout(c.sizes, c.strides, c.desired, sizes, strides);
      return Dims{};
    });
    EXPECT_EQ(text == "[]" ? to_string(sizes) + " " + to_string(strides) : text, c.want) << c.why;
  }
}

TEST(Layout, InferredSizes) {
  const struct {
    Dims sizes;
    int64_t numel;
    const char* want;
  } cases[] = {
      {{2, -1}, 6, "[2, 3]"},
      {{-1}, 0, "[0]"},
      {{-1, 2}, 0, "[0, 2]"},
      {{}, 1, "[]"},
      {{1, 1}, 1, "[1, 1]"},
      {{0, 5}, 0, "[0, 5]"},
      {{2, -1}, 5, "shape '[2, -1]' is invalid for input of size 5"},
      {{2, 2}, 6, "shape '[2, 2]' is invalid for input of size 6"},
      {{0, 2}, 6, "shape '[0, 2]' is invalid for input of size 6"},
      {{0, -1}, 6, "shape '[0, -1]' is invalid for input of size 6"},
      {{2, 2}, 0, "shape '[2, 2]' is invalid for input of size 0"},
      {{}, 0, "shape '[]' is invalid for input of size 0"},
      {{-1, -1}, 6, "only one dimension can be inferred"},
      {{2, -2}, 6, "invalid shape dimension -2 at index 1 of shape [2, -2]"},
      {{0, -1},
       0,
       "cannot reshape tensor of 0 elements into shape [0, -1] because the unspecified dimension size -1 can be any "
       "value "
       "and is ambiguous"},
      {{kHalf, 4, 0}, 0, "numel: integer multiplication overflow"},
      {{0, kHalf, 2}, 0, "[0, 4611686018427387904, 2]"},
      {{kHalf, 2, -1}, 6, "shape '[4611686018427387904, 2, -1]' is invalid for input of size 6"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(text_of([&] { return infer_view_sizes(c.sizes, c.numel); }), c.want) << to_string(c.sizes) << c.numel;
}

TEST(Layout, StridesOfViews) {
  const struct {
    const char* why;
    Dims sizes, strides, desired;
    const char* want;
  } cases[] = {
      {"split", {6}, {2}, {2, 3}, "[6, 2]"},
      {"joined", {2, 3}, {3, 1}, {6}, "[1]"},
      {"joined with a step", {2, 3}, {6, 2}, {6}, "[2]"},
      {"a gap is in the way", {2, 3}, {4, 1}, {6}, "copy"},
      {"a gap between dims that stay", {2, 3}, {4, 1}, {2, 3}, "[4, 1]"},
      {"a gap between dims that are split", {4, 6}, {8, 1}, {2, 2, 2, 3}, "[16, 8, 3, 1]"},
      {"transposed", {2, 3}, {1, 2}, {3, 2}, "copy"},
      {"dims of size 1 anywhere", {2, 1, 3}, {3, 77, 1}, {1, 2, 3, 1}, "[6, 3, 1, 1]"},
      {"dims of size 1 are left out", {1, 6, 1}, {9, 1, 5}, {6}, "[1]"},
      {"across a gap", {2, 6}, {8, 1}, {4, 3}, "copy"},
      {"a part across a gap", {2, 6}, {7, 1}, {3, 4}, "copy"},
      {"no dims to one", {}, {}, {1}, "[1]"},
      {"one element to no dims", {1}, {5}, {}, "[]"},
      {"no elements, the same sizes", {0, 3}, {7, 9}, {0, 3}, "[7, 9]"},
      {"no elements, other sizes", {0, 3}, {7, 9}, {3, 0}, "[1, 1]"},
      {"expanded", {2, 3}, {0, 0}, {6}, "[0]"},
      {"expanded beside another", {2, 3}, {0, 1}, {6}, "copy"},
  };
  for (const auto& c : cases) {
    Dims strides;
    const bool can = view_strides(c.sizes, c.strides, c.desired, strides);
    EXPECT_EQ(can ? to_string(strides) : "copy", c.want) << c.why;
  }
}

TEST(Layout, Counts) {
  EXPECT_EQ(checked_numel({}), 1);
  EXPECT_EQ(checked_numel({2, 3, 4}), 24);
  EXPECT_EQ(checked_numel({INT64_MAX}), INT64_MAX);
  EXPECT_EQ(checked_numel({0, kHalf, 4}), 0);
  for (const Dims& sizes : {Dims{kHalf, 2}, Dims{kHalf, 4, 0}, Dims{-1}, Dims{-2, 3}})
    EXPECT_EQ(text_of([&] { return Dims{checked_numel(sizes)}; }), "numel: integer multiplication overflow")
        << to_string(sizes);
}

TEST(Dims, MoreThanTheyCountIsNoMemory) {
  Dims dims{1, 2};
  EXPECT_THROW(dims.resize(int64_t{1} << 31), std::bad_alloc);
  EXPECT_THROW(dims.resize(INT64_MAX), std::bad_alloc);
  EXPECT_EQ(to_string(dims), "[1, 2]");
}

TEST(Dims, CountedFromTheEnd) {
  EXPECT_EQ(wrap_dim(-1, 3), 2);
  EXPECT_EQ(wrap_dim(-3, 3), 0);
  EXPECT_EQ(wrap_dim(2, 3), 2);
  EXPECT_EQ(wrap_dim(0, 0), 0);
  EXPECT_EQ(wrap_dim(-1, 0), 0);
  EXPECT_EQ(wrap_existing_dim(-1, 1), 0);
  const auto text = [](int64_t dim, int64_t ndim) { return text_of([&] { return Dims{wrap_dim(dim, ndim)}; }); };
  EXPECT_EQ(text(3, 3), "Dimension out of range (expected to be in range of [-3, 2], but got 3)");
  EXPECT_EQ(text(-4, 3), "Dimension out of range (expected to be in range of [-3, 2], but got -4)");
  EXPECT_EQ(text(1, 1), "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  EXPECT_EQ(text(1, 0), "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  EXPECT_EQ(text_of([] { return Dims{wrap_existing_dim(0, 0)}; }),
            "Dimension specified as 0 but tensor has no dimensions");
}

TEST(Dims, Reduced) {
  EXPECT_EQ(text_of([] { return reduced_mask({}, 3); }), "[1, 1, 1]");
  EXPECT_EQ(text_of([] { return reduced_mask({}, 0); }), "[]");
  EXPECT_EQ(text_of([] { return reduced_mask({0, -1}, 0); }), "dim 0 appears multiple times in the list of dims");
  EXPECT_EQ(text_of([] { return reduced_mask({-1}, 3); }), "[0, 0, 1]");
  EXPECT_EQ(text_of([] { return reduced_mask({1, -2}, 3); }), "dim 1 appears multiple times in the list of dims");
  EXPECT_EQ(reduced_mask({0}, 64).size(), 64);
  EXPECT_EQ(reduced_mask({}, 65).size(), 65);
  EXPECT_EQ(text_of([] { return reduced_mask({0}, 65); }), "only tensors with up to 64 dims are supported");
  EXPECT_EQ(text_of([] { return reduced_shape({2, 3, 4}, {1, 0, 1}, true); }), "[1, 3, 1]");
  EXPECT_EQ(text_of([] { return reduced_shape({2, 3, 4}, {1, 0, 1}, false); }), "[3]");
  EXPECT_EQ(text_of([] { return sum_to_dims({2, 3, 4, 1}, {3, 1, 1}); }), "[0, 2]");
  EXPECT_EQ(text_of([] { return sum_to_dims({2, 3}, {2, 2}); }), "size {[2, 2]} is not expandable to size {[2, 3]}.");
}

TEST(Dims, BroadcastShapes) {
  const SizesView none[] = {SizesView()};
  EXPECT_EQ(text_of([&] { return broadcast_shapes(none, 0); }), "[]");
  EXPECT_EQ(text_of([] { return broadcast_shapes({{3, 1}, {2, 1, 4}, {}}); }), "[2, 3, 4]");
  EXPECT_EQ(text_of([] {
              return broadcast_shapes({{2}, {-1}});
            }),
            "Attempting to broadcast a dimension with negative length!");
  EXPECT_EQ(
      text_of([] {
        return broadcast_shapes({{2, 3}, {4}});
      }),
      "Attempting to broadcast a dimension of length 4 at -1! Mismatching argument at index 1 had (4,); but expected "
      "shape should be broadcastable to [2, 3]");
  EXPECT_EQ(
      text_of([] {
        return broadcast_shapes({{2, 3}, {4, 3}});
      }),
      "Attempting to broadcast a dimension of length 4 at -2! Mismatching argument at index 1 had (4, 3); but expected "
      "shape should be broadcastable to [2, 3]");
}

}  // namespace
}  // namespace tenon
