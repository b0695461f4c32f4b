#include "io/csv.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "io/fail.h"
#include "io/limit.h"
#include "io/output.h"
#include "tenon/error.h"
#include "tenon/factories.h"
#include "type/visit.h"

namespace tenon::io {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr int64_t kWrittenNumbers = 1 << 14;  // that become text at once
constexpr std::size_t kMaxQuoted = 40;        // the most characters of a bad field in an error text

std::string_view text_of(const InputFile& file) noexcept {
  return {reinterpret_cast<const char*>(file.data()), static_cast<std::size_t>(file.nbytes())};
}

bool begins_as_gzip(std::string_view bytes) noexcept {
  return bytes.substr(0, kGzipMagic.size()) == kGzipMagic.substr(0, bytes.size());
}

/// Decompresses consecutive gzip members, a block at a time.
class Unpacker {
 public:
  explicit Unpacker(const InputFile& file) : path_(file.path()), left_(text_of(file)) {
    constexpr int kGzipOnly = 16, kWindowBits = 15;
    if (inflateInit2(&stream_, kWindowBits + kGzipOnly) != Z_OK)
      throw OutOfMemoryError("not enough memory to unpack a file");
  }
  ~Unpacker() { inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Calls `take` with the text, a block at a time.
  template <class Take>
  void unpack(const Take& take) {
    std::string block(1 << 18, '\0');
    int64_t total = 0;
    do {
      do {
        const std::size_t count = next(block);
        total += static_cast<int64_t>(count);
        check_load_limit(path_, "unpacks to", total);
        take(std::string_view(block).substr(0, count));
      } while (!member_ended_);
    } while (begin_member());
  }

 private:
  /// Decompresses a part into `block`. Returns its number of characters.
  std::size_t next(std::string& block) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const std::size_t given = std::min(left_.size(), kMost);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(block.data());
    stream_.avail_out = static_cast<uInt>(block.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw OutOfMemoryError("not enough memory to unpack a file");
    if (code == Z_BUF_ERROR) fail_damaged(path_, "it is cut short");
    if (code != Z_OK && code != Z_STREAM_END)
      fail_damaged(path_, std::string("it is no sound gzip file: ") + (stream_.msg ? stream_.msg : "unknown method"));
    left_.remove_prefix(given - stream_.avail_in);
    member_ended_ = code == Z_STREAM_END;
    return block.size() - stream_.avail_out;
  }
  /// Begins the next member. False at the end of the file, which may be padded with zeros.
  bool begin_member() {
    if (left_.find_first_not_of('\0') == std::string_view::npos) return false;
    if (!begins_as_gzip(left_)) fail_damaged(path_, "bytes are left over behind the gzip data");
    inflateReset(&stream_);
    return true;
  }

  const std::string& path_;
  std::string_view left_;
  z_stream stream_{};
  bool member_ended_ = false;
};

/// A field without the quotes around it.
std::string unquoted(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string text(field.substr(1, field.size() - 2));
  for (std::size_t at = 0; (at = text.find("\"\"", at)) != std::string::npos; ++at) text.erase(at, 1);
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::errc read_number(std::string_view field, double& value) {
  // from_chars does not accept a plus sign.
  const std::string_view digits = field.size() > 1 && field[0] == '+' && field[1] != '-' ? field.substr(1) : field;
  const auto [end, failed] = from_decimal(digits.data(), digits.data() + digits.size(), value);
  return failed == std::errc() && end != digits.data() + digits.size() ? std::errc::invalid_argument : failed;
}

/// The fields of a line of names; a comma between quotes does not end one.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  bool in_quotes = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') in_quotes = !in_quotes;
    if (i < line.size() && (line[i] != ',' || in_quotes)) continue;
    fields.push_back(trimmed(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  return fields;
}

bool begins_as_name(std::string_view field) noexcept {
  if (field.empty()) return false;
  const char first = field[0];
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_' || first == '"' ||
         static_cast<unsigned char>(first) >= 0x80;
}

/// Collects rows of numbers from lines.
class Table {
 public:
  explicit Table(const std::string& path) : path_(path), values_(std::make_unique<std::vector<double>>()) {}

  /// Reads a block of text, which may end in the middle of a line.
  void read(std::string_view block) {
    for (std::size_t end; (end = block.find('\n')) != std::string_view::npos; block.remove_prefix(end + 1)) {
      read_begun_line(block.substr(0, end));
      begun_.clear();
    }
    begun_ += block;
  }
  const std::vector<std::string>& names() const noexcept { return names_; }
  int64_t nbytes() const noexcept { return static_cast<int64_t>(values_->size() * sizeof(double)); }
  Tensor take() {
    read_begun_line({});
    if (rows_ == 0) fail_file(path_, "holds no numbers");
    const Tensor table = from_buffer(
        values_->data(), {rows_, columns_}, Dtype::float64,
        [](void*, void* context) { delete static_cast<std::vector<double>*>(context); }, values_.get());
    static_cast<void>(values_.release());  // the tensor's storage deletes them
    return table;
  }

 private:
  void read_begun_line(std::string_view rest) {
    ++line_;
    if (begun_.empty() && rest.empty()) return;
    if (begun_.empty()) return read_line(rest);
    begun_ += rest;
    read_line(begun_);
  }
  void read_line(std::string_view line) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets begin UTF-8 with it
    if (line_ == 1 && line.substr(0, kByteOrderMark.size()) == kByteOrderMark)
      line.remove_prefix(kByteOrderMark.size());
    if (trimmed(line).empty()) return;
    if (rows_ == 0 && names_.empty() && read_names(line)) return;
    column_ = 0;
    for (;;) {
      const std::size_t comma = line.find(',');
      ++column_;
      read_field(trimmed(line.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      line = line.substr(comma + 1);
    }
    if (rows_ == 0) columns_ = column_;
    if (rows_ == 0 && !names_.empty() && std::cmp_not_equal(names_.size(), columns_))
      fail("the row ends here; the line of names has " + std::to_string(names_.size()) + " columns");
    if (column_ != columns_) fail("the row ends here; the first row has " + std::to_string(columns_) + " columns");
    ++rows_;
  }
  /// Whether the line has names: no field is a number, and one begins as a name does.
  bool read_names(std::string_view line) {
    const std::vector<std::string_view> fields = fields_of(line);
    double number = 0;
    const auto is_number = [&](std::string_view field) {
      return read_number(field, number) != std::errc::invalid_argument;
    };
    if (std::any_of(fields.begin(), fields.end(), is_number)) return false;
    if (std::none_of(fields.begin(), fields.end(), begins_as_name)) return false;
    for (std::string_view field : fields) names_.push_back(unquoted(field));
    return true;
  }
  void read_field(std::string_view field) {
    if (rows_ > 0 && column_ > columns_) fail("the first row has " + std::to_string(columns_) + " columns only");
    if (field.empty()) fail("a number is missing");
    double value = 0;
    const std::errc failed = read_number(field, value);
    if (failed == std::errc::result_out_of_range) fail("'" + quoted(field) + "' is out of float64's range");
    if (failed != std::errc()) fail("'" + quoted(field) + "' is not a number");
    values_->push_back(value);
  }
  /// A field in an error text, without NULs, which would end the text.
  static std::string quoted(std::string_view field) {
    std::string text(field.substr(0, kMaxQuoted));
    for (std::size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\0");
    return field.size() <= kMaxQuoted ? text : text + "...";
  }
  [[noreturn]] void fail(const std::string& what) const {
    fail_file(path_, "line " + std::to_string(line_) + ", column " + std::to_string(column_) + ": " + what);
  }

  const std::string& path_;
  std::unique_ptr<std::vector<double>> values_;
  std::string begun_;               // the beginning of a line whose end is in the next block
  std::vector<std::string> names_;  // of the columns; empty: the file has none
  int64_t line_ = 0, column_ = 0, rows_ = 0, columns_ = 0;
};

/// The shortest digits that give the element back in its dtype.
template <class T>
void append_number(std::string& text, const T& element) {
  if constexpr (std::is_same_v<T, bool>) {
    text += element ? '1' : '0';
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    append_number(text, to_float(element));
  } else if constexpr (!ComplexNumber<T>) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(element)) return void(text += "nan");  // to_chars would write its sign
    append_decimal(text, element);
  }
}

/// The lines of some rows, [rows, columns].
std::string lines_of(const Tensor& rows) {
  const Tensor dense = rows.contiguous();
  const int64_t columns = dense.size(1);
  std::string text;
  visit_dtype(dense.dtype(), [&]<class T>() {
    const T* next = static_cast<const T*>(dense.data_ptr());
    for (int64_t row = 0; row < dense.size(0); ++row)
      for (int64_t column = 0; column < columns; ++column) {
        append_number(text, *next++);
        text += column + 1 < columns ? ',' : '\n';
      }
  });
  return text;
}

}  // namespace

Tensor tensor_of_csv(const InputFile& file, std::vector<std::string>* names) {
  Table table(file.path());
  table.read(text_of(file));
  const Tensor numbers = table.take();
  if (names) *names = table.names();
  return numbers;
}

Tensor tensor_of_gzipped_csv(const InputFile& file, std::vector<std::string>* names) {
  if (file.nbytes() == 0) fail_damaged(file.path(), "it is cut short: it is empty");
  if (!begins_as_gzip(text_of(file))) fail_file(file.path(), "is not a gzip file");
  Table table(file.path());
  Unpacker(file).unpack([&](std::string_view block) {
    table.read(block);
    check_load_limit(file.path(), "its table takes", table.nbytes());
  });
  const Tensor numbers = table.take();
  if (names) *names = table.names();
  return numbers;
}

Tensor load_column(const EntryName& name) {
  const InputFile file(name.path, Reading::mapped);
  std::vector<std::string> names;
  const Tensor table = is_gzip(file) ? tensor_of_gzipped_csv(file, &names) : tensor_of_csv(file, &names);
  if (names.empty()) fail_file(name.path, "has no line of names, so '" + name.entry + "' is none of its columns");
  const auto found = std::find(names.begin(), names.end(), name.entry);
  if (found == names.end()) fail_file(name.path, "has no column '" + name.entry + "'" + listed(names));
  return table.select(1, found - names.begin());
}

bool is_gzip(const InputFile& file) noexcept { return begins_as_gzip(text_of(file)); }

void save_csv(const std::string& path, const Tensor& tensor) {
  if (tensor.dim() > 2)
    throw Error("a CSV file has rows and columns, but the tensor has " + std::to_string(tensor.dim()) + " dims");
  if (is_complex(tensor.dtype()))
    throw TypeError(std::string("a CSV file holds real numbers, not ") + dtype_name(tensor.dtype()));
  const Tensor table = tensor.dim() == 2 ? tensor.detach() : tensor.detach().reshape({-1, 1});
  const int64_t rows = table.size(0),
                at_once = std::max<int64_t>(kWrittenNumbers / std::max<int64_t>(table.size(1), 1), 1);
  OutputFile file(path);
  for (int64_t row = 0; row < rows; row += at_once) {
    const std::string lines = lines_of(table.narrow(0, row, std::min(at_once, rows - row)));
    file.write(lines.data(), lines.size());
  }
  file.commit();
}

}  // namespace tenon::io
