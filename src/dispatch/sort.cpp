// sort and topk along one dim. Both are stable; NaN is larger than every number.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "dispatch/keys.h"
#include "dispatch/plain.h"
#include "dispatch/sorted_places.h"
#include "kernel/first_few.h"
#include "kernel/kernel.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"
#include "type/width.h"

namespace tenon {
namespace {

// --- Rows

/// The tensor without its history, with `dim` as the last dim.
Tensor rows_along(const Tensor& tensor, int64_t dim) {
  Dims sizes = tensor.sizes().copy(), strides = tensor.strides().copy();
  for (int64_t i = dim; i + 1 < tensor.dim(); ++i) {
    std::swap(sizes[i], sizes[i + 1]);
    std::swap(strides[i], strides[i + 1]);
  }
  if (tensor.is_meta()) return new_tensor(sizes, strides, tensor.dtype(), Device::meta);
  return new_tensor_over(tensor.impl()->storage, sizes, strides, tensor.storage_offset(), tensor.dtype());
}

/// A row-major tensor with the same elements.
Tensor dense_rows(const Tensor& rows) {
  if (rows.is_contiguous()) return rows;
  Tensor copy = new_tensor(rows.sizes(), rows.dtype(), rows.device());
  run_copy(copy, rows);
  return copy;
}

struct Results {
  Tensor values, indices;
};

// Elements of a thread's part: work that is smaller stays on the caller. Bench: tenon_bench --filter
// '^(sort|topk1?|topk_half)/'.
constexpr int64_t kPartElements = 1 << 12;

// Bench: tenon_bench --filter '^(sort|topk1?|topk_half)/'.
constexpr int64_t kRankedTogether = 1024;  // keys of short rows that are ranked in one call
constexpr int64_t kRankedVectors = 40;     // of the longest rows that are ranked
constexpr int64_t kMostRanked = 72;  // elements for each of their bytes, up to 4, of the longest rows that are ranked
// Costs are counted in comparisons of whole vectors. Those of AVX-512 are slower, and sort rows, too.
constexpr int64_t kTakeCost = 56, kTakeCostOfOthers = 120;  // of finding one element
constexpr int64_t kPlaceCost = 10;                          // of what ranking does once for each element
constexpr int64_t kTinyTaken = 8;  // one element of so many is found as fast as rows of one or two vectors rank
constexpr int64_t kSampled = 64;   // elements that say which are among the first, and of long rows
constexpr int64_t kSampledOfLong = 256, kLong = 1 << 12;
constexpr int64_t kSelectCost = 5;                         // of a vector
constexpr int64_t kFirstSelected = 1500;                   // of any selection, but with AVX-512
constexpr int64_t kSortCost = 20, kSortCostOfOthers = 45;  // of an element
constexpr int64_t kFirstSorted = 1 << 12;                  // of the sort of any selected elements
// Of an element of 8 bytes where vectors of items are compared, of a narrower one, and of all elements of a block.
constexpr int64_t kVectorSortCost = 8, kNarrowSortCost = 6, kBlockSortCost = 640, kSortedBlock = 128;
constexpr int64_t kLeastInOrder = 6;     // elements of rows that are seldom in order by chance
constexpr int64_t kOrderedForEach = 48;  // for each wanted one: of more, the first are found before the row is read
constexpr int64_t kSelectedTogether = 1 << 10;  // keys, between two checks of how many were selected

/// How a row's keys lie already.
enum class Already { none, ascending, descending };

/// Whether each of `n` keys is at least the one before it, which is read before the first, too; or at most.
template <bool kRises, class Key>
inline bool hold_order(const Key* keys, int64_t n) {
  Key broken = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Key &before = keys[i - 1], &own = keys[i];
    broken |= static_cast<Key>(kRises ? before > own : own > before);
  }
  return broken == 0;
}
/// Looks no further than the first block that is out of order. The length of a block is a constant, for the compiler.
template <bool kRises, class Key>
bool are_in_order(const Key* keys, int64_t n) {
  constexpr int64_t kBlock = 64;
  int64_t at = 1;
  for (; at + kBlock <= n; at += kBlock)
    if (!hold_order<kRises>(keys + at, kBlock)) return false;
  return hold_order<kRises>(keys + at, n - at);
}
/// Of at least one key.
template <class Key>
Already order_found(const Key* keys, int64_t n) {
  if (keys[0] <= keys[n - 1]) return are_in_order<true>(keys, n) ? Already::ascending : Already::none;
  return are_in_order<false>(keys, n) ? Already::descending : Already::none;
}

/// Keys of rows that are ranked together, and their ranks.
template <class Key>
struct RankRoom {
  Key* keys() { return buffer.data() + kKeySlack; }

  alignas(64) std::array<Key, kKeySlack + kRankedTogether + kKeySlack> buffer;
  alignas(64) std::array<Key, kRankedTogether + kKeySlack> ranks;
};

/// Sorts rows of elements of one width. Only their keys depend on the dtype.
template <class Element>
class RowOrder {
  using Key = std::conditional_t<sizeof(Element) == 8, int64_t, int32_t>;

 public:
  /// For rows of `length` elements, of which the first `kept` are wanted.
  RowOrder(Dtype dtype, int64_t length, int64_t kept, bool descending)
      : kernels_(kernels().order[static_cast<std::size_t>(dtype)]),
        length_(length),
        kept_(kept),
        descending_(descending) {}

  void operator()(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    if (selects()) return select_rows(from, values, indices, rows);
    order_whole(from, values, indices, rows);
  }
  /// Scratch memory is the most that a row may need: it depends on the keys.
  Course course(Dtype dtype) const {
    const int64_t key = sizeof(Key);
    Course course{.route = selects() ? "first elements selected"
                           : ranks() ? "rows ranked"
                           : takes() ? "first elements taken"
                                     : "rows sorted",
                  .stores = "in place"};
    // exact: half of it fits
    course.scratch_bytes = selects() ? (length_ + 2 * select_room()) * key
                           : ranks() ? 0
                           : takes() ? take_first_room(length_) * key
                                     : length_ * key + SortedPlaces::bytes(length_);
    course.kernels.push_back({"order", dtype});
    return course;
  }

 private:
  // exact: for short rows
  bool ranks() const {
    if (few()) return false;
    const int64_t lanes = kernels_.lanes;
    if (!is_short() || length_ > kRankedVectors * lanes) return false;
    if (are_sorted_by_vectors(length_) && cost_of_sort(length_) < cost_of_ranks(length_)) return false;
    return cost_of_ranks(length_) <= take_cost() * kept_ || (length_ <= 2 * lanes && length_ <= kTinyTaken * kept_);
  }
  bool takes() const {
    if (few()) return true;
    if (kept_ == length_) return false;
    if (!are_sorted_by_vectors(length_) && !is_short() && kept_ > length_ / 8) return false;
    return cost_of_taking() < cost_of_sort(length_);
  }
  static bool sorts_by_vectors() { return kernels().sort_items != nullptr; }
  static int64_t take_cost() { return sorts_by_vectors() ? kTakeCost : kTakeCostOfOthers; }
  /// Whether networks of comparisons find the first elements in less time than all else.
  bool few() const { return sorts_by_vectors() && are_found_at_once<Key>(length_, kept_); }
  // exact: for rows whose places are 32 bits
  int64_t cost_of_ranks(int64_t n) const { return n * (n / kernels_.lanes + kPlaceCost); }
  int64_t cost_of_taking() const { return take_cost() * kept_ + length_ / kernels_.lanes; }
  static int64_t cost_of_sort(int64_t n) {
    const int64_t by_vectors = sizeof(Element) == 8 ? kVectorSortCost : kNarrowSortCost;
    if (are_sorted_by_vectors(n)) return n <= kSortedBlock ? kBlockSortCost : by_vectors * n;
    return (sorts_by_vectors() ? kSortCost : kSortCostOfOthers) * n;
  }
  /// Whether to count, for each element, those before it: an effort of the square of the length, by vectors.
  bool is_short() const {
    constexpr int64_t kDigits = std::min<int64_t>(sizeof(Element), 4);
    const int64_t by_vectors = std::max<int64_t>(12 * kernels_.lanes * kernels_.lanes, 32);
    return length_ <= std::min(by_vectors, kMostRanked * kDigits);
  }

  /// Without selecting elements first.
  void order_whole(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    if (ranks()) return rank_rows(from, values, indices, rows);
    if (takes()) return take_first(from, values, indices, rows);
    sort_rows(from, values, indices, rows);
  }

  int64_t sampled() const { return length_ < kLong ? kSampled : kSampledOfLong; }
  /// The rank, in a sample, of the element up to which the row's elements are selected: far enough behind the expected
  /// one that fewer than `kept_` are selected once in about twenty rows. Then the whole row is ordered.
  int64_t rank_in_sample() const {
    const double expected = static_cast<double>(sampled()) * static_cast<double>(kept_) / static_cast<double>(length_);
    return static_cast<int64_t>(expected + 1.5 * std::sqrt(expected) + 1.5);
  }
  /// Whether elements up to one of a sample are selected and only these are ordered.
  bool selects() const {
    if (few()) return false;
    if (kept_ >= length_ || length_ < 3 * kSampled || length_ > std::numeric_limits<int32_t>::max()) return false;
    const int64_t sample = sampled(), rank = rank_in_sample();
    if (rank >= sample) return false;
    const int64_t found = length_ * rank / sample;
    const int64_t sorted = cost_of_sort(found) + (are_sorted_by_vectors(found) ? 0 : kFirstSorted);
    const int64_t chosen = std::min(cost_of_ranks(found), sorted);
    const int64_t first = sorts_by_vectors() ? 0 : kFirstSelected;
    const int64_t own = first + kSelectCost * length_ / kernels_.lanes + cost_of_ranks(sample) + chosen;
    const int64_t others = ranks() ? cost_of_ranks(length_) : takes() ? cost_of_taking() : cost_of_sort(length_);
    return own < others;
  }
  void select_rows(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    Scratch scratch((length_ + 2 * select_room()) * static_cast<int64_t>(sizeof(Key)));  // exact: half of it fits
    Key* const keys = reinterpret_cast<Key*>(scratch.data());
    selected_ = keys + length_;
    places_ = selected_ + select_room();
    for (int64_t row = 0; row < rows; ++row, from += length_, values += kept_, indices += kept_) {
      kernels_.keys(keys, from, length_, descending_);
      if (was_in_order(keys, from, values, indices)) continue;
      if (!select_row(keys, from, values, indices)) order_whole(from, values, indices, 1);
    }
  }
  /// False if the sample says too little about the row.
  bool select_row(const Key* keys, const Element* from, Element* values, int64_t* indices) {
    const Key most = key_of_sample(keys);
    const int64_t n = select_up_to(keys, most);
    if (n < kept_) return false;
    if (n <= kRankedVectors * kernels_.lanes && n <= kRankedTogether && cost_of_ranks(n) <= cost_of_sort(n)) {
      RankRoom<Key> room;
      std::copy_n(selected_, n, room.keys());
      with_ranks(room, n, 1, [&](auto& ranked) {
        for (int64_t i = 0; i < n; ++i)
          ranked.keys()[ranked.ranks[static_cast<std::size_t>(i)]] = static_cast<int32_t>(i);
        write_selected([&](int64_t i) { return static_cast<int64_t>(ranked.keys()[i]); }, from, values, indices);
      });
      return true;
    }
    SortedPlaces sorted(n);
    sorted.sort(selected_, range_of_keys(selected_, n));
    write_selected([&](int64_t i) { return sorted[i]; }, from, values, indices);
    return true;
  }
  /// `place_of(i)`: the place among the selected keys of the one with rank i.
  template <class PlaceOf>
  void write_selected(const PlaceOf& place_of, const Element* row, Element* values, int64_t* indices) const {
    for (int64_t i = 0; i < kept_; ++i) {
      const int64_t place = places_[place_of(i)];
      values[i] = row[place];
      indices[i] = place;
    }
  }
  Key key_of_sample(const Key* keys) const {
    RankRoom<Key> room;
    const int64_t count = sampled(), step = length_ / count;
    // exact: inside the row. Not the same place of each step, so that rows with a period say as much as others.
    for (int64_t i = 0; i < count; ++i) {
      const auto part = static_cast<uint32_t>(i * 0x9E37'79B9);
      room.keys()[i] = keys[i * step + static_cast<int64_t>(part * static_cast<uint64_t>(step) >> 32)];
    }
    kernels_.rank(room.ranks.data(), room.keys(), count, 1);
    const auto found =
        std::find(room.ranks.begin(), room.ranks.begin() + count, static_cast<Key>(rank_in_sample() - 1));
    return room.keys()[found - room.ranks.begin()];
  }
  /// Keys that may be selected: twice as many as are expected, and those of the last turn. exact: three times the row
  int64_t select_room() const { return 2 * length_ * rank_in_sample() / sampled() + 2 * kSelectedTogether + kKeySlack; }
  /// Selects the keys up to `most`. Gives how many there are; 0 if they are too many.
  int64_t select_up_to(const Key* keys, Key most) {
    const int64_t room = select_room() - kSelectedTogether - kKeySlack;
    int64_t count = 0;
    for (int64_t i = 0; i < length_; i += kSelectedTogether) {
      if (count > room) return 0;
      count += kernels_.select(selected_ + count, places_ + count, keys + i, std::min(kSelectedTogether, length_ - i),
                               i, most);
    }
    return count;
  }

  void rank_rows(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    RankRoom<Key> room;
    const int64_t most = kRankedTogether / length_;
    for (int64_t done = 0; done < rows; done += most) {
      const int64_t together = std::min(most, rows - done);
      kernels_.keys(room.keys(), from, together * length_, descending_);  // exact: at most kRankedTogether
      if (!were_in_order(room.keys(), from, values, indices, together))
        rank_together(room, from, values, indices, together);
      from += together * length_;
      values += together * kept_;
      indices += together * kept_;
    }
  }
  /// Writes rows up to the first one that is out of order. exact: rows that are ranked together
  bool were_in_order(const Key* keys, const Element* from, Element* values, int64_t* indices, int64_t rows) const {
    if (length_ < kLeastInOrder) return false;
    for (int64_t row = 0; row < rows; ++row)
      if (!was_in_order(keys + row * length_, from + row * length_, values + row * kept_, indices + row * kept_))
        return false;
    return true;
  }
  /// Writes a row that is in order already, or in the opposite order.
  // NOLINTNEXTLINE(readability-non-const-parameter): `indices` is written
  bool was_in_order(const Key* keys, const Element* row, Element* values, int64_t* indices) const {
    if (length_ > kOrderedForEach * kept_) return false;
    const Already found = order_found(keys, length_);
    if (found == Already::none) return false;
    if (found == Already::ascending) {
      std::copy_n(row, kept_, values);
      std::iota(indices, indices + kept_, 0);
      return true;
    }
    for (int64_t end = length_, begin = end, to = 0; to < kept_; end = begin) {
      while (begin > 0 && keys[begin - 1] == keys[end - 1]) --begin;  // equal elements keep their order
      for (int64_t place = begin; place < end && to < kept_; ++place, ++to) {
        values[to] = row[place];
        indices[to] = place;
      }
    }
    return true;
  }
  void rank_together(RankRoom<Key>& room, const Element* from, Element* values, int64_t* indices, int64_t rows) {
    with_ranks(room, length_, rows, [&](auto& ranked) { place_ranked(ranked, from, values, indices, rows); });
  }
  /// Calls use(room) when the room's keys, or shorter ones in the same order, are ranked.
  template <class Use>
  void with_ranks(RankRoom<Key>& room, int64_t length, int64_t rows, const Use& use) const {
    if constexpr (sizeof(Key) == 8) {
      const int64_t n = rows * length;  // exact: at most kRankedTogether
      if (const KeyRange<Key> of = range_of_keys(room.keys(), n); of.range <= std::numeric_limits<uint32_t>::max()) {
        // As distances from the smallest key, twice as many fit into a vector.
        RankRoom<int32_t> narrow;
        for (int64_t i = 0; i < n; ++i)
          narrow.keys()[i] = static_cast<int32_t>(static_cast<uint32_t>(room.keys()[i] - of.least) ^ 0x8000'0000);
        kernels().order[static_cast<std::size_t>(int32)].rank(narrow.ranks.data(), narrow.keys(), length, rows);
        return use(narrow);
      }
    }
    kernels_.rank(room.ranks.data(), room.keys(), length, rows);
    use(room);
  }
  /// Writes rows by their ranks. The keys may be overwritten.
  template <class Rank>
  void place_ranked(RankRoom<Rank>& room, const Element* from, Element* values, int64_t* indices, int64_t rows) const {
    // exact: at most kRankedTogether
    for (int64_t at = 0; at < rows * length_; at += length_, from += length_, values += kept_, indices += kept_)
      if (kept_ == length_)
        place_all(from, room.ranks.data() + at, values, indices);
      else
        place_first(from, room.ranks.data() + at, room.keys(), values, indices);
  }
  template <class Rank>
  // NOLINTNEXTLINE(readability-non-const-parameter): `indices` is written
  void place_all(const Element* row, const Rank* ranks, Element* values, int64_t* indices) const {
    for (int64_t i = 0; i < length_; ++i) {
      values[ranks[i]] = row[i];
      indices[ranks[i]] = i;
    }
  }
  /// Through all `places`, so that no branch depends on ranks.
  template <class Rank>
  void place_first(const Element* row, const Rank* ranks, Rank* places, Element* values, int64_t* indices) const {
    for (int64_t i = 0; i < length_; ++i) places[ranks[i]] = static_cast<Rank>(i);
    for (int64_t i = 0; i < kept_; ++i) {
      values[i] = row[places[i]];
      indices[i] = places[i];
    }
  }

  void take_first(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    Scratch scratch(take_first_room(length_) * static_cast<int64_t>(sizeof(Key)));  // exact: half of it fits
    Key* const keys = reinterpret_cast<Key*>(scratch.data());
    for (int64_t row = 0; row < rows; ++row, from += length_, values += kept_, indices += kept_) {
      kernels_.keys(keys, from, length_, descending_);
      if (was_in_order(keys, from, values, indices)) continue;
      const int64_t found = kernels_.take_first(indices, keys, length_, kept_);
      if (found < kept_) take_last_keys(keys, from, indices, found);
      for (int64_t i = 0; i < kept_; ++i) values[i] = from[indices[i]];
    }
  }
  /// Elements whose key is the largest integer, after `found` others.
  void take_last_keys(Key* keys, const Element* row, int64_t* indices, int64_t found) {
    kernels_.keys(keys, row, length_, descending_);
    for (int64_t i = 0; found < kept_; ++i)
      if (keys[i] == std::numeric_limits<Key>::max()) indices[found++] = i;
  }

  void sort_rows(const Element* from, Element* values, int64_t* indices, int64_t rows) {
    Scratch scratch(length_ * static_cast<int64_t>(sizeof(Key)));  // exact: no more than the elements' indices
    Key* const keys = reinterpret_cast<Key*>(scratch.data());
    std::optional<SortedPlaces> places;
    for (int64_t row = 0; row < rows; ++row, from += length_, values += kept_, indices += kept_) {
      kernels_.keys(keys, from, length_, descending_);
      if (was_in_order(keys, from, values, indices)) continue;
      const KeyRange<Key> of = range_of_keys(keys, length_);
      if (are_counted(of.range, length_)) {
        count_row(keys, of, from, values, indices);
      } else if (length_ > std::numeric_limits<uint32_t>::max()) {
        sort_huge_row(keys, from, values, indices);
      } else {
        if (!places) places.emplace(length_);
        places->sort(keys, of);
        write(*places, from, values, indices);
      }
    }
  }
  /// Counting sort, for a row with few different keys.
  void count_row(const Key* keys, const KeyRange<Key>& of, const Element* row, Element* values, int64_t* indices) {
    next_.assign(of.range + 1, 0);
    const auto next_of = [&](int64_t i) -> int64_t& { return next_[static_cast<std::size_t>(keys[i] - of.least)]; };
    for (int64_t i = 0; i < length_; ++i) ++next_of(i);
    int64_t start = 0;
    for (int64_t& count : next_) start += std::exchange(count, start);  // exact: at most `length_`
    for (int64_t i = 0; i < length_; ++i) {
      const int64_t to = next_of(i)++;
      if (to >= kept_) continue;
      values[to] = row[i];
      indices[to] = i;
    }
  }
  /// Places that an Item cannot hold.
  void sort_huge_row(const Key* keys, const Element* row, Element* values, int64_t* indices) {
    std::vector<int64_t> places(static_cast<std::size_t>(length_));
    std::iota(places.begin(), places.end(), 0);
    std::sort(places.begin(), places.end(),
              [&](int64_t a, int64_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
    write(places, row, values, indices);
  }
  template <class Places>
  void write(const Places& places, const Element* row, Element* values, int64_t* indices) {
    for (int64_t i = 0; i < kept_; ++i) {
      const int64_t place = places[i];
      values[i] = row[place];
      indices[i] = place;
    }
  }

  const OrderKernels& kernels_;
  int64_t length_, kept_;
  bool descending_;
  std::vector<int64_t> next_;
  Key *selected_ = nullptr, *places_ = nullptr;  // keys that may be among the first, and where they are
};

/// Sorts rows of `length` elements and keeps the first `kept` of each.
template <class Element>
void order_rows(const Tensor& rows, const Results& to, int64_t length, int64_t kept, bool descending) {
  const auto* from = reinterpret_cast<const Element*>(rows.impl()->data());
  auto* values = reinterpret_cast<Element*>(to.values.impl()->data());
  auto* indices = reinterpret_cast<int64_t*>(to.indices.impl()->data());
  // exact: numbers of elements
  const int64_t count = rows.numel() / length, part_rows = std::max<int64_t>(kPartElements / length, 1);
  if (CourseRecord::now()) [[unlikely]]
    note_course(RowOrder<Element>(rows.dtype(), length, kept, descending).course(rows.dtype()));
  run_or_plan(values, (count + part_rows - 1) / part_rows, [&](int64_t part) {
    RowOrder<Element> order_part(rows.dtype(), length, kept, descending);
    check_interrupt();
    // exact: inside the storages
    const int64_t row = part * part_rows;
    order_part(from + row * length, values + row * kept, indices + row * kept, std::min(count - row, part_rows));
  });
}

/// How rows are sorted: the order, and how many elements of each are kept.
struct Wanted {
  int64_t kept;
  bool descending;
};

/// Sorts rows of any strides, as rows that lie along memory.
void order_block(const Tensor& rows, const Results& to, Wanted wanted) {
  const Tensor dense = dense_rows(rows);
  const bool direct = to.values.is_contiguous() && to.indices.is_contiguous();
  Results written = to;
  if (!direct)
    written = {new_tensor(to.values.sizes(), rows.dtype(), rows.device()),
               new_tensor(to.indices.sizes(), int64, rows.device())};
  visit_width(itemsize(rows.dtype()), [&]<class Bits>() {
    if constexpr (sizeof(Bits) <= 8) order_rows<Bits>(dense, written, rows.size(-1), wanted.kept, wanted.descending);
  });
  if (direct) return;
  run_copy(to.values, written.values);
  run_copy(to.indices, written.indices);
}

// Elements that are copied together if rows do not lie along memory, but at least a cache line of columns. Bench:
// ./dev bench-catalogue --filter sort.
constexpr int64_t kBlockElements = 1 << 16, kBlockRows = 16;

/// Sorts block after block. `explain` shows the first one.
void order_blocks(const Tensor& rows, const Results& to, Wanted wanted) {
  if (rows.dim() == 1) return order_block(rows, to, wanted);
  const int64_t size = rows.size(0);
  if (size == 1) return order_blocks(rows.select(0, 0), {to.values.select(0, 0), to.indices.select(0, 0)}, wanted);
  const int64_t step = std::max<int64_t>(kBlockElements / (rows.numel() / size), rows.dim() == 2 ? kBlockRows : 1);
  if (step >= size) return order_block(rows, to, wanted);
  std::optional<Unrecorded> later;
  // exact: inside the dim, for steps below its size
  for (int64_t i = 0; i < size; i += step) {
    const int64_t n = std::min(step, size - i);
    order_blocks(rows.narrow(0, i, n), {to.values.narrow(0, i, n), to.indices.narrow(0, i, n)}, wanted);
    if (rows.is_meta()) return;
    if (!later) later.emplace();
  }
}

/// Sorts into `to`. If its `dim` is shorter, only the first elements are kept.
void order(const Tensor& self, const Results& to, int64_t dim, bool descending) {
  if (has_no_work(to.values.numel(), to.values.data_ptr())) return;
  if (self.dim() == 0) {
    run_copy(to.values, self);
    write_fill(to.indices, 0);
    return forget_writes(to.values);
  }
  const Tensor rows = rows_along(self, dim);
  const Results target{rows_along(to.values, dim), rows_along(to.indices, dim)};
  const Wanted wanted{to.values.sizes()[dim], descending};
  const bool lies_along = rows.is_contiguous() && target.values.is_contiguous() && target.indices.is_contiguous();
  lies_along ? order_block(rows, target, wanted) : order_blocks(rows, target, wanted);
}

}  // namespace

std::tuple<Tensor, Tensor> plain::sort(const Tensor& self, int64_t dim, bool descending, std::optional<bool>) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_sortable(self);
  const Dims strides = dense_strides_like(self.sizes(), self.strides());
  Results results{new_tensor(self.sizes(), strides, self.dtype(), self.device()),
                  new_tensor(self.sizes(), strides, int64, self.device())};
  order(self, results, along, descending);
  return {std::move(results.values), std::move(results.indices)};
}

Tensor plain::argsort(const Tensor& self, int64_t dim, bool descending, std::optional<bool> stable) {
  return std::get<1>(sort(self, dim, descending, stable));
}

Tensor& plain::argsort_out(Tensor& out, const Tensor& self, int64_t dim, bool descending, std::optional<bool> stable) {
  if (!is_recorded(self)) {
    wrap_dim(dim, self.dim());
    check_sortable(self);
    check_strict_out(out, int64);
  }
  check_unrecorded(Op::sort, out, self);
  return write_result(Op::argsort, out, plain::argsort(self, dim, descending, stable));
}

std::tuple<Tensor, Tensor> plain::topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (k < 0 || k > (self.dim() > 0 ? self.sizes()[along] : 1)) throw Error("selected index k out of range");
  Dims sizes = self.sizes().copy();
  if (self.dim() > 0) sizes[along] = k;
  Results results{new_tensor(sizes, self.dtype(), self.device()), new_tensor(sizes, int64, self.device())};
  if (!is_computed(self)) return {std::move(results.values), std::move(results.indices)};
  if (is_complex(self.dtype())) throw Error(" topk does not support complex dtypes on CPU");
  if (self.dtype() == bool_) throw Error("topk does not support bool dtypes on CPU");
  if (self.dim() == 0) {  // a copy, even of dtypes without code
    write_fill(results.indices, 0);
    return {run_clone(self, MemoryFormat::contiguous), std::move(results.indices)};
  }
  check_has_code(row_of(Op::topk), self.dtype());
  order(self, results, along, largest);
  return {std::move(results.values), std::move(results.indices)};
}

}  // namespace tenon
