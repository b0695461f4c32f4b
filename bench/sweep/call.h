// bench: the ops that the sweep draws.
#pragma once

namespace bench {

enum class Call { add, mul, maximum, lt, eq, where, copy, sum, mean, amax, argmax, var, cumsum, matmul, cat, exp };
inline constexpr const char* kCallNames[] = {"add",  "mul",  "maximum", "lt",  "eq",     "where",  "copy", "sum",
                                             "mean", "amax", "argmax",  "var", "cumsum", "matmul", "cat",  "exp"};

}  // namespace bench
