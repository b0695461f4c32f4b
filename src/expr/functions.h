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

/// The op of that name; the first of several overloads. nullptr if there is none.
const Schema* find_function(std::string_view name) noexcept;
/// All overloads.
std::span<const Schema> find_functions(std::string_view name) noexcept;
/// The op of an operator ("+": add); nullptr if there is none.
const Schema* find_operator(std::string_view symbol) noexcept;
/// `x.to(dtype)`, which is not an op of the table.
const Schema& cast_function() noexcept;
/// The known name with the most similar spelling; empty if none is similar.
std::string nearest_function(std::string_view name);

/// A parameter's name in expressions: `self` is called `input`, as in PyTorch.
std::string_view shown_name(const Parameter& parameter) noexcept;
/// Calls a function. Returns one of its results.
Tensor call(const Schema& function, const Values& values, int result = 0);

/// A reduction's arguments: the dims (empty: all), and whether they are kept with size 1.
Dims dims_of(const Schema& function, const Values& values);
bool keeps_dims(const Schema& function, const Values& values);

}  // namespace tenon::expr
