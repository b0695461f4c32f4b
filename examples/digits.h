// A network of two layers that learns to read handwritten digits: what gradients through broadcasts are for. Only
// public functions of the library; `tenon demo` shows the same.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "tenon/tenon.h"

namespace digits {

using tenon::Tensor;

struct Data {
  Tensor train_images, train_labels;  // [n, 64] in 0..1, [n, 10] with a one at the digit
  Tensor test_images, test_labels;
};

/// Rows of `table`: 64 pixels of 0..16 and the digit. Every fifth is held out.
inline Data split(const Tensor& table) {
  const int64_t held = table.size(0) / 5, rows = held * 5;
  const Tensor groups = table.narrow(0, 0, rows).to(tenon::float32).view({held, 5, 65});
  const Tensor images = groups.narrow(2, 0, 64) / 16;
  const Tensor labels = (groups.narrow(2, 64, 1) == tenon::arange(10)).to(tenon::float32);
  const auto some = [&](const Tensor& all, int64_t start, int64_t count) {
    return all.narrow(1, start, count).reshape({held * count, all.size(2)});
  };
  return {some(images, 0, 4), some(labels, 0, 4), some(images, 4, 1), some(labels, 4, 1)};
}

/// tanh(x W1 + b1) W2 + b2: the biases are broadcast over the rows.
struct Network {
  Tensor w1, b1, w2, b2;

  Network() {
    tenon::manual_seed(7);
    w1 = ((tenon::rand({64, 64}) - 0.5) * 0.4).requires_grad_();
    b1 = tenon::zeros({64}).requires_grad_();
    w2 = ((tenon::rand({64, 10}) - 0.5) * 0.4).requires_grad_();
    b2 = tenon::zeros({10}).requires_grad_();
  }
  std::vector<Tensor> parameters() const { return {w1, b1, w2, b2}; }
  Tensor logits(const Tensor& images) const { return (images.mm(w1) + b1).tanh().mm(w2) + b2; }
};

/// Softmax cross-entropy; the largest logit is taken off first, so that no exponential overflows.
inline Tensor entropy_of(const Tensor& logits, const Tensor& labels) {
  const Tensor shifted = logits - logits.detach().amax(1, true);
  return (shifted.exp().sum(1).log() - (shifted * labels).sum(1)).mean();
}

struct Result {
  std::vector<double> losses;
  double accuracy = 0;
  std::vector<int64_t> misread;  // rows of the held-out images
};

inline void judge(const Network& network, const Data& data, Result& result) {
  const tenon::NoGrad no_grad;
  const Tensor logits = network.logits(data.test_images);
  // Right where no logit exceeds the digit's.
  const Tensor right = (logits * data.test_labels).sum(1) >= logits.amax(1);
  result.accuracy = right.to(tenon::float32).mean().item<double>();
  for (int64_t row = 0; row < right.numel(); ++row)
    if (!right[row].item<bool>()) result.misread.push_back(row);
}

/// Stochastic gradient descent with momentum; `on_step(step, steps)` may show how far it is.
inline Result train(const Data& data, const std::function<void(int64_t, int64_t)>& on_step) {
  constexpr int64_t kBatch = 48, kRounds = 80;
  constexpr double kRate = 0.03, kMomentum = 0.9;
  const Network network;
  std::vector<Tensor> velocities;
  for (const Tensor& parameter : network.parameters()) velocities.push_back(tenon::zeros_like(parameter.detach()));
  const int64_t batches = data.train_images.size(0) / kBatch, steps = batches * kRounds;
  Result result;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t start = step % batches * kBatch;
    const Tensor loss = entropy_of(network.logits(data.train_images.narrow(0, start, kBatch)),
                                   data.train_labels.narrow(0, start, kBatch));
    loss.backward();
    result.losses.push_back(loss.item<double>());
    const tenon::NoGrad no_grad;
    for (std::size_t i = 0; i < velocities.size(); ++i) {
      Tensor parameter = network.parameters()[i];
      velocities[i].mul_(kMomentum).add_(parameter.grad());
      parameter.sub_(velocities[i], kRate);
      parameter.set_grad({});
    }
    on_step(step + 1, steps);
  }
  judge(network, data, result);
  return result;
}

/// A picture of a falling line: uint8 [160, width], dark on white.
inline Tensor curve(const std::vector<double>& values) {
  constexpr int64_t kHeight = 160, kWidth = 480, kThickness = 2;
  const double top = *std::max_element(values.begin(), values.end());
  Tensor picture = tenon::full({kHeight, kWidth}, 255, tenon::uint8);
  for (int64_t x = 0; x < kWidth; ++x) {
    const std::size_t i = static_cast<std::size_t>(x) * values.size() / kWidth;
    const int64_t y = static_cast<int64_t>((1 - values[i] / top) * (kHeight - kThickness));
    picture.slice(0, y, y + kThickness).select(1, x).fill_(40);
  }
  return picture;
}

/// The images of some rows side by side, each pixel 6 by 6, in lines of ten: uint8.
inline Tensor grid(const Tensor& images, const std::vector<int64_t>& rows) {
  constexpr int64_t kScale = 6, kSide = 8 * kScale, kCell = kSide + 4, kLine = 10;
  const int64_t lines = std::max<int64_t>((static_cast<int64_t>(rows.size()) + kLine - 1) / kLine, 1);
  Tensor picture = tenon::full({lines * kCell, kLine * kCell}, 255, tenon::uint8);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int64_t line = static_cast<int64_t>(i) / kLine, column = static_cast<int64_t>(i) % kLine;
    const Tensor pixels = images[rows[i]].view({8, 1, 8, 1}).expand({8, kScale, 8, kScale}).reshape({kSide, kSide});
    picture.narrow(0, line * kCell + 2, kSide).narrow(1, column * kCell + 2, kSide).copy_((1 - pixels) * 255);
  }
  return picture;
}

}  // namespace digits
