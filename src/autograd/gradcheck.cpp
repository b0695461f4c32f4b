// Compares gradients with finite differences.
#include <cmath>
#include <utility>

#include "autograd/meta.h"
#include "tenon/factories.h"
#include "tensor/places.h"

namespace tenon::autograd {
namespace {

/// Visits the elements of a tensor in row-major order.
template <class Visit>
void for_each_place(const Tensor& tensor, const Visit& visit) {
  Places places(tensor.sizes(), tensor.strides());
  for (int64_t i = 0; i < tensor.numel(); ++i, places.next()) visit(i, places.place());
}

/// The real numbers that are varied and compared: a complex number counts as two. The gradient of a real function holds
/// both its partial derivatives, so the Jacobian is real.
Tensor parts_of(const Tensor& tensor) {
  return is_complex(tensor.dtype()) ? view_as_real(tensor.detach()) : tensor.detach();
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  const Tensor wide = parts_of(tensor).to(float64);
  for_each_place(wide, [&](int64_t, int64_t place) { values.push_back(wide.data<double>()[place]); });
  return values;
}

/// Calls the function and copies its values, because an output may be an input. Throws Error if their number differs
/// from that in `before`.
std::vector<std::vector<double>> call(const Differentiable& function, const Tensors& inputs, const Tensors& before) {
  const NoGrad no_grad;
  std::vector<std::vector<double>> values;
  const Tensors outputs = function(inputs);
  bool same = outputs.size() == before.size();
  for (std::size_t i = 0; same && i < outputs.size(); ++i) same = outputs[i].sizes() == before[i].sizes();
  if (!same) throw GradcheckError("gradcheck: the function gives results of other shapes when it is called again");
  for (const Tensor& output : outputs) values.push_back(values_of(output));
  return values;
}

/// Replaces a value while it lives.
class Replaced {
 public:
  Replaced(double& place, double value) noexcept : place_(place), before_(std::exchange(place, value)) {}
  ~Replaced() { place_ = before_; }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  double& place_;
  double before_;
};

/// Rows are elements of the input, columns elements of the output.
struct Jacobian {
  Tensor values;
  Jacobian(int64_t rows, int64_t columns) : values(zeros({rows, columns}, float64)) {}
  // exact: inside the storage
  double& at(int64_t row, int64_t column) { return values.data<double>()[row * values.size(1) + column]; }
};

/// Central differences, one column of all outputs at a time.
std::vector<Jacobian> numerical(const Differentiable& function, const Tensors& inputs, std::size_t input,
                                const Tensors& outputs, double eps) {
  const Tensor x = parts_of(inputs[input]);
  std::vector<Jacobian> jacobians;
  for (const Tensor& output : outputs) jacobians.emplace_back(x.numel(), parts_of(output).numel());
  double* data = x.data<double>();
  for_each_place(x, [&](int64_t row, int64_t place) {
    const auto at = [&](double value) {
      const Replaced moved(data[place], value);
      return call(function, inputs, outputs);
    };
    const double before = data[place];
    const std::vector<std::vector<double>> above = at(before + eps), below = at(before - eps);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::vector<double>&high = above[i], &low = below[i];
      for (std::size_t column = 0; column < high.size(); ++column)
        jacobians[i].at(row, static_cast<int64_t>(column)) = (high[column] - low[column]) / (2 * eps);
    }
  });
  return jacobians;
}

/// One backward for each element of the output.
Jacobian analytical(const Tensor& output, const Tensor& input) {
  Jacobian jacobian(parts_of(input).numel(), parts_of(output).numel());
  if (!output.requires_grad()) return jacobian;
  GradOptions options;
  options.retain_graph = true;
  options.allow_unused = true;
  for (int64_t column = 0; column < jacobian.values.size(1); ++column) {
    const Tensor weights = zeros(output.sizes(), output.dtype());
    parts_of(weights).view({-1}).select(0, column).fill_(1);
    const Tensor gradient = grad({output}, {input}, {weights}, options)[0];
    if (!gradient.defined()) continue;
    const std::vector<double> values = values_of(gradient);
    for (std::size_t row = 0; row < values.size(); ++row) jacobian.at(static_cast<int64_t>(row), column) = values[row];
  }
  return jacobian;
}

bool is_close(const Jacobian& analytic, const Jacobian& numeric, const GradcheckOptions& options) {
  const double* a = analytic.values.data<double>();
  const double* n = numeric.values.data<double>();
  for (int64_t i = 0; i < numeric.values.numel(); ++i)
    if (!(std::abs(a[i] - n[i]) <= options.atol + options.rtol * std::abs(n[i])) && a[i] != n[i]) return false;
  return true;
}

[[noreturn]] void fail(std::size_t output, std::size_t input, const Jacobian& numeric, const Jacobian& analytic) {
  throw GradcheckError("Jacobian mismatch for output " + std::to_string(output) + " with respect to input " +
                       std::to_string(input) + ",\nnumerical:" + to_string(numeric.values) +
                       "\nanalytical:" + to_string(analytic.values) + "\n");
}

void check_inputs(const Tensors& inputs) {
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    any = true;
    if (to_real(inputs[i].dtype()) != float64)
      throw ValueError("gradcheck: input " + std::to_string(i) + " is " + dtype_name(inputs[i].dtype()) +
                       "; finite differences need float64 or complex128");
  }
  if (!any)
    throw ValueError(
        "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.");
}

/// Weights that are neither equal nor in a simple ratio.
Tensor weights_like(const Tensor& output) {
  Tensor weights = empty(output.sizes(), output.dtype());
  double next = 0.35;
  const Tensor parts = parts_of(weights);
  for_each_place(parts, [&](int64_t, int64_t place) {
    next = std::fmod(next + 0.6180339887498949, 1.0);
    parts.data<double>()[place] = next + 0.25;
  });
  return weights.requires_grad_();
}

}  // namespace

bool gradcheck(const Differentiable& function, const Tensors& inputs, const GradcheckOptions& options) {
  check_inputs(inputs);
  const EnableGrad enable_grad;
  const Tensors outputs = function(inputs);
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (!inputs[input].requires_grad()) continue;
    const std::vector<Jacobian> numeric = numerical(function, inputs, input, outputs, options.eps);
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      const Jacobian analytic = analytical(outputs[output], inputs[input]);
      if (!is_close(analytic, numeric[output], options)) fail(output, input, numeric[output], analytic);
    }
  }
  return true;
}

bool gradgradcheck(const Differentiable& function, const Tensors& inputs, const GradcheckOptions& options) {
  check_inputs(inputs);
  const EnableGrad enable_grad;
  Tensors all = inputs;
  for (const Tensor& output : function(inputs))
    if (output.requires_grad()) all.push_back(weights_like(output));
  const std::size_t count = inputs.size();
  const auto gradients = [&](const Tensors& given) {
    const EnableGrad inside;  // here finite differences are taken of gradients, which need a graph
    Tensors outputs, differentiated;
    for (const Tensor& output : function(Tensors(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(count))))
      if (output.requires_grad()) outputs.push_back(output);
    for (std::size_t i = 0; i < count; ++i)
      if (given[i].requires_grad()) differentiated.push_back(given[i]);
    GradOptions how;
    how.create_graph = true;
    how.materialize_grads = true;
    return grad(outputs, differentiated, Tensors(given.begin() + static_cast<std::ptrdiff_t>(count), given.end()), how);
  };
  return gradcheck(gradients, all, options);
}

GradcheckError::~GradcheckError() = default;

}  // namespace tenon::autograd
