// Any bytes as a .csv or .csv.gz file: a table or a FileError; the same table compressed and plain.
#include <zlib.h>

#include <vector>

#include "fuzz/case.h"
#include "fuzz/elements.h"
#include "io/load.h"

using namespace tenon;

namespace {

Tensor load(fuzz::CaseFile& file, std::string_view content) {
  try {
    const Tensor table = io::load(file.holding(content));
    fuzz::check_tensor(table);
    CLAIM(table.dim() == 2 && table.dtype() == Dtype::float64);
    return table;
  } catch (const FileError&) {
    return {};
  }
}

std::string packed(std::string_view text) {
  z_stream stream = {};
  CLAIM(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  CLAIM(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static fuzz::CaseFile plain(".csv"), zipped(".csv.gz");
  fuzz::Bytes bytes(data, size);
  const int64_t form = bytes.up_to(7);
  const std::string_view text = bytes.rest();
  if (form == 1) {
    load(zipped, text);
  } else if (form == 2) {
    const Tensor table = load(plain, text), same = load(zipped, packed(text));
    CLAIM(table.defined() == same.defined());
    if (table.defined()) CLAIM(fuzz::same_elements(table, same));
  } else {
    load(plain, text);
  }
  return 0;
}
