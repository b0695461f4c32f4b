// bench: takes a seed; gives cases of shapes, layouts, dtypes and ops that nobody chose.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "../cases.h"

namespace bench {

/// A drawn case and what the report sorts it by.
struct Drawn {
  Case measured;
  std::string family;
  int64_t inner;  // the size that decides: of the rows, or of the reduced or smallest multiplied dim
};

/// `count` cases, of every family about as many; or of reductions alone, of more layouts and on one thread.
std::vector<Drawn> draw_cases(uint64_t seed, int count, bool reductions);

}  // namespace bench
