// Custom ops: adds their rows, kernels and derivatives to the tables of built-in ops.
#include "tenon/custom_op.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <string>

#include "autograd/derivative.h"
#include "base/fork.h"
#include "dispatch/elementwise.h"
#include "kernel/kernel.h"

namespace tenon::custom {
namespace {

/// Keeps the texts of rows for the life of the process.
ForkMutex texts_mutex;
constinit std::deque<std::string>* texts = nullptr;  // never deleted: nodes may be named while the process ends
const char* kept(std::string text) {
  const std::lock_guard lock(texts_mutex);
  if (!texts) texts = new std::deque<std::string>;
  return texts->emplace_back(std::move(text)).c_str();
}

/// "HypotBackward0"
std::string node_name(const char* name) {
  std::string text = std::string(name) + "Backward0";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

Row row_for(const CustomDefinition& definition) {
  Row row{.name = kept(definition.name)};
  row.kernel_name = row.name;
  row.grad_fn = kept(node_name(definition.name));
  row.may_throw = definition.may_throw;
  row.dtypes = definition.takes_integers ? kNoBool : kFloats;
  row.promotion = definition.gives_bool       ? Promotion::comparison
                  : definition.takes_integers ? Promotion::common
                                              : Promotion::int_to_float;
  return row;
}

}  // namespace

int define(const CustomDefinition& definition) {
  if (!definition.name || !*definition.name) throw Error("an op needs a name");
  autograd::Derivative derivative;
  const auto most = std::min<std::ptrdiff_t>(definition.arity, std::ssize(definition.gradients));
  for (std::ptrdiff_t i = 0; i < most; ++i) {
    if (!definition.gradients[i] || definition.gives_bool) continue;
    // The values that a custom derivative reads are unknown, so all are saved; it counts as several ops.
    derivative.arguments[i] = {nullptr, (1u << autograd::kResult) | ((1u << definition.arity) - 1), 2,
                               definition.gradients[i]};
    derivative.exists = true;
  }
  const Op op = define_row(row_for(definition));
  CustomKernels plain, streamed;
  for (std::size_t dtype = 0; dtype < plain.size(); ++dtype) {
    plain[dtype] = definition.kernels[dtype].plain;
    streamed[dtype] = definition.kernels[dtype].streamed;
  }
  set_custom_kernels(op, plain, streamed);
  autograd::set_custom_derivative(op, derivative);
  return static_cast<int>(op);
}

Tensor call(int op, const Arg* const* args, int count) { return elementwise(static_cast<Op>(op), args, count); }
Tensor& call_out(int op, Tensor& out, const Arg* const* args, int count) {
  return elementwise_out(static_cast<Op>(op), out, args, count);
}
Tensor& call_inplace(int op, Tensor& self, const Arg* const* args, int count) {
  return elementwise_inplace(static_cast<Op>(op), self, args, count);
}

}  // namespace tenon::custom
