// elements_at: index_select of all elements in one row.
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

void check_places(const Tensor& index, int64_t count) {
  for (int64_t i = 0; i < index.numel(); ++i) {
    const int64_t place = index.data<int64_t>()[i];
    if (place < -count || place >= count)
      throw IndexError("out of range: tried to access index " + std::to_string(place) + " on a tensor of " +
                       std::to_string(count) + " elements.");
  }
}

}  // namespace

Tensor plain::elements_at(const Tensor& self, const Tensor& index) {
  if (index.dtype() != int64)
    throw Error(std::string("elements_at(): Expected a long tensor for index, but got ") +
                scalar_type_name(index.dtype()));
  if (index.numel() == 0) return new_tensor(index.sizes(), self.dtype(), self.device());
  if (self.numel() == 0) throw IndexError("elements_at(): tried to take from an empty tensor");
  check_has_code(row_of(Op::elements_at), self.dtype());
  const Tensor places = index.reshape({-1}).contiguous();
  check_places(places, self.numel());
  return self.detach().reshape({-1}).index_select(0, tenon::remainder(places, self.numel())).reshape(index.sizes());
}

}  // namespace tenon
