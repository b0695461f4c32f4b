// Answers one call per line: a JSON request on stdin, a JSON answer on stdout. compare.py makes the same calls in
// PyTorch.
//
//   {"op": "add", "form": "functional", "storages": [{"dtype": "float32", "bytes": "0000803f"}],
//    "args": [{"storage": 0, "shape": [1], "strides": [1], "offset": 0}, {"number": "0x1.8p+0", "kind": "float"}],
//    "out": [], "keywords": {"alpha": {"number": 2, "kind": "int"}}}
//
// The answer holds shape, strides, dtype and bytes (in index order) of each result and the storage that it shares, or
// the error's type and text; the warnings; and the content of every storage, so that a write to a wrong address is
// found.
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph.h"
#include "tenon/tenon.h"

tenon::Dims to_dims(const nlohmann::json& list) {
  tenon::Dims dims;
  for (const nlohmann::json& size : list) dims.push_back(size.get<int64_t>());
  return dims;
}
std::string to_hex(const void* data, std::size_t count) {
  static const char* digits = "0123456789abcdef";
  std::string text(2 * count, '0');
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned byte = static_cast<const unsigned char*>(data)[i];
    text[2 * i] = digits[byte >> 4];
    text[2 * i + 1] = digits[byte & 15u];
  }
  return text;
}

std::vector<unsigned char> from_hex(const std::string& text) {
  std::vector<unsigned char> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

namespace {

using nlohmann::json;
using tenon::Arg;
using tenon::Dims;
using tenon::DimsArg;
using tenon::Dtype;
using tenon::List;
using tenon::Scalar;
using tenon::Tensor;

// --- bytes and numbers --------------------------------------------------------------------------------------------

json to_json(tenon::SizesView sizes) { return std::vector<int64_t>(sizes.begin(), sizes.end()); }

Scalar to_scalar(const json& value) {
  const std::string kind = value.at("kind");
  if (kind == "bool") return value.at("number").get<bool>();
  if (kind == "complex")
    return tenon::Complex128{value.at("number")[0].get<double>(), value.at("number")[1].get<double>()};
  if (kind == "int") return value.at("number").get<int64_t>();
  return std::strtod(value.at("number").get<std::string>().c_str(), nullptr);
}

// --- a request ----------------------------------------------------------------------------------------------------

class Request {
 public:
  explicit Request(const json& text) : text_(text) {
    for (const json& storage : text.at("storages")) {
      const auto bytes = from_hex(storage.at("bytes"));
      const Dtype dtype = tenon::dtype_from_name(storage.at("dtype").get<std::string>().c_str());
      Tensor whole = tenon::empty({static_cast<int64_t>(bytes.size()) / itemsize(dtype)}, dtype);
      if (!bytes.empty()) std::memcpy(whole.data_ptr(), bytes.data(), bytes.size());
      storages_.push_back(whole);
    }
    for (const json& operand : text.at("args")) {
      tensors_.push_back(operand.contains("storage") ? view(operand) : Tensor());
      numbers_.push_back(operand.contains("number") ? to_scalar(operand) : Scalar());
    }
    for (const json& out : text.at("out")) outs_.push_back(view(out));
  }

  const std::string& form() const { return text_.at("form").get_ref<const std::string&>(); }
  std::size_t count() const { return tensors_.size(); }
  const Tensor& tensor(std::size_t i) const { return tensors_.at(i); }
  Tensor& tensor(std::size_t i) { return tensors_.at(i); }
  tenon::List<Tensor> tensors() const { return tensors_; }
  Scalar number(std::size_t i) const { return numbers_.at(i); }
  Arg arg(std::size_t i) const { return tensors_.at(i).defined() ? Arg(tensors_[i]) : Arg(numbers_[i]); }
  tenon::Value value(std::size_t i) const {
    return tensors_.at(i).defined() ? tenon::Value(tensors_[i]) : tenon::Value(numbers_[i]);
  }
  tenon::List<Tensor>& outs() { return outs_; }

  const json* keyword(const char* name) const {
    const json& keywords = text_.at("keywords");
    return keywords.contains(name) && !keywords.at(name).is_null() ? &keywords.at(name) : nullptr;
  }
  Dims sizes(const char* name) const { return keyword(name) ? to_dims(*keyword(name)) : Dims(); }
  std::optional<Dtype> dtype() const {
    if (!keyword("dtype")) return std::nullopt;
    return tenon::dtype_from_name(keyword("dtype")->get<std::string>().c_str());
  }
  /// The storage that a result shares; null if it has its own.
  json shared(const Tensor& result) const {
    const tenon::Storage* storage = result.impl()->storage;
    for (std::size_t i = 0; i < storages_.size(); ++i)
      if (storage->nbytes > 0 && storages_[i].impl()->storage == storage) return i;
    return nullptr;
  }
  json storages() const {
    json list = json::array();
    for (const Tensor& storage : storages_)
      list.push_back(to_hex(storage.data_ptr(), static_cast<std::size_t>(storage.nbytes())));
    return list;
  }

 private:
  Tensor view(const json& operand) const {
    const Tensor& storage = storages_.at(operand.at("storage").get<std::size_t>());
    return storage.as_strided(to_dims(operand.at("shape")), to_dims(operand.at("strides")),
                              operand.at("offset").get<int64_t>());
  }

  const json& text_;
  std::vector<Tensor> storages_;
  std::vector<Tensor> tensors_;  // undefined if the operand is a number
  std::vector<Scalar> numbers_;
  tenon::List<Tensor> outs_;
};

// --- the calls ----------------------------------------------------------------------------------------------------

struct NoSuchForm {};
using Call = std::function<Tensor(Request&)>;
using Operator = std::function<Tensor(const Request&)>;

/// The operators by op.
const std::map<std::string, Operator>& operators() {
#define TENON_SYMBOL(NAME, SYMBOL)                                                                   \
  {#NAME, [](const Request& r) {                                                                     \
     if (!r.tensor(0).defined()) return r.number(0) SYMBOL r.tensor(1);                              \
     return r.tensor(1).defined() ? r.tensor(0) SYMBOL r.tensor(1) : r.tensor(0) SYMBOL r.number(1); \
   }},
#define TENON_COMPARISON TENON_SYMBOL
#define TENON_PYTHON_SYMBOL(NAME) {#NAME, [](const Request& r) { return tenon::NAME(r.arg(0), r.arg(1)); }},
#define TENON_UNARY_SYMBOL(NAME, SYMBOL) {#NAME, [](const Request& r) { return SYMBOL r.tensor(0); }},
#define TENON_TENSOR_SYMBOL(NAME)
  static const std::map<std::string, Operator> table = {
#include "ops/symbols.def"
  };
#undef TENON_SYMBOL
#undef TENON_COMPARISON
#undef TENON_PYTHON_SYMBOL
#undef TENON_UNARY_SYMBOL
#undef TENON_TENSOR_SYMBOL
  return table;
}

Tensor compound(const std::string& op, Request& r) {
// clang-format off
#define TENON_SYMBOL(NAME, SYMBOL) if (op == #NAME) return r.tensor(0) SYMBOL##= r.arg(1);
#define TENON_PYTHON_SYMBOL(NAME) if (op == #NAME) return r.tensor(0).NAME##_(r.arg(1));
// clang-format on
#define TENON_COMPARISON(NAME, SYMBOL)
#define TENON_UNARY_SYMBOL(NAME, SYMBOL)
#define TENON_TENSOR_SYMBOL(NAME)
#include "ops/symbols.def"
#undef TENON_SYMBOL
#undef TENON_COMPARISON
#undef TENON_PYTHON_SYMBOL
#undef TENON_UNARY_SYMBOL
#undef TENON_TENSOR_SYMBOL
  throw NoSuchForm();
}

tenon::List<double> to_floats(const json& values) {
  tenon::List<double> floats;
  for (const json& value : values) floats.push_back(to_scalar(value).as_double());
  return floats;
}

/// The arguments of a declared op in the order of its parameters: positional ones, then keywords.
std::vector<tenon::Value> values_of(const tenon::Schema& schema, const Request& request) {
  std::vector<tenon::Value> values(static_cast<std::size_t>(schema.count));
  std::size_t operands = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const tenon::Parameter& parameter = schema.parameters()[i];
    const std::string_view type = parameter.type;
    const json* keyword = request.keyword(parameter.name);
    if (parameter.is_list())
      values[i] = request.tensors();
    else if (keyword && parameter.is_operand())
      values[i] = request.value(keyword->get<std::size_t>());
    else if (!keyword && operands < request.count() && parameter.is_operand() &&
             (!parameter.fallback || std::string_view(parameter.type) == "Tensor?"))
      values[i] = request.value(operands++);
    else if (!keyword)
      continue;
    else if (type.starts_with("int[") && keyword->is_array())
      values[i] = to_dims(*keyword);
    else if (type.starts_with("int"))
      values[i] = keyword->get<int64_t>();
    else if (type.starts_with("bool"))
      values[i] = keyword->get<bool>();
    else if (type.starts_with("ScalarType"))
      values[i] = tenon::dtype_from_name(keyword->get<std::string>().c_str());
    else if (type.starts_with("float["))
      values[i] = to_floats(*keyword);
    else if (type.starts_with("Scalar") || type.starts_with("float"))
      values[i] = to_scalar(*keyword);
    else
      values[i] = keyword->get<std::string>();
  }
  return values;
}

/// Calls a declared op: its function, method, in-place method, or with out=.
List<Tensor> call_declared(const tenon::Schema& schema, Request& request) {
  const std::vector<tenon::Value> values = values_of(schema, request);
  if (request.form() == "functional") return schema.function(values.data());
  if (request.form() == "method" && schema.method) return schema.method(values.data());
  if (request.form() == "inplace" && schema.inplace) {
    schema.inplace(values.data());
    return {request.tensor(0)};
  }
  if (request.form() != "out" || !schema.out) throw NoSuchForm();
  schema.out(values.data(), &request.outs()[0]);
  return request.outs();
}

/// The first of several overloads has the op's name; the others are called by the names of their blocks.
const tenon::Schema* find_declared(const std::string& op) {
  for (const tenon::Schema& schema : tenon::schemas())
    if (op == schema.name && op == schema.block) return &schema;
  for (const tenon::Schema& schema : tenon::schemas())
    if (op != schema.name && op == schema.block) return &schema;
  return tenon::find_schema(op);
}

/// Calls that are not declared ops: copies and views.
const std::map<std::string, Call>& others() {
  static const std::map<std::string, Call> table = {
      {"to", [](Request& r) { return r.tensor(0).to(r.dtype().value()); }},
      {"clone", [](Request& r) { return r.tensor(0).clone(); }},
      {"contiguous", [](Request& r) { return r.tensor(0).contiguous(); }},
      {"copy", [](Request& r) { return r.tensor(0).copy_(r.tensor(1)); }},
      {"fill",
       [](Request& r) {
         return r.tensor(1).defined() ? r.tensor(0).fill_(r.tensor(1)) : r.tensor(0).fill_(r.number(1));
       }},
      {"expand", [](Request& r) { return r.tensor(0).expand(r.sizes("sizes")); }},
      {"reshape", [](Request& r) { return r.tensor(0).reshape(r.sizes("sizes")); }},
      {"sum_to_size", [](Request& r) { return r.tensor(0).sum_to_size(r.sizes("sizes")); }},
  };
  return table;
}

List<Tensor> perform(Request& request, const std::string& op) {
  if (request.form() == "operator") {
    const auto found = operators().find(op);
    if (found == operators().end()) throw NoSuchForm();
    return {found->second(request)};
  }
  if (request.form() == "compound") return {compound(op, request)};
  if (const tenon::Schema* schema = find_declared(op)) return call_declared(*schema, request);
  return {others().at(op)(request)};
}

// --- the answer ---------------------------------------------------------------------------------------------------

/// Bytes in row-major order, read by strides here, not by the library that is tested.
std::string elements_of(const Tensor& tensor) {
  std::string text;
  if (tensor.numel() == 0) return text;
  const auto size = static_cast<std::size_t>(tensor.itemsize());
  std::vector<int64_t> index(static_cast<std::size_t>(tensor.dim()), 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t place = 0;
    for (int64_t dim = 0; dim < tensor.dim(); ++dim)
      place += index[static_cast<std::size_t>(dim)] * tensor.strides()[dim];
    text += to_hex(static_cast<const char*>(tensor.data_ptr()) + place * tensor.itemsize(), size);
    for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
      if (++index[static_cast<std::size_t>(dim)] < tensor.sizes()[dim]) break;
      index[static_cast<std::size_t>(dim)] = 0;
    }
  }
  return text;
}

json describe(const Tensor& tensor, const Request& request) {
  return {{"shares", request.shared(tensor)},           {"offset", tensor.storage_offset()},
          {"dtype", tenon::dtype_name(tensor.dtype())}, {"shape", to_json(tensor.sizes())},
          {"strides", to_json(tensor.strides())},       {"bytes", elements_of(tensor)}};
}

json failure(const char* type, const char* text) { return {{"type", type}, {"text", text}}; }

json answer(const json& question) {
  if (question.contains("graph")) return answer_graph(question.at("graph"));
  json reply;
  std::vector<std::string> warnings;
  tenon::set_warning_handler(
      [](const char* category, const std::string& text, const std::string&, void* list) {
        static_cast<std::vector<std::string>*>(list)->push_back(std::string(category) + ": " + text);
      },
      &warnings);
  Request request(question);
  try {
    reply["results"] = json::array();
    for (const Tensor& result : perform(request, question.at("op")))
      reply["results"].push_back(describe(result, request));
  } catch (const NoSuchForm&) {
    reply["error"] = failure("NoSuchForm", "");
  } catch (const tenon::IndexError& e) {
    reply["error"] = failure("IndexError", e.what());
  } catch (const tenon::ValueError& e) {
    reply["error"] = failure("ValueError", e.what());
  } catch (const tenon::TypeError& e) {
    reply["error"] = failure("TypeError", e.what());
  } catch (const tenon::NotImplementedError& e) {
    reply["error"] = failure("NotImplementedError", e.what());
  } catch (const tenon::OutOfMemoryError& e) {
    reply["error"] = failure("OutOfMemoryError", e.what());
  } catch (const tenon::Error& e) {
    reply["error"] = failure("RuntimeError", e.what());
    reply["error"]["notes"] = e.notes();
  }
  reply["storages"] = request.storages();
  reply["warnings"] = warnings;
  tenon::set_warning_handler(nullptr);
  return reply;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(json::parse(line)).dump() << std::endl;
}
