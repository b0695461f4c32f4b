// Printed text is PyTorch's, letter for letter: tests/golden/print.json, written by tools/make_print_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

using Json = nlohmann::json;

/// Numbers that are not finite, and -0.0, are strings in the file.
Scalar number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_string()) return std::stod(value.get<std::string>());
  return value.get<double>();
}

std::vector<int64_t> list_of(const Json& values) { return values.get<std::vector<int64_t>>(); }

Tensor tensor_of(const Json& c) {
  const Dtype dtype = dtype_from_name(c["dtype"].get<std::string>().c_str());
  const std::vector<int64_t> sizes = list_of(c["sizes"]), strides = list_of(c["strides"]);
  if (c["device"] == "meta") return empty_strided(sizes, strides, {dtype, Device::meta});
  Tensor storage = empty({static_cast<int64_t>(c["storage"].size())}, dtype);
  for (int64_t i = 0; i < storage.numel(); ++i)
    storage.select(0, i).fill_(number_of(c["storage"][static_cast<std::size_t>(i)]));
  return storage.as_strided(sizes, strides, c["offset"].get<int64_t>());
}

PrintOptions options_of(const Json& values) {
  PrintOptions options;
  options.precision = values.value("precision", options.precision);
  options.threshold = values.value("threshold", options.threshold);
  options.edgeitems = values.value("edgeitems", options.edgeitems);
  options.linewidth = values.value("linewidth", options.linewidth);
  if (values.contains("sci_mode")) options.scientific = values["sci_mode"].get<bool>();
  return options;
}

/// Restores the settings of printing.
class Print : public testing::Test {
 protected:
  void TearDown() override {
    set_print_options({});
    set_default_dtype(float32);
  }
};

TEST_F(Print, TensorsOfManyDims) {
  constexpr int64_t kDims = 200000;
  const std::size_t many = static_cast<std::size_t>(kDims);
  const Tensor lone = ones(Dims(kDims, 1));
  EXPECT_EQ(to_string(lone), "tensor(" + std::string(many, '[') + "1." + std::string(many, ']') + ")");
  Dims sizes(kDims, 1);
  sizes[0] = 2;
  const std::string open(many - 1, '['), close(many - 1, ']');
  EXPECT_EQ(to_string(ones(sizes)), "tensor([" + open + "1." + close + "," + std::string(many - 1, '\n') +
                                        std::string(8, ' ') + open + "1." + close + "])");
}

TEST_F(Print, IsPyTorchs) {
  std::ifstream file(TENON_SOURCE_DIR "/tests/golden/print.json");
  ASSERT_TRUE(file) << "tests/golden/print.json is missing";
  const Json cases = Json::parse(file);
  ASSERT_GT(cases.size(), 300u);
  for (const Json& c : cases) {
    set_print_options(options_of(c["options"]));
    set_default_dtype(dtype_from_name(c["default_dtype"].get<std::string>().c_str()));
    EXPECT_EQ(to_string(tensor_of(c)), c["text"].get<std::string>())
        << c["dtype"] << " sizes " << c["sizes"] << " strides " << c["strides"] << " options " << c["options"];
  }
}

TEST_F(Print, TheSignOfNanIsNotShown) {
  EXPECT_EQ(to_string(scalar_tensor(std::copysign(std::nan(""), -1.0))), "tensor(nan)");
}

TEST_F(Print, NegativeOptionsCountAsZero) {
  set_print_options({.precision = -1, .threshold = -1, .edgeitems = -1, .linewidth = -1, .scientific = {}});
  EXPECT_EQ(to_string(tensor({1.5, 2.5})), "tensor([...],\n       size=(2,))");
}

TEST_F(Print, ATensorThatIsNone) { EXPECT_EQ(to_string(Tensor()), "[ Tensor (undefined) ]"); }

}  // namespace
}  // namespace tenon
