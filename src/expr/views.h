// expr: views by name. Takes a tensor and arguments; gives a view (reshape may copy, conj computes). Never evaluates a
// tree.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "expr/value.h"

namespace tenon::expr {

struct View {
  const char* name;
  const char* signature;  // shown in errors
  std::size_t least;      // arguments after the tensor
  std::size_t most;
  Tensor (*apply)(const Tensor& self, const std::vector<Argument>& arguments);
};

/// The view of that name; nullptr if there is none.
const View* find_view(std::string_view name) noexcept;
std::string nearest_view(std::string_view name);
/// Checks the number of arguments and applies the view. ExpressionError with `span`.
Tensor apply_view(const View& view, const Tensor& self, const std::vector<Argument>& arguments, Span span);
/// `x.T`, `x.mT`; an undefined tensor for other names.
Tensor view_attribute(std::string_view name, const Tensor& self);

}  // namespace tenon::expr
