// tenon/span.h: elements of any layout for loops and algorithms, tensors over memory of the program, and the errors of
// wrong dtypes, layouts and indices.
#include "tenon/span.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include "error_text.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

template <class T>
std::vector<std::remove_const_t<T>> values_of(const Elements<T>& range) {
  return {range.begin(), range.end()};
}
const char* const kOverlap =
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation.";

// A span, a view of strides and a range need the tensor's memory: none is given of a temporary tensor.
template <class X>
concept Spannable = requires(X&& x) {
  as_span<float>(std::forward<X>(x));
};
template <class X>
concept Viewable = requires(X&& x) {
  strided_span<float, 2>(std::forward<X>(x));
};
static_assert(Spannable<const Tensor&> && !Spannable<Tensor>);
static_assert(Viewable<Tensor&> && !Viewable<Tensor>);

static_assert(std::random_access_iterator<Elements<float>::Iterator>);
static_assert(std::random_access_iterator<Elements<const float>::Iterator>);
static_assert(std::ranges::random_access_range<Elements<float>> && std::ranges::sized_range<Elements<float>>);
static_assert(std::is_convertible_v<StridedSpan<float, 2>, StridedSpan<const float, 2>>);
static_assert(!std::is_convertible_v<StridedSpan<const float, 2>, StridedSpan<float, 2>>);

TEST(Span, IsTheElements) {
  const Tensor x = arange(6.0).reshape({2, 3});
  const std::span<float> all = as_span<float>(x);
  EXPECT_EQ(all.data(), x.data_ptr());
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.f), 15);
  all[4] = 40;
  EXPECT_EQ(x.index({1, 1}).item<float>(), 40);
  EXPECT_EQ(as_span<const float>(x).size(), 6u);
  const Tensor point = scalar_tensor(7, int64), nothing = empty({3, 0}), z = tensor({Complex64{1, 2}});
  EXPECT_EQ(as_span<int64_t>(point).size(), 1u);
  EXPECT_TRUE(as_span<float>(nothing).empty());
  EXPECT_EQ(as_span<std::complex<float>>(z)[0], std::complex<float>(1, 2));
}

TEST(Span, Refuses) {
  const Tensor x = arange(6.0).reshape({2, 3}), turned = x.t(), none;
  const Tensor row = ones({3}).expand({2, 3}), one = ones({1}).expand({2}), meta = empty({2}, Device::meta);
  const struct {
    const char* why;
    std::function<void()> call;
    const char* want;
  } cases[] = {
      {"another dtype", [&] { as_span<double>(x); }, "expected scalar type Double but found Float"},
      {"another dtype of the same size", [&] { as_span<int32_t>(x); }, "expected scalar type Int but found Float"},
      {"columns", [&] { as_span<float>(turned); },
       "as_span: sizes [3, 2] with strides [1, 3] are not contiguous; contiguous() gives a tensor that is"},
      {"columns that are read", [&] { as_span<const float>(turned); },
       "as_span: sizes [3, 2] with strides [1, 3] are not contiguous; contiguous() gives a tensor that is"},
      {"a row that is written twice", [&] { as_span<float>(row); }, kOverlap},
      {"a row that is read twice", [&] { as_span<const float>(row); },
       "as_span: sizes [2, 3] with strides [0, 1] are not contiguous; contiguous() gives a tensor that is"},
      {"no data", [&] { as_span<float>(meta); }, "as_span: a meta tensor has no elements"},
      {"no tensor", [&] { as_span<float>(none); },
       "Expected a proper Tensor but got None (or an undefined Tensor in C++)"},
      {"a view of too many dims", [&] { strided_span<float, 3>(x); },
       "strided_span: a view of 3 dims of a tensor of 2"},
      {"a view of an expanded row", [&] { strided_span<float, 2>(row); }, kOverlap},
      {"a view of another dtype", [&] { strided_span<int64_t, 2>(x); }, "expected scalar type Long but found Float"},
      {"a view without data", [&] { strided_span<float, 1>(meta); }, "strided_span: a meta tensor has no elements"},
      {"elements that share memory", [&] { elements<float>(one); }, kOverlap},
      {"elements of another dtype", [&] { elements<bool>(x); }, "expected scalar type Bool but found Float"},
      {"elements without data", [&] { elements<float>(meta); }, "elements: a meta tensor has no elements"},
  };
  for (const auto& c : cases) EXPECT_EQ(error_text(c.call), c.want) << c.why;
}

TEST(At, CountsFromBothEnds) {
  const Tensor x = arange(6.0).reshape({2, 3}), turned = x.t();
  EXPECT_EQ(at<float>(x, 1, 2), 5);
  EXPECT_EQ(at<float>(x, -1, -3), 3);
  EXPECT_EQ(at<const float>(turned, 2, 0), 2);
  at<float>(turned, 2, -1) = 50;
  EXPECT_EQ(at<float>(x, 1, 2), 50);
  EXPECT_EQ(at<float>(scalar_tensor(7)), 7);
  EXPECT_EQ(at<const float>(ones({3}).expand({2, 3}), 1, 1), 1);
}

TEST(At, Refuses) {
  const Tensor x = arange(6.0).reshape({2, 3}), row = ones({3}).expand({2, 3}), nothing = empty({2, 0}),
               point = ones({});
  const struct {
    std::function<void()> call;
    const char* want;
  } cases[] = {
      {[&] { at<float>(x, 2, 0); }, "index 2 is out of bounds for dimension 0 with size 2"},
      {[&] { at<float>(x, 0, -4); }, "index -4 is out of bounds for dimension 1 with size 3"},
      {[&] { at<float>(x, 0, INT64_MIN); }, "index -9223372036854775808 is out of bounds for dimension 1 with size 3"},
      {[&] { at<float>(nothing, 0, 0); }, "index 0 is out of bounds for dimension 1 with size 0"},
      {[&] { at<float>(x, 0, 0, 0); }, "too many indices for tensor of dimension 2"},
      {[&] { at<float>(point, 0); }, "too many indices for tensor of dimension 0"},
      {[&] { at<float>(x, 0); }, "at: 1 indices for a tensor of 2 dims"},
      {[&] { at<float>(row, 0, 0); }, kOverlap},
      {[&] { at<double>(x, 0, 0); }, "expected scalar type Double but found Float"},
  };
  for (const auto& c : cases) EXPECT_EQ(error_text(c.call), c.want);
  EXPECT_THROW(at<float>(x, 2, 0), IndexError);
}

TEST(StridedSpan, ReachesEveryLayout) {
  const Tensor x = arange(24.0).reshape({2, 3, 4}), part = x.permute({2, 0, 1}).slice(0, 1, 4, 2);
  const auto view = strided_span<const float, 3>(part);
  EXPECT_EQ(view.rank(), 3u);
  EXPECT_EQ(view.extents(), (std::array<int64_t, 3>{2, 2, 3}));
  EXPECT_EQ(view.strides(), (std::array<int64_t, 3>{2, 12, 4}));
  EXPECT_EQ(view.size(), 12);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 2; ++j)
      for (int64_t k = 0; k < 3; ++k) EXPECT_EQ(view(i, j, k), at<float>(part, i, j, k)) << i << j << k;
  strided_span<float, 3>(part)(1, 1, 2) = -1;
  EXPECT_EQ(at<float>(x, 1, 2, 3), -1);
}

TEST(StridedSpan, OfNoDimsNoElementsAndAnExpandedRow) {
  const Tensor point = scalar_tensor(7), nothing = empty({0, 5}), row = arange(3.0).expand({2, 3});
  EXPECT_EQ((strided_span<float, 0>(point)()), 7);
  EXPECT_EQ((strided_span<float, 0>(point).size()), 1);
  EXPECT_TRUE((strided_span<float, 2>(nothing).empty()));
  const auto view = strided_span<const float, 2>(row);
  EXPECT_EQ(view.stride(0), 0);
  EXPECT_EQ(view(1, 2), 2);
}

TEST(Elements, AreInRowMajorOrder) {
  const Tensor x = arange(24.0).reshape({2, 3, 4});
  const Tensor layouts[] = {x,
                            x.permute({2, 0, 1}),
                            x.transpose(0, 1),
                            x.slice(2, 1, 4, 2),
                            x.select(1, 1),
                            x.select(1, 1).t(),
                            arange(3.0).unsqueeze(1).expand({3, 2}),
                            ones({1, 1}).expand({2, 2}),
                            x.unsqueeze(1).transpose(0, 3),
                            scalar_tensor(7),
                            empty({0}),
                            from_buffer(nullptr, {int64_t{1} << 40, 0, int64_t{1} << 40}, {0, 1, 0}, float32)};
  for (const Tensor& layout : layouts) {
    const Tensor dense = layout.contiguous();
    const std::span<const float> wanted = as_span<const float>(dense);
    const Elements<const float> range = elements<const float>(layout);
    EXPECT_TRUE(std::ranges::equal(range, wanted)) << to_string(layout.sizes()) << to_string(layout.strides());
    EXPECT_TRUE(std::equal(std::make_reverse_iterator(range.end()), std::make_reverse_iterator(range.begin()),
                           wanted.rbegin(), wanted.rend()));
    EXPECT_EQ(range.size(), wanted.size());
    for (std::size_t from = 0; from < wanted.size(); ++from)
      for (std::size_t to = 0; to < wanted.size(); ++to) {
        auto place = range.begin() + static_cast<std::ptrdiff_t>(from);
        place += static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
        EXPECT_EQ(*place, wanted[to]);
        EXPECT_EQ(&range[to], &*place);
        if (to + 1 == wanted.size()) continue;
        EXPECT_EQ(*++place, wanted[to + 1]);
      }
  }
}

TEST(Elements, AreForAlgorithms) {
  const Tensor x = tensor({{3, 1, 2}, {9, 7, 8}}, int32), turned = x.t();
  std::ranges::sort(elements<int32_t>(turned), std::greater<>());
  EXPECT_EQ(values_of(elements<int32_t>(turned)), (std::vector<int32_t>{9, 8, 7, 3, 2, 1}));
  EXPECT_TRUE(equal(x, tensor({{9, 7, 2}, {8, 3, 1}}, int32)));
  for (int32_t& value : elements<int32_t>(x.slice(1, 0, 3, 2))) value = 0;
  EXPECT_TRUE(equal(x, tensor({{0, 7, 0}, {0, 3, 0}}, int32)));
  // The range holds the tensor, so a loop over a temporary one is safe.
  float sum = 0;
  for (const float value : elements<const float>(ones({2, 3}) + ones({3}))) sum += value;
  EXPECT_EQ(sum, 12);
}

TEST(FromSpan, SharesMemory) {
  std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  Tensor x = from_span(std::span(numbers), {2, 3});
  x.add_(1);
  EXPECT_EQ(numbers, (std::vector<double>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(x.dtype(), float64);
  EXPECT_EQ(from_span(std::span(numbers).subspan(2)).sizes(), (SizesView{4}));
  EXPECT_EQ(from_span(std::span<float>()).sizes(), (SizesView{0}));
  EXPECT_EQ(error_text([&] {
              from_span(std::span(numbers), {2, 2});
            }),
            "from_span: sizes [2, 2] have 4 elements, the memory has 6");
  EXPECT_EQ(error_text([&] { from_span(std::span(numbers), {-2, -3}); }), "numel: integer multiplication overflow");
}

TEST(FromVector, OwnsMemory) {
  std::vector<int16_t> numbers{1, 2, 3};
  const int16_t* const before = numbers.data();
  EXPECT_EQ(error_text([&] { from_vector(std::move(numbers), {2}); }),
            "from_vector: sizes [2] have 2 elements, the memory has 3");
  EXPECT_EQ(numbers.data(), before);
  const Tensor x = from_vector(std::move(numbers));
  EXPECT_EQ(x.data_ptr(), before);
  EXPECT_TRUE(equal(x, tensor({1, 2, 3}, int16)));
}

}  // namespace
}  // namespace tenon
