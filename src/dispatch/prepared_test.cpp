#include "dispatch/prepared.h"

#include <thread>
#include <vector>

#include "dispatch/resolve.h"
#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

PreparedKey key_of(std::initializer_list<int64_t> numbers) {
  PreparedKey key;
  for (int64_t number : numbers) key.add(number);
  return key;
}
/// Finds a key's Prepared, which is marked by `mark` when it is made. Returns the mark that it has.
uint32_t mark_found(const PreparedKey& key, uint32_t mark) {
  return PreparedCall::find(key, [&](Prepared& prepared) { prepared.cast_first = mark; })->cast_first;
}

TEST(Prepared, IsMadeOnceForAKey) {
  EXPECT_EQ(mark_found(key_of({-1, 5}), 1), 1);
  EXPECT_EQ(mark_found(key_of({-1, 5}), 2), 1);
  EXPECT_EQ(mark_found(key_of({-1, 6}), 3), 3);
  EXPECT_EQ(mark_found(key_of({-1, 5, 0}), 4), 4);
  std::thread([] { EXPECT_EQ(mark_found(key_of({-1, 5}), 5), 5); }).join();
}

TEST(Prepared, KeysThatShareAPlaceReplaceEachOther) {
  for (uint32_t turn = 0; turn < 2; ++turn)
    for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(mark_found(key_of({-2, i}), static_cast<uint32_t>(i)), i);
}

TEST(Prepared, OneInUseIsNotReplaced) {
  const auto key = key_of({-3, 7});
  const PreparedCall outer = PreparedCall::find(key, [](Prepared& prepared) { prepared.cast_first = 1; });
  EXPECT_EQ(mark_found(key, 2), 2);
  for (int64_t i = 0; i < 1000; ++i) mark_found(key_of({-3, i, i}), 3);
  EXPECT_EQ(outer->cast_first, 1);
}

TEST(Prepared, OneThatCouldNotBeMadeIsMadeAgain) {
  const auto key = key_of({-4, 1});
  EXPECT_THROW(PreparedCall::find(key, [](Prepared&) { throw Error("no memory"); }), Error);
  EXPECT_EQ(mark_found(key, 2), 2);
}

TEST(Prepared, LongKeysAreNotKept) {
  PreparedKey key;
  for (int64_t i = 0; i < 1000; ++i) key.add(i);
  EXPECT_EQ(mark_found(key, 1), 1);
  EXPECT_EQ(mark_found(key, 2), 2);
}

bool same(const Tensor& a, const Tensor& b) { return eq(a, b).all().item().as_bool(); }

/// Everything that decides how a call runs is part of its key: calls that differ in one such thing follow each other.
TEST(Prepared, CallsThatDifferRunDifferently) {
  const Tensor a = arange(6000, float32).view({60, 100}), row = arange(100, float32);
  const Tensor column = arange(60, float32).view({60, 1}), turned = arange(6000, float32).view({100, 60}).t();
  const Tensor integers = arange(6000, int32).view({60, 100});
  const auto check = [](const Tensor& x, const Tensor& y) {
    const Tensor sum = add(x, y), apart = add(x.contiguous(), y.expand(x.sizes()).contiguous());
    EXPECT_TRUE(same(sum, apart));
    EXPECT_EQ(sum.dtype(), apart.dtype());
    Tensor shifted = zeros({6001}, Options(sum.dtype())).narrow(0, 1, 6000).view({60, 100});
    add_out(shifted, x, y);
    EXPECT_TRUE(same(shifted, apart));
    if (sum.dtype() != x.dtype()) return;
    Tensor self = x.clone();
    self.add_(y);
    EXPECT_TRUE(same(self, apart));
  };
  const int threads = get_num_threads();
  for (const int count : {1, 2, 1})
    for (const Tensor& y :
         {row, column, turned, integers, a, row.to(float64), row.to(int64), a.mT().contiguous().mT()}) {
      set_num_threads(count);
      check(a, y);
      check(a, y.to(y.dtype(), true));
      check(a.to(int64), y);
    }
  set_num_threads(threads);
  EXPECT_TRUE(same(mul(a, row), mul(a.contiguous(), row.expand({60, 100}).contiguous())));
}

}  // namespace
}  // namespace tenon
