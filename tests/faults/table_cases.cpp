// Every declared op (src/ops/) in all its forms, with calls made from its signature. A new type of argument needs a
// line in values_of.
#include <iterator>
#include <stdexcept>

#include "declared.h"
#include "faults.h"
#include "tenon/schema.h"

namespace tenon::faults {
namespace {

/// 1, 2, 3, ... in some shape.
Tensor counting(SizesView sizes, Dtype dtype = float32) {
  return arange(1, numel_of(sizes) + 1).to(dtype).reshape(sizes);
}

/// Adds to the first two operands: a condition, two outputs, a right operand of matrix products, and indices.
Tensors completed(const Tensor& a, const Tensor& b) {
  const Tensor plain = a.detach();
  const Device device = a.device();
  const int64_t columns = a.dim() == 2 ? a.size(1) : 1;
  return {a,
          b,
          a.is_meta() ? empty(a.sizes(), Options(bool_, device)) : plain > 2,
          empty({0}, Options(float32, device)),
          zeros(a.sizes(), Options(float32, device)),
          a.is_meta() ? empty({columns, 2}, device) : counting({columns, 2}, a.dtype()),
          a.is_meta() ? empty(a.sizes(), Options(int64, device)) : zeros(a.sizes(), int64)};
}

/// Operands computed from the leaves `kLeafA` and `kLeafB`, so that in-place ops are allowed.
Tensors tracked(Tensor a, Tensor b) {
  a.requires_grad_();
  b.requires_grad_();
  Tensors operands = completed(a + 0, b + 0);  // nodes that save nothing, so that backward can be called again
  operands.push_back(a);
  operands.push_back(b);
  return operands;
}

constexpr int64_t kRows = 260,
                  kColumns = 400;  // enough for several threads and for blocks larger than a thread's cache keeps

Dims ten_dims() {
  Dims sizes(10, 1);
  sizes[0] = 3;
  sizes[9] = 4;
  return sizes;
}

/// The argument of a parameter: an operand, a value, or nothing.
struct Given {
  int place = -1;    // index of the operand
  Value value;       // if it is not an operand
  std::string text;  // its text in the case's name; empty in the ordinary call
};

/// The arguments of a call.
struct GivenAll {
  static constexpr int kMost = 8;

  const Schema* schema;
  std::vector<Given> given;

  std::string name() const {
    std::string text = schema->block;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!given[i].text.empty()) text += std::string(" ") + schema->first[i].name + "=" + given[i].text;
    return text;
  }
  bool has_self() const {
    const int self = schema->place_of("self");
    return self >= 0 && given[static_cast<std::size_t>(self)].place >= 0;
  }
  void write(const Tensors& t, Value (&values)[kMost]) const {
    for (std::size_t i = 0; i < given.size(); ++i)
      values[i] = given[i].place >= 0 ? Value(operand(t, static_cast<int>(i))) : given[i].value;
  }
  /// An operand; for a product a view with the declared dims.
  Tensor operand(const Tensors& t, int i) const {
    const Tensor& plain = t[static_cast<std::size_t>(given[static_cast<std::size_t>(i)].place)];
    // A polynomial takes as many steps as its degree says: the first element's, for all.
    Tensor degree = std::string_view(schema->parameters()[i].values) == "degree" ? plain : Tensor();
    while (degree.defined() && degree.dim() > 0) degree = degree.select(0, 0);
    if (degree.defined()) return degree;
    if (!*schema->shapes) return plain;
    const Tensor& left = t[kA];  // ij
    // jk; one column if the op has an in-place form, whose self must have the result's size.
    const Tensor right = schema->inplace ? t[kMatrix].slice(1, 0, 1) : t[kMatrix];
    std::string letters;
    declared::sizes_of(*schema, declared::operand_number(*schema, i), {}, [&](char letter) {
      letters += letter;
      return 1;
    });
    const bool is_batch = letters[0] == 'b';
    if (is_batch) letters.erase(0, 1);
    const Tensor matrix = letters == "ij"   ? left
                          : letters == "i"  ? left.select(-1, 0)
                          : letters == "ik" ? left.select(-1, 0).unsqueeze(-1)
                          : letters == "jk" ? right
                          : letters == "kj" ? right.t()
                                            : right.select(1, 0);
    return is_batch ? matrix.unsqueeze(0) : matrix;
  }
};

/// The values to try for an argument that is not an operand.
std::vector<Given> values_of(const Parameter& parameter) {
  const std::string_view type = parameter.type;
  const bool is_true = parameter.fallback && std::string_view(parameter.fallback) == "True";
  if (parameter.is_list()) return {{-1, List<Tensor>{ones({2, 3}), ones({2, 3}, int64)}, "two"}};
  if (type.starts_with("ScalarType")) return {{-1, float64, "float64"}};
  if (type.starts_with("Scalar")) return {{-1, 3, "3"}};
  if (type.starts_with("int[") && *parameter.values) {
    std::vector<Given> given;
    for (const Value& value : declared::declared_values(parameter))
      given.push_back({-1, value, to_string(SizesView(value.dims()))});
    return given;
  }
  if (type.starts_with("int[")) return {{-1, 0, "0"}, {-1, -1, "-1"}, {-1, Dims{0, -1}, "[0, -1]"}};
  if (type.starts_with("int")) return {{-1, 1, "1"}};
  if (type.starts_with("float[")) return {{-1, List<double>{-1, 2}, "[-1, 2]"}};
  if (type.starts_with("float")) return {{-1, 0.5, "0.5"}};
  if (type.starts_with("bool")) return {{-1, !is_true, is_true ? "False" : "True"}};
  if (type.starts_with("str")) {
    std::vector<Given> given;
    for (const Value& value : declared::declared_values(parameter)) given.push_back({-1, value, value.text()});
    return given;
  }
  throw std::logic_error("no values are known for an argument of type " + std::string(type));
}

/// The index of the next operand: conditions and indices have their own, all others alternate between the first two.
int operand_place(const Parameter& parameter, const std::vector<Given>& before) {
  if (declared::is_mask(parameter)) return kCondition;
  if (declared::is_index(parameter)) return kIndex;
  int place = kA;
  for (const Given& given : before)
    if (given.place == kA || given.place == kB) place = given.place == kA ? kB : kA;
  return place;
}

bool may_be_left_out(const Parameter& parameter) {
  return parameter.fallback || std::string_view(parameter.type).ends_with("?");
}

/// The choices for a parameter if only operands vary.
std::vector<Given> choices_of(const Parameter& parameter, const std::vector<Given>& before) {
  if (!parameter.is_operand()) {
    if (may_be_left_out(parameter)) return {Given()};
    Given first = values_of(parameter)[0];
    first.text.clear();
    return {first};
  }
  std::vector<Given> choices = {{operand_place(parameter, before), Value(), ""}};
  const auto number = static_cast<int64_t>(before.size() + 1);
  if (parameter.takes_numbers) choices.push_back({-1, number, std::to_string(number)});
  if (may_be_left_out(parameter)) choices.push_back({-1, Value(), "None"});
  return choices;
}

/// Every combination of operands: tensors, numbers, nothing. The first has tensors only.
std::vector<GivenAll> operand_calls(const Schema& schema) {
  std::vector<GivenAll> calls = {{&schema, {}}};
  for (const Parameter& parameter : schema.parameters()) {
    std::vector<GivenAll> longer;
    for (const GivenAll& call : calls)
      for (Given& given : choices_of(parameter, call.given)) {
        longer.push_back(call);
        longer.back().given.push_back(std::move(given));
      }
    calls = std::move(longer);
  }
  return calls;
}

/// The call with each value of each argument that is not an operand, from parameter `first` on.
std::vector<GivenAll> argument_calls(const GivenAll& ordinary, std::size_t first) {
  std::vector<GivenAll> calls;
  for (std::size_t i = first; i < ordinary.given.size(); ++i) {
    const Parameter& parameter = ordinary.schema->first[i];
    if (parameter.is_operand()) continue;
    for (Given& given : values_of(parameter)) {
      calls.push_back(ordinary);
      calls.back().given[i] = std::move(given);
    }
  }
  return calls;
}

/// The call with each combination of values of two arguments.
std::vector<GivenAll> pair_calls(const GivenAll& ordinary) {
  std::vector<GivenAll> calls;
  for (std::size_t i = 0; i + 1 < ordinary.given.size(); ++i) {
    if (ordinary.schema->first[i].is_operand()) continue;
    for (const Given& given : values_of(ordinary.schema->first[i])) {
      GivenAll one = ordinary;
      one.given[i] = given;
      for (GivenAll& both : argument_calls(one, i + 1)) calls.push_back(std::move(both));
    }
  }
  return calls;
}

using Build = std::function<void(const std::string& call, std::function<Results(Tensors&)>)>;
using Compute = std::function<List<Tensor>(Tensors&)>;

Tensor total(const List<Tensor>& results) {
  Tensor sum = results[0].sum();
  for (std::size_t i = 1; i < results.size(); ++i) sum = sum + results[i].sum();
  return sum;
}

/// Adds the derivative of a call, and its second derivative if there is one.
void add_derivatives(const Build& add, const std::string& op, const Compute& compute) {
  add(op + " backward", [compute](Tensors& t) {
    total(compute(t)).backward();
    return Results();  // the leaves' gradients are compared with the leaves
  });
  add(op + " twice differentiated", [compute](Tensors& t) {
    autograd::GradOptions options;
    options.create_graph = options.allow_unused = true;
    const Tensors once = autograd::grad({total(compute(t))}, {t[kLeafA], t[kLeafB]}, {}, options);
    Tensors twice;
    for (const Tensor& grad : once)
      if (grad.defined() && grad.requires_grad())
        for (Tensor& next : autograd::grad({grad.sum()}, {t[kLeafA], t[kLeafB]}, {}, options))
          if (next.defined()) twice.push_back(std::move(next));
    return Results(twice);
  });
}

/// Adds the forms of calls, and their derivatives.
struct Forms {
  const Build& add;
  const Build& add_derivative;
  bool grad;

  void functional(const std::string& name, const Compute& compute) const {
    add(name, [compute](Tensors& t) { return Results(compute(t)); });
    if (grad) add_derivatives(add_derivative, name, compute);
  }
  void functional(const GivenAll& call) const {
    functional(call.name(), [call](Tensors& t) {
      Value values[GivenAll::kMost];
      call.write(t, values);
      return call.schema->function(values);
    });
  }
  /// Adds a call whose second operand does not broadcast.
  void mismatch(const GivenAll& call) const {
    std::vector<std::size_t> operands;
    for (std::size_t i = 0; i < call.given.size(); ++i)
      if (call.schema->first[i].is_operand()) operands.push_back(i);
    if (operands.size() < 2) return;
    functional(call.name() + " mismatch", [call, second = operands[1]](Tensors& t) {
      Value values[GivenAll::kMost];
      call.write(t, values);
      values[second] = ones({7});
      return call.schema->function(values);
    });
  }
  void method(const GivenAll& call) const {
    if (!call.schema->method || !call.has_self()) return;
    add(call.name() + " method", [call](Tensors& t) {
      Value values[GivenAll::kMost];
      call.write(t, values);
      return Results(call.schema->method(values));
    });
  }
  void inplace(const GivenAll& call) const {
    if (!call.schema->inplace || !call.has_self()) return;
    const auto run = [call](Tensors& t) {
      Value values[GivenAll::kMost];
      call.write(t, values);
      call.schema->inplace(values);
    };
    add(call.name() + " in place", [run](Tensors& t) {
      run(t);
      return Results();
    });
    if (grad)
      add_derivatives(add_derivative, call.name() + " in place", [run](Tensors& t) {
        Tensors written = t;  // a failure after the write must not change operands
        written[kA] = t[kA] * 1;
        run(written);
        return List<Tensor>{written[kA]};
      });
  }
  void out(const GivenAll& call, const char* form, Place place) const {
    if (!call.schema->out) return;
    add(call.name() + form, [call, place](Tensors& t) {
      const NoGrad no_grad;
      Value values[GivenAll::kMost];
      call.write(t, values);
      List<Tensor> outs =
          call.schema->results == 1 ? List<Tensor>{{}} : call.schema->function(values);  // of their dtypes
      outs[0] = t[static_cast<std::size_t>(place)];
      call.schema->out(values, outs.data());
      return Results();
    });
  }
  void all(const GivenAll& call) const {
    functional(call);
    method(call);
    inplace(call);
    out(call, " out=", kOut);
  }
};

/// `one`, `two`: for calls with one and with two arguments besides the operands.
void add_op(const Forms& forms, const Forms& one, const Forms& two, const Schema& schema) {
  if (schema.count > GivenAll::kMost) throw std::logic_error(std::string(schema.name) + " has too many parameters");
  const std::vector<GivenAll> calls = operand_calls(schema);
  const GivenAll& ordinary = calls[0];
  for (const GivenAll& call : calls) forms.all(call);
  forms.mismatch(ordinary);
  if (!forms.grad) {
    forms.out(ordinary, " out= of its size", kSame);
    forms.out(ordinary, " out= of another size", kMatrix);  // resized with a warning
  }
  for (const GivenAll& call : argument_calls(ordinary, 0)) one.all(call);
  for (const GivenAll& call : pair_calls(ordinary)) two.functional(call);
}

/// Decompositions and transforms, which take seconds on big operands: --quick tries them on small ones.
bool is_slow(const Schema& schema) {
  const std::string_view name = schema.name;
  return name.starts_with("linalg_") || name.starts_with("fft_");
}

}  // namespace

const std::vector<Operands>& operand_kinds() {
  static const std::vector<Operands> kinds = {
      {"small",
       [] {
         return completed(counting({3, 4}), counting({4}));
       }},
      {"big",
       [] {
         return completed(counting({kRows, kColumns}), counting({kColumns}));
       },
       false, true},
      {"10 dims", [] { return completed(counting(ten_dims()), counting({4})); }},
      {"grad",
       [] {
         return tracked(counting({3, 4}), counting({4}));
       },
       true},
      {"big grad",
       [] {
         return tracked(counting({kRows, kColumns}), counting({kColumns}));
       },
       true, true},
      {"10 dims grad", [] { return tracked(counting(ten_dims()), counting({4})); }, true},
      {"mixed",
       [] {
         return completed(counting({kRows, kColumns}), counting({kRows, 1}, int32));
       },
       false, true},
      {"integers",
       [] {
         return completed(counting({3, 4}, int64), counting({3, 1}, uint8));
       }},
      {"half",
       [] {
         return completed(counting({kRows, kColumns}, bfloat16), counting({kColumns}, float16));
       },
       false, true},
      {"transposed",
       [] {
         return completed(counting({kColumns, kRows}).t(), counting({kRows, kColumns}));
       },
       false, true},
      {"strided",
       [] {
         return completed(counting({6, 8}).slice(1, 0, {}, 2), counting({6, 1}));
       }},
      {"empty",
       [] {
         return completed(counting({0, 4}), counting({4}));
       }},
      {"meta",
       [] {
         return completed(empty({3, 4}, Device::meta), empty({4}, Device::meta));
       }},
      {"overlapping",
       [] {
         const Tensor memory = counting({16});
         return completed(memory.slice(0, 1, 13).reshape({3, 4}), memory.slice(0, 0, 12).reshape({3, 4}));
       }},
      {"mismatched",
       [] {
         return completed(counting({3, 4}), counting({5, 1, 7}));
       }},
      {"inference",
       [] {
         const InferenceMode mode;
         return completed(counting({3, 4}), counting({4}));
       }},
  };
  return kinds;
}

void add_table_cases(std::vector<Case>& cases) {
  for (const Operands& operands : operand_kinds()) {
    const auto adds = [&](bool is_repeated) -> Build {
      return [&cases, &operands, is_repeated](const std::string& call, std::function<Results(Tensors&)> run) {
        cases.push_back({std::string(operands.name) + "/" + call, operands.make, std::move(run), is_repeated});
      };
    };
    // Big operands differ from small ones in the memory that a call takes, not in how its arguments are read.
    const Build add = adds(false), repeated = adds(operands.is_big);
    const Forms forms{add, add, operands.grad}, one{add, repeated, operands.grad},
        two{repeated, repeated, operands.grad};
    for (const Schema& schema : schemas())
      is_slow(schema) ? add_op(two, two, two, schema) : add_op(forms, one, two, schema);
  }
}

}  // namespace tenon::faults
