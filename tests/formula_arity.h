// How many elements the formula of each op takes, for tests that call kernels.
#pragma once
#include "ops/row.h"

namespace tenon::formulas {

struct Truth {
  bool value;
};
template <class T>
using TruthOf = Truth;
#include "ops/blocks-inl.h"

template <class Block>
constexpr int arity_of() {
  if constexpr (Block::row.kind == Kind::algorithm || HasState<Block>)
    return 0;
  else
    return kFormulaArity<Block>;
}

inline int arity_of(Op op) {
  static constexpr int arities[] = {
#define TENON_OP(NAME) arity_of<ops::NAME>(),
#include "ops/list.def"
#undef TENON_OP
  };
  return arities[static_cast<int>(op)];
}

}  // namespace tenon::formulas
