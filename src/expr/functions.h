// expr: the ops an expression may call. Takes a name or an operator; gives the op's schema. Never evaluates anything.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/schema.h"

namespace tenon::expr {

/// The arguments of a call, in the order of the schema's parameters.
using Values = std::vector<tenon::Value>;

/// nullptr when no op has that name. Of several overloads the first.
const Schema* find_function(std::string_view name) noexcept;
/// All overloads.
std::span<const Schema> find_functions(std::string_view name) noexcept;
/// The op an operator stands for ("+": add); nullptr when there is none.
const Schema* find_operator(std::string_view symbol) noexcept;
/// `x.to(dtype)`, which is no op of the table.
const Schema& cast_function() noexcept;
/// The known name nearest to `name` in spelling, or nothing when none is near.
std::string nearest_function(std::string_view name);

/// What expressions call a parameter: PyTorch's `self` is its `input`.
std::string_view shown_name(const Parameter& parameter) noexcept;
/// The one tensor a call gives.
Tensor call(const Schema& function, const Values& values);

/// Of a reduction's arguments: the dims (none: all), and whether they stay as 1.
Dims dims_of(const Schema& function, const Values& values);
bool keeps_dims(const Schema& function, const Values& values);

}  // namespace tenon::expr
