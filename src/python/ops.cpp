// Every op as function, method, in-place method and with `out=`: tables that tools/ops.py writes.
#include "tenon/ops.h"

#include "python/bindings.h"
#include "python/results.h"

namespace tenon::python {
namespace {

/// Calls with arguments that are ready, so that other Python threads may run meanwhile.
template <class Function, class... Arguments>
decltype(auto) run(const Call& call, Function function, Arguments&&... arguments) {
  const GilRelease released(call.is_long());
  return function(arguments...);
}

/// What the number of elements is lessened by: once a choice between 1 and 0.
std::optional<Scalar> correction_of(const Call& call) {
  if (call.has(Name::unbiased)) return Scalar(call.boolean(Name::unbiased) ? 1 : 0);
  return call.optional_number(Name::correction);
}

#include "python/ops.inc"

}  // namespace

std::vector<Entry> op_entries() {
  std::vector<Entry> all = entries<kOps>();
  const std::vector<Entry> inplace = entries<kInplaceOps>();
  all.insert(all.end(), inplace.begin(), inplace.end());
  return all;
}

}  // namespace tenon::python
