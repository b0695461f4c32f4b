// softmax and its logarithm against plain loops, over shapes that reach every way they run, with operands that end
// where the process may read nothing.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "last_page.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

/// [outer, length, inner] elements, of which each column of a block has a softmax.
struct Shape {
  int64_t outer, length, inner;
  int64_t numel() const { return outer * length * inner; }
};

std::vector<double> plain_softmax(const std::vector<double>& x, const Shape& shape, bool is_log) {
  std::vector<double> result(x.size());
  for (int64_t column = 0; column < shape.outer * shape.inner; ++column) {
    const int64_t first = column / shape.inner * shape.length * shape.inner + column % shape.inner;
    const auto at = [&](int64_t i) { return static_cast<std::size_t>(first + i * shape.inner); };
    double largest = x[at(0)], sum = 0;
    for (int64_t i = 0; i < shape.length; ++i) largest = std::max(largest, x[at(i)]);
    for (int64_t i = 0; i < shape.length; ++i) sum += std::exp(x[at(i)] - largest);
    for (int64_t i = 0; i < shape.length; ++i)
      result[at(i)] = is_log ? x[at(i)] - largest - std::log(sum) : std::exp(x[at(i)] - largest) / sum;
  }
  return result;
}

std::vector<double> elements_of(const Tensor& tensor) {
  const Tensor wide = tensor.to(float64).contiguous();
  return {wide.data<double>(), wide.data<double>() + wide.numel()};
}

void check(const Shape& shape, Dtype dtype, std::mt19937& random) {
  std::normal_distribution<double> numbers(0, 4);
  const Tensor drawn = empty({shape.numel()}, float64);
  for (int64_t i = 0; i < shape.numel(); ++i) drawn.data<double>()[i] = numbers(random);
  const Tensor given = drawn.to(dtype);
  const LastPage page(given.nbytes());
  std::memcpy(page.last(given.nbytes()), given.data_ptr(), static_cast<std::size_t>(given.nbytes()));
  const Tensor x = from_buffer(page.last(given.nbytes()), {shape.outer, shape.length, shape.inner}, dtype);
  const double near = dtype == float64 ? 1e-14 : dtype == float32 ? 2e-6 : dtype == float16 ? 2e-3 : 2e-2;
  for (const bool is_log : {false, true}) {
    const Tensor result = is_log ? log_softmax(x, 1) : softmax(x, 1);
    const std::vector<double> got = elements_of(result), want = plain_softmax(elements_of(x), shape, is_log);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], near * std::max(1.0, std::abs(want[i])))
          << dtype_name(dtype) << " [" << shape.outer << ", " << shape.length << ", " << shape.inner << "] at " << i;
    const int threads = get_num_threads();
    set_num_threads(1);
    const Tensor alone = is_log ? log_softmax(x, 1) : softmax(x, 1);
    EXPECT_EQ(std::memcmp(alone.data_ptr(), result.data_ptr(), static_cast<std::size_t>(result.nbytes())), 0);
    set_num_threads(threads);
  }
}

TEST(Softmax, TakesBlocksOfAnySides) {
  std::mt19937 random(7);
  int number = 0;
  for (const Dtype dtype : {float32, float64, float16, bfloat16})
    for (const int64_t inner : {1, 2, 3, 7, 15, 16, 17, 20, 31, 33, 47, 64, 65, 100, 300})
      for (const int64_t length : {1, 2, 5, 13, 47, 48, 161, 400})
        for (const int64_t outer : {1, 2, 7, 8, 9, 33}) {
          if (outer * length * inner > 60'000 || ++number % kSampled != 0) continue;
          check({outer, length, inner}, dtype, random);
          if (HasFatalFailure()) return;
        }
}

TEST(Softmax, TakesLongColumns) {
  std::mt19937 random(8);
  for (const Dtype dtype : {float32, bfloat16})
    for (const int64_t inner : {2, 17, 33, 145}) {
      check({1, 3000, inner}, dtype, random);
      check({40, 9, inner}, dtype, random);
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace tenon
