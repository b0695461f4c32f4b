// addcmul of bytes gives, for every pair of bytes and whatever lies beside them, the last eight bits.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernel/kernel.h"

namespace tenon {
namespace {

template <class T>
void expect_added_products(T factor) {
  constexpr int kBytes = 256;
  std::vector<T> a(kBytes), b(kBytes), c(kBytes), out(kBytes);
  for (int shift = 0; shift < kBytes; ++shift) {
    for (int i = 0; i < kBytes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      a[at] = static_cast<T>(i * 31), b[at] = static_cast<T>(i), c[at] = static_cast<T>(i + shift);
    }
    const Lanes in[] = {{a.data(), 1}, {b.data(), 1}, {c.data(), 1}, {&factor, 0}};
    kernel_of(Op::addcmul, dtype_of_v<T>)(out.data(), in, kBytes - shift % 70);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kBytes - shift % 70); ++i)
      ASSERT_EQ(out[i], static_cast<T>(a[i] + factor * b[i] * c[i])) << +b[i] << " times " << +c[i] << ", at " << i;
  }
}

TEST(ByteProducts, AreAdded) {
  for (const int factor : {1, 3, 200, 255}) {
    expect_added_products<uint8_t>(static_cast<uint8_t>(factor));
    expect_added_products<int8_t>(static_cast<int8_t>(factor - 128));
  }
}

}  // namespace
}  // namespace tenon
