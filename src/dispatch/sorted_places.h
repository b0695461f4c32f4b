// dispatch: the order of integer keys. Takes the keys of a row; gives the places of the keys, smallest key first, equal
// keys in the order of their places.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernel/kernel.h"

namespace tenon {

/// An element's key and its index, compared in this order, so that no two items are equal.
struct Item {
  uint64_t packed;

  Item() = default;
  Item(uint64_t key, int64_t place) : packed(key << 32 | static_cast<uint64_t>(place)) {}
  uint64_t key() const { return packed >> 32; }
  int64_t place() const { return static_cast<int64_t>(packed & 0xFFFFFFFF); }
  bool operator<(const Item& other) const { return packed < other.packed; }
};

inline constexpr int64_t kItemsOfPass = 32;  // fewer items for each pass over digits: std::sort

/// The smallest key, and the distance of the largest from it.
template <class Key>
struct KeyRange {
  Key least;
  uint64_t range;
};
template <class Key>
const KeyKernels& key_kernels() {
  return sizeof(Key) == 8 ? kernels().keys64 : kernels().keys32;
}
/// Of at least one key.
template <class Key>
KeyRange<Key> range_of_keys(const Key* keys, int64_t n) {
  Key ends[2];
  key_kernels<Key>().range(ends, keys, n);
  return {ends[0], static_cast<uint64_t>(ends[1]) - static_cast<uint64_t>(ends[0])};
}

/// Whether so many items are sorted by comparisons of vectors: more are sorted faster by their digits. Bench:
/// tenon_bench --filter '^(sort|unique)/'.
inline bool are_sorted_by_vectors(int64_t n) { return n <= 1 << 13 && kernels().sort_items; }

/// A table of so many different keys is quicker than a sort.
inline bool are_counted(uint64_t range, int64_t n) { return range < 1 << 16 && range < static_cast<uint64_t>(n); }

/// The places of a row's keys, sorted. Keys are reached as their distances from the smallest one, so that they have few
/// bits.
class SortedPlaces {
 public:
  /// For rows of `length` keys, with fewer than 2^32.
  explicit SortedPlaces(int64_t length)
      : length_(static_cast<std::size_t>(length)), items_(new_items(length)), scratch_(new_items(length)) {}
  /// Memory that it takes.
  static constexpr int64_t bytes(int64_t length) { return 2 * lines(length) * int64_t{sizeof(Line)}; }

  /// `Key`: int32_t or int64_t.
  template <class Key>
  void sort(const Key* keys, const KeyRange<Key>& of);
  int64_t operator[](int64_t i) const { return items_[static_cast<std::size_t>(i)].place(); }
  /// The places from number `i` on, in the lower 32 bits each.
  const uint64_t* packed(int64_t i) const { return &items_[static_cast<std::size_t>(i)].packed; }

 private:
  struct alignas(64) Line {
    Item items[8];
  };
  struct Delete {
    void operator()(Item* items) const { delete[] reinterpret_cast<Line*>(items); }
  };
  using Items = std::unique_ptr<Item[], Delete>;
  /// That whole blocks fill. exact: for a few more than a row's keys
  static constexpr int64_t lines(int64_t length) {
    return (length + kSortedBlock - 1) / kSortedBlock * (kSortedBlock / 8);
  }
  static Items new_items(int64_t length) {
    return Items(std::make_unique_for_overwrite<Line[]>(static_cast<std::size_t>(lines(length))).release()->items);
  }

  template <class Distance>
  void sort_runs(int low_bits, const Distance& distance);
  void sort_run(std::span<Item> run, int key_bits);

  std::size_t length_;
  Items items_, scratch_;
};

}  // namespace tenon
