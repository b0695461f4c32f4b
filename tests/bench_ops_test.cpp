// Every declared op has its line in the benchmark, with a call that the op takes.
#include <gtest/gtest.h>

#include <set>

#include "../bench/op_calls.h"

namespace tenon {
namespace {

TEST(BenchOps, EveryOpHasItsLine) {
  std::set<std::string> lines, names;
  for (const Schema& schema : schemas()) {
    const std::optional<std::string> line = bench::line_of(schema);
    if (!line) continue;
    EXPECT_TRUE(lines.insert(*line).second) << *line << " is there twice";
    names.insert(schema.name);
  }
  for (const Schema& schema : schemas()) {
    const bool is_alias = std::string_view(schema.doc).starts_with("Another name of ");
    EXPECT_TRUE(is_alias || names.contains(schema.name)) << schema.name;
  }
}

TEST(BenchOps, EveryLineHasACall) {
  for (const Schema& schema : schemas()) {
    if (!bench::line_of(schema)) continue;
    EXPECT_NO_THROW(bench::call_of(schema, {.rows = 2})) << schema.signature;
  }
}

TEST(BenchOps, LinesOfADtypeAreTheMapsThatTakeIt) {
  const bench::MapKind of_int16{.rows = 2, .columns = 8, .dtype = int16};
  for (const char* name : {"add", "bitwise_and", "remainder", "exp"})
    EXPECT_EQ(bench::call_of(*find_schema(name), of_int16).values[0].tensor().dtype(), int16) << name;
  EXPECT_TRUE(bench::takes(*find_schema("gcd"), of_int16));
  EXPECT_FALSE(bench::takes(*find_schema("nextafter"), of_int16));
  EXPECT_FALSE(bench::takes(*find_schema("sort"), of_int16));
  EXPECT_EQ(bench::bytes_of(*find_schema("add"), of_int16), (2 * 8 + 8 + 2 * 8) * 2);
}

}  // namespace
}  // namespace tenon
