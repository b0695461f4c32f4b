// The environment of the process, which each system changes by another function.
#pragma once
#include <cstdlib>

namespace tenon {

/// Null removes the variable.
inline void set_variable(const char* name, const char* value) {
#ifdef _WIN32
  _putenv_s(name, value ? value : "");
#else
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
#endif
}

}  // namespace tenon
