#include "ops/row.h"

#include <atomic>
#include <string>

#include "tenon/error.h"

namespace tenon {
namespace {

struct Truth {
  bool value;
};
// The rows alone: formulas are instantiated in kernel/, once per instruction set.
#include "ops/blocks-inl.h"

}  // namespace

namespace {

constinit Row custom_rows[kCustomOps] = {};
constinit std::atomic<int> custom_count{0};

}  // namespace

Op define_row(const Row& row) {
  const int place = custom_count.fetch_add(1);
  if (place >= kCustomOps) {
    custom_count.store(kCustomOps);
    throw Error("no more than " + std::to_string(kCustomOps) + " ops can be defined");
  }
  custom_rows[place] = row;
  return static_cast<Op>(kOpCount + place);
}

const Row& row_of(Op op) noexcept {
  if (is_custom(op)) [[unlikely]]
    return custom_rows[static_cast<int>(op) - kOpCount];
  static constexpr const Row* rows[] = {
#define TENON_OP(NAME, KIND) &ops::NAME::row,
#include "tenon/ops.def"
#undef TENON_OP
  };
  return *rows[static_cast<int>(op)];
}

}  // namespace tenon
