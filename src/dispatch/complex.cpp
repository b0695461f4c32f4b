// complex, polar, isreal.
#include <algorithm>
#include <bit>

#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "kernel/kernel.h"
#include "plan/plan.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/overlap.h"
#include "tile/pool.h"

namespace tenon {
namespace {

bool may_be_part(Dtype dtype) { return dtype == float16 || dtype == float32 || dtype == float64; }

void check_parts(const Tensor& first, const Tensor& second) {
  if (!may_be_part(first.dtype()) || !may_be_part(second.dtype()))
    throw Error(std::string("Expected both inputs to be Half, Float or Double tensors but got ") +
                scalar_type_name(first.dtype()) + " and " + scalar_type_name(second.dtype()));
  if (first.dtype() != second.dtype())
    throw Error(std::string("Expected object of scalar type ") + scalar_type_name(first.dtype()) +
                " but got scalar type " + scalar_type_name(second.dtype()) + " for second argument");
}

/// `parts`: the dtype of both parts. That of complex numbers of float16 is no output's.
void check_complex_out(const Tensor& out, Dtype parts) {
  const bool is_half = parts == float16;
  if (!is_half && out.dtype() == to_complex(parts)) return;
  throw Error(std::string("Expected object of scalar type ") +
              (is_half ? "ComplexHalf" : scalar_type_name(to_complex(parts))) + " but got scalar type " +
              scalar_type_name(out.dtype()) + " for argument 'out'");
}

/// A new tensor with the layout that the operands give it.
Tensor new_complex(const Tensor& first, const Tensor& second, Dtype dtype) {
  const Dims shape = infer_size(first.sizes(), second.sizes());
  const StridedView views[] = {{first.sizes(), first.strides()}, {second.sizes(), second.strides()}};
  return new_tensor(shape, result_strides(shape, views, 2), dtype, first.device());
}

/// Writes both parts in one pass, if they and the result lie in one order; what is broadcast is expanded first, which
/// takes less time than to write every second element. Bench: tenon_bench --ops --filter ops/complex.
bool write_side_by_side(const Tensor& result, const Tensor& first, const Tensor& second) {
  if (!result.is_contiguous()) return false;
  const auto expanded = [&](const Tensor& part) {
    return part.sizes() == result.sizes() ? part : part.expand(result.sizes()).contiguous();
  };
  const Tensor re = expanded(first), im = expanded(second);
  if (!re.is_contiguous() || !im.is_contiguous()) return false;
  constexpr int64_t kPart = int64_t{1} << 15;
  const int64_t count = re.numel(), width = re.itemsize();
  std::byte* const to = static_cast<std::byte*>(result.data_ptr());
  const auto *const even = static_cast<const std::byte*>(re.data_ptr()), *const odd = static_cast<const std::byte*>(
                                                                             im.data_ptr());
  const auto interleave = kernels().move[std::countr_zero(static_cast<uint64_t>(width))].interleave;
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "interleaved", .stores = "in place"});
  run_or_plan(to, (count + kPart - 1) / kPart, [&](int64_t part) {
    const int64_t begin = part * kPart * width;  // exact: inside the storages
    interleave(to + 2 * begin, even + begin, odd + begin, std::min(kPart, count - part * kPart));
  });
  return true;
}

Tensor of_parts(const Tensor& re, const Tensor& im) {
  const Tensor result = new_complex(re, im, to_complex(re.dtype()));
  if (result.is_meta() || write_side_by_side(result, re.detach(), im.detach())) return result;
  real(result).copy_(re.detach());
  imag(result).copy_(im.detach());
  forget_writes(result);
  return result;
}

/// Writes them into `out=`, if it has the sizes and the parts lie elsewhere.
bool write_into(const Tensor& out, const Tensor& re, const Tensor& im) {
  if (out.is_meta() || re.is_meta() || im.is_meta() || !(out.sizes() == infer_size(re.sizes(), im.sizes())))
    return false;
  const Storage* const written = out.impl()->storage;
  if (storages_meet(written, re.impl()->storage) || storages_meet(written, im.impl()->storage)) return false;
  check_unseen(out);
  if (!write_side_by_side(out, re.detach(), im.detach())) return false;
  bump_version(out);
  return true;
}

Tensor of_angles(const Tensor& abs, const Tensor& angle) {
  if (abs.dtype() == float16) fail_no_code("polar_cpu", float16);
  const Tensor result = new_complex(abs, angle, to_complex(abs.dtype()));
  if (result.is_meta()) return result;
  const Tensor length = abs.detach(), turn = angle.detach();
  Tensor re = real(result), im = imag(result);
  mul_out(re, length, cos(turn));
  mul_out(im, length, sin(turn));
  forget_writes(result);
  return result;
}

}  // namespace

Tensor plain::complex(const Tensor& real, const Tensor& imag) {
  check_parts(real, imag);
  return of_parts(real, imag);
}
Tensor& plain::complex_out(Tensor& out, const Tensor& real, const Tensor& imag) {
  check_unrecorded(Op::complex, out, real, imag);
  check_parts(real, imag);
  check_complex_out(out, real.dtype());
  check_no_internal_overlap(out);  // before it is resized
  return write_into(out, real, imag) ? out : write_result(Op::complex, out, of_parts(real, imag));
}

Tensor plain::polar(const Tensor& abs, const Tensor& angle) {
  check_parts(abs, angle);
  return of_angles(abs, angle);
}
Tensor& plain::polar_out(Tensor& out, const Tensor& abs, const Tensor& angle) {
  check_unrecorded(Op::polar, out, abs, angle);
  check_parts(abs, angle);
  check_complex_out(out, abs.dtype());
  check_no_internal_overlap(out);  // before it is resized
  return write_result(Op::polar, out, of_angles(abs, angle));
}

Tensor plain::isreal(const Tensor& self) {
  return is_complex(self.dtype()) ? eq(imag(self.detach()), 0) : ones_like(self, bool_);
}

}  // namespace tenon
