#include "measure.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace bench {
namespace {

// One turn lasts at least this long, or one call: much longer than reading the clock, much shorter than what else a
// machine may be doing.
constexpr double kTurnNs = 1e6;
// A library that is slower by more than this makes fewer calls in a turn than the other one.
constexpr int64_t kLongestTurn = 10;
constexpr auto kThreadsRest = std::chrono::milliseconds(20);
// Threads that wake up together may get one core, until the system moves them.
constexpr double kThreadsSettleNs = 4e6;

/// One thread is timed by what it ran, so that waiting for a core others hold does not count; several threads, which
/// wait for each other, by the time that passed.
clockid_t clock_of(int threads) { return threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC; }

double now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double time_ns(const Work& work, int64_t repeats, clockid_t clock) {
  const double start = now_ns(clock);
  work(repeats);
  return now_ns(clock) - start;
}

/// How many calls fill a turn. Also warms caches, allocators and thread pools.
int64_t repeats_of(const Work& work, clockid_t clock) {
  int64_t repeats = 1;
  time_ns(work, repeats, clock);
  for (double took = time_ns(work, repeats, clock); took < kTurnNs / 2; took = time_ns(work, repeats, clock))
    repeats =
        std::max(2 * repeats, static_cast<int64_t>(static_cast<double>(repeats) * kTurnNs / std::max(took, 1.0) / 2));
  return repeats;
}

/// One library's side of a case.
class Side {
 public:
  Side(Work work, clockid_t clock) : work_(std::move(work)), clock_(clock), repeats_(repeats_of(work_, clock)) {}
  int64_t repeats() const { return repeats_; }
  /// Of a turn's calls the first meet caches that the other library has filled: both make as many.
  void take_turn(int64_t repeats) {
    if (clock_ == CLOCK_MONOTONIC) settle_threads();
    ns_.push_back(time_ns(work_, repeats, clock_) / static_cast<double>(repeats));
  }
  double last_ns() const { return ns_.back(); }
  double least_ns() const { return *std::min_element(ns_.begin(), ns_.end()); }

 private:
  /// Waits until the other library's threads, which still look for work after its turn, have gone to sleep, and then
  /// until this library's have their cores.
  void settle_threads() {
    std::this_thread::sleep_for(kThreadsRest);
    for (double took = 0; took < kThreadsSettleNs;) took += time_ns(work_, 1, clock_);
  }

  Work work_;
  clockid_t clock_;
  int64_t repeats_;
  std::vector<double> ns_;  // of one call, by round
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

bool Result::missed() const {
  const Header& header = measured->header;
  return (ratio && *ratio < header.ratio_target) || (header.ns_target > 0 && tenon_ns > header.ns_target);
}

int thread_count(int threads) {
  return threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

void set_num_threads(int threads) {
  Tenon::set_num_threads(thread_count(threads));
#ifdef TENON_BENCH_TORCH
  Torch::set_num_threads(thread_count(threads));
#endif
}

double least_ns(const Work& work, int threads) {
  Side side(work, clock_of(threads));
  for (int turn = 0; turn < 3; ++turn) side.take_turn(side.repeats());
  return side.least_ns();
}

Result measure(const Case& c, int rounds) {
  const tenon::NoGrad unrecorded;
#ifdef TENON_BENCH_TORCH
  // PyTorch's quickest mode: nothing is recorded for gradients.
  const c10::InferenceMode no_gradients;
#endif
  set_num_threads(c.header.threads);
  const clockid_t clock = clock_of(c.header.threads);
  Side tenon(c.tenon(), clock);
  std::optional<Side> torch;
  if (Work work = c.torch ? c.torch() : Work{}) torch.emplace(std::move(work), clock);
  std::optional<Side> limit;
  if (c.limit) limit.emplace(c.limit(), clock);
  std::optional<Side> nested;
  if (Work work = c.nested ? c.nested() : Work{}) nested.emplace(std::move(work), clock);
  const int64_t repeats = torch ? std::max(tenon.repeats(), torch->repeats()) : tenon.repeats();
  const int64_t torch_repeats = torch ? std::min(repeats, kLongestTurn * torch->repeats()) : 0;
  std::vector<double> ratios, shares, nests;
  for (int round = 0; round < rounds; ++round) {
    const bool tenon_first = round % 2 == 0;
    if (tenon_first) tenon.take_turn(repeats);
    if (torch) torch->take_turn(torch_repeats);
    if (!tenon_first) tenon.take_turn(repeats);
    if (torch) ratios.push_back(torch->last_ns() / tenon.last_ns());
    if (round % 2 != 0) continue;  // what loops take is known well enough from every other round
    if (limit) limit->take_turn(limit->repeats()), shares.push_back(limit->last_ns() / tenon.last_ns());
    if (nested) nested->take_turn(nested->repeats()), nests.push_back(nested->last_ns() / tenon.last_ns());
  }
  Result result{.measured = &c, .tenon_ns = tenon.least_ns(), .torch_ns = {}, .ratio = {}, .share = {}, .nested = {}};
  if (torch) {
    result.torch_ns = torch->least_ns();
    result.ratio = median(ratios);
  }
  if (limit) result.share = median(shares);
  if (nested) result.nested = median(nests);
  return result;
}

}  // namespace bench
