// cli: sentences about type promotion.
#include <optional>

#include "cli/report.h"
#include "ops/row.h"

namespace tenon::cli {
namespace {

using expr::TreeNode;

/// The operands of one category: tensors with dims, 0-dim tensors, or numbers.
struct Class {
  std::optional<Dtype> dtype;
  bool mixed = false;
};

void join(Class& joined, Dtype dtype) {
  joined.mixed |= joined.dtype && *joined.dtype != dtype;
  joined.dtype = joined.dtype ? promote_types(*joined.dtype, dtype) : dtype;
}

struct Classes {
  Class classes[3];  // in the order of Category
  Dtype common = Dtype::float32;
};

Classes classify(const TreeNode& node) {
  Classes result;
  std::vector<TypedOperand> operands;
  // Promotion ignores the condition of `where`.
  for (std::size_t i = is_selection(node) ? 1 : 0; i < node.operands.size(); ++i) {
    const expr::Tree& operand = node.operands[i];
    if (!operand) continue;
    const TypedOperand type = operand->is_number()
                                  ? typed(operand->number)
                                  : TypedOperand{operand->meta.dtype(),
                                                 operand->meta.dim() == 0 ? Category::zero_dim : Category::dimensioned};
    operands.push_back(type);
    join(result.classes[static_cast<int>(type.category)], type.dtype);
  }
  result.common = result_type(operands.data(), static_cast<int64_t>(operands.size()));
  return result;
}

/// Why the operands have their common dtype.
std::string common_rule(const Classes& types) {
  constexpr const char* kClasses[] = {"tensors", "0-dim tensors", "numbers"};
  int highest = 0;
  while (highest < 2 && !types.classes[highest].dtype) ++highest;
  const std::string common = dtype_name(types.common);
  const Class& deciding = types.classes[highest];
  for (int lower = highest + 1; lower < 3; ++lower) {
    const Class& other = types.classes[lower];
    if (other.dtype && deciding.dtype && types.common != *deciding.dtype && types.common == *other.dtype)
      return std::string(kClasses[lower]) + " of a higher kind decide: " + common;
  }
  if (deciding.mixed) return std::string(kClasses[highest]) + " promoted together: " + common;
  const bool has_lower = (highest < 1 && types.classes[1].dtype) || (highest < 2 && types.classes[2].dtype);
  if (has_lower) return std::string(kClasses[highest]) + " decide: " + common;
  return "same dtype: " + common;
}

}  // namespace

bool is_selection(const TreeNode& node) {
  return node.function && node.function->op >= 0 &&
         row_of(static_cast<Op>(node.function->op)).promotion == Promotion::select;
}

std::string dtype_rule(const TreeNode& node) {
  const std::string given = dtype_name(node.meta.dtype());
  if (node.function->op < 0) return "converted to " + given;
  const Classes types = classify(node);
  if (node.meta.dtype() == types.common) return common_rule(types);
  switch (row_of(static_cast<Op>(node.function->op)).promotion) {
    case Promotion::comparison:
      return common_rule(types) + "; a comparison gives bool";
    case Promotion::logical:
      return "a logical op gives bool";
    case Promotion::int_to_float:
      return common_rule(types) + "; " + node.function->name + " of integers gives " + given + ", the default dtype";
    case Promotion::bool_to_int:
      return "bool becomes " + given;
    case Promotion::common:
    case Promotion::to_complex:
    case Promotion::to_float64:
    case Promotion::to_int32:
    case Promotion::select:
    case Promotion::sum:
    case Promotion::place:
      break;
  }
  return common_rule(types) + "; gives " + given;
}

}  // namespace tenon::cli
