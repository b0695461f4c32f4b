#include "ops/row.h"

#include <atomic>
#include <string>

#include "ops/block_name.h"
#include "ops/custom_table.h"
#include "tenon/error.h"

namespace tenon {
namespace {

struct Truth {
  bool value;
};
template <class T>
using TruthOf = Truth;
// Only the rows: formulas are instantiated in kernel/, once per instruction set.
#include "ops/blocks-inl.h"

constexpr Row named(Row row, const char* block) {
  if (!row.name) row.name = block;
  return row;
}

constinit CustomTable<Row> custom_rows;
constinit std::atomic<int> custom_count{0};

Op custom_op(int place) { return static_cast<Op>(kOpCount + place); }

}  // namespace

constexpr Row table_rows[] = {
#define TENON_OP(NAME) named(ops::NAME::row, #NAME),
#include "ops/list.def"
#undef TENON_OP
};

const char* block_name(Op op) noexcept {
  static constexpr const char* names[] = {
#define TENON_OP(NAME) #NAME,
#include "ops/list.def"
#undef TENON_OP
  };
  return is_custom(op) ? custom_row(op).name : names[static_cast<int>(op)];
}

Op define_row(const Row& row) {
  int place = custom_count.load();
  do {
    if (place == kCustomOps) throw Error("no more than " + std::to_string(kCustomOps) + " ops can be defined");
    custom_rows.make(custom_op(place));
  } while (!custom_count.compare_exchange_weak(place, place + 1));
  const Op op = custom_op(place);
  custom_rows[op] = row;
  return op;
}

const Row& custom_row(Op op) noexcept { return custom_rows[op]; }

}  // namespace tenon
