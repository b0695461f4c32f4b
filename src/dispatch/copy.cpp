// Copies, casts and fills: Programs without an op.
#include <cstring>

#include "dispatch/elementwise.h"
#include "dispatch/recorder.h"
#include "plan/plan.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/run.h"
#include "type/overflow.h"

namespace tenon {
namespace {

Walk walk_of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides()}; }

/// out[...] = src[...], broadcast and cast. No checks.
void write_copy(const Tensor& out, const Tensor& src) {
  if (out.is_meta() || out.numel() == 0) return;
  const Walk walks[] = {walk_of(out), walk_of(src)};
  Plan plan;
  make_plan(out.sizes(), walks, 2, plan);
  Program program;
  program.cast(program.input(src.dtype()), out.dtype());
  const void* input = src.data_ptr();
  run(plan, program, out.data_ptr(), &input);
}

/// Each place once: dims that repeat a place are walked at one index.
Tensor distinct_places(const Tensor& self) {
  Dims sizes = self.sizes().copy();
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (self.strides()[dim] == 0 && sizes[dim] > 1) sizes[dim] = 1;
  return new_view(self, sizes, self.strides(), self.storage_offset());
}

}  // namespace

Tensor& Tensor::copy_(const Tensor& src) {
  if (is(src)) return *this;
  if (src.is_meta() && !is_meta()) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
  check_no_internal_overlap(*this);
  check_no_partial_overlap(*this, src);
  check_inplace_shape(sizes(), infer_size(sizes(), src.sizes()));
  if (may_read_what_it_wrote(*this, src))
    write_copy(*this, src.clone());
  else
    write_copy(*this, src);
  bump_version(*this);
  return *this;
}

Tensor Tensor::clone(MemoryFormat format) const {
  Tensor result = new_tensor(sizes(), strides_like(sizes(), strides(), format), dtype(), device());
  write_copy(result, *this);
  return result;
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::preserve) throw Error("preserve memory format is unsupported by the contiguous operator");
  if (is_contiguous(format)) return *this;
  return clone(format);
}

Tensor Tensor::to(Dtype wanted, bool copy, MemoryFormat format) const {
  const bool fits = dtype() == wanted && (format == MemoryFormat::preserve || is_contiguous(format));
  if (fits && !copy) return *this;
  Tensor result = new_tensor(sizes(), strides_like(sizes(), strides(), format), wanted, device());
  if (Recorder* recorder = is_meta() ? Recorder::current() : nullptr) recorder->add_cast(*this, result);
  write_copy(result, *this);
  return result;
}

Tensor Tensor::to(Device wanted) const {
  if (device() == wanted) return *this;
  if (is_meta()) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
  return new_tensor(sizes(), dense_strides_like(sizes(), strides()), dtype(), wanted);
}

Tensor& Tensor::fill_(Scalar value) {
  check_fits(value, dtype());
  const Tensor filled = distinct_places(*this);
  if (!is_meta() && numel() > 0) {
    const double floating = value.as_double();
    const int64_t integer = value.as_int64();
    Plan plan;
    const Walk walks[] = {walk_of(filled), {{}, {}}};
    make_plan(filled.sizes(), walks, 2, plan);
    Program program;
    program.cast(program.input(value.is_floating() ? float64 : int64), dtype());
    const void* input = value.is_floating() ? static_cast<const void*>(&floating) : static_cast<const void*>(&integer);
    run(plan, program, data_ptr(), &input);
  }
  bump_version(*this);
  return *this;
}

Tensor& Tensor::fill_(const Tensor& value) {
  if (value.dim() != 0)
    throw Error("fill_ only supports 0-dimension value tensor but got tensor with " + std::to_string(value.dim()) +
                " dimensions.");
  return copy_(value.impl()->storage == impl_->storage ? value.clone() : value);
}

Tensor& Tensor::zero_() { return fill_(0); }

Tensor& Tensor::resize_(SizesView wanted) {
  for (int64_t size : wanted)
    if (size < 0) throw Error("numel: integer multiplication overflow");
  checked_numel(wanted);
  if (!(sizes() == wanted)) set_sizes_and_strides(*this, wanted, contiguous_strides(wanted));
  return *this;
}

Scalar Tensor::item() const {
  if (numel() != 1) throw Error("a Tensor with " + std::to_string(numel()) + " elements cannot be converted to Scalar");
  if (is_meta()) throw Error("Tensor.item() cannot be called on meta tensors");
  const Lanes from{data_ptr(), 1};
  const Dtype wide = is_floating_point(dtype()) ? float64 : int64;
  double floating = 0;
  int64_t integer = 0;
  void* to = wide == float64 ? static_cast<void*>(&floating) : static_cast<void*>(&integer);
  kernels().cast[static_cast<int>(dtype())][static_cast<int>(wide)](to, &from, 1);
  if (dtype() == bool_) return Scalar(integer != 0);
  return wide == float64 ? Scalar(floating) : Scalar(integer);
}

Tensor Tensor::sum_to_size(SizesView wanted) const {
  if (wanted.empty() && is_expandable_to(wanted, sizes())) return sum();
  if (sizes() == wanted) return *this;
  const Dims dims = sum_to_dims(sizes(), wanted);
  if (dims.empty()) return view(wanted);
  return sum(DimsArg(SizesView(dims)), true).view(wanted);
}

}  // namespace tenon
