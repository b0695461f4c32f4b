#include "io/png.h"

#include <png.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "io/fail.h"
#include "io/limit.h"
#include "io/output.h"
#include "tenon/error.h"
#include "tenon/factories.h"

namespace tenon::io {
namespace {

/// The data of libpng's callbacks. libpng reports errors by longjmp, so functions that call setjmp have no objects with
/// destructors: they store the error text here and return false, and their callers throw.
struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const std::byte* next = nullptr;  // next byte of the file that is read
  std::size_t left = 0;
  OutputFile* out = nullptr;
  std::exception_ptr failed_write;
  char error[160] = {};
};

void keep_error(png_structp png, png_const_charp text) {
  Session* session = static_cast<Session*>(png_get_error_ptr(png));
  std::strncpy(session->error, text, sizeof session->error - 1);
  png_longjmp(png, 1);
}
void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep bytes, std::size_t count) {
  Session* session = static_cast<Session*>(png_get_io_ptr(png));
  if (count > session->left) png_error(png, "is cut short");
  std::memcpy(bytes, session->next, count);
  session->next += count;
  session->left -= count;
}

/// Stores an exception in the session, because it must not pass through libpng.
bool write_or_keep_error(Session* session, const void* bytes, std::size_t count) noexcept {
  try {
    session->out->write(bytes, count);
    return true;
  } catch (...) {
    session->failed_write = std::current_exception();
    return false;
  }
}
void write_bytes(png_structp png, png_bytep bytes, std::size_t count) {
  if (!write_or_keep_error(static_cast<Session*>(png_get_io_ptr(png)), bytes, count))
    png_error(png, "cannot be written");
}
void flush_nothing(png_structp) {}

class Reader {
 public:
  explicit Reader(const InputFile& file) {
    session_.next = file.data();
    session_.left = static_cast<std::size_t>(file.nbytes());
    session_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session_, keep_error, ignore_warning);
    if (session_.png) session_.info = png_create_info_struct(session_.png);
    if (!session_.info) throw OutOfMemoryError("not enough memory to read a PNG file");
    png_set_read_fn(session_.png, &session_, read_bytes);
    png_set_user_limits(session_.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_promise has its own limits
  }
  ~Reader() { png_destroy_read_struct(&session_.png, &session_.info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const char* error() const noexcept { return session_.error; }
  int64_t height() const noexcept { return png_get_image_height(session_.png, session_.info); }
  int64_t width() const noexcept { return png_get_image_width(session_.png, session_.info); }
  int64_t channels() const noexcept { return png_get_channels(session_.png, session_.info); }
  bool is_wide() const noexcept { return png_get_bit_depth(session_.png, session_.info) == 16; }

  /// Reads the header and sets the conversion of samples to 8 or 16 bits.
  bool read_header() {
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_read_info(session_.png, session_.info);
    png_set_expand(session_.png);  // palettes, fewer than 8 bits, a transparent colour
    if (std::endian::native == std::endian::little) png_set_swap(session_.png);  // 16-bit samples are big-endian
    png_set_interlace_handling(session_.png);
    png_read_update_info(session_.png, session_.info);
    return true;
  }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_read_image(session_.png, rows);
    png_read_end(session_.png, nullptr);
    return true;
  }

 private:
  Session session_;
};

/// Throws if the header claims more pixels than the file can hold: deflate compresses at most 1032 bytes to one.
/// Otherwise a damaged file could cost gigabytes of memory.
void check_promise(const InputFile& file, const Reader& reader) {
  constexpr double kMostPerByte = 1032;
  const double samples = static_cast<double>(reader.height()) * static_cast<double>(reader.width());
  if (samples / 8 > kMostPerByte * static_cast<double>(file.nbytes()))
    fail_damaged(file.path(), "it is cut short: it says " + std::to_string(reader.height()) + " x " +
                                  std::to_string(reader.width()) + " pixels and has " + std::to_string(file.nbytes()) +
                                  " bytes");
  const double nbytes = samples * static_cast<double>(reader.channels()) * (reader.is_wide() ? 4 : 1);
  check_load_limit(file.path(), "the picture takes", nbytes < 9e18 ? static_cast<int64_t>(nbytes) : INT64_MAX);
}

/// Unsigned 16-bit samples, given in an int16 tensor, as int32.
Tensor widened(const Tensor& samples) {
  const Tensor wide = empty(samples.sizes(), Dtype::int32);
  const uint16_t* from = static_cast<const uint16_t*>(samples.data_ptr());
  std::copy(from, from + samples.numel(), static_cast<int32_t*>(wide.data_ptr()));
  return wide;
}

class Writer {
 public:
  explicit Writer(OutputFile& out) {
    session_.out = &out;
    session_.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session_, keep_error, ignore_warning);
    if (session_.png) session_.info = png_create_info_struct(session_.png);
    if (!session_.info) throw OutOfMemoryError("not enough memory to write a PNG file");
    png_set_write_fn(session_.png, &session_, write_bytes, flush_nothing);
  }
  ~Writer() { png_destroy_write_struct(&session_.png, &session_.info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  const Session& session() const noexcept { return session_; }

  bool begin(png_uint_32 height, png_uint_32 width, int colour) {
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_set_IHDR(session_.png, session_.info, width, height, 8, colour, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(session_.png, session_.info);
    return true;
  }
  bool write_row(png_const_bytep row) {
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_write_row(session_.png, row);
    return true;
  }
  bool end() {
    if (setjmp(png_jmpbuf(session_.png))) return false;
    png_write_end(session_.png, nullptr);
    return true;
  }

 private:
  Session session_;
};

void check_written(bool written, const Writer& writer, const std::string& path) {
  if (written) return;
  if (writer.session().failed_write) std::rethrow_exception(writer.session().failed_write);
  fail_file(path, writer.session().error);
}

/// Checks that floats are from 0 to 1. Rounding errors of less than half of 1/255 are accepted.
void check_brightness(const Tensor& tensor) {
  constexpr double kSlack = 0.5 / 255;
  const Tensor pixels = tensor.detach();
  const double low = pixels.amin().item<double>(), high = pixels.amax().item<double>();
  if (std::isnan(low)) throw Error("a PNG of floating point shows 0 (black) to 1 (white); the tensor holds NaN");
  if (low >= -kSlack && high <= 1 + kSlack) return;
  char range[80];
  std::snprintf(range, sizeof range, "%g to %g", low, high);
  Error error(std::string("a PNG of floating point shows 0 (black) to 1 (white); the tensor holds ") + range);
  error.add_note(
      "x.clamp(0, 255).to(uint8) writes values of 0 to 255 as they are; x.clamp(0, 1) cuts off what is beyond");
  error.add_note("(x - x.amin()) / (x.amax() - x.amin()) shows all of it");
  throw error;
}

void check_picture(const Tensor& tensor) {
  const bool grey = tensor.dim() == 2, coloured = tensor.dim() == 3 && tensor.size(2) >= 1 && tensor.size(2) <= 4;
  if (!grey && !coloured)
    throw Error("a PNG needs a tensor of shape [H, W] or [H, W, C] with 1 to 4 channels, not " +
                to_string(tensor.sizes()));
  if (tensor.numel() == 0)
    throw Error("a PNG needs at least one pixel; the tensor has shape " + to_string(tensor.sizes()));
  if (tensor.size(0) > PNG_UINT_31_MAX || tensor.size(1) > PNG_UINT_31_MAX)
    throw Error("a PNG has at most 2147483647 rows and columns; the tensor has shape " + to_string(tensor.sizes()));
  const Dtype dtype = tensor.dtype();
  if (dtype != Dtype::uint8 && dtype != Dtype::bool_ && !is_floating_point(dtype))
    throw TypeError(std::string("a PNG needs dtype uint8, bool or floating point, not ") + dtype_name(dtype) +
                    "; convert with .to(uint8)");
  if (is_floating_point(dtype)) check_brightness(tensor);
}

uint8_t sample_of(float value) noexcept {
  // Not std::lround: MinGW's adds a half first, and so rounds the number before a half up.
  const float scaled = std::clamp(value, 0.0f, 1.0f) * 255.0f, whole = std::floor(scaled);
  return static_cast<uint8_t>(scaled - whole >= 0.5f ? whole + 1 : whole);
}

/// One row as bytes.
void to_samples(const Tensor& row, std::vector<uint8_t>& samples) {
  if (is_floating_point(row.dtype())) {
    const Tensor floats = row.to(Dtype::float32).contiguous();
    const float* values = floats.data<float>();
    std::transform(values, values + floats.numel(), samples.begin(), sample_of);
    return;
  }
  const Tensor dense = row.contiguous();
  const uint8_t* values = static_cast<const uint8_t*>(dense.data_ptr());
  const uint8_t scale = row.dtype() == Dtype::bool_ ? 255 : 1;
  std::transform(values, values + dense.numel(), samples.begin(),
                 [scale](uint8_t value) { return static_cast<uint8_t>(value * scale); });
}

}  // namespace

bool is_png(const InputFile& file) noexcept {
  const std::size_t signature = std::min<std::size_t>(static_cast<std::size_t>(file.nbytes()), 8);
  return signature > 0 && png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0, signature) == 0;
}

Tensor tensor_of_png(const InputFile& file) {
  if (file.nbytes() == 0) fail_damaged(file.path(), "it is cut short: it is empty");
  if (!is_png(file)) fail_file(file.path(), "is not a PNG file");
  Reader reader(file);
  if (!reader.read_header()) fail_damaged(file.path(), std::string("PNG: ") + reader.error());
  check_promise(file, reader);
  const int64_t height = reader.height(), width = reader.width(), channels = reader.channels();
  const Dims sizes = channels == 1 ? Dims{height, width} : Dims{height, width, channels};
  const Tensor picture = empty(sizes, reader.is_wide() ? Dtype::int16 : Dtype::uint8);
  const int64_t row_bytes = width * channels * itemsize(picture.dtype());
  std::vector<png_bytep> rows(static_cast<std::size_t>(height));
  for (int64_t row = 0; row < height; ++row)
    rows[static_cast<std::size_t>(row)] = static_cast<png_bytep>(picture.data_ptr()) + row * row_bytes;
  if (!reader.read_rows(rows.data())) fail_damaged(file.path(), std::string("PNG: ") + reader.error());
  return reader.is_wide() ? widened(picture) : picture;
}

Tensor load_png(const std::string& path) { return tensor_of_png(InputFile(path, Reading::mapped)); }

void save_png(const std::string& path, const Tensor& tensor) {
  check_picture(tensor);
  const int64_t height = tensor.size(0), width = tensor.size(1), channels = tensor.dim() == 3 ? tensor.size(2) : 1;
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
  OutputFile file(path);
  Writer writer(file);
  check_written(writer.begin(static_cast<png_uint_32>(height), static_cast<png_uint_32>(width), kColours[channels - 1]),
                writer, path);
  std::vector<uint8_t> samples(static_cast<std::size_t>(width * channels));
  for (int64_t row = 0; row < height; ++row) {
    to_samples(tensor.select(0, row), samples);
    check_written(writer.write_row(samples.data()), writer, path);
  }
  check_written(writer.end(), writer, path);
  file.commit();
}

}  // namespace tenon::io
