// `tensor({{1, 2}, {3, 4}})`: nested lists become a dense tensor.
#include <string>

#include "tenon/factories.h"
#include "tensor/impl.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon {
namespace {

bool is_number(const NestedValues& values) { return values.count < 0; }

/// The sizes that the first entry of every level announces.
Dims sizes_of(const NestedValues& values) {
  Dims sizes;
  for (const NestedValues* level = &values; !is_number(*level); level = level->values) {
    sizes.push_back(level->count);
    if (level->count == 0) break;
  }
  return sizes;
}

/// The dtype that holds all the numbers; an empty list counts as floating.
Dtype dtype_of_values(const NestedValues& values) {
  if (is_number(values)) return typed(values.number).dtype;
  if (values.count == 0) return get_default_dtype();
  Dtype dtype = dtype_of_values(values.values[0]);
  for (int64_t i = 1; i < values.count; ++i) dtype = promote_types(dtype, dtype_of_values(values.values[i]));
  return dtype;
}

void check_list(const NestedValues& values, int64_t dim, int64_t size) {
  if (is_number(values)) throw TypeError("not a sequence");
  if (values.count != size)
    throw ValueError("expected sequence of length " + std::to_string(size) + " at dim " + std::to_string(dim) +
                     " (got " + std::to_string(values.count) + ")");
}

/// A floating dtype takes any number (infinity where it is too large), an integer dtype what it can hold.
void check_number(const NestedValues& value, Dtype dtype) {
  if (!is_number(value))
    throw TypeError(is_inexact(dtype) ? "must be real number, not list"
                                      : "'list' object cannot be interpreted as an integer");
  if (value.number.is_complex() && !is_complex(dtype) && dtype != bool_)
    throw TypeError(is_floating_point(dtype) ? "must be real number, not complex"
                                             : "'complex' object cannot be interpreted as an integer");
  if (!is_inexact(dtype) && overflows(value.number, dtype))
    throw Error(std::string("value cannot be converted to type ") + dtype_name(dtype) + " without overflow");
}

/// Writes the numbers in row-major order and returns the place behind the last.
template <class T>
T* store(T* out, const NestedValues& values, SizesView sizes, int64_t dim) {
  if (dim == sizes.size()) {
    check_number(values, dtype_of_v<T>);
    *out = scalar_to<T>(values.number);
    return out + 1;
  }
  check_list(values, dim, sizes[dim]);
  for (int64_t i = 0; i < values.count; ++i) out = store(out, values.values[i], sizes, dim + 1);
  return out;
}

}  // namespace

Tensor tensor(NestedValues values, Options options) {
  const Dims sizes = sizes_of(values);
  const Dtype dtype = options.dtype ? *options.dtype : dtype_of_values(values);
  Tensor result = new_tensor(sizes, dtype, options.device.value_or(Device::cpu));
  if (result.numel() > 0 && !result.is_meta())
    visit_dtype(dtype, [&]<class T>() { store(result.data<T>(), values, sizes, 0); });
  return result;
}

}  // namespace tenon
