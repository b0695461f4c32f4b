// capi: tensors, DLPack, gradients and settings.
#include <algorithm>
#include <cstring>

#include "autograd/recording.h"
#include "capi/handle.h"
#include "dispatch/dlpack.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tenon/random.h"
#include "tenon/threads.h"
#include "tenon/version.h"

namespace tenon::capi {

static_assert(TENON_COMPLEX128 + 1 == kDtypeCount);
static_assert(static_cast<int>(Dtype::uint16) == TENON_UINT16 && static_cast<int>(Dtype::float32) == TENON_FLOAT32);

Dtype dtype_of(int64_t dtype, const char* call) {
  if (dtype < 0 || dtype >= kDtypeCount) throw ValueError(std::string(call) + ": no dtype is " + std::to_string(dtype));
  return static_cast<Dtype>(dtype);
}

namespace {

TensorImpl* impl_of(const tenon_tensor* handle, const char* call) {
  check_given(handle, call, "the tensor");
  return reinterpret_cast<TensorImpl*>(const_cast<tenon_tensor*>(handle));
}

/// Runs a body that gives a tensor; `result` gets its handle, or null if it fails.
template <class Body>
tenon_status give(tenon_tensor** result, const char* call, const Body& body) noexcept {
  return guarded([&] {
    check_given(result, call, "result");
    *result = nullptr;
    *result = handle_of(body());
  });
}

/// The same for a struct of DLPack.
template <class Managed, class Body>
tenon_status give_managed(const tenon_tensor* tensor, Managed** result, const char* call, const Body& body) noexcept {
  return guarded([&] {
    check_given(result, call, "result");
    *result = nullptr;
    *result = reinterpret_cast<Managed*>(body(tensor_of(tensor, call)));
  });
}

template <class Own, class Managed>
tenon_status adopt(Managed* managed, tenon_tensor** result, const char* call) noexcept {
  return give(result, call, [&] {
    check_given(managed, call, "the struct");
    return dlpack::adopt(reinterpret_cast<Own*>(managed));
  });
}

}  // namespace
}  // namespace tenon::capi

using namespace tenon;
using namespace tenon::capi;

const char* tenon_version() { return TENON_VERSION; }

tenon_status tenon_set_num_threads(int32_t count) {
  return guarded([&] { set_num_threads(count); });
}
int32_t tenon_num_threads() { return get_num_threads(); }
void tenon_manual_seed(uint64_t seed) { manual_seed(seed); }

void tenon_set_warning_handler(tenon_warning_handler handler) {
  if (!handler) return set_warning_handler(nullptr);
  const auto call = [](const char* category, const std::string& text, const std::string&, void* context) {
    reinterpret_cast<tenon_warning_handler>(context)(category, text.c_str());
  };
  set_warning_handler(call, reinterpret_cast<void*>(handler));
}

tenon_status tenon_from_data(void* data, const int64_t* sizes, const int64_t* strides, int64_t ndim, int32_t dtype,
                             void (*deleter)(void* data, void* context), void* context, tenon_tensor** result) {
  return give(result, "tenon_from_data", [&] {
    const SizesView shape = list_of(sizes, ndim, "tenon_from_data", "sizes");
    const Dtype type = capi::dtype_of(dtype, "tenon_from_data");
    if (!strides) return from_buffer(data, shape, type, deleter, context);
    return from_buffer(data, shape, SizesView(strides, ndim), type, deleter, context);
  });
}

tenon_tensor* tenon_retain(tenon_tensor* tensor) {
  return guarded_value<tenon_tensor*>(nullptr, [&] { return tensor ? handle_of(tensor_of(tensor, "")) : nullptr; });
}
void tenon_release(tenon_tensor* tensor) {
  if (tensor) static_cast<void>(Tensor(reinterpret_cast<TensorImpl*>(tensor)));
}

int64_t tenon_ndim(const tenon_tensor* tensor) {
  return guarded_value<int64_t>(-1, [&] { return impl_of(tensor, "tenon_ndim")->sizes.size(); });
}
int64_t tenon_numel(const tenon_tensor* tensor) {
  return guarded_value<int64_t>(-1, [&] { return impl_of(tensor, "tenon_numel")->numel; });
}
int32_t tenon_dtype_of(const tenon_tensor* tensor) {
  return guarded_value<int32_t>(-1, [&] { return static_cast<int32_t>(impl_of(tensor, "tenon_dtype_of")->dtype); });
}
const int64_t* tenon_sizes(const tenon_tensor* tensor) {
  return guarded_value<const int64_t*>(nullptr, [&] { return impl_of(tensor, "tenon_sizes")->sizes.data(); });
}
const int64_t* tenon_strides(const tenon_tensor* tensor) {
  return guarded_value<const int64_t*>(nullptr, [&] { return impl_of(tensor, "tenon_strides")->strides.data(); });
}
void* tenon_data(const tenon_tensor* tensor) {
  return guarded_value<void*>(nullptr, [&] { return tensor_of(tensor, "tenon_data").export_data(); });
}
const char* tenon_dtype_name(int32_t dtype) {
  return guarded_value<const char*>(nullptr, [&] { return dtype_name(capi::dtype_of(dtype, "tenon_dtype_name")); });
}
int64_t tenon_itemsize(int32_t dtype) {
  return guarded_value<int64_t>(-1, [&] { return itemsize(capi::dtype_of(dtype, "tenon_itemsize")); });
}

int64_t tenon_to_string(const tenon_tensor* tensor, char* buffer, int64_t capacity) {
  return guarded_value<int64_t>(-1, [&] {
    static_cast<void>(list_of(buffer, capacity, "tenon_to_string", "bytes of the buffer"));
    const std::string text = to_string(tensor_of(tensor, "tenon_to_string"));
    const int64_t length = static_cast<int64_t>(text.size());
    if (capacity == 0) return length;
    const int64_t written = std::min(length, capacity - 1);
    std::memcpy(buffer, text.data(), static_cast<std::size_t>(written));
    buffer[written] = '\0';
    return length;
  });
}

tenon_status tenon_to_dlpack(const tenon_tensor* tensor, DLManagedTensorVersioned** result) {
  return give_managed(tensor, result, "tenon_to_dlpack", [](const Tensor& self) { return dlpack::to_versioned(self); });
}
tenon_status tenon_to_dlpack_unversioned(const tenon_tensor* tensor, DLManagedTensor** result) {
  return give_managed(tensor, result, "tenon_to_dlpack_unversioned", dlpack::to_unversioned);
}
tenon_status tenon_from_dlpack(DLManagedTensorVersioned* managed, tenon_tensor** result) {
  return capi::adopt<dlpack::DLManagedTensorVersioned>(managed, result, "tenon_from_dlpack");
}
tenon_status tenon_from_dlpack_unversioned(DLManagedTensor* managed, tenon_tensor** result) {
  return capi::adopt<dlpack::DLManagedTensor>(managed, result, "tenon_from_dlpack_unversioned");
}

int32_t tenon_requires_grad(const tenon_tensor* tensor) {
  return guarded_value<int32_t>(-1, [&] { return tensor_of(tensor, "tenon_requires_grad").requires_grad() ? 1 : 0; });
}
tenon_status tenon_set_requires_grad(tenon_tensor* tensor, int32_t requires_grad) {
  return guarded([&] { tensor_of(tensor, "tenon_set_requires_grad").requires_grad_(requires_grad != 0); });
}
int32_t tenon_set_grad_enabled(int32_t enabled) {
  const bool before = is_grad_enabled();
  thread_modes.set(enabled != 0, thread_modes.inference);
  return before ? 1 : 0;
}
tenon_status tenon_backward(const tenon_tensor* tensor, const tenon_tensor* gradient) {
  return guarded([&] {
    const Tensor weight = gradient ? tensor_of(gradient, "tenon_backward") : Tensor();
    tensor_of(tensor, "tenon_backward").backward(weight);
  });
}
tenon_status tenon_grad(const tenon_tensor* tensor, tenon_tensor** result) {
  return give(result, "tenon_grad", [&] { return tensor_of(tensor, "tenon_grad").grad(); });
}
