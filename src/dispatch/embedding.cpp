// Rows of a table by their numbers. PyTorch: Embedding.cpp.
#include <string>
#include <tuple>

#include "dispatch/broadcast_check.h"
#include "tenon/nn.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

void check_indices(const Tensor& indices, int argument, const char* function) {
  if (indices.dtype() == int32 || indices.dtype() == int64) return;
  throw Error("Expected tensor for argument #" + std::to_string(argument) +
              " 'indices' to have one of the following scalar types: Long, Int; but got " + legacy_type_name(indices) +
              " instead (while checking arguments for " + function + ")");
}
/// What each row's gradient is multiplied by: one over how often it is used.
Tensor share_of(const Tensor& places, Dtype dtype) {
  const auto [values, inverse, counts] = unique(places, true, true, true);
  return reciprocal(counts.index_select(0, inverse).to(dtype)).unsqueeze(-1);
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq,
                 bool sparse) {
  if (weight.requires_grad() && weight.dim() == 0) weight.size(0);  // PyTorch's derivative asks for the rows first
  if (weight.dim() != 2) throw Error("'weight' must be 2-D");
  check_indices(indices, 1, "embedding");
  if (sparse) throw NotImplementedError("embedding: there are no sparse gradients");
  const PolicyExemption exempt;
  const Tensor places = indices.reshape({-1});
  Tensor rows = weight.index_select(0, places);
  if (padding_idx >= 0 && weight.requires_grad())
    rows = where(eq(places, padding_idx).unsqueeze(-1), rows.detach(), rows);
  if (scale_grad_by_freq && weight.requires_grad()) {
    const Tensor share = share_of(places, rows.dtype());
    rows = add(mul(rows, share), mul(rows, 1 - share).detach());
  }
  Dims sizes = indices.sizes().copy();
  sizes.push_back(weight.size(1));
  return rows.reshape(sizes);
}

Tensor& embedding_renorm_(Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  if (weight.dim() != 2)
    throw Error("Expected 2-dimensional tensor, but got " + std::to_string(weight.dim()) +
                "-dimensional tensor for argument #1 'self' (while checking arguments for embedding_renorm_)");
  check_indices(indices, 2, "embedding_renorm_");
  const PolicyExemption exempt;
  Tensor table = weight.detach();
  const Tensor used = std::get<0>(unique(indices.reshape({-1}).to(int64)));
  for (int64_t i = 0; i < used.numel() && !used.is_meta(); ++i) table.select(0, used.data<int64_t>()[i]);  // is there
  const Tensor places = remainder(used, table.size(0));
  table.index_copy_(0, places, table.index_select(0, places).renorm(norm_type, 0, max_norm));
  return weight;
}

}  // namespace tenon
