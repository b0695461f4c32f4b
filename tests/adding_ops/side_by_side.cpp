// side_by_side: cat along the first or the second dim.
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {

Tensor plain::side_by_side(const List<Tensor>& tensors) {
  if (tensors.empty()) throw Error("side_by_side expects a non-empty TensorList");
  List<Tensor> rows;
  for (const Tensor& tensor : tensors) rows.push_back(tensor.dim() == 0 ? tensor.reshape({1}) : tensor);
  return tenon::cat(rows, rows[0].dim() == 1 ? 0 : 1);
}

}  // namespace tenon
