// io: .safetensors files: named tensors in one file. Loads a tensor over the mapped file; saves a file that appears
// only when it is complete. https://huggingface.co/docs/safetensors
#pragma once
#include <string>
#include <vector>

#include "io/entries.h"
#include "io/input.h"
#include "io/output.h"

namespace tenon::io {

inline constexpr const char* kSafetensors = ".safetensors";

/// The tensor of that name, or the only one. The file is mapped: elements are read when they are used. Elements that
/// are not aligned are copied to memory. Throws FileError for invalid files, and for a name that is not there or is
/// needed.
Tensor load_safetensors(const EntryName& name);

class SafetensorsWriter : public EntriesWriter {
 public:
  SafetensorsWriter(const std::string& path, const std::vector<NewEntry>& entries);
  void commit() override { file_.commit(); }

 private:
  OutputFile file_;
};

}  // namespace tenon::io
