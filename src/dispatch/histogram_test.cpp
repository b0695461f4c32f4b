// histogram and histc in C++: each element lies in one interval, the last of which includes its upper end.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/schema.h"

namespace tenon {
namespace {

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> all;
  for (int64_t i = 0; i < tensor.numel(); ++i) all.push_back(tensor.reshape({-1}).select(0, i).item().to<double>());
  return all;
}
using Numbers = std::vector<double>;

TEST(Histogram, EdgesAreGivenOrEven) {
  const Tensor x = tensor({0.0, 1.0, 1.5, 2.0, 3.0, 3.5});
  const auto [counts, edges] = histogram(x, tensor({0.0, 1.0, 3.0}));
  EXPECT_EQ(values(counts), (Numbers{1, 4}));
  EXPECT_EQ(values(edges), (Numbers{0, 1, 3}));
  const auto [even, ends] = histogram(x, 2, List<double>{0, 3});
  EXPECT_EQ(values(even), (Numbers{2, 3}));
  EXPECT_EQ(values(ends), (Numbers{0, 1.5, 3}));
  EXPECT_EQ(values(std::get<1>(x.histogram(7))), (Numbers{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5}));
}

TEST(Histogram, WeightsAndDensity) {
  const Tensor x = tensor({0.0, 1.0, 2.0, 4.0}, float64), weight = tensor({1.0, 2.0, 4.0, 8.0}, float64);
  const Tensor edges = tensor({0.0, 2.0, 4.0}, float64);
  EXPECT_EQ(values(std::get<0>(histogram(x, edges, weight))), (Numbers{3, 12}));
  EXPECT_EQ(values(std::get<0>(histogram(x, edges, weight, true))), (Numbers{0.1, 0.4}));
}

TEST(Histogram, EveryElementOfAnyRangeIsCountedOnce) {
  for (const double size : {1e-300, 0.3, 1.0, 1e300, std::numeric_limits<double>::max() / 4})
    for (const int64_t bins : {1, 2, 7, 100}) {
      const Tensor x = linspace(-1, 1, 1001, float64) * size;
      const auto [counts, edges] = histogram(x, bins, List<double>{-size, size});
      EXPECT_EQ(sum(counts).item().to<double>(), 1001) << size << " in " << bins;
      EXPECT_EQ(values(counts), values(std::get<0>(histogram(x, edges)))) << size << " in " << bins;
    }
}

TEST(Histogram, OutputsAreWritten) {
  Tensor counts = empty({0}), edges = empty({0});
  histogram_out(counts, edges, tensor({1.0, 2.0}), 2, List<double>{1, 2});
  EXPECT_EQ(values(counts), (Numbers{1, 1}));
  EXPECT_EQ(values(edges), (Numbers{1, 1.5, 2}));
}

TEST(Histogram, ByNameARangeOfIntegersIsARange) {
  const Schema* schema = nullptr;
  for (const Schema& each : schemas())
    if (std::string_view(each.block) == "histogram") schema = &each;
  ASSERT_TRUE(schema);
  for (const Value& range : {Value(Dims{0, 4}), Value(List<double>{0, 4})}) {
    const Value given[] = {tensor({1.0, 3.0, 4.0}), 2, range, {}, {}};
    EXPECT_EQ(values(schema->function(given)[0]), (Numbers{1, 2}));
  }
  const Value wrong[] = {tensor({1.0}), 2, 3, {}, {}};
  EXPECT_THROW(schema->function(wrong), TypeError);
}

}  // namespace
}  // namespace tenon
