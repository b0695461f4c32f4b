// Attention. PyTorch: native/transformers/attention.cpp, sdp_utils_cpp.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/small_vector.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/elementwise.h"
#include "dispatch/text.h"
#include "tenon/factories.h"
#include "tenon/nn.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

struct Operands {
  Tensor query, key, value;
};

std::string compared(const std::string& what, const std::string& name, const std::string& query, const std::string& key,
                     const std::string& value) {
  return "Expected query, key, and value to " + what + ", but got query." + name + ": " + query + " key." + name +
         ": " + key + " and value." + name + ": " + value + " instead.";
}
void check_dtypes(const Operands& x) {
  const Dtype query = x.query.dtype(), key = x.key.dtype(), value = x.value.dtype();
  if (query != key || query != value)
    throw Error(
        compared("have the same dtype", "dtype", cpp_type_name(query), cpp_type_name(key), cpp_type_name(value)));
}
void check_ranks(const Operands& x) {
  if (std::min({x.query.dim(), x.key.dim(), x.value.dim()}) < 2)
    throw Error(compared("all be  at least 2 dimensional", "dim", std::to_string(x.query.dim()),
                         std::to_string(x.key.dim()), std::to_string(x.value.dim())));
}
void check_mask(const Tensor& mask, Dtype query) {
  if (mask.dtype() != bool_ && mask.dtype() != float32 && mask.dtype() != query)
    throw Error(std::string("Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                            "attn_mask.dtype: ") +
                cpp_type_name(mask.dtype()) + " and  query.dtype: " + cpp_type_name(query) + " instead.");
}

bool fits(const Tensor& mask, const Operands& x) {
  const auto is_one_or = [](int64_t size, int64_t other) { return size == 1 || size == other; };
  if (!is_one_or(mask.size(-2), x.query.size(2)) || !is_one_or(mask.size(-1), x.key.size(2))) return false;
  if (mask.dim() == 2) return true;
  return mask.dim() == 4 && is_one_or(mask.size(0), x.query.size(0)) && is_one_or(mask.size(1), x.query.size(1));
}
/// Whether PyTorch computes this call in one kernel: its result is laid out like query, and is_causal goes with a mask.
bool has_one_kernel(const Operands& x, const Tensor& mask, double dropout_p, bool enable_gqa) {
  const auto is_plain = [](const Tensor& operand) {
    return operand.dim() == 4 && operand.stride(-1) == 1 && operand.size(2) != 0;
  };
  if (!is_plain(x.query) || !is_plain(x.key) || !is_plain(x.value) || dropout_p > 0) return false;
  if (!is_floating_point(x.query.dtype())) return false;
  const auto is_equal = [&](int64_t dim) {
    return x.query.size(dim) == x.key.size(dim) && x.query.size(dim) == x.value.size(dim);
  };
  if (!is_equal(3) || !is_equal(0) || x.key.size(1) != x.value.size(1)) return false;
  if (x.query.size(1) != x.key.size(1) && !enable_gqa) return false;
  return !mask.defined() || (fits(mask, x) && !mask.requires_grad());
}

/// `result` with the order of its dims in memory that empty_like(other) has.
Tensor laid_out_like(const Tensor& result, const Tensor& other) {
  const Tensor layout = empty_like(other, Device::meta);
  Dims order(result.dim(), 0), places(result.dim(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return layout.strides()[a] > layout.strides()[b]; });
  for (int64_t place = 0; place < result.dim(); ++place) places[order[place]] = place;
  return result.permute(order).contiguous().permute(places);
}

/// `key` or `value` with as many heads as `query`.
Tensor with_heads(const Tensor& operand, int64_t heads) {
  return heads == 0 ? operand : operand.repeat_interleave(heads / operand.size(-3), -3);
}
void repeat_heads(Operands& x) {
  const int64_t heads = x.query.size(-3), of_key = x.key.size(-3), of_value = x.value.size(-3);
  const bool is_equal = heads == of_key && heads == of_value;
  if (!is_equal && (of_key == 0 || of_value == 0 || heads % of_key != 0 || heads % of_value != 0))
    throw Error("Number of heads in key and value must divide the number of heads in ");
  x.key = with_heads(x.key, heads);
  x.value = with_heads(x.value, heads);
}

constexpr double kNowhere = -std::numeric_limits<double>::infinity();

Tensor past_of(const Tensor& products) {
  const Dims sizes{products.size(-2), products.size(-1)};
  return ones(sizes, {bool_, products.device()}).tril();
}
Tensor causal_mask(const Tensor& mask, const Tensor& products) {
  const Tensor past = past_of(products);
  if (!mask.defined()) return past;
  return mask.dtype() == bool_ ? bitwise_and(mask, past) : mask.masked_fill(logical_not(past), kNowhere);
}
/// How much each query takes of each value.
Tensor shares(Tensor products, const Tensor& mask) {
  if (!mask.defined()) return products.softmax(-1);
  if (mask.dtype() != bool_) return products.add_(mask).softmax(-1);
  // A query that may look at nothing gets zeros.
  return where(mask.any(-1, true), products.masked_fill(logical_not(mask), kNowhere).softmax(-1), 0);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  Operands x{query, key, value};
  check_dtypes(x);
  check_ranks(x);
  if (attn_mask.defined()) check_mask(attn_mask, query.dtype());
  if (!(dropout_p >= 0 && dropout_p <= 1))
    throw Error("dropout probability has to be between 0 and 1, but got " + text_of(dropout_p));
  const bool one_kernel = has_one_kernel(x, attn_mask, dropout_p, enable_gqa);
  if (attn_mask.defined() && is_causal && !one_kernel)
    throw Error("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  if (query.dtype() == bool_) throw Error("expected scalar type Float but found Bool");
  const PolicyExemption exempt;
  if (enable_gqa) repeat_heads(x);
  const Dtype wide = widened(query.dtype());  // rounded once
  if (wide != query.dtype()) x = {x.query.to(wide), x.key.to(wide), x.value.to(wide)};
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, query.size(-1)))));
  Tensor products = matmul(x.query, x.key.mT()) * factor;
  const Tensor mask = is_causal ? causal_mask(attn_mask, products) : attn_mask;
  const Tensor result = matmul(dropout(shares(std::move(products), mask), dropout_p, true), x.value).to(query.dtype());
  return one_kernel ? laid_out_like(result, query) : result;
}

}  // namespace tenon
