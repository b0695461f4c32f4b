// dispatch: what this thread has set about broadcasting.
#pragma once
#include "tenon/policy.h"

namespace tenon {

struct Settings {
  bool active = true;  // whether anything below differs from the defaults; true until the environment was read
  bool loaded = false;
  bool broadcast_warning = false;
  bool pointwise_1d = false;
  BroadcastPolicy policy;
  int exempt = 0;  // depth of the library's own code
};
/// As it lies in memory. Initial-exec: no call to find it.
extern constinit thread_local Settings thread_settings [[gnu::tls_model("initial-exec")]];

/// With the environment read.
Settings& settings() noexcept;

}  // namespace tenon
