// Results have the same bits for any number of threads, and any number of threads may call at once.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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

/// Whenever the stop flag is set, an in-place write is complete or does not begin.
TEST(Threads, NoWriteIsCutShort) {
  for (const int count : {1, 3}) {
    ThreadCount threads(count);
    Tensor x = zeros({6000000});
    for (int turn = 0; turn < 10; ++turn) {
      std::atomic<bool> stop{false};
      std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(1000 + turn * 700));
        stop = true;
      });
      const InterruptGuard guard(stop);
      EXPECT_THROW(
          for (;;) {
            x.add_(1);
            x.mul_(ones({1}));
            add_out(x, x, x * 0);
          },
          Interrupted);
      later.join();
      stop = false;
      ASSERT_EQ(x.amin().item<double>(), x.amax().item<double>()) << count << " threads, turn " << turn;
    }
  }
}

/// Stress test: each result is right, whatever other threads do.
TEST(Threads, SettingsChangeWhileOpsRun) {
  ThreadCount two(2);
  const Tensor a = arange(200000).to(float32), b = ones({200000});
  const std::string want = bytes_of(a + b);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  const auto repeat = [&](std::function<void()> work) {
    threads.emplace_back([&stop, work] {
      while (!stop) work();
    });
  };
  for (int i = 0; i < 2; ++i)
    repeat([&] {
      if (bytes_of(a + b) != want) ++wrong;
    });
  repeat([] {
    for (const int count : {1, 2, 5, 3}) set_num_threads(count);
  });
  repeat([] {
    set_print_options(print_options());
    memory::set_cache_cap(memory::cache_cap());
    memory::trim();
  });
  repeat([] {
    manual_seed(1);
    rand({100});
  });
  repeat([&] {
    try {
      ones({300000}, int32).div_(zeros({300000}, int32), "floor");
      ++wrong;
    } catch (const Error&) {
    }
  });
  std::this_thread::sleep_for(std::chrono::seconds(2));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// Throws for one element, on any thread.
struct Picky {
  static constexpr const char* name = "picky";
  template <class T>
  static T forward(T a) {
    if (a == 7) throw Error("seven");
    return a;
  }
};

TEST(Threads, WhatAKernelThrowsOnAnyThreadReachesTheCaller) {
  ThreadCount four(4);
  const CustomOp<Picky> picky;
  for (const int64_t place : {0, 150000, 299999}) {
    Tensor a = zeros({300000});
    a[place].fill_(7);
    for (int turn = 0; turn < 20; ++turn) EXPECT_THROW(picky(a), Error) << place;
    EXPECT_EQ(picky(a.slice(0, 0, place)).numel(), place);
  }
  EXPECT_EQ((ones({300000}) + 1).sum().item<double>(), 600000);
}

TEST(Threads, OpsInsideOfOpsRun) {
  ThreadCount four(4);
  Tensor leaf = ones({300000}).requires_grad_();
  std::atomic<int> hooks{0};
  autograd::HookHandle handle = leaf.register_hook([&](const Tensor& grad) {
    ++hooks;
    return grad * 2 + ones({300000});
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) (leaf * 3).sum().backward();
    });
  for (std::thread& thread : threads) thread.join();
  handle.remove();
  EXPECT_EQ(hooks, 15);
  EXPECT_EQ(leaf.grad()[17].item<double>(), 15 * 7);
}

}  // namespace
