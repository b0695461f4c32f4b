#include "tenon/schema.h"

#include <algorithm>
#include <iterator>

#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "ops/views.h"
#include "tenon/error.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

#include "dispatch/algorithms.inc"
#include "dispatch/schemas.inc"
static_assert(std::size(kViews) == std::size(declared_views));

}  // namespace

Value::Value(const DimsArg& dims) {
  if (dims.view().data()) *this = Value(dims.view());
}

bool Value::boolean(bool fallback) const {
  if (is_empty()) return fallback;
  if (!number().is_boolean()) fail("a bool");
  return number().as_bool();
}

int64_t Value::integer(int64_t fallback) const {
  if (is_empty()) return fallback;
  if (number().kind() != Scalar::Kind::integer) fail("an integer");
  return number().to<int64_t>();
}

DimsArg Value::dims_arg() const {
  if (is_empty()) return {};
  return is_number() ? DimsArg(integer(0)) : DimsArg(SizesView(check(Kind::numbers, "dims").numbers_));
}

std::optional<List<double>> Value::optional_floats() const {
  if (is_empty()) return std::nullopt;
  if (kind_ != Kind::numbers) return check(Kind::floats, "a list of numbers").floats_;
  List<double> floats;
  for (const int64_t number : numbers_) floats.push_back(static_cast<double>(number));
  return floats;
}

void Value::fail(const char* wanted) { throw TypeError(std::string("an argument is not ") + wanted); }

const Algorithm& algorithm_of(Op op) noexcept {
  return *std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                       [op](const Algorithm& algorithm) { return algorithm.op == op; });
}
const Schema& schema_of(Op op) noexcept {
  return *std::find_if(std::begin(kSchemas), std::end(kSchemas),
                       [op](const Schema& schema) { return schema.op == static_cast<int>(op); });
}

std::span<const Schema> schemas() noexcept { return kSchemas; }
std::span<const ViewSchema> view_schemas() noexcept { return kViews; }

const Schema* find_schema(std::string_view name) noexcept {
  for (const Schema& schema : kSchemas)
    if (name == schema.name) return &schema;
  return nullptr;
}

}  // namespace tenon
