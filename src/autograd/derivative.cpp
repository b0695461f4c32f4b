#include "autograd/derivative.h"

#include <array>

#include "dispatch/differentiate.h"
#include "ops/custom_table.h"
#include "tenon/factories.h"

namespace tenon::autograd {
namespace {

// The words that formulas are written in, on values.
#define TENON_VALUE_OPERATOR(SYMBOL, NAME) \
  [[maybe_unused]] Value operator SYMBOL(const Value& x, const Value& y) { return tenon::NAME(x.arg(), y.arg()); }
TENON_VALUE_OPERATOR(+, add)
TENON_VALUE_OPERATOR(-, sub)
TENON_VALUE_OPERATOR(*, mul)
TENON_VALUE_OPERATOR(/, div)
TENON_VALUE_OPERATOR(==, eq)
TENON_VALUE_OPERATOR(<, lt)
TENON_VALUE_OPERATOR(<=, le)
TENON_VALUE_OPERATOR(&, logical_and)
TENON_VALUE_OPERATOR(|, logical_or)
#undef TENON_VALUE_OPERATOR
Value operator-(const Value& x) { return tenon::neg(x.tensor()); }
Value choose(const Value& condition, const Value& x, const Value& y) {
  return tenon::where(condition.tensor(), x.arg(), y.arg());
}
/// 1, 0 or -1; 0 for NaN. Its derivative is 0 everywhere it has one.
Value sign(const Value& x) {
  const Tensor& self = x.tensor();
  const Tensor signs = tenon::where(self > 0, 1, tenon::where(self < 0, -1, 0)).to(self.dtype());
  if (!is_recorded(self)) return signs;
  Tensor of_self = self.clone();
  of_self.copy_(signs);  // whose derivative is 0
  return of_self;
}

// The same words on nothing: running a formula on them tells what it reads and how long it is.
struct Probe {
  mutable unsigned reads = 0;
  mutable int steps = 0;
};
struct ProbeValue {
  const Probe* probe;
  const ProbeValue& step() const {
    ++probe->steps;
    return *this;
  }
};
#define TENON_PROBE_OPERATOR(SYMBOL)                                                         \
  [[maybe_unused]] ProbeValue operator SYMBOL(ProbeValue x, ProbeValue) { return x.step(); } \
  [[maybe_unused]] ProbeValue operator SYMBOL(ProbeValue x, double) { return x.step(); }
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
[[maybe_unused]] ProbeValue operator-(double, ProbeValue x) { return x.step(); }
ProbeValue operator-(ProbeValue x) { return x.step(); }
ProbeValue sign(ProbeValue x) { return x.step(); }
template <class X, class Y>
ProbeValue choose(ProbeValue condition, X, Y) {
  return condition.step();
}
class ProbeGiven {
 public:
  explicit ProbeGiven(const Probe& probe) : probe_(probe) {}
  ProbeValue grad() const { return {&probe_}; }
  ProbeValue a() const { return read(0); }
  ProbeValue b() const { return read(1); }
  ProbeValue c() const { return read(2); }
  ProbeValue result() const { return read(kResult); }
  ProbeValue zero() const { return ProbeValue{&probe_}.step(); }

 private:
  ProbeValue read(int value) const {
    probe_.reads |= 1u << value;
    return {&probe_};
  }
  const Probe& probe_;
};

struct Truth {
  bool value;
};
#include "ops/blocks-inl.h"

#define TENON_OF_ARGUMENT(I, LETTER)                                                                                   \
  if constexpr (requires(const Given& g) { F::grad_##LETTER(g); }) {                                                   \
    const Probe probe;                                                                                                 \
    F::grad_##LETTER(ProbeGiven(probe));                                                                               \
    derivative.arguments[I] = {[](const Given& g) -> Value { return F::grad_##LETTER(g); }, probe.reads, probe.steps}; \
    derivative.exists = true;                                                                                          \
  }
template <class F>
Derivative make_derivative() {
  Derivative derivative;
  TENON_OF_ARGUMENT(0, a)
  TENON_OF_ARGUMENT(1, b)
  TENON_OF_ARGUMENT(2, c)
  return derivative;
}
#undef TENON_OF_ARGUMENT

constinit CustomTable<Derivative> custom_table;

}  // namespace

Value Given::zero() const { return zeros_like(gradient.tensor()); }

CustomGiven as_tensors(const Given& given) {
  const Tensor& grad = given.gradient.tensor();
  const auto tensor = [&](const Value& value) {
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

}  // namespace tenon::autograd
