// Every declared op once, by its schema: an op that is declared later has its line.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "cases.h"
#include "op_calls.h"

#ifdef TENON_BENCH_TORCH
#include <ATen/core/dispatch/Dispatcher.h>
#endif

namespace bench {
namespace {

Prepare prepare_op(const tenon::Schema& schema, const MapKind& map) {
  return [&schema, map]() -> Work {
    return [&schema, call = std::make_shared<OpCall>(call_of(schema, map))](int64_t repeats) {
      for (int64_t i = 0; i < repeats; ++i) {
        if (call->outs.empty())
          schema.function(call->values.data());
        else
          schema.out(call->values.data(), call->outs.data());
        benchmark::ClobberMemory();
      }
    };
  };
}

#ifdef TENON_BENCH_TORCH
/// An argument of `call_of` for PyTorch's dispatcher.
c10::IValue as_ivalue(const tenon::Parameter& parameter, const tenon::Value& value) {
  const std::string_view type = parameter.type;
  if (value.is_tensor()) return Torch::copy(value.tensor());
  if (parameter.is_list()) {
    c10::List<at::Tensor> tensors;
    for (const tenon::Tensor& tensor : value.tensors()) tensors.push_back(Torch::copy(tensor));
    return tensors;
  }
  if (type.starts_with("int[")) return Torch::dims(value.dims());
  if (type.starts_with("int")) return value.integer(0);
  if (type.starts_with("bool")) return value.boolean(false);
  if (type.starts_with("str")) return std::string(value.text());
  return value.floating(0);
}

using Given = std::vector<std::pair<std::string, c10::IValue>>;

/// The arguments in the order of one of PyTorch's overloads; empty where that doesn't take them. `outs` are for its
/// out= arguments.
std::vector<c10::IValue> stack_of(const c10::FunctionSchema& overload, const Given& given,
                                  const tenon::List<tenon::Tensor>& outs) {
  std::vector<c10::IValue> stack;
  std::size_t taken = 0, written = 0;
  for (const c10::Argument& argument : overload.arguments()) {
    const auto same_name = [&](const auto& pair) { return pair.first == argument.name(); };
    const auto found = std::find_if(given.begin(), given.end(), same_name);
    if (argument.is_out() && written < outs.size()) {
      stack.push_back(Torch::copy(outs[written++]));
      continue;
    }
    if (argument.is_out() || (found == given.end() && !argument.default_value())) return {};
    if (found != given.end() && !found->second.type()->isSubtypeOf(*argument.type())) return {};
    taken += found != given.end();
    stack.push_back(found != given.end() ? found->second : *argument.default_value());
  }
  return taken == given.size() && written == outs.size() ? stack : std::vector<c10::IValue>{};
}

/// Whether PyTorch takes the arguments.
bool runs(const c10::OperatorHandle& op, std::vector<c10::IValue> stack) {
  try {
    op.callBoxed(&stack);
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

/// PyTorch's function of that name, through its dispatcher: some 100 ns more than a call of its C++.
Work torch_work(const tenon::Schema& schema, const MapKind& map) {
  const OpCall call = call_of(schema, map);
  Given given;
  for (int place = 0; place < schema.count; ++place)
    if (const tenon::Value& value = call.values[static_cast<std::size_t>(place)]; !value.is_empty())
      given.emplace_back(schema.first[place].name, as_ivalue(schema.first[place], value));
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.name != std::string("aten::") + schema.name) continue;
    const auto op = dispatcher.findOp(name);
    if (!op || !op->hasSchema()) continue;
    const std::vector<c10::IValue> stack = stack_of(op->schema(), given, call.outs);
    if (stack.empty() || !runs(*op, stack)) continue;
    return [op = *op, stack](int64_t repeats) {
      for (int64_t i = 0; i < repeats; ++i) {
        std::vector<c10::IValue> arguments = stack;
        op.callBoxed(&arguments);
        benchmark::ClobberMemory();
      }
    };
  }
  return {};
}
#endif

/// What a map must reach: to be hardly slower than PyTorch; common functions to be faster.
double ratio_target(const tenon::Schema& schema) {
  constexpr std::string_view common[] = {"exp", "log", "sin", "cos", "tanh", "sigmoid", "erf", "pow", "gelu", "silu"};
  constexpr std::string_view dividing[] = {"remainder", "floor_divide"};
  const auto is_in = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), std::string_view(schema.name)) != std::end(names);
  };
  if (!schema.is_map()) return 0;
  return is_in(common) || is_in(dividing) ? 1.5 : 0.95;
}

}  // namespace

void add_op_cases(Cases& cases, const MapKind& map) {
  for (const tenon::Schema& schema : tenon::schemas()) {
    const std::optional<std::string> line = line_of(schema);
    if (!line || !takes(schema, map)) continue;
    Prepare torch;
#ifdef TENON_BENCH_TORCH
    torch = [&schema, map] { return torch_work(schema, map); };
#endif
    cases.add({{.name = *line, .ratio_target = ratio_target(schema), .bytes = bytes_of(schema, map)},
               prepare_op(schema, map),
               std::move(torch)});
  }
}

}  // namespace bench
