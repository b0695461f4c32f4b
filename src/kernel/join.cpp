#include "kernel/join.h"

#include <algorithm>

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

void join(void* out, const void* const* parts, const JoinTurn& turn, int64_t turns) {
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
