// Any elements, layout and options: a text whose brackets match, in bounded length.
#include <algorithm>

#include "fuzz/case.h"
#include "fuzz/elements.h"
#include "tenon/factories.h"

using namespace tenon;

namespace {

Tensor draw_tensor(fuzz::Bytes& bytes) {
  const Dtype dtype = bytes.dtype();
  Dims sizes, strides;
  int64_t extent = 1, numel = 1;
  for (int64_t dims = bytes.up_to(8); dims > 0; --dims) {
    const int64_t size = bytes.up_to(6), stride = bytes.up_to(9);
    if (numel * size > 3000) continue;
    numel *= size;
    sizes.push_back(size);
    strides.push_back(stride);
    extent += std::max<int64_t>(size - 1, 0) * stride;
  }
  const Tensor memory = zeros({extent}, dtype);
  std::byte* data = static_cast<std::byte*>(memory.data_ptr());
  const std::string_view content = bytes.rest();
  for (int64_t i = 0; i < memory.nbytes() && !content.empty(); ++i)
    data[i] = static_cast<std::byte>(content[static_cast<std::size_t>(i) % content.size()]);
  if (dtype == Dtype::bool_)
    for (int64_t i = 0; i < memory.nbytes(); ++i) data[i] &= std::byte{1};
  return memory.as_strided(sizes, strides);
}

PrintOptions draw_options(fuzz::Bytes& bytes) {
  PrintOptions options;
  if (bytes.flag()) return options;
  options.precision = static_cast<int>(bytes.integer() % 2000);  // beyond 1074 only zeros follow
  options.threshold = bytes.integer();
  options.edgeitems = bytes.integer();
  options.linewidth = static_cast<int>(bytes.integer());
  if (bytes.flag()) options.scientific = bytes.flag();
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  set_print_options(draw_options(bytes));
  const bool meta = bytes.up_to(15) == 15;
  Tensor tensor = draw_tensor(bytes);
  if (meta) tensor = tensor.to(Device::meta);
  try {
    const std::string text = to_string(tensor);
    CLAIM_OF(text.starts_with("tensor(") && text.ends_with(")"), text);
    CLAIM_OF(std::count(text.begin(), text.end(), '[') == std::count(text.begin(), text.end(), ']'), text);
    CLAIM_OF(std::count(text.begin(), text.end(), '\0') == 0, text);
  } catch (const Error&) {
  }
  return 0;
}
