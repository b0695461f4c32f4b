#include "kernel/join.h"

#include <algorithm>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/join.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
/// One block of each turn: its shuffles stay in registers.
template <int kParts>
HWY_INLINE void join_block(uint8_t* to, const uint8_t* const* parts, const JoinTurn& turn, int64_t block,
                           int64_t turns) {
  const hn::FixedTag<uint8_t, JoinTurn::kBlock> d;
  const int64_t bytes = turn.blocks * JoinTurn::kBlock;
  const uint8_t* from[kParts];
  int64_t steps[kParts];
  hn::Vec<decltype(d)> shuffles[kParts];
  for (int i = 0; i < kParts; ++i) {
    from[i] = parts[i] + turn.offsets[block][i];
    steps[i] = turn.steps[i];
    shuffles[i] = hn::Load(d, turn.shuffles[block][i]);
  }
  for (to += block * JoinTurn::kBlock; turns > 0; --turns, to += bytes) {
    auto joined = hn::Zero(d);
    for (int i = 0; i < kParts; ++i) {
      joined = hn::Or(joined, hn::TableLookupBytesOr0(hn::LoadU(d, from[i]), shuffles[i]));
      from[i] += steps[i];
    }
    hn::StoreU(joined, d, to);
  }
}

/// As many turns at a time as stay in the first-level cache. Bench: ./dev bench --sweep, cat.
constexpr int64_t kLastingBytes = 8 << 10;

template <int kParts>
void join_turns(uint8_t* to, const void* const* parts, const JoinTurn& turn, int64_t turns) {
  const int64_t bytes = turn.blocks * JoinTurn::kBlock, most = kLastingBytes / bytes;
  const uint8_t* from[kParts];
  for (int i = 0; i < kParts; ++i) from[i] = static_cast<const uint8_t*>(parts[i]);
  while (turns > 0) {
    const int64_t now = std::min(turns, most);
    for (int64_t block = 0; block < turn.blocks; ++block) join_block<kParts>(to, from, turn, block, now);
    for (int i = 0; i < kParts; ++i) from[i] += now * turn.steps[i];
    to += now * bytes;
    turns -= now;
  }
}

void join(void* out, const void* const* parts, const JoinTurn& turn, int64_t turns) {
  uint8_t* to = static_cast<uint8_t*>(out);
  if (turn.count == 2) return join_turns<2>(to, parts, turn, turns);
  if (turn.count == 3) return join_turns<3>(to, parts, turn, turns);
  join_turns<4>(to, parts, turn, turns);
}

void fill_joins(KernelTable& table) { table.join = &join; }
#else
void fill_joins(KernelTable&) {}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
