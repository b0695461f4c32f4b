// io: .npz files: a zip archive of .npy files. Loads a tensor; saves a file that appears only when it is complete.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once
#include <string>
#include <vector>

#include "io/entries.h"
#include "io/input.h"
#include "io/output.h"

namespace tenon::io {

inline constexpr const char* kNpz = ".npz";

/// The tensor of that name ("NAME" is the member NAME.npy), or the only one. A stored member is mapped; a compressed
/// one is unpacked to memory, up to the limit of io/limit.h. Throws FileError for invalid files, also for a wrong
/// checksum, and for a name that is not there or is needed.
Tensor load_npz(const EntryName& name);
Tensor tensor_of_npz(std::unique_ptr<InputFile> file, const std::string& entry);
bool is_npz(const InputFile& file) noexcept;

/// Members are stored, as NumPy's `savez` does, and aligned to 64 bytes. bfloat16 becomes float32.
class NpzWriter : public EntriesWriter {
 public:
  NpzWriter(const std::string& path, const std::vector<NewEntry>& entries);
  /// Computes the checksums.
  void commit() override;

 private:
  struct Member {
    std::string name;
    int64_t local = 0;  // where its header begins
    int64_t begin = 0;  // where its .npy file begins
    int64_t nbytes = 0;
  };
  void write_header(const Member& member, uint32_t checksum) const;
  static std::string directory_entry(const Member& member, uint32_t checksum);

  OutputFile file_;
  std::byte* bytes_ = nullptr;
  std::vector<Member> members_;
  int64_t directory_ = 0;  // where the list of members begins
};

}  // namespace tenon::io
