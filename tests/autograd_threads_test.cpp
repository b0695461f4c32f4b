// Graphs used by several threads at once; see docs/concepts.md, "Threads". Also run under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tenon/tenon.h"

namespace {

using namespace tenon;

constexpr int kThreads = 4;

/// Runs `work(thread)` on several threads that start together.
void together(const std::function<void(int)>& work) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      work(i);
    });
  for (std::thread& thread : threads) thread.join();
}

Tensor leaf(int64_t size = 8) { return ones({size}).requires_grad_(); }

/// A chain in which every second node saves a tensor.
Tensor chain(const Tensor& x, int length) {
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = (y * x + 1).tanh();
  return y.sum();
}

const char* const kSecondTime = "Trying to backward through the graph a second time";

TEST(AutogradThreads, OneOfSeveralBackwardsOfAGraphWins) {
  for (int round = 0; round < 200; ++round) {
    const Tensor x = leaf(), y = chain(x, 6);
    const Tensor want = autograd::grad({chain(x, 6)}, {x})[0];
    std::atomic<int> won{0};
    together([&](int) {
      try {
        y.backward();
        ++won;
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, std::string(kSecondTime).size()), kSecondTime);
      }
    });
    ASSERT_GE(won, 1);
    // Failed runs have added nothing to the grad.
    EXPECT_TRUE(((x.grad() - want * static_cast<int>(won)).abs() < 1e-4).all().item<bool>()) << won;
  }
}

TEST(AutogradThreads, AKeptGraphRunsAnyNumberOfTimesAtOnce) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = leaf(), y = chain(x, 5);
    const Tensor want = autograd::grad({chain(x, 5)}, {x})[0];
    together([&](int) { y.backward({}, true); });
    EXPECT_TRUE(((x.grad() - want * kThreads).abs() < 1e-4).all().item<bool>());
  }
}

TEST(AutogradThreads, GraphsThatShareAPart) {
  for (int round = 0; round < 100; ++round) {
    const Tensor x = leaf(), w = leaf(), shared = (x * w).exp();
    std::vector<Tensor> ends;
    for (int i = 0; i < kThreads; ++i) ends.push_back((shared * (i + 1)).sum());
    together([&](int i) { ends[static_cast<std::size_t>(i)].backward({}, true); });
    const float e = 2.718281828f;
    EXPECT_NEAR(x.grad().select(0, 0).item<float>(), 10 * e, 1e-3);
    EXPECT_NEAR(w.grad().select(0, 0).item<float>(), 10 * e, 1e-3);
  }
}

TEST(AutogradThreads, ForwardAndBackwardOverOneLeaf) {
  const Tensor x = leaf();
  together([&](int) {
    for (int i = 0; i < 200; ++i) {
      (x * 2).sum().backward();
      static_cast<void>(x.grad().defined());
    }
  });
  EXPECT_EQ(x.grad().select(0, 0).item<float>(), 2 * 200 * kThreads);
}

TEST(AutogradThreads, GradientsWithAGraphOfTheirOwnAreAllAdded) {
  Tensor x = leaf();
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  together([&](int) {
    for (int i = 0; i < 50; ++i) (x * x).sum().backward({}, std::nullopt, true);
  });
  set_warning_handler(nullptr);
  EXPECT_EQ(x.grad().select(0, 0).item<float>(), 2 * 50 * kThreads);
  x.set_grad({});  // breaks the reference cycle
}

TEST(AutogradThreads, AViewWhoseBaseWasWrittenToIsReadByAll) {
  for (int round = 0; round < 200; ++round) {
    const Tensor w = leaf();
    Tensor base = w * 1;
    const Tensor view = base.slice(0, 0, 4);
    base.mul_(3);
    together([&](int) { (view * 2).sum().backward({}, true); });
    EXPECT_EQ(w.grad().select(0, 0).item<float>(), 6 * kThreads);
    EXPECT_EQ(view.grad_fn().name(), "AsStridedBackward0");
  }
}

TEST(AutogradThreads, ViewsAndWritesOfTensorsOfOnesOwn) {
  const Tensor x = leaf();
  together([&](int) {
    for (int i = 0; i < 100; ++i) {
      Tensor y = x * 2;
      y.slice(0, 0, 4).mul_(3);
      y.select(0, 7).fill_(0);
      y.sum().backward();
    }
  });
  EXPECT_EQ(x.grad().select(0, 0).item<float>(), 6 * 100 * kThreads);
  EXPECT_EQ(x.grad().select(0, 5).item<float>(), 2 * 100 * kThreads);
  EXPECT_EQ(x.grad().select(0, 7).item<float>(), 0);
}

TEST(AutogradThreads, HooksComeAndGoWhileOthersRunThem) {
  Tensor x = leaf();
  const Tensor y = x * 2, end = y.sum();
  std::atomic<int> calls{0};
  together([&](int thread) {
    for (int i = 0; i < 200; ++i) {
      if (thread == 0) {
        end.backward({}, true);
        continue;
      }
      const auto count = [&](const Tensor&) {
        ++calls;
        return Tensor();
      };
      autograd::HookHandle of_leaf = x.register_hook(count), of_result = y.register_hook(count);
      autograd::HookHandle of_node = y.grad_fn().register_hook([&](const autograd::Tensors&, const autograd::Tensors&) {
        ++calls;
        return autograd::Tensors();
      });
      autograd::HookHandle after = x.register_post_accumulate_grad_hook([&](const Tensor&) { ++calls; });
      for (autograd::HookHandle* handle : {&of_leaf, &of_result, &of_node, &after}) handle->remove();
    }
  });
  EXPECT_EQ(x.grad().select(0, 0).item<float>(), 400);
  const int before = calls;
  end.backward();
  EXPECT_EQ(calls, before) << "a hook that was removed ran";
}

TEST(AutogradThreads, TensorsThatRetainTheirGradientDieWhileOthersRun) {
  const Tensor x = leaf();
  for (int round = 0; round < 100; ++round) {
    Tensor y = x * 1;
    const Tensor end = (y * 2).sum();
    y.retain_grad();
    together([&](int thread) {
      if (thread == 0)
        y = Tensor();
      else
        end.backward({}, true);
    });
  }
  SUCCEED() << "no race, no use of what is gone";
}

TEST(AutogradThreads, GradIsSetWhileOthersAddToIt) {
  Tensor x = leaf();
  together([&](int thread) {
    for (int i = 0; i < 200; ++i) {
      if (thread == 0)
        x.set_grad(i % 2 == 0 ? Tensor() : zeros({8}));
      else
        (x * 1).sum().backward();
    }
  });
  EXPECT_TRUE((x.grad() <= 200 * (kThreads - 1)).all().item<bool>());
}

struct Cube : autograd::Function<Cube> {
  static constexpr const char* name = "CubeBackward";
  static autograd::Tensors forward(autograd::Context& ctx, const autograd::Tensors& inputs) {
    ctx.save_for_backward(inputs);
    return {inputs[0] * inputs[0] * inputs[0]};
  }
  static autograd::Tensors backward(autograd::Context& ctx, const autograd::Tensors& grads) {
    const Tensor x = ctx.saved_tensors()[0];
    return {grads[0] * x * x * 3};
  }
};

TEST(AutogradThreads, FunctionsOfOnesOwn) {
  for (int round = 0; round < 100; ++round) {
    const Tensor x = leaf(), y = Cube::apply({Cube::apply({x})[0]})[0].sum();
    std::atomic<int> won{0};
    together([&](int) {
      try {
        y.backward();
        ++won;
      } catch (const Error&) {
      }
    });
    ASSERT_GE(won, 1);
    EXPECT_EQ(x.grad().select(0, 0).item<float>(), 9 * static_cast<float>(won));
  }
}

}  // namespace
