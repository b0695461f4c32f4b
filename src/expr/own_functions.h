// expr: functions beside the op table: factories, random tensors, and what Python's module composes of ops. Takes a
// name; gives signatures, and how each is computed. Never evaluates a tree.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "expr/functions.h"
#include "tenon/factories.h"

namespace tenon::expr {

/// One of `make`, `formula` and the schema's function computes it.
struct OwnFunction {
  Schema schema;
  /// A factory. `options`: the device, and the dtype of the parameter `dtype`. Of tensors only shape and dtype are
  /// read.
  Tensor (*make)(const tenon::Value* values, const Options& options) = nullptr;
  /// An expression in which parameters are names.
  const char* formula = nullptr;
  bool is_random = false;  // equal calls give different tensors
};

/// All, in alphabetical order.
std::span<const OwnFunction> own_functions();
/// The overloads of that name; empty if there is none.
std::span<const OwnFunction> find_own_functions(std::string_view name);

}  // namespace tenon::expr
