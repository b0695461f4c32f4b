// A program can use the installed library, whatever macros and flags it is compiled with: calls, results, gradients,
// lists, hooks and functions in both directions, elements, and errors with notes and with their codes in C.
#include <tenon/c.h>
#include <tenon/span.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using tenon::Tensor;
using tenon::autograd::Tensors;

struct Double : tenon::autograd::Function<Double> {
  static constexpr const char* name = "DoubleBackward";
  static Tensors forward(tenon::autograd::Context& context, const Tensors& inputs) {
    context.save_for_backward(inputs);
    return {inputs[0] * 2};
  }
  static Tensors backward(tenon::autograd::Context& context, const Tensors& grads) {
    return {grads[0] * 2 + context.saved_tensors()[0] * 0};
  }
};

bool computes() {
  const Tensor sum = tenon::ones({5, 1}) + tenon::ones({3});
  return sum.sizes() == tenon::SizesView{5, 3} && sum.sum().item<double>() == 30;
}

/// The library of decompositions is installed beside the other.
bool decomposes() {
  const Tensor half = tenon::linalg_inv(tenon::full({1, 1}, 2.0));
  return half.item<float>() == 0.5f && tenon::fft_rfft(tenon::ones({4}))[0].item().as_complex().re == 4;
}

bool differentiates() {
  Tensor leaf = tenon::ones({3}).requires_grad_();
  (leaf * (tenon::ones({5, 1}) + tenon::ones({3}))).sum().backward();
  return leaf.grad()[0].item<double>() == 10;
}

bool passes_lists() {
  const Tensor leaf = tenon::ones({3}).requires_grad_();
  const std::vector<Tensor> inputs{leaf};
  const Tensor y = Double::apply(inputs)[0];
  int hooks = 0;
  y.grad_fn().register_hook([&](const Tensors& grad_inputs, const Tensors& grad_outputs) {
    hooks += static_cast<int>(grad_inputs.size() + grad_outputs.size());
    return Tensors{grad_inputs[0] * 3};
  });
  const std::vector<Tensor> gradients = tenon::autograd::grad({y.sum()}, inputs);
  const std::vector<Tensor> places = tenon::nonzero_places(tenon::eye(3));
  return gradients.size() == 1 && gradients[0][2].item<double>() == 6 && hooks == 2 && places.size() == 2 &&
         places[1][2].item<int64_t>() == 2 && y.grad_fn().next_functions().size() == 1;
}

bool checks_gradients() {
  const auto square = [](const Tensors& in) { return Tensors{in[0] * in[0]}; };
  return tenon::autograd::gradcheck(square, {tenon::arange(1., 4., 1.).to(tenon::float64).requires_grad_()});
}

bool compiles() {
  const auto function = [](auto a, auto b) { return where(a > b, sqrt(a) * b + a, clamp(b / 3, 0, 0.2)); };
  const Tensor a = tenon::rand({7, 90}), b = tenon::rand({7, 1});
  return tenon::equal(tenon::compile(function)(a, b), function(a, b));
}

bool loops() {
  const Tensor x = tenon::arange(6.0).reshape({2, 3}), turned = x.t();
  std::ranges::sort(tenon::elements<float>(turned), std::greater<>());
  std::vector<float> numbers{5, 4, 3};
  const Tensor shared = tenon::from_span(std::span(numbers));
  return tenon::at<const float>(x, 0, 0) == 5 && tenon::strided_span<const float, 2>(turned)(0, 1) == 4 &&
         tenon::as_span<const float>(shared).data() == numbers.data();
}

/// The library knows its exceptions by their type information, also when the program makes one and has none
/// (-fno-rtti).
bool knows_exceptions() {
  const tenon::IndexError mine("mine");
  tenon_tensor* ones = nullptr;
  const int64_t size = 2;
  const tenon_value sizes = tenon_of_ints(&size, 1);
  if (mine.what() != std::string("mine") || tenon_call("ones", &sizes, 1, &ones, 1, nullptr) != TENON_OK) return false;
  const tenon_value arguments[] = {tenon_of_tensor(ones), tenon_named("dim", tenon_of_int(5))};
  const tenon_status status = tenon_call("sum", arguments, 2, nullptr, 0, nullptr);
  tenon_release(ones);
  return status == TENON_INDEX_ERROR;
}

bool catches() {
#if defined(__cpp_exceptions)
  try {
    tenon::ones({2}) + tenon::ones({3});
  } catch (const tenon::Error& error) {
    tenon::Error copy = error;
    copy.add_note("mine");
    std::size_t letters = 0;
    for (const std::string& note : copy.notes()) letters += note.size();
    return std::string(error.what()).find("size of tensor a (2)") != std::string::npos && !error.notes().empty() &&
           copy.notes().size() == error.notes().size() + 1 && letters > 20;
  }
  return false;
#else
  return true;
#endif
}

}  // namespace

int main() {
  bool (*const claims[])() = {computes, decomposes, differentiates,   passes_lists, checks_gradients,
                              compiles, loops,      knows_exceptions, catches};
  int number = 0;
  for (const auto claim : claims) {
    ++number;
    if (claim()) continue;
    std::printf("claim %d of the consumer does not hold\n", number);
    return number;
  }
  std::puts("all claims of the consumer hold");
  return 0;
}
