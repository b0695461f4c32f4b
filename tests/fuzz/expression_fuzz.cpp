// Any text as an expression over a few names: a value, the same with small and large blocks, or an error with a
// position inside the text.
#include "expr/evaluate.h"
#include "fuzz/case.h"
#include "fuzz/elements.h"
#include "tenon/factories.h"

using namespace tenon;

namespace {

constexpr int64_t kMostElements = 1 << 14;

expr::Scope make_scope(bool shapes) {
  if (shapes) return {{{"x", empty({4096, 3}, Device::meta)}, {"m", empty({3}, Device::meta)}}, true};
  return {{{"x", arange(24.).reshape({2, 3, 4})},
           {"y", arange(12).reshape({4, 3}).t()},
           {"m", tensor({true, false, true, true})},
           {"h", ones({3, 1}, float16)},
           {"z", scalar_tensor(2.5)},
           {"e", empty({0, 4})}},
          false};
}

void check_ast(const expr::Ast& ast) {
  const int64_t length = static_cast<int64_t>(ast.text.size());
  const int count = static_cast<int>(ast.nodes.size());
  CLAIM(ast.roots[0] >= 0 && ast.roots[0] < count);
  for (const expr::Node& node : ast.nodes) {
    CLAIM(0 <= node.span.begin && node.span.begin <= node.span.end && node.span.end <= length);
    CLAIM(node.height <= expr::kMaxHeight);
    for (int child : node.children) CLAIM(child < count && (child >= 0 || node.kind == expr::Node::Kind::slice));
  }
}

Tensor value_of(const expr::Tree& tree, int64_t block_bytes) {
  expr::NoProgress progress;
  progress.block_bytes = progress.fused_bytes = block_bytes;
  return expr::evaluate_elementwise(tree, progress);
}

void check_value(const expr::Tree& tree) {
  if (tree->meta.defined()) fuzz::check_tensor(tree->meta);
  if (tree->is_number() || tree->meta.numel() > kMostElements) return;
  const Tensor value = value_of(tree, int64_t{2} << 20);
  fuzz::check_tensor(value);
  CLAIM_OF(value.sizes() == tree->meta.sizes() && value.dtype() == tree->meta.dtype(), fuzz::describe(value));
  if (value.is_meta()) return;
  fuzz::read_elements(value);
  CLAIM_OF(fuzz::same_elements(value, value_of(tree, 16)), fuzz::describe(value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const expr::Scope scopes[] = {make_scope(false), make_scope(true)};
  fuzz::Bytes bytes(data, size);
  const expr::Scope& scope = scopes[bytes.up_to(1)];
  const std::string text(bytes.rest());
  const fuzz::Deadline deadline(50);
  expr::NoProgress progress;
  try {
    const expr::Ast ast = expr::parse(text);
    check_ast(ast);
    expr::Steps steps;
    expr::note_steps(ast, scope, progress, steps);
    check_value(expr::evaluate(ast, scope, progress));
  } catch (const expr::ExpressionError& error) {
    const auto [begin, end] = error.span();
    CLAIM_OF(0 <= begin && begin <= end && end <= static_cast<int64_t>(text.size()), error.what());
  } catch (const OutOfMemoryError&) {
  } catch (const Interrupted&) {
  }
  return 0;
}
