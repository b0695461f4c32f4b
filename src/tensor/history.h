// tensor: the way up to history. Declares the table of what handles and views need of it, which autograd/ fills. Costs
// one flag of the operand (TensorImpl::in_graph) where there is none.
#pragma once
#include <atomic>

#include "tenon/tensor.h"

namespace tenon {

/// What this thread records. Initial-exec: no call to find it.
struct ThreadModes {
  bool grad = true;  // operations are recorded
  bool inference = false;
  bool grad_enabled = true;  // asked for; in inference mode nothing is recorded all the same

  void set(bool enabled, bool is_inference) noexcept {
    grad_enabled = enabled;
    inference = is_inference;
    grad = enabled && !is_inference;
  }
};
extern constinit thread_local ThreadModes thread_modes [[gnu::tls_model("initial-exec")]];

enum class ViewKind : uint8_t {
  alias,
  as_strided,
  diagonal,
  expand,
  permute,
  reshape_alias,
  select,
  slice,
  squeeze,
  squeeze_dim,
  squeeze_dims,
  t,
  transpose,
  unfold,
  unsafe_view,
  unsqueeze,
  view,
  view_as_complex,
  view_as_real,
};
/// How a view was asked for.
struct ViewCall {
  ViewKind kind;
  int64_t numbers[4] = {};  // dims, positions, steps: in the order of the call's arguments
  SizesView dims = {};      // of permute
};
/// What handles and views ask of tensors in a graph.
struct History {
  /// Whether operations on the tensor are to be recorded, where this thread records any.
  bool (*requires_grad)(const TensorImpl* impl) noexcept;
  bool (*is_leaf)(const Tensor& tensor);
  /// Of a tensor that dies and has autograd metadata.
  void (*destroy)(TensorImpl* impl) noexcept;
  /// There is one view more, or less, over a storage that `base` had before it was given other data. The last one gone
  /// releases it.
  void (*add_former_view)(TensorImpl* base, Storage* storage) noexcept;
  void (*drop_former_view)(TensorImpl* base, Storage* storage) noexcept;
  /// Records that `view` is a view of `self`.
  void (*record_view)(const Tensor& self, const Tensor& view, const ViewCall& call);
  void (*take_layout)(const Tensor& self, const Tensor& view);
};
/// Until a tensor has a history: what holds of tensors without. The first history puts autograd's functions here.
extern constinit std::atomic<const History*> history_table;
inline const History& history() noexcept { return *history_table.load(std::memory_order_acquire); }

/// Of a tensor in a graph.
inline bool requires_grad(const TensorImpl* impl) noexcept { return history().requires_grad(impl); }
/// Gives the tensor itself the sizes and strides of a view of it, which has the same elements. Uses the view up.
inline void take_layout(const Tensor& self, const Tensor& view) { history().take_layout(self, view); }
/// The same of the layout alone; the write is counted.
void swap_layout(const Tensor& self, const Tensor& view);

inline Tensor recorded(const Tensor& self, Tensor view, const ViewCall& call) {
  if (self.impl()->in_graph) [[unlikely]]
    history().record_view(self, view, call);
  return view;
}

}  // namespace tenon
