// dispatch: scatter_reduce and index_reduce. Takes a tensor, an index and elements; joins the elements with those at
// the places that the index selects along one dim. Checks, their order and texts are PyTorch's
// (aten/src/ATen/native/TensorAdvancedIndexing.cpp).
#include <limits>
#include <string>

#include "dispatch/by_index.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "type/visit.h"

namespace tenon {
using namespace by_index;

// --- scatter_reduce

namespace {

struct Reduction {
  Join join;
  bool is_mean;
  const char* kernel;  // in PyTorch's error for a dtype without code
};
Reduction reduction_of(const char* reduce) {
  const std::string name = reduce;
  if (name == "sum") return {Join::add, false, "scatter_gather_tensor_cpu"};
  if (name == "prod") return {Join::multiply, false, "scatter_gather_tensor_cpu"};
  if (name == "mean") return {Join::add, true, "scatter_gather_tensor_cpu_reduce_mean"};
  // PyTorch takes the shorter words, too, which its error does not list.
  if (name == "amax" || name == "max") return {Join::largest, false, "scatter_gather_tensor_cpu_reduce_amax"};
  if (name == "amin" || name == "min") return {Join::smallest, false, "scatter_gather_tensor_cpu_reduce_amin"};
  throw Error("reduce argument must be either sum, prod, mean, amax or amin, got " + name);
}

void check_reduces(const Reduction& how, Dtype dtype, bool include_self) {
  const bool is_extreme = how.join == Join::largest || how.join == Join::smallest;
  if (is_wide_unsigned(dtype) && !include_self) fail_no_code("scatter_reduce_exclude_input_init", dtype);
  if (is_wide_unsigned(dtype) || (is_extreme && is_complex(dtype)) || (how.is_mean && dtype == bool_))
    fail_no_code(how.kernel, dtype);
}

/// What a reduction of no elements gives.
Scalar start_of(Join join, Dtype dtype) {
  if (join == Join::add || join == Join::multiply) return join == Join::add ? 0 : 1;
  const bool largest = join == Join::largest;
  if (dtype == bool_) return !largest;
  return visit_dtype(dtype, [&]<class T>() -> Scalar {
    if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(largest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
    else
      return largest ? -kInfinity : kInfinity;
  });
}

/// Divides sums by how many elements were added.
void divide_by_counts(const Tensor& self, int64_t dim, const Tensor& index, bool include_self) {
  const Options like(self.dtype());
  Tensor counts = include_self ? ones(self.sizes(), like) : zeros(self.sizes(), like);
  counts.scatter_add_(dim, index, ones(index.sizes(), like));
  if (!include_self) counts.masked_fill_(counts == 0, 1);
  Tensor sums = self.detach();
  is_inexact(self.dtype()) ? sums.div_(counts) : sums.div_(counts, "floor");
}

void write_reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Reduction& how,
                   bool include_self) {
  if (include_self || is_wide_unsigned(self.dtype())) check_reduces(how, self.dtype(), include_self);
  check_readable(src);
  const Tensor places = apart(self, as_places(index));
  const ByteView of_index(places);
  const int64_t size = size_along(self, dim);
  if (of_index.data && is_any_outside(of_index, size)) fail_first_place(of_index, dim, size);
  check_reduces(how, self.dtype(), include_self);  // PyTorch's after the check of the places, if it writes there first
  const Tensor elements = include_self ? src : apart(self, src);  // before places are reset
  write_counted(self, dim, places, true, [&](const Tensor& to, const Tensor& at) {
    const ByteView of_places(at);
    if (!include_self)
      write_elements(to, dim, of_places, as_element(start_of(how.join, to.dtype()), to.dtype()), Join::replace);
    write_elements(to, dim, of_places, elements, how.join);
  });
  if (how.is_mean && !self.is_meta()) divide_by_counts(self, dim, index, include_self);
}
void reduce_checked(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Reduction& how,
                    bool include_self) {
  if (index.numel() == 0 && how.is_mean && is_computed(self)) {  // PyTorch divides by the counts all the same
    if (is_wide_unsigned(self.dtype())) fail_no_code("masked_fill", self.dtype());
    if (self.dtype() == bool_) fail_no_code("div_floor_cpu", bool_);
  }
  if (index.numel() == 0 || !is_computed(self)) return bump_version(self);
  write_reduced(self, dim, index, src, how, include_self);
}

}  // namespace

Tensor plain::scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                             const char* reduce, bool include_self) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, &src);
  const Reduction how = reduction_of(reduce);
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  reduce_checked(result, along, index, src, how, include_self);
  forget_writes(result);
  return result;
}
void plain::scatter_reduce_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                   const char* reduce, bool include_self) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, &src);
  check_no_overlaps(self, index, &src);
  const Reduction how = reduction_of(reduce);
  if (!how.is_mean || !is_computed(self)) return reduce_checked(self, along, index, src, how, include_self);
  // Sums are divided by counts apart, because memory may run out between the two.
  const Tensor changed = run_clone(self, MemoryFormat::preserve);
  reduce_checked(changed, along, index, src, how, include_self);
  run_copy(self, changed);
}
Tensor& plain::scatter_reduce_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                  const char* reduce, bool include_self) {
  check_unrecorded(Op::scatter_reduce, out, self, src);
  check_scatter(self, wrap_dim(dim, self.dim()), index, &src);
  check_no_overlaps(out, index, &src);
  check_strict_out(out, self.dtype());
  return write_result(Op::scatter_reduce, out, plain::scatter_reduce(self, dim, index, src, reduce, include_self));
}

// --- index_reduce

namespace {

Reduction index_reduction_of(const char* reduce) {
  const std::string name = reduce;
  if (name == "sum" || (name != "prod" && name != "mean" && name != "amax" && name != "amin"))
    throw Error("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got " + name + ".");
  return reduction_of(reduce);
}

void warn_of_beta() { warn("UserWarning", "index_reduce() is in beta and the API may change at any time."); }

/// PyTorch joins parts of vectors by loops of its own, which lack code for these.
bool has_loop(Dtype dtype) { return !is_complex(dtype) && dtype != bool_ && !is_wide_unsigned(dtype); }

/// And parts of matrices by the ops of that name.
void check_joins(const Reduction& how, const Tensor& self) {
  const Dtype dtype = self.dtype();
  if (self.dim() <= 1 && !has_loop(dtype)) fail_no_code("index_func_", dtype);
  if (how.join == Join::multiply || (dtype == bool_ && !how.is_mean) || has_loop(dtype)) return;
  if (how.join != Join::add) fail_no_code(how.join == Join::largest ? "maximum_cpu" : "minimum_cpu", dtype);
  if (is_wide_unsigned(dtype)) fail_no_code("add_stub", dtype);
  if (dtype == bool_) fail_no_code("div_floor_cpu", dtype);
}

/// Joins into `self` after all checks except those of the indices.
void index_reduce_checked(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                          const Reduction& how, bool include_self) {
  if (!is_computed(self)) return bump_version(self);
  if (!include_self && !has_loop(self.dtype())) fail_no_code("index_reduce_func_exclude_input_init", self.dtype());
  if (self.dim() > 1 && index.numel() == 0) return bump_version(self);
  check_readable(source);
  const Tensor places = spread_index(as_places(index), dim, source);
  const int64_t size = size_along(self, dim);
  if (self.dim() <= 1) check_joins(how, self);
  if (!include_self && self.numel() > 0) filled_places(self, dim, as_places(index));  // PyTorch fills these first
  if (self.dim() > 1 && size == 0)
    throw IndexError("select(): index 0 out of range for tensor of size " + to_string(self.sizes()) + " at dimension " +
                     std::to_string(dim));
  if (const ByteView of_index(as_places(index)); of_index.data && is_any_outside(of_index, size))
    throw IndexError("index out of range in self");
  check_joins(how, self);
  if (self.numel() == 0) return bump_version(self);
  if (!is_wide_unsigned(self.dtype())) return reduce_checked(self, dim, places, source, how, include_self);
  // Products of unsigned numbers have the bits of those of signed ones.
  const Tensor wide = run_to(self, int64, MemoryFormat::preserve);
  reduce_checked(wide, dim, places, run_to(source, int64, MemoryFormat::preserve), how, include_self);
  run_copy(self, wide);
}

Tensor joined_by_index(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const char* reduce,
                       bool include_self) {
  const Reduction how = index_reduction_of(reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_indexed("index_reduce", self, along, index, source);
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  index_reduce_checked(result, along, index, source, how, include_self);
  forget_writes(result);
  return result;
}

}  // namespace

Tensor plain::index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                           const char* reduce, bool include_self) {
  index_reduction_of(reduce);
  check_indexed("index_reduce", self, wrap_dim(dim, self.dim()), index, source);
  warn_of_beta();  // as in PyTorch also where an index is out of range
  return joined_by_index(self, dim, index, source, reduce, include_self);
}
Tensor& plain::index_reduce_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                const char* reduce, bool include_self) {
  check_unrecorded(Op::index_reduce, out, self, source);
  index_reduction_of(reduce);
  check_indexed("index_reduce", self, wrap_dim(dim, self.dim()), index, source);
  check_strict_out(out, self.dtype());
  check_no_overlaps(out, index, &source);
  write_result(Op::index_reduce, out, joined_by_index(self, dim, index, source, reduce, include_self));
  warn_of_beta();
  return out;
}
void plain::index_reduce_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                 const char* reduce, bool include_self) {
  const Reduction how = index_reduction_of(reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_indexed("index_reduce", self, along, index, source);
  check_no_overlaps(self, index, &source);
  warn_of_beta();
  // Sums are divided by counts apart, because memory may run out between the two.
  const Tensor changed = how.is_mean && is_computed(self) ? run_clone(self, MemoryFormat::preserve) : self;
  index_reduce_checked(changed, along, index, source, how, include_self);
  if (!changed.is(self)) run_copy(self, changed);
}

}  // namespace tenon
