// Any bytes as a .npz file: the tensor of its only member, which can be read completely, or a FileError. Checksums are
// corrected first, so that the code after the check is reached.
#include <zlib.h>

#include <cstring>
#include <string>

#include "fuzz/case.h"
#include "fuzz/elements.h"
#include "io/load.h"

using namespace tenon;

namespace {

/// Writes the checksum of what lies between the first local header and the list of members into the list.
std::string corrected(std::string bytes) {
  const std::size_t list = bytes.find("PK\1\2");
  if (list == std::string::npos || list < 30 || list + 46 > bytes.size()) return bytes;
  uint16_t name = 0, extra = 0;
  std::memcpy(&name, bytes.data() + 26, sizeof name);
  std::memcpy(&extra, bytes.data() + 28, sizeof extra);
  const std::size_t begin = std::size_t{30} + name + extra;
  if (begin > list) return bytes;
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data() + begin);
  const auto sum = static_cast<uint32_t>(crc32(0, data, static_cast<uInt>(list - begin)));
  std::memcpy(bytes.data() + list + 16, &sum, sizeof sum);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static fuzz::CaseFile file(".npz");
  try {
    const Tensor tensor = io::load(file.holding(corrected({reinterpret_cast<const char*>(data), size})));
    fuzz::check_tensor(tensor);
    fuzz::read_elements(tensor);
  } catch (const FileError&) {
  }
  return 0;
}
