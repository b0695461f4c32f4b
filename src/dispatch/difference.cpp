// Differences of neighbours, and areas below samples. PyTorch: `diff` in ReduceOps.cpp, Integration.cpp.
#include <algorithm>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

// --- diff

void check_joined(const Tensor& self, const Tensor& other, int64_t dim) {
  if (!other.defined()) return;
  const int64_t along = wrap_dim(dim, self.dim());
  if (other.dim() != self.dim()) throw Error("diff expects prepend or append to be the same dimension as input");
  for (int64_t i = 0; i < other.dim(); ++i)
    if (i != along && other.size(i) != self.size(i))
      throw Error(
          "diff expects the shape of tensor to prepend or append to match that of input except along the "
          "differencing dimension; input.size(" +
          std::to_string(i) + ") = " + std::to_string(self.size(i)) + ", but got tensor.size(" + std::to_string(i) +
          ") = " + std::to_string(other.size(i)));
}

void check_diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  if (self.dim() < 1) throw Error("diff expects input to be at least one-dimensional");
  if (n < 0) throw Error("order must be non-negative but got " + std::to_string(n));
  check_joined(self, prepend, dim);
  check_joined(self, append, dim);
}

/// All of them, one behind the other.
Tensor joined(const Tensor& self, int64_t dim, const Tensor& prepend, const Tensor& append) {
  List<Tensor> parts;
  for (const Tensor* part : {&prepend, &self, &append})
    if (part->defined()) parts.push_back(*part);
  return parts.size() == 1 ? self : tenon::cat(parts, dim);
}

/// The later and the earlier one of all neighbours.
struct Neighbours {
  Tensor later, earlier;

  Neighbours(const Tensor& self, int64_t dim)
      : later(self.narrow(dim, 1, self.size(dim) - 1)), earlier(self.narrow(dim, 0, self.size(dim) - 1)) {}
};

Tensor difference(const Tensor& self, int64_t dim) {
  const Neighbours neighbours(self, dim);
  return self.dtype() == bool_ ? tenon::logical_xor(neighbours.later, neighbours.earlier)
                               : tenon::sub(neighbours.later, neighbours.earlier);
}

}  // namespace

Tensor plain::diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  check_diff(self, n, dim, prepend, append);
  if (n == 0) return zeros_like(self).copy_(self);
  Tensor result = joined(self, dim, prepend, append);
  for (int64_t left = std::min(n, result.size(dim)); left > 0; --left) result = difference(result, dim);
  return result;
}

Tensor& plain::diff_out(Tensor& out, const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
                        const Tensor& append) {
  check_diff(self, n, dim, prepend, append);
  if (n == 0) {
    if (out.dtype() != self.dtype())
      throw Error(std::string("expected scalar_type ") + scalar_type_name(self.dtype()) + " but found " +
                  scalar_type_name(out.dtype()));
    check_unrecorded(Op::sub, out, self);
    return write_result(Op::sub, out, run_clone(self, MemoryFormat::contiguous));
  }
  Tensor before = joined(self, dim, prepend, append);
  for (int64_t left = std::min(n, before.size(dim)); left > 1; --left) before = difference(before, dim);
  if (before.size(dim) == 0) throw IndexError("start out of range (expected to be in range of [0, 0], but got 1)");
  const Neighbours neighbours(before, dim);
  return before.dtype() == bool_ ? tenon::logical_xor_out(out, neighbours.later, neighbours.earlier)
                                 : tenon::sub_out(out, neighbours.later, neighbours.earlier);
}

// --- trapezoid

namespace {

/// Without the dim: no samples, no area.
Tensor no_area(const Tensor& y, int64_t dim) {
  Dims sizes;
  for (int64_t i = 0; i < y.dim(); ++i)
    if (i != dim) sizes.push_back(y.size(i));
  return zeros(sizes, Options(y.dtype(), y.device()));
}

void check_no_bools(const char* name, const Tensor& y, const Tensor& x) {
  if (y.dtype() == bool_ || x.dtype() == bool_)
    throw Error(std::string(name) + ": received a bool input for `x` or `y`, but bool is not supported");
}
void check_distance(const char* name, const Tensor& y, const Scalar* dx) {
  if (y.dtype() == bool_) throw Error(std::string(name) + ": received a bool input for `y`, but bool is not supported");
  if (dx && (dx->is_complex() || dx->is_boolean()))
    throw Error(std::string(name) + ": Currently, we only support dx as a real number.");
}

/// The places with y's number of dims: a vector lies along `dim`.
Tensor places_along(const char* name, const Tensor& y, const Tensor& x, int64_t dim) {
  if (x.dim() == 1) {
    if (x.size(0) != y.size(dim))
      throw Error(std::string(name) + ": There must be one `x` value for each sample point");
    Dims sizes(y.dim(), 1);
    sizes[dim] = x.size(0);
    return x.view(sizes);
  }
  if (x.dim() >= y.dim()) return x;
  Dims sizes(y.dim() - x.dim(), 1);
  for (int64_t size : x.sizes()) sizes.push_back(size);
  return x.view(sizes);
}

Tensor but_last(const Tensor& self, int64_t dim) { return self.slice(dim, 0, -1); }
Tensor but_first(const Tensor& self, int64_t dim) { return self.slice(dim, 1, std::nullopt); }
Tensor distances(const char* name, const Tensor& y, const Tensor& x, int64_t dim) {
  const Tensor places = places_along(name, y, x, dim);
  return but_first(places, dim) - but_last(places, dim);
}

Tensor area(const Tensor& y, const Scalar* dx, double distance, int64_t dim) {
  if (y.size(dim) == 0) return no_area(y, wrap_dim(dim, y.dim()));
  check_distance("trapezoid", y, dx);
  return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * distance;
}

}  // namespace

Tensor plain::trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t along = wrap_dim(dim, y.dim());
  if (y.size(along) == 0) return no_area(y, along);
  check_no_bools("trapezoid", y, x);
  const Tensor apart = distances("trapezoid", y, x, along);
  return ((but_last(y, along) + but_first(y, along)) * apart).sum(along) / 2.0;
}
Tensor plain::trapezoid_dx(const Tensor& y, Scalar dx, int64_t dim) {
  return area(y, &dx, dx.is_complex() ? 0 : dx.to<double>(), dim);
}
Tensor plain::trapz(const Tensor& y, double dx, int64_t dim) { return area(y, nullptr, dx, dim); }
Tensor plain::trapz_x(const Tensor& y, const Tensor& x, int64_t dim) { return plain::trapezoid(y, x, dim); }

Tensor plain::cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t along = wrap_dim(dim, y.dim());
  check_no_bools("cumulative_trapezoid", y, x);
  const Tensor apart = distances("cumulative_trapezoid", y, x, along);
  if (y.dim() == 0) throw IndexError("slice() cannot be applied to a 0-dim tensor.");
  return ((but_last(y, along) + but_first(y, along)) * apart).cumsum(along) / 2.0;
}
Tensor plain::cumulative_trapezoid_dx(const Tensor& y, Scalar dx, int64_t dim) {
  check_distance("cumulative_trapezoid", y, &dx);
  if (y.dim() == 0) throw IndexError("slice() cannot be applied to a 0-dim tensor.");
  return (dx.to<double>() / 2.0 * (but_last(y, dim) + but_first(y, dim))).cumsum(dim);
}

}  // namespace tenon
