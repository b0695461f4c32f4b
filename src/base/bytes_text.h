// base: numbers of bytes as people read them.
#pragma once
#include <cstdio>
#include <string>

namespace tenon {

/// "1.50 GB": decimal, three digits.
inline std::string bytes_text(double nbytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"};
  double value = nbytes;
  int unit = 0;
  while (value >= 999.5 && unit < 7) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text,
                unit == 0 || value >= 99.95 ? "%.0f %s"
                : value >= 9.995            ? "%.1f %s"
                                            : "%.2f %s",
                value, kUnits[unit]);
  return text;
}

}  // namespace tenon
