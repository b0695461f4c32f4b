#include "dispatch/sorted_places.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "tenon/policy.h"
#include "tile/pool.h"

namespace tenon {
namespace {

// Bench: tenon_bench --filter '^(sort|topk1?|topk_half|unique)/'.
constexpr int kDigitBits = 8, kLongDigitBits = 11, kMostDigits = 32 / kDigitBits;
constexpr std::size_t kLongDigits = 1 << 12;  // items from which on long digits are quicker, if they are fewer

struct Digits {
  int count, bits;

  Digits(int key_bits, std::size_t items) {
    const int most_bits = items < kLongDigits ? kDigitBits : kLongDigitBits;
    count = std::max((key_bits + most_bits - 1) / most_bits, 1);  // exact: at most 32 bits
    bits = (key_bits + count - 1) / count;
  }
};

/// Radix sort from the last digit. Stable.
void sort_by_digits(std::span<Item> items, std::span<Item> scratch, const Digits& digits) {
  const uint64_t mask = (uint64_t{1} << digits.bits) - 1;
  std::array<std::array<uint32_t, 1 << kLongDigitBits>, kMostDigits> counts;
  for (int digit = 0; digit < digits.count; ++digit)
    std::fill_n(counts[static_cast<std::size_t>(digit)].begin(), mask + 1, 0);
  for (const Item& item : items)
    for (int digit = 0; digit < digits.count; ++digit)
      ++counts[static_cast<std::size_t>(digit)][item.key() >> (digits.bits * digit) & mask];
  std::span<Item> from = items, to = scratch;
  for (int digit = 0; digit < digits.count; ++digit) {
    auto& next = counts[static_cast<std::size_t>(digit)];
    const int shift = digits.bits * digit;
    if (next[from[0].key() >> shift & mask] == items.size()) continue;
    check_interrupt();
    uint32_t start = 0;
    for (std::size_t i = 0; i <= mask; ++i) start += std::exchange(next[i], start);  // exact: at most items.size()
    for (const Item& item : from) to[next[item.key() >> shift & mask]++] = item;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

void sort_items(std::span<Item> items, std::span<Item> scratch, int key_bits) {
  const Digits digits(key_bits, items.size());
  if (std::ssize(items) < kItemsOfPass * digits.count)
    std::sort(items.begin(), items.end());
  else
    sort_by_digits(items, scratch, digits);
}

// As few items are sorted by std::sort in the time of a block of the kernel.
constexpr std::size_t kFewItems = 12;

}  // namespace

template <class Key>
void SortedPlaces::sort(const Key* keys, const KeyRange<Key>& of) {
  const int bits = static_cast<int>(std::bit_width(of.range)), low_bits = std::max(bits - 32, 0);
  const auto least = static_cast<uint64_t>(of.least);
  const auto distance = [&](std::size_t i) { return static_cast<uint64_t>(keys[i]) - least; };
  const auto n = static_cast<int64_t>(length_);
  key_kernels<Key>().pack(&items_[0].packed, keys, n, of.least, low_bits);
  if (are_sorted_by_vectors(n))
    kernels().sort_items(&items_[0].packed, n);
  else
    sort_items({items_.get(), length_}, {scratch_.get(), length_}, bits - low_bits);
  if (low_bits > 0) sort_runs(low_bits, distance);
}
template void SortedPlaces::sort(const int32_t* keys, const KeyRange<int32_t>& of);
template void SortedPlaces::sort(const int64_t* keys, const KeyRange<int64_t>& of);

/// Sorts items whose keys are equal but for the low bits.
template <class Distance>
void SortedPlaces::sort_runs(int low_bits, const Distance& distance) {
  const uint64_t low = (uint64_t{1} << low_bits) - 1;
  for (std::size_t first = 0, end; first < length_; first = end) {
    for (end = first + 1; end < length_ && items_[end].key() == items_[first].key();) ++end;
    if (end - first == 1) continue;
    const std::span<Item> run(items_.get() + first, end - first);
    for (Item& item : run) item = Item(distance(static_cast<std::size_t>(item.place())) & low, item.place());
    sort_run(run, low_bits);
  }
}
void SortedPlaces::sort_run(std::span<Item> run, int key_bits) {
  const std::span<Item> scratch(scratch_.get(), run.size());
  if (run.size() < kFewItems || !are_sorted_by_vectors(std::ssize(run))) return sort_items(run, scratch, key_bits);
  std::copy(run.begin(), run.end(), scratch.begin());
  kernels().sort_items(&scratch[0].packed, std::ssize(run));
  std::copy_n(scratch.begin(), run.size(), run.begin());
}

}  // namespace tenon
