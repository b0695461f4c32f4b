// tensor: checks new tensors against the memory budget. Takes bytes and sizes; throws BudgetError.
#pragma once
#include "tenon/budget.h"
#include "tenon/dims.h"
#include "tensor/recycle.h"

namespace tenon {

/// Of a tensor that the allocator counts.
void check_budget_of(int64_t nbytes, SizesView sizes);

/// Small tensors, which are not counted, cost one comparison.
inline void check_budget(int64_t nbytes, SizesView sizes) {
  if (nbytes > recycle::kSmall) [[unlikely]]
    check_budget_of(nbytes, sizes);
}

}  // namespace tenon
