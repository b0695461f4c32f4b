#include "plain_loops.h"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "../huge_pages.h"
#include "../measure.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

namespace hn = hwy::HWY_NAMESPACE;

namespace bench {
namespace {

constexpr int64_t kLine = 64, kPieceLines = 256;
volatile uint64_t sink;

using Words = hn::ScalableTag<uint64_t>;
using Vector = hn::Vec<Words>;

template <bool kStreams>
void store(Vector v, std::byte* to) {
  const Words words;
  uint64_t* const out = reinterpret_cast<uint64_t*>(to);
  if constexpr (kStreams)
    hn::Stream(v, words, out);
  else
    hn::Store(v, words, out);
}

/// One thread's memory.
struct Area {
  Area(int64_t read_lines, int64_t written_lines)
      : read(read_lines),
        written(written_lines),
        from(allocate_pages(read * kLine)),
        to(allocate_pages(written * kLine)) {}
  int64_t read, written;
  Block from, to;
};

/// Lines are copied; what is left of the longer side is only read, or only written.
template <bool kStreams>
void move_lines(std::byte* to, int64_t written, const std::byte* from, int64_t read) {
  const Words words;
  const int64_t step = static_cast<int64_t>(hn::Lanes(words)) * 8, copied = std::min(read, written) * kLine;
  const auto at = [&](int64_t i) { return hn::Load(words, reinterpret_cast<const uint64_t*>(from + i)); };
  for (int64_t i = 0; i < copied; i += step) store<kStreams>(at(i), to + i);
  Vector a = hn::Zero(words), b = a, c = a, d = a;
  int64_t i = copied;
  for (; i + 4 * step <= read * kLine; i += 4 * step) {
    a = hn::Add(a, at(i));
    b = hn::Add(b, at(i + step));
    c = hn::Add(c, at(i + 2 * step));
    d = hn::Add(d, at(i + 3 * step));
  }
  for (; i < read * kLine; i += step) a = hn::Add(a, at(i));
  sink = hn::GetLane(hn::Add(hn::Add(a, b), hn::Add(c, d)));
  for (int64_t k = copied; k < written * kLine; k += step) store<kStreams>(a, to + k);
}

template <bool kStreams>
void move(const Area& area) {
  const int64_t pieces = std::max<int64_t>(1, (area.read + area.written) / kPieceLines);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t from = area.read * piece / pieces, to = area.written * piece / pieces;
    move_lines<kStreams>(area.to.get() + to * kLine, area.written * (piece + 1) / pieces - to,
                         area.from.get() + from * kLine, area.read * (piece + 1) / pieces - from);
  }
  if (kStreams) hwy::FlushStream();
}

template <class T>
void multiply(int64_t count) {
  const hn::ScalableTag<T> d;
  constexpr int kChains = 8;  // enough to hide the latency
  std::array<hn::Vec<decltype(d)>, kChains> sums;
  sums.fill(hn::Set(d, static_cast<T>(sink & 1)));
  const auto factor = hn::Set(d, static_cast<T>(sink & 2));
  const int64_t step = static_cast<int64_t>(hn::Lanes(d)) * kChains;
  for (int64_t i = 0; i < count; i += step)
    for (auto& sum : sums) {
      if constexpr (std::is_integral_v<T>)
        sum = hn::Add(hn::Mul(sum, factor), factor);
      else
        sum = hn::MulAdd(sum, factor, factor);
    }
  for (const auto& sum : sums) sink = sink + static_cast<uint64_t>(hn::GetLane(sum));
}

/// Running sums of rows, one element after the other.
template <class T, class Sum>
void scan_rows(const Area& area, int64_t row) {
  const int64_t numel = area.read * kLine / static_cast<int64_t>(sizeof(T));
  const T* const from = reinterpret_cast<const T*>(area.from.get());
  T* const to = reinterpret_cast<T*>(area.to.get());
  for (int64_t start = 0; start < numel; start += row) {
    Sum sum = 0;
    for (int64_t i = start; i < std::min(start + row, numel); ++i)
      to[i] = static_cast<T>(sum += static_cast<Sum>(from[i]));
  }
}

std::shared_ptr<std::vector<Area>> make_areas(int64_t reads, int64_t writes, int threads) {
  const auto lines = [threads](int64_t nbytes) { return (nbytes / threads + kLine - 1) / kLine; };
  auto areas = std::make_shared<std::vector<Area>>();
  for (int thread = 0; thread < threads; ++thread) areas->emplace_back(lines(reads), lines(writes));
  return areas;
}
/// On every thread, over its area.
template <class Loop>
Work over_areas(const std::shared_ptr<std::vector<Area>>& areas, Loop loop) {
  std::vector<Work> shares;
  for (std::size_t thread = 0; thread < areas->size(); ++thread)
    shares.push_back([=](int64_t repeats) {
      for (int64_t i = 0; i < repeats; ++i) loop((*areas)[thread]);
    });
  return on_threads(shares);
}
/// On every thread, with its part of `count`.
Work over_counts(void (*loop)(int64_t), int64_t count, int threads) {
  const Work share = [=](int64_t repeats) {
    for (int64_t i = 0; i < repeats; ++i) loop(count / threads);
  };
  return on_threads(std::vector<Work>(static_cast<std::size_t>(threads), share));
}

}  // namespace

Work on_threads(std::vector<Work> shares) {
  return [shares = std::move(shares)](int64_t repeats) {
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < shares.size(); ++i) others.emplace_back(shares[i], repeats);
    shares[0](repeats);
    for (std::thread& other : others) other.join();
  };
}

Work plain_moves(int64_t reads, int64_t writes, int threads) {
  const auto areas = make_areas(reads, writes, threads);
  const Work ordinary = over_areas(areas, move<false>), streamed = over_areas(areas, move<true>);
  if (writes == 0) return ordinary;
  return least_ns(streamed, threads) < least_ns(ordinary, threads) ? streamed : ordinary;
}

Work plain_products(int64_t count, Dtype dtype, int threads) {
  if (dtype == Dtype::int64) return over_counts(multiply<int64_t>, count, threads);
  return over_counts(dtype == Dtype::float64 ? multiply<double> : multiply<float>, count, threads);
}

Work plain_scans(int64_t nbytes, int64_t row, Dtype dtype, int threads) {
  const auto areas = make_areas(nbytes, nbytes, threads);
  if (dtype == Dtype::float64)
    return over_areas(areas, [row](const Area& area) { scan_rows<double, double>(area, row); });
  if (dtype == Dtype::float32)
    return over_areas(areas, [row](const Area& area) { scan_rows<float, float>(area, row); });
  return over_areas(areas, [row](const Area& area) { scan_rows<int16_t, float>(area, row); });
}

}  // namespace bench
