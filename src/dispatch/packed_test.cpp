// Reductions of short rows with gaps or steps, which are packed first: the values of contiguous elements, and the same
// bits for any number of threads.
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"
#include "tile/course.h"

namespace tenon {
namespace {

/// Numbers from 0.5 to 1.5, whole ones from 0 to 2.
Tensor drawn(SizesView sizes, Dtype dtype) {
  std::mt19937 random(11);
  Tensor values = empty(sizes, float32);
  float* data = values.data<float>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = static_cast<float>(random()) * 0x1p-32f + 0.5f;
  return is_floating_point(dtype) ? values.to(dtype) : (values * 2 - 1).floor().to(dtype);
}

struct Layout {
  const char* name;
  std::function<Tensor(Dtype)> make;
  std::vector<int64_t> dims;
};
std::vector<Layout> layouts() {
  const auto gaps = [](Dims sizes) {
    return [sizes](Dtype dtype) {
      Dims wide = sizes;
      ++wide[wide.size() - 1];
      return drawn(wide, dtype).narrow(-1, 0, sizes.back());
    };
  };
  const auto steps = [](Dims sizes, int64_t step) {
    return [sizes, step](Dtype dtype) {
      Dims wide = sizes;
      wide[wide.size() - 1] *= step;
      return drawn(wide, dtype).slice(-1, 0, wide.back(), step);
    };
  };
  return {
      {"kept inside", gaps({9, 3, 40, 5}), {1}},
      {"kept inside, several slabs", gaps({300, 3, 40, 5}), {1}},
      {"kept inside, a slab that is left", gaps({3, 2, 30'001, 5}), {1}},
      {"kept inside all reduced", gaps({50, 900, 10}), {0}},
      {"kept inside some reduced", gaps({4, 60, 700, 6}), {1}},
      {"kept inside reduced on both sides", gaps({4, 3, 700, 5, 6}), {0, 3}},
      {"kept inside, longer rows", gaps({40, 70, 90}), {0}},
      {"kept inside more than a slab", gaps({70'000, 2, 3}), {0}},
      {"kept inside two reduced", gaps({30, 3, 40, 4}), {1, 3}},
      {"reduced outside", gaps({3, 5, 40, 4}), {0}},
      {"narrow rows", gaps({900, 3}), {0}},
      {"narrow rows, several slabs", gaps({50'000, 3}), {0}},
      {"all", gaps({900, 3}), {}},
      {"all, several slabs", gaps({50'000, 3}), {}},
      {"all, longer rows", gaps({3'000, 31}), {}},
      {"few columns", gaps({60, 20, 7}), {1}},
      {"few short rows", gaps({900, 4, 5}), {1, 2}},
      {"few short rows, several slabs", gaps({9'000, 3, 50}), {1, 2}},
      {"short rows in two groups", gaps({700, 6, 7, 5}), {1, 3}},
      {"steps", steps({90, 20, 3}, 2), {1}},
      {"steps, several slabs", steps({900, 20, 9}, 3), {1}},
      {"steps of columns", steps({90, 33}, 2), {0}},
  };
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.nbytes() == b.nbytes() && std::memcmp(a.data_ptr(), b.data_ptr(), static_cast<std::size_t>(a.nbytes())) == 0;
}

struct Call {
  const char* name;
  std::function<Tensor(const Tensor&, SizesView)> of;
  bool only_floats = false;
};
std::vector<Call> calls() {
  const auto any_of = [](const Tensor& x, SizesView dims) { return dims.empty() ? x.any() : x.any(dims); };
  return {
      {"sum", [](const Tensor& x, SizesView dims) { return x.sum(dims); }},
      {"sum with keepdim", [](const Tensor& x, SizesView dims) { return x.sum(dims, true); }},
      {"mean", [](const Tensor& x, SizesView dims) { return x.mean(dims); }, true},
      {"amax", [](const Tensor& x, SizesView dims) { return x.amax(dims); }},
      {"any", any_of},
      {"var", [](const Tensor& x, SizesView dims) { return x.var(dims); }, true},
      {"norm", [](const Tensor& x, SizesView dims) { return linalg_vector_norm(x, 2, dims); }, true},
      {"count_nonzero", [](const Tensor& x, SizesView dims) { return x.count_nonzero(dims); }},
  };
}

TEST(PackedRows, GiveTheValuesOfContiguousElements) {
  int number = 0;
  for (const Layout& layout : layouts())
    for (const Dtype dtype : {float32, float64, float16, int32, int64, uint8, bool_}) {
      if (++number % kSampled != 0) continue;
      const Tensor x = layout.make(dtype), packed = x.contiguous();
      for (const Call& call : calls()) {
        if (call.only_floats && !is_floating_point(dtype)) continue;
        const SizesView dims(layout.dims.data(), static_cast<int64_t>(layout.dims.size()));
        const Tensor got = call.of(x, dims), want = call.of(packed, dims);
        const double tolerance = dtype == float16 ? 2e-3 : 2e-6;
        EXPECT_EQ(got.strides(), want.strides()) << call.name << ", " << layout.name << ", " << dtype_name(dtype);
        EXPECT_TRUE(allclose(got.to(float64), want.to(float64), tolerance, 0))
            << call.name << ", " << layout.name << ", " << dtype_name(dtype);
      }
    }
}

TEST(PackedRows, ExtremesKnowTheirPlaces) {
  for (const Layout& layout : layouts()) {
    if (layout.dims.size() != 1) continue;
    for (const Dtype dtype : {float32, uint8}) {
      const Tensor x = layout.make(dtype), packed = x.contiguous();
      const int64_t dim = layout.dims[0];
      EXPECT_TRUE(equal(argmax(x, dim), argmax(packed, dim))) << layout.name;
      const auto [values, places] = max(x, dim);
      EXPECT_TRUE(equal(values, amax(packed, dim))) << layout.name;
      EXPECT_TRUE(equal(places, argmax(packed, dim))) << layout.name;
      EXPECT_TRUE(equal(std::get<1>(aminmax(x, dim)), values)) << layout.name;
    }
  }
}

TEST(PackedRows, SameBitsWithAnyNumberOfThreads) {
  const int before = get_num_threads();
  for (const Layout& layout : layouts())
    for (const Call& call : calls()) {
      const Tensor x = layout.make(float32);
      const SizesView dims(layout.dims.data(), static_cast<int64_t>(layout.dims.size()));
      set_num_threads(1);
      const Tensor alone = call.of(x, dims);
      set_num_threads(3);
      EXPECT_TRUE(same_bits(alone, call.of(x, dims))) << call.name << ", " << layout.name;
      set_num_threads(before);
    }
}

TEST(PackedRows, IsTheRouteOfShortRowsOnly) {
  const auto route = [](const Tensor& x, int64_t dim) {
    CourseRecord record;
    x.sum(dim);
    return std::string(record.courses.at(0).route);
  };
  EXPECT_EQ(route(ones({64, 2, 100, 4}).narrow(-1, 0, 3), 1), "rows packed");
  EXPECT_EQ(route(ones({64, 20, 10}, uint8).slice(-1, 0, 10, 2), 1), "rows packed");
  const Tensor few = ones({640, 4, 6}).narrow(-1, 0, 5);
  CourseRecord record;
  sum(few, {1, 2});
  EXPECT_STREQ(record.courses.at(0).route, "rows packed");
  EXPECT_NE(route(ones({64, 2, 100, 3}), 1), "rows packed");
  EXPECT_NE(route(ones({64, 2, 100, 241}).narrow(-1, 0, 240), 1), "rows packed");
  EXPECT_NE(route(ones({1, 2, 100, 3}).expand({64, 2, 100, 3}), 1), "rows packed");
  EXPECT_NE(route(ones({2000, 5}).narrow(-1, 0, 4), 0), "rows packed");
}

}  // namespace
}  // namespace tenon
