#include "expr/own_functions.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>

#include "dispatch/differentiate.h"
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

Tensor put(Values v) {
  const List<Tensor>& indices = v[1].tensors();
  Tensor result = v[0].tensor().clone();
  tenon::index_put(result, std::vector<Tensor>(indices.begin(), indices.end()), v[2].tensor(),
                   v[3].boolean(false) ? Put::add : Put::replace);
  return result;
}

Tensor chain_matmul(const List<Tensor>& matrices) {
  for (const Tensor& matrix : matrices)
    if (matrix.dim() != 2) throw Error("Tensor dimension is " + std::to_string(matrix.dim()) + ", expected 2 instead.");
  if (matrices.size() == 0) throw Error("chain_matmul(): Expected one or more matrices");
  return matrices.size() == 1 ? matrices[0] : linalg_multi_dot(matrices);
}

/// "torch.FloatTensor"; of a few dtypes PyTorch has another name.
std::string type_text(Dtype dtype) {
  const std::string kind = scalar_type_name(dtype);
  const bool has_other = dtype == bool_ || dtype == bfloat16 || is_complex(dtype);
  return has_other ? "CPU" + kind + "Type" : "torch." + kind + "Tensor";
}

Tensor embedding(const Tensor& input, const Tensor& weight) {
  if (weight.dim() != 2) throw Error("'weight' must be 2-D");
  if (input.dtype() != int32 && input.dtype() != int64)
    throw Error(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got " +
        type_text(input.dtype()) + " instead (while checking arguments for embedding)");
  Dims sizes = input.sizes().copy();
  sizes.push_back(weight.size(1));
  return index_select(weight, 0, input.reshape({-1})).view(sizes);
}

bool is_half(const Tensor& tensor) { return tensor.dtype() == float16 || tensor.dtype() == bfloat16; }
/// 16-bit floats in float32: results are rounded once.
Tensor wide(const Tensor& tensor) { return is_half(tensor) ? tensor.to(float32) : tensor; }

/// One number for each channel, beside tensors of `ndim` dims.
Tensor by_channel(const Tensor& numbers, int64_t ndim) {
  Dims sizes(std::max<int64_t>(ndim - 1, 1), 1);
  sizes[0] = numbers.numel();
  return numbers.reshape(sizes);
}

/// PyTorch's checks, in its order.
void check_batch_norm(Values v, bool training) {
  const Tensor& input = v[0].tensor();
  const int64_t channels = input.dim() > 1 ? input.size(1) : 0;
  static constexpr const char* kNames[] = {"", "running_mean", "running_var", "weight", "bias"};
  for (int i = 1; i < 5; ++i) {
    const bool is_running = i < 3;
    if (is_running && v[i].is_empty() && !training)
      throw Error(std::string(kNames[i]) + " must be defined in evaluation mode");
    if (!v[i].is_empty() && v[i].tensor().numel() != channels)
      throw Error(std::string(kNames[i]) + " should contain " + std::to_string(channels) + " elements not " +
                  std::to_string(v[i].tensor().numel()));
  }
  if (v[1].is_empty() != v[2].is_empty())
    throw ValueError("running_mean and running_var must either both be None or neither be None");
  if (!is_floating_point(input.dtype()))
    throw NotImplementedError(std::string("\"batch_norm\" not implemented for '") + scalar_type_name(input.dtype()) +
                              "'");
  input.size(1);  // an error for input of one dim
}

/// batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps); the running numbers stay.
Tensor batch_norm(Values v) {
  const bool training = v[5].boolean(false);
  const double eps = v[7].floating(1e-5);
  check_batch_norm(v, training);
  const Tensor input = wide(v[0].tensor());
  Dims dims;
  for (int64_t dim = 0; dim < input.dim(); ++dim)
    if (dim != 1) dims.push_back(dim);
  Tensor variance = v[2].optional_tensor(), mean = v[1].optional_tensor();
  if (training) {
    if (input.numel() == input.size(1))
      throw ValueError("Expected more than 1 value per channel when training, got input size torch.Size(" +
                       to_string(input.sizes()) + ")");
    const auto [spread, center] = var_mean(input, SizesView(dims), 0);
    variance = spread;
    mean = center;
  }
  Tensor factor = rsqrt(wide(variance) + eps);
  if (!v[3].is_empty()) factor = factor * wide(v[3].tensor());
  Tensor term = neg(wide(mean) * factor);
  if (!v[4].is_empty()) term = term + wide(v[4].tensor());
  return addcmul(by_channel(term, input.dim()), input, by_channel(factor, input.dim())).to(v[0].tensor().dtype());
}

/// How much each query takes of each value.
Tensor shares(const Tensor& products, Tensor mask, bool is_causal) {
  if (is_causal) mask = tril(ones({products.size(-2), products.size(-1)}, Options(bool_, products.device())));
  if (!mask.defined()) return softmax(products, -1);
  if (mask.dtype() != bool_) return softmax(products + mask, -1);
  const Tensor hidden = masked_fill(products, logical_not(mask), -std::numeric_limits<double>::infinity());
  // A query that may look at nothing gets zeros.
  return where(any(mask, -1, true), softmax(hidden, -1), 0);
}

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value) {
  const auto list = [&](const auto& text_of) {
    return "query." + text_of(query) + " key." + text_of(key) + " and value." + text_of(value) + " instead.";
  };
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype())
    throw Error("Expected query, key, and value to have the same dtype, but got " +
                list([](const Tensor& x) { return std::string("dtype: ") + cpp_type_name(x.dtype()); }));
  if (std::min({query.dim(), key.dim(), value.dim()}) < 2)
    throw Error("Expected query, key, and value to all be  at least 2 dimensional, but got " +
                list([](const Tensor& x) { return "dim: " + std::to_string(x.dim()); }));
}

/// scaled_dot_product_attention(query, key, value, attn_mask, is_causal, scale).
Tensor attention(Values v) {
  check_attention(v[0].tensor(), v[1].tensor(), v[2].tensor());
  const Tensor query = wide(v[0].tensor()), key = wide(v[1].tensor()), value = wide(v[2].tensor());
  const Tensor mask = v[3].optional_tensor();
  const bool is_causal = v[5].boolean(false);
  if (v[4].floating(0) != 0) throw Error("scaled_dot_product_attention: only dropout_p=0 can be computed here");
  if (mask.defined() && is_causal)
    throw Error("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  const double scale = v[6].floating(1 / std::sqrt(static_cast<double>(std::max<int64_t>(query.size(-1), 1))));
  const Tensor products = matmul(query, key.mT()) * scale;
  return matmul(shares(products, mask, is_causal), value).to(v[0].tensor().dtype());
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
     [](Values v) { return List<Tensor>{batch_norm(v)}; }},
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
     [](Values v) { return List<Tensor>{embedding(v[0].tensor(), v[1].tensor())}; }},
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
     [](Values v) { return List<Tensor>{put(v)}; }},
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
