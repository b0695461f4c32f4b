// python: the argument parser. Takes a call's arguments and the signatures of a function; gives each value by its name.
// Signatures, rules and error texts are those of PyTorch's argument parser.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "python/convert.h"

namespace tenon::python {

// All argument names. Names that only ops have come from their declarations.
// clang-format off
#define TENON_ARGUMENT_NAMES(X)                                                                                       \
  X(input) X(other) X(alpha) X(out) X(rounding_mode) X(min) X(max) X(condition) X(self) X(dim) X(keepdim) X(dtype)    \
  X(size) X(shape) X(dim0) X(dim1) X(dim2) X(dims) X(source) X(destination) X(index) X(start) X(end) X(step) X(steps) \
  X(length) X(start_dim) X(end_dim) X(sizes) X(stride) X(storage_offset) X(offset) X(memory_format) X(s)              \
  X(non_blocking) X(value) X(fill_value) X(layout) X(device) X(pin_memory) X(generator) X(n) X(m) X(low) X(high)      \
  X(copy) X(axis0) X(axis1) X(rtol) X(atol) X(equal_nan) X(mask) X(tensors) X(data) X(indices) X(values)              \
  X(accumulate) X(repeats) X(dimension) X(force) X(tensor1) X(tensor2) X(as_tuple) X(exponent) X(mat2)      \
  X(from_) X(to) X(type1) X(type2) X(scalar) X(scalar1) X(scalar2) X(tensor)               \
  X(type) X(ndarray) X(requires_grad) X(gradient) X(retain_graph) X(create_graph) X(inputs) X(hook) X(vec) X(out_dtype) X(implicit) X(unbiased)  \
  X(from) X(std) X(mean) X(median) X(sigma) X(lambd) X(p) X(num_samples) X(replacement) X(wrap) X(the_template)        \
  X(window_length) X(periodic) X(beta) X(base) X(row) X(col) X(count) X(prob) X(cudnn_enable) X(cudnn_enabled) X(physical_layout) \
  X(train) X(training) X(momentum) X(running_mean) X(running_var) X(use_input_stats) X(padding_idx) X(scale_grad_by_freq)   \
  X(sparse) X(max_norm) X(norm_type) X(matrices) X(query) X(key) X(attn_mask) X(dropout_p) X(is_causal) X(scale) X(enable_gqa)
// clang-format on
#include "python/names.inc"
enum class Name : uint8_t {
#define TENON_NAME(NAME) NAME,
  TENON_ARGUMENT_NAMES(TENON_NAME) TENON_OP_ARGUMENT_NAMES(TENON_NAME)
#undef TENON_NAME
};
inline constexpr int kNames = 0
#define TENON_NAME(NAME) +1
    TENON_ARGUMENT_NAMES(TENON_NAME) TENON_OP_ARGUMENT_NAMES(TENON_NAME)
#undef TENON_NAME
    ;

class Call;

/// Whether a definition is a function of the module, a method, or both.
enum class Binding : uint8_t { function = 1, method = 2, both = 3 };
constexpr bool has_binding(Binding bindings, Binding binding) {
  return (static_cast<uint8_t>(bindings) & static_cast<uint8_t>(binding)) != 0;
}

/// A function as it is defined in this folder's tables.
struct Definition {
  const char* name;
  Binding bindings;
  /// One signature per line: "(Tensor input, int dim) -> bool". Without an arrow it returns a Tensor. A method's have
  /// no `Tensor input` and no `Tensor out`.
  const char* signatures;
  const char* doc;
  PyObject* (*call)(const Call& call);
};

/// A parsed signature.
class Signature {
 public:
  enum class Type : uint8_t {
    tensor,
    operand,  // a tensor or a number; "Tensor" in error texts
    number,
    integer,
    floating,
    boolean,
    string,
    integers,
    floats,
    tensors,
    dtype,
    device,
    layout,
    memory_format,
    generator,
    object,
  };
  struct Parameter {
    Type type;
    Name name;
    bool optional = false, allow_none = false, keyword_only = false;
    int64_t broadcast = 0;  // a single integer is repeated so often
    std::string default_text;
    std::string_view name_text() const;
    std::string text() const;
  };

  /// Of its parameters: "Tensor input", "*", "int dim=0".
  explicit Signature(const std::vector<std::string>& parts);
  /// "(Tensor input, int dim)", as PyTorch prints it.
  std::string text() const;

  std::vector<Parameter> parameters;
  std::size_t positional = 0;  // number of parameters that may be given without a keyword
  std::size_t required = 0;
  bool deprecated = false;
  int line = 0;          // its line among the definition's signatures
  std::string declared;  // as it is defined: "(Operand input, int? dim=None)"
  std::string returned;  // " -> bool"; "": a Tensor
};

/// Parses calls of a function with all its signatures.
class Parser {
 public:
  Parser(const Definition& definition, Binding binding);

  const std::vector<Signature>& signatures() const { return signatures_; }
  const std::string& name() const { return name_; }
  const char* doc() const { return definition_.doc; }
  int8_t slot(Name name) const { return slots_[static_cast<std::size_t>(name)]; }

  /// Parses and makes a call. `self` is null for functions. Returns a new reference, or null with an exception set.
  PyObject* invoke(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) noexcept;
  /// The same for arguments in a tuple and a dict (or null), as a type's constructor gets them.
  PyObject* invoke_with(PyObject* args, PyObject* keywords) noexcept;

 private:
  friend class Call;
  bool parse(const Signature& signature, Call& call, bool raise) const;
  static bool check(const Signature::Parameter& parameter, PyObject* object, int64_t* failed);
  void warn_deprecated(const Signature& signature) const;
  [[noreturn]] void fail(Call& call) const;
  [[noreturn]] void fail_extra_keywords(const Signature& signature, const Call& call) const;

  const Definition& definition_;
  const std::string name_;
  std::vector<Signature> signatures_;
  int8_t slots_[kNames];  // index of each name in a call's values; -1: none
  int slot_count_ = 0;
};

/// The arguments of one call by name.
class Call {
 public:
  static constexpr int kMaxValues = 12;

  /// The function's name.
  const std::string& name() const { return parser_->name(); }
  PyObject* self() const { return self_; }
  int signature() const { return signature_; }
  /// The line of the signature that the call matches.
  int overload() const { return parser_->signatures()[static_cast<std::size_t>(signature_)].line; }
  PyObject* object(Name name) const {
    const int8_t slot = parser_->slot(name);
    return slot < 0 ? nullptr : values_[slot];
  }
  bool has(Name name) const { return object(name) != nullptr; }
  /// Whether a list's integers are given one by one. The list's object is the first of them, so read it by dims().
  bool has_loose_integers() const { return loose_count_ > 0; }

  Tensor& tensor(Name name) const { return tensor_of(object(name)); }
  /// An undefined tensor if it was left out.
  Tensor optional_tensor(Name name) const { return has(name) ? tensor(name) : Tensor(); }
  /// A tensor or a number.
  Arg arg(Name name) const {
    PyObject* value = object(name);
    const bool number =
        numbers_ >> parser_->slot(name) & 1;  // a 0-dim tensor counts as a number where a number is expected
    return !number && is_tensor(value) ? Arg(tensor_of(value)) : Arg(scalar_of(value));
  }
  std::optional<Arg> optional_arg(Name name) const { return has(name) ? std::optional(arg(name)) : std::nullopt; }
  Scalar number(Name name, Scalar fallback = 0) const { return has(name) ? scalar_of(object(name)) : fallback; }
  std::optional<Scalar> optional_number(Name name) const {
    return has(name) ? std::optional(scalar_of(object(name))) : std::nullopt;
  }
  int64_t integer(Name name, int64_t fallback = 0) const { return has(name) ? integer_of(object(name)) : fallback; }
  std::optional<int64_t> optional_integer(Name name) const {
    return has(name) ? std::optional(integer_of(object(name))) : std::nullopt;
  }
  std::optional<double> optional_floating(Name name) const {
    return has(name) ? std::optional(float_of(object(name))) : std::nullopt;
  }
  double floating(Name name, double fallback) const { return has(name) ? float_of(object(name)) : fallback; }
  bool boolean(Name name, bool fallback = false) const { return has(name) ? object(name) == Py_True : fallback; }
  std::optional<bool> optional_boolean(Name name) const {
    return has(name) ? std::optional(boolean(name)) : std::nullopt;
  }
  /// A string, which lives as long as the call.
  const char* text(Name name, const char* fallback = nullptr) const;
  /// The integers of a list; empty if it was left out.
  Dims dims(Name name) const;
  /// A list of numbers.
  std::optional<List<double>> optional_floats(Name name) const;
  /// The dims of a reduction. sum(None) and sum() both mean all dims, but their nodes have different names.
  DimsArg dims_arg(Name name) const { return has(name) ? DimsArg(SizesView(dims(name))) : DimsArg(); }
  std::optional<Dtype> dtype(Name name = Name::dtype) const {
    return has(name) ? as_dtype(object(name)) : std::nullopt;
  }
  std::optional<Device> device() const { return has(Name::device) ? as_device(object(Name::device)) : std::nullopt; }
  MemoryFormat memory_format(MemoryFormat fallback) const {
    return has(Name::memory_format) ? *as_memory_format(object(Name::memory_format)) : fallback;
  }
  List<Tensor> tensors(Name name) const;
  /// The tensors in `out=` of an op with several results. Throws TypeError if their number is wrong.
  template <std::size_t count>
  std::array<Tensor*, count> outs() const {
    std::array<Tensor*, count> all;
    take_outs(all.data(), count);
    return all;
  }

  /// Whether the call takes long enough to release the GIL.
  bool is_long() const;
  /// Runs work that uses no Python objects; without the GIL if it is long.
  template <class Work>
  decltype(auto) run(const Work& work) const {
    const GilRelease released(is_long());
    return work();
  }
  /// The object that was given as `out=`, as the call's result.
  PyObject* returned(Name name = Name::out) const { return again(object(name)); }

 private:
  friend class Parser;
  /// Removes all values but `self`, before a signature is tried.
  void clear();
  void take_outs(Tensor** outs, std::size_t count) const;
  int64_t element(Name name, Py_ssize_t at, PyObject* item) const;
  [[noreturn]] void fail_element(Name name, Py_ssize_t at, const std::string& why) const;

  Parser* parser_ = nullptr;
  PyObject* self_ = nullptr;
  PyObject* const* args_ = nullptr;
  Py_ssize_t count_ = 0;          // positional
  PyObject* keywords_ = nullptr;  // a tuple of names whose values follow the positional ones
  Py_ssize_t keyword_count_ = 0;
  int signature_ = 0;
  uint32_t numbers_ = 0;  // the slots whose values count as numbers
  PyObject* values_[kMaxValues];
  Py_ssize_t loose_count_ = 0;  // the first arguments that are the integers of one list: f(5, 3) means f((5, 3))
};

}  // namespace tenon::python
