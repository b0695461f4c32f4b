#include "capi/functions.h"

#include "tenon/error.h"
#include "tenon/factories.h"
#include "tenon/random.h"

namespace tenon::capi {
namespace {

using Values = std::span<const Value>;
using Results = List<Tensor>;

Dims dims_of(const Value& value) { return value.dims_arg().view().copy(); }

Results squeezed(Values v) {
  const Tensor& self = v[0].tensor();
  if (v.size() == 1) return {self.squeeze()};
  return {v[1].is_number() ? self.squeeze(v[1].integer(0)) : self.squeeze(v[1].dims())};
}
Results viewed(Values v) {
  const Tensor& self = v[0].tensor();
  return {v[1].is_dtype() ? self.view(*v[1].dtype()) : self.view(v[1].dims())};
}
Results narrowed(Values v) {
  const int64_t start = v[2].is_tensor() ? v[2].tensor().item<int64_t>() : v[2].integer(0);
  return {v[0].tensor().narrow(v[1].integer(0), start, v[3].integer(0))};
}
Results moved(Values v) { return {v[0].tensor().movedim(dims_of(v[1]), dims_of(v[2]))}; }
Results transposed(Values v) { return {v[0].tensor().transpose(v[1].integer(0), v[2].integer(0))}; }
Results adjoint(Values v) {
  const Tensor& self = v[0].tensor();
  if (self.dim() == 1)
    throw Error("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return {conj(self.dim() == 0 ? self : self.mT())};
}

/// How a view is called; ops/views.h has its signatures.
struct ViewCall {
  std::string_view name;
  Results (*function)(Values);
};
// clang-format off
constexpr ViewCall kViewCalls[] = {
    {"adjoint",         adjoint},
    {"as_strided",      [](Values v) -> Results { return {v[0].tensor().as_strided(v[1].dims(), v[2].dims(), v[3].optional_integer())}; }},
    {"broadcast_to",    [](Values v) -> Results { return {v[0].tensor().broadcast_to(v[1].dims())}; }},
    {"conj",            [](Values v) -> Results { return {conj(v[0].tensor())}; }},
    {"diagonal",        [](Values v) -> Results { return {v[0].tensor().diagonal(v[1].integer(0), v[2].integer(0), v[3].integer(1))}; }},
    {"expand",          [](Values v) -> Results { return {v[0].tensor().expand(v[1].dims())}; }},
    {"expand_as",       [](Values v) -> Results { return {v[0].tensor().expand_as(v[1].tensor())}; }},
    {"flatten",         [](Values v) -> Results { return {v[0].tensor().flatten(v[1].integer(0), v[2].integer(-1))}; }},
    {"imag",            [](Values v) -> Results { return {imag(v[0].tensor())}; }},
    {"moveaxis",        moved},
    {"movedim",         moved},
    {"narrow",          narrowed},
    {"permute",         [](Values v) -> Results { return {v[0].tensor().permute(v[1].dims())}; }},
    {"positive",        [](Values v) -> Results { return {positive(v[0].tensor())}; }},
    {"ravel",           [](Values v) -> Results { return {v[0].tensor().contiguous().reshape({-1})}; }},
    {"real",            [](Values v) -> Results { return {real(v[0].tensor())}; }},
    {"reshape",         [](Values v) -> Results { return {v[0].tensor().reshape(v[1].dims())}; }},
    {"reshape_as",      [](Values v) -> Results { return {v[0].tensor().reshape(v[1].tensor().sizes())}; }},
    {"resolve_conj",    [](Values v) -> Results { return {v[0].tensor()}; }},
    {"select",          [](Values v) -> Results { return {v[0].tensor().select(v[1].integer(0), v[2].integer(0))}; }},
    {"squeeze",         squeezed},
    {"swapaxes",        transposed},
    {"swapdims",        transposed},
    {"t",               [](Values v) -> Results { return {v[0].tensor().t()}; }},
    {"transpose",       transposed},
    {"unflatten",       [](Values v) -> Results { return {v[0].tensor().unflatten(v[1].integer(0), v[2].dims())}; }},
    {"unfold",          [](Values v) -> Results { return {v[0].tensor().unfold(v[1].integer(0), v[2].integer(0), v[3].integer(0))}; }},
    {"unsqueeze",       [](Values v) -> Results { return {v[0].tensor().unsqueeze(v[1].integer(0))}; }},
    {"view",            viewed},
    {"view_as",         [](Values v) -> Results { return {v[0].tensor().view(v[1].tensor().sizes())}; }},
    {"view_as_complex", [](Values v) -> Results { return {view_as_complex(v[0].tensor())}; }},
    {"view_as_real",    [](Values v) -> Results { return {view_as_real(v[0].tensor())}; }},
};

// What is neither an op nor a view.
constexpr Parameter kSelf[] = {{"self", "Tensor", nullptr, false, false}};
constexpr Parameter kTo[] = {{"self", "Tensor", nullptr, false, false}, {"dtype", "ScalarType", nullptr, false, false}};
constexpr Parameter kCopy[] = {{"self", "Tensor", nullptr, false, false}, {"src", "Tensor", nullptr, false, false}};
constexpr Parameter kFill[] = {{"self", "Tensor", nullptr, false, false}, {"value", "Tensor|Scalar", nullptr, false, true}};
constexpr Parameter kSlice[] = {{"self", "Tensor", nullptr, false, false}, {"dim", "int", "0", false, false},
                                {"start", "int?", "None", false, false}, {"end", "int?", "None", false, false},
                                {"step", "int", "1", false, false}};
constexpr Parameter kSizes[] = {{"size", "int[]", nullptr, false, false}, {"dtype", "ScalarType?", "None", true, false}};
constexpr Parameter kFull[] = {{"size", "int[]", nullptr, false, false}, {"fill_value", "Scalar", nullptr, false, false},
                               {"dtype", "ScalarType?", "None", true, false}};
constexpr Parameter kArangeEnd[] = {{"end", "Scalar", nullptr, false, false}, {"dtype", "ScalarType?", "None", true, false}};
constexpr Parameter kArange[] = {{"start", "Scalar", nullptr, false, false}, {"end", "Scalar", nullptr, false, false},
                                 {"step", "Scalar", "1", false, false}, {"dtype", "ScalarType?", "None", true, false}};
constexpr Parameter kEye[] = {{"n", "int", nullptr, false, false}, {"m", "int?", "None", false, false},
                              {"dtype", "ScalarType?", "None", true, false}};

Options options_of(const Value& dtype) {
  Options options;
  options.dtype = dtype.dtype();
  return options;
}

struct OwnFunction {
  std::string_view name;
  const char* signature;
  std::span<const Parameter> parameters;
  Results (*function)(Values);
};
constexpr OwnFunction kOwnFunctions[] = {
    {"arange", "arange(Scalar end, *, ScalarType? dtype=None) -> Tensor", kArangeEnd,
     [](Values v) -> Results { return {arange(v[0].number(), options_of(v[1]))}; }},
    {"arange", "arange(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None) -> Tensor", kArange,
     [](Values v) -> Results { return {arange(v[0].number(), v[1].number(), v[2].number(1), options_of(v[3]))}; }},
    {"clone", "clone(Tensor self) -> Tensor", kSelf, [](Values v) -> Results { return {v[0].tensor().clone()}; }},
    {"contiguous", "contiguous(Tensor self) -> Tensor", kSelf, [](Values v) -> Results { return {v[0].tensor().contiguous()}; }},
    {"copy_", "copy_(Tensor self, Tensor src) -> Tensor", kCopy,
     [](Values v) -> Results { Tensor self = v[0].tensor(); return {self.copy_(v[1].tensor())}; }},
    {"detach", "detach(Tensor self) -> Tensor", kSelf, [](Values v) -> Results { return {v[0].tensor().detach()}; }},
    {"empty", "empty(int[] size, *, ScalarType? dtype=None) -> Tensor", kSizes,
     [](Values v) -> Results { return {empty(v[0].dims(), options_of(v[1]))}; }},
    {"eye", "eye(int n, int? m=None, *, ScalarType? dtype=None) -> Tensor", kEye,
     [](Values v) -> Results { return {eye(v[0].integer(0), v[1].integer(v[0].integer(0)), options_of(v[2]))}; }},
    {"fill_", "fill_(Tensor self, Tensor|Scalar value) -> Tensor", kFill,
     [](Values v) -> Results { Tensor self = v[0].tensor(); return {v[1].is_number() ? self.fill_(v[1].number()) : self.fill_(v[1].tensor())}; }},
    {"full", "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor", kFull,
     [](Values v) -> Results { return {full(v[0].dims(), v[1].number(), options_of(v[2]))}; }},
    {"ones", "ones(int[] size, *, ScalarType? dtype=None) -> Tensor", kSizes,
     [](Values v) -> Results { return {ones(v[0].dims(), options_of(v[1]))}; }},
    {"rand", "rand(int[] size, *, ScalarType? dtype=None) -> Tensor", kSizes,
     [](Values v) -> Results { return {rand(v[0].dims(), options_of(v[1]))}; }},
    {"randn", "randn(int[] size, *, ScalarType? dtype=None) -> Tensor", kSizes,
     [](Values v) -> Results { return {randn(v[0].dims(), options_of(v[1]))}; }},
    {"slice", "slice(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor", kSlice,
     [](Values v) -> Results { return {v[0].tensor().slice(v[1].integer(0), v[2].optional_integer(), v[3].optional_integer(), v[4].integer(1))}; }},
    {"to", "to(Tensor self, ScalarType dtype) -> Tensor", kTo, [](Values v) -> Results { return {v[0].tensor().to(*v[1].dtype())}; }},
    {"zero_", "zero_(Tensor self) -> Tensor", kSelf, [](Values v) -> Results { Tensor self = v[0].tensor(); return {self.zero_()}; }},
    {"zeros", "zeros(int[] size, *, ScalarType? dtype=None) -> Tensor", kSizes,
     [](Values v) -> Results { return {zeros(v[0].dims(), options_of(v[1]))}; }},
};
// clang-format on

void add_views(std::string_view name, std::vector<Signature>& found) {
  for (const ViewCall& call : kViewCalls) {
    if (name != call.name) continue;
    for (const ViewSchema& view : view_schemas())
      if (name == view.name) found.push_back({view.signature, view.parameters(), 1, call.function, nullptr});
  }
}

}  // namespace

std::vector<Signature> signatures_of(std::string_view name) {
  std::vector<Signature> found;
  for (const Schema& schema : schemas())
    if (name == schema.name) found.push_back({schema.signature, schema.parameters(), schema.results, nullptr, &schema});
  if (!found.empty()) return found;
  add_views(name, found);
  for (const OwnFunction& own : kOwnFunctions)
    if (name == own.name) found.push_back({own.signature, own.parameters, 1, own.function, nullptr});
  return found;
}

}  // namespace tenon::capi
