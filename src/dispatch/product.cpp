// Products of vectors and matrices: shapes and dtypes are checked here, tile/product.h and tile/narrow_product.h
// multiply.
#include "tile/product.h"

#include <algorithm>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "dispatch/products.h"
#include "kernel/complex_parts.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/cast.h"
#include "tile/narrow_product.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "type/overflow.h"

namespace tenon {
namespace {

std::string text(int64_t number) { return std::to_string(number); }

[[noreturn]] void fail_without_dims() { throw IndexError("Dimension specified as 0 but tensor has no dimensions"); }

// --- The product itself

/// The dtype in which products are computed.
Dtype computed(Dtype dtype) { return dtype == int8 || dtype == uint8 || dtype == int16 ? int32 : widened(dtype); }

/// The last two dims are rows and columns, the dim before them the batch. A vector is one row.
Matrices matrices_of(const Tensor& tensor) {
  const SizesView strides = tensor.strides();
  const int64_t dims = strides.size();
  return {tensor.impl()->data(), dims > 2 ? strides[0] : 0, dims > 1 ? strides[dims - 2] : 0, strides[dims - 1]};
}
/// The second operand's; a vector is one column.
Matrices columns_of(const Tensor& tensor) {
  const Matrices all = matrices_of(tensor);
  return tensor.dim() > 1 ? all : Matrices{all.data, 0, all.column_stride, 0};
}

/// Whether a product of these sizes and this dtype can be computed where it is wanted. In memory that an operand
/// shares, it would overwrite what it still reads.
bool takes_product(const Tensor& place, SizesView sizes, Dtype dtype, const Tensor& a, const Tensor& b) {
  const Storage* storage = place.impl()->storage;
  return place.dtype() == dtype && place.sizes() == sizes && place.is_contiguous() && is_computed(place) &&
         is_computed(a) && !storages_meet(storage, a.impl()->storage) && !storages_meet(storage, b.impl()->storage);
}

/// The product of two operands, without an output.
Product product_of(const Tensor& a, const Tensor& b, Dtype dtype) {
  const SizesView rows = a.sizes(), columns = b.sizes();
  const int64_t dims = rows.size();
  return {dtype,
          dims > 2 ? rows[0] : 1,
          dims > 1 ? rows[dims - 2] : 1,
          columns.size() > 1 ? columns[columns.size() - 1] : 1,
          rows[dims - 1],
          matrices_of(a),
          columns_of(b),
          nullptr};
}

/// One matrix of a batch.
ComplexRows complex_rows(const Matrices& matrices, int64_t batch, int64_t rows, int64_t columns, Dtype dtype) {
  // exact: in the storage
  const std::byte* const data = matrices.data + batch * matrices.batch_stride * itemsize(dtype);
  return {data, rows, columns, matrices.row_stride, matrices.column_stride};
}
std::byte* bytes_of(const Tensor& tensor, int64_t offset) {
  return reinterpret_cast<std::byte*>(tensor.impl()->data()) + offset;  // exact: in its memory
}
/// Memory of real numbers.
Tensor new_reals(int64_t batches, int64_t rows, int64_t columns, const Tensor& beside) {
  return new_tensor({batches, rows, columns}, to_real(beside.dtype()), beside.device());
}

/// Complex products as one product of real numbers: that of `a`, its parts in turn, and of `b` with the same rows times
/// i below each.
Tensor multiplied_by_rotations(const Product& product, const Tensor& a, SizesView sizes) {
  const auto [dtype, batches, rows, columns, depth, left, right, none] = product;
  const Tensor out = new_tensor(sizes, dtype, a.device());
  const int64_t repeated = right.batch_stride == 0 ? 1 : batches;
  const Tensor rotated = new_reals(repeated, 2 * depth, 2 * columns, a);  // exact: new_tensor checks the number
  // exact: parts of it
  const int64_t each = 4 * depth * columns, bytes = each * rotated.itemsize();
  if (!a.is_meta())
    for (int64_t i = 0; i < repeated; ++i)
      write_with_rotations(rotated.dtype(), bytes_of(rotated, i * bytes),  // exact: inside it
                           complex_rows(right, i, depth, columns, dtype));
  // exact: strides in halves of numbers, inside the storages
  const Matrices parts = {left.data, 2 * left.batch_stride, 2 * left.row_stride, 1};
  const Matrices all = {rotated.impl()->data(), repeated == 1 ? 0 : each, 2 * columns, 1};
  multiply({to_real(dtype), batches, rows, 2 * columns, 2 * depth, parts, all, out.impl()->data()});
  forget_writes(out);
  return out;
}
/// The same where `a` has few rows: all real parts of `a` and all imaginary ones, times `b`, its parts in turn.
Tensor multiplied_by_parts(const Product& product, const Tensor& a, SizesView sizes) {
  const auto [dtype, batches, rows, columns, depth, left, right, none] = product;
  const Tensor out = new_tensor(sizes, dtype, a.device());
  const Tensor parts = new_reals(batches, 2 * rows, depth, a);       // exact: new_tensor checks the numbers
  const Tensor both = new_reals(batches, 2 * rows, 2 * columns, a);  // exact: the same
  // exact: parts of these
  const int64_t each = 2 * rows * depth * parts.itemsize(), numbers = rows * columns, bytes = numbers * itemsize(dtype);
  if (!a.is_meta())
    for (int64_t i = 0; i < batches; ++i)
      write_parts(parts.dtype(), bytes_of(parts, i * each), complex_rows(left, i, rows, depth, dtype));
  // exact: strides in halves of numbers, inside the storages
  const Matrices halves = {right.data, 2 * right.batch_stride, 2 * right.row_stride, 1};
  multiply({to_real(dtype), batches, 2 * rows, 2 * columns, depth, matrices_of(parts), halves, both.impl()->data()});
  if (!a.is_meta())
    for (int64_t i = 0; i < batches; ++i)
      write_sum_with_rotated(parts.dtype(), bytes_of(out, i * bytes), bytes_of(both, 2 * i * bytes), numbers);
  forget_writes(out);
  return out;
}
/// Complex numbers of one dtype.
Tensor multiplied_complex(const Tensor& a, const Tensor& b, SizesView sizes) {
  Product product = product_of(a, b, a.dtype());
  // exact: numbers of flops, which multiply checks
  const double rows = static_cast<double>(product.rows), columns = static_cast<double>(product.columns);
  const double depth = static_cast<double>(product.depth);
  const bool has_few_rows = rows * (depth + 4 * columns) < 2 * depth * columns;
  if (has_few_rows && product.b.column_stride == 1) return multiplied_by_parts(product, a, sizes);
  if (product.rows == 1 && product.b.row_stride == 1) {  // a row times columns, as rows times a column
    const auto [b_data, b_batch, b_row, b_column] = product.b;
    const auto [a_data, a_batch, a_row, a_column] = product.a;
    return multiplied_by_rotations({a.dtype(),
                                    product.batches,
                                    product.columns,
                                    1,
                                    product.depth,
                                    {b_data, b_batch, b_column, b_row},
                                    {a_data, a_batch, a_column, a_row},
                                    nullptr},
                                   a, sizes);
  }
  if (a.stride(-1) == 1 || product.depth == 1) return multiplied_by_rotations(product, a, sizes);
  const Tensor in_order = run_clone(a, MemoryFormat::contiguous);
  product.a = matrices_of(in_order);
  return multiplied_by_rotations(product, in_order, sizes);
}

/// a b in the compute dtype, for operands of one dtype; `b` may be a vector. The result is `place`, if that takes it.
Tensor multiplied(const Tensor& a, const Tensor& b, SizesView sizes, const Tensor* place = nullptr) {
  const Dtype dtype = computed(a.dtype());
  Product product = product_of(a, b, dtype);
  const bool runs = is_computed(a) || CourseRecord::plans_meta();
  if (product.depth == 0 || numel_of(sizes) == 0 || !runs) {
    const Tensor out = new_tensor(sizes, dtype, a.device());
    if (product.depth == 0) run_fill(out, 0);
    forget_writes(out);
    return out;
  }
  if (is_complex(dtype) && dtype == b.dtype()) return multiplied_complex(a, b, sizes);
  const bool in_pairs = a.dtype() == bfloat16 && multiplies_pairs(product.rows, product.columns, product.depth);
  if (in_pairs) product.dtype = bfloat16;
  Tensor left, right;
  if (!in_pairs && a.dtype() != dtype) {
    left = run_to(a, dtype, MemoryFormat::preserve);
    product.a = matrices_of(left);
  }
  if (!in_pairs && b.dtype() != dtype) {
    right = run_to(b, dtype, MemoryFormat::preserve);
    product.b = columns_of(right);
  }
  if (place && !in_pairs && takes_product(*place, sizes, dtype, a, b) && fails_before_it_writes(product)) {
    const Uninterrupted whole;
    product.out = place->impl()->data();
    multiply(product);
    bump_version(*place);
    return *place;
  }
  Tensor out = new_tensor(sizes, dtype, a.device());
  product.out = out.impl()->data();
  multiply(product);
  return out;
}

/// Whether two operands in memory can be multiplied as they are.
bool is_pair(const TensorImpl& a, const TensorImpl& b) {
  const bool is_direct = a.dtype == float32 || a.dtype == float64 || a.dtype == int32 || a.dtype == int64;
  if (!is_direct || a.dtype != b.dtype || a.device != Device::cpu || b.device != Device::cpu) return false;
  const int64_t rows = a.sizes.size(), columns = b.sizes.size();
  return (rows == 2 || rows == 1) && (columns == 2 || columns == 1) && a.sizes[rows - 1] == b.sizes[0] && a.numel > 0 &&
         b.numel > 0;
}

Tensor narrowed(Tensor product, Dtype dtype) {
  if (product.dtype() != dtype) return run_to(product, dtype, MemoryFormat::preserve);
  return product;
}

// Numbers of narrow dtypes, of both operands and the result, that are widened on the stack. Bench: ./dev bench --sweep,
// products.
constexpr int64_t kFewNumbers = 4096;

/// The number of elements from a tensor's first one to its last one. At least kFewNumbers, if there are as many, or if
/// others lie between them: these are not read.
int64_t few_numbers(const Tensor& tensor) {
  const Checked extent = extent_of(tensor.sizes(), tensor.strides());
  return extent.is_at_most(std::min(tensor.numel(), kFewNumbers)) ? extent.or_throw("") : kFewNumbers;
}

/// The product of `left` and `right` numbers, which are few, in their narrow dtype.
void multiply_few(const Tensor& a, int64_t left, const Tensor& b, int64_t right, Dtype wide, const Tensor& out) {
  alignas(64) std::byte numbers[kFewNumbers * 4];
  const auto widen = [&](const Tensor& tensor, int64_t count, std::byte* to) {
    cast_lanes(to, wide, tensor.impl()->data(), tensor.dtype(), count);
    return to;
  };
  Product product = product_of(a, b, wide);
  product.a.data = widen(a, left, numbers);
  product.b.data = widen(b, right, numbers + left * 4);
  product.out = numbers + (left + right) * 4;
  multiply(product);
  cast_lanes(out.impl()->data(), out.dtype(), product.out, wide, out.numel());
}

/// a b in the dtype of both, if it is narrow and there are few numbers. Otherwise undefined.
Tensor product_of_few(const Tensor& a, const Tensor& b, SizesView sizes, const Tensor* place) {
  const Dtype dtype = a.dtype(), wide = computed(dtype);
  const int64_t numel = numel_of(sizes);
  if (wide == dtype || b.dtype() != dtype || a.is_meta() || a.numel() == 0 || numel == 0 || CourseRecord::now())
    return {};
  const int64_t left = few_numbers(a), right = few_numbers(b);
  if (numel >= kFewNumbers || left + right + numel > kFewNumbers) return {};  // exact: each is small
  const Product product = product_of(a, b, wide);
  if (dtype == bfloat16 && multiplies_pairs(product.rows, product.columns, product.depth)) return {};
  const bool fits =
      place && place->dtype() == dtype && place->sizes() == sizes && place->is_contiguous() && !place->is_meta();
  const Tensor out = fits ? *place : new_tensor(sizes, dtype, a.device());
  multiply_few(a, left, b, right, wide, out);
  if (fits) bump_version(out);
  return out;
}

/// A product of 16-bit floats of which an operand or the result would be large in float32. Otherwise undefined.
Tensor product_by_tiles(const Tensor& a, const Tensor& b, SizesView sizes) {
  const Dtype dtype = a.dtype();
  if (!is_floating_point(dtype) || itemsize(dtype) != 2 || b.dtype() != dtype || a.is_meta() || b.is_meta() ||
      a.numel() == 0 || b.numel() == 0 || CourseRecord::now())
    return {};
  Product product = product_of(a, b, dtype);
  if (!multiplies_by_tiles(product)) return {};
  const Tensor out = new_tensor(sizes, dtype);
  product.out = out.impl()->data();
  multiply_by_tiles(product);
  return out;
}

Tensor narrow_product(const Tensor& a, const Tensor& b, SizesView sizes, const Tensor* place = nullptr) {
  if (Tensor few = product_of_few(a, b, sizes, place); few.defined()) return few;
  if (Tensor by_tiles = product_by_tiles(a, b, sizes); by_tiles.defined()) return by_tiles;
  return narrowed(multiplied(a, b, sizes, place), a.dtype());
}

void check_devices(const Tensor& a, const Tensor& b) {
  if (!a.is_meta()) check_device(b, Device::cpu);
}

/// The terms of beta * start + alpha * product. If beta is 0, `start` is not read.
struct Start {
  const Tensor& tensor;
  Scalar beta, alpha;
};

bool is(Scalar number, int value) { return number.as_complex() == Complex128{static_cast<double>(value), 0}; }

/// A factor as PyTorch's kernels get it: for 16-bit floats as float32.
Scalar factor(Scalar number, Dtype dtype) {
  check_fits(number, widened(dtype));
  if (is_complex(dtype)) return number;
  return is_floating_point(dtype) ? Scalar(number.as_double()) : Scalar(number.as_int64());
}

/// beta * start: for products with depth 0, or that are not wanted.
Tensor only_start(const Start& start, SizesView sizes, Dtype dtype) {
  const Tensor expanded = start.tensor.detach().expand(sizes);
  const Tensor result = new_tensor(sizes, dtype, start.tensor.device());
  if (is(start.beta, 0)) {
    run_fill(result, 0);
  } else {
    warn_of_lost_parts(expanded.dtype(), dtype, expanded.numel());
    run_copy(result, expanded);
    const Arg self(result), beta(start.beta);
    const Arg* const args[] = {&self, &beta};
    Tensor written = result;
    run_inplace(Op::mul, written, args, 2);
  }
  forget_writes(result);
  return result;
}

/// Who multiplies in PyTorch. BLAS does not read a product whose factor is 0; PyTorch's own loops multiply by every
/// factor, also by 0 and 1, which changes signs of zeros of complex numbers and gives NaN for infinities.
enum class Loops { blas, own };

Tensor added(Tensor product, const Start& start, Dtype dtype, Loops loops) {
  // Without elements PyTorch ignores the factors. bool gets here only on meta.
  if (product.numel() == 0 || dtype == bool_) return narrowed(product, dtype);
  const auto write = [&](Op op, const Arg& other, const Arg* last) {
    const Arg self(product);
    const Arg* const args[] = {&self, &other, last};
    run_inplace(op, product, args, last ? 3 : 2);
  };
  const Scalar alpha = factor(start.alpha, dtype), beta = factor(start.beta, dtype);
  if (loops == Loops::blas && is(alpha, 0) && (dtype == float32 || dtype == float64 || is_complex(dtype))) {
    if (!is(beta, 1)) return only_start({start.tensor, beta, alpha}, product.sizes(), dtype);
    run_copy(product, start.tensor.detach().expand(product.sizes()));
    forget_writes(product);
    return product;
  }
  const bool multiplies_by_1 = loops == Loops::own && is_complex(dtype);
  if (multiplies_by_1 || !is(alpha, 1)) write(Op::mul, alpha, nullptr);
  if (!is(beta, 0)) {
    const Arg scale(beta);
    !multiplies_by_1&& is(beta, 1) ? write(Op::add, start.tensor, nullptr) : write(Op::add_alpha, start.tensor, &scale);
  }
  product = narrowed(product, dtype);
  forget_writes(product);
  return product;
}

// --- out=

/// PyTorch refuses an `out` of the result's sizes whose elements share memory before it looks for code for the dtype.
void check_elements_apart(const Tensor& out, SizesView sizes) {
  if (out.sizes() == sizes) check_no_internal_overlap(out);
}

}  // namespace

Tensor& write_zeros(Tensor& out, const Tensor& result) {
  check_out_device(out, result.device());
  ResizedOutput resized(out, result.sizes(), result.strides());
  if (!out.is_meta()) run_fill(out, 0);
  resized.keep();
  return out;
}

namespace {

// --- In place

void check_inplace(const Tensor& self, SizesView sizes, Dtype dtype) {
  if (self.dtype() != dtype)
    throw Error(std::string("Bad in-place call: input tensor dtype ") + cpp_type_name(self.dtype()) +
                " and output tensor dtype " + cpp_type_name(dtype) + " should match");
  if (!(self.sizes() == sizes))
    throw Error("Bad in-place call: input tensor size " + to_string(self.sizes()) + " and output tensor size " +
                to_string(sizes) + " should match");
}

// --- Two matrices

void check_matrices(const Tensor& a, const Tensor& b) {
  if (a.dim() != 2) throw Error("self must be a matrix");
  if (b.dim() != 2) throw Error("mat2 must be a matrix");
  if (a.sizes()[1] == b.sizes()[0]) return;
  if (!is_computed(a))
    throw Error("a and b must have same reduction dim, but got " + to_string(a.sizes()) + " X " + to_string(b.sizes()) +
                ".");
  throw Error("mat1 and mat2 shapes cannot be multiplied (" + text(a.size(0)) + "x" + text(a.size(1)) + " and " +
              text(b.size(0)) + "x" + text(b.size(1)) + ")");
}

[[noreturn]] void fail_other_factor(const Tensor& a, const Tensor& b) {
  throw Error(std::string("expected m1 and m2 to have the same dtype, but got: ") + cpp_type_name(a.dtype()) +
              " != " + cpp_type_name(b.dtype()));
}
[[noreturn]] void fail_scalar_type(Dtype expected, Dtype found) {
  throw Error(std::string("expected scalar type ") + scalar_type_name(expected) + " but found " +
              scalar_type_name(found));
}

}  // namespace

namespace {

Tensor multiplied_matrices(const Tensor& a, const Tensor& b, const Tensor* place) {
  check_matrices(a, b);
  if (is_computed(a) && a.dtype() != b.dtype()) fail_other_factor(a, b);
  if (is_computed(a) && a.numel() > 0 && b.numel() > 0) check_has_code(row_of(Op::mm), a.dtype());
  check_devices(a, b);
  return narrow_product(a, b, {a.sizes()[0], b.sizes()[1]}, place);
}

/// The product of two small operands of one dtype; an undefined tensor if it needs the general path.
Tensor small_product(const Tensor& a, const Tensor& b) {
  if (!is_pair(*a.impl(), *b.impl())) return {};
  Product product = product_of(a, b, a.dtype());
  if (!multiplies_at_once(product)) return {};
  Dims sizes;
  if (a.dim() == 2) sizes.push_back(product.rows);
  if (b.dim() == 2) sizes.push_back(product.columns);
  const Tensor out = new_tensor(sizes, a.dtype(), Device::cpu);
  product.out = out.impl()->data();
  multiply_at_once(product);
  return out;
}

/// The same where it is wanted; false if it needs the general path.
bool small_product_into(Tensor& out, const Tensor& a, const Tensor& b) {
  const TensorImpl &to = *out.impl(), &left = *a.impl(), &right = *b.impl();
  if (to.in_graph || left.in_graph || right.in_graph || !is_pair(left, right)) return false;
  if (left.sizes.size() != 2 || to.sizes.size() != right.sizes.size() || to.sizes[0] != left.sizes[0]) return false;
  if (to.sizes.size() == 2 && to.sizes[1] != right.sizes[1]) return false;
  if (to.dtype != left.dtype || to.device != Device::cpu || !to.contiguous || storages_meet(to.storage, left.storage) ||
      storages_meet(to.storage, right.storage))
    return false;
  Product product = product_of(a, b, to.dtype);
  product.out = to.data();
  if (!multiplies_at_once(product)) return false;
  multiply_at_once(product);
  bump_version(out);
  return true;
}

}  // namespace

Tensor plain::mm(const Tensor& a, const Tensor& b) {
  if (a.dim() == 2 && b.dim() == 2)
    if (Tensor small = small_product(a, b); small.defined()) return small;
  return multiplied_matrices(a, b, nullptr);
}

Tensor multiply_row(const Tensor& row, const Tensor& matrix) {
  if (Tensor small = small_product(row, matrix); small.defined()) return small;
  check_devices(row, matrix);
  if (is_computed(row) && row.numel() > 0 && matrix.numel() > 0) check_has_code(row_of(Op::mm), row.dtype());
  return narrow_product(row, matrix, {matrix.sizes()[1]});
}

Tensor& plain::mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  if (self.dim() == 2 && mat2.dim() == 2 && small_product_into(out, self, mat2)) return out;
  check_unrecorded(Op::mm, out, self, mat2);
  check_matrices(self, mat2);
  check_strict_out(out, self.dtype());
  const Tensor result = multiplied_matrices(self, mat2, &out);
  if (self.numel() > 0) return write_result(Op::mm, out, result);
  return write_zeros(out, result);
}

namespace {

void check_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  const auto check_same = [&](const char* name, Dtype dtype) {
    if (dtype != mat2.dtype())
      throw Error(std::string(name) + " and mat2 must have the same dtype, but got " + scalar_type_name(dtype) +
                  " and " + scalar_type_name(mat2.dtype()));
  };
  if (is_computed(mat1)) {
    check_same("self", self.dtype());
    check_same("mat1", mat1.dtype());
  }
  for (const auto& [name, matrix] : {std::pair{"mat1", &mat1}, std::pair{"mat2", &mat2}})
    if (matrix->dim() != 2)
      throw Error(std::string(name) + " must be a matrix, got " + text(matrix->dim()) + "-D tensor");
  check_matrices(mat1, mat2);
}

}  // namespace

Tensor plain::addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  check_addmm(self, mat1, mat2);
  check_devices(mat1, mat2);
  check_devices(mat1, self);
  const Dims sizes{mat1.size(0), mat2.size(1)};
  static_cast<void>(self.detach().expand(sizes));
  const Start start{self, beta, alpha};
  if (numel_of(sizes) > 0 && mat1.size(1) == 0 && is_computed(mat1)) return only_start(start, sizes, mat2.dtype());
  if (numel_of(sizes) > 0 && is_computed(mat1)) check_has_code(row_of(Op::addmm), mat1.dtype());
  return added(multiplied(mat1, mat2, sizes), start, mat1.dtype(), Loops::blas);
}

Tensor& plain::addmm_out(Tensor& out, const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
                         Scalar alpha) {
  check_unrecorded(Op::addmm, out, self, mat1, mat2);
  check_addmm(self, mat1, mat2);
  check_strict_out(out, mat1.dtype());
  if (!is(beta, 0)) check_elements_apart(out, {mat1.size(0), mat2.size(1)});
  const Tensor result = plain::addmm(self, mat1, mat2, beta, alpha);
  if (is(beta, 0) && mat1.size(1) == 0) return write_zeros(out, result);
  return write_result(Op::addmm, out, result, &self);
}

void plain::addmm_inplace(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  check_addmm(self, mat1, mat2);
  check_inplace(self, {mat1.size(0), mat2.size(1)}, mat2.dtype());
  run_copy(self, plain::addmm(self, mat1, mat2, beta, alpha));
}

// --- Batches

namespace {

void check_batches(const Tensor& a, const Tensor& b) {
  if (a.dim() != 3) throw Error("batch1 must be a 3D tensor");
  if (b.dim() != 3) throw Error("batch2 must be a 3D tensor");
  if (a.sizes()[0] != b.sizes()[0] || a.sizes()[2] != b.sizes()[1])
    throw Error("Expected size for first two dimensions of batch2 tensor to be: [" + text(a.size(0)) + ", " +
                text(a.size(2)) + "] but got: [" + text(b.size(0)) + ", " + text(b.size(1)) + "].");
}

/// Whether a BLAS library accepts the matrices' strides: contiguous rows or columns that do not overlap.
bool is_of_library(const Tensor& batch) {
  return (batch.stride(2) == 1 && batch.stride(1) >= batch.size(2)) ||
         (batch.stride(1) == 1 && batch.stride(2) >= batch.size(1));
}

/// PyTorch multiplies small matrices itself and leaves others to a library or to mm.
Loops loops_of_batches(const Tensor& a, const Tensor& b) {
  constexpr int64_t kSmall = 400;
  const bool is_small = (Checked(a.sizes()[1]) * a.sizes()[2] * Checked(b.sizes()[2])).is_at_most(kSmall - 1);
  return is_small ? Loops::own : Loops::blas;
}

/// Each has its own error text for a dtype that it does not support. `place`, if any: what is written, to which a
/// library writes only if it has no gaps.
void check_batch_dtypes(Op op, const Tensor& a, const Tensor& b, const Tensor* place) {
  if (loops_of_batches(a, b) == Loops::own) {
    check_has_code(row_of(op), a.dtype());
    if (a.dtype() != b.dtype()) fail_scalar_type(a.dtype(), b.dtype());
  } else if (a.dtype() != b.dtype()) {
    const bool fits = b.dtype() == float32 || b.dtype() == float64 || is_complex(b.dtype());
    if (fits && is_of_library(a) && is_of_library(b) && (!place || place->is_contiguous()))
      fail_scalar_type(b.dtype(), a.dtype());
    if (op == Op::bmm) fail_other_factor(a, b);
    throw Error(std::string("mat1 and mat2 must have the same dtype, but got ") + scalar_type_name(a.dtype()) +
                " and " + scalar_type_name(b.dtype()));
  } else {
    check_has_code(row_of(Op::mm), a.dtype());
  }
}

}  // namespace

namespace {

Tensor multiplied_batches(const Tensor& a, const Tensor& b, const Tensor* place) {
  check_batches(a, b);
  check_devices(a, b);
  const Dims sizes{a.sizes()[0], a.sizes()[1], b.sizes()[2]};
  // Without elements PyTorch does not check dtypes.
  if (!is_computed(a) || a.numel() == 0 || b.numel() == 0) {
    const Tensor out = new_tensor(sizes, b.dtype(), a.device());
    run_fill(out, 0);
    forget_writes(out);
    return out;
  }
  // Of other sizes, `place` is made anew.
  check_batch_dtypes(Op::bmm, a, b, place && place->sizes() == SizesView(sizes) ? place : nullptr);
  return narrow_product(a, b, sizes, place);
}

}  // namespace

Tensor plain::bmm(const Tensor& self, const Tensor& mat2) { return multiplied_batches(self, mat2, nullptr); }

Tensor& plain::bmm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  check_unrecorded(Op::bmm, out, self, mat2);
  check_batches(self, mat2);
  check_strict_out(out, mat2.dtype());
  const Tensor result = multiplied_batches(self, mat2, &out);
  if (self.numel() == 0) return write_zeros(out, result);
  return write_result(Op::bmm, out, result);
}

namespace {

/// PyTorch reads the batches' sizes, to expand `self`, before it checks that they are 3-D.
Dims check_baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2) {
  Dims sizes{batch1.size(0), batch1.size(1), batch2.size(2)};
  static_cast<void>(self.detach().expand(sizes));
  if (self.dtype() != batch1.dtype())
    throw Error(std::string("Input dtypes must be the same, got: input ") + cpp_type_name(self.dtype()) +
                ", batch1: " + cpp_type_name(batch1.dtype()) + ", batch2: " + cpp_type_name(batch2.dtype()));
  check_batches(batch1, batch2);
  return sizes;
}

}  // namespace

Tensor plain::baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  const Dims sizes = check_baddbmm(self, batch1, batch2);
  check_devices(batch1, batch2);
  check_devices(batch1, self);
  const bool runs = is_computed(batch1);
  const Start start{self, beta, alpha};
  if (numel_of(sizes) > 0 && batch1.size(2) == 0 && runs) return only_start(start, sizes, batch2.dtype());
  if (numel_of(sizes) > 0 && runs) check_batch_dtypes(Op::baddbmm, batch1, batch2, nullptr);
  return added(multiplied(batch1, batch2, sizes), start, batch2.dtype(), loops_of_batches(batch1, batch2));
}

Tensor& plain::baddbmm_out(Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta,
                           Scalar alpha) {
  check_unrecorded(Op::baddbmm, out, self, batch1, batch2);
  check_baddbmm(self, batch1, batch2);
  check_strict_out(out, batch2.dtype());
  if (!is(beta, 0)) check_elements_apart(out, {batch1.size(0), batch1.size(1), batch2.size(2)});
  const Tensor result = plain::baddbmm(self, batch1, batch2, beta, alpha);
  if (is(beta, 0) && batch1.size(2) == 0) return write_zeros(out, result);
  return write_result(Op::baddbmm, out, result, &self);
}

void plain::baddbmm_inplace(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  check_inplace(self, check_baddbmm(self, batch1, batch2), batch2.dtype());
  run_copy(self, plain::baddbmm(self, batch1, batch2, beta, alpha));
}

// --- A matrix and a vector

void check_addmv(const Tensor& matrix, const Tensor& vector, SizesView start, Dtype start_dtype) {
  if (matrix.dim() != 2 || vector.dim() != 1 || start.size() > 1)
    throw Error("vector + matrix @ vector expected, got " + text(start.size()) + ", " + text(matrix.dim()) + ", " +
                text(vector.dim()));
  const int64_t numel = numel_of(start);
  if (matrix.sizes()[1] != vector.sizes()[0] || (matrix.sizes()[0] != numel && numel != 1)) {
    if (start.empty()) fail_without_dims();
    throw Error("size mismatch, got input (" + text(start[0]) + "), mat (" + text(matrix.size(0)) + "x" +
                text(matrix.size(1)) + "), vec (" + text(vector.size(0)) + ")");
  }
  if (start_dtype != matrix.dtype() || matrix.dtype() != vector.dtype())
    throw Error(std::string("addmv input tensors must have the same dtype, but got ") + scalar_type_name(start_dtype) +
                ", " + scalar_type_name(matrix.dtype()) + ", and " + scalar_type_name(vector.dtype()));
}

namespace {

Tensor multiplied_vector(const Tensor& matrix, const Tensor& vector, const Tensor* place) {
  if (matrix.dim() == 0) fail_without_dims();
  check_addmv(matrix, vector, {matrix.size(0)}, vector.dtype());
  check_devices(matrix, vector);
  if (matrix.numel() > 0 && is_computed(matrix)) check_has_code(row_of(Op::mv), matrix.dtype());
  return narrow_product(matrix, vector, {matrix.sizes()[0]}, place);
}

}  // namespace

Tensor plain::mv(const Tensor& self, const Tensor& vec) {
  if (self.dim() == 2 && vec.dim() == 1)
    if (Tensor small = small_product(self, vec); small.defined()) return small;
  return multiplied_vector(self, vec, nullptr);
}

/// PyTorch's mv_out is an in-place addmv, so `out` is also checked as the tensor to which the product is added.
Tensor& plain::mv_out(Tensor& out, const Tensor& self, const Tensor& vec) {
  if (vec.dim() == 1 && small_product_into(out, self, vec)) return out;
  check_unrecorded(Op::mv, out, self, vec);
  if (self.dim() == 0) fail_without_dims();
  const int64_t rows = self.size(0);
  if (out.dim() <= 1 && (out.numel() == rows || out.numel() == 1))
    check_addmv(self, vec, out.sizes(), out.dtype());
  else
    check_addmv(self, vec, {rows}, vec.dtype());
  check_strict_out(out, vec.dtype());
  const Tensor result = multiplied_vector(self, vec, &out);
  if (self.numel() == 0) return write_zeros(out, result);
  return write_result(Op::mv, out, result);
}

namespace {

/// Whether PyTorch's own loop over a matrix adds one column after the other to the result. It sums a single row.
bool adds_columns(const Tensor& matrix) {
  const int64_t rows = matrix.size(0), columns = matrix.size(1);
  return matrix.stride(0) == 1 && (columns == 1 || (rows > 1 && matrix.stride(1) >= rows));
}

/// addmv in that order, which decides the sign of a zero where alpha is 0: -0 stays if every product is -0.
Tensor added_columns(const Tensor& matrix, const Tensor& vector, const Start& start) {
  const auto times = [](const Tensor& tensor, const Arg& factor) {
    const Arg self(tensor);
    const Arg* const args[] = {&self, &factor};
    return run_elementwise(Op::mul, args, 2);
  };
  const Dims sizes{matrix.size(0)};
  Tensor result = is(start.beta, 1) ? run_clone(start.tensor.detach().expand(sizes), MemoryFormat::contiguous)
                                    : only_start(start, sizes, vector.dtype());
  const Tensor factors = times(vector.detach(), Arg(start.alpha));
  for (int64_t column = 0; column < matrix.size(1); ++column) {
    const Tensor product = times(matrix.detach().select(1, column), Arg(factors.select(0, column)));
    const Arg self(result), other(product);
    const Arg* const args[] = {&self, &other};
    run_inplace(Op::add, result, args, 2);
  }
  forget_writes(result);
  return result;
}

}  // namespace

Tensor plain::addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  check_addmv(mat, vec, self.sizes(), self.dtype());
  check_devices(mat, vec);
  check_devices(mat, self);
  const Dims sizes{mat.size(0)};
  const Dtype dtype = vec.dtype();
  if (mat.numel() == 0 && is_computed(mat)) {
    if (widened(dtype) == dtype) check_fits(beta, dtype);
    beta = dtype == bool_ ? Scalar(beta.as_bool()) : is_inexact(dtype) ? beta : Scalar(beta.as_int64());
    return only_start({self, beta, alpha}, sizes, dtype);
  }
  if (is_computed(mat)) {
    check_has_code(row_of(Op::addmv), dtype);
    check_fits(beta, dtype);
    check_fits(alpha, dtype);
  }
  const Start start{self, beta, alpha};
  if (is_complex(dtype) && is(alpha, 0) && is_computed(mat) && adds_columns(mat)) return added_columns(mat, vec, start);
  return added(multiplied(mat, vec, sizes), start, dtype, is_complex(dtype) ? Loops::own : Loops::blas);
}

Tensor& plain::addmv_out(Tensor& out, const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta,
                         Scalar alpha) {
  check_unrecorded(Op::addmv, out, self, mat, vec);
  check_addmv(mat, vec, self.sizes(), self.dtype());
  check_strict_out(out, vec.dtype());
  if (!is(beta, 0)) check_elements_apart(out, {mat.size(0)});
  const Tensor result = plain::addmv(self, mat, vec, beta, alpha);
  if (is(beta, 0) && mat.numel() == 0) return write_zeros(out, result);
  return write_result(Op::addmv, out, result, &self);
}

void plain::addmv_inplace(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  check_addmv(mat, vec, self.sizes(), self.dtype());
  check_inplace(self, {mat.size(0)}, vec.dtype());
  run_copy(self, plain::addmv(self, mat, vec, beta, alpha));
}

// --- Two vectors

Tensor plain::dot(const Tensor& self, const Tensor& tensor) {
  if (self.dim() == 1 && tensor.dim() == 1)
    if (Tensor small = small_product(self, tensor); small.defined()) return small;
  if (self.dim() != 1 || tensor.dim() != 1)
    throw Error("1D tensors expected, but got " + text(self.dim()) + "D and " + text(tensor.dim()) + "D tensors");
  if (self.dtype() != tensor.dtype())
    throw Error(std::string("dot : expected both vectors to have same dtype, but found ") +
                scalar_type_name(self.dtype()) + " and " + scalar_type_name(tensor.dtype()));
  if (self.numel() != tensor.numel())
    throw Error("inconsistent tensor size, expected tensor [" + text(self.numel()) + "] and src [" +
                text(tensor.numel()) + "] to have the same number of elements, but got " + text(self.numel()) +
                " and " + text(tensor.numel()) + " elements respectively");
  check_devices(self, tensor);
  if (is_computed(self)) check_has_code(row_of(Op::dot), self.dtype());
  return narrow_product(self, tensor, {});
}

Tensor plain::vdot(const Tensor& self, const Tensor& other) { return plain::dot(conj(self.detach()), other); }

namespace {

/// Resizes `out` before multiplying, as PyTorch does: if `out` is an operand, that has the new shape, too.
Tensor& write_dot(Op op, Tensor& out, const Tensor& self, const Tensor& other) {
  check_unrecorded(op, out, self, other);
  if (out.dtype() != self.dtype())
    throw Error(std::string("result dtype ") + scalar_type_name(out.dtype()) + " does not match input dtype " +
                scalar_type_name(self.dtype()));
  ResizedOutput resized(out, {}, {});
  const Tensor result = op == Op::vdot ? plain::vdot(self, other) : plain::dot(self, other);
  check_out_device(out, result.device());
  run_fill(out, result);
  resized.keep();
  return out;
}

}  // namespace

Tensor& plain::dot_out(Tensor& out, const Tensor& self, const Tensor& tensor) {
  return write_dot(Op::dot, out, self, tensor);
}
Tensor& plain::vdot_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return write_dot(Op::vdot, out, self, other);
}

}  // namespace tenon
