// autograd: the formulas of the op blocks, as functions. Takes an op; gives, for each argument, its derivative over
// tensors and what that reads. The same function runs on tensors that are in a graph (which gives second derivatives),
// on plain ones, and on meta tensors that a Recorder turns into one Program.
#pragma once
#include "ops/row.h"
#include "tenon/custom_op.h"
#include "tenon/ops.h"

namespace tenon::autograd {

/// What a formula works on: a tensor or a number.
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : tensor_(std::move(tensor)) {}
  Value(Scalar number) : number_(number) {}
  template <class T>
  requires std::is_arithmetic_v<T> Value(T number) : number_(number) {}

  bool is_tensor() const noexcept { return tensor_.defined(); }
  const Tensor& tensor() const noexcept { return tensor_; }
  Arg arg() const noexcept { return is_tensor() ? Arg(tensor_) : Arg(number_); }

 private:
  Tensor tensor_;
  Scalar number_;
};

/// What is at hand when a gradient is computed. Formulas call these by name.
class Given {
 public:
  Value values[4];  // the arguments, then the result
  Value gradient;

  const Value& grad() const { return gradient; }
  const Value& a() const { return values[0]; }
  const Value& b() const { return values[1]; }
  const Value& c() const { return values[2]; }
  const Value& result() const { return values[3]; }
  /// A gradient of zeros.
  Value zero() const;
};

inline constexpr int kMaxArguments = 3;
inline constexpr int kResult = 3;  // its place among the values

/// Numbers become tensors of the gradient's dtype.
CustomGiven as_tensors(const Given& given);

struct Derivative {
  using Formula = Value (*)(const Given&);
  struct OfArgument {
    Formula formula = nullptr;                       // null: not differentiable
    unsigned reads = 0;                              // bit i: value i
    int steps = 0;                                   // ops of the formula
    Tensor (*custom)(const CustomGiven&) = nullptr;  // instead of a formula, of ops that are defined from outside

    bool exists() const noexcept { return formula || custom; }
    Tensor operator()(const Given& given) const { return custom ? custom(as_tensors(given)) : formula(given).tensor(); }
  };
  OfArgument arguments[kMaxArguments];
  bool exists = false;  // for some argument
};
/// Of an elementwise op.
const Derivative& derivative_of(Op op) noexcept;
void set_custom_derivative(Op op, const Derivative& derivative);

}  // namespace tenon::autograd
