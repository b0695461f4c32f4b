#include "dispatch/reduce.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "dispatch/differentiate.h"
#include "dispatch/number.h"
#include "dispatch/traced_out.h"
#include "kernel/kernel.h"
#include "ops/block_name.h"
#include "plan/plan.h"
#include "tenon/factories.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "tile/reduce.h"
#include "tile/reduce_shape.h"
#include "tile/run.h"
#include "tile/scratch.h"
#include "tile/small.h"

namespace tenon {
namespace {

/// The dtypes of one reduction: elements are cast to `element`, folded in `accumulated`, stored as `result`.
struct Types {
  Dtype element, accumulated, result;
};

void check_mean(Dtype input, std::optional<Dtype> asked) {
  if (asked && !is_inexact(*asked)) fail_mean("mean", "Optional", *asked);
  if (!asked && !is_inexact(input)) fail_mean("mean", "Input", input);
}

bool is_sum_like(Op op) { return op == Op::sum || op == Op::mean || op == Op::prod; }
bool is_truth(Op op) { return row_of(op).promotion == Promotion::logical; }

/// A mean is floating: it goes into no other `out=`. PyTorch finds out when it divides, in the default dtype.
void check_mean_out(Dtype out) {
  if (!is_inexact(out)) check_can_cast(get_default_dtype(), out);
}
/// Where all dims are reduced, before anything else.
void check_whole_mean_out(Dtype input, Dtype out) {
  if (can_cast(input, out)) return;
  throw Error(std::string("mean.dtype_out(): input types can't be cast to the desired output type ") +
              scalar_type_name(out));
}

Types compute_types(Op op, Dtype input, std::optional<Dtype> asked) {
  const Dtype result = reduced_dtype(op, input, asked);
  if (is_truth(op)) return {bool_, bool_, result};
  if (finds_extremes(op)) return {result, result, result};
  // A sum rounds its elements to the dtype asked for first, a mean does not.
  return {op == Op::mean ? widened(result) : result, widened(result), result};
}

void check_not_empty(Op op, const Tensor& self, SizesView dims) {
  if (self.numel() != 0 || is_sum_like(op) || is_truth(op)) return;
  const std::string name = row_of(op).name;
  if (dims.empty())
    throw Error(name +
                "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                "'dim' argument.");
  for (int64_t dim : dims)
    if (self.size(dim) == 0)
      throw IndexError(name + "(): Expected reduction dim " + std::to_string(dim) + " to have non-zero size.");
}

/// Of a tensor that has elements.
int64_t count_reduced(const Tensor& self, SizesView mask) {
  int64_t count = 1;
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim]) count *= self.sizes()[dim];  // exact: at most the number of elements
  return count;
}

// Elements that are folded in a fraction of a second.
constexpr int64_t kUninterrupted = int64_t{1} << 28;

Reduction reduction_of(Op op, Dtype output, int64_t count) {
  return {op, op == Op::mean ? static_cast<double>(count) : 0, output};
}

// So many rows are added one after the other: other orders are more exact and faster for more. Bench: tenon_bench
// --filter '^tiny/sum' and ./dev bench --sweep, outer reductions.
constexpr int64_t kFewRows = 8, kFewColumns = 1024;

/// Whether contiguous rows are folded into one without a plan.
bool are_few_rows(const Tensor& self, int64_t rows, int64_t columns) {
  return rows > 1 && rows <= kFewRows && columns <= kFewColumns && self.is_contiguous();
}

/// Whether elements are contiguous rows of `numel` elements that need no plan.
bool are_rows(const Tensor& self, int64_t numel, int64_t longest) {
  return self.numel() <= kFewNumel && self.is_contiguous() && numel <= longest;
}
/// The number of elements of the dims from `first` on.
int64_t numel_from(const Tensor& self, int64_t first) {
  return numel_of({self.sizes().data() + first, self.dim() - first});  // exact: a part of the sizes
}

/// Folds rows without a plan, if the last dims are reduced and elements are cast at most once. False if the call needs
/// a plan.
bool fold_rows(Op op, const Types& types, const Tensor& out, const Tensor& self, SizesView mask) {
  const bool is_cast = types.accumulated != self.dtype();
  if (!out.is_contiguous() || (types.element != types.accumulated && types.element != self.dtype())) return false;
  int64_t first = 0;
  while (first < mask.size() && !mask[first]) ++first;
  for (int64_t dim = first; dim < mask.size(); ++dim)
    if (!mask[dim] && self.sizes()[dim] != 1) return false;
  const int64_t numel = numel_from(self, first);
  if (!are_rows(self, numel, is_cast ? kCastRowNumel : kRowNumel)) return false;
  const bool is_narrow =
      numel < kNarrowRow && numel < self.numel() && !folds_narrow_rows(op, self.dtype(), types.accumulated);
  if (is_cast && is_narrow) return false;
  if (CourseRecord::now()) [[unlikely]] {
    Course course{.route = "few", .stores = "in place", .parts = 1};
    course.accesses.push_back(is_narrow ? AccessPattern::gather : AccessPattern::direct);
    const bool as_it_lies = folds_of(op, self.dtype(), types.accumulated).along != nullptr;
    if (!as_it_lies) course.kernels.push_back({"cast", types.accumulated});
    course.kernels.push_back({block_name(formula_of(op)), as_it_lies ? self.dtype() : types.accumulated});
    note_course(std::move(course));
    if (out.is_meta()) return true;
  }
  fold_contiguous_rows(reduction_of(op, out.dtype(), numel), self.dtype(), types.accumulated, out.data_ptr(),
                       self.data_ptr(), numel, out.numel());
  return true;
}

/// Folds few rows without a plan, if the first dims are reduced and nothing is cast. False if the call needs a plan.
bool fold_first_dims(Op op, const Types& types, const Tensor& out, const Tensor& self, SizesView mask) {
  const Dtype dtype = self.dtype();
  if (types.element != dtype || types.accumulated != dtype || out.dtype() != dtype || !out.is_contiguous())
    return false;
  int64_t count = 0;
  while (count < mask.size() && (mask[count] || self.sizes()[count] == 1)) ++count;
  for (int64_t dim = count; dim < mask.size(); ++dim)
    if (mask[dim] && self.sizes()[dim] != 1) return false;
  const int64_t columns = numel_from(self, count), rows = self.numel() / columns;
  if (!are_few_rows(self, rows, columns)) return false;
  if (CourseRecord::now()) [[unlikely]] {
    Course course{.route = "few", .stores = "in place", .parts = 1};
    course.accesses.push_back(AccessPattern::direct);
    course.kernels.push_back({block_name(formula_of(op)), dtype});
    note_course(std::move(course));
    if (out.is_meta()) return true;
  }
  fold_few_rows(reduction_of(op, dtype, rows), out.data_ptr(), self.data_ptr(), rows, columns);
  return true;
}

/// Folds contiguous blocks without a plan, if dims that follow each other before the last ones are reduced and elements
/// are cast at most once. False if the call needs a plan.
bool fold_middle_dims(Op op, const Types& types, const Tensor& out, const Tensor& self, SizesView mask) {
  if (types.element != types.accumulated && types.element != self.dtype()) return false;
  if (CourseRecord::now() || out.is_meta() || !out.is_contiguous()) return false;
  int64_t first = 0;
  while (first < mask.size() && !mask[first]) ++first;
  int64_t end = first;
  while (end < mask.size() && mask[end]) ++end;
  for (int64_t dim = end; dim < mask.size(); ++dim)
    if (mask[dim]) return false;
  const int64_t numel = numel_from(self, first), columns = numel_from(self, end), blocks = self.numel() / numel;
  if (columns == 1 || numel == columns || !are_rows(self, numel, kFewNumel)) return false;
  return fold_contiguous_blocks(reduction_of(op, out.dtype(), numel / columns), self.dtype(), types.accumulated,
                                out.data_ptr(), self.data_ptr(), columns, numel / columns, blocks);
}

// Elements of several groups of reduced dims that are folded without a plan. Bench: ./dev bench --sweep, several dims.
constexpr int64_t kFewOfGroups = 1 << 14;

/// Whether kept dims lie between reduced ones.
bool has_several_groups(const Tensor& self, SizesView mask) {
  int64_t groups = 0;
  bool is_in_group = false;
  for (int64_t dim = 0; dim < mask.size(); ++dim) {
    if (self.sizes()[dim] == 1) continue;
    if (mask[dim] && !is_in_group) ++groups;
    is_in_group = mask[dim] != 0;
  }
  return groups > 1;
}

/// The dims of contiguous elements, merged to groups that are reduced and groups that are kept in turn. The first group
/// is kept; it may have one element.
SmallVector<int64_t, 8> groups_of(const Tensor& self, SizesView mask) {
  SmallVector<int64_t, 8> groups;
  groups.push_back(1);
  for (int64_t dim = 0; dim < mask.size(); ++dim) {
    const int64_t size = self.sizes()[dim];
    const bool is_kept = mask[dim] == 0, extends_kept = groups.size() % 2 == 1;
    if (size == 1) continue;
    if (is_kept == extends_kept)
      groups.back() *= size;  // exact: a part of the elements
    else
      groups.push_back(size);
  }
  return groups;
}

/// Folds one of the reduced groups: the outermost one, row by row, so that all that lies inside it is folded in
/// vectors; or the innermost one, if that is not possible. False if neither is.
bool fold_one_group(const Reduction& reduction, Dtype from, Dtype accumulated, void* out, const void* in,
                    SmallVector<int64_t, 8>& groups) {
  const int64_t count = groups.size(), rows = groups[1];
  int64_t columns = 1, numel = groups[0];
  for (int64_t i = 1; i < count; ++i) numel *= groups[i];    // exact: at most kFewOfGroups
  for (int64_t i = 2; i < count; ++i) columns *= groups[i];  // exact: a part of them
  if (columns > 1 && fold_contiguous_blocks(reduction, from, accumulated, out, in, columns, rows, groups[0])) {
    groups[0] *= count > 2 ? groups[2] : 1;
    for (int64_t i = 3; i < count; ++i) groups[i - 2] = groups[i];
    groups.resize(std::max<int64_t>(count - 2, 1));
    return true;
  }
  if (count > 3 && count % 2 == 1) {
    const int64_t last = groups[count - 1], inner = groups[count - 2];
    if (!fold_contiguous_blocks(reduction, from, accumulated, out, in, last, inner, numel / (inner * last)))
      return false;
    groups[count - 3] *= last;
    groups.resize(count - 2);
    return true;
  }
  const int64_t run = groups.back();
  const bool is_cast = from != accumulated;
  if (count % 2 == 1 || run > (is_cast ? kCastRowNumel : kRowNumel)) return false;
  if (is_cast && run < kNarrowRow && !folds_narrow_rows(reduction.op, from, accumulated)) return false;
  fold_contiguous_rows(reduction, from, accumulated, out, in, run, numel / run);
  groups.resize(count - 1);
  return true;
}

/// Folds few contiguous elements without a plan, if several groups of dims are reduced and elements are cast at most
/// once: group after group. False if the call needs a plan.
[[gnu::noinline]] bool fold_several_groups(Op op, const Types& types, const Tensor& out, const Tensor& self,
                                           SizesView mask) {
  if (types.element != types.accumulated && types.element != self.dtype()) return false;
  if (CourseRecord::now() || out.is_meta() || !out.is_contiguous()) return false;
  if (!self.is_contiguous() || self.numel() > kFewOfGroups) return false;
  SmallVector<int64_t, 8> groups = groups_of(self, mask);
  const Reduction part{op, 0, types.accumulated}, last = reduction_of(op, out.dtype(), self.numel() / out.numel());
  Scratch partial(self.numel() * itemsize(types.accumulated));  // exact: at most kFewOfGroups elements
  const void* in = self.data_ptr();
  Dtype from = self.dtype();
  std::byte* to = partial.data();
  while (groups.size() > 1) {
    const bool is_last = groups.size() <= 3;
    if (!fold_one_group(is_last ? last : part, from, types.accumulated, is_last ? out.data_ptr() : to, in, groups))
      return false;
    int64_t left = 1;
    for (const int64_t size : groups) left *= size;  // exact: a part of them
    in = to;
    to += left * itemsize(types.accumulated);  // exact: each stage leaves at most half as many
    from = types.accumulated;
  }
  return true;
}

/// Whether elements are results of their own, because all reduced dims have size 1, but for their dtype and for what
/// `adds_zero` tells.
bool keeps_single(Op op, const Tensor& out, const Tensor& self) {
  const bool keeps = is_sum_like(op) || op == Op::amax || op == Op::amin;
  return keeps && out.numel() == self.numel();
}
/// Sums add 0 to single elements, which makes -0 positive.
bool adds_zero(Op op, Dtype accumulated) { return op != Op::prod && is_sum_like(op) && is_inexact(accumulated); }

/// Few contiguous elements of one dtype that are results of their own, without a plan. False if the call needs one.
bool copy_few_single(Op op, const Types& types, const Tensor& out, const Tensor& self) {
  const Dtype dtype = self.dtype();
  if (!keeps_single(op, out, self) || types.element != dtype || types.accumulated != dtype || out.dtype() != dtype)
    return false;
  if (self.numel() > kFewNumel || !self.is_contiguous() || !out.is_contiguous()) return false;
  if (CourseRecord::now() || out.is_meta()) return false;
  if (adds_zero(op, dtype)) {
    constexpr Complex128 kZero{};
    const Lanes terms[] = {{self.data_ptr(), 1}, {&kZero, 0}};
    kernel_of(Op::add, dtype)(out.data_ptr(), terms, self.numel());
  } else {
    std::memmove(out.data_ptr(), self.data_ptr(), static_cast<std::size_t>(self.nbytes()));
  }
  return true;
}
/// Casts elements that are results of their own. False if the op does more.
bool cast_single(Op op, const Types& types, const Tensor& out, const Tensor& self, SizesView strides) {
  if (!keeps_single(op, out, self)) return false;
  const bool adds = adds_zero(op, types.accumulated);
  const StridedView strided[] = {{self.sizes(), strides}, {self.sizes(), self.strides()}, {{}, {}}};
  Plan plan;
  make_plan(self.sizes(), strided, adds ? 3 : 2, plan, 1,
            FairRuns::of_calls(std::min(out.itemsize(), self.itemsize())));
  Program program;
  const int given = program.input(self.dtype()), zero = adds ? program.input(types.accumulated) : -1;
  int result = program.cast(program.cast(given, types.element), types.accumulated);
  const int terms[] = {result, zero};
  if (adds) result = program.op(Op::add, types.accumulated, types.accumulated, 2, terms);
  if (program.cast(result, out.dtype()) == given) program.copy(given);
  void* const to = out.data_ptr();
  constexpr Complex128 kZero{};
  const void* const inputs[] = {self.data_ptr(), &kZero};
  run(plan, program, &to, inputs);
  return true;
}

/// The dims of elements that fill memory, outermost first; none if they leave gaps, or lie in order.
Dims order_in_memory(const Tensor& self) {
  if (self.is_contiguous()) return {};
  Dims order;
  for (int64_t dim = 0; dim < self.dim(); ++dim) order.push_back(dim);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return self.stride(a) > self.stride(b); });
  return self.permute(order).is_contiguous() ? order : Dims();
}
/// Whether, innermost first, the dims are a short kept one and another kept one: rows of results would be as short.
bool are_rows_short(const Tensor& self, SizesView mask, SizesView order) {
  constexpr int64_t kShortRow = 16;
  Dims inner;
  for (int64_t i = order.size() - 1; i >= 0 && inner.size() < 2; --i) {
    if (self.size(order[i]) == 1) continue;
    if (mask[order[i]]) return false;
    inner.push_back(self.size(order[i]));
  }
  return inner.size() == 2 && inner[0] < kShortRow && inner[0] < inner[1];
}

void fold_elements(Op op, const Types& types, Tensor& out, const Tensor& self, SizesView mask, bool keepdim);

/// Copies results to where they belong, `to`, whose elements lie in `strides`.
void bring(const Tensor& results, SizesView result_strides, const Tensor& to, SizesView sizes, SizesView strides) {
  const StridedView strided[] = {{sizes, strides}, {sizes, result_strides}};
  Plan plan;
  make_plan(sizes, strided, 2, plan, 1, FairRuns::of_copies(to.itemsize()));
  Program program;
  program.copy(program.input(to.dtype()));
  void* const out = to.data_ptr();
  const void* const from = results.data_ptr();
  run(plan, program, &out, &from);
}

/// Folds elements in their order in memory, if rows of results were short otherwise, and brings the results, which are
/// few, to theirs. False if the call needs a plan at once.
bool fold_in_memory_order(Op op, const Types& types, Tensor& out, const Tensor& self, SizesView mask, bool keepdim) {
  constexpr int64_t kMostBytes = 1 << 20;
  if (CourseRecord::now() || out.is_meta() || out.nbytes() > kMostBytes || out.numel() == self.numel()) return false;
  const Dims order = order_in_memory(self);
  if (order.empty() || !are_rows_short(self, mask, order)) return false;
  Dims ordered_mask, sizes, strides;
  const Dims out_strides = spread_strides(out.strides(), mask, keepdim);
  for (const int64_t dim : order) {
    ordered_mask.push_back(mask[dim]);
    sizes.push_back(mask[dim] ? 1 : self.size(dim));
    strides.push_back(out_strides[dim]);
  }
  Tensor results = new_tensor(sizes, out.dtype(), out.device());
  fold_elements(op, types, results, self.permute(order), ordered_mask, true);
  bring(results, results.strides(), out, sizes, strides);
  return true;
}

/// Whether, of the kept dims, the innermost one of the elements lies outside another one in the results.
bool lies_across(const Tensor& self, SizesView mask, SizesView out_strides) {
  int64_t innermost = -1;
  const auto is_kept = [&](int64_t dim) { return mask[dim] == 0 && self.sizes()[dim] > 1 && self.stride(dim) != 0; };
  for (int64_t dim = 0; dim < self.dim(); ++dim)
    if (is_kept(dim) && (innermost < 0 || self.stride(dim) <= self.stride(innermost))) innermost = dim;
  if (innermost < 0) return false;
  for (int64_t dim = 0; dim < self.dim(); ++dim)
    if (is_kept(dim) && out_strides[dim] < out_strides[innermost]) return true;
  return false;
}
/// Folds into memory in the elements' order, from where results go across. Single results would be written far apart.
/// False if results lie in order, or are many.
bool fold_across(Op op, const Types& types, const Tensor& out, const Tensor& self, SizesView mask, bool keepdim) {
  constexpr int64_t kMostBytes = 1 << 24;
  if (CourseRecord::now() || out.is_meta() || out.is_contiguous() || out.nbytes() > kMostBytes) return false;
  if (out.numel() == self.numel()) return false;
  const Dims strides = spread_strides(out.strides(), mask, keepdim);
  if (!lies_across(self, mask, strides)) return false;
  const Dims shape = reduced_shape(self.sizes(), mask, true);
  Tensor results = new_tensor(shape, out.dtype(), out.device());
  fold_elements(op, types, results, self, mask, true);
  bring(results, results.strides(), out, shape, strides);
  return true;
}

/// A reduction of elements that are repeated (stride 0), as one of fewer elements.
struct Once {
  Tensor self;
  int64_t times = 1;  // the sum is multiplied by
};
/// Repeated results are computed once. Repeated elements do not change an extreme, a mean or a truth; they multiply a
/// sum. Undefined if nothing is repeated.
Once without_repetition(Op op, const Tensor& self, SizesView mask) {
  Once once;
  Dims sizes = self.sizes().copy();
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (self.stride(dim) != 0 || sizes[dim] == 1 || (mask[dim] && op == Op::prod)) continue;
    if (mask[dim] && op == Op::sum) once.times *= sizes[dim];  // exact: a part of the number of elements
    sizes[dim] = 1;
  }
  if (self.sizes() != sizes) once.self = new_alias(self, sizes, self.strides(), self.storage_offset(), self.dtype());
  return once;
}
/// Multiplies sums where they are, without a new version of them.
void multiply_sums(Kernel kernel, const Tensor& sums, int64_t times) {
  Number factor;
  store_number(times, sums.dtype(), factor.bytes);
  std::byte* const data = sums.impl()->data();
  const Lanes in[] = {{data, 1}, {factor.bytes, 0}};
  kernel(data, in, sums.numel());
}
/// Folds what is repeated once. False if the call needs a plan at once.
bool fold_repeated(Op op, const Types& types, Tensor& out, const Tensor& self, SizesView mask, bool keepdim) {
  if (self.is_contiguous() || CourseRecord::now() || out.is_meta()) return false;
  const auto [once, times] = without_repetition(op, self, mask);
  if (!once.defined()) return false;
  const bool repeats_results = out.numel() != numel_of(reduced_shape(once.sizes(), mask, true));
  const Kernel multiply = kernel_of(Op::mul, out.dtype());
  if (types.accumulated == out.dtype() && out.is_contiguous() && out.numel() <= kFewNumel && !repeats_results &&
      multiply) {
    fold_elements(op, types, out, once, mask, keepdim);
    if (times > 1) multiply_sums(multiply, out, times);
    return true;
  }
  Types part = types;
  if (times > 1) part.result = types.accumulated;
  Tensor results =
      new_tensor(reduced_shape(once.sizes(), mask, true), times > 1 ? part.result : out.dtype(), out.device());
  fold_elements(op, part, results, once, mask, true);
  const Dims shape = reduced_shape(self.sizes(), mask, true),
             out_strides = spread_strides(out.strides(), mask, keepdim);
  Dims strides;
  for (int64_t dim = 0; dim < shape.size(); ++dim)
    strides.push_back(results.sizes()[dim] == 1 ? 0 : results.stride(dim));
  if (times == 1) return bring(results, strides, out, shape, out_strides), true;
  const Tensor factor = full({}, times, Options(results.dtype(), results.device()));
  const StridedView strided[] = {{shape, out_strides}, {shape, strides}, {{}, {}}};
  Plan plan;
  make_plan(shape, strided, 3, plan, 1, FairRuns::of_calls(out.itemsize()));
  Program program;
  const Dtype dtype = results.dtype();
  const int factors[] = {program.input(dtype), program.input(dtype)};
  program.cast(program.op(Op::mul, dtype, dtype, 2, factors), out.dtype());
  void* const to = out.data_ptr();
  const void* const inputs[] = {results.data_ptr(), factor.data_ptr()};
  run(plan, program, &to, inputs);
  return true;
}

/// Complex numbers as real parts and imaginary parts along a new last dim.
Tensor parts_of(const Tensor& self) {
  Dims sizes = self.sizes().copy(), strides;
  for (const int64_t stride : self.strides()) strides.push_back(2 * stride);  // exact: in the storage
  sizes.push_back(2);
  strides.push_back(1);
  return new_alias(self, sizes, strides, 2 * self.storage_offset(), to_real(self.dtype()));  // exact: in the storage
}
/// Sums many complex numbers by their parts: real kernels read memory faster. False for other ops, and for few.
bool add_parts(Op op, const Types& types, const Tensor& out, const Tensor& self, SizesView mask, bool keepdim) {
  const Dtype dtype = self.dtype();
  if (!is_complex(dtype) || (op != Op::sum && op != Op::mean) || self.numel() <= kFewNumel) return false;
  if (types.element != dtype || types.accumulated != dtype || out.dtype() != dtype) return false;
  const Dtype real = to_real(dtype);
  Dims parts_mask = mask.copy();
  parts_mask.push_back(0);
  // The order of additions does not depend on where the results go.
  const Tensor results = out.is_contiguous() ? out : new_tensor(out.sizes(), dtype, out.device());
  Tensor out_parts = parts_of(results);
  fold_elements(op, {real, real, real}, out_parts, parts_of(self), parts_mask, keepdim);
  if (!out.is_contiguous() && !out.is_meta()) bring(results, results.strides(), out, out.sizes(), out.strides());
  return true;
}

/// Of a result; what is not zero is asked of any dtype.
void check_dtype(Op op, Dtype result) {
  if (!is_truth(op)) check_has_code(row_of(op), result);
}

Scalar empty_mean(Dtype dtype) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return is_complex(dtype) ? Scalar(Complex128{kNan, kNan}) : Scalar(kNan);
}

/// Folds at least one element, after all checks and warnings.
void fold_elements(Op op, const Types& types, Tensor& out, const Tensor& self, SizesView mask, bool keepdim) {
  // If nothing is folded, elements are cast: bytes of bool may have any value.
  const bool folds = self.numel() != out.numel();
  if (folds && is_truth(op) && itemsize(self.dtype()) == 1 && self.dtype() != bool_)
    return fold_elements(op, types, out, with_bytes_of(self, bool_), mask, keepdim);
  if (!folds && self.dtype() == bool_ && types.element == bool_)
    return fold_elements(op, types, out, with_bytes_of(self, uint8), mask, keepdim);
  if (!folds && copy_few_single(op, types, out, self)) return;
  if (fold_rows(op, types, out, self, mask) || fold_first_dims(op, types, out, self, mask) ||
      fold_middle_dims(op, types, out, self, mask) ||
      (has_several_groups(self, mask) && fold_several_groups(op, types, out, self, mask)))
    return;
  if (add_parts(op, types, out, self, mask, keepdim) || fold_repeated(op, types, out, self, mask, keepdim) ||
      fold_in_memory_order(op, types, out, self, mask, keepdim) || fold_across(op, types, out, self, mask, keepdim))
    return;
  const Dims strides = spread_strides(out.strides(), mask, keepdim);
  if (cast_single(op, types, out, self, strides)) return;
  const StridedView strided[] = {{self.sizes(), strides}, {self.sizes(), self.strides()}};
  Plan plan;
  make_reduction_plan(self.sizes(), strided, 2, plan);
  Program program;
  program.cast(program.cast(program.input(self.dtype()), types.element), types.accumulated);
  const void* input = self.data_ptr();
  run_reduction(plan, program, reduction_of(op, out.dtype(), count_reduced(self, mask)), out.data_ptr(), &input);
}

/// Whether elements are brought together sooner than a plan is made for them as they lie. Repeated ones are folded
/// once. Bench: ./dev bench --sweep, permuted and strided reductions.
bool is_small_view(const Tensor& self) {
  if (self.is_contiguous() || self.is_meta() || CourseRecord::now()) return false;
  if (self.numel() == 0 || self.numel() > kSmallBytes / self.itemsize()) return false;
  return std::find(self.strides().begin(), self.strides().end(), 0) == self.strides().end();
}

void compute(Op op, const Types& types, Tensor& out, const Tensor& self, SizesView mask, bool keepdim) {
  if (has_no_work(out.numel(), out.data_ptr())) return;
  if (self.numel() == 0) {
    if (op == Op::mean)
      write_fill(out, empty_mean(out.dtype()));
    else
      write_fill(out, op == Op::all || op == Op::prod ? 1 : 0);
    return;
  }
  check_dtype(op, types.result);
  // Truths into uint8 PyTorch asks of the elements as uint8.
  warn_of_lost_parts(self.dtype(), is_truth(op) ? out.dtype() : types.element, self.numel());
  if (is_small_view(self))
    return fold_elements(op, types, out, run_clone(self, MemoryFormat::contiguous), mask, keepdim);
  fold_elements(op, types, out, self, mask, keepdim);
}

void check_out_dtype(Op op, Dtype result, Dtype out, bool asked) {
  if (is_sum_like(op)) {
    if (asked && result != out)
      throw Error(std::string("Expected out tensor to have dtype ") + cpp_type_name(result) + ", but got " +
                  cpp_type_name(out) + " instead");
    return;
  }
  if (is_truth(op)) {
    if (out != bool_ && out != uint8)
      throw Error(std::string(row_of(op).name) +
                  " only supports bool tensor for result, got: " + scalar_type_name(out));
    return;
  }
  if (result != out)
    throw Error(std::string("Expected the dtype for input and out to match, but got ") + scalar_type_name(result) +
                " for input's dtype and " + scalar_type_name(out) + " for out's dtype.");
}

/// What comes before the dtypes are known. `follows_out`: `out` says the dtype, the call does not.
void check_target(Op op, const Tensor& out, const Tensor& self, SizesView dims, bool follows_out) {
  if (is_sum_like(op)) reduced_mask(dims, self.dim());
  if (op == Op::mean && follows_out) check_mean_out(out.dtype());
}

/// What a call comes to.
struct Resolved {
  Types types;
  Dims mask, shape;
};

/// The checks of every form, in PyTorch's order; that a dtype has code is asked where there are elements. `out`: what
/// is written to; null where the result is new.
Resolved resolve(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype,
                 const Tensor* out = nullptr) {
  if (op == Op::mean && out && dims.data() == nullptr && !keepdim) check_whole_mean_out(self.dtype(), out->dtype());
  if (op == Op::mean) check_mean(self.dtype(), dtype);
  const bool follows_out = out && !dtype && is_sum_like(op);
  if (out) check_target(op, *out, self, dims, follows_out);
  const Types types = compute_types(op, self.dtype(), follows_out ? std::optional(out->dtype()) : dtype);
  if (out) check_out_dtype(op, types.result, out->dtype(), dtype.has_value());
  check_not_empty(op, self, dims);
  Resolved resolved{.types = types, .mask = reduced_mask(dims, self.dim()), .shape = {}};
  if (out) check_out_device(*out, self.device());
  resolved.shape = reduced_shape(self.sizes(), resolved.mask, keepdim);
  if (out && out->sizes() == resolved.shape) check_no_internal_overlap(*out);
  return resolved;
}

/// The dims to reduce, one bit each; 0 if one of them does not exist.
uint64_t reduced_bits(SizesView dims, int64_t ndim) {
  if (dims.empty()) return (uint64_t{1} << ndim) - 1;
  uint64_t bits = 0;
  for (const int64_t dim : dims) {
    if (dim < -ndim || dim >= ndim) return 0;
    bits |= uint64_t{1} << (dim < 0 ? dim + ndim : dim);  // exact: below the number of dims
  }
  return bits;
}

/// The shape after the dims from `first` to `end` are reduced.
Dims shape_without(const Tensor& self, int64_t first, int64_t end, bool keepdim) {
  Dims shape;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    const bool is_reduced = dim >= first && dim < end;
    if (!is_reduced || keepdim) shape.push_back(is_reduced ? 1 : self.sizes()[dim]);
  }
  return shape;
}

/// Whether elements are folded in their dtype, without casts, and nobody asks how.
bool folds_plainly(Op op, Dtype dtype) {
  const Row& row = row_of(op);
  const bool is_plain = widened(dtype) == dtype && reduced_dtype(op, dtype, {}) == dtype;
  return is_plain && (!is_truth(op) || dtype == bool_) && (row.dtypes & set_of(dtype)) != 0 && !CourseRecord::now();
}

/// The fast path: contiguous elements, of which dims that follow each other are reduced without a cast. Undefined if
/// the call needs the general path. Bench: tenon_bench --filter '^tiny/sum' and ./dev bench --sweep, middle reductions.
Tensor few_result(Op op, const Tensor& self, SizesView dims, bool keepdim) {
  const Dtype dtype = self.dtype();
  const int64_t ndim = self.dim(), count = dims.empty() ? ndim : dims.size();
  if (self.numel() == 0 || self.is_meta() || count > ndim || ndim > 63) return {};
  const uint64_t bits = reduced_bits(dims, ndim);
  const int64_t first = bits == 0 ? 0 : std::countr_zero(bits), end = first + count;
  if (bits >> first != (uint64_t{1} << count) - 1) return {};
  const int64_t numel = numel_from(self, first), columns = end == ndim ? 1 : numel_from(self, end);
  const int64_t rows = numel / columns;
  if (rows == 1 && dtype == bool_) return {};  // nothing is folded, and bytes of bool may have any value
  const auto new_result = [&] { return new_tensor(shape_without(self, first, end, keepdim), dtype); };
  if (columns == 1) {
    if (!are_rows(self, numel, kRowNumel) || !folds_plainly(op, dtype)) return {};
    Tensor out = new_result();
    fold_contiguous_rows(reduction_of(op, dtype, numel), dtype, dtype, out.impl()->data(), self.impl()->data(), numel,
                         out.numel());
    return out;
  }
  const Reduction reduction = reduction_of(op, dtype, rows);
  if (numel == self.numel() && are_few_rows(self, rows, columns)) {
    if (!folds_plainly(op, dtype)) return {};
    Tensor out = new_result();
    fold_few_rows(reduction, out.impl()->data(), self.impl()->data(), rows, columns);
    return out;
  }
  if (rows == 1 || !are_rows(self, numel, kFewNumel) || !folds_plainly(op, dtype)) return {};
  if (!folds_of(op, dtype, dtype).blocks || !fits_in_block(columns, rows, true)) return {};
  Tensor out = new_result();
  const bool folded = fold_contiguous_blocks(reduction, dtype, dtype, out.impl()->data(), self.impl()->data(), columns,
                                             rows, self.numel() / numel);
  return folded ? out : Tensor();
}

}  // namespace

Dtype reduced_dtype(Op op, Dtype input, std::optional<Dtype> asked) {
  const Promotion promotion = row_of(op).promotion;
  if (asked) return *asked;
  if (promotion == Promotion::sum && !is_inexact(input)) return int64;
  if (promotion == Promotion::int_to_float && !is_inexact(input)) return get_default_dtype();
  if (is_truth(op)) return input == uint8 ? uint8 : bool_;
  return input;
}

FoldedElements folded_elements(Op op, const Tensor& self, SizesView mask, std::optional<Dtype> dtype) {
  const Types types = compute_types(op, self.dtype(), dtype);
  return {types.element, types.accumulated, reduction_of(op, types.result, count_reduced(self, mask))};
}

Tensor with_bytes_of(const Tensor& self, Dtype dtype) {
  return new_alias(self, self.sizes(), self.strides(), self.storage_offset(), dtype);
}

void fail_mean(const char* name, const char* which, Dtype dtype) {
  throw Error(std::string(name) + "(): could not infer output dtype. " + which +
              " dtype must be either a floating point or complex dtype. Got: " + scalar_type_name(dtype));
}

Dims spread_strides(SizesView strides, SizesView mask, bool keepdim) {
  Dims spread;
  int64_t at = 0;
  for (int64_t reduced : mask) {
    spread.push_back(reduced ? 0 : strides[at]);
    if (!reduced || keepdim) ++at;
  }
  return spread;
}

Tensor reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  if (has_observer(self)) [[unlikely]]
    return with_history().reduce(op, self, dims, keepdim, dtype);
  return run_reduce(op, self, dims, keepdim, dtype);
}

Tensor run_reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  if (!dtype)
    if (Tensor out = few_result(op, self, dims, keepdim); out.defined()) return out;
  if (is_small_view(self)) return run_reduce(op, run_clone(self, MemoryFormat::contiguous), dims, keepdim, dtype);
  const Resolved resolved = resolve(op, self, dims, keepdim, dtype);
  Tensor out = new_tensor(resolved.shape, resolved.types.result, self.device());
  compute(op, resolved.types, out, self, resolved.mask, keepdim);
  return out;
}

Tensor& reduce_out(Op op, Tensor& out, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  const Arg operand(self);
  const Arg* const args[] = {&operand};
  if (out.impl()->in_graph || in_graph(args, 1)) [[unlikely]] {
    if (is_traced(out, args, 1)) {
      const Tensor result = with_history().reduce(op, self, dims, keepdim, dtype);
      if (result.dtype() == out.dtype()) return write_traced(op, out, result);  // else it would decide how to add
    }
    check_out_unrecorded(op, out, args, 1);
  }
  const auto [types, mask, shape] = resolve(op, self, dims, keepdim, dtype, &out);
  const Dims strides = contiguous_strides(shape);
  // What takes long can be interrupted while the result is nobody's.
  const bool is_long = thread_interrupt_source && self.numel() > kUninterrupted;
  if (!out.is_meta() && (is_long || share_memory(out, self))) {
    // The input is read before the output is resized: they may be one tensor.
    Tensor result = new_tensor(shape, types.result);
    compute(op, types, result, self, mask, keepdim);
    ResizedOutput resized(out, shape, strides);
    run_copy(out, result);
    resized.keep();
    return out;
  }
  const Uninterrupted whole;
  ResizedOutput resized(out, shape, strides);
  compute(op, types, out, self, mask, keepdim);
  resized.keep();
  bump_version(out);
  return out;
}

}  // namespace tenon
