// cli: values of expressions as JSON.
#include <cmath>

#include "base/decimal.h"
#include "cli/render.h"
#include "tenon/factories.h"
#include "type/visit.h"

namespace tenon::cli {
namespace {

template <class T>
void append_number(std::string& text, T number) {
  if constexpr (std::is_floating_point_v<T>) {
    // JSON has no such numbers.
    if (std::isnan(number)) return void(text += "\"NaN\"");
    if (std::isinf(number)) return void(text += number < 0 ? "\"-Infinity\"" : "\"Infinity\"");
  }
  append_decimal(text, number);
}

/// The shortest digits that give the number back in its dtype.
template <class T>
void append_element(std::string& text, const T& element) {
  if constexpr (std::is_same_v<T, bool>) {
    text += element ? "true" : "false";
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    append_number(text, to_float(element));
  } else if constexpr (ComplexNumber<T>) {
    text += "[";
    append_number(text, element.real());
    text += ", ";
    append_number(text, element.imag());
    text += "]";
  } else {
    append_number(text, element);
  }
}

template <class T>
void append_elements(std::string& text, const T*& next, SizesView sizes) {
  if (sizes.empty()) return append_element(text, *next++);
  text += "[";
  for (int64_t i = 0; i < sizes[0]; ++i) {
    if (i > 0) text += ", ";
    append_elements(text, next, SizesView(sizes.data() + 1, sizes.size() - 1));
  }
  text += "]";
}

std::string values_json(const Tensor& tensor) {
  const Tensor dense = tensor.detach().contiguous();
  std::string text;
  visit_dtype(dense.dtype(), [&]<class T>() {
    const T* next = static_cast<const T*>(dense.data_ptr());
    append_elements(text, next, dense.sizes());
  });
  return text;
}

}  // namespace

std::string number_json(Scalar number) {
  const bool is_exact = number.is_floating() || number.is_complex();
  const Dtype wide = number.is_complex() ? Dtype::complex128 : Dtype::float64;
  return "\"value\": " + values_json(is_exact ? full({}, number, wide) : full({}, number));
}

std::string tensor_json(const Tensor& tensor) {
  return std::string(R"("dtype": ")") + dtype_name(tensor.dtype()) + R"(", "shape": )" + to_string(tensor.sizes()) +
         ", \"values\": " + values_json(tensor);
}

}  // namespace tenon::cli
