// Clones and *_like tensors keep the order of dims that PyTorch keeps.
#include "shape/dense_strides.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tenon/error.h"

#ifndef TENON_SOURCE_DIR
#define TENON_SOURCE_DIR "."
#endif

namespace tenon {
namespace {

TEST(DenseStrides, Table) {
  const struct {
    const char* why;
    Dims sizes, strides, want;
  } cases[] = {
      {"dense: kept as it is", {3, 2}, {1, 3}, {1, 3}},
      {"a gap closes", {2, 3}, {8, 2}, {3, 1}},
      {"transposed with gaps stays so", {3, 2}, {2, 8}, {1, 3}},
      {"an expanded dim is row-major", {2, 3}, {0, 1}, {3, 1}},
      {"channels last with a gap", {1, 2, 2, 2}, {16, 1, 8, 2}, {8, 1, 4, 2}},
      {"no elements: kept as it is", {0, 3}, {7, 5}, {7, 5}},
      {"no dims", {}, {}, {}},
  };
  for (const auto& c : cases) EXPECT_EQ(dense_strides_like(c.sizes, c.strides), c.want) << c.why;
}

TEST(DenseStrides, FormatsReplaceTheOrder) {
  EXPECT_EQ(strides_like({3, 2}, {1, 3}, MemoryFormat::contiguous), Dims({2, 1}));
  EXPECT_EQ(strides_like({2, 3, 4, 5}, {60, 20, 5, 1}, MemoryFormat::channels_last), Dims({60, 1, 15, 3}));
  EXPECT_THROW(strides_like({2, 3}, {3, 1}, MemoryFormat::channels_last), Error);
}

Dims dims_of(const nlohmann::json& values) {
  Dims dims;
  for (const auto& value : values) dims.push_back(value.get<int64_t>());
  return dims;
}

TEST(DenseStrides, SpecOfClone) {
  const char* folder = std::getenv("TENON_SPEC");
  std::ifstream file((folder ? std::string(folder) : TENON_SOURCE_DIR "/../shared/spec") + "/cases/strides.json");
  ASSERT_TRUE(file) << "strides.json is missing: set TENON_SPEC to the folder of the specification";
  int checked = 0;
  const auto spec = nlohmann::json::parse(file);
  for (const auto& c : spec["cases"]) {
    if (c[0].size() != 1) continue;  // several inputs: the result of an op, not of clone
    EXPECT_EQ(dense_strides_like(dims_of(c[0][0][0]), dims_of(c[0][0][1])), dims_of(c[2])) << c;
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace tenon
