#include "autograd/derivative.h"

#include <array>

#include "dispatch/differentiate.h"
#include "ops/custom_table.h"
#include "tenon/factories.h"

namespace tenon::autograd {
namespace {

// The words that formulas are written in, on values.
#define TENON_TERM_OPERATOR(SYMBOL, NAME) \
  [[maybe_unused]] Term operator SYMBOL(const Term& x, const Term& y) { return tenon::NAME(x.arg(), y.arg()); }
TENON_TERM_OPERATOR(+, add)
TENON_TERM_OPERATOR(*, mul)
TENON_TERM_OPERATOR(/, div)
TENON_TERM_OPERATOR(==, eq)
TENON_TERM_OPERATOR(<, lt)
TENON_TERM_OPERATOR(<=, le)
TENON_TERM_OPERATOR(&, logical_and)
TENON_TERM_OPERATOR(|, logical_or)
#undef TENON_TERM_OPERATOR
/// Of two numbers a number: in float64.
[[maybe_unused]] Term operator-(const Term& x, const Term& y) {
  if (!x.is_tensor() && !y.is_tensor()) {
    const Complex128 a = x.number().as_complex(), b = y.number().as_complex();
    const bool is_real = !x.number().is_complex() && !y.number().is_complex();
    return is_real ? Term(a.re - b.re) : Term(Scalar(Complex128{a.re - b.re, a.im - b.im}));
  }
  return tenon::sub(x.arg(), y.arg());
}
Term operator-(const Term& x) { return tenon::neg(x.tensor()); }
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
/// A complex number divided by its magnitude; 0 at 0.
Term direction(const Tensor& self) {
  const Tensor magnitude = tenon::abs(self);
  return self / tenon::where(magnitude == 0, 1, magnitude);
}
Term signum(const Term& x) { return is_complex(x.tensor().dtype()) ? direction(x.tensor()) : tenon::sign(x.tensor()); }
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

/// 2^exponent of what frexp was given and its mantissa: the exponent's own would be rounded.
Tensor power_of_two(const Tensor& self, const Tensor& mantissa) {
  const Tensor is_scaled = tenon::logical_and(mantissa != 0, tenon::isfinite(mantissa));
  return tenon::where(is_scaled, self / mantissa, 1);
}

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
/// By the conjugate of what the result was multiplied with; by 1 nothing is.
Tensor times(const Tensor& x, Scalar factor) {
  if (factor.as_complex() == Complex128{1, 0}) return x;
  return tenon::mul(x, conj(Term(factor)).arg().number());
}

// The same words on nothing: running a formula on them tells what it reads and how long it is.
struct Probe {
  mutable unsigned reads = 0;
  mutable int steps = 0;
};
struct ProbeTerm {
  const Probe* probe;
  const ProbeTerm& step() const {
    ++probe->steps;
    return *this;
  }
};
#define TENON_PROBE_OPERATOR(SYMBOL)                                                      \
  [[maybe_unused]] ProbeTerm operator SYMBOL(ProbeTerm x, ProbeTerm) { return x.step(); } \
  [[maybe_unused]] ProbeTerm operator SYMBOL(ProbeTerm x, double) { return x.step(); }
TENON_PROBE_OPERATOR(+)
TENON_PROBE_OPERATOR(-)
TENON_PROBE_OPERATOR(*)
TENON_PROBE_OPERATOR(/)
TENON_PROBE_OPERATOR(==)
TENON_PROBE_OPERATOR(<)
TENON_PROBE_OPERATOR(<=)
TENON_PROBE_OPERATOR(&)
TENON_PROBE_OPERATOR(|)
#undef TENON_PROBE_OPERATOR
[[maybe_unused]] ProbeTerm operator+(double, ProbeTerm x) { return x.step(); }
[[maybe_unused]] ProbeTerm operator/(double, ProbeTerm x) { return x.step(); }
[[maybe_unused]] ProbeTerm operator-(double, ProbeTerm x) { return x.step(); }
ProbeTerm operator-(ProbeTerm x) { return x.step(); }
ProbeTerm quotient_floor(ProbeTerm x, ProbeTerm) { return x.step(); }
ProbeTerm quotient_trunc(ProbeTerm x, ProbeTerm) { return x.step(); }
ProbeTerm conjugated(ProbeTerm x) { return x.step(); }
ProbeTerm signum(ProbeTerm x) { return x.step(); }
ProbeTerm inverse_root_less_1(ProbeTerm x) { return (x * x - 1).step(); }
ProbeTerm of_angle(ProbeTerm grad, ProbeTerm) { return grad.step(); }
ProbeTerm of_sgn(ProbeTerm grad, ProbeTerm, ProbeTerm) { return grad.step(); }
ProbeTerm conj(ProbeTerm x) { return x; }
template <class X, class Y>
ProbeTerm choose(ProbeTerm condition, X, Y) {
  return condition.step();
}
// Words of both that are ops of one operand.
#define TENON_WORD(WORD, NAME)                                 \
  Term WORD(const Term& x) { return tenon::NAME(x.tensor()); } \
  ProbeTerm WORD(ProbeTerm x) { return x.step(); }
TENON_WORD(sine, sin)
TENON_WORD(cosine, cos)
TENON_WORD(hyperbolic_sine, sinh)
TENON_WORD(hyperbolic_cosine, cosh)
TENON_WORD(exponential, exp)
TENON_WORD(inverse_root, rsqrt)
#undef TENON_WORD
class ProbeGiven {
 public:
  explicit ProbeGiven(const Probe& probe) : probe_(probe) {}
  ProbeTerm grad() const { return {&probe_}; }
  ProbeTerm a() const { return read(0); }
  ProbeTerm b() const { return read(1); }
  ProbeTerm c() const { return read(2); }
  ProbeTerm d() const { return read(3); }
  ProbeTerm result() const { return read(kResult); }
  ProbeTerm zero() const { return ProbeTerm{&probe_}.step(); }

 private:
  ProbeTerm read(int value) const {
    probe_.reads |= 1u << value;
    return {&probe_};
  }
  const Probe& probe_;
};

struct Truth {
  bool value;
};
#include "ops/blocks-inl.h"

#define TENON_OF_ARGUMENT(I, LETTER)                                                                                  \
  if constexpr (requires(const Given& g) { F::grad_##LETTER(g); }) {                                                  \
    const Probe probe;                                                                                                \
    F::grad_##LETTER(ProbeGiven(probe));                                                                              \
    derivative.arguments[I] = {[](const Given& g) -> Term { return F::grad_##LETTER(g); }, probe.reads, probe.steps}; \
    derivative.exists = true;                                                                                         \
  }
template <class F>
Derivative make_derivative() {
  Derivative derivative;
  if constexpr (F::row.kind == Kind::map) {
    TENON_OF_ARGUMENT(0, a)
    TENON_OF_ARGUMENT(1, b)
    TENON_OF_ARGUMENT(2, c)
    TENON_OF_ARGUMENT(3, d)
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
  if constexpr (F::row.kind == Kind::algorithm || HasState<F>) {
    TENON_OF_OPERAND(0, a)
    TENON_OF_OPERAND(1, b)
    TENON_OF_OPERAND(2, c)
  }
  return derivative;
}
#undef TENON_OF_OPERAND

constinit CustomTable<Derivative> custom_table;

}  // namespace

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

const Derivative& derivative_of(Op op) noexcept {
  if (is_custom(op)) [[unlikely]]
    return custom_table[op];
  static const std::array<Derivative, kOpCount> table = {
#define TENON_OP(NAME) make_derivative<ops::NAME>(),
#include "ops/list.def"
#undef TENON_OP
  };
  return table[static_cast<std::size_t>(op)];
}

const CallDerivative& call_derivative_of(Op op) noexcept {
  static const std::array<CallDerivative, kOpCount> table = {
#define TENON_OP(NAME) make_call_derivative<ops::NAME>(),
#include "ops/list.def"
#undef TENON_OP
  };
  return table[static_cast<std::size_t>(op)];
}

}  // namespace tenon::autograd
