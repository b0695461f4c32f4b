#include "io/load.h"

#include "io/csv.h"
#include "io/mapped.h"
#include "io/npy.h"
#include "io/png.h"

namespace tenon::io {
namespace {

bool ends_with(const std::string& path, const std::string& ending) {
  return path.size() > ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

Tensor load(const std::string& path) {
  if (ends_with(path, ".npy")) return load_npy(path);
  if (ends_with(path, ".png")) return load_png(path);
  if (ends_with(path, ".csv") || ends_with(path, ".csv.gz")) return load_csv(path);
  fail_file(path, "the name should end in .npy, .png, .csv or .csv.gz");
}

OutputFormat output_format(const std::string& path) {
  if (ends_with(path, ".npy")) return OutputFormat::npy;
  if (ends_with(path, ".png")) return OutputFormat::png;
  fail_file(path, "the name should end in .npy or .png");
}

}  // namespace tenon::io
