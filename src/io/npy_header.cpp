#include "io/npy_header.h"

#include <bit>
#include <charconv>
#include <optional>

#include "io/fail.h"

namespace tenon::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kAlignment = 64;
constexpr bool kLittle = std::endian::native == std::endian::little;

// clang-format off
struct Code { const char* letters; Dtype dtype; };
constexpr Code kCodes[] = {
    {"b1", Dtype::bool_}, {"?",  Dtype::bool_}, {"u1", Dtype::uint8},   {"i1", Dtype::int8},    {"i2", Dtype::int16},
    {"i4", Dtype::int32}, {"i8", Dtype::int64}, {"f2", Dtype::float16}, {"f4", Dtype::float32}, {"f8", Dtype::float64},
    {"u2", Dtype::uint16}, {"u4", Dtype::uint32}, {"u8", Dtype::uint64},
    {"c8", Dtype::complex64}, {"c16", Dtype::complex128},
};
// clang-format on

/// Parses the Python literal in the header: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
class Literal {
 public:
  Literal(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  bool accept(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("'") + wanted + "' expected");
  }
  std::string string() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("a string expected");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string is not closed");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("True or False expected");
  }
  int64_t size() {
    skip_spaces();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failed == std::errc::result_out_of_range) fail("a size is too large");
    if (failed != std::errc()) fail("a size expected");
    if (value < 0) fail("negative size " + std::to_string(value));
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers like 3L
    return value;
  }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }
  [[noreturn]] void fail(const std::string& what) const {
    fail_damaged(path_, "its .npy header: " + what + " at character " + std::to_string(at_ + 1));
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept_word(std::string_view word) {
    skip_spaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

void read_descr(Literal& literal, NpyHeader& header, const std::string& path) {
  if (literal.accept('[')) fail_file(path, "structured dtypes are not supported");
  const std::string descr = literal.string();
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string letters = has_order ? descr.substr(1) : descr;
  for (const Code& code : kCodes) {
    if (letters != code.letters) continue;
    header.dtype = code.dtype;
    header.swapped = itemsize(code.dtype) > 1 && descr[0] == (kLittle ? '>' : '<');
    return;
  }
  fail_file(path, "dtype '" + descr +
                      "' is not supported; supported are bool, uint8, int8, int16, int32, int64, uint16, uint32, "
                      "uint64, float16, float32, float64, complex64, complex128");
}

Dims read_shape(Literal& literal) {
  Dims sizes;
  literal.expect('(');
  while (!literal.accept(')')) {
    sizes.push_back(literal.size());
    if (sizes.size() > kNpyMaxDims) literal.fail("more than 64 dims");
    if (literal.accept(',')) continue;
    literal.expect(')');
    break;
  }
  return sizes;
}

void read_fields(Literal& literal, NpyHeader& header, const std::string& path) {
  bool descr = false, order = false, shape = false;
  literal.expect('{');
  while (!literal.accept('}')) {
    const std::string key = literal.string();
    literal.expect(':');
    bool* seen = key == "descr" ? &descr : key == "fortran_order" ? &order : key == "shape" ? &shape : nullptr;
    if (!seen || *seen) literal.fail("unexpected key '" + key + "'");
    *seen = true;
    if (seen == &descr) read_descr(literal, header, path);
    if (seen == &order) header.fortran_order = literal.boolean();
    if (seen == &shape) header.sizes = read_shape(literal);
    if (literal.accept(',')) continue;
    literal.expect('}');
    break;
  }
  if (!literal.at_end()) literal.fail("nothing more expected");
  if (!descr || !order || !shape) literal.fail("'descr', 'fortran_order' or 'shape' is missing");
}

/// The header's length field: two bytes in version 1, four in 2 and 3, little-endian.
std::size_t read_length(std::string_view bytes, std::size_t width) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[kMagic.size() + 2 + i])) << (8 * i);
  return length;
}

const char* descr_of(Dtype dtype) {
  for (const Code& code : kCodes)
    if (code.dtype == dtype) return code.letters;
  return nullptr;
}

}  // namespace

bool begins_as_npy(std::string_view bytes) noexcept { return bytes.substr(0, kMagic.size()) == kMagic; }

NpyHeader read_npy_header(std::string_view bytes, const std::string& path) {
  if (bytes.empty()) fail_damaged(path, "it is cut short: it is empty");
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size())) fail_file(path, "is not a .npy file");
  if (bytes.size() < kMagic.size() + 2) fail_damaged(path, "it is cut short: the .npy header is not whole");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3) fail_damaged(path, ".npy version " + std::to_string(version) + " is not known");
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t begin = kMagic.size() + 2 + width;
  if (bytes.size() < begin) fail_damaged(path, "it is cut short: the .npy header is not whole");
  const std::size_t length = read_length(bytes, width);
  if (length > bytes.size() - begin)
    fail_damaged(path, "it is cut short: its .npy header should have " + std::to_string(length) + " bytes and has " +
                           std::to_string(bytes.size() - begin));
  NpyHeader header;
  Literal literal(bytes.substr(begin, length), path);
  read_fields(literal, header, path);
  header.data_offset = static_cast<int64_t>(begin + length);
  return header;
}

std::string npy_header(Dtype dtype, SizesView sizes) {
  const Dtype stored = npy_dtype(dtype);
  const char order = itemsize(stored) == 1 ? '|' : kLittle ? '<' : '>';
  std::string text = std::string("{'descr': '") + order + descr_of(stored) + "', 'fortran_order': False, 'shape': (";
  for (int64_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  text += sizes.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t kFixed = 10, kBlock = kAlignment;  // magic, version and two bytes of length
  // At most 64 sizes of 20 characters: always short enough for version 1.
  text.append(kBlock - 1 - (kFixed + text.size()) % kBlock, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace tenon::io
