#include "measure.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace bench {
namespace {

// One turn lasts at least this long, or one call: much longer than reading the clock, short enough for many rounds.
constexpr double kTurnNs = 4e6;

double time_ns(const Work& work, int64_t repeats) {
  const auto start = std::chrono::steady_clock::now();
  work(repeats);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// How many calls fill a turn. Also warms caches, allocators and thread pools.
int64_t repeats_of(const Work& work) {
  int64_t repeats = 1;
  time_ns(work, repeats);
  for (double took = time_ns(work, repeats); took < kTurnNs / 2; took = time_ns(work, repeats))
    repeats =
        std::max(2 * repeats, static_cast<int64_t>(static_cast<double>(repeats) * kTurnNs / std::max(took, 1.0) / 2));
  return repeats;
}

void set_num_threads(int threads) {
  const int count = threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  Tenon::set_num_threads(count);
#ifdef TENON_BENCH_TORCH
  Torch::set_num_threads(count);
#endif
}

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

Result measure(const Case& c, int rounds) {
#ifdef TENON_BENCH_TORCH
  // PyTorch's quickest mode: nothing is recorded for gradients.
  const c10::InferenceMode no_gradients;
#endif
  set_num_threads(c.header.threads);
  const Work tenon = c.tenon(), torch = c.torch ? c.torch() : Work();
  const int64_t tenon_repeats = repeats_of(tenon), torch_repeats = torch ? repeats_of(torch) : 0;
  std::vector<double> tenon_ns, torch_ns, ratios;
  for (int round = 0; round < rounds; ++round) {
    const auto turn_of_tenon = [&] {
      tenon_ns.push_back(time_ns(tenon, tenon_repeats) / static_cast<double>(tenon_repeats));
    };
    const auto turn_of_torch = [&] {
      torch_ns.push_back(time_ns(torch, torch_repeats) / static_cast<double>(torch_repeats));
    };
    if (round % 2 == 0) turn_of_tenon();
    if (torch) turn_of_torch();
    if (round % 2 == 1) turn_of_tenon();
    if (torch) ratios.push_back(torch_ns.back() / tenon_ns.back());
  }
  Result result{
      .measured = &c, .tenon_ns = *std::min_element(tenon_ns.begin(), tenon_ns.end()), .torch_ns = {}, .ratio = {}};
  if (torch) {
    result.torch_ns = *std::min_element(torch_ns.begin(), torch_ns.end());
    result.ratio = median(ratios);
  }
  return result;
}

}  // namespace bench
