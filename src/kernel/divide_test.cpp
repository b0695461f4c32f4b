// Divisions of integers: of numbers of all sizes, of the smallest and largest ones, by vectors and by one number, of
// every length, also over an operand.
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"
#include "last_page.h"

namespace tenon {
namespace {

/// Numbers of any number of bits, near powers of two, and near the limits.
template <class T>
T drawn(std::mt19937_64& random) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = std::numeric_limits<U>::digits;
  const auto bits = static_cast<U>(random());
  const auto near = static_cast<U>(random() % 5 - 2);
  const int shift = static_cast<int>(random() % kBits);
  switch (random() % 5) {
    case 0:
      return static_cast<T>(static_cast<U>(std::numeric_limits<T>::min()) + near);
    case 1:
      return static_cast<T>(static_cast<U>(U{1} << shift) + near);
    case 2:
      return static_cast<T>(bits >> shift);
    case 3:
      return static_cast<T>(U{0} - static_cast<U>(bits >> shift));
    default:
      return static_cast<T>(bits);
  }
}
template <class T>
T drawn_divisor(std::mt19937_64& random) {
  const T number = drawn<T>(random);
  return number == 0 ? T{7} : number;
}

/// What four ops give, by the processor's own division.
template <class T>
struct Wanted {
  T trunc, floor, fmod, remainder;

  Wanted(T a, T b) {
    using U = std::make_unsigned_t<T>;
    const bool wraps = std::is_signed_v<T> && b == static_cast<T>(-1);
    trunc = wraps ? static_cast<T>(U{0} - static_cast<U>(a)) : static_cast<T>(a / b);
    fmod = wraps ? T{0} : static_cast<T>(a % b);
    const bool shifts = fmod != 0 && (fmod < 0) != (b < 0);
    floor = static_cast<T>(trunc - shifts);
    remainder = static_cast<T>(shifts ? fmod + b : fmod);
  }
};

template <class T>
void check(Op op, T Wanted<T>::*member) {
  std::mt19937_64 random(sizeof(T) + static_cast<uint64_t>(op));
  const Kernel kernel = kernel_of(op, dtype_of_v<T>);
  const LastPage a_page, b_page;
  for (int turn = 0; turn < 4000; ++turn) {
    const auto n = static_cast<int64_t>(1 + random() % 200), count = random() % 2 == 0 ? 1 : n;
    const int64_t bytes = n * int64_t{sizeof(T)};
    T* const a = reinterpret_cast<T*>(a_page.last(bytes));
    T* const b = reinterpret_cast<T*>(b_page.last(count * int64_t{sizeof(T)}));
    for (int64_t i = 0; i < count; ++i) b[i] = drawn_divisor<T>(random);
    for (int64_t i = 0; i < n; ++i) {
      a[i] = drawn<T>(random);
      if (random() % 4 != 0) continue;  // multiples, and their neighbours
      using U = std::make_unsigned_t<T>;
      const U product = static_cast<U>(static_cast<uint64_t>(b[count > 1 ? i : 0]) * static_cast<uint64_t>(a[i]));
      a[i] = static_cast<T>(static_cast<U>(product + random() % 3 - 1));
    }
    if (sizeof(T) == 8 && turn % 2 == 0) {  // all that float64 holds exactly
      for (int64_t i = 0; i < n; ++i) a[i] = static_cast<T>(a[i] >> 12);
      for (int64_t i = 0; i < count; ++i) b[i] = static_cast<T>(b[i] >> 12 != 0 ? b[i] >> 12 : 3);
    }
    const std::vector<T> given(a, a + n), divisors(b, b + count);
    std::vector<T> apart(static_cast<std::size_t>(n));
    const bool in_place = random() % 2 == 0;
    T* const out = in_place ? a : apart.data();
    const Lanes in[] = {{a, 1}, {b, count > 1 ? 1 : 0}};
    if (count == 1 && n == 1) continue;  // kernels never get all inputs with step 0
    kernel(out, in, n);
    for (int64_t i = 0; i < n; ++i) {
      const T x = given[static_cast<std::size_t>(i)], y = divisors[static_cast<std::size_t>(count > 1 ? i : 0)];
      ASSERT_EQ(out[i], Wanted<T>(x, y).*member) << +x << " by " << +y << ", at " << i << " of " << n;
    }
  }
}

template <class T>
void check_all() {
  check<T>(Op::div_trunc, &Wanted<T>::trunc);
  check<T>(Op::div_floor, &Wanted<T>::floor);
  check<T>(Op::fmod, &Wanted<T>::fmod);
  check<T>(Op::remainder, &Wanted<T>::remainder);
}

TEST(Divide, TakesIntegersOfAllSizes) {
  check_all<int8_t>();
  check_all<uint8_t>();
  check_all<int16_t>();
  check_all<int32_t>();
  check_all<int64_t>();
}

}  // namespace
}  // namespace tenon
