// dispatch: warnings of calls that are made to learn something, such as those of a trace.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tenon/policy.h"

namespace tenon {

/// While it lives, warnings of this thread are kept, and not given.
class KeptWarnings {
 public:
  KeptWarnings() noexcept : before_(std::exchange(current, this)) {}
  ~KeptWarnings() { current = before_; }
  KeptWarnings(const KeptWarnings&) = delete;
  KeptWarnings& operator=(const KeptWarnings&) = delete;
  bool empty() const noexcept { return all_.empty(); }
  /// Gives those that were kept.
  void give();

 private:
  friend void warn(const char* category, const std::string& text, const std::string& note);
  struct Warning {
    const char* category;
    std::string text, note;
  };
  static constinit thread_local KeptWarnings* current;
  KeptWarnings* const before_;
  std::vector<Warning> all_;
};

}  // namespace tenon
