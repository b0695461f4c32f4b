// Keys, ranks and first elements are those of a stable sort with NaN last, for every dtype and length. Reversed rows
// are those of plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// Every element of every dtype is exact in it.
template <class T>
long double number_of(T value) {
  if constexpr (is_half_v<T>)
    return static_cast<long double>(element_cast<float>(value));
  else
    return static_cast<long double>(value);
}

/// Random bits, of which `bits` differ: few bits make equal elements. Floats are often NaN, infinite or a zero.
template <class T>
std::unique_ptr<T[]> random_row(std::mt19937_64& random, int64_t length, int bits) {
  auto row = std::make_unique<T[]>(static_cast<std::size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    uint64_t drawn = random() & (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
    if (random() % 2 != 0) drawn <<= 8 * sizeof(T) - static_cast<std::size_t>(std::min<int>(bits, 8 * sizeof(T)));
    T element;
    if constexpr (std::is_same_v<T, bool>)
      element = drawn % 2 != 0;
    else
      std::memcpy(&element, &drawn, sizeof(T));
    if constexpr (is_half_v<T> || std::is_floating_point_v<T>) {
      const double special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0};
      if (random() % 4 == 0) element = element_cast<T>(special[random() % 6]);
    } else if constexpr (!std::is_same_v<T, bool>) {
      if (random() % 8 == 0)
        element = random() % 2 != 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    }
    row[static_cast<std::size_t>(i)] = element;
  }
  return row;
}

/// The plain version: places in stable order.
template <class T>
std::vector<int64_t> sorted_places(const T* row, int64_t length, bool descending) {
  std::vector<int64_t> places(static_cast<std::size_t>(length));
  std::iota(places.begin(), places.end(), 0);
  const auto less = [](long double a, long double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    const long double first = number_of(row[a]), second = number_of(row[b]);
    return descending ? less(second, first) : less(first, second);
  });
  return places;
}

template <class T>
struct OrderOf {
  using Key = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  static constexpr Dtype kDtype = dtype_of_v<T>;
  const OrderKernels& order = kernels().order[static_cast<int>(kDtype)];
  std::mt19937_64 random{static_cast<uint64_t>(kDtype) + 7};

  std::string name(int64_t length, bool descending, int bits) {
    return std::string(dtype_name(kDtype)) + ", length " + std::to_string(length) + ", " + std::to_string(bits) +
           " bits" + (descending ? ", descending" : "");
  }
  void expect_ranks(int64_t length, int64_t rows, bool descending, int bits) {
    const auto elements = random_row<T>(random, rows * length, bits);
    std::vector<Key> buffer(static_cast<std::size_t>(kKeySlack + rows * length + kKeySlack)), ranks(buffer.size());
    Key* const keys = buffer.data() + kKeySlack;
    order.keys(keys, elements.get(), rows * length, descending);
    order.rank(ranks.data(), keys, length, rows);
    for (int64_t row = 0; row < rows; ++row) {
      const auto places = sorted_places(elements.get() + row * length, length, descending);
      for (int64_t i = 0; i < length; ++i)
        ASSERT_EQ(ranks[row * length + places[i]], i) << name(length, descending, bits) << ", row " << row;
    }
  }
  void expect_first(int64_t length, int64_t wanted, bool descending, int bits) {
    const auto elements = random_row<T>(random, length, bits);
    std::vector<Key> keys(static_cast<std::size_t>(take_first_room(length)));
    std::vector<int64_t> got(static_cast<std::size_t>(wanted));
    order.keys(keys.data(), elements.get(), length, descending);
    const auto largest = std::count(keys.begin(), keys.begin() + length, std::numeric_limits<Key>::max());
    const int64_t found = order.take_first(got.data(), keys.data(), length, wanted);
    ASSERT_EQ(found, std::min<int64_t>(wanted, length - largest)) << name(length, descending, bits);
    const auto places = sorted_places(elements.get(), length, descending);
    for (int64_t i = 0; i < found; ++i)
      ASSERT_EQ(got[i], places[i]) << name(length, descending, bits) << ", place " << i;
  }
};

TEST(Order, RanksAreThoseOfAStableSort) {
  for (int dtype = 0; dtype < kDtypeCount; ++dtype)
    visit_dtype(static_cast<Dtype>(dtype), []<class T>() {
      if constexpr (!is_complex_v<T>) {
        OrderOf<T> of;
        for (int64_t length = 1; length <= 140; ++length)
          for (int bits : {2, 5, 64}) of.expect_ranks(length, length < 20 ? 23 : 2, length % 2 != 0, bits);
        for (bool descending : {false, true}) of.expect_ranks(384, 2, descending, 64);
      }
    });
}

TEST(Order, FirstElementsAreThoseOfAStableSort) {
  for (int dtype = 0; dtype < kDtypeCount; ++dtype)
    visit_dtype(static_cast<Dtype>(dtype), []<class T>() {
      if constexpr (!is_complex_v<T>) {
        OrderOf<T> of;
        for (int64_t length : {1, 2, 3, 7, 16, 31, 33, 64, 65, 100, 255, 256, 257, 1000, 4099})
          for (int64_t wanted : {int64_t{1}, int64_t{2}, length / 3, length})
            for (bool descending : {false, true})
              if (wanted > 0 && wanted <= length) of.expect_first(length, wanted, descending, length % 3 != 0 ? 64 : 4);
      }
    });
}

template <class Key>
void expect_selected(std::mt19937_64& random, int64_t n, int bits) {
  const auto select = kernels().order[static_cast<int>(sizeof(Key) == 4 ? int32 : int64)].select;
  const auto keys = random_row<Key>(random, n, bits);
  for (const Key most : {keys[0], std::numeric_limits<Key>::min(), std::numeric_limits<Key>::max(), Key{0}}) {
    std::vector<Key> selected(static_cast<std::size_t>(n + kKeySlack)), places(selected.size());
    const int64_t count = select(selected.data(), places.data(), keys.get(), n, 1000, most);
    int64_t expected = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (keys[static_cast<std::size_t>(i)] > most) continue;
      ASSERT_EQ(selected[static_cast<std::size_t>(expected)], keys[static_cast<std::size_t>(i)]);
      ASSERT_EQ(places[static_cast<std::size_t>(expected++)], 1000 + i);
    }
    ASSERT_EQ(count, expected) << "length " << n << ", up to " << most;
  }
}
TEST(Order, KeysUpToOneAreSelectedInTheirOrder) {
  std::mt19937_64 random(5);
  for (int64_t n = 1; n <= 70; ++n)
    for (int bits : {3, 64}) {
      expect_selected<int32_t>(random, n, bits);
      expect_selected<int64_t>(random, n, bits);
    }
}

/// Items of `n` keys below `keys`, in no order, in order, or the other way round.
void expect_sorted_items(std::mt19937_64& random, uint64_t n, uint64_t keys) {
  const std::size_t room = (n + kSortedBlock - 1) / kSortedBlock * kSortedBlock;
  const auto items = std::make_unique<uint64_t[]>(room);
  std::vector<uint64_t> wanted;
  for (uint64_t i = 0; i < n; ++i) wanted.push_back(random() % keys << 32 | i);
  for (const char* order : {"no order", "sorted", "reversed"}) {
    std::copy(wanted.begin(), wanted.end(), items.get());
    kernels().sort_items(items.get(), static_cast<int64_t>(n));
    std::sort(wanted.begin(), wanted.end());
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), items.get()))
        << n << " items of " << keys << " keys, " << order;
    if (order[0] == 's') std::reverse(wanted.begin(), wanted.end());
  }
}
TEST(Order, ItemsAreSorted) {
  if (!kernels().sort_items) return;
  std::mt19937_64 random(8);
  for (const uint64_t keys : {uint64_t{1}, uint64_t{20}, uint64_t{1} << 32}) {
    for (uint64_t n = 1; n < 400; ++n) expect_sorted_items(random, n, keys);
    for (const uint64_t n : {511, 513, 640, 641, 1000, 1025, 1281, 2048, 3000, 5121, 8192})
      expect_sorted_items(random, n, keys);
  }
}

template <class T>
bool is_equal(const T& a, const T& b) {
  if constexpr (is_half_v<T>)
    return element_cast<float>(a) == element_cast<float>(b);
  else
    return a == b;
}
template <class T>
void expect_groups(std::mt19937_64& random, int64_t n, int64_t offset, int bits) {
  const auto kernel = kernels().order[static_cast<int>(dtype_of_v<T>)].groups;
  const auto drawn = random_row<T>(random, n + offset, bits);
  const T* const row = drawn.get() + offset;
  std::vector<int64_t> firsts_at, lengths, numbers;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || !is_equal(row[i], row[i - 1])) firsts_at.push_back(i), lengths.push_back(0);
    ++lengths.back();
    numbers.push_back(std::ssize(lengths) - 1);
  }
  for (bool with_counts : {false, true}) {
    // Room for no more than is read: what lies behind stays.
    const auto room = static_cast<std::size_t>(n + 1);
    const std::unique_ptr<T[]> firsts(new T[room]);
    std::vector<int64_t> counts(room, -7), inverse(room, -7);
    firsts[static_cast<std::size_t>(n)] = element_cast<T>(1.0);
    const bool with_numbers = with_counts == (n % 2 == 0);
    const int64_t groups =
        kernel(firsts.get(), with_counts ? counts.data() : nullptr, with_numbers ? inverse.data() : nullptr, row, n);
    const std::string name = std::string(dtype_name(dtype_of_v<T>)) + ", length " + std::to_string(n);
    ASSERT_EQ(groups, std::ssize(lengths)) << name;
    for (std::size_t group = 0; group < lengths.size(); ++group)
      ASSERT_EQ(std::memcmp(&firsts[group], &row[firsts_at[group]], sizeof(T)), 0) << name << ", group " << group;
    ASSERT_TRUE(is_equal(firsts[static_cast<std::size_t>(n)], element_cast<T>(1.0))) << name;
    ASSERT_EQ(counts.back(), -7) << name;
    ASSERT_EQ(inverse.back(), -7) << name;
    counts.resize(lengths.size());
    inverse.pop_back();
    ASSERT_TRUE(!with_counts || counts == lengths) << name;
    ASSERT_TRUE(!with_numbers || inverse == numbers) << name;
  }
}
TEST(Order, GroupsOfEqualNeighbours) {
  std::mt19937_64 random(11);
  for (int dtype = 0; dtype < kDtypeCount; ++dtype)
    visit_dtype(static_cast<Dtype>(dtype), [&]<class T>() {
      if constexpr (!is_complex_v<T>) {
        if (!kernels().order[dtype].groups) return;
        for (int64_t n = 1; n <= 1200; n += n < 140 || (n > 500 && n < 530) ? 1 : 61)
          for (int bits : {1, 2, 64}) expect_groups<T>(random, n, n % 5, bits);
      }
    });
}

TEST(Order, RoomForFirstElementsIsEnough) {
  for (int64_t lanes : {1, 2, 4, 8, 16})
    for (int64_t length = 1; length < 3'000'000; length += 1 + length / 50) {
      int64_t rows = 4;
      while (rows * rows * lanes < length) ++rows;
      const int64_t blocks = (length + rows * lanes - 1) / (rows * lanes);
      ASSERT_LE(blocks * rows * lanes + blocks * lanes, take_first_room(length)) << length << ", lanes " << lanes;
    }
}

std::vector<uint8_t> random_bytes(int64_t count) {
  std::mt19937_64 random(5);
  std::vector<uint8_t> bytes(static_cast<std::size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

/// Rows of each length from 1 to beyond a few vectors.
template <class Body>
void for_each_size(int64_t most, const Body& body) {
  for (int64_t n = 1; n <= most; ++n)
    for (int64_t rows : {1, 2, 3, 17}) body(n, rows);
}

TEST(Order, RowsAreReversed) {
  for (int place = 0; place < 5; ++place)
    for_each_size(140, [&](int64_t n, int64_t rows) {
      const int64_t width = int64_t{1} << place;
      const std::vector<uint8_t> in = random_bytes(n * rows * width);
      std::vector<uint8_t> want(in.size()), got(in.size());
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < n; ++i)
          std::memcpy(want.data() + (row * n + i) * width, in.data() + (row * n + n - 1 - i) * width, width);
      kernels().move[place].reverse(got.data(), in.data(), n, rows);
      ASSERT_EQ(got, want) << rows << " rows of " << n << " elements of " << width << " bytes";
    });
}

TEST(Order, RowsChangePlaces) {
  for_each_size(140, [](int64_t bytes, int64_t rows) {
    const std::vector<uint8_t> in = random_bytes(bytes * rows);
    std::vector<uint8_t> want(in.size()), got(in.size());
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(want.data() + row * bytes, in.data() + (rows - 1 - row) * bytes, bytes);
    kernels().reverse_rows(got.data(), in.data(), bytes, rows);
    ASSERT_EQ(got, want) << rows << " rows of " << bytes << " bytes";
  });
}

}  // namespace
}  // namespace tenon
