#include "autograd/derivative.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/fork.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/padding.h"
#include "dispatch/places.h"
#include "dispatch/recorder.h"
#include "ops/custom_table.h"
#include "tenon/factories.h"

namespace tenon::autograd {
namespace {

// The words that formulas are written in, on values. What is computed of numbers alone is a number.
Tensor in_float64(const Term& x) {
  const Scalar number = x.arg().number();
  return full({}, number, number.is_complex() ? complex128 : float64);
}
#define TENON_TERM_OPERATOR(SYMBOL, NAME)                                                    \
  [[maybe_unused]] Term operator SYMBOL(const Term& x, const Term& y) {                      \
    if (!x.is_tensor() && !y.is_tensor()) return tenon::NAME(in_float64(x), y.arg()).item(); \
    return tenon::NAME(x.arg(), y.arg());                                                    \
  }
TENON_TERM_OPERATOR(+, add)
TENON_TERM_OPERATOR(-, sub)
TENON_TERM_OPERATOR(*, mul)
TENON_TERM_OPERATOR(/, div)
TENON_TERM_OPERATOR(==, eq)
TENON_TERM_OPERATOR(<, lt)
TENON_TERM_OPERATOR(<=, le)
TENON_TERM_OPERATOR(&, logical_and)
TENON_TERM_OPERATOR(|, logical_or)
#undef TENON_TERM_OPERATOR
Term operator-(const Term& x) {
  if (x.is_tensor()) return Term(tenon::neg(x.tensor()));
  const Scalar number = x.number();
  return Term(0) - (number.is_boolean() ? Term(number.as_int64()) : x);  // subtraction refuses bools
}
Term choose(const Term& condition, const Term& x, const Term& y) {
  return tenon::where(condition.tensor(), x.arg(), y.arg());
}
Term quotient_floor(const Term& x, const Term& y) { return tenon::div(x.arg(), y.arg(), "floor"); }
Term quotient_trunc(const Term& x, const Term& y) { return tenon::div(x.arg(), y.arg(), "trunc"); }
Term conjugated(const Term& x) {
  if (x.is_tensor()) return is_complex(x.tensor().dtype()) ? Term(tenon::conj_physical(x.tensor())) : x;
  const Complex128 number = x.arg().number().as_complex();
  return x.arg().number().is_complex() ? Term(Scalar(Complex128{number.re, -number.im})) : x;
}
/// The conjugate of what a formula is multiplied with: of real numbers no step.
Term conj(const Term& x) { return conjugated(x); }
Term signum(const Term& x) { return is_complex(x.tensor().dtype()) ? tenon::sgn(x.tensor()) : tenon::sign(x.tensor()); }
Term inverse_root_less_1(const Term& x) {
  const Tensor& self = x.tensor();
  // The root of a product is the product of the roots of real numbers alone.
  if (is_complex(self.dtype())) return tenon::rsqrt(self + 1) * tenon::rsqrt(self - 1);
  return tenon::rsqrt(self * self - 1);
}
Term of_angle(const Term& grad, const Term& x) {
  const Tensor& self = x.tensor();
  if (!is_complex(self.dtype())) return zeros_like(self);
  const Tensor turn = grad.tensor() * self / tenon::square(tenon::abs(self)) * Complex128{0, 1};
  return tenon::where(self == 0, 0, turn);
}
Term of_sgn(const Term& grad, const Term& x, const Term& sgn) {
  const Tensor& self = x.tensor();
  if (!is_complex(self.dtype())) return zeros_like(self);
  const Tensor magnitude = tenon::abs(self), along = real(grad.tensor() / sgn.tensor());
  return tenon::where(magnitude == 0, 0, grad.tensor() / magnitude - along * sgn.tensor() / magnitude);
}
Term logarithm(const Term& x);
Term sine(const Term& x);
Term cosine(const Term& x);
/// By the base of a power.
Term of_power_base(const Term& grad, const Term& x, const Term& exponent) {
  if (exponent.is_tensor())
    return choose(exponent == 0, 0, grad * conj(exponent * Term(tenon::pow(x.arg(), (exponent - 1).arg()))));
  const Scalar number = exponent.number();
  if (number.as_complex() == Complex128{0, 0}) return zeros_like(grad.tensor());
  const Scalar less = number.is_complex()    ? Scalar(Complex128{number.as_complex().re - 1, number.as_complex().im})
                      : number.is_floating() ? Scalar(number.as_double() - 1)
                                             : Scalar(number.as_int64() - 1);
  return grad * conj(tenon::pow(x.tensor(), less) * number);
}
/// By its exponent: 0 where the base is 0 and the exponent not negative.
Term of_power_exponent(const Term& grad, const Term& x, const Term& exponent, const Term& result) {
  const bool is_number = !x.is_tensor();
  if (is_number && !(x.number().as_complex() == Complex128{0, 0})) {
    // The logarithm of a negative number is complex.
    const bool is_complex_log = is_complex(result.tensor().dtype());
    return grad * conj(result * logarithm(is_complex_log ? Term(Scalar(x.number().as_complex())) : x));
  }
  const Tensor& power = exponent.tensor();
  const Tensor rises = is_complex(power.dtype()) ? tenon::logical_and(imag(power) == 0, real(power) >= 0) : power >= 0;
  if (is_number) return grad * choose(rises, 0, conj(result * logarithm(x)));
  const Tensor base = x.tensor().to(result_type(x.tensor(), power));
  return grad * choose(tenon::logical_and(base == 0, rises), 0, conj(result * logarithm(base)));
}
Term of_sinc(const Term& grad, const Term& x) {
  constexpr double kPi = 3.14159265358979323846;
  const Term angle = x * kPi, square = x * x * kPi;
  return choose(x == 0, 0, grad * conj((cosine(angle) * angle - sine(angle)) / square));
}
/// Outside [0, 1] NaN, and outside the range that a given eps leaves 0.
Term of_logit(const Term& grad, const Term& x, const Term& eps) {
  const double limit = eps.number().as_double();
  // Not -0, so that the quotient has grad's sign.
  const Term inside = grad / choose((x == 0) | (x == 1), 0, x * (1 - x));
  if (limit < 0) return choose((x < 0) | (1 < x), std::numeric_limits<double>::quiet_NaN(), inside);
  return choose((x < limit) | (1 - limit < x), 0, inside);
}
Term times_logarithm(const Term& x, const Term& y) { return tenon::xlogy(x.arg(), y.arg()); }

/// 1 / (1 + exp(-x)), whose derivative is finite everywhere.
Term logistic(const Term& x) {
  if (!x.is_tensor()) return Term(1) / (Term(1) + tenon::exp(in_float64(Term(0) - x)).item());
  return tenon::sigmoid(x.tensor());
}
/// log(1 + exp(x)).
Term softened(const Term& x) { return tenon::softplus(x.tensor()); }

// Of an algorithm, whose words are the tensors' own methods.

/// What cat joined; of shape [0] what it left out.
List<Tensor> parts_of(const Tensor& grad, std::span<const Dims> sizes, int64_t dim) {
  List<Tensor> parts;
  int64_t start = 0;
  for (const Dims& part : sizes) {
    if (part.size() == 1 && part[0] == 0) {
      parts.push_back(zeros({0}, Options(grad.dtype(), grad.device())));
      continue;
    }
    const int64_t size = part[wrap_dim(dim, part.size())];
    parts.push_back(grad.narrow(dim, start, size));
    start += size;  // exact: parts of a dim
  }
  return parts;
}
/// What stack joined.
List<Tensor> slices_of(const Tensor& grad, int64_t dim) {
  List<Tensor> slices;
  for (int64_t i = 0; i < grad.size(dim); ++i) slices.push_back(grad.select(dim, i));
  return slices;
}
/// What block_diag joined.
List<Tensor> blocks_of(const Tensor& grad, std::span<const Dims> sizes) {
  List<Tensor> blocks;
  int64_t row = 0, column = 0;
  for (const Dims& block : sizes) {
    const int64_t rows = block.size() == 2 ? block[0] : 1, columns = block.empty() ? 1 : block[block.size() - 1];
    blocks.push_back(grad.narrow(0, row, rows).narrow(1, column, columns).reshape(block));
    // exact: parts of the result
    row += rows;
    column += columns;
  }
  return blocks;
}
/// Zeros of `sizes` with `grad` in what narrow selects.
Tensor in_narrow(const Tensor& grad, SizesView sizes, int64_t dim, int64_t start, int64_t length) {
  const int64_t first = start < 0 ? start + sizes[wrap_dim(dim, sizes.size())] : start;  // exact: of different signs
  return tenon::slice_scatter(zeros(sizes, Options(grad.dtype(), grad.device())), grad, dim, first, first + length, 1);
}
Tensor permuted_back(const Tensor& grad, SizesView dims) {
  Dims inverse(dims.size(), 0);
  for (int64_t i = 0; i < dims.size(); ++i) inverse[wrap_dim(dims[i], dims.size())] = i;
  return grad.permute(inverse);
}
Tensor turned_back(const Tensor& grad, int64_t k, const DimsArg& dims) { return grad.rot90(-(k % 4), dims); }
Tensor channels_back(const Tensor& grad, SizesView sizes, int64_t groups) {
  return tenon::channel_shuffle(grad, sizes[1] / groups);
}
Tensor shuffled_back(const Tensor& grad, int64_t factor) { return tenon::pixel_shuffle(grad, factor); }
Tensor unshuffled_back(const Tensor& grad, int64_t factor) { return tenon::pixel_unshuffle(grad, factor); }
/// Zeros of `sizes` to which each window is added.
Tensor of_windows(const Tensor& grad, SizesView sizes, int64_t dim, int64_t size, int64_t step) {
  Tensor whole = zeros(sizes, Options(grad.dtype(), grad.device()));
  for (int64_t place = 0; place < size; ++place) {
    // exact: between 0 and the size of the dim
    Tensor part = whole.dim() == 0 ? whole : whole.slice(dim, place, whole.size(dim) - size + place + 1, step);
    part.add_(grad.select(-1, place));
  }
  return whole;
}
/// The gradients of all copies that repeat made, summed.
Tensor of_repeat(const Tensor& grad, SizesView repeats, SizesView sizes) {
  if (std::find(repeats.begin(), repeats.end(), 0) != repeats.end())
    return zeros(sizes, Options(grad.dtype(), grad.device()));
  const int64_t leading = repeats.size() - sizes.size();
  Dims apart, summed;
  for (int64_t i = 0; i < repeats.size(); ++i) {
    if (i < leading || repeats[i] != 1) {
      summed.push_back(apart.size());
      apart.push_back(repeats[i]);
    }
    if (i >= leading) apart.push_back(sizes[i - leading]);
  }
  const Tensor copies = grad.reshape(apart);
  return summed.empty() ? copies : copies.sum(SizesView(summed));
}
/// The sum of the gradient at places along a dim, each counted once.
Tensor sum_at_places(const Tensor& grad, int64_t dim, const Tensor& places) {
  return (grad - grad.index_fill(dim, places, 0)).sum();
}
/// What masked_scatter took from `source`, in its order; 0 for the rest.
Tensor of_scattered(const Tensor& grad, const Tensor& mask, const Tensor& source) {
  const Tensor taken = grad.masked_select(mask);
  const Tensor rest =
      zeros({std::max<int64_t>(source.numel() - taken.numel(), 0)}, Options(grad.dtype(), grad.device()));
  return cat({taken, rest}).view(source.sizes());
}
/// By the conjugate of what the result was multiplied with; by 1 nothing is.
Tensor times(const Tensor& x, Scalar factor) {
  if (factor.as_complex() == Complex128{1, 0}) return x;
  return tenon::mul(x, conj(Term(factor)).arg().number());
}

// Words that are ops of one operand.
#define TENON_WORD(WORD, NAME)                                                                      \
  [[maybe_unused]] Term WORD(const Term& x) {                                                       \
    return x.is_tensor() ? Term(tenon::NAME(x.tensor())) : Term(tenon::NAME(in_float64(x)).item()); \
  }
TENON_WORD(square_root, sqrt)
TENON_WORD(inverse_root, rsqrt)
TENON_WORD(exponential, exp)
TENON_WORD(exponential_of_2, exp2)
TENON_WORD(exponential_less_1, expm1)
TENON_WORD(logarithm, log)
TENON_WORD(logarithm_to_2, log2)
TENON_WORD(logarithm_to_10, log10)
TENON_WORD(logarithm_of_1_more, log1p)
TENON_WORD(sine, sin)
TENON_WORD(cosine, cos)
TENON_WORD(tangent, tan)
TENON_WORD(arc_sine, asin)
TENON_WORD(arc_cosine, acos)
TENON_WORD(arc_tangent, atan)
TENON_WORD(hyperbolic_sine, sinh)
TENON_WORD(hyperbolic_cosine, cosh)
TENON_WORD(hyperbolic_tangent, tanh)
TENON_WORD(inverse_hyperbolic_sine, asinh)
TENON_WORD(inverse_hyperbolic_cosine, acosh)
TENON_WORD(inverse_hyperbolic_tangent, atanh)
TENON_WORD(error_function, erf)
TENON_WORD(error_function_rest, erfc)
TENON_WORD(erfcx, special_erfcx)
TENON_WORD(log_gamma, lgamma)
TENON_WORD(psi, digamma)
TENON_WORD(bessel_i0, i0)
TENON_WORD(i0e, special_i0e)
TENON_WORD(i1, special_i1)
TENON_WORD(i1e, special_i1e)
#undef TENON_WORD

/// Whether formulas are learned: every value, also a number, is a tensor of the meta device.
thread_local bool is_learning = false;
struct Learning {
  Learning() { is_learning = true; }
  ~Learning() { is_learning = false; }
};

Term psi_derivative(const Term& x, const Term& n) {
  // A call like it, if `n` is no number.
  return is_learning ? tenon::digamma(x.tensor()) : tenon::polygamma(n.arg().number().to<int64_t>(), x.tensor());
}
Term zeta(const Term& x, const Term& q) { return tenon::special_zeta(x.arg(), q.arg()); }
/// Throws NotImplementedError: PyTorch has no derivative, but records the op.
Term not_implemented(const Term& grad, const char* name) {
  if (is_learning) return -grad;
  throw NotImplementedError(std::string("the derivative for '") + name + "' is not implemented.");
}
/// Throws Error: PyTorch has no derivative, but records the op.
Term lacks_derivative(const Term& grad, const char* name) {
  if (is_learning) return -grad;
  throw Error(std::string("derivative for aten::") + name + " is not implemented");
}
/// `inside` of `x`, or `at_0` near 0, where it would divide by 0.
template <class Inside>
Tensor unless_near_0(const Tensor& x, double at_0, const Inside& inside) {
  const double epsilon = x.dtype() == float64 ? 0x1p-52 : 0x1p-23;
  const Tensor is_far = tenon::abs(x) > epsilon;
  return tenon::where(is_far, inside(tenon::where(is_far, x, epsilon)), at_0);
}
Term of_i1(const Term& grad, const Term& x, const Term& result) {
  return grad * Term(unless_near_0(x.tensor(), 0.5,
                                   [&](const Tensor& self) { return tenon::i0(self) - result.tensor() / self; }));
}
Term of_i1e(const Term& grad, const Term& x, const Term& result) {
  return grad * Term(unless_near_0(x.tensor(), 0.5, [&](const Tensor& self) {
           return tenon::special_i0e(self) - result.tensor() * (tenon::sgn(self) + tenon::reciprocal(self));
         }));
}
/// digamma(self - i / 2), summed over all i < p.
Tensor sum_of_digammas(const Tensor& self, int64_t p) {
  Tensor sum = tenon::digamma(self);
  for (int64_t i = 1; i < p; ++i) sum = sum + tenon::digamma(self - 0.5 * static_cast<double>(i));
  return sum;
}

struct Truth {
  bool value;
};
template <class T>
using TruthOf = Truth;
#include "ops/blocks-inl.h"

/// How many ops a formula calls on operands of that dtype: none where it gives the gradient as it is. Adds what it
/// reads.
int steps_of(Derivative::OfArgument& derivative, const Row& row, Dtype dtype) {
  Recorder recorder;
  const Recording recording(recorder);
  const auto input = [&](Dtype of) {
    const Tensor meta = empty({1}, Options(of, Device::meta));
    recorder.input(meta);
    return meta;
  };
  Given given;
  given.gradient = input(dtype);
  for (Term& value : given.values) value = input(dtype);
  if (row.promotion == Promotion::select) given.values[0] = input(bool_);
  const Learning learning;
  const Term value = derivative.formula(given);
  derivative.reads |= given.reads();
  return value.tensor().is(given.gradient.tensor()) ? 0 : std::max(recorder.calls(), 1);
}

Derivative::OfArgument learned(Derivative::Formula formula, const Row& row) {
  Derivative::OfArgument derivative{.formula = formula};
  derivative.steps = steps_of(derivative, row, float32);
  if ((row.dtypes & set_of(complex64)) != 0 && steps_of(derivative, row, complex64) > 0)
    derivative.steps = std::max(derivative.steps, 1);
  return derivative;
}

#define TENON_OF_ARGUMENT(I, LETTER)                                                                           \
  if constexpr (requires(const Given& g) { F::grad_##LETTER(g); }) {                                           \
    derivative.arguments[I] = learned([](const Given& g) -> Term { return F::grad_##LETTER(g); }, row_of(op)); \
    derivative.exists = true;                                                                                  \
  }
template <class F>
Derivative make_derivative([[maybe_unused]] Op op) {
  Derivative derivative;
  if constexpr (F::row.kind == Kind::map && !has_several_results(F::row)) {
    TENON_OF_ARGUMENT(0, a)
    TENON_OF_ARGUMENT(1, b)
    TENON_OF_ARGUMENT(2, c)
    TENON_OF_ARGUMENT(3, d)
  }
  unsigned seen = 0;
  for (const Derivative::OfArgument& argument : derivative.arguments) {
    derivative.shared |= seen & argument.reads;
    seen |= argument.reads;
  }
  return derivative;
}
#undef TENON_OF_ARGUMENT

#define TENON_OF_OPERAND(I, LETTER)                                              \
  if constexpr (requires(const CallGiven& g) {                                   \
                  { F::grad_##LETTER(g) } -> std::same_as<List<Tensor>>;         \
                })                                                               \
    derivative.of_list = [](const CallGiven& g) { return F::grad_##LETTER(g); }; \
  else if constexpr (requires(const CallGiven& g) { F::grad_##LETTER(g); })      \
    derivative.formulas[I] = [](const CallGiven& g) -> Tensor { return F::grad_##LETTER(g); };
template <class F>
CallDerivative make_call_derivative() {
  CallDerivative derivative;
  if constexpr (F::row.kind == Kind::algorithm || HasState<F> || has_several_results(F::row)) {
    TENON_OF_OPERAND(0, a)
    TENON_OF_OPERAND(1, b)
    TENON_OF_OPERAND(2, c)
  }
  return derivative;
}
#undef TENON_OF_OPERAND

constinit CustomTable<Derivative> custom_table;

/// How many elements each place of scatter_reduce has; at least 1.
Tensor counts_of_scatter(const CallGiven& given, const Tensor& index) {
  const Options like(given.grad().dtype(), given.grad().device());
  const Tensor start =
      given.boolean("include_self") ? ones(given.grad().sizes(), like) : zeros(given.grad().sizes(), like);
  const Tensor counts = start.scatter_add(given.integer("dim"), index, ones(index.sizes(), like));
  return counts.masked_fill(counts == 0, 1);
}
/// The gradient shared by all elements that equal the result. PyTorch counts those of input in any case.
Tensor shared_in_scatter(const CallGiven& given, const Tensor& self, const Tensor& index, const Tensor& source,
                         const Tensor& result) {
  const int64_t dim = given.integer("dim");
  const Tensor in_self = (self == result).to(self.dtype()),
               in_source = (source == result.gather(dim, index)).to(source.dtype());
  return given.grad() / in_self.scatter_add(dim, index, in_source);
}

}  // namespace

Tensor of_scatter_reduce_self(const CallGiven& given, const Tensor& self, const Tensor& index, const Tensor& source,
                              const Tensor& result) {
  const std::string_view reduce = given.text("reduce");
  const int64_t dim = given.integer("dim");
  const bool include_self = given.boolean("include_self");
  Tensor grad = given.grad();
  if (reduce == "prod") {
    const Tensor known = self.masked_fill(self == 0, 1);
    grad = grad * known.scatter_reduce(dim, index, source, "prod", include_self) / known;
  } else if (reduce == "mean") {
    grad = grad / counts_of_scatter(given, index);
  } else if (reduce != "sum") {
    grad = (self == result) * shared_in_scatter(given, self, index, source, result);
  }
  return include_self ? grad : grad.scatter(dim, index, 0);
}

namespace {

/// By the source of a product. Where one element of it is 0 its factor is the product of the others.
Tensor of_scattered_product(const CallGiven& given, const Tensor& self, const Tensor& index, const Tensor& source,
                            const Tensor& result) {
  const int64_t dim = given.integer("dim");
  const Tensor is_zero = source == 0;
  const Tensor zeros_there = zeros_like(self).scatter_add(dim, index, is_zero.to(self.dtype())).gather(dim, index);
  const Tensor is_only_zero = tenon::logical_and(is_zero, zeros_there == 1);
  const Tensor others =
      self.scatter_reduce(dim, index, source.masked_fill(is_only_zero, 1), "prod", given.boolean("include_self"));
  return tenon::where(is_only_zero, (given.grad() * others).gather(dim, index),
                      (given.grad() * result).gather(dim, index) / source.masked_fill(is_zero, 1));
}

}  // namespace

Tensor of_scatter_reduce_source(const CallGiven& given, const Tensor& self, const Tensor& index, const Tensor& source,
                                const Tensor& result) {
  const std::string_view reduce = given.text("reduce");
  const int64_t dim = given.integer("dim");
  const Tensor& grad = given.grad();
  if (reduce == "sum") return grad.gather(dim, index);
  if (reduce == "mean") return grad.gather(dim, index) / counts_of_scatter(given, index).gather(dim, index);
  if (reduce == "prod") return of_scattered_product(given, self, index, source, result);
  return (source == result.gather(dim, index)) *
         shared_in_scatter(given, self, index, source, result).gather(dim, index);
}

Term Given::zero() const { return zeros_like(gradient.tensor()); }

const Tensor& CallGiven::grad_unless(const char* parameter) const {
  if (!value(parameter).is_empty())
    throw Error(std::string("derivative for aten::") + schema_.name + " is not implemented");
  return grad();
}
Tensor CallGiven::zeros(SizesView sizes) const { return tenon::zeros(sizes, Options(grad().dtype(), grad().device())); }
Tensor CallGiven::at_mask(const Tensor& self, const Tensor& mask) const {
  const Dims shape = infer_size(self.sizes(), mask.sizes());
  Tensor whole = zeros_like(self.detach().expand(shape));
  whole.index_put_({mask.expand(shape)}, grad());
  return whole;
}
Tensor CallGiven::on_diagonal(int64_t offset, int64_t dim1, int64_t dim2) const {
  const Tensor whole = zeros(sizes());
  whole.diagonal(offset, dim1, dim2).copy_(grad());
  return whole;
}
Tensor CallGiven::joined_grads(int64_t dim) const { return tenon::cat(List<Tensor>(grads_), dim); }
Tensor CallGiven::stacked_grads(int64_t dim) const {
  if (grads_.empty()) return {};
  // The new dim is counted among those of the whole.
  return tenon::stack(List<Tensor>(grads_), dim);
}
Tensor CallGiven::grad_padded(SizesView pad) const { return tenon::constant_pad_nd(grad(), pad, 0); }
Tensor CallGiven::grad_of_padding(std::string_view mode) const {
  const DimsArg given = dims("padding");
  const SizesView padding = given.view();
  Tensor sum = grad();
  for (int64_t i = padding.size() / 2 - 1; i >= 0; --i) {
    const int64_t dim = sizes().size() - 1 - i;
    Dims shape = sum.sizes().copy();
    shape[dim] = sizes()[dim];
    const Tensor places = padded_places(shape[dim], padding[2 * i], padding[2 * i + 1],
                                        mode == "reflect" ? Border::reflect : Border::replicate, sum.device());
    sum = zeros(shape).index_add(dim, places, sum);
  }
  return sum;
}
DimsArg CallGiven::negative(const char* parameter) const {
  Dims numbers = dims(parameter).view().copy();
  for (int64_t& number : numbers) number = static_cast<int64_t>(-static_cast<uint64_t>(number));
  return SizesView(numbers);
}

CustomGiven as_tensors(const Given& given) {
  const Tensor& grad = given.gradient.tensor();
  const auto tensor = [&](const Term& value) {
    return value.is_tensor() ? value.tensor() : full({}, value.arg().number(), Options(grad.dtype(), grad.device()));
  };
  return {grad, tensor(given.values[0]), tensor(given.values[1]), tensor(given.values[2]),
          tensor(given.values[kResult])};
}

void set_custom_derivative(Op op, const Derivative& derivative) { custom_table.make(op) = derivative; }

const Derivative& derivative_of(Op op) {
  if (is_custom(op)) [[unlikely]]
    return custom_table[op];
  static const std::array<Derivative, kOpCount> table = {
#define TENON_OP(NAME) make_derivative<ops::NAME>(Op::NAME),
#include "ops/list.def"
#undef TENON_OP
  };
  return table[static_cast<std::size_t>(op)];
}

static const AtLoad derivatives_at_load([] { derivative_of(Op{}); });

const CallDerivative& call_derivative_of(Op op) noexcept {
  static const std::array<CallDerivative, kOpCount> table = {
#define TENON_OP(NAME) make_call_derivative<ops::NAME>(),
#include "ops/list.def"
#undef TENON_OP
  };
  return table[static_cast<std::size_t>(op)];
}
static const AtLoad call_derivatives_at_load([] { call_derivative_of(Op{}); });

}  // namespace tenon::autograd
