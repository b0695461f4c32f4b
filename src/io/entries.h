// io: files of several tensors, each with a name: .safetensors and .npz.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::io {

/// "model.safetensors:layer.weight" in two parts; the entry is empty if none is named.
struct EntryName {
  std::string path;
  std::string entry;
};
/// Whether the name ends in `ending`, or goes on behind it with an entry.
bool has_entries(const std::string& name, const std::string& ending) noexcept;
/// Whether it is the name of a file of several tensors.
bool has_entries(const std::string& name) noexcept;
EntryName split_entry(const std::string& name, const std::string& ending);
EntryName split_entry(const std::string& name);

/// A tensor to write.
struct NewEntry {
  std::string name;
  Dims sizes;
  Dtype dtype = Dtype::float32;
};

/// A new file, mapped, into which results of any size can be computed.
class EntriesWriter {
 public:
  EntriesWriter() = default;
  EntriesWriter(const EntriesWriter&) = delete;
  EntriesWriter& operator=(const EntriesWriter&) = delete;
  virtual ~EntriesWriter() = default;
  /// The tensors in the order of the entries. Must not outlive the writer, nor be used after `commit`.
  const std::vector<Tensor>& tensors() const noexcept { return tensors_; }
  /// Renames the file to its path. Without this call the file is removed.
  virtual void commit() = 0;

 protected:
  std::vector<Tensor> tensors_;
};

/// Reserves the disk space of a .safetensors or .npz file. Throws FileError; Error for a dtype that such files do not
/// have, for a name that comes twice, and for one that is reserved.
std::unique_ptr<EntriesWriter> new_entries(const std::string& path, const std::vector<NewEntry>& entries);

/// "; it holds a, b, c": at most 20 names.
std::string listed(const std::vector<std::string>& names);
/// The entry asked for, or the only one. Throws FileError with the names that are there.
std::size_t find_entry(const EntryName& name, const std::vector<std::string>& names);
/// Throws for a name that comes twice, and for a pipe or a device.
void check_new_entries(const std::string& path, const std::vector<NewEntry>& entries);

}  // namespace tenon::io
