// Distances are those of plain loops, for every norm, length and number of rows; NaN stays.
#include "kernel/distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
double plain_distance(const T* a, const T* b, int64_t n, double p) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double apart = std::abs(static_cast<double>(a[i] - b[i]));
    if (std::isnan(apart)) return apart;
    if (std::isinf(p))
      sum = std::max(sum, apart);
    else
      sum += p == 0 ? (apart != 0 ? 1 : 0) : std::pow(apart, p);
  }
  return p == 0 || std::isinf(p) ? sum : std::pow(sum, 1 / p);
}

/// Random rows, in which some elements are equal and a few are NaN.
template <class T>
Tensor random_rows(std::mt19937_64& random, int64_t rows, int64_t n) {
  const Tensor result = empty({rows, n}, dtype_of_v<T>);
  for (int64_t i = 0; i < rows * n; ++i)
    result.data<T>()[i] = random() % 1000 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                               : static_cast<T>(static_cast<double>(random() % 64) / 16 - 2);
  return result;
}

template <class T>
void expect_near(T got, double wanted, const char* what, double p, int64_t n) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << what << " p " << p << " n " << n;
    return;
  }
  const double slack = 40 * static_cast<double>(std::numeric_limits<T>::epsilon()) * wanted;
  EXPECT_NEAR(static_cast<double>(got), wanted, slack) << what << " p " << p << " n " << n;
}

template <class T>
void check_distances(std::mt19937_64& random, int64_t rows, int64_t others, int64_t n, double p) {
  const Tensor a = random_rows<T>(random, rows, n), b = random_rows<T>(random, others, n);
  // Without the product of matrices, which has errors of another size.
  const Tensor apart = cdist(a, b, p, 2), pairs = pdist(a, p);
  const T* const of_a = a.data<T>();
  const T* pair = pairs.data<T>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < others; ++j) {
      const double wanted = plain_distance(of_a + i * n, b.data<T>() + j * n, n, p);
      expect_near(apart.data<T>()[i * others + j], wanted, "cdist", p, n);
    }
    for (int64_t j = i + 1; j < rows; ++j)
      expect_near(*pair++, plain_distance(of_a + i * n, of_a + j * n, n, p), "pdist", p, n);
  }
}

TEST(Distance, OfPlainLoops) {
  std::mt19937_64 random(1);
  for (double p : {0.0, 1.0, 2.0, kInfinity, 0.5, 3.0})
    for (int64_t rows : {1, 2, 3, 4, 5, 16, 17, 33, 50})
      for (int64_t n : {1, 3, 15, 16, 63, 64, 65, 130}) {
        const int64_t others = 1 + static_cast<int64_t>(random() % 40);
        check_distances<float>(random, rows, others, n, p);
        check_distances<double>(random, rows, others, n, p);
      }
}

TEST(Distance, OfManyRowsAndLongRows) {
  std::mt19937_64 random(2);
  check_distances<float>(random, 300, 5, 3, 1);
  check_distances<float>(random, 5, 20, 3000, 3);
}

void expect_same(const Tensor& got, const Tensor& wanted) {
  EXPECT_TRUE(nan_to_num(got).eq(nan_to_num(wanted)).all().item().as_bool());
}

TEST(Distance, OfBatches) {
  std::mt19937_64 random(3);
  const Tensor a = random_rows<double>(random, 6 * 7, 5).view({3, 2, 7, 5});
  const Tensor b = random_rows<double>(random, 2 * 18, 5).view({2, 18, 5});
  for (double p : {1.0, 2.5}) {
    const Tensor all = cdist(a, b, p, 2);
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 2; ++j)
        expect_same(all.select(0, i).select(0, j), cdist(a.select(0, i).select(0, j), b.select(0, j), p, 2));
  }
}

}  // namespace
}  // namespace tenon
