#include "expr/views.h"

#include "expr/spelling.h"

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

// clang-format off
constexpr View kViews[] = {
    {"as_strided",   "as_strided(sizes, strides, storage_offset=None)", 2, 3, [](const Tensor& x, const Arguments& a) {
       return x.as_strided(as_dims(a[0]), as_dims(a[1]), a.size() > 2 ? std::optional(as_integer(a[2])) : std::nullopt); }},
    {"broadcast_to", "broadcast_to(sizes)",        1, kAny, [](const Tensor& x, const Arguments& a) { return x.broadcast_to(all_dims(a)); }},
    {"conj",         "conj()",                     0, 0,    [](const Tensor& x, const Arguments&)   { return conj(x); }},
    {"contiguous",   "contiguous()",               0, 0,    [](const Tensor& x, const Arguments&)   { return x.contiguous(); }},
    {"diagonal",     "diagonal(offset=0, dim1=0, dim2=1)", 0, 3, [](const Tensor& x, const Arguments& a) {
       return x.diagonal(!a.empty() ? as_integer(a[0]) : 0, a.size() > 1 ? as_integer(a[1]) : 0, a.size() > 2 ? as_integer(a[2]) : 1); }},
    {"expand",       "expand(sizes)",              1, kAny, [](const Tensor& x, const Arguments& a) { return x.expand(all_dims(a)); }},
    {"expand_as",    "expand_as(other)",           1, 1,    [](const Tensor& x, const Arguments& a) { return x.expand(as_tree(a[0])->sizes()); }},
    {"flatten",      "flatten(start=0, end=-1)",   0, 2,    [](const Tensor& x, const Arguments& a) {
       return x.flatten(!a.empty() ? as_integer(a[0]) : 0, a.size() > 1 ? as_integer(a[1]) : -1); }},
    {"imag",         "imag()",                     0, 0,    [](const Tensor& x, const Arguments&)   { return imag(x); }},
    {"movedim",      "movedim(source, destination)", 2, 2,  [](const Tensor& x, const Arguments& a) { return x.movedim(as_dims(a[0]), as_dims(a[1])); }},
    {"narrow",       "narrow(dim, start, length)", 3, 3,    [](const Tensor& x, const Arguments& a) { return x.narrow(as_integer(a[0]), as_integer(a[1]), as_integer(a[2])); }},
    {"permute",      "permute(dims)",              1, kAny, [](const Tensor& x, const Arguments& a) { return x.permute(all_dims(a)); }},
    {"real",         "real()",                     0, 0,    [](const Tensor& x, const Arguments&)   { return real(x); }},
    {"reshape",      "reshape(sizes)",             1, kAny, [](const Tensor& x, const Arguments& a) { return x.reshape(all_dims(a)); }},
    {"select",       "select(dim, index)",         2, 2,    [](const Tensor& x, const Arguments& a) { return x.select(as_integer(a[0]), as_integer(a[1])); }},
    {"squeeze",      "squeeze(dims)",              0, kAny, [](const Tensor& x, const Arguments& a) { return a.empty() ? x.squeeze() : x.squeeze(all_dims(a)); }},
    {"t",            "t()",                        0, 0,    [](const Tensor& x, const Arguments&)   { return x.t(); }},
    {"transpose",    "transpose(dim0, dim1)",      2, 2,    [](const Tensor& x, const Arguments& a) { return x.transpose(as_integer(a[0]), as_integer(a[1])); }},
    {"unflatten",    "unflatten(dim, sizes)",      2, 2,    [](const Tensor& x, const Arguments& a) { return x.unflatten(as_integer(a[0]), as_dims(a[1])); }},
    {"unfold",       "unfold(dimension, size, step)", 3, 3, [](const Tensor& x, const Arguments& a) { return x.unfold(as_integer(a[0]), as_integer(a[1]), as_integer(a[2])); }},
    {"unsqueeze",    "unsqueeze(dim)",             1, 1,    [](const Tensor& x, const Arguments& a) { return x.unsqueeze(as_integer(a[0])); }},
    {"view",         "view(sizes or dtype)",       1, kAny, [](const Tensor& x, const Arguments& a) {
       return a.size() == 1 && std::holds_alternative<Dtype>(a[0].value) ? x.view(as_dtype(a[0])) : x.view(all_dims(a)); }},
    {"view_as_complex", "view_as_complex()",       0, 0,    [](const Tensor& x, const Arguments&)   { return view_as_complex(x); }},
    {"view_as_real", "view_as_real()",             0, 0,    [](const Tensor& x, const Arguments&)   { return view_as_real(x); }},
};
// clang-format on

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

Tensor apply_view(const View& view, const Tensor& self, const Arguments& arguments, Span span) {
  if (arguments.size() < view.least || arguments.size() > view.most)
    throw ExpressionError(std::string("the call is ") + view.signature + ", and " + std::to_string(arguments.size()) +
                              " arguments are given",
                          span);
  for (const Argument& argument : arguments)
    if (!argument.keyword.empty())
      throw ExpressionError(std::string(view.name) + " takes no keyword arguments", argument.span);
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
