// tensor: the Tensor handle. Takes a storage, sizes and strides; gives views without copies. Methods that are ops are
// defined in dispatch.
#pragma once
#include <concepts>
#include <optional>
#include <string>

#include "tenon/dims.h"
#include "tenon/dtype.h"
#include "tenon/error.h"
#include "tenon/export.h"
#include "tenon/index.h"
#include "tenon/list.h"
#include "tenon/shape.h"
#include "tenon/storage.h"

namespace tenon {

/// Where a tensor's elements live. `meta` has shapes and dtypes only.
enum class Device : uint8_t { cpu, meta };

class Tensor;
struct AutogradMeta;
namespace autograd {
class Node;
class HookHandle;
class TensorHook;
class LeafHook;
}  // namespace autograd

/// The mode in which a view was made; it decides what may be written through the view. `function`: in a custom
/// function; `functions`: in one with several results.
enum class Mode : uint8_t { grad, no_grad, inference, function, functions };

/// The object that a Tensor handle points at. Sizes and strides are stored inline up to six dims.
struct TensorImpl {
  /// The amount by which a view raises the reference count of its base. Handles count in the lower 32 bits, so the
  /// upper bits are the number of views.
  static constexpr uint64_t kViewReference = uint64_t{1} << 32;

  std::atomic<uint64_t> references{1};
  Dtype dtype;
  Device device;
  bool contiguous;   // row-major without gaps; every change of sizes or strides updates it
  bool row_major;    // contiguous, and so are the strides of dims of size 1
  Storage* storage;  // null on meta
  int64_t offset;    // of the first element within the storage, in elements
  int64_t numel;
  Dims sizes;
  Dims strides;                                  // in elements
  std::atomic<AutogradMeta*> autograd{nullptr};  // null for ordinary tensors
  TensorImpl* base = nullptr;  // of a view: the tensor whose elements it shares; keeps the storage alive, too
  bool in_graph = false;       // has autograd metadata, or a base that may have some; the one flag that ops test first
  bool inference = false;      // made in inference mode
  Mode view_mode = Mode::grad;
  std::atomic<uint32_t> view_version{0};  // of a view: the storage's version when the view's history was last computed

  /// Its history; null for ordinary tensors.
  AutogradMeta* meta() const noexcept { return autograd.load(std::memory_order_acquire); }

  /// The address of the first element; null on meta. It is computed, because a storage that grows moves its block. A
  /// tensor without elements may have any offset; it gets the storage's first byte.
  // exact: inside the storage
  [[gnu::always_inline]] std::byte* data() const noexcept {
    return storage ? storage->data + (numel > 0 ? offset : 0) * itemsize(dtype) : nullptr;
  }
};

/// Frees what a last handle pointed at.
TENON_API void destroy_impl(TensorImpl* impl) noexcept;

/// A tensor or a number, as ops take them. Holds no reference: it lives for one call.
class Arg {
 public:
  Arg(const Tensor& tensor) noexcept : tensor_(&tensor) {}
  Arg(Scalar number) noexcept : number_(number) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || ComplexNumber<T>) Arg(T number)
  noexcept : number_(number) {}

  /// The one that it is: `tensor` needs is_tensor(), `number` the opposite.
  bool is_tensor() const noexcept { return tensor_ != nullptr; }
  const Tensor& tensor() const noexcept { return *tensor_; }
  Scalar number() const noexcept { return number_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar number_;
};

/// Dims to reduce over: one, several, or none given (all).
class DimsArg {
 public:
  DimsArg() noexcept = default;
  DimsArg(int64_t dim) : dims_{dim}, given_(true) {}
  DimsArg(int dim) : dims_{dim}, given_(true) {}
  DimsArg(std::initializer_list<int64_t> dims) : dims_(dims), given_(true) {}
  DimsArg(SizesView dims) : dims_(dims.copy()), given_(true) {}
  /// If no dims were given, a view whose data is null. An empty list also means all dims, but its data is not null.
  SizesView view() const noexcept { return given_ ? SizesView(dims_) : SizesView(); }

 private:
  Dims dims_;
  bool given_ = false;
};

/// A handle: copies share the elements, as in Python. Threads may use different handles of one tensor at the same time.
class TENON_API Tensor {
 public:
  Tensor() noexcept {}  // not defaulted: Clang 14 could not use it for default arguments
  /// Takes ownership of one reference.
  explicit Tensor(TensorImpl* impl) noexcept : impl_(impl) {}
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) {
    if (impl_) impl_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor copy(other);
    std::swap(impl_, copy.impl_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() {
    if (!impl_) return;
    // The only owner needs no locked instruction.
    if (impl_->references.load(std::memory_order_acquire) == 1 ||
        impl_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy_impl(impl_);
  }

  /// False for a default-constructed handle, which is no tensor.
  bool defined() const noexcept { return impl_ != nullptr; }
  /// Whether both handles are the same tensor (Python: `a is b`).
  bool is(const Tensor& other) const noexcept { return impl_ == other.impl_; }
  /// Never null. For an undefined tensor it throws Error "Expected a proper Tensor but got None (or an undefined Tensor
  /// in C++)", as does every method that uses the tensor.
  TensorImpl* impl() const {
    if (!impl_) [[unlikely]]
      fail_undefined();
    return impl_;
  }

  /// The number of dims.
  int64_t dim() const { return impl()->sizes.size(); }
  /// Sizes and strides by dim, strides in elements. Both live as long as the tensor, unless an op changes its shape in
  /// place. A negative `dim` counts from the end; IndexError if there is no such dim.
  SizesView sizes() const { return impl()->sizes; }
  SizesView strides() const { return impl()->strides; }
  int64_t size(int64_t dim) const { return impl()->sizes[wrap_existing_dim(dim, this->dim())]; }
  int64_t stride(int64_t dim) const { return impl()->strides[wrap_existing_dim(dim, this->dim())]; }
  /// The number of elements, and what they are.
  int64_t numel() const { return impl()->numel; }
  Dtype dtype() const { return impl()->dtype; }
  Device device() const { return impl()->device; }
  /// Whether it has a shape and a dtype only.
  bool is_meta() const { return impl()->device == Device::meta; }
  /// Of the first element in the storage, in elements.
  int64_t storage_offset() const { return impl()->offset; }
  /// Bytes of one element.
  int64_t itemsize() const { return tenon::itemsize(impl()->dtype); }
  /// numel() * itemsize(), even if elements share memory. Throws Error on int64 overflow.
  int64_t nbytes() const {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(numel(), itemsize(), &bytes)) fail_nbytes();
    return bytes;
  }
  /// Counts in-place writes to the storage; shared by all its views. Error "Inference tensors do not track version
  /// counter."
  uint32_t version() const {
    if (impl()->inference) fail_inference_version();
    return impl_->storage ? impl_->storage->version.load(std::memory_order_relaxed) : 0;
  }
  /// Whether it is a view of another tensor (its base).
  bool is_view() const { return impl()->base != nullptr; }
  bool is_inference() const { return impl()->inference; }
  void* data_ptr() const { return impl()->data(); }
  /// data_ptr() for a holder outside the library (DLPack, buffer protocol): from now on the storage does not move.
  /// Growing it throws Error "Trying to resize storage that is not resizable".
  void* export_data() const {
    if (Storage* storage = impl()->storage) storage->resizable.store(false, std::memory_order_relaxed);
    return impl_->data();
  }
  /// The elements as `T`, in storage order from the first; TypeError when `T` is not the dtype.
  template <class T>
  T* data() const {
    check_dtype(dtype_of_v<T>);
    return reinterpret_cast<T*>(impl_->data());
  }
  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const {
    return format == MemoryFormat::contiguous ? impl()->contiguous : tenon::is_contiguous(sizes(), strides(), format);
  }

  // Views: no copy, same storage. https://docs.pytorch.org/docs/stable/tensor_view.html
  Tensor expand(SizesView sizes) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor broadcast_to(SizesView sizes) const;
  Tensor view(SizesView sizes) const;
  /// The same bytes as elements of another dtype, without history. If these are smaller or larger, the last dim gets
  /// longer or shorter: its stride must be 1, and sizes, strides and offset must be multiples of a larger element.
  /// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
  template <std::same_as<Dtype> D>  // not a plain Dtype, which {} would be: view({}) is the view with no dims
  Tensor view(D dtype) const {
    return view_bytes(dtype);
  }
  /// A view if the strides allow it, else a contiguous copy.
  Tensor reshape(SizesView sizes) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor squeeze(SizesView dims) const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor t() const;
  Tensor mT() const;
  Tensor permute(SizesView dims) const;
  Tensor movedim(SizesView source, SizesView destination) const;
  Tensor movedim(int64_t source, int64_t destination) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  /// Python's `start:end:step` along one dim; bounds are clamped. ValueError "slice step cannot be zero", "step must be
  /// greater than zero".
  Tensor slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step = 1) const;
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
  Tensor unflatten(int64_t dim, SizesView sizes) const;
  Tensor as_strided(SizesView sizes, SizesView strides, std::optional<int64_t> storage_offset = std::nullopt) const;
  Tensor diagonal(int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) const;
  /// Windows of `size` elements along a dim, `step` apart, as a new last dim. A view; windows may overlap.
  /// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.unfold.html
  Tensor unfold(int64_t dimension, int64_t size, int64_t step) const;
  /// `x.index({0, Slice(1, 3), None, Ellipsis})`: a view. If an index is a tensor of integers or a mask, a copy.
  /// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index.html
  Tensor index(std::initializer_list<Index> indices) const {
    return index(indices.begin(), static_cast<int64_t>(indices.size()));
  }
  Tensor index(const Index* indices, int64_t count) const;
  Tensor operator[](int64_t i) const;
  /// The same tensor without history; shares elements and version.
  Tensor detach() const;

  // Differentiation (defined in autograd; more in tenon/autograd.h). https://docs.pytorch.org/docs/stable/autograd.html
  /// Whether operations on this tensor are recorded.
  bool requires_grad() const;
  /// Error "only Tensors of floating point dtype can require gradients"; for tensors that were computed "you can only
  /// change requires_grad flags of leaf variables...".
  Tensor& requires_grad_(bool requires_grad = true);
  /// True unless a recorded operation computed it.
  bool is_leaf() const;
  /// The gradient accumulated by backward; undefined if there is none. Warns for a tensor that is neither a leaf nor
  /// retains its gradient.
  Tensor grad() const;
  /// An undefined `grad` clears it. Error "attempting to assign a gradient of size '[2]' to a tensor of size '[3]'...".
  void set_grad(const Tensor& grad);
  /// The operation this tensor comes from; undefined for leaves.
  autograd::Node grad_fn() const;
  /// Its position among that operation's results.
  int64_t output_nr() const;
  /// Makes backward keep the gradient of a tensor that is not a leaf. Error "can't retain_grad on Tensor that has
  /// requires_grad=False".
  void retain_grad() const;
  bool retains_grad() const;
  /// Like `detach`, but writes to the result do not raise this tensor's version.
  Tensor variable_data() const;
  /// Shares the elements, sizes and dtype of `data` from now on, and keeps its own place in the graph. Error "data set
  /// to a tensor that requires gradients must be floating point or complex dtype".
  void set_data(const Tensor& data);
  /// Removes this tensor's history. Error "Can't detach views in-place...".
  Tensor& detach_();
  /// Adds the gradients of this tensor, which has one element, to the `grad` of every leaf it was computed from.
  /// Error "grad can be implicitly created only for scalar outputs", "element 0 of tensors does not require grad...".
  /// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
  void backward() const;
  /// The same for any shape, weighted by `gradient`, which may be undefined for a tensor of one element. `retain_graph`
  /// is `create_graph` unless set.
  void backward(const Tensor& gradient, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false) const;
  /// `hook(gradient)` runs before the gradient is used; a defined result takes its place.
  autograd::HookHandle register_hook(autograd::TensorHook hook) const;
  /// `hook(tensor)` runs after backward has changed this leaf's `grad`.
  autograd::HookHandle register_post_accumulate_grad_hook(autograd::LeafHook hook) const;

  // Copies and writes (dispatch).
  /// A tensor of that layout: itself if it has it, else a copy. `clone` always copies.
  Tensor contiguous(MemoryFormat format = MemoryFormat::contiguous) const;
  Tensor clone(MemoryFormat format = MemoryFormat::preserve) const;
  /// Cast, or moved to the device. The tensor itself if nothing changes, unless a copy is asked for.
  Tensor to(Dtype dtype, bool copy = false, MemoryFormat format = MemoryFormat::preserve) const;
  Tensor to(Device device) const;
  /// Writes `src`, broadcast and cast, into this tensor.
  Tensor& copy_(const Tensor& src);
  Tensor& fill_(Scalar value);
  Tensor& fill_(const Tensor& value);
  Tensor& zero_();
  /// Writes `value`, broadcast, to the elements that `index` selects. If an element is selected twice, the last value
  /// stays.
  Tensor& index_put_(std::initializer_list<Index> indices, const Tensor& value) {
    return index_put_(indices.begin(), static_cast<int64_t>(indices.size()), value);
  }
  Tensor& index_put_(const Index* indices, int64_t count, const Tensor& value);
  /// New sizes in the same storage, grown when needed; keeps the elements in storage order.
  Tensor& resize_(SizesView sizes);
  /// The one element as a number; Error "a Tensor with 2 elements cannot be converted to Scalar".
  Scalar item() const;
  /// Throws Error if T cannot hold it.
  template <class T>
  T item() const {
    return item().to<T>();
  }
  /// Sums this tensor down to `sizes`: the inverse of a broadcast. Returns itself when nothing was expanded.
  Tensor sum_to_size(SizesView sizes) const;

#include "tenon/methods.inc"  // every op

 private:
  Tensor view_bytes(Dtype dtype) const;
  void check_dtype(Dtype wanted) const;
  [[noreturn]] static void fail_inference_version();
  [[noreturn]] void fail_nbytes() const;
  [[noreturn, gnu::cold]] static void fail_undefined();

  TensorImpl* impl_ = nullptr;
};

// Complex numbers and their parts. All but conj give differentiable views.
/// A view with one more dim, the last, of size 2: real and imaginary part. Error for other dtypes.
TENON_API Tensor view_as_real(const Tensor& self);
/// The inverse: the last dim, of size 2 and stride 1, becomes one complex number. Error for other layouts.
TENON_API Tensor view_as_complex(const Tensor& self);
/// The real parts. A tensor of another dtype is returned unchanged.
TENON_API Tensor real(const Tensor& self);
/// The imaginary parts. Error for other dtypes.
TENON_API Tensor imag(const Tensor& self);
/// The complex conjugates, computed by conj_physical. A tensor of another dtype is returned unchanged.
TENON_API Tensor conj(const Tensor& self);
/// The tensor itself: conj computes its result at once.
inline Tensor resolve_conj(const Tensor& self) { return self; }
/// The tensor itself. Error for bool.
TENON_API Tensor positive(const Tensor& self);

/// Exactly as PyTorch prints it: "tensor([[1., 2.],\n        [3., 4.]])".
TENON_API std::string to_string(const Tensor& tensor);

/// How tensors print; the defaults are PyTorch's. Per process.
struct PrintOptions {
  int precision = 4;
  int64_t threshold = 1000;
  int64_t edgeitems = 3;
  int linewidth = 80;
  std::optional<bool> scientific;  // unset: chosen from the values
};
/// The options in force. set_print_options changes them.
TENON_API PrintOptions print_options() noexcept;
TENON_API void set_print_options(const PrintOptions& options) noexcept;

}  // namespace tenon
