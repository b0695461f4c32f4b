// Calls by name: every declared op by its schema, with the values that its functions take.
#include <gtest/gtest.h>

#include "error_text.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

TEST(Schema, CallsAFunctionByName) {
  const Schema& sub = *find_schema("sub");
  const std::vector<Value> values{ones({2}), 3, 2};
  EXPECT_EQ(to_string(sub.function(values.data())[0]), "tensor([-5., -5.])");
  EXPECT_EQ(to_string(sub.method(values.data())[0]), "tensor([-5., -5.])");
  Tensor out = empty({2});
  sub.out(values.data(), &out);
  EXPECT_EQ(to_string(out), "tensor([-5., -5.])");
  sub.inplace(values.data());
  EXPECT_EQ(to_string(values[0].tensor()), "tensor([-5., -5.])");
}

TEST(Schema, ArgumentsThatAreLeftOutHaveTheirDefaults) {
  const Schema& sum = *find_schema("sum");
  std::vector<Value> values(static_cast<std::size_t>(sum.count));
  values[0] = ones({2, 3});
  EXPECT_EQ(to_string(sum.function(values.data())[0]), "tensor(6.)");
  values[static_cast<std::size_t>(sum.place_of("dim"))] = -1;
  values[static_cast<std::size_t>(sum.place_of("dtype"))] = int32;
  EXPECT_EQ(to_string(sum.function(values.data())[0]), "tensor([3, 3], dtype=torch.int32)");
}

TEST(Schema, AnotherKindOfValueIsATypeError) {
  EXPECT_EQ(error_text([] { static_cast<void>(Value(1).tensor()); }), "an argument is not a tensor");
  EXPECT_EQ(error_text([] { static_cast<void>(Value("x").arg()); }), "an argument is not a tensor or a number");
  EXPECT_EQ(error_text([] { static_cast<void>(Value(1.5).integer(0)); }), "an argument is not an integer");
  EXPECT_EQ(error_text([] { static_cast<void>(Value(1.5).dims_arg()); }), "an argument is not an integer");
  EXPECT_EQ(error_text([] { static_cast<void>(Value(1).boolean(false)); }), "an argument is not a bool");
  EXPECT_EQ(error_text([] { static_cast<void>(Value(1).text()); }), "an argument is not a string");
  EXPECT_EQ(error_text([] { static_cast<void>(Value(1).dtype()); }), "an argument is not a dtype");
  EXPECT_THROW(static_cast<void>(Value().tensor()), TypeError);
}

TEST(Schema, EveryOpIsThereOnceWithItsSignature) {
  std::string previous;
  for (const Schema& schema : schemas()) {
    const std::string names = std::string(schema.name) + " " + schema.block;
    EXPECT_LT(previous, names);
    previous = names;
    EXPECT_TRUE(std::string_view(schema.signature).starts_with(std::string(schema.name) + "(")) << schema.signature;
    EXPECT_NE(schema.function, nullptr) << schema.block;
    EXPECT_TRUE(schema.inplace == nullptr || schema.place_of("self") >= 0) << schema.block;
  }
  EXPECT_EQ(find_schema("no such op"), nullptr);
}

}  // namespace
}  // namespace tenon
