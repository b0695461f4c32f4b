// Operators: Python calls these slots directly. The op of a symbol is declared in the table (Row::symbol).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "ops/row.h"
#include "python/exchange.h"
#include "python/object.h"
#include "tenon/autograd.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"

namespace tenon::python {
namespace {

/// An operand of an operator: a tensor or a number. NumPy arrays are converted to tensors.
class Operand {
 public:
  explicit Operand(PyObject* object) {
    if (is_tensor(object)) {
      tensor_ = &tensor_of(object);
    } else if (PyFloat_CheckExact(object) || PyLong_Check(object) || is_number(object)) {
      number_ = scalar_of(object);
    } else if (is_array(object)) {
      owned_ = tensor_from_array(object);
      tensor_ = &owned_;
    } else {
      known_ = false;
    }
  }
  bool is_known() const { return known_; }
  Arg arg() const { return tensor_ ? Arg(*tensor_) : Arg(number_); }
  int64_t numel() const { return tensor_ ? tensor_->numel() : 1; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar number_;
  Tensor owned_;
  bool known_ = true;
};

PyObject* not_implemented() { return again(Py_NotImplemented); }

/// What computes an operator and its in-place form instead of the op; null: nothing. Operators read them without a
/// lock, so functions that were chosen once are never released.
struct Chosen {
  std::atomic<PyObject*> function{nullptr};
  std::atomic<PyObject*> inplace{nullptr};
};
std::array<Chosen, kOpCount> chosen_operators{};

const Chosen& chosen_for(Op op) { return chosen_operators[static_cast<std::size_t>(op)]; }

void choose(std::atomic<PyObject*>& place, nb::object function) noexcept {
  place.store(function.release().ptr(), std::memory_order_release);
}

/// Chooses for the ops of these names pairs of functions, and for all others nothing.
void choose_operators(const nb::dict& functions) {
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const bool is_chosen = functions.contains(row_of(op).name);
    const nb::object pair = is_chosen ? nb::object(functions[row_of(op).name]) : nb::none();
    Chosen& chosen = chosen_operators[static_cast<std::size_t>(i)];
    choose(chosen.function, is_chosen ? nb::object(pair[0]) : nb::object());
    choose(chosen.inplace, is_chosen ? nb::object(pair[1]) : nb::object());
  }
}

bool is_long(const Operand& a, const Operand& b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a.numel(), b.numel(), &product) || product >= kReleaseNumel;
}

template <Op op, auto function>
PyObject* binary(PyObject* a, PyObject* b) noexcept {
  if (PyObject* chosen = chosen_for(op).function.load(std::memory_order_acquire))
    return PyObject_CallFunctionObjArgs(chosen, a, b, nullptr);
  return guarded([&] {
    const Operand self(a), other(b);
    if (!self.is_known() || !other.is_known()) return not_implemented();
    Tensor result;
    {
      const GilRelease released(is_long(self, other));
      result = function(self.arg(), other.arg());
    }
    return wrap(std::move(result));
  });
}

template <Op op, auto function>
PyObject* inplace(PyObject* self, PyObject* b) noexcept {
  if (PyObject* chosen = chosen_for(op).inplace.load(std::memory_order_acquire))
    return PyObject_CallFunctionObjArgs(chosen, self, b, nullptr);
  return guarded([&] {
    const Operand other(b);
    if (!other.is_known()) return not_implemented();
    {
      const GilRelease released(tensor_of(self).numel() >= kReleaseNumel);
      function(tensor_of(self), other.arg());
    }
    return again(self);
  });
}

/// The slot of an op that accepts no numbers. Beside a tensor an array of another dtype is promoted; in PyTorch NumPy
/// computes such a product.
template <Op op, auto function>
PyObject* of_tensors(PyObject* a, PyObject* b) noexcept {
  if (is_number(a) || is_number(b)) return not_implemented();
  if (!is_tensor(a) || !is_tensor(b))
    return binary<op, [](const Arg& x, const Arg& y) {
      const Dtype common = promote_types(x.tensor().dtype(), y.tensor().dtype());
      return function(x.tensor().to(common), y.tensor().to(common));
    }>(a, b);
  return binary<op, [](const Arg& x, const Arg& y) { return function(x.tensor(), y.tensor()); }>(a, b);
}

/// The type slots of each symbol.
struct Symbol {
  const char* text;
  int slot;
  int inplace_slot;
};
constexpr Symbol kSymbols[] = {{"+", Py_nb_add, Py_nb_inplace_add},
                               {"-", Py_nb_subtract, Py_nb_inplace_subtract},
                               {"*", Py_nb_multiply, Py_nb_inplace_multiply},
                               {"/", Py_nb_true_divide, Py_nb_inplace_true_divide},
                               {"//", Py_nb_floor_divide, Py_nb_inplace_floor_divide},
                               {"%", Py_nb_remainder, Py_nb_inplace_remainder},
                               {"&", Py_nb_and, Py_nb_inplace_and},
                               {"|", Py_nb_or, Py_nb_inplace_or},
                               {"^", Py_nb_xor, Py_nb_inplace_xor},
                               {"<<", Py_nb_lshift, Py_nb_inplace_lshift},
                               {">>", Py_nb_rshift, Py_nb_inplace_rshift},
                               {"@", Py_nb_matrix_multiply, Py_nb_inplace_matrix_multiply}};

const Symbol* symbol_of(Op op) {
  for (const Symbol& symbol : kSymbols)
    if (std::strcmp(symbol.text, row_of(op).symbol) == 0) return &symbol;
  return nullptr;
}

/// PyTorch's reflected + and * have the tensor first: `2 * x` is recorded as `x * 2`. A number less a tensor is rsub;
/// one divided by a tensor is the tensor's reciprocal times the number.
template <Op op, class Function>
Tensor in_order(const Arg& a, const Arg& b, const Function& function) {
  const bool reflected = !a.is_tensor();
  if (op == Op::div && reflected && b.is_tensor()) return mul(reciprocal(b.tensor()), a);
  if (op == Op::sub && reflected && b.is_tensor()) return rsub(b.tensor(), a);
  return (op == Op::add || op == Op::mul) && reflected ? function(b, a) : function(a, b);
}
/// A slot with a third operand, which must be None: `pow(x, 2, 3)`.
template <binaryfunc function>
PyObject* ternary(PyObject* a, PyObject* b, PyObject* c) noexcept {
  return c == Py_None ? function(a, b) : again(Py_NotImplemented);
}

// --- Comparisons

struct Comparison {
  const char* symbol;
  int op;
};
constexpr Comparison kComparisons[] = {{"<", Py_LT},  {"<=", Py_LE}, {"==", Py_EQ},
                                       {"!=", Py_NE}, {">", Py_GT},  {">=", Py_GE}};
binaryfunc comparisons[6] = {};

PyObject* compare(PyObject* a, PyObject* b, int op) noexcept { return comparisons[op](a, b); }

void add_operator(std::vector<PyType_Slot>& slots, Op op, binaryfunc function, binaryfunc inplace_function) {
  for (const Comparison& comparison : kComparisons)
    if (std::strcmp(comparison.symbol, row_of(op).symbol) == 0) comparisons[comparison.op] = function;
  if (const Symbol* symbol = symbol_of(op)) {
    slots.push_back({symbol->slot, reinterpret_cast<void*>(function)});
    if (inplace_function) slots.push_back({symbol->inplace_slot, reinterpret_cast<void*>(inplace_function)});
  }
}

// --- One operand

template <Op op, auto function>
PyObject* unary(PyObject* self) noexcept {
  if (PyObject* chosen = chosen_for(op).function.load(std::memory_order_acquire))
    return PyObject_CallFunctionObjArgs(chosen, self, nullptr);
  return guarded([&] {
    Tensor result;
    {
      const GilRelease released(tensor_of(self).numel() >= kReleaseNumel);
      result = function(tensor_of(self));
    }
    return wrap(std::move(result));
  });
}
PyObject* positive(PyObject* self) noexcept {
  return guarded([&] {
    tenon::positive(tensor_of(self));
    return again(self);
  });
}

Tensor inverted(const Tensor& self) {
  if (is_inexact(self.dtype()))
    throw TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors");
  return bitwise_not(self);
}

// --- Conversions

void check_single(const Tensor& tensor) {
  if (tensor.numel() == 1) return;
  throw Error(std::string("Boolean value of Tensor with ") +
              (tensor.numel() == 0 ? "no values" : "more than one value") + " is ambiguous");
}

int truth(PyObject* self) noexcept {
  return guarded_int([&] {
    check_single(tensor_of(self));
    const Scalar number = tensor_of(self).item();
    // PyTorch converts to int64, which fails for a wide number.
    return number.is_wide() ? static_cast<int>(number.to<int64_t>()) : static_cast<int>(number.as_bool());
  });
}
Scalar single_of(const Tensor& tensor) {
  if (tensor.numel() != 1) throw ValueError("only one element tensors can be converted to Python scalars");
  return tensor.item();
}
PyObject* to_int(PyObject* self) noexcept {
  return guarded([&] {
    const Scalar number = single_of(tensor_of(self));
    const nb::object object =
        checked_object(to_python(number.is_wide() || number.is_complex() ? Scalar(number.to<int64_t>()) : number));
    return checked(PyNumber_Long(object.ptr()));
  });
}
PyObject* to_float(PyObject* self) noexcept {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.requires_grad() && is_grad_enabled())
      warn("UserWarning",
           "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
           "tensor.detach() first.");
    return checked(PyFloat_FromDouble(single_of(tensor).to<double>()));
  });
}
PyObject* to_index(PyObject* self) noexcept {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.numel() != 1 || is_inexact(tensor.dtype()))
      throw TypeError("only integer tensors of a single element can be converted to an index");
    const Scalar number = tensor.item();
    return checked(PyLong_FromLongLong(number.is_wide() ? number.to<int64_t>() : number.as_int64()));
  });
}

template <class Slot>
void push(std::vector<PyType_Slot>& slots, int id, Slot function) {
  slots.push_back({id, reinterpret_cast<void*>(function)});
}

}  // namespace

void bind_operators(nb::module_& module) { module.def("_choose_operators", &choose_operators); }

void add_operator_slots(std::vector<PyType_Slot>& slots) {
#define TENON_SYMBOL(NAME, SYMBOL)                                                                                     \
  add_operator(slots, Op::NAME,                                                                                        \
               binary<Op::NAME,                                                                                        \
                      [](const Arg& a, const Arg& b) {                                                                 \
                        return in_order<Op::NAME>(a, b, [](const Arg& x, const Arg& y) { return tenon::NAME(x, y); }); \
                      }>,                                                                                              \
               inplace<Op::NAME, [](Tensor& self, const Arg& b) { self.NAME##_(b); }>);
#define TENON_COMPARISON TENON_SYMBOL
#define TENON_PYTHON_SYMBOL(NAME) TENON_SYMBOL(NAME, )
#define TENON_UNARY_SYMBOL(NAME, SYMBOL)
#define TENON_TENSOR_SYMBOL(NAME) \
  add_operator(slots, Op::NAME,   \
               of_tensors<Op::NAME, [](const Tensor& a, const Tensor& b) { return tenon::NAME(a, b); }>, nullptr);
#include "ops/symbols.def"
#undef TENON_SYMBOL
#undef TENON_COMPARISON
#undef TENON_PYTHON_SYMBOL
#undef TENON_UNARY_SYMBOL
#undef TENON_TENSOR_SYMBOL
  push(slots, Py_nb_power, ternary<binary<Op::pow, [](const Arg& a, const Arg& b) { return tenon::pow(a, b); }>>);
  push(slots, Py_nb_inplace_power, ternary<inplace<Op::pow, [](Tensor& self, const Arg& b) { self.pow_(b); }>>);
  push(slots, Py_tp_richcompare, compare);
  push(slots, Py_nb_negative, unary<Op::neg, [](const Tensor& self) { return neg(self); }>);
  push(slots, Py_nb_absolute, unary<Op::abs, [](const Tensor& self) { return abs(self); }>);
  push(slots, Py_nb_positive, positive);
  push(slots, Py_nb_invert, unary<Op::bitwise_not, inverted>);
  push(slots, Py_nb_bool, truth);
  push(slots, Py_nb_int, to_int);
  push(slots, Py_nb_float, to_float);
  push(slots, Py_nb_index, to_index);
}

}  // namespace tenon::python
