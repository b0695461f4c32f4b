#include "io/limit.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "io/fail.h"

namespace tenon::io {

int64_t load_limit() {
  constexpr int64_t kDefault = int64_t{1} << 30;
  const char* variable = std::getenv("TENON_LOAD_LIMIT");
  if (!variable || !*variable) return kDefault;
  const std::string_view text = variable;
  int64_t limit = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (failed != std::errc() || end != text.data() + text.size() || limit < 0)
    throw ValueError("TENON_LOAD_LIMIT should be a number of bytes, not '" + std::string(text) + "'");
  return limit;
}

void check_load_limit(const std::string& path, const std::string& what, int64_t nbytes) {
  const int64_t limit = load_limit();
  if (nbytes <= limit) return;
  fail_file(path, what + " more than " + std::to_string(limit) +
                      " bytes; the environment variable TENON_LOAD_LIMIT sets the limit in bytes");
}

}  // namespace tenon::io
