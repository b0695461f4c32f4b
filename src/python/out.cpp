#include "python/out.h"

#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"

namespace tenon::python {

void check_out(const Call& call) {
  if (!call.has(Name::out)) return;
  const Tensor& out = call.tensor(Name::out);
  if (const auto dtype = call.dtype(); dtype && *dtype != out.dtype())
    throw Error(std::string("dtype ") + scalar_type_name(*dtype) + " does not match dtype of out parameter (" +
                scalar_type_name(out.dtype()) + ")");
  if (const auto device = call.device(); device && *device != out.device())
    throw Error(std::string("device type ") + device_name(*device) + " does not match device type of out parameter (" +
                device_name(out.device()) + ")");
}

void check_unrecorded(const std::string& name, const Tensor& out, std::initializer_list<const Tensor*> operands) {
  Arg args[kMaxArgs] = {0, 0, 0, 0};
  const Arg* pointers[kMaxArgs];
  int count = 0;
  for (const Tensor* operand : operands) {
    args[count] = Arg(*operand);
    pointers[count] = &args[count];
    ++count;
  }
  check_out_unrecorded(name.c_str(), out, pointers, count);
}

void resize_quietly(Tensor& out, SizesView sizes) {
  if (!(out.sizes() == sizes)) set_sizes_and_strides(out, sizes, contiguous_strides(sizes));
}

void write_out(Tensor& out, const Tensor& result, SizesView strides) {
  check_out_device(out, result.device());
  ResizedOutput resized(out, result.sizes(), strides);
  out.copy_(result);
  resized.keep();
}

Tensor memory_to_draw(const Call& call, SizesView size, const Options& options) {
  const bool is_written = call.has(Name::out) && call.tensor(Name::out).sizes() == size;
  return is_written ? empty_strided(size, call.tensor(Name::out).strides(), options) : empty(size, options);
}

}  // namespace tenon::python
