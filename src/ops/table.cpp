#include "ops/row.h"

namespace tenon {
namespace {

struct Truth {
  bool value;
};
// The rows alone: formulas are instantiated in kernel/, once per instruction set.
#include "ops/blocks-inl.h"

}  // namespace

const Row& row_of(Op op) noexcept {
  static constexpr const Row* rows[] = {
#define TENON_OP(NAME, KIND) &ops::NAME::row,
#include "tenon/ops.def"
#undef TENON_OP
  };
  return *rows[static_cast<int>(op)];
}

}  // namespace tenon
