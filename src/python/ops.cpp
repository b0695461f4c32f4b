// Every op as function, method, in-place method and with `out=`. tools/ops.py generates the tables.
#include "tenon/ops.h"

#include <optional>

#include "python/bindings.h"
#include "python/random.h"
#include "python/results.h"
#include "tenon/factories.h"

namespace tenon::python {
namespace {

/// Calls `function` with converted arguments, without the GIL if that takes long.
template <class Function, class... Arguments>
decltype(auto) run(const Call& call, Function function, Arguments&&... arguments) {
  const GilRelease released(call.is_long());
  return function(arguments...);
}

/// While it lives, random numbers come from the call's `generator`, if one is given.
class GeneratorChoice {
 public:
  explicit GeneratorChoice(const Call& call) {
    if (call.has(Name::generator)) guard_.emplace(generator_of(call.object(Name::generator)));
  }

 private:
  std::optional<GeneratorGuard> guard_;
};

/// The `correction` of var and std; the older argument `unbiased` means 1 or 0.
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

std::vector<Entry> nn_entries() { return entries<kNnOps>(); }

}  // namespace tenon::python
