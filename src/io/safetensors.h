// io: .safetensors files: named tensors in one file. Loads a tensor over the mapped file; saves a file that appears
// only when it is complete. https://huggingface.co/docs/safetensors
#pragma once
#include <string>
#include <vector>

#include "io/input.h"
#include "io/output.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// "model.safetensors:layer.weight" in two parts; the entry is empty if none is named.
struct SafetensorsName {
  std::string path;
  std::string entry;
};
/// Whether the name is that of such a file, possibly with an entry.
bool is_safetensors(const std::string& name) noexcept;
SafetensorsName split_safetensors(const std::string& name);

/// The tensor of that name, or the only one. The file is mapped: elements are read when they are used. Elements that
/// are not aligned are copied to memory. Throws FileError for invalid files, and for a name that is not there or is
/// needed.
Tensor load_safetensors(const SafetensorsName& name);

/// A new file, mapped, into which results of any size can be computed.
class SafetensorsWriter {
 public:
  struct Entry {
    std::string name;
    Dims sizes;
    Dtype dtype = Dtype::float32;
  };
  /// Reserves the disk space. Throws FileError; Error for a dtype that such files do not have, for a name that comes
  /// twice, and for one that is reserved.
  SafetensorsWriter(const std::string& path, const std::vector<Entry>& entries);
  /// The tensors in the order of the entries. Must not outlive the writer, nor be used after `commit`.
  const std::vector<Tensor>& tensors() const noexcept { return tensors_; }
  /// Renames the file to its path. Without this call the file is removed.
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  std::vector<Tensor> tensors_;
};

}  // namespace tenon::io
