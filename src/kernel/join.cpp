#include "kernel/join.h"

#include <algorithm>
#include <cstring>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/join.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

/// A shuffle of 16 bytes.
class Bytes {
 public:
  using D = hn::FixedTag<uint8_t, 16>;

  HWY_INLINE void set(const uint8_t* units) { units_ = hn::Load(D(), units); }
  HWY_INLINE hn::Vec<D> add(hn::Vec<D> joined, const uint8_t* from) const {
    return hn::Or(joined, hn::TableLookupBytesOr0(hn::LoadU(D(), from), units_));
  }

 private:
  hn::Vec<D> units_;
};
#endif
#if HWY_TARGET <= HWY_AVX2
/// A shuffle of a vector's words.
class Words {
 public:
  using D = hn::ScalableTag<uint32_t>;

  HWY_INLINE void set(const uint8_t* units) {
    const hn::Rebind<uint8_t, D> bytes;
    units_ = hn::PromoteTo(D(), hn::LoadU(bytes, units));
    some_ = hn::TestBit(hn::Xor(units_, hn::Set(D(), JoinTurn::kNone)), hn::Set(D(), JoinTurn::kNone));
    units_ = hn::And(units_, hn::Set(D(), JoinTurn::kMostUnits - 1));
  }
  HWY_INLINE hn::Vec<D> add(hn::Vec<D> joined, const uint8_t* from) const {
    const auto words = hn::LoadU(D(), reinterpret_cast<const uint32_t*>(from));
    return hn::IfThenElse(some_, hn::TableLookupLanes(words, hn::IndicesFromVec(D(), units_)), joined);
  }

 private:
  hn::Vec<D> units_;
  hn::Mask<D> some_;
};
#endif

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
/// One block of each turn: its shuffles stay in registers.
template <class Units, int kParts>
HWY_INLINE void join_block(uint8_t* to, const uint8_t* const* parts, const JoinTurn& turn, int64_t block,
                           int64_t turns) {
  const typename Units::D d;
  const int64_t bytes = turn.blocks * turn.block;
  const uint8_t* from[kParts];
  int64_t steps[kParts];
  Units units[kParts];
  for (int i = 0; i < kParts; ++i) {
    from[i] = parts[i] + turn.offsets[block][i];
    steps[i] = turn.steps[i];
    units[i].set(turn.shuffles[block][i]);
  }
  for (to += block * turn.block; turns > 0; --turns, to += bytes) {
    auto joined = hn::Zero(d);
    for (int i = 0; i < kParts; ++i) {
      joined = units[i].add(joined, from[i]);
      from[i] += steps[i];
    }
    hn::StoreU(joined, d, reinterpret_cast<hn::TFromD<typename Units::D>*>(to));
  }
}

/// As many turns at a time as stay in the first-level cache. Bench: ./dev bench --sweep, cat.
constexpr int64_t kLastingBytes = 8 << 10;

template <class Units, int kParts>
void join_turns(uint8_t* to, const void* const* parts, const JoinTurn& turn, int64_t turns) {
  const int64_t bytes = turn.blocks * turn.block, most = kLastingBytes / bytes;
  const uint8_t* from[kParts];
  for (int i = 0; i < kParts; ++i) from[i] = static_cast<const uint8_t*>(parts[i]);
  while (turns > 0) {
    const int64_t now = std::min(turns, most);
    for (int64_t block = 0; block < turn.blocks; ++block) join_block<Units, kParts>(to, from, turn, block, now);
    for (int i = 0; i < kParts; ++i) from[i] += now * turn.steps[i];
    to += now * bytes;
    turns -= now;
  }
}

template <class Units>
void join_parts(uint8_t* to, const void* const* parts, const JoinTurn& turn, int64_t turns) {
  if (turn.count == 2) return join_turns<Units, 2>(to, parts, turn, turns);
  if (turn.count == 3) return join_turns<Units, 3>(to, parts, turn, turns);
  join_turns<Units, 4>(to, parts, turn, turns);
}

/// A word at each end, which may overlap.
template <class Word>
HWY_INLINE void copy_ends(uint8_t* to, const uint8_t* from, int64_t bytes) {
  const int64_t last = bytes - static_cast<int64_t>(sizeof(Word));
  Word first, second;
  std::memcpy(&first, from, sizeof(Word));
  std::memcpy(&second, from + last, sizeof(Word));
  std::memcpy(to, &first, sizeof(Word));
  std::memcpy(to + last, &second, sizeof(Word));
}
/// A run of at least one vector: the last one may overlap the one before.
template <class D>
HWY_INLINE void copy_vectors(D d, uint8_t* to, const uint8_t* from, int64_t bytes) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  const int64_t last = bytes - kLanes;
  const auto end = hn::LoadU(d, from + last);
  for (int64_t at = 0; at < last; at += kLanes) hn::StoreU(hn::LoadU(d, from + at), d, to + at);
  hn::StoreU(end, d, to + last);
}
// Vectors of 32 bytes cross lines half as often as those of 64. Bench: ./dev bench --sweep, cat.
HWY_INLINE void copy_run(uint8_t* to, const uint8_t* from, int64_t bytes) {
  const hn::CappedTag<uint8_t, 32> wide;
  if (bytes >= static_cast<int64_t>(hn::MaxLanes(wide))) return copy_vectors(wide, to, from, bytes);
  if (bytes >= 16) return copy_vectors(hn::FixedTag<uint8_t, 16>(), to, from, bytes);
  if (bytes >= 8) return copy_ends<uint64_t>(to, from, bytes);
  if (bytes >= 4) return copy_ends<uint32_t>(to, from, bytes);
  if (bytes >= 2) return copy_ends<uint16_t>(to, from, bytes);
  *to = *from;
}
/// Prefetches what is read and written 2 KB after a run that is too short for the processor to read ahead: from memory,
/// runs of 64 bytes took 1.4 times as long without. Bench: ./dev bench --sweep, cat.
HWY_INLINE void prefetch_later_run(const uint8_t* to, const uint8_t* from, int64_t bytes) {
  constexpr int64_t kAhead = 2048, kLine = 64, kShort = 256;
  if (bytes >= kShort) return;
  for (int64_t at = 0; at < bytes; at += kLine) {
    __builtin_prefetch(from + kAhead + at);
    __builtin_prefetch(to + kAhead + at, 1);
  }
}
/// Rows of runs, from left to right.
void join_runs(uint8_t* to, const void* const* parts, const JoinTurn& turn, int64_t rows) {
  const auto count = static_cast<int>(turn.count);
  const uint8_t* from[JoinTurn::kMostParts];
  int64_t bytes[JoinTurn::kMostParts];
  for (int i = 0; i < count; ++i) {
    from[i] = static_cast<const uint8_t*>(parts[i]);
    bytes[i] = turn.steps[i];
  }
  for (; rows > 0; --rows)
    for (int i = 0; i < count; ++i) {
      prefetch_later_run(to, from[i], bytes[i]);
      copy_run(to, from[i], bytes[i]);
      to += bytes[i];
      from[i] += bytes[i];
    }
}

void join(void* out, const void* const* parts, const JoinTurn& turn, int64_t turns) {
  if (turn.blocks == 0) return join_runs(static_cast<uint8_t*>(out), parts, turn, turns);
#if HWY_TARGET <= HWY_AVX2
  if (turn.unit == 4) return join_parts<Words>(static_cast<uint8_t*>(out), parts, turn, turns);
#endif
  join_parts<Bytes>(static_cast<uint8_t*>(out), parts, turn, turns);
}

void fill_joins(KernelTable& table) { table.join = &join; }
#else
void fill_joins(KernelTable&) {}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
