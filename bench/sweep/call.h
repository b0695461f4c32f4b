// bench: the ops that the sweep draws.
#pragma once

namespace bench {

// clang-format off
enum class Call { add, mul, maximum, lt, eq, where, copy, sum, mean, amax, norm, argmax, var, cumsum, matmul, cat, exp };
inline constexpr const char* kCallNames[] = {"add", "mul", "maximum", "lt", "eq", "where", "copy", "sum", "mean", "amax",
                                             "norm", "argmax", "var", "cumsum", "matmul", "cat", "exp"};
// clang-format on

}  // namespace bench
