// dispatch: warnings and errors for broadcasts that may be mistakes. All settings are per thread; guards restore them.
#pragma once
#include <string>

#include "tenon/dims.h"
#include "tenon/export.h"

namespace tenon {

/// Receives every warning of this process. `category` is Python's class name: "UserWarning".
using WarningHandler = void (*)(const char* category, const std::string& text, const std::string& note, void* context);
/// Replaces the handler. nullptr restores the default, which prints to stderr.
TENON_API void set_warning_handler(WarningHandler handler, void* context = nullptr) noexcept;
TENON_API void warn(const char* category, const std::string& text, const std::string& note = {});

namespace backcompat {
/// Whether to warn when shapes of equal numel differ but broadcast (PyTorch's
/// torch.utils.backcompat.broadcast_warning.enabled).
TENON_API bool broadcast_warning() noexcept;
TENON_API void set_broadcast_warning(bool enabled) noexcept;
/// Whether operands of equal numel that do not broadcast are treated as 1-D, with a deprecation warning.
TENON_API bool pointwise_1d() noexcept;
TENON_API void set_pointwise_1d(bool enabled) noexcept;
}  // namespace backcompat

/// What to do when a broadcast may be a mistake.
enum class Policy : unsigned char { allow, warn, raise };
/// What to do, by kind of mistake.
struct BroadcastPolicy {
  Policy rank = Policy::allow;   // an operand gains leading dims
  Policy outer = Policy::allow;  // the result has neither operand's shape: (N,) against (N, 1)
  double blow_up = 0;            // refuse results of more than this many times the operands' bytes; 0: no limit
};
/// The policy in force; by default that of the environment variable TENON_BROADCAST_POLICY
/// ("rank=warn,outer=raise,blow_up=100").
TENON_API BroadcastPolicy broadcast_policy() noexcept;
TENON_API void set_broadcast_policy(const BroadcastPolicy& policy) noexcept;
/// Reads "rank=warn,outer=raise,blow_up=100"; "raise" alone sets both kinds. ValueError for anything else.
TENON_API BroadcastPolicy parse_broadcast_policy(const std::string& text);

/// Sets a policy for the life of the guard, on this thread.
class PolicyGuard {
 public:
  explicit PolicyGuard(const BroadcastPolicy& policy) : previous_(broadcast_policy()) { set_broadcast_policy(policy); }
  ~PolicyGuard() { set_broadcast_policy(previous_); }
  PolicyGuard(const PolicyGuard&) = delete;
  PolicyGuard& operator=(const PolicyGuard&) = delete;

 private:
  BroadcastPolicy previous_;
};

}  // namespace tenon
