// Promotion and casts follow the specification's tables, for every pair of dtypes and every kind of operand.
#include <map>

#include "spec.h"

namespace {

using spec::attempt;
using spec::Dtype;
using spec::is_in_scope;
using spec::Rows;
using spec::Tensor;
using tenon::Arg;
using tenon::Category;

/// An operand of a category ("dim", "0-dim", "scalar") and dtype, or of a number's type.
class Operand {
 public:
  Operand(const std::string& category, const std::string& type) {
    if (category == "scalar") {
      if (type == "bool")
        number_ = true;
      else if (type == "int")
        number_ = 1;
      else if (type == "float")
        number_ = 1.0;
      else
        number_ = tenon::Complex128{1, 1};
      return;
    }
    const Dtype dtype = tenon::dtype_from_name(type.c_str());
    tensor_ = category == "dim" ? tenon::ones({1}, dtype) : tenon::ones({}, dtype);
  }
  operator Arg() const { return tensor_.defined() ? Arg(tensor_) : Arg(number_); }
  Tensor& tensor() { return tensor_; }

 private:
  Tensor tensor_;
  tenon::Scalar number_;
};

/// "float32", or "error:cast" as the tables call it.
std::string dtype_or_error(const spec::Outcome& outcome) {
  if (!outcome.failed()) return tenon::dtype_name(outcome.value.dtype());
  const auto says = [&](const char* words) { return outcome.text.find(words) != std::string::npos; };
  if (says("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "))
    return "error:promotion";
  if (says("\" not implemented for '")) return "error:kernel";
  return says("can't be cast to the desired output type") ? "error:cast" : outcome.text;
}

bool row_is_in_scope(const std::vector<std::string>& row) {
  for (std::size_t i = 1; i < row.size(); ++i)
    if (!is_in_scope(row[i])) return false;
  return true;
}

class DefaultDtype {
 public:
  explicit DefaultDtype(Dtype dtype) { tenon::set_default_dtype(dtype); }
  ~DefaultDtype() { tenon::set_default_dtype(tenon::float32); }
  DefaultDtype(const DefaultDtype&) = delete;
  DefaultDtype& operator=(const DefaultDtype&) = delete;
};

TEST(SpecTypes, Promotion) {
  TENON_NEEDS_SPEC();
  // 15 x 15 dtypes in three pairs of categories, 15 dtypes x 4 numbers in two; seven claims each. Four rows give
  // complex32, which Tenon does not have.
  Rows rows((795 - 4) * 7);
  for (const auto& row : spec::read_table("promotion.csv")) {
    if (row[0] == "category" || !row_is_in_scope(row)) continue;
    const std::string& categories = row[0];
    const std::size_t slash = categories.find('/');
    Operand a(categories.substr(0, slash), row[1]), b(categories.substr(slash + 1), row[2]);
    const std::string name = categories + " " + row[1] + " " + row[2];
    const auto result_type = [&] { return tenon::empty({0}, tenon::result_type(a, b)); };
    rows.same("result_type " + name, row[3], dtype_or_error(attempt(result_type)));
    {
      DefaultDtype scope(tenon::float64);
      rows.same("result_type, default float64, " + name, row[4], dtype_or_error(attempt(result_type)));
    }
    {
      DefaultDtype scope(tenon::bfloat16);
      rows.same("result_type, default bfloat16, " + name, row[5], dtype_or_error(attempt(result_type)));
    }
    rows.same("add " + name, row[6], dtype_or_error(attempt([&] { return tenon::add(a, b); })));
    rows.same("add_ " + name, row[7],
              dtype_or_error(attempt([&] { return Operand(categories.substr(0, slash), row[1]).tensor().add_(b); })));
    rows.same("div " + name, row[8], dtype_or_error(attempt([&] { return tenon::div(a, b); })));
    rows.same("lt " + name, row[9], dtype_or_error(attempt([&] { return tenon::lt(a, b); })));
  }
}

TEST(SpecTypes, PromotionOfThree) {
  TENON_NEEDS_SPEC();
  // 9 dtypes: 729 triples in each of three categories, without 46 that give complex32.
  Rows rows(3 * 729 - 46);
  const std::map<std::string, std::array<Category, 3>> categories = {
      {"dim/dim/0-dim", {Category::dimensioned, Category::dimensioned, Category::zero_dim}},
      {"dim/0-dim/0-dim", {Category::dimensioned, Category::zero_dim, Category::zero_dim}},
      {"0-dim/0-dim/0-dim", {Category::zero_dim, Category::zero_dim, Category::zero_dim}},
  };
  for (const auto& row : spec::read_table("promotion3.csv")) {
    if (row[0] == "category" || !row_is_in_scope(row)) continue;
    const auto& kinds = categories.at(row[0]);
    const auto operand = [&](std::size_t i) {
      return tenon::TypedOperand{tenon::dtype_from_name(row[i + 1].c_str()), kinds[i]};
    };
    const auto result = [&] { return tenon::empty({0}, tenon::result_type({operand(0), operand(1), operand(2)})); };
    rows.same(row[0] + " " + row[1] + " " + row[2] + " " + row[3], row[4], dtype_or_error(attempt(result)));
  }
}

TEST(SpecTypes, CanCast) {
  TENON_NEEDS_SPEC();
  Rows rows(15 * 15);
  const auto table = spec::read_table("can_cast.csv");
  for (std::size_t i = 1; i < table.size(); ++i)
    for (std::size_t j = 1; j < table[0].size(); ++j) {
      const std::string &from = table[i][0], &to = table[0][j];
      if (!is_in_scope(from) || !is_in_scope(to)) continue;
      const bool got = tenon::can_cast(tenon::dtype_from_name(from.c_str()), tenon::dtype_from_name(to.c_str()));
      rows.same(from + " to " + to, table[i][j], got ? "1" : "0");
    }
}

}  // namespace
