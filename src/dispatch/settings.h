// dispatch: this thread's broadcast settings.
#pragma once
#include "tenon/policy.h"

namespace tenon {

struct Settings {
  bool active = true;  // whether a setting may differ from the default; true until the environment is read
  bool loaded = false;
  bool broadcast_warning = false;
  bool pointwise_1d = false;
  BroadcastPolicy policy;
  int exempt = 0;  // number of PolicyExemption guards
};
/// The settings, possibly before the environment is read. Initial-exec TLS: no call to find them.
extern constinit thread_local Settings thread_settings [[gnu::tls_model("initial-exec")]];

/// The settings, after the environment is read.
Settings& settings() noexcept;

}  // namespace tenon
