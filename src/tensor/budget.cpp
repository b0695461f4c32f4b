#include "tensor/budget.h"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "tenon/storage.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

int64_t initial_budget() noexcept {
  const char* text = std::getenv("TENON_MEMORY_BUDGET");
  if (!text || !*text) return kNone;
  const std::string_view digits(text);
  int64_t nbytes = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), nbytes);
  if (failure == std::errc() && end == digits.data() + digits.size() && nbytes >= 0) return nbytes;
  std::fprintf(stderr, "TENON_MEMORY_BUDGET is ignored: '%s' is no number of bytes\n", text);
  return kNone;
}

std::atomic<int64_t>& limit() noexcept {
  static std::atomic<int64_t> nbytes{initial_budget()};
  return nbytes;
}

}  // namespace

void check_budget_of(int64_t nbytes, SizesView sizes) {
  const int64_t budget = limit().load(std::memory_order_relaxed);
  if (budget == kNone) return;
  const int64_t in_use = memory::statistics().in_use;
  if (nbytes <= budget - in_use) return;  // exact: both are not negative
  throw BudgetError("not enough memory: a tensor of shape " + to_string(sizes) + " takes " + std::to_string(nbytes) +
                    " bytes, and with the " + std::to_string(in_use) +
                    " bytes in use that is more than the memory budget of " + std::to_string(budget) + " bytes");
}

namespace memory {

void set_budget(int64_t nbytes) {
  if (nbytes < 0) throw ValueError("set_budget: a number of bytes is expected, but got " + std::to_string(nbytes));
  limit().store(nbytes, std::memory_order_relaxed);
}
int64_t budget() noexcept { return limit().load(std::memory_order_relaxed); }

}  // namespace memory
}  // namespace tenon
