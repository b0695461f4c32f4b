// Optimizers make PyTorch's steps and have its errors. The values are those of PyTorch 2.13.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "error_text.h"
#include "tenon/tenon.h"

namespace {

using namespace tenon;

struct Trained {
  Tensor a = tensor({1.0, -2.0, 0.5}, float64).requires_grad_(), b = tensor({3.0}, float64).requires_grad_();
};
/// Four steps of a loss of two parameters; a third one has no gradient.
template <class Optimizer, class Options>
void expect_steps(const Options& options, const std::vector<double>& wanted) {
  Trained of;
  const Tensor idle = ones({2}).requires_grad_();
  Optimizer optimizer({of.a, idle, of.b}, options);
  for (int step = 0; step < 4; ++step) {
    optimizer.zero_grad(step % 2 == 0);
    (of.a.pow(2).sum() * of.b.sum() + of.b.sin().sum()).backward();
    optimizer.step();
  }
  const Tensor got = cat({of.a.detach(), of.b.detach()});
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(got.data<double>()[i], wanted[i], 1e-14) << "lr " << options.lr << " element " << i;
  EXPECT_TRUE(all(eq(idle, 1)).item<bool>());
}

TEST(Optim, SgdMakesTheStepsOfPyTorch) {
  using optim::SGD, optim::SGDOptions;
  expect_steps<SGD>(SGDOptions{.lr = 0.01},
                    {0.7846125202808716, -1.5692250405617432, 0.3923062601404358, 2.8628132870082226});
  expect_steps<SGD>(SGDOptions{.lr = 0.01, .momentum = 0.9},
                    {0.5138870986045981, -1.0277741972091963, 0.25694354930229907, 2.688836215828297});
  expect_steps<SGD>(SGDOptions{.lr = 0.01, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true},
                    {0.39640553046689436, -0.7928110609337887, 0.19820276523344718, 2.61663881827843});
  expect_steps<SGD>(SGDOptions{.lr = 0.01, .momentum = 0.9, .dampening = 0.5, .maximize = true},
                    {1.4015712807189884, -2.803142561437977, 0.7007856403594942, 3.3056306538352778});
}
TEST(Optim, AdamMakesTheStepsOfPyTorch) {
  using optim::Adam, optim::AdamOptions;
  expect_steps<Adam>(AdamOptions{.lr = 0.1},
                     {0.6056125580619404, -1.6027912680559215, 0.11521870993457635, 2.606884712754573});
  expect_steps<Adam>(AdamOptions{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.7, .weight_decay = 0.2, .amsgrad = true},
                     {0.6134241016643673, -1.6061047611896098, 0.13991792934965666, 2.6138035109169224});
  expect_steps<Adam>(AdamOptions{.lr = 0.1, .weight_decay = 0.01, .maximize = true, .decoupled_weight_decay = true},
                     {1.3965528514489731, -2.3925061333213695, 0.8977836383135257, 3.3883963985185512});
}

template <class Optimizer, class Options>
std::string error_of(const Options& options) {
  return error_text([&] { Optimizer({ones({1})}, options); });
}
TEST(Optim, ErrorsArePyTorchs) {
  using optim::Adam, optim::AdamOptions, optim::SGD, optim::SGDOptions;
  EXPECT_EQ(error_of<SGD>(SGDOptions{.lr = -1}), "Invalid learning rate: -1");
  EXPECT_EQ(error_of<SGD>(SGDOptions{.momentum = -0.5}), "Invalid momentum value: -0.5");
  EXPECT_EQ(error_of<SGD>(SGDOptions{.nesterov = true}), "Nesterov momentum requires a momentum and zero dampening");
  EXPECT_EQ(error_of<Adam>(AdamOptions{.eps = -1}), "Invalid epsilon value: -1");
  EXPECT_EQ(error_of<Adam>(AdamOptions{.beta1 = 1}), "Invalid beta parameter at index 0: 1");
  EXPECT_EQ(error_of<Adam>(AdamOptions{.weight_decay = -2}), "Invalid weight_decay value: -2");
  EXPECT_EQ(error_text([] { optim::SGD(List<Tensor>()); }), "optimizer got an empty parameter list");
  EXPECT_EQ(error_text([] { optim::SGD(List<Tensor>(), {.lr = -1}); }), "Invalid learning rate: -1");
  EXPECT_EQ(error_of<SGD>(SGDOptions{.lr = NAN}), "no error");
  EXPECT_EQ(error_of<Adam>(AdamOptions{.lr = NAN}), "Invalid learning rate: nan");
  EXPECT_EQ(error_text([] { optim::SGD({ones({1}).requires_grad_() * 2}); }), "can't optimize a non-leaf Tensor");
}

}  // namespace
