// Numbers outside float64's range: too small ones become 0, too large ones are refused, in every notation.
#include "base/decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tenon {
namespace {

TEST(Decimal, TooSmallOrTooLarge) {
  const std::string zeros(6000, '0');
  const struct {
    std::string text;
    double want;  // NaN: out of range
  } cases[] = {
      {"0.5", 0.5},
      {"5e-324", 5e-324},
      {"1e-400", 0},
      {"-1e-400", -0.0},
      {"1e-6000", 0},
      {"2E-99999999999999999999", 0},
      {"0." + zeros + "1", 0},
      {"0." + zeros + "1e+300", 0},
      {"0." + zeros + "1e6000", 0.1},
      {"1" + zeros + "e-6000", 1},
      {"1" + zeros + "e-7000", 0},
      {"1" + zeros + "e-300", NAN},
      {"1" + zeros, NAN},
      {"1e400", NAN},
      {"-1e+6000", NAN},
      {"1e99999999999999999999", NAN},
  };
  for (const auto& c : cases) {
    double value = NAN;
    const char* end = c.text.data() + c.text.size();
    const auto [read_to, failed] = from_decimal(c.text.data(), end, value);
    const std::string name =
        c.text.size() < 40 ? c.text : c.text.substr(0, 9) + "..." + c.text.substr(c.text.size() - 9);
    EXPECT_EQ(read_to, end) << name;
    EXPECT_EQ(failed, std::isnan(c.want) ? std::errc::result_out_of_range : std::errc()) << name;
    if (std::isnan(c.want)) continue;
    EXPECT_EQ(value, c.want) << name;
    EXPECT_EQ(std::signbit(value), std::signbit(c.want)) << name;
  }
}

}  // namespace
}  // namespace tenon
