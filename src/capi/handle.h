// capi: handles. A tenon_tensor* is one reference to a TensorImpl.
#pragma once
#include <span>

#include "capi/error.h"
#include "tenon/tensor.h"

namespace tenon::capi {

/// The tensor of a handle, with a reference of its own. ValueError for null.
inline Tensor tensor_of(const tenon_tensor* handle, const char* call, const char* what = "a tensor") {
  check_given(handle, call, what);
  auto* impl = reinterpret_cast<TensorImpl*>(const_cast<tenon_tensor*>(handle));
  impl->references.fetch_add(1, std::memory_order_relaxed);
  return Tensor(impl);
}

/// A new handle; null for an undefined tensor.
inline tenon_tensor* handle_of(const Tensor& tensor) noexcept {
  if (!tensor.defined()) return nullptr;
  TensorImpl* impl = tensor.impl();
  impl->references.fetch_add(1, std::memory_order_relaxed);
  return reinterpret_cast<tenon_tensor*>(impl);
}

/// ValueError for a number that is no tenon_dtype.
Dtype dtype_of(int64_t dtype, const char* call);

/// A list that the caller gives. ValueError for a negative count and for a null pointer to some.
template <class T>
std::span<const T> list_of(const T* items, int64_t count, const char* call, const char* what) {
  if (count < 0) throw ValueError(std::string(call) + ": " + std::to_string(count) + " " + what);
  if (count > 0) check_given(items, call, what);
  return {items, static_cast<std::size_t>(count)};
}

}  // namespace tenon::capi
