// cli: shapes on the command line. Takes an argument; gives it in the syntax of expressions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli {

/// "5,1,4,1", "(3,)", "[5, 3]" and "4,3:1,4" (with strides), several with spaces between them or, in brackets, commas:
/// each becomes "f32[5,1,4,1]". An empty list if the argument is anything else.
std::vector<std::string> read_shapes(std::string_view text);

}  // namespace tenon::cli
