#define TENON_SPECIAL plain
#include "kernel/special-inl.h"

namespace tenon::special {

bool has_fma() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  static const bool has = __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

}  // namespace tenon::special
