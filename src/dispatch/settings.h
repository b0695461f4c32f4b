// dispatch: what this thread has set about broadcasting.
#pragma once
#include "tenon/policy.h"

namespace tenon {

struct Settings {
  bool active = false;  // whether anything below differs from the defaults
  bool broadcast_warning = false;
  bool pointwise_1d = false;
  BroadcastPolicy policy;
  int exempt = 0;  // depth of the library's own code
};
Settings& settings() noexcept;

}  // namespace tenon
