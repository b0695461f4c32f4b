// autograd: the derivatives of the op blocks as functions. Takes an op; gives, for each argument, its derivative and
// the values that it reads. The same function runs on tensors in a graph (which gives second derivatives), on plain
// tensors, and on meta tensors, from which a Recorder makes one Program.
#pragma once
#include "ops/row.h"
#include "tenon/custom_op.h"
#include "tenon/ops.h"
#include "tenon/schema.h"

namespace tenon::autograd {

/// An operand of a formula: a tensor or a number.
class Term {
 public:
  Term() = default;
  Term(Tensor tensor) : tensor_(std::move(tensor)) {}
  Term(Scalar number) : number_(number) {}
  template <class T>
  requires std::is_arithmetic_v<T> Term(T number) : number_(number) {}

  bool is_tensor() const noexcept { return tensor_.defined(); }
  const Tensor& tensor() const noexcept { return tensor_; }
  Scalar number() const noexcept { return number_; }
  Arg arg() const noexcept { return is_tensor() ? Arg(tensor_) : Arg(number_); }

 private:
  Tensor tensor_;
  Scalar number_;
};

inline constexpr int kResult = kMaxArgs;  // index of the result among the values of a derivative

/// The values that a formula may read. Formulas call these functions by name.
class Given {
 public:
  Term values[kMaxArgs + 1];  // the arguments, then the result
  Term gradient;

  const Term& grad() const { return gradient; }
  const Term& a() const { return read(0); }
  const Term& b() const { return read(1); }
  const Term& c() const { return read(2); }
  const Term& d() const { return read(3); }
  const Term& result() const { return read(kResult); }
  /// A gradient of zeros.
  Term zero() const;
  /// Bit i: value i was read.
  unsigned reads() const noexcept { return reads_; }

 private:
  const Term& read(int value) const {
    reads_ |= 1u << value;
    return values[value];
  }
  mutable unsigned reads_ = 0;
};

/// Numbers become tensors of the gradient's dtype.
CustomGiven as_tensors(const Given& given);

struct Derivative {
  using Formula = Term (*)(const Given&);
  struct OfArgument {
    Formula formula = nullptr;  // null: not differentiable
    unsigned reads = 0;         // bit i: it reads value i
    int steps = 0;              // number of ops in the formula; 0: it returns the gradient unchanged
    Tensor (*custom)(const CustomGiven&) = nullptr;  // the derivative of a custom op, instead of a formula

    bool exists() const noexcept { return formula || custom; }
    Tensor operator()(const Given& given) const { return custom ? custom(as_tensors(given)) : formula(given).tensor(); }
  };
  OfArgument arguments[kMaxArgs];
  unsigned shared = 0;  // bit i: several arguments' formulas read value i, so it is always saved, as in PyTorch
  bool exists = false;  // for at least one argument
};
/// The derivatives of an elementwise op. The first call runs every formula on meta tensors to find out what it reads.
const Derivative& derivative_of(Op op);
void set_custom_derivative(Op op, const Derivative& derivative);

/// The values that an algorithm's derivative may read. A missing gradient of a result is zeros.
class CallGiven {
 public:
  CallGiven(const Schema& schema, const Value* values, const Tensor* operands, const Tensor* results,
            std::span<const Tensor> grads, unsigned came, SizesView sizes, unsigned column_major,
            std::span<const Dims> part_sizes, unsigned wanted)
      : schema_(schema),
        values_(values),
        operands_(operands),
        results_(results),
        grads_(grads),
        came_(came),
        sizes_(sizes),
        column_major_(column_major),
        part_sizes_(part_sizes),
        wanted_(wanted) {}

  const Tensor& grad(int result = 0) const { return grads_[static_cast<std::size_t>(result)]; }
  /// Whether the result has a gradient.
  bool has_grad(int result) const { return (came_ >> result & 1u) != 0; }
  /// The gradient. Throws Error if `parameter` was given, because there is no derivative then.
  const Tensor& grad_unless(const char* parameter) const;
  const Tensor& a() const { return operands_[0]; }
  const Tensor& b() const { return operands_[1]; }
  const Tensor& c() const { return operands_[2]; }
  const Tensor& result(int i = 0) const { return results_[i]; }
  /// The sizes of the first operand, even if it is not saved.
  SizesView sizes() const { return sizes_; }
  /// The sizes of each tensor of a list.
  std::span<const Dims> part_sizes() const { return part_sizes_; }
  /// Whether the gradient of an operand is needed.
  bool wants(int operand) const { return (wanted_ >> operand & 1u) != 0; }
  /// What the first operand's formula computed for the next ones, which are called after it; undefined if it didn't.
  struct Kept {
    Tensor b, c;
  };
  Kept& kept() const { return kept_; }
  /// Zeros of the gradient's dtype.
  Tensor zeros(SizesView sizes) const;
  /// The gradient of masked_select: for each element of `self` where `mask` is true its gradient, elsewhere 0.
  Tensor at_mask(const Tensor& self, const Tensor& mask) const;
  /// Zeros of the first operand's sizes, with the gradient on a diagonal.
  Tensor on_diagonal(int64_t offset, int64_t dim1, int64_t dim2) const;
  /// The gradients of all results, joined along a dim, or stacked in a new one.
  Tensor joined_grads(int64_t dim) const;
  Tensor stacked_grads(int64_t dim) const;
  /// The gradient of pad: the gradient padded by the opposite numbers.
  Tensor grad_padded(SizesView pad) const;
  /// The gradient of a pad with elements of the tensor itself: each is added to that element.
  Tensor grad_of_padding(std::string_view mode) const;
  /// The integers of a parameter, negated.
  DimsArg negative(const char* parameter) const;
  /// Whether an operand is a column-major matrix: then its gradient is computed column-major, too.
  bool is_column_major(int operand) const { return (column_major_ >> operand & 1u) != 0; }
  Scalar number(const char* parameter, Scalar fallback) const { return value(parameter).number(fallback); }
  int64_t integer(const char* parameter, int64_t fallback = 0) const { return value(parameter).integer(fallback); }
  std::optional<int64_t> optional_integer(const char* parameter) const { return value(parameter).optional_integer(); }
  const char* text(const char* parameter) const { return value(parameter).text(); }
  bool boolean(const char* parameter, bool fallback = false) const { return value(parameter).boolean(fallback); }
  const char* word(const char* parameter, const char* fallback) const { return value(parameter).text(fallback); }
  DimsArg dims(const char* parameter) const { return value(parameter).dims_arg(); }
  /// A result, or its gradient, with the operand's dims: reduced dims have size 1.
  Tensor over_dims(const Tensor& reduced) const;
  std::optional<Scalar> optional_number(const char* parameter) const { return value(parameter).optional_number(); }

 private:
  const Value& value(const char* parameter) const { return values_[schema_.place_of(parameter)]; }

  const Schema& schema_;
  const Value* values_;
  const Tensor* operands_;
  const Tensor* results_;
  std::span<const Tensor> grads_;  // of all results
  unsigned came_;                  // bit i: result i has a gradient
  SizesView sizes_;
  unsigned column_major_;  // bit i: operand i
  std::span<const Dims> part_sizes_;
  unsigned wanted_;  // bit i: operand i
  mutable Kept kept_;
};

/// Zeros of these sizes, to which `grad` is added along `dim` at the indices `places`. Differentiable.
Tensor added_along(const Tensor& grad, int64_t dim, const Tensor& places, SizesView sizes);

/// A tensor that was reduced over the dims of `mask`, with those dims back as size 1.
Tensor with_reduced_dims(const Tensor& reduced, SizesView mask, bool keepdim);
// Derivatives that are longer than a line.
Tensor of_variance(const CallGiven& given, const Tensor& grad, const Tensor& self);
Tensor of_deviation(const CallGiven& given, const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor of_var_mean(const CallGiven& given, const Tensor& self);
Tensor of_std_mean(const CallGiven& given, const Tensor& self, const Tensor& deviation);
Tensor of_norm(const CallGiven& given, const Tensor& grad, const Tensor& self, const Tensor& result);
/// By input and by the source of scatter_reduce.
Tensor of_scatter_reduce_self(const CallGiven& given, const Tensor& self, const Tensor& index, const Tensor& source,
                              const Tensor& result);
Tensor of_scatter_reduce_source(const CallGiven& given, const Tensor& self, const Tensor& index, const Tensor& source,
                                const Tensor& result);
/// The gradient of max() and min() over all dims: all elements equal to the extreme share it.
Tensor shared_among(const Tensor& grad, const Tensor& self, const Tensor& extreme);
Tensor of_extremes(const CallGiven& given, const Tensor& self, const Tensor& low, const Tensor& high);
Tensor of_softmax(const Tensor& grad, const Tensor& result, int64_t dim);
Tensor of_log_softmax(const Tensor& grad, const Tensor& result, int64_t dim);
Tensor of_logcumsumexp(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor of_cumprod(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor of_trace(const Tensor& grad, SizesView sizes);
/// By the difference of the operands of dist.
Tensor of_dist(const CallGiven& given, const Tensor& grad, const Tensor& difference, const Tensor& result);
Tensor of_cdist(const Tensor& grad, const Tensor& x1, const Tensor& x2, const Tensor& result, Scalar p);
Tensor of_renorm(const CallGiven& given, const Tensor& grad, const Tensor& self);
/// The cross product of two tensors that broadcast.
Tensor crossed(const Tensor& self, const Tensor& other, int64_t dim);
/// Zeros of the operand's sizes, with `grad` at the indices `places` along the reduced dim.
Tensor at_places(const CallGiven& given, const Tensor& grad, const Tensor& places);

/// The gradient of a loss by argument 0 or 1 of the op that computes its elements.
Tensor of_loss(const CallGiven& given, Op element, int argument, const Tensor& self, const Tensor& target,
               Scalar number = {}, const Tensor& weight = {});
Tensor of_nll_loss(const CallGiven& given, const Tensor& self, const Tensor& target, const Tensor& weight);
/// By the operands of layer_norm and group_norm.
Tensor of_layer_norm(const CallGiven& given, const Tensor& input, const Tensor& weight);
Tensor of_layer_norm_weight(const CallGiven& given, const Tensor& input, const Tensor& weight);
Tensor of_layer_norm_bias(const CallGiven& given, const Tensor& bias);
Tensor of_group_norm(const CallGiven& given, const Tensor& input, const Tensor& weight);
Tensor of_group_norm_weight(const CallGiven& given, const Tensor& input, const Tensor& weight);
Tensor of_group_norm_bias(const CallGiven& given, const Tensor& bias);
Tensor of_soft_margin_loss(const CallGiven& given, const Tensor& self, const Tensor& target);

// Of decompositions and of what is solved (autograd/linalg.cpp).
Tensor of_lu_factor(const Tensor& grad, const Tensor& lu, const Tensor& pivots);
Tensor of_inverse(const Tensor& grad, const Tensor& inverse);
/// By A and by B of A X = B, or of X A = B.
Tensor of_solve_matrix(const CallGiven& given, const Tensor& a, const Tensor& x);
Tensor of_solve_right(const CallGiven& given, const Tensor& a);
Tensor of_solve_triangle(const CallGiven& given, const Tensor& a, const Tensor& x);
Tensor of_solve_triangular_right(const CallGiven& given, const Tensor& a);
Tensor of_det(const Tensor& grad, const Tensor& a, const Tensor& det);
Tensor of_slogdet(const CallGiven& given, const Tensor& a, const Tensor& sign);
Tensor of_cholesky(const Tensor& grad, const Tensor& factor, bool upper);
Tensor of_qr(const CallGiven& given, const Tensor& q, const Tensor& r);
Tensor of_eigh(const CallGiven& given, const Tensor& values, const Tensor& vectors);
Tensor of_eig(const CallGiven& given, const Tensor& a, const Tensor& values, const Tensor& vectors);
Tensor of_svd(const CallGiven& given, const Tensor& u, const Tensor& s, const Tensor& vh);
Tensor of_pinv(const Tensor& grad, const Tensor& inverse, const Tensor& a);
Tensor of_matrix_exp(const Tensor& grad, const Tensor& a);
// Of Fourier transforms (autograd/fourier.cpp).
Tensor of_c2c(const CallGiven& given);
Tensor of_r2c(const CallGiven& given);
Tensor of_c2r(const CallGiven& given);

/// The derivatives of an algorithm, one for each operand; null: not differentiable.
struct CallDerivative {
  Tensor (*formulas[kMaxArgs])(const CallGiven&) = {};
  List<Tensor> (*of_list)(const CallGiven&) = nullptr;  // for an algorithm of a list of tensors
};
const CallDerivative& call_derivative_of(Op op) noexcept;

}  // namespace tenon::autograd
