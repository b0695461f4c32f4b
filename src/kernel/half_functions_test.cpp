// Functions that have a form of their own for 16-bit floats: of all 65,536 numbers, as many results are the exact one
// rounded as of functions of float32; and a result depends neither on the number of lanes nor on the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "ops/row.h"
#include "tenon/dtype.h"
#include "tenon/instruction_set.h"
#include "type/half.h"

namespace tenon {
namespace {

constexpr int64_t kNumbers = 1 << 16;

float value_of(Dtype half, uint16_t bits) { return half == float16 ? float16_value(bits) : bfloat16_value(bits); }

/// Rounded once: float32's last bit says whether bits were lost.
uint16_t rounded(Dtype half, double value) {
  float nearest = static_cast<float>(value);
  if (std::isfinite(nearest) && static_cast<double>(nearest) != value) {
    if (std::abs(static_cast<double>(nearest)) > std::abs(value)) nearest = std::nextafterf(nearest, 0);
    nearest = std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) | 1);
  }
  return half == float16 ? float16_bits(nearest) : bfloat16_bits(nearest);
}
bool is_same(Dtype half, uint16_t a, uint16_t b) {
  return a == b || (std::isnan(value_of(half, a)) && std::isnan(value_of(half, b)));
}

std::vector<uint16_t> every_number() {
  std::vector<uint16_t> all(kNumbers);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  return all;
}
void run(Op op, Dtype half, void* out, const void* in, int64_t n) {
  const Lanes lanes{in, 1};
  kernels().elementwise[static_cast<int>(op)][static_cast<int>(half)](out, &lanes, n);
}

struct Case {
  Op op;
  double (*exact)(double);
  int most[2];  // results of float16 and bfloat16 that are rounded wrongly: PyTorch's
};
const Case cases[] = {
    {Op::exp, [](double x) { return std::exp(x); }, {2, 0}},
    {Op::log, [](double x) { return std::log(x); }, {1, 0}},
    {Op::sin, [](double x) { return std::sin(x); }, {2, 0}},
    {Op::cos, [](double x) { return std::cos(x); }, {2, 0}},
    {Op::sqrt, [](double x) { return std::sqrt(x); }, {0, 0}},
    {Op::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, {7, 8}},
};

TEST(HalfFunctions, RoundAsManyResultsCorrectlyAsPyTorch) {
  const std::vector<uint16_t> in = every_number();
  // Elsewhere results of float32 are rounded, of which two more sines are wrong.
  const int more = std::string(instruction_set()) == "AVX3" ? 0 : 2;
  for (const Case& c : cases)
    for (const Dtype half : {float16, bfloat16}) {
      std::vector<uint16_t> out(kNumbers);
      run(c.op, half, out.data(), in.data(), kNumbers);
      int wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const double exact = c.exact(static_cast<double>(value_of(half, in[i])));
        if (is_same(half, out[i], rounded(half, exact))) continue;
        ++wrong;
        const float next = std::nextafterf(value_of(half, out[i]), static_cast<float>(exact));
        EXPECT_FALSE(std::isnan(next)) << row_of(c.op).signature << " at " << value_of(half, in[i]);
      }
      EXPECT_LE(wrong, c.most[half == bfloat16] + more) << row_of(c.op).signature << " of " << dtype_name(half);
    }
}

TEST(HalfFunctions, OfAnyNumberOfLanes) {
  const std::vector<uint16_t> in = every_number();
  for (const Case& c : cases)
    for (const Dtype half : {float16, bfloat16}) {
      std::vector<uint16_t> whole(kNumbers), parts = in;
      run(c.op, half, whole.data(), in.data(), kNumbers);
      int64_t n = 1;
      for (int64_t start = 0; start < kNumbers; start += n, n = n % 70 + 1) {
        n = std::min(n, kNumbers - start);
        run(c.op, half, parts.data() + start, parts.data() + start, n);  // in place
      }
      EXPECT_EQ(whole, parts) << row_of(c.op).signature << " of " << dtype_name(half);
      const Kernel streamed = kernels().elementwise_streamed[static_cast<int>(c.op)][static_cast<int>(half)];
      if (!streamed) continue;
      alignas(64) static uint16_t aligned[kNumbers];
      const Lanes lanes{in.data(), 1};
      streamed(aligned, &lanes, kNumbers);
      EXPECT_TRUE(std::equal(whole.begin(), whole.end(), aligned)) << row_of(c.op).signature << ", streamed";
    }
}

}  // namespace
}  // namespace tenon
