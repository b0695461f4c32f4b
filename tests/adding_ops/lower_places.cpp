// lower_places: the places of what tril keeps.
#include <string>

#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon {

Tensor plain::lower_places(int64_t row, int64_t col, int64_t offset) {
  if (row < 0) throw Error("row must be non-negative, got" + std::to_string(row));
  if (col < 0) throw Error("col must be non-negative, got" + std::to_string(col));
  const Tensor places = tenon::nonzero(tenon::tril(ones({row, col}, Options(int64)), offset));
  return tenon::stack({places.select(1, 0), places.select(1, 1)});
}

}  // namespace tenon
