// tenon_limits: what the simplest loops reach on this machine, on one thread, at the sizes of the large cases, in huge
// pages. Prints GB/s, operands read and results written; the best of many runs.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "../huge_pages.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
const D d;
const int64_t kLanes = static_cast<int64_t>(hn::Lanes(d));
volatile float sink;

void add(float* out, const float* a, const float* b, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) hn::Store(hn::Add(hn::Load(d, a + i), hn::Load(d, b + i)), d, out + i);
}
/// With streaming stores.
void add_streamed(float* out, const float* a, const float* b, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) hn::Stream(hn::Add(hn::Load(d, a + i), hn::Load(d, b + i)), d, out + i);
  hwy::FlushStream();
}
void add_number(float* out, const float* a, const float* b, int64_t n) {
  const auto number = hn::Set(d, b[0]);
  for (int64_t i = 0; i < n; i += kLanes) hn::Store(hn::Add(hn::Load(d, a + i), number), d, out + i);
}
void add_number_streamed(float* out, const float* a, const float* b, int64_t n) {
  const auto number = hn::Set(d, b[0]);
  for (int64_t i = 0; i < n; i += kLanes) hn::Stream(hn::Add(hn::Load(d, a + i), number), d, out + i);
  hwy::FlushStream();
}
void sum(float*, const float* a, const float*, int64_t n) {
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (int64_t i = 0; i + 4 * kLanes <= n; i += 4 * kLanes) {
    s0 = hn::Add(s0, hn::Load(d, a + i));
    s1 = hn::Add(s1, hn::Load(d, a + i + kLanes));
    s2 = hn::Add(s2, hn::Load(d, a + i + 2 * kLanes));
    s3 = hn::Add(s3, hn::Load(d, a + i + 3 * kLanes));
  }
  sink = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

struct Loop {
  const char* name;
  void (*run)(float*, const float*, const float*, int64_t);
  int64_t floats;  // floats read and written per element
};
constexpr Loop kLoops[] = {{"a + b", add, 3},
                           {"a + b, streamed", add_streamed, 3},
                           {"a + number", add_number, 2},
                           {"a + number, streamed", add_number_streamed, 2},
                           {"sum", sum, 1}};

double best_seconds(const Loop& loop, float* out, const float* a, const float* b, int64_t n) {
  using Clock = std::chrono::steady_clock;
  const int64_t calls = std::max<int64_t>(1, (int64_t{1} << 20) / n);
  double best = 1e9;
  for (int round = 0; round < 60; ++round) {
    const auto start = Clock::now();
    for (int64_t call = 0; call < calls; ++call) loop.run(out, a, b, n);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(calls));
  }
  return best;
}

}  // namespace

int main() {
  constexpr int64_t kLargest = int64_t{16} << 20;
  constexpr struct {
    const char* name;
    int64_t numel;
  } kLevels[] = {{"L1", 2 << 10}, {"L2", 32 << 10}, {"L3", 1 << 20}, {"memory", kLargest}};
  constexpr int64_t kBytes = kLargest * static_cast<int64_t>(sizeof(float));
  const bench::Block a = bench::allocate_pages(kBytes), b = bench::allocate_pages(kBytes),
                     out = bench::allocate_pages(kBytes);
  const auto floats = [](const bench::Block& block) { return reinterpret_cast<float*>(block.get()); };
  std::printf("%-24s", "GB/s");
  for (const auto& level : kLevels) std::printf("%8s", level.name);
  for (const Loop& loop : kLoops) {
    std::printf("\n%-24s", loop.name);
    for (const auto& level : kLevels) {
      const double bytes = static_cast<double>(loop.floats * level.numel * 4);
      std::printf("%8.0f", bytes / best_seconds(loop, floats(out), floats(a), floats(b), level.numel) / 1e9);
    }
  }
  std::printf("\n");
}
