#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/checked.h"
#include "io/fail.h"
#include "tenon/error.h"
#include "tenon/factories.h"

namespace tenon::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kLengthBytes = 8;
constexpr std::pair<const char*, Dtype> kDtypes[] = {
    {"BOOL", Dtype::bool_},  {"U8", Dtype::uint8},      {"I8", Dtype::int8},       {"I16", Dtype::int16},
    {"I32", Dtype::int32},   {"I64", Dtype::int64},     {"U16", Dtype::uint16},    {"U32", Dtype::uint32},
    {"U64", Dtype::uint64},  {"F16", Dtype::float16},   {"BF16", Dtype::bfloat16}, {"F32", Dtype::float32},
    {"F64", Dtype::float64}, {"C64", Dtype::complex64},
};

const char* code_of(Dtype dtype) {
  for (const auto& [code, known] : kDtypes)
    if (known == dtype) return code;
  throw Error(std::string(".safetensors files know no ") + dtype_name(dtype) + "; .npy files do");
}

/// Where the entry's elements lie in the file.
struct Place {
  Dtype dtype = Dtype::float32;
  Dims sizes;
  int64_t begin = 0;
};

/// The header of an opened file.
class Header {
 public:
  explicit Header(const InputFile& file) : file_(file) {
    const int64_t nbytes = file.nbytes();
    if (nbytes < kLengthBytes) damaged("it is cut short: it has " + std::to_string(nbytes) + " bytes");
    uint64_t length = 0;
    std::memcpy(&length, file.data(), kLengthBytes);
    if (length > static_cast<uint64_t>(nbytes - kLengthBytes)) damaged("its header is longer than the file");
    data_ = kLengthBytes + static_cast<int64_t>(length);  // exact: inside the file
    const char* text = reinterpret_cast<const char*>(file.data()) + kLengthBytes;
    // Deeper than any header, so that the parser does not recurse without end.
    const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
      if (depth > 8) damaged("its header nests too deep");
      return true;
    };
    json_ = Json::parse(text, text + length, shallow, false);
    if (!json_.is_object()) damaged("its header is no JSON object");
    json_.erase("__metadata__");
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : json_.items()) names.push_back(name);
    return names;
  }
  Place place(const std::string& name) const {
    try {
      return checked(name, json_.at(name));
    } catch (const Json::exception&) {
      damaged("entry '" + name + "' has no dtype, shape and data_offsets");
    }
  }

 private:
  [[noreturn]] void damaged(const std::string& why) const { fail_damaged(file_.path(), why); }
  Place checked(const std::string& name, const Json& entry) const {
    const std::string code = entry.at("dtype").get<std::string>();
    const auto* const known =
        std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const auto& dtype) { return code == dtype.first; });
    if (known == std::end(kDtypes))
      fail_file(file_.path(), "entry '" + name + "' has dtype " + code + ", which is not supported");
    Place place{known->second, {}, 0};
    for (const Json& size : entry.at("shape")) place.sizes.push_back(natural(size, name));
    const Json& offsets = entry.at("data_offsets");
    const int64_t begin = natural(offsets.at(0), name), end = natural(offsets.at(1), name);
    int64_t nbytes = itemsize(place.dtype);
    for (int64_t size : place.sizes)
      if (__builtin_mul_overflow(nbytes, size, &nbytes))
        damaged("the shape of entry '" + name + "' is larger than any file");
    if (end < begin || end > file_.nbytes() - data_) damaged("the bytes of entry '" + name + "' end behind the file");
    if (end - begin != nbytes)
      damaged("entry '" + name + "' of shape " + to_string(place.sizes) + " takes " + std::to_string(nbytes) +
              " bytes, and has " + std::to_string(end - begin));
    place.begin = data_ + begin;  // exact: inside the file
    return place;
  }
  int64_t natural(const Json& number, const std::string& name) const {
    if (!number.is_number_integer() || number.get<int64_t>() < 0)
      damaged("entry '" + name + "' has a size or an offset that is no natural number");
    return number.get<int64_t>();
  }

  const InputFile& file_;
  Json json_;
  int64_t data_ = 0;  // bytes before the first element
};

void check_bools(const std::string& path, const std::byte* data, int64_t count) {
  const bool sound = std::all_of(data, data + count, [](std::byte value) { return value <= std::byte{1}; });
  if (!sound) fail_damaged(path, "elements of dtype bool hold bytes other than 0 and 1");
}

int64_t bytes_from(const std::string& path, Checked nbytes) {
  return nbytes.or_else([&] { fail_file(path, "cannot be written: the tensors are larger than any file"); });
}

void close_file(void*, void* context) { delete static_cast<InputFile*>(context); }

}  // namespace

Tensor load_safetensors(const EntryName& name) {
  auto file = std::make_unique<InputFile>(name.path, Reading::mapped);
  const Header header(*file);
  const std::vector<std::string> names = header.names();
  const Place place = header.place(names[find_entry(name, names)]);
  const int64_t count = numel_of(place.sizes);
  if (count == 0) return empty(place.sizes, place.dtype);
  std::byte* data = file->data() + place.begin;
  if (place.dtype == Dtype::bool_) check_bools(name.path, data, count);
  const int64_t width = itemsize(place.dtype);
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(width) != 0) {
    const Tensor copy = empty(place.sizes, place.dtype);
    std::memcpy(copy.data_ptr(), data, static_cast<std::size_t>(count * width));  // exact: inside the file
    return copy;
  }
  const Tensor tensor = from_buffer(data, place.sizes, place.dtype, close_file, file.get());
  static_cast<void>(file.release());  // the tensor's storage closes it
  return tensor;
}

SafetensorsWriter::SafetensorsWriter(const std::string& path, const std::vector<NewEntry>& entries) : file_(path) {
  // The widest dtypes first, so that all entries are aligned.
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return itemsize(entries[a].dtype) > itemsize(entries[b].dtype);
  });
  Json header = Json::object();
  std::vector<int64_t> begins(entries.size());
  Checked end = 0;
  for (std::size_t i : order) {
    const NewEntry& entry = entries[i];
    if (entry.name == "__metadata__") throw Error("no tensor in a .safetensors file can be named __metadata__");
    begins[i] = bytes_from(path, end);
    end += Checked(checked_numel(entry.sizes)) * itemsize(entry.dtype);
    header[entry.name] = {{"dtype", code_of(entry.dtype)},
                          {"shape", std::vector<int64_t>(entry.sizes.begin(), entry.sizes.end())},
                          {"data_offsets", {begins[i], bytes_from(path, end)}}};
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  const uint64_t length = text.size();
  const int64_t data = kLengthBytes + static_cast<int64_t>(length);
  std::byte* bytes = file_.map(bytes_from(path, end + data));
  std::memcpy(bytes, &length, kLengthBytes);
  std::memcpy(bytes + kLengthBytes, text.data(), text.size());  // exact: inside the file
  for (std::size_t i = 0; i < entries.size(); ++i)
    tensors_.push_back(
        from_buffer(bytes + data + begins[i], entries[i].sizes, entries[i].dtype));  // exact: inside the file
}

}  // namespace tenon::io
