// Results have the same bits whatever the number of threads, and any number of threads may call at once.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tenon/tenon.h"

namespace {

using namespace tenon;

std::string bytes_of(const Tensor& tensor) {
  const Tensor flat = tensor.contiguous();
  return {static_cast<const char*>(flat.data_ptr()), static_cast<std::size_t>(flat.nbytes())};
}

class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(get_num_threads()) { set_num_threads(count); }
  ~ThreadCount() { set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

TEST(Threads, SameBitsWhateverTheirNumber) {
  manual_seed(1);
  const Tensor a = randn({700, 1030}), row = randn({1030}), column = randn({700, 1});
  const struct {
    const char* name;
    std::function<Tensor()> call;
  } cases[] = {
      {"add a row", [&] { return a + row; }},
      {"add a column", [&] { return a + column; }},
      {"outer", [&] { return column * row; }},
      {"transposed", [&] { return a.t() + column.t(); }},
      {"sum of all", [&] { return a.sum(); }},
      {"sum of rows", [&] { return a.sum(0); }},
      {"sum of columns", [&] { return a.sum(1); }},
      {"mean of float16", [&] { return a.to(float16).mean(0); }},
      {"sum_to_size",
       [&] {
         return a.sum_to_size({700, 1});
       }},
      {"exp", [&] { return exp(a); }},
      {"cast", [&] { return a.to(float64); }},
      {"copy of a transpose", [&] { return a.t().contiguous(); }},
  };
  for (const auto& c : cases) {
    ThreadCount one(1);
    const std::string want = bytes_of(c.call());
    for (int count : {2, 3, 4, 7}) {
      ThreadCount more(count);
      EXPECT_TRUE(bytes_of(c.call()) == want) << c.name << " with " << count << " threads";
    }
  }
}

TEST(Threads, ManyCallAtOnce) {
  ThreadCount two(2);
  const Tensor a = arange(300000).to(float32).reshape({300, 1000}), row = arange(1000).to(float32);
  const std::string want = bytes_of(a * row + 1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 10; ++turn)
        if (bytes_of(a * row + 1) != want) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, MemoryFreedElsewhereIsReused) {
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<Tensor> made(64);
    std::thread maker([&] {
      for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = full({static_cast<int64_t>(1) << (i % 16)}, static_cast<double>(i));
    });
    maker.join();
    std::thread keeper([kept = made] { EXPECT_EQ(kept[3].sum().item<double>(), 24); });
    made.clear();
    keeper.join();
  }
  memory::trim();
}

TEST(Threads, ErrorsReachTheCaller) {
  ThreadCount four(4);
  std::atomic<int> caught{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      try {
        zeros({100000, 3}) + zeros({4});
      } catch (const Error&) {
        ++caught;
      }
      Tensor target = ones({500000}, int32);
      try {
        target.div_(zeros({500000}, int32), "floor");
      } catch (const Error& error) {
        if (std::string(error.what()) == "ZeroDivisionError") ++caught;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(caught, 8);
}

TEST(Threads, SettingsOfOneAreNotThoseOfAnother) {
  BroadcastPolicy strict;
  strict.outer = Policy::raise;
  PolicyGuard guard(strict);
  EXPECT_THROW(zeros({3}) + zeros({3, 1}), Error);
  std::thread other([] { EXPECT_NO_THROW(zeros({3}) + zeros({3, 1})); });
  other.join();
}

}  // namespace
