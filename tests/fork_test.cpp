// A child of fork can compute, also with threads, and ends normally, whatever the parent's threads were doing.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tenon/tenon.h"

namespace {

using namespace tenon;

/// Runs `work` in a child. Returns its exit status, or minus the signal that ended it; SIGALRM ends one that hangs.
int status_of_child(const std::function<int()>& work, bool runs_destructors) {
  std::fflush(stdout);  // otherwise the child would print it, too
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const int status = work();
    if (runs_destructors) std::exit(status);
    _exit(status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1000;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// Uses everything that needs a lock or threads.
int use_everything() {
  const Tensor a = arange(300000).to(float32);
  if ((a + a)[2].item<double>() != 4) return 1;
  if (a.sum(0).item<double>() < 1) return 2;
  manual_seed(1);
  if (rand({1000}).amax().item<double>() > 1) return 3;
  Tensor leaf = ones({300000}).requires_grad_();
  (leaf * a).sum().backward();
  if (leaf.grad()[2].item<double>() != 2) return 4;
  if (to_string(tensor({1, 2})) != "tensor([1, 2])") return 5;
  set_num_threads(3);
  if ((a * 2).sum().item<double>() < 1) return 6;
  memory::trim();
  warn("UserWarning", "");
  return 0;
}

/// Threads that keep every lock busy while a test forks.
class Busy {
 public:
  Busy() {
    const auto repeat = [this](std::function<void()> work) {
      threads_.emplace_back([this, work] {
        while (!stop_) work();
      });
    };
    repeat([] { ones({300000}) + 1; });
    repeat([] { ones({300000}).sum(); });
    repeat([] { rand({10}); });
    repeat([this] { (shared_ * 2).sum().backward(); });
    repeat([this] { shared_.set_grad({}); });
    const Tensor middle = large_ * 1;
    for (const Tensor& hooked : {large_, middle}) hooked.register_hook([](const Tensor&) { return Tensor(); });
    middle.retain_grad();
    repeat([middle] { middle.sum().backward({}, true); });
    repeat([] { to_string(ones({3})); });
    repeat([] { memory::trim(); });
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  /// A leaf that the threads use nearly all the time.
  Tensor shared() const { return shared_; }
  Tensor large() const { return large_; }

 private:
  std::atomic<bool> stop_{false};
  Tensor shared_ = ones({2000}).requires_grad_(), large_ = ones({30000}).requires_grad_();
  std::vector<std::thread> threads_;
};

class Fork : public ::testing::Test {
 protected:
  void SetUp() override {
    threads_ = get_num_threads();
    set_num_threads(2);
    set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  }
  void TearDown() override {
    set_num_threads(threads_);
    set_warning_handler(nullptr);
  }

 private:
  int threads_ = 0;
};

TEST_F(Fork, ChildrenComputeAndEnd) {
  ones({300000}) + 1;  // starts the parent's threads
  for (const bool runs_destructors : {false, true}) EXPECT_EQ(status_of_child(use_everything, runs_destructors), 0);
  EXPECT_EQ(use_everything(), 0);
}

/// Uses a leaf that the parent's threads were using: its locks must be free.
int use_leaf(Tensor leaf) {
  leaf.grad();
  const autograd::HookHandle hook = leaf.register_hook([](const Tensor& grad) { return grad * 2; });
  leaf.set_grad({});
  (leaf * 2).sum().backward();
  (leaf * 2).sum().backward();
  return leaf.grad()[2].item<double>() == 8 ? 0 : 10;
}

TEST_F(Fork, ChildrenComputeWhileOthersDid) {
  const Busy busy;
  const auto child = [&] {
    if (const int status = use_leaf(busy.shared())) return status;
    if (const int status = use_leaf(busy.large())) return status + 1;
    return use_everything();
  };
  for (int turn = 0; turn < 100; ++turn) {
    std::this_thread::sleep_for(std::chrono::microseconds(turn * 37 % 1000));
    const int status = status_of_child(child, turn % 2 == 0);
    ASSERT_EQ(status, 0) << "turn " << turn;
  }
}

TEST_F(Fork, GrandchildrenToo) {
  const auto child = [] {
    if (const int status = use_everything()) return status;
    return status_of_child(use_everything, true);
  };
  EXPECT_EQ(status_of_child(child, true), 0);
}

/// The guard's `ask` function, called during an op, forks.
std::atomic<bool> forked{false};
pid_t child_of_op = 0;

TEST_F(Fork, InTheMiddleOfAnOperationTheChildIsTold) {
  forked = false;
  const auto fork_once = [] {
    if (forked.exchange(true)) return;
    child_of_op = fork();
    if (child_of_op == 0) alarm(20);
  };
  std::string text;
  const Tensor large = ones({1}).expand({int64_t{1} << 29});
  {
    const InterruptGuard guard(InterruptSource{nullptr, fork_once});
    try {
      large.prod();
    } catch (const Error& error) {
      text = error.what();
    }
  }
  ASSERT_TRUE(forked);
  if (child_of_op == 0) _exit(text.find("was forked") == std::string::npos ? 1 : use_everything());
  int status = 0;
  ASSERT_EQ(waitpid(child_of_op, &status, 0), child_of_op);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(text, "");
}

}  // namespace
