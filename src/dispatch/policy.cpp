#include "tenon/policy.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "dispatch/kept_warnings.h"
#include "dispatch/settings.h"
#include "tenon/error.h"

namespace tenon {
namespace {

struct Handler {
  WarningHandler call = nullptr;
  void* context = nullptr;
};
ForkMutex handler_mutex;
Handler handler;

bool is_default(const BroadcastPolicy& policy) {
  return policy.rank == Policy::allow && policy.outer == Policy::allow && policy.blow_up <= 0;
}
void refresh(Settings& set) { set.active = set.broadcast_warning || set.pointwise_1d || !is_default(set.policy); }

void load(Settings& set) noexcept {
  set.loaded = true;
  refresh(set);
  const char* text = std::getenv("TENON_BROADCAST_POLICY");
  if (!text || !*text) return;
  try {
    set.policy = parse_broadcast_policy(text);
    refresh(set);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "TENON_BROADCAST_POLICY is ignored: %s\n", error.what());
  }
}

Policy parse_level(const std::string& text) {
  if (text == "allow") return Policy::allow;
  if (text == "warn") return Policy::warn;
  if (text == "raise") return Policy::raise;
  throw ValueError("broadcast_policy: '" + text + "' is none of allow, warn, raise");
}

double parse_factor(const std::string& text) {
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(factor >= 0))
    throw ValueError("broadcast_policy: blow_up expects a number, but got '" + text + "'");
  return factor;
}

void parse_item(const std::string& item, BroadcastPolicy& policy) {
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos) {
    policy.rank = policy.outer = parse_level(item);
    return;
  }
  const std::string key = item.substr(0, equals), value = item.substr(equals + 1);
  if (key == "rank")
    policy.rank = parse_level(value);
  else if (key == "outer")
    policy.outer = parse_level(value);
  else if (key == "blow_up")
    policy.blow_up = parse_factor(value);
  else
    throw ValueError("broadcast_policy: '" + key + "' is none of rank, outer, blow_up");
}

}  // namespace

constinit thread_local Settings thread_settings;

Settings& settings() noexcept {
  if (!thread_settings.loaded) load(thread_settings);
  return thread_settings;
}

void set_warning_handler(WarningHandler call, void* context) noexcept {
  std::lock_guard lock(handler_mutex);
  handler = {call, context};
}

constinit thread_local KeptWarnings* KeptWarnings::current = nullptr;

void KeptWarnings::give() {
  KeptWarnings* const now = std::exchange(current, before_);
  const std::vector<Warning> all = std::exchange(all_, {});
  for (const Warning& each : all) warn(each.category, each.text, each.note);
  current = now;
}

void warn(const char* category, const std::string& text, const std::string& note) {
  if (KeptWarnings* const kept = KeptWarnings::current) return kept->all_.push_back({category, text, note});
  Handler now;
  {
    std::lock_guard lock(handler_mutex);
    now = handler;
  }
  if (now.call) return now.call(category, text, note, now.context);
  std::fprintf(stderr, "%s: %s\n", category, text.c_str());
  if (!note.empty()) std::fprintf(stderr, "%s\n", note.c_str());
}

namespace backcompat {
bool broadcast_warning() noexcept { return settings().broadcast_warning; }
void set_broadcast_warning(bool enabled) noexcept {
  settings().broadcast_warning = enabled;
  refresh(settings());
}
bool pointwise_1d() noexcept { return settings().pointwise_1d; }
void set_pointwise_1d(bool enabled) noexcept {
  settings().pointwise_1d = enabled;
  refresh(settings());
}
}  // namespace backcompat

BroadcastPolicy broadcast_policy() noexcept { return settings().policy; }
void set_broadcast_policy(const BroadcastPolicy& policy) noexcept {
  settings().policy = policy;
  refresh(settings());
}

BroadcastPolicy parse_broadcast_policy(const std::string& text) {
  BroadcastPolicy policy;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parse_item(text.substr(begin, end - begin), policy);
    begin = end + 1;
  }
  return policy;
}

}  // namespace tenon
