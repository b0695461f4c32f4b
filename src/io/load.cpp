#include "io/load.h"

#include <memory>

#include "io/csv.h"
#include "io/entries.h"
#include "io/fail.h"
#include "io/input.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/png.h"
#include "io/safetensors.h"

namespace tenon::io {
namespace {

enum class Format : unsigned char { npy, npz, png, csv, gzipped_csv, unknown };

bool ends_with(const std::string& path, const std::string& ending) {
  return path.size() > ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

Format format_of_name(const std::string& path) {
  if (ends_with(path, ".npy")) return Format::npy;
  if (ends_with(path, ".png")) return Format::png;
  if (ends_with(path, ".csv")) return Format::csv;
  if (ends_with(path, ".csv.gz")) return Format::gzipped_csv;
  return Format::unknown;
}

/// The format by the first bytes, for pipes, whose names have no ending.
Format format_of_content(const InputFile& file) {
  if (file.nbytes() == 0) fail_damaged(file.path(), "it is cut short: it is empty");
  if (is_npy(file)) return Format::npy;
  if (is_npz(file)) return Format::npz;
  if (is_png(file)) return Format::png;
  return is_gzip(file) ? Format::gzipped_csv : Format::csv;
}

}  // namespace

Tensor load(const std::string& path) {
  if (has_entries(path, kSafetensors)) return load_safetensors(split_entry(path));
  if (has_entries(path, kNpz)) return load_npz(split_entry(path));
  for (const char* ending : {".csv.gz", ".csv"})
    if (has_entries(path, ending) && !ends_with(path, ending)) return load_column(split_entry(path, ending));
  Format format = format_of_name(path);
  if (format == Format::unknown && !is_stream(path))
    fail_file(path, "the name should end in .npy, .npz, .safetensors, .png, .csv or .csv.gz");
  auto file = std::make_unique<InputFile>(path, Reading::mapped);
  if (format == Format::unknown) format = format_of_content(*file);
  if (format == Format::npy) return tensor_of_npy(std::move(file));
  if (format == Format::npz) return tensor_of_npz(std::move(file), "");
  if (format == Format::png) return tensor_of_png(*file);
  return format == Format::csv ? tensor_of_csv(*file) : tensor_of_gzipped_csv(*file);
}

OutputFormat output_format(const std::string& path) {
  if (ends_with(path, ".npy")) return OutputFormat::npy;
  if (ends_with(path, ".png")) return OutputFormat::png;
  if (ends_with(path, ".csv")) return OutputFormat::csv;
  if (has_entries(path)) return OutputFormat::entries;
  if (is_stream(path)) return OutputFormat::npy;
  fail_file(path, "the name should end in .npy, .npz, .safetensors, .png or .csv");
}

}  // namespace tenon::io
