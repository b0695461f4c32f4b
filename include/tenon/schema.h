// dispatch: calls by name. Takes the name of an op and its arguments as values; gives the result of the function of
// that name. For languages, files and tests that are compiled without knowing the ops.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon {

/// One argument of a call by name. An empty one is left out, or None. Each accessor throws TypeError if the value is of
/// another kind.
class TENON_API Value {
 public:
  Value() = default;
  Value(Tensor tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}
  Value(List<Tensor> tensors) : kind_(Kind::tensors), tensors_(std::move(tensors)) {}
  Value(Scalar number) : kind_(Kind::number), number_(number) {}
  template <class T>
  requires std::is_arithmetic_v<T> Value(T number) : Value(Scalar(number)) {}
  Value(Dims numbers) : kind_(Kind::numbers), numbers_(std::move(numbers)) {}
  Value(SizesView numbers) : Value(numbers.copy()) {}
  Value(const DimsArg& dims);
  Value(List<double> numbers) : kind_(Kind::floats), floats_(std::move(numbers)) {}
  Value(std::optional<int64_t> number) {
    if (number) *this = Value(*number);
  }
  Value(Dtype dtype) : kind_(Kind::dtype), dtype_(dtype) {}
  template <class T>
  Value(const std::optional<T>& value) {
    if (value) *this = Value(*value);
  }
  Value(std::string text) : kind_(Kind::text), text_(std::move(text)) {}
  /// Null: an empty value.
  Value(const char* text) {
    if (text) *this = Value(std::string(text));
  }

  /// What it holds.
  bool is_empty() const noexcept { return kind_ == Kind::none; }
  bool is_tensor() const noexcept { return kind_ == Kind::tensor; }
  bool is_number() const noexcept { return kind_ == Kind::number; }
  bool is_dtype() const noexcept { return kind_ == Kind::dtype; }

  /// The value. TypeError if it is of another kind; `fallback` stands for an empty one.
  const Tensor& tensor() const { return check(Kind::tensor, "a tensor").tensor_; }
  /// An undefined tensor if the value is empty.
  Tensor optional_tensor() const { return is_empty() ? Tensor() : tensor(); }
  const List<Tensor>& tensors() const { return check(Kind::tensors, "a list of tensors").tensors_; }
  /// A tensor or a number.
  Arg arg() const { return is_number() ? Arg(number_) : Arg(check(Kind::tensor, "a tensor or a number").tensor_); }
  std::optional<Arg> optional_arg() const { return is_empty() ? std::nullopt : std::optional(arg()); }
  Scalar number() const { return check(Kind::number, "a number").number_; }
  Scalar number(Scalar fallback) const { return is_empty() ? fallback : number(); }
  std::optional<Scalar> optional_number() const { return is_empty() ? std::nullopt : std::optional(number()); }
  bool boolean(bool fallback) const;
  std::optional<bool> optional_boolean() const { return is_empty() ? std::nullopt : std::optional(boolean(false)); }
  int64_t integer(int64_t fallback) const;
  std::optional<int64_t> optional_integer() const { return is_empty() ? std::nullopt : std::optional(integer(0)); }
  double floating(double fallback) const { return number(fallback).as_double(); }
  std::optional<double> optional_floating() const { return is_empty() ? std::nullopt : std::optional(floating(0)); }
  /// A list of numbers; one of integers, too.
  std::optional<List<double>> optional_floats() const;
  const Dims& dims() const { return check(Kind::numbers, "a list of integers").numbers_; }
  /// Dims to reduce over; an integer is one of them.
  DimsArg dims_arg() const;
  const char* text(const char* fallback = nullptr) const {
    return is_empty() ? fallback : check(Kind::text, "a string").text_.c_str();
  }
  std::optional<Dtype> dtype() const {
    return is_empty() ? std::nullopt : std::optional(check(Kind::dtype, "a dtype").dtype_);
  }

 private:
  enum class Kind : uint8_t { none, tensor, tensors, number, numbers, floats, dtype, text };

  const Value& check(Kind wanted, const char* text) const {
    if (kind_ != wanted) fail(text);
    return *this;
  }
  [[noreturn]] static void fail(const char* wanted);

  // Not std::variant: with a sanitizer, GCC 12 warns about its destructor for members that do not exist.
  Kind kind_ = Kind::none;
  Dtype dtype_ = Dtype::bool_;
  Tensor tensor_;
  List<Tensor> tensors_;
  Scalar number_;
  Dims numbers_;
  List<double> floats_;
  std::string text_;
};

/// A declared parameter: its name, and its type in PyTorch's grammar ("Tensor|Scalar", "int[1]?").
struct Parameter {
  const char* name;
  const char* type;
  const char* fallback;  // the default as it is declared; null: the argument is required
  bool keyword_only;
  bool takes_numbers;  // whether an operand may be a number
  /// What it accepts, if its type does not say it: words ("add multiply"), numbers ("2 0.5 inf"), or the dtype of a
  /// tensor: "bool", or "int64", which holds places along a dim. Empty: anything of its type.
  const char* values = "";

  /// Whether a tensor may be given.
  bool is_operand() const noexcept { return std::string_view(type).starts_with("Tensor") && !is_list(); }
  /// Whether it is a list of tensors.
  bool is_list() const noexcept { return std::string_view(type) == "Tensor[]"; }
};

/// A declared op (src/ops/) and how to call it. A function with several signatures has a schema for each.
struct Schema {
  const char* name;
  const char* block;      // name of the declaration's block: unique
  const char* signature;  // "sub(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None) -> Tensor"
  const char* doc;
  const char* kind;  // "map", "fold" or "algorithm"
  /// The operands' sizes as letters: "ij,jk". Operands after `*` broadcast to these. Empty: all operands broadcast
  /// together.
  const char* shapes;
  int op;  // its number among the blocks; -1: none
  const Parameter* first;
  int count;
  int results;  // -1: depends on the arguments
  // The functional, out= and in-place forms; null if the op has no such form. `values` has one value for each
  // parameter, in their order; `outs` has one tensor for each result.
  List<Tensor> (*function)(const Value* values);
  List<Tensor> (*method)(const Value* values);
  void (*out)(const Value* values, Tensor* outs);
  void (*inplace)(const Value* values);

  /// In the order of the signature.
  std::span<const Parameter> parameters() const noexcept { return {first, static_cast<std::size_t>(count)}; }
  /// The position of a parameter; -1 if none has that name.
  int place_of(std::string_view parameter) const noexcept {
    for (int i = 0; i < count; ++i)
      if (parameter == first[i].name) return i;
    return -1;
  }
  bool is_map() const noexcept { return std::string_view(kind) == "map"; }
  bool is_fold() const noexcept { return std::string_view(kind) == "fold"; }
};

/// A declared view (src/ops/views.h). Methods of Tensor compute it.
struct ViewSchema {
  const char* name;
  const char* signature;
  const char* doc;
  bool is_method;
  bool has_inplace;
  const Parameter* first;
  int count;

  /// In the order of the signature.
  std::span<const Parameter> parameters() const noexcept { return {first, static_cast<std::size_t>(count)}; }
};

/// Every op, in alphabetical order.
TENON_API std::span<const Schema> schemas() noexcept;
/// The first schema of that name; null if there is none.
TENON_API const Schema* find_schema(std::string_view name) noexcept;
/// Every view, in alphabetical order.
TENON_API std::span<const ViewSchema> view_schemas() noexcept;

}  // namespace tenon
