#include "io/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "base/checked.h"
#include "io/fail.h"
#include "io/limit.h"
#include "io/npy.h"
#include "io/npy_header.h"
#include "tenon/factories.h"

namespace tenon::io {
namespace {

// The signatures and lengths of a zip file's parts.
constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr int64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr int64_t kMostComment = 65535;
constexpr uint32_t kIn64 = 0xffffffff;      // the number is in the extra field
constexpr uint16_t kExtra64 = 1;            // the id of the extra field with 64-bit numbers
constexpr uint16_t kExtraPadding = 0xd935;  // the id of one that aligns the data
constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
constexpr uint16_t kVersion = 45;  // of the format: with 64-bit numbers
constexpr int64_t kAlignment = 64;
constexpr std::string_view kMemberEnding = ".npy";

uint32_t checksum_of(const std::byte* data, int64_t nbytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(data), static_cast<std::size_t>(nbytes)));
}

struct Entry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t packed = 0, unpacked = 0, local = 0;
};

/// The list of members of an opened file.
class Archive {
 public:
  explicit Archive(const InputFile& file) : file_(file) {
    int64_t at = 0;
    uint64_t count = 0;
    find_list(at, count);
    for (uint64_t i = 0; i < count; ++i) at = read_entry(at);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) {
      const std::string_view name = entry.name;
      names.emplace_back(name.ends_with(kMemberEnding) ? name.substr(0, name.size() - kMemberEnding.size()) : name);
    }
    return names;
  }
  const Entry& operator[](std::size_t i) const { return entries_[i]; }

  /// The bytes of a member as they are in the file.
  std::byte* packed_bytes(const Entry& entry) const {
    const int64_t local = inside(entry.local);
    if (number<uint32_t>(local) != kLocal) damaged("the header of '" + entry.name + "' is missing");
    // exact: both lengths are below 65536
    const Checked begin = Checked(local) + kLocalBytes + number<uint16_t>(local + 26) + number<uint16_t>(local + 28);
    const int64_t at = begin.or_else([&] { damaged("it is cut short"); });
    if (!(Checked(at) + inside(entry.packed)).is_at_most(file_.nbytes()))
      damaged("it is cut short: the bytes of '" + entry.name + "' end behind the file");
    return file_.data() + at;
  }
  [[noreturn]] void damaged(const std::string& why) const { fail_damaged(file_.path(), why); }

 private:
  template <class T>
  T number(int64_t at) const {
    constexpr int64_t kWidth = sizeof(T);
    if (at < 0 || at > file_.nbytes() - kWidth) damaged("it is cut short");
    T value{};
    std::memcpy(&value, file_.data() + at, sizeof value);
    return value;
  }
  /// A place or a length that must be inside the file.
  int64_t inside(uint64_t value) const {
    if (value > static_cast<uint64_t>(file_.nbytes())) damaged("it is cut short");
    return static_cast<int64_t>(value);
  }

  // exact: numbers below are inside the file, or end the loop by an error
  void find_list(int64_t& at, uint64_t& count) const {
    const int64_t last = file_.nbytes() - kEndBytes;
    int64_t end = last;
    const int64_t first = std::max<int64_t>(0, last - kMostComment);
    while (end >= first && number<uint32_t>(end) != kEnd) --end;
    if (end < first) damaged("it is cut short, or no zip file");
    count = number<uint16_t>(end + 10);
    at = number<uint32_t>(end + 16);
    const int64_t locator = end - kLocator64Bytes;
    if (locator < 0 || number<uint32_t>(locator) != kLocator64) return;
    const int64_t end64 = inside(number<uint64_t>(locator + 8));
    if (number<uint32_t>(end64) != kEnd64) damaged("its end is missing");
    count = number<uint64_t>(end64 + 32);
    at = inside(number<uint64_t>(end64 + 48));
  }
  // exact: as above
  int64_t read_entry(int64_t at) {
    if (number<uint32_t>(at) != kCentral) damaged("its list of members is damaged");
    Entry entry;
    entry.flags = number<uint16_t>(at + 8);
    entry.method = number<uint16_t>(at + 10);
    entry.checksum = number<uint32_t>(at + 16);
    entry.packed = number<uint32_t>(at + 20);
    entry.unpacked = number<uint32_t>(at + 24);
    entry.local = number<uint32_t>(at + 42);
    const int64_t name = at + kCentralBytes, extra = name + number<uint16_t>(at + 28),
                  comment = extra + number<uint16_t>(at + 30), next = comment + number<uint16_t>(at + 32);
    if (next > file_.nbytes()) damaged("it is cut short");
    entry.name.assign(reinterpret_cast<const char*>(file_.data()) + name, static_cast<std::size_t>(extra - name));
    read_extra(entry, extra, comment);
    entries_.push_back(std::move(entry));
    return next;
  }
  // exact: as above
  void read_extra(Entry& entry, int64_t at, int64_t end) const {
    while (at + 4 <= end) {
      const uint16_t id = number<uint16_t>(at);
      int64_t field = at + 4;
      at = field + number<uint16_t>(at + 2);
      if (id != kExtra64) continue;
      for (uint64_t* value : {&entry.unpacked, &entry.packed, &entry.local}) {
        if (*value != kIn64 || field + 8 > std::min(at, end)) continue;
        *value = number<uint64_t>(field);
        field += 8;
      }
    }
  }

  const InputFile& file_;
  std::vector<Entry> entries_;
};

struct Bytes {
  std::byte* data;
  int64_t nbytes;
  std::shared_ptr<void> keeper;
};

Bytes unpacked(const std::string& path, const Archive& archive, const Entry& entry) {
  constexpr int kRawDeflate = -15;
  if (entry.unpacked > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    archive.damaged("its list of members is damaged");
  const auto nbytes = static_cast<int64_t>(entry.unpacked);
  check_load_limit(path, "unpacks to", nbytes);
  const std::shared_ptr<std::byte[]> memory(new std::byte[static_cast<std::size_t>(nbytes)]);
  z_stream stream{};
  if (inflateInit2(&stream, kRawDeflate) != Z_OK) throw OutOfMemoryError("not enough memory to unpack a file");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(archive.packed_bytes(entry));
  stream.next_out = reinterpret_cast<Bytef*>(memory.get());
  uint64_t to_read = entry.packed, to_write = entry.unpacked;
  int code = Z_OK;
  do {  // zlib counts in 32 bits
    constexpr uint64_t kMost = std::numeric_limits<uInt>::max();
    const auto given = static_cast<uInt>(std::min(to_read, kMost)), room = static_cast<uInt>(std::min(to_write, kMost));
    stream.avail_in = given;
    stream.avail_out = room;
    code = inflate(&stream, Z_NO_FLUSH);
    to_read -= given - stream.avail_in;
    to_write -= room - stream.avail_out;
  } while (code == Z_OK);
  if (code == Z_MEM_ERROR) throw OutOfMemoryError("not enough memory to unpack a file");
  if (code != Z_STREAM_END || to_write > 0)
    fail_damaged(path, std::string("it cannot be unpacked: ") + (stream.msg     ? stream.msg
                                                                 : to_write > 0 ? "it is cut short"
                                                                                : "bytes are left over"));
  return {memory.get(), nbytes, memory};
}

template <class T>
void append(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

bool is_npz(const InputFile& file) noexcept {
  return file.nbytes() >= kEndBytes && std::memcmp(file.data(), &kLocal, sizeof kLocal) == 0;
}

Tensor tensor_of_npz(std::unique_ptr<InputFile> opened, const std::string& entry_name) {
  const std::shared_ptr<InputFile> file = std::move(opened);
  const Archive archive(*file);
  const std::vector<std::string> names = archive.names();
  const std::size_t found = find_entry({file->path(), entry_name}, names);
  const Entry& entry = archive[found];
  const std::string path = file->path() + ":" + names[found];
  if (entry.flags & kEncrypted) fail_file(path, "is encrypted");
  if (entry.method != kStored && entry.method != kDeflated)
    fail_file(path,
              "is compressed by method " + std::to_string(entry.method) + "; stored and deflated members are known");
  if (entry.method == kStored && entry.packed != entry.unpacked) archive.damaged("its list of members is damaged");
  const Bytes bytes = entry.method == kDeflated
                          ? unpacked(path, archive, entry)
                          : Bytes{archive.packed_bytes(entry), static_cast<int64_t>(entry.packed), file};
  if (checksum_of(bytes.data, bytes.nbytes) != entry.checksum) fail_damaged(path, "its checksum is wrong");
  return tensor_of_npy(bytes.data, bytes.nbytes, path, bytes.keeper);
}

Tensor load_npz(const EntryName& name) {
  return tensor_of_npz(std::make_unique<InputFile>(name.path, Reading::mapped), name.entry);
}

// exact: member places were computed as Checked
void NpzWriter::write_header(const Member& member, uint32_t checksum) const {
  std::string header;
  append(header, kLocal);
  append(header, kVersion);
  append(header, uint16_t{0});  // flags
  append(header, kStored);
  append(header, uint32_t{0x00210000});  // 1 January 1980: the same content gives the same file
  append(header, checksum);
  append(header, kIn64);
  append(header, kIn64);
  append(header, static_cast<uint16_t>(member.name.size()));
  const int64_t extra = member.begin - member.local - kLocalBytes - static_cast<int64_t>(member.name.size());
  append(header, static_cast<uint16_t>(extra));
  header += member.name;
  append(header, kExtra64);
  append(header, uint16_t{16});
  append(header, member.nbytes);
  append(header, member.nbytes);
  append(header, kExtraPadding);
  append(header, static_cast<uint16_t>(extra - 24));
  std::memcpy(bytes_ + member.local, header.data(), header.size());
}

std::string NpzWriter::directory_entry(const Member& member, uint32_t checksum) {
  std::string entry;
  append(entry, kCentral);
  append(entry, kVersion);
  append(entry, kVersion);
  append(entry, uint16_t{0});
  append(entry, kStored);
  append(entry, uint32_t{0x00210000});
  append(entry, checksum);
  append(entry, kIn64);
  append(entry, kIn64);
  append(entry, static_cast<uint16_t>(member.name.size()));
  append(entry, uint16_t{28});  // the extra field
  append(entry, uint16_t{0});   // comment
  append(entry, uint16_t{0});   // disk
  append(entry, uint16_t{0});
  append(entry, uint32_t{0});
  append(entry, kIn64);
  entry += member.name;
  append(entry, kExtra64);
  append(entry, uint16_t{24});
  append(entry, member.nbytes);
  append(entry, member.nbytes);
  append(entry, member.local);
  return entry;
}

NpzWriter::NpzWriter(const std::string& path, const std::vector<NewEntry>& entries) : file_(path) {
  constexpr std::size_t kMostName = 4096;
  const auto fits = [&](Checked value) {
    return value.or_else([&] { fail_file(path, "cannot be written: the tensors are larger than any file"); });
  };
  std::vector<std::string> headers;
  int64_t at = 0, directory_bytes = 0;
  for (const NewEntry& entry : entries) {
    if (entry.name.size() > kMostName) throw Error("the name of a tensor in a .npz file has at most 4096 bytes");
    if (entry.sizes.size() > kNpyMaxDims)
      throw Error("a .npy file holds at most 64 dims; the tensor has " + std::to_string(entry.sizes.size()));
    headers.push_back(npy_header(entry.dtype, entry.sizes));
    Member member{entry.name + std::string(kMemberEnding), at, 0, 0};
    const auto name_bytes = static_cast<int64_t>(member.name.size());
    const Checked least = Checked(at) + kLocalBytes + name_bytes + 24;  // exact: Checked
    member.begin = fits(least + (kAlignment - fits(least) % kAlignment) % kAlignment);
    const Checked elements = Checked(checked_numel(entry.sizes)) * itemsize(npy_dtype(entry.dtype));
    member.nbytes = fits(elements + static_cast<int64_t>(headers.back().size()));
    at = fits(Checked(member.begin) + member.nbytes);
    directory_bytes += kCentralBytes + name_bytes + 28;  // exact: as many as there are arguments of a call
    members_.push_back(std::move(member));
  }
  directory_ = at;
  bytes_ =
      file_.map(fits(Checked(at) + directory_bytes + kEnd64Bytes + kLocator64Bytes + kEndBytes));  // exact: Checked
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::byte* begin = bytes_ + members_[i].begin;  // exact: inside the file
    std::memcpy(begin, headers[i].data(), headers[i].size());
    // exact: inside the file
    tensors_.push_back(from_buffer(begin + headers[i].size(), entries[i].sizes, npy_dtype(entries[i].dtype)));
  }
}

void NpzWriter::commit() {
  std::string directory;
  for (const Member& member : members_) {
    const uint32_t checksum = checksum_of(bytes_ + member.begin, member.nbytes);  // exact: inside the file
    write_header(member, checksum);
    directory += directory_entry(member, checksum);
  }
  const uint64_t count = members_.size(), nbytes = directory.size(), begin = static_cast<uint64_t>(directory_);
  append(directory, kEnd64);
  append(directory, uint64_t{kEnd64Bytes - 12});
  append(directory, kVersion);
  append(directory, kVersion);
  append(directory, uint32_t{0});  // disks
  append(directory, uint32_t{0});
  append(directory, count);
  append(directory, count);
  append(directory, nbytes);
  append(directory, begin);
  append(directory, kLocator64);
  append(directory, uint32_t{0});
  append(directory, begin + nbytes);  // exact: inside the file
  append(directory, uint32_t{1});
  append(directory, kEnd);
  append(directory, uint32_t{0});
  append(directory, uint16_t{0xffff});
  append(directory, uint16_t{0xffff});
  append(directory, kIn64);
  append(directory, kIn64);
  append(directory, uint16_t{0});
  std::memcpy(bytes_ + directory_, directory.data(), directory.size());  // exact: the room was reserved
  file_.commit();
}

}  // namespace tenon::io
