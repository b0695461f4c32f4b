// At special values (infinities, NaN, -0, extremes of integers) every op gives PyTorch's result, in every dtype.
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "spec.h"

namespace {

using spec::attempt;
using spec::Dtype;
using spec::json;
using spec::Rows;
using spec::Tensor;

double number_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) return std::strtod(value.get<std::string>().c_str(), nullptr);
  return value.get<double>();
}

void store(std::byte* place, const json& value, Dtype dtype) {
  const auto put = [&](auto element) { std::memcpy(place, &element, sizeof(element)); };
  const auto integer = [&] {
    return value.is_number_integer() ? value.get<int64_t>() : static_cast<int64_t>(number_of(value));
  };
  switch (dtype) {
    case Dtype::bool_:
      return put(static_cast<uint8_t>(number_of(value) != 0));
    case Dtype::uint8:
      return put(static_cast<uint8_t>(integer()));
    case Dtype::int8:
      return put(static_cast<int8_t>(integer()));
    case Dtype::int16:
      return put(static_cast<int16_t>(integer()));
    case Dtype::int32:
      return put(static_cast<int32_t>(integer()));
    case Dtype::int64:
      return put(integer());
    case Dtype::uint16:
      return put(static_cast<uint16_t>(integer()));
    case Dtype::uint32:
      return put(static_cast<uint32_t>(integer()));
    case Dtype::uint64:
      return put(value.is_number_unsigned() ? value.get<uint64_t>() : static_cast<uint64_t>(integer()));
    case Dtype::float16:
      return put(tenon::to_float16(static_cast<float>(number_of(value))));
    case Dtype::bfloat16:
      return put(tenon::to_bfloat16(static_cast<float>(number_of(value))));
    case Dtype::float32:
      return put(static_cast<float>(number_of(value)));
    case Dtype::float64:
      return put(number_of(value));
    case Dtype::complex64:
    case Dtype::complex128:
      break;  // not in the table
  }
}

Tensor tensor_of(const json& values, Dtype dtype, tenon::SizesView sizes) {
  Tensor tensor = tenon::empty(sizes, dtype);
  auto* place = static_cast<std::byte*>(tensor.data_ptr());
  for (const json& value : values) {
    store(place, value, dtype);
    place += tensor.itemsize();
  }
  return tensor;
}

/// An element as text. All NaNs are equal; -0 is not 0.
std::string element_of(const Tensor& tensor, int64_t i) {
  const auto* place = static_cast<const std::byte*>(tensor.data_ptr()) + i * tensor.itemsize();
  const auto get = [&](auto element) {
    std::memcpy(&element, place, sizeof(element));
    return element;
  };
  const auto floating = [](double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return std::isnan(value) ? std::string("nan") : std::string(text);
  };
  switch (tensor.dtype()) {
    case Dtype::bool_:
    case Dtype::uint8:
      return std::to_string(get(uint8_t{}));
    case Dtype::int8:
      return std::to_string(get(int8_t{}));
    case Dtype::int16:
      return std::to_string(get(int16_t{}));
    case Dtype::int32:
      return std::to_string(get(int32_t{}));
    case Dtype::int64:
      return std::to_string(get(int64_t{}));
    case Dtype::uint16:
      return std::to_string(get(uint16_t{}));
    case Dtype::uint32:
      return std::to_string(get(uint32_t{}));
    case Dtype::uint64:
      return std::to_string(get(uint64_t{}));
    case Dtype::float16:
      return floating(tenon::to_float(get(tenon::Float16{})));
    case Dtype::bfloat16:
      return floating(tenon::to_float(get(tenon::BFloat16{})));
    case Dtype::float32:
      return floating(get(float{}));
    case Dtype::float64:
      return floating(get(double{}));
    case Dtype::complex64:
    case Dtype::complex128:
      break;
  }
  return "?";
}

using Op = std::function<Tensor(const Tensor& a, const Tensor& b)>;
/// The maps by the specification's names; `b` is undefined for unary ops.
std::map<std::string, Op> ops() {
  using T = const Tensor&;
  std::map<std::string, Op> table = {
      {"div[trunc]", [](T a, T b) { return tenon::div(a, b, "trunc"); }},
      {"div[floor]", [](T a, T b) { return tenon::div(a, b, "floor"); }},
  };
  for (const tenon::Schema& schema : tenon::schemas()) {
    if (!schema.is_map()) continue;
    table.try_emplace(schema.name, [&schema](T a, T b) {
      std::vector<tenon::Value> values(static_cast<std::size_t>(schema.count));
      values[0] = a;
      if (b.defined()) values[1] = b;
      return schema.function(values.data())[0];
    });
  }
  return table;
}

/// Whether two results, each with an error below one ulp, can be those of the same call. PyTorch rounds the logarithm
/// of 16-bit floats, too; an error of logaddexp is relative to the larger operand.
bool may_be_rounded_otherwise(const std::string& name, const Tensor& a, const Tensor& b, int64_t i) {
  const double x = std::strtod(element_of(a, i).c_str(), nullptr), y = std::strtod(element_of(b, i).c_str(), nullptr);
  if (tenon::itemsize(a.dtype()) == 2)
    return std::abs(x - y) <= std::abs(x) * (a.dtype() == Dtype::float16 ? 0x1p-10 : 0x1p-7);
  if (name == "logaddexp" && std::abs(x - y) <= (a.dtype() == Dtype::float64 ? 0x1p-53 : 0x1p-23)) return true;
  const double next =
      a.dtype() == Dtype::float64 ? std::nextafter(x, y) : std::nextafter(static_cast<float>(x), static_cast<float>(y));
  return next == y;
}

TEST(SpecValues, Elementwise) {
  TENON_NEEDS_SPEC();
  Rows rows(spec::AtLeast{12916});
  const auto table = ops();
  for (const json& row : spec::read_cases("values")) {
    const std::string name = row[0];
    const auto op = table.find(name);
    if (op == table.end() && name != "to") continue;  // not declared
    const Dtype dtype = tenon::dtype_from_name(row[1].get<std::string>().c_str());
    const Dtype result_dtype = tenon::dtype_from_name(row[2].get<std::string>().c_str());
    const auto height = static_cast<int64_t>(row[3].size()),
               width = row[4].is_null() ? 1 : static_cast<int64_t>(row[4].size());
    const Tensor a =
        tensor_of(row[3], dtype, row[4].is_null() ? tenon::SizesView{height} : tenon::SizesView{height, 1});
    const Tensor b = row[4].is_null() ? Tensor() : tensor_of(row[4], dtype, {width});
    const auto got = attempt([&] { return name == "to" ? a.to(result_dtype) : op->second(a, b); });
    const std::string head = name + " " + row[1].get<std::string>();
    const bool sound = !got.failed() && got.value.dtype() == result_dtype && got.value.is_contiguous() &&
                       got.value.numel() == height * width;
    const Tensor want = tensor_of(row[5], result_dtype, {height * width});
    for (int64_t i = 0; i < height * width; ++i) {
      // For elements after its last whole vector, PyTorch also rounds the square root to 16 bits.
      if (name == "rsqrt" && tenon::itemsize(dtype) == 2 && number_of(row[3][i]) > 0 && number_of(row[3][i]) < 1e-6)
        continue;
      // 0 or -0, depending on PyTorch's loop.
      if ((name == "fmax" || name == "fmin") && number_of(row[3][i / width]) == 0 && number_of(row[4][i % width]) == 0)
        continue;
      const bool is_rounded = name == "atan2" || name == "logaddexp" || name == "pow" || name == "xlogy";
      if (is_rounded && sound && may_be_rounded_otherwise(name, want, got.value, i)) continue;
      const std::string operands =
          "(" + row[3][i / width].dump() + (b.defined() ? ", " + row[4][i % width].dump() : "") + ")";
      rows.same(head + operands, element_of(want, i),
                sound ? element_of(got.value, i) : "another dtype or shape: " + got.text);
    }
  }
}

}  // namespace
