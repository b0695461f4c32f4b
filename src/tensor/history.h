// tensor: calls into autograd. Declares a table of functions that autograd/ fills, because this folder may not include
// it. A tensor without history costs one test of TensorImpl::in_graph.
#pragma once
#include <atomic>

#include "tenon/tensor.h"

namespace tenon {

struct WithHistory;

/// The grad modes of this thread. Initial-exec TLS: no call to find it.
struct ThreadModes {
  const WithHistory* traced = nullptr;  // what calls with a tensor in a graph become while a function is traced
  /// Told of each tensor over the elements of another one in a graph that is no view of it; null: nobody asks.
  void (*aliased)(const Tensor& self, const Tensor& alias) = nullptr;
  /// Whether two tensors without data stand for one memory, while a function is traced; null: none is.
  bool (*share_memory)(const Tensor& a, const Tensor& b) = nullptr;
  bool grad = true;  // operations are recorded
  bool inference = false;
  bool grad_enabled = true;  // as the user set it; inference mode records nothing even if true

  void set(bool enabled, bool is_inference) noexcept {
    grad_enabled = enabled;
    inference = is_inference;
    grad = enabled && !is_inference;
  }
};
extern constinit thread_local ThreadModes thread_modes [[gnu::tls_model("initial-exec")]];
/// Whether a tensor without data stands for one with data: a function is traced.
inline bool stands_for_data(const Tensor& tensor) { return thread_modes.aliased && tensor.is_meta(); }

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
/// The call that made a view.
struct ViewCall {
  ViewKind kind;
  int64_t numbers[4] = {};  // dims, positions, steps, in the order of the call's arguments
  SizesView dims = {};      // the argument of permute
};
/// The functions of autograd that handles and views call.
struct History {
  /// Whether operations on the tensor are recorded while grad mode is on.
  bool (*requires_grad)(const TensorImpl* impl) noexcept;
  bool (*is_leaf)(const Tensor& tensor);
  /// Called when a tensor with autograd metadata is destroyed.
  void (*destroy)(TensorImpl* impl) noexcept;
  /// Counts the views over a storage that `base` had before set_data. When the last one is gone, the storage is
  /// released.
  void (*add_former_view)(TensorImpl* base, Storage* storage) noexcept;
  void (*drop_former_view)(TensorImpl* base, Storage* storage) noexcept;
  /// Records that `view` is a view of `self`.
  void (*record_view)(const Tensor& self, const Tensor& view, const ViewCall& call);
  void (*take_layout)(const Tensor& self, const Tensor& view);
};
/// Before any tensor has a history, this table holds defaults. The first history replaces them by autograd's functions.
extern constinit std::atomic<const History*> history_table;
inline const History& history() noexcept { return *history_table.load(std::memory_order_acquire); }

/// For tensors with `in_graph` set.
inline bool requires_grad(const TensorImpl* impl) noexcept { return history().requires_grad(impl); }
/// Gives `self` the sizes and strides of `view`, a view of all its elements. Leaves `view` unusable.
inline void take_layout(const Tensor& self, const Tensor& view) { history().take_layout(self, view); }
/// Swaps sizes and strides only, and raises the version.
void swap_layout(const Tensor& self, const Tensor& view);

inline Tensor recorded(const Tensor& self, Tensor view, const ViewCall& call) {
  if (self.impl()->in_graph) [[unlikely]]
    history().record_view(self, view, call);
  return view;
}

}  // namespace tenon
