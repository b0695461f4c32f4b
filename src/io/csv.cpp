#include "io/csv.h"

#include <zlib.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "io/mapped.h"
#include "tenon/error.h"
#include "tenon/factories.h"

namespace tenon::io {
namespace {

constexpr std::size_t kMaxQuoted = 40;  // characters of a bad field that an error shows

bool ends_with_gz(std::string_view path) { return path.size() > 3 && path.substr(path.size() - 3) == ".gz"; }

struct GzClose {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

/// The unpacked text of a .gz file.
std::string unpack(const std::string& path) {
  const std::unique_ptr<gzFile_s, GzClose> file(gzopen(path.c_str(), "rb"));
  if (!file) fail_system(path, "cannot be opened");
  std::string text;
  std::vector<char> block(1 << 18);
  for (;;) {
    const int count = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    if (count <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  int code = Z_OK;
  const char* words = gzerror(file.get(), &code);
  if (code == Z_BUF_ERROR) fail_file(path, "is cut short");
  if (code != Z_OK) fail_file(path, std::string("is not a sound gzip file: ") + words);
  if (gzdirect(file.get())) fail_file(path, "is not a gzip file");
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Collects rows of numbers from lines.
class Table {
 public:
  explicit Table(const std::string& path) : path_(path), values_(std::make_unique<std::vector<double>>()) {}

  void read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      ++line_;
      read_line(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
  }
  Tensor take() {
    if (rows_ == 0) fail_file(path_, "holds no numbers");
    std::vector<double>* values = values_.release();
    return from_buffer(
        values->data(), {rows_, columns_}, Dtype::float64,
        [](void*, void* context) { delete static_cast<std::vector<double>*>(context); }, values);
  }

 private:
  void read_line(std::string_view line) {
    if (trimmed(line).empty()) return;
    column_ = 0;
    for (;;) {
      const std::size_t comma = line.find(',');
      ++column_;
      read_field(trimmed(line.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      line = line.substr(comma + 1);
    }
    if (rows_ == 0) columns_ = column_;
    if (column_ != columns_) fail("the row ends here; the first row has " + std::to_string(columns_) + " columns");
    ++rows_;
  }
  void read_field(std::string_view field) {
    if (rows_ > 0 && column_ > columns_) fail("the first row has " + std::to_string(columns_) + " columns only");
    if (field.empty()) fail("a number is missing");
    // from_chars knows no plus sign.
    const std::string_view digits = field.size() > 1 && field[0] == '+' && field[1] != '-' ? field.substr(1) : field;
    double value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failed == std::errc::result_out_of_range) fail("'" + quoted(field) + "' is out of float64's range");
    if (failed != std::errc() || end != digits.data() + digits.size()) fail("'" + quoted(field) + "' is not a number");
    values_->push_back(value);
  }
  static std::string quoted(std::string_view field) {
    return field.size() <= kMaxQuoted ? std::string(field) : std::string(field.substr(0, kMaxQuoted)) + "...";
  }
  [[noreturn]] void fail(const std::string& what) const {
    fail_file(path_, "line " + std::to_string(line_) + ", column " + std::to_string(column_) + ": " + what);
  }

  const std::string& path_;
  std::unique_ptr<std::vector<double>> values_;
  int64_t line_ = 0, column_ = 0, rows_ = 0, columns_ = 0;
};

}  // namespace

Tensor load_csv(const std::string& path) {
  const MappedFile file(path);  // a directory or a missing file fails here, in the same words as for every format
  Table table(path);
  if (ends_with_gz(path)) {
    table.read(unpack(path));
  } else {
    table.read({reinterpret_cast<const char*>(file.data()), static_cast<std::size_t>(file.nbytes())});
  }
  return table.take();
}

}  // namespace tenon::io
