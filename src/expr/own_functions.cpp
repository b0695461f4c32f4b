#include "expr/own_functions.h"

#include <algorithm>
#include <deque>
#include <string>

#include "tenon/nn.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/random.h"

namespace tenon::expr {
namespace {

using Values = const tenon::Value*;

/// A row of the table; parameters come from the signature.
struct Row {
  const char* signature;
  const char* doc;
  Tensor (*make)(Values values, const Options& options);
  List<Tensor> (*function)(Values values);
  const char* formula = nullptr;
  bool is_random = false;
  int results = 1;
};

int64_t integer(const tenon::Value& value) { return value.integer(0); }

// --- composed functions

/// The running numbers stay as they are: they are files, or other values of the expression.
Tensor batch_norm_of(Values v) {
  const Tensor& input = v[0].tensor();
  const bool training = v[5].boolean(false);
  if (training && input.dim() > 1 && input.numel() == input.size(1))
    throw ValueError("Expected more than 1 value per channel when training, got input size torch.Size(" +
                     to_string(input.sizes()) + ")");
  const auto own = [&](const tenon::Value& value) {
    const Tensor tensor = value.optional_tensor();
    return training && tensor.defined() ? tensor.clone() : tensor;
  };
  return batch_norm(input, v[3].optional_tensor(), v[4].optional_tensor(), own(v[1]), own(v[2]), training,
                    v[6].floating(0.1), v[7].floating(1e-5));
}

Tensor attention(Values v) {
  if (v[4].floating(0) != 0) throw Error("scaled_dot_product_attention: only dropout_p=0 can be computed here");
  return scaled_dot_product_attention(v[0].tensor(), v[1].tensor(), v[2].tensor(), v[3].optional_tensor(), 0,
                                      v[5].boolean(false), v[6].optional_floating());
}

List<Tensor> broadcast(const List<Tensor>& tensors) {
  std::vector<SizesView> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.sizes());
  const Dims common = broadcast_shapes(shapes.data(), static_cast<int64_t>(shapes.size()));
  List<Tensor> expanded;
  for (const Tensor& tensor : tensors) expanded.push_back(tensor.expand(common));
  return expanded;
}

// clang-format off
constexpr Row kRows[] = {
    {"arange(Scalar end, *, ScalarType? dtype=None) -> Tensor", "The numbers from 0 to end, which is left out.",
     [](Values v, const Options& o) { return arange(v[0].number(), o); }, nullptr},
    {"arange(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None) -> Tensor", "The numbers from start to end, which is left out.",
     [](Values v, const Options& o) { return arange(v[0].number(), v[1].number(), v[2].number(1), o); }, nullptr},
    {"bartlett_window(int window_length, bool periodic=True, *, ScalarType? dtype=None) -> Tensor", "The window function of that name.",
     [](Values v, const Options& o) { return bartlett_window(integer(v[0]), v[1].boolean(true), o); }, nullptr},
    {"batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
     "input less the mean of each channel, divided by its deviation: those of the batch in training, otherwise running ones.", nullptr,
     [](Values v) { return List<Tensor>{batch_norm_of(v)}; }},
    {"bernoulli(Tensor self) -> Tensor", "1 with the probability that input holds, else 0.", nullptr,
     [](Values v) { return List<Tensor>{bernoulli(v[0].tensor())}; }, nullptr, true},
    {"bernoulli(Tensor self, float p) -> Tensor", "1 with probability p, else 0.", nullptr,
     [](Values v) { return List<Tensor>{bernoulli(v[0].tensor(), v[1].floating(0))}; }, nullptr, true},
    {"blackman_window(int window_length, bool periodic=True, *, ScalarType? dtype=None) -> Tensor", "The window function of that name.",
     [](Values v, const Options& o) { return blackman_window(integer(v[0]), v[1].boolean(true), o); }, nullptr},
    {"broadcast_tensors(Tensor[] tensors) -> Tensor[]", "All tensors expanded to their common shape, as views.", nullptr,
     [](Values v) { return broadcast(v[0].tensors()); }, nullptr, false, -1},
    {"chain_matmul(Tensor[] matrices) -> Tensor", "linalg_multi_dot of matrices. Deprecated, as in PyTorch.", nullptr,
     [](Values v) { return List<Tensor>{chain_matmul(v[0].tensors())}; }},
    {"clone(Tensor self) -> Tensor", "A copy.", nullptr, [](Values v) { return List<Tensor>{v[0].tensor().clone()}; }},
    {"detach(Tensor self) -> Tensor", "The same elements without history.", nullptr,
     [](Values v) { return List<Tensor>{v[0].tensor().detach()}; }},
    {"embedding(Tensor input, Tensor weight) -> Tensor", "The rows of weight whose numbers are in input.", nullptr,
     [](Values v) { return List<Tensor>{embedding(v[1].tensor(), v[0].tensor())}; }},
    {"empty(int[] size, *, ScalarType? dtype=None) -> Tensor", "A tensor with any elements.",
     [](Values v, const Options& o) { return zeros(v[0].dims(), o); }, nullptr},
    {"eye(int n, int? m=None, *, ScalarType? dtype=None) -> Tensor", "Ones on the diagonal, zeros elsewhere.",
     [](Values v, const Options& o) { return eye(integer(v[0]), v[1].integer(integer(v[0])), o); }, nullptr},
    {"full(int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor", "A tensor filled with fill_value.",
     [](Values v, const Options& o) { return full(v[0].dims(), v[1].number(), o); }, nullptr},
    {"full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor", "A tensor like input, filled with fill_value.",
     [](Values v, const Options& o) { return full_like(v[0].tensor(), v[1].number(), o); }, nullptr},
    {"hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, ScalarType? dtype=None) -> Tensor", "The window function of that name.",
     [](Values v, const Options& o) { return hamming_window(integer(v[0]), v[1].boolean(true), v[2].floating(0.54), v[3].floating(0.46), o); }, nullptr},
    {"hann_window(int window_length, bool periodic=True, *, ScalarType? dtype=None) -> Tensor", "The window function of that name.",
     [](Values v, const Options& o) { return hann_window(integer(v[0]), v[1].boolean(true), o); }, nullptr},
    {"index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor", "A copy of input with values at indices, or added there.", nullptr,
     [](Values v) { return List<Tensor>{index_put(v[0].tensor(), v[1].tensors(), v[2].tensor(), v[3].boolean(false))}; }},
    {"kaiser_window(int window_length, bool periodic=True, float beta=12.0, *, ScalarType? dtype=None) -> Tensor", "The window function of that name.",
     [](Values v, const Options& o) { return kaiser_window(integer(v[0]), v[1].boolean(true), v[2].floating(12), o); }, nullptr},
    {"linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None) -> Tensor", "Evenly spaced numbers; both ends are included.",
     [](Values v, const Options& o) { return linspace(v[0].number(), v[1].number(), integer(v[2]), o); }, nullptr},
    {"logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None) -> Tensor", "Powers of base whose exponents are evenly spaced.",
     [](Values v, const Options& o) { return logspace(v[0].number(), v[1].number(), integer(v[2]), v[3].floating(10), o); }, nullptr},
    {"multinomial(Tensor self, int num_samples, bool replacement=False) -> Tensor", "Places drawn with the weights that the rows of input hold.", nullptr,
     [](Values v) { return List<Tensor>{multinomial(v[0].tensor(), integer(v[1]), v[2].boolean(false))}; }, nullptr, true},
    {"normal(Tensor|Scalar mean, Tensor|Scalar std) -> Tensor", "Normal numbers of these means and standard deviations.", nullptr,
     [](Values v) { return List<Tensor>{normal(v[0].arg(), v[1].arg())}; }, nullptr, true},
    {"normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor", "input, divided by its norm with ord p along dim, which is at least eps.",
     nullptr, nullptr, "input / norm(input, p, dim, keepdim=True).clamp_min(eps)"},
    {"ones(int[] size, *, ScalarType? dtype=None) -> Tensor", "A tensor of ones.",
     [](Values v, const Options& o) { return ones(v[0].dims(), o); }, nullptr},
    {"ones_like(Tensor self, *, ScalarType? dtype=None) -> Tensor", "A tensor of ones like input.",
     [](Values v, const Options& o) { return ones_like(v[0].tensor(), o); }, nullptr},
    {"poisson(Tensor self) -> Tensor", "Numbers of the Poisson distributions whose means input holds.", nullptr,
     [](Values v) { return List<Tensor>{poisson(v[0].tensor())}; }, nullptr, true},
    {"rand(int[] size, *, ScalarType? dtype=None) -> Tensor", "Uniform numbers in [0, 1).",
     [](Values v, const Options& o) { return rand(v[0].dims(), o); }, nullptr, nullptr, true},
    {"rand_like(Tensor self, *, ScalarType? dtype=None) -> Tensor", "Uniform numbers in [0, 1), in a tensor like input.",
     [](Values v, const Options& o) { return rand_like(v[0].tensor(), o); }, nullptr, nullptr, true},
    {"randint(int high, int[] size, *, ScalarType? dtype=None) -> Tensor", "Uniform integers from 0 to high, which is left out.",
     [](Values v, const Options& o) { return randint(0, integer(v[0]), v[1].dims(), o); }, nullptr, nullptr, true},
    {"randint(int low, int high, int[] size, *, ScalarType? dtype=None) -> Tensor", "Uniform integers from low to high, which is left out.",
     [](Values v, const Options& o) { return randint(integer(v[0]), integer(v[1]), v[2].dims(), o); }, nullptr, nullptr, true},
    {"randn(int[] size, *, ScalarType? dtype=None) -> Tensor", "Normal numbers with mean 0 and variance 1.",
     [](Values v, const Options& o) { return randn(v[0].dims(), o); }, nullptr, nullptr, true},
    {"randn_like(Tensor self, *, ScalarType? dtype=None) -> Tensor", "Normal numbers with mean 0 and variance 1, in a tensor like input.",
     [](Values v, const Options& o) { return randn_like(v[0].tensor(), o); }, nullptr, nullptr, true},
    {"randperm(int n, *, ScalarType? dtype=None) -> Tensor", "The integers from 0 to n - 1 in random order.",
     [](Values v, const Options& o) { return randperm(integer(v[0]), o); }, nullptr, nullptr, true},
    {"scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None) -> Tensor",
     "softmax(query @ key.mT * scale) @ value, where attn_mask is true, or with attn_mask added to the products.", nullptr,
     [](Values v) { return List<Tensor>{attention(v)}; }},
    {"softmin(Tensor input, int dim, ScalarType? dtype=None) -> Tensor", "softmax of -input.", nullptr, nullptr, "softmax(-input, dim, dtype)"},
    {"sum_to_size(Tensor self, int[] size) -> Tensor", "The sum over the dims that a broadcast from size would add or expand.", nullptr,
     [](Values v) { return List<Tensor>{v[0].tensor().sum_to_size(v[1].dims())}; }},
    {"tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=None) -> Tensor", "The indices on and below a diagonal.",
     [](Values v, const Options& o) { return tril_indices(integer(v[0]), integer(v[1]), integer(v[2]), o); }, nullptr},
    {"triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=None) -> Tensor", "The indices on and above a diagonal.",
     [](Values v, const Options& o) { return triu_indices(integer(v[0]), integer(v[1]), integer(v[2]), o); }, nullptr},
    {"type_as(Tensor self, Tensor other) -> Tensor", "The elements in the dtype of other.", nullptr, nullptr, "input.to(other.dtype)"},
    {"zeros(int[] size, *, ScalarType? dtype=None) -> Tensor", "A tensor of zeros.",
     [](Values v, const Options& o) { return zeros(v[0].dims(), o); }, nullptr},
    {"zeros_like(Tensor self, *, ScalarType? dtype=None) -> Tensor", "A tensor of zeros like input.",
     [](Values v, const Options& o) { return zeros_like(v[0].tensor(), o); }, nullptr},
};
// clang-format on

/// The table with its parameters. Texts are never freed, because schemas hold pointers to them.
class Table {
 public:
  Table() {
    for (const Row& row : kRows) functions_.push_back(function_of(row));
  }
  std::span<const OwnFunction> functions() const { return functions_; }

 private:
  OwnFunction function_of(const Row& row) {
    const std::string_view signature = row.signature;
    const std::size_t open = signature.find('('), close = signature.rfind(") -> ");
    const std::vector<Parameter>& parameters =
        parameters_.emplace_back(parameters_of(signature.substr(open + 1, close - open - 1)));
    const char* name = kept(signature.substr(0, open));
    const Schema schema{name,
                        name,
                        row.signature,
                        row.doc,
                        row.make ? "factory" : "algorithm",
                        "",
                        -1,
                        parameters.data(),
                        static_cast<int>(parameters.size()),
                        row.results,
                        row.function,
                        row.function,
                        nullptr,
                        nullptr};
    return {schema, row.make, row.formula, row.is_random};
  }
  /// "Tensor self, *, ScalarType? dtype=None".
  std::vector<Parameter> parameters_of(std::string_view text) {
    std::vector<Parameter> parameters;
    bool keyword_only = false;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(", "), text.size());
      const std::string_view each = text.substr(0, end);
      text.remove_prefix(std::min(end + 2, text.size()));
      if (each == "*")
        keyword_only = true;
      else
        parameters.push_back(parameter_of(each, keyword_only));
    }
    return parameters;
  }
  Parameter parameter_of(std::string_view text, bool keyword_only) {
    const std::size_t space = text.find(' '), equals = std::min(text.find('='), text.size());
    const char* fallback = equals < text.size() ? kept(text.substr(equals + 1)) : nullptr;
    const std::string_view type = text.substr(0, space);
    return {kept(text.substr(space + 1, equals - space - 1)), kept(type), fallback, keyword_only,
            type == "Tensor|Scalar"};
  }
  const char* kept(std::string_view text) { return texts_.emplace_back(text).c_str(); }

  std::deque<std::string> texts_;
  std::deque<std::vector<Parameter>> parameters_;
  std::vector<OwnFunction> functions_;
};

}  // namespace

std::span<const OwnFunction> own_functions() {
  static const Table table;
  return table.functions();
}

std::span<const OwnFunction> find_own_functions(std::string_view name) {
  const auto named = [name](const OwnFunction& function) { return name == function.schema.name; };
  const std::span<const OwnFunction> all = own_functions();
  const auto first = std::find_if(all.begin(), all.end(), named);
  return {first, std::find_if_not(first, all.end(), named)};
}

}  // namespace tenon::expr
