#include "expr/views.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "expr/spelling.h"
#include "tenon/schema.h"

namespace tenon::expr {
namespace {

using Arguments = std::vector<Argument>;
constexpr std::size_t kAny = 64;

/// Several integers or one list: `view(2, 3)` and `view((2, 3))`.
Dims all_dims(const Arguments& arguments) {
  if (arguments.size() == 1) return as_dims(arguments[0]);
  Dims dims;
  for (const Argument& argument : arguments) dims.push_back(as_integer(argument));
  return dims;
}

Tensor reverse_dims(const Tensor& self) {
  Dims dims;
  for (int64_t dim = self.dim() - 1; dim >= 0; --dim) dims.push_back(dim);
  return self.permute(dims);
}

Tensor adjoint(const Tensor& self) {
  if (self.dim() != 0 && self.dim() < 2)
    throw Error("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  const Tensor swapped = self.dim() == 0 ? self : self.mT();
  return conj(swapped);
}

// clang-format off
constexpr View kViews[] = {
    {"adjoint",      "adjoint()",                  0, 0,    [](const Tensor& x, const Arguments&)   { return adjoint(x); }},
    {"as_strided",   "as_strided(size, stride, storage_offset=None)", 2, 3, [](const Tensor& x, const Arguments& a) {
       return x.as_strided(as_dims(a[0]), as_dims(a[1]), a.size() > 2 ? std::optional(as_integer(a[2])) : std::nullopt); }},
    {"broadcast_to", "broadcast_to(size)",         1, kAny, [](const Tensor& x, const Arguments& a) { return x.broadcast_to(all_dims(a)); }},
    {"conj",         "conj()",                     0, 0,    [](const Tensor& x, const Arguments&)   { return conj(x); }},
    {"contiguous",   "contiguous()",               0, 0,    [](const Tensor& x, const Arguments&)   { return x.contiguous(); }},
    {"diagonal",     "diagonal(offset=0, dim1=0, dim2=1)", 0, 3, [](const Tensor& x, const Arguments& a) {
       return x.diagonal(!a.empty() ? as_integer(a[0]) : 0, a.size() > 1 ? as_integer(a[1]) : 0, a.size() > 2 ? as_integer(a[2]) : 1); }},
    {"expand",       "expand(size)",               1, kAny, [](const Tensor& x, const Arguments& a) { return x.expand(all_dims(a)); }},
    {"expand_as",    "expand_as(other)",           1, 1,    [](const Tensor& x, const Arguments& a) { return x.expand(as_tree(a[0])->sizes()); }},
    {"flatten",      "flatten(start_dim=0, end_dim=-1)", 0, 2, [](const Tensor& x, const Arguments& a) {
       return x.flatten(!a.empty() ? as_integer(a[0]) : 0, a.size() > 1 ? as_integer(a[1]) : -1); }},
    {"imag",         "imag()",                     0, 0,    [](const Tensor& x, const Arguments&)   { return imag(x); }},
    {"moveaxis",     "moveaxis(source, destination)", 2, 2, [](const Tensor& x, const Arguments& a) { return x.movedim(as_dims(a[0]), as_dims(a[1])); }},
    {"movedim",      "movedim(source, destination)", 2, 2,  [](const Tensor& x, const Arguments& a) { return x.movedim(as_dims(a[0]), as_dims(a[1])); }},
    {"narrow",       "narrow(dim, start, length)", 3, 3,    [](const Tensor& x, const Arguments& a) { return x.narrow(as_integer(a[0]), as_integer(a[1]), as_integer(a[2])); }},
    {"permute",      "permute(dims)",              1, kAny, [](const Tensor& x, const Arguments& a) { return x.permute(all_dims(a)); }},
    {"positive",     "positive()",                 0, 0,    [](const Tensor& x, const Arguments&)   { return positive(x); }},
    {"ravel",        "ravel()",                    0, 0,    [](const Tensor& x, const Arguments&)   { return x.contiguous().reshape({-1}); }},
    {"real",         "real()",                     0, 0,    [](const Tensor& x, const Arguments&)   { return real(x); }},
    {"reshape",      "reshape(shape)",             1, kAny, [](const Tensor& x, const Arguments& a) { return x.reshape(all_dims(a)); }},
    {"reshape_as",   "reshape_as(other)",          1, 1,    [](const Tensor& x, const Arguments& a) { return x.reshape(as_tree(a[0])->sizes()); }},
    {"resolve_conj", "resolve_conj()",             0, 0,    [](const Tensor& x, const Arguments&)   { return resolve_conj(x); }},
    {"select",       "select(dim, index)",         2, 2,    [](const Tensor& x, const Arguments& a) { return x.select(as_integer(a[0]), as_integer(a[1])); }},
    {"squeeze",      "squeeze(dim)",               0, kAny, [](const Tensor& x, const Arguments& a) { return a.empty() ? x.squeeze() : x.squeeze(all_dims(a)); }},
    {"swapaxes",     "swapaxes(axis0, axis1)",     2, 2,    [](const Tensor& x, const Arguments& a) { return x.transpose(as_integer(a[0]), as_integer(a[1])); }},
    {"swapdims",     "swapdims(dim0, dim1)",       2, 2,    [](const Tensor& x, const Arguments& a) { return x.transpose(as_integer(a[0]), as_integer(a[1])); }},
    {"t",            "t()",                        0, 0,    [](const Tensor& x, const Arguments&)   { return x.t(); }},
    {"transpose",    "transpose(dim0, dim1)",      2, 2,    [](const Tensor& x, const Arguments& a) { return x.transpose(as_integer(a[0]), as_integer(a[1])); }},
    {"unflatten",    "unflatten(dim, sizes)",      2, 2,    [](const Tensor& x, const Arguments& a) { return x.unflatten(as_integer(a[0]), as_dims(a[1])); }},
    {"unfold",       "unfold(dimension, size, step)", 3, 3, [](const Tensor& x, const Arguments& a) { return x.unfold(as_integer(a[0]), as_integer(a[1]), as_integer(a[2])); }},
    {"unsqueeze",    "unsqueeze(dim)",             1, 1,    [](const Tensor& x, const Arguments& a) { return x.unsqueeze(as_integer(a[0])); }},
    {"view",         "view(size or dtype)",        1, kAny, [](const Tensor& x, const Arguments& a) {
       return a.size() == 1 && std::holds_alternative<Dtype>(a[0].value) ? x.view(as_dtype(a[0])) : x.view(all_dims(a)); }},
    {"view_as",      "view_as(other)",             1, 1,    [](const Tensor& x, const Arguments& a) { return x.view(as_tree(a[0])->sizes()); }},
    {"view_as_complex", "view_as_complex()",       0, 0,    [](const Tensor& x, const Arguments&)   { return view_as_complex(x); }},
    {"view_as_real", "view_as_real()",             0, 0,    [](const Tensor& x, const Arguments&)   { return view_as_real(x); }},
};
// clang-format on

/// The declared parameters behind the tensor of an overload that has them all by these names; empty if there is none.
std::span<const Parameter> parameters_of(const View& view, const Arguments& arguments) {
  const auto has = [](std::span<const Parameter> parameters, const Argument& argument) {
    return argument.keyword.empty() ||
           std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
             return !parameter.keyword_only && argument.keyword == parameter.name;
           });
  };
  for (const ViewSchema& schema : view_schemas()) {
    if (std::strcmp(schema.name, view.name) != 0) continue;
    const std::span<const Parameter> parameters = schema.parameters().subspan(1);
    if (std::all_of(arguments.begin(), arguments.end(), [&](const Argument& each) { return has(parameters, each); }))
      return parameters;
  }
  return {};
}

/// A default that is an integer, as all of the views' are that another parameter may follow.
Argument fallback_of(const Parameter& parameter, const View& view, Span span) {
  int64_t number = 0;
  const char* text = parameter.fallback;
  if (text == nullptr)
    throw ExpressionError(std::string(view.name) + "() misses the argument '" + parameter.name + "'", span);
  std::from_chars(text, text + std::strlen(text), number);
  return {"", leaf(Scalar(number), span), span};
}

/// The arguments in the order of the parameters, with the defaults of those that are left out before others.
Arguments in_places(const View& view, const Arguments& arguments, Span span) {
  const auto keyword = std::find_if(arguments.begin(), arguments.end(),
                                    [](const Argument& argument) { return !argument.keyword.empty(); });
  if (keyword == arguments.end()) return arguments;
  const std::span<const Parameter> parameters = parameters_of(view, arguments);
  if (parameters.empty())
    throw ExpressionError("the call is " + std::string(view.signature) + ", without '" + keyword->keyword + "'",
                          keyword->span);
  std::vector<const Argument*> slots(parameters.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto named = [&](const Parameter& parameter) { return arguments[i].keyword == parameter.name; };
    const auto place =
        arguments[i].keyword.empty()
            ? i
            : static_cast<std::size_t>(std::find_if(parameters.begin(), parameters.end(), named) - parameters.begin());
    if (place >= slots.size() || slots[place] != nullptr)
      throw ExpressionError("the call is " + std::string(view.signature), arguments[i].span);
    slots[place] = &arguments[i];
  }
  while (slots.back() == nullptr) slots.pop_back();
  Arguments ordered;
  for (std::size_t i = 0; i < slots.size(); ++i)
    ordered.push_back(slots[i] ? *slots[i] : fallback_of(parameters[i], view, span));
  return ordered;
}

}  // namespace

const View* find_view(std::string_view name) noexcept {
  for (const View& view : kViews)
    if (name == view.name) return &view;
  return nullptr;
}

std::string nearest_view(std::string_view name) {
  std::vector<const char*> names;
  for (const View& view : kViews) names.push_back(view.name);
  return nearest_name(name, names);
}

Tensor apply_view(const View& view, const Tensor& self, const Arguments& given, Span span) {
  const Arguments arguments = in_places(view, given, span);
  if (arguments.size() < view.least || arguments.size() > view.most)
    throw ExpressionError(std::string("the call is ") + view.signature + ", and " + std::to_string(arguments.size()) +
                              " arguments are given",
                          span);
  return at(span, [&] { return view.apply(self, arguments); });
}

Tensor view_attribute(std::string_view name, const Tensor& self) {
  if (name == "T") return reverse_dims(self);
  if (name == "mT") return self.mT();
  if (name == "real") return real(self);
  if (name == "imag") return imag(self);
  return {};
}

}  // namespace tenon::expr
