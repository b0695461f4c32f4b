#include "graph.h"

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace {

using nlohmann::json;
using tenon::Dims;
using tenon::Tensor;

Tensor tensor_of(const json& given) {
  const auto bytes = from_hex(given.at("bytes"));
  Tensor tensor =
      tenon::empty(to_dims(given.at("shape")), tenon::dtype_from_name(given.at("dtype").get<std::string>().c_str()));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

json describe(const Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  const Tensor dense = tensor.detach().contiguous();
  return {{"dtype", tenon::dtype_name(tensor.dtype())},
          {"shape", std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
          {"strides", std::vector<int64_t>(tensor.strides().begin(), tensor.strides().end())},
          {"bytes", to_hex(dense.data_ptr(), static_cast<std::size_t>(dense.nbytes()))}};
}

/// A step of a graph: its operands and other arguments.
struct Step {
  const json& text;
  std::vector<Tensor>& values;

  Tensor& in(std::size_t i) const { return values.at(text.at("in").at(i).get<std::size_t>()); }
  tenon::List<Tensor> all() const {
    tenon::List<Tensor> tensors;
    for (std::size_t i = 0; i < text.at("in").size(); ++i) tensors.push_back(in(i));
    return tensors;
  }
  int64_t n(std::size_t i) const { return text.at("numbers").at(i).get<int64_t>(); }
  double x(std::size_t i) const { return text.at("numbers").at(i).get<double>(); }
  Dims dims() const { return to_dims(text.at("dims")); }
  tenon::DimsArg reduced() const {
    return text.at("dims").is_null() ? tenon::DimsArg() : tenon::DimsArg(tenon::SizesView(dims()));
  }
  bool keepdim() const { return text.at("keepdim").get<bool>(); }
};

using Call = std::function<Tensor(const Step&)>;
const std::map<std::string, Call>& calls() {
#define UNARY(NAME)                                              \
  {#NAME, [](const Step& s) { return tenon::NAME(s.in(0)); }}, { \
#NAME "_", [](const Step& s) { return s.in(0).NAME##_(); }   \
  }
#define BINARY(NAME)                                                      \
  {#NAME, [](const Step& s) { return tenon::NAME(s.in(0), s.in(1)); }}, { \
#NAME "_", [](const Step& s) { return s.in(0).NAME##_(s.in(1)); }     \
  }
#define REDUCTION(NAME)                                                                 \
  {                                                                                     \
#NAME, [](const Step& s) { return tenon::NAME(s.in(0), s.reduced(), s.keepdim()); } \
  }
  static const std::map<std::string, Call> table = {
      UNARY(neg),
      UNARY(abs),
      UNARY(exp),
      UNARY(tanh),
      UNARY(square),
      UNARY(sqrt),
      UNARY(reciprocal),
      UNARY(log),
      UNARY(sigmoid),
      BINARY(add),
      BINARY(sub),
      BINARY(mul),
      BINARY(div),
      BINARY(pow),
      BINARY(maximum),
      BINARY(minimum),
      REDUCTION(sum),
      REDUCTION(mean),
      REDUCTION(amax),
      REDUCTION(amin),
      {"mm", [](const Step& s) { return tenon::mm(s.in(0), s.in(1)); }},
      {"cat", [](const Step& s) { return tenon::cat(s.all(), s.n(0)); }},
      {"stack", [](const Step& s) { return tenon::stack(s.all(), s.n(0)); }},
      {"add_number", [](const Step& s) { return s.in(0) + s.x(0); }},
      {"mul_number", [](const Step& s) { return s.in(0) * s.x(0); }},
      {"pow_number", [](const Step& s) { return s.in(0).pow(s.x(0)); }},
      {"mul_number_", [](const Step& s) { return s.in(0).mul_(s.x(0)); }},
      {"add_alpha", [](const Step& s) { return s.in(0).add(s.in(1), s.x(0)); }},
      {"sub_alpha_", [](const Step& s) { return s.in(0).sub_(s.in(1), s.x(0)); }},
      {"clamp", [](const Step& s) { return s.in(0).clamp(s.x(0), s.x(1)); }},
      {"clamp_min_", [](const Step& s) { return s.in(0).clamp_(s.x(0)); }},
      {"where", [](const Step& s) { return where(s.in(0) > s.x(0), s.in(1), s.in(2)); }},
      {"copy_", [](const Step& s) { return s.in(0).copy_(s.in(1)); }},
      {"fill_", [](const Step& s) { return s.in(0).fill_(s.x(0)); }},
      {"zero_", [](const Step& s) { return s.in(0).zero_(); }},
      {"zeros", [](const Step& s) { return tenon::zeros(s.dims(), s.in(0).dtype()); }},
      {"clone", [](const Step& s) { return s.in(0).clone(); }},
      {"contiguous", [](const Step& s) { return s.in(0).contiguous(); }},
      {"detach", [](const Step& s) { return s.in(0).detach(); }},
      {"float64", [](const Step& s) { return s.in(0).to(tenon::float64); }},
      {"float32", [](const Step& s) { return s.in(0).to(tenon::float32); }},
      {"expand", [](const Step& s) { return s.in(0).expand(s.dims()); }},
      {"reshape", [](const Step& s) { return s.in(0).reshape(s.dims()); }},
      {"permute", [](const Step& s) { return s.in(0).permute(s.dims()); }},
      {"squeeze", [](const Step& s) { return s.in(0).squeeze(); }},
      {"unsqueeze", [](const Step& s) { return s.in(0).unsqueeze(s.n(0)); }},
      {"transpose", [](const Step& s) { return s.in(0).transpose(s.n(0), s.n(1)); }},
      {"t", [](const Step& s) { return s.in(0).t(); }},
      {"select", [](const Step& s) { return s.in(0).select(s.n(0), s.n(1)); }},
      {"slice", [](const Step& s) { return s.in(0).slice(s.n(0), s.n(1), s.n(2), s.n(3)); }},
      {"diagonal", [](const Step& s) { return s.in(0).diagonal(s.n(0), s.n(1), s.n(2)); }},
      {"unfold", [](const Step& s) { return s.in(0).unfold(s.n(0), s.n(1), s.n(2)); }},
      {"sum_to_size", [](const Step& s) { return s.in(0).sum_to_size(s.dims()); }},
  };
#undef UNARY
#undef BINARY
#undef REDUCTION
  return table;
}

}  // namespace

json answer_graph(const json& graph) {
  std::vector<Tensor> values;
  for (const json& leaf : graph.at("leaves")) values.push_back(tensor_of(leaf).requires_grad_());
  json names = json::array();
  json reply;
  try {
    for (const json& step : graph.at("steps")) {
      values.push_back(calls().at(step.at("op").get<std::string>())({step, values}));
      const tenon::autograd::Node node = values.back().grad_fn();
      names.push_back(node.defined() ? json(node.name()) : json(nullptr));
    }
    tenon::autograd::Tensors roots, weights;
    for (const json& root : graph.at("roots")) roots.push_back(values.at(root.get<std::size_t>()));
    for (const json& weight : graph.at("weights")) weights.push_back(tensor_of(weight));
    tenon::autograd::backward(roots, weights);
    for (std::size_t i = 0; i < graph.at("leaves").size(); ++i) reply["grads"].push_back(describe(values[i].grad()));
    reply["last"] = describe(roots[0]);
  } catch (const tenon::Error& error) {
    reply["error"] = error.what();
  }
  reply["names"] = names;
  return reply;
}
