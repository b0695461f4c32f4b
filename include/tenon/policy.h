// dispatch: what a broadcast is allowed to do silently. All settings are per thread; guards restore them.
#pragma once
#include <string>

#include "tenon/dims.h"
#include "tenon/export.h"

namespace tenon {

/// Receives every warning of this process. `category` is Python's class name: "UserWarning".
using WarningHandler = void (*)(const char* category, const std::string& text, const std::string& note, void* context);
/// Replaces the handler (default: prints to stderr). Returns nothing; pass nullptr for the default.
TENON_API void set_warning_handler(WarningHandler handler, void* context = nullptr) noexcept;
TENON_API void warn(const char* category, const std::string& text, const std::string& note = {});

namespace backcompat {
/// Warn where shapes differ, are broadcastable and have equal numbers of elements (PyTorch's
/// torch.utils.backcompat.broadcast_warning.enabled).
TENON_API bool broadcast_warning() noexcept;
TENON_API void set_broadcast_warning(bool enabled) noexcept;
/// Treat operands that do not broadcast but have equal numbers of elements as 1-D, with a deprecation warning.
TENON_API bool pointwise_1d() noexcept;
TENON_API void set_pointwise_1d(bool enabled) noexcept;
}  // namespace backcompat

/// What to do with a broadcast of a kind that often is a mistake.
enum class Policy : unsigned char { allow, warn, raise };
struct BroadcastPolicy {
  Policy rank = Policy::allow;   // an operand gains leading dims
  Policy outer = Policy::allow;  // the result has neither operand's shape: (N,) against (N, 1)
  double blow_up = 0;            // refuse results of more than this many times the operands' bytes; 0: no limit
};
/// From TENON_BROADCAST_POLICY ("rank=warn,outer=raise,blow_up=100") until set.
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
