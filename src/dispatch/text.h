// dispatch: numbers in error texts.
#pragma once
#include <cstdio>
#include <string>

namespace tenon {

/// As C++ streams print it.
inline std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

}  // namespace tenon
