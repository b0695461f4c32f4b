// Any bytes as a .npy file, mapped or copied: a tensor that can be read completely, or a FileError.
#include <memory>

#include "fuzz/case.h"
#include "fuzz/elements.h"
#include "io/input.h"
#include "io/npy.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static fuzz::CaseFile file(".npy");
  try {
    const std::string& path = file.holding({reinterpret_cast<const char*>(data), size});
    const auto reading = size % 2 == 0 ? io::Reading::mapped : io::Reading::copied;
    const Tensor tensor = io::tensor_of_npy(std::make_unique<io::InputFile>(path, reading));
    fuzz::check_tensor(tensor);
    CLAIM_OF(tensor.nbytes() <= static_cast<int64_t>(size), "more elements than the file has");
    fuzz::read_elements(tensor);
  } catch (const FileError&) {
  }
  return 0;
}
