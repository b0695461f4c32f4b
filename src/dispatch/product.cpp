// mm: blocks that fit into the caches go through the kernel.
#include <algorithm>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "kernel/kernel.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

constexpr int64_t kRows = 64;      // of a part: a thread's share
constexpr int64_t kColumns = 256;  // with kDepth f32: 256 KiB of b, which stay in the second-level cache
constexpr int64_t kDepth = 256;

void check_shapes(const Tensor& a, const Tensor& b) {
  if (a.dim() != 2) throw Error("self must be a matrix");
  if (b.dim() != 2) throw Error("mat2 must be a matrix");
  if (a.size(1) != b.size(0)) {
    if (a.is_meta())
      throw Error("a and b must have same reduction dim, but got " + to_string(a.sizes()) + " X " +
                  to_string(b.sizes()) + ".");
    throw Error("mat1 and mat2 shapes cannot be multiplied (" + std::to_string(a.size(0)) + "x" +
                std::to_string(a.size(1)) + " and " + std::to_string(b.size(0)) + "x" + std::to_string(b.size(1)) +
                ")");
  }
}

void check_dtypes(const Tensor& a, const Tensor& b) {
  if (a.is_meta()) return;
  if (a.dtype() != b.dtype())
    throw Error(std::string("expected m1 and m2 to have the same dtype, but got: ") + cpp_type_name(a.dtype()) +
                " != " + cpp_type_name(b.dtype()));
  if (a.numel() > 0 && b.numel() > 0) check_has_code(row_of(Op::mm), a.dtype());
}

/// One part's rows, block after block of b. The order of the sums depends on shapes alone.
void multiply_rows(ProductKernel kernel, const Tensor& out, const Tensor& a, const Tensor& b, int64_t first,
                   int64_t rows) {
  const int64_t depth = a.size(1), columns = b.size(1), width = a.itemsize();
  std::byte* to = out.impl()->data();
  const std::byte* left = a.impl()->data();
  const std::byte* right = b.impl()->data();
  // exact: inside the storages
  for (int64_t k = 0; k < depth; k += kDepth)
    for (int64_t column = 0; column < columns; column += kColumns) {
      check_interrupt();
      kernel(to + (first * columns + column) * width, columns, left + (first * depth + k) * width, depth,
             right + (k * columns + column) * width, columns, rows, std::min(kColumns, columns - column),
             std::min(kDepth, depth - k));
    }
}

/// out += a b. All row-major.
void multiply(const Tensor& out, const Tensor& a, const Tensor& b) {
  const ProductKernel kernel = kernels().product[static_cast<int>(out.dtype())];
  // exact: there are elements, so rows are few beside 2^63
  const int64_t rows = a.size(0), parts = std::max<int64_t>((rows + kRows - 1) / kRows, 1);
  parallel_for(parts, [&](int64_t part) {
    multiply_rows(kernel, out, a, b, part * kRows, std::min(kRows, rows - part * kRows));
  });
}

/// Integers wrap.
void multiply_integers(const Tensor& out, const Tensor& a, const Tensor& b) {
  visit_dtype(out.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && (kNoBool & set_of(dtype_of_v<T>)) != 0) {
      const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
      // exact: inside the storages
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t k = 0; k < depth; ++k) {
          check_interrupt();
          for (int64_t column = 0; column < columns; ++column) {
            T& sum = out.data<T>()[row * columns + column];
            sum = static_cast<T>(static_cast<uint64_t>(sum) +
                                 static_cast<uint64_t>(a.data<T>()[row * depth + k]) *
                                     static_cast<uint64_t>(b.data<T>()[k * columns + column]));
          }
        }
    }
  });
}

Tensor row_major(const Tensor& tensor, Dtype dtype) {
  return tensor.impl()->row_major && tensor.dtype() == dtype ? tensor : run_to(tensor, dtype, MemoryFormat::contiguous);
}

}  // namespace

Tensor plain::mm(const Tensor& a, const Tensor& b) {
  check_shapes(a, b);
  check_dtypes(a, b);
  if (!a.is_meta()) check_device(b, Device::cpu);
  const Dtype wide = widened(a.dtype());
  Tensor out = new_tensor({a.size(0), b.size(1)}, wide, a.device());
  if (out.is_meta()) return a.dtype() == wide ? out : run_to(out, a.dtype(), MemoryFormat::preserve);
  run_fill(out, 0);
  out.impl()->storage->version.store(0, std::memory_order_relaxed);
  if (out.numel() > 0 && a.numel() > 0) {
    const auto into = is_floating_point(wide) ? multiply : multiply_integers;
    into(out, row_major(a, wide), row_major(b, wide));
  }
  return a.dtype() == wide ? out : run_to(out, a.dtype(), MemoryFormat::preserve);
}

Tensor& plain::mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  check_unrecorded(Op::mm, out, self, mat2);
  check_shapes(self, mat2);
  check_strict_out(out, self.dtype());
  const Tensor result = plain::mm(self, mat2);
  if (self.numel() > 0) return write_result(Op::mm, out, result);
  // PyTorch fills where there is nothing to multiply, and a fill may write to elements that share memory.
  check_out_device(out, result.device());
  ResizedOutput resized(out, result.sizes(), result.strides());
  if (!out.is_meta()) run_fill(out, 0);
  resized.keep();
  return out;
}

namespace {

/// A leaf, or a view of one: PyTorch looks at no other tensor's history before it finds that it has no such product.
bool is_of_leaf(const Tensor& out) {
  if (out.is_leaf() || !out.is_view()) return out.is_leaf();
  out.impl()->base->references.fetch_add(1, std::memory_order_relaxed);
  return Tensor(out.impl()->base).is_leaf();
}

[[noreturn]] void fail_other_dtype(const char* form) {
  throw NotImplementedError(std::string("Could not run 'aten::mm.") + form +
                            "' with arguments from the 'CPU' backend.");
}

}  // namespace

Tensor plain::mm_dtype(const Tensor&, const Tensor&, Dtype) { fail_other_dtype("dtype"); }

Tensor& plain::mm_dtype_out(Tensor& out, const Tensor&, const Tensor&, Dtype) {
  if (is_of_leaf(out)) check_out_unrecorded("aten::mm", out, nullptr, 0);
  fail_other_dtype("dtype_out");
}

}  // namespace tenon
