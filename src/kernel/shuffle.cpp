#include "kernel/shuffle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/shuffle.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

/// A vector whose units are looked up: of 16 bytes.
struct ByteTable {
  using D = hn::FixedTag<uint8_t, 16>;
  // NOLINTNEXTLINE(readability-suspicious-call-argument): `units` are places in `from`
  static HWY_INLINE hn::Vec<D> lookup(hn::Vec<D> from, hn::Vec<D> units) { return hn::TableLookupBytes(from, units); }
};
#if HWY_TARGET == HWY_AVX2
/// Of 8 words.
struct WordTable {
  using D = hn::FixedTag<uint32_t, 8>;
  static HWY_INLINE hn::Vec<D> lookup(hn::Vec<D> from, hn::Vec<D> units) {
    return hn::TableLookupLanes(from, hn::IndicesFromVec(D(), units));
  }
};
#elif HWY_TARGET <= HWY_AVX3
/// Of 64 bytes.
template <class Unit>
struct WideTable {
  using D = hn::FixedTag<Unit, 64 / sizeof(Unit)>;
  static HWY_INLINE hn::Vec<D> lookup(hn::Vec<D> from, hn::Vec<D> units) {
    if constexpr (sizeof(Unit) == 2)
      return hn::Vec<D>{_mm512_permutexvar_epi16(units.raw, from.raw)};
    else
      return hn::TableLookupLanes(from, hn::IndicesFromVec(D(), units));
  }
};
#endif

template <class T>
using TableOf =
#if HWY_TARGET == HWY_AVX2
    std::conditional_t<sizeof(T) >= 4, WordTable, ByteTable>;
#elif HWY_TARGET <= HWY_AVX3
    std::conditional_t<sizeof(T) >= 2, WideTable<T>, ByteTable>;
#else
    ByteTable;
#endif

/// Runs lists whose vectors are of this kind, of elements of any size.
template <class Table>
struct TableRun {
  using D = typename Table::D;
  using Unit = hn::TFromD<D>;
  static constexpr int64_t kUnits = hn::MaxLanes(D()), kBytes = kUnits * static_cast<int64_t>(sizeof(Unit));
  /// So many bytes are copied to where more can be read behind them, unless the processor reads under a mask.
  static constexpr int64_t kCopied = kBytes == 64 ? 0 : 256;

  struct Memory {
    void* out;
    const void* in;
    const void* end;
  };

  static HWY_INLINE hn::Vec<D> load(const std::byte* from) {
    return hn::LoadU(D(), reinterpret_cast<const Unit*>(from));
  }
  /// As many bytes as there are.
  static HWY_INLINE hn::Vec<D> load_some(const std::byte* from, int64_t nbytes) {
#if HWY_TARGET <= HWY_AVX3
    if constexpr (kBytes == 64)
      return hn::MaskedLoad(hn::FirstN(D(), static_cast<std::size_t>(nbytes) / sizeof(Unit)), D(),
                            reinterpret_cast<const Unit*>(from));
#endif
    std::byte bytes[kBytes] = {};
    std::memcpy(bytes, from, static_cast<std::size_t>(nbytes));
    return load(bytes);
  }
  template <class Load>
  static HWY_INLINE void run_pieces(std::byte* to, const ShuffleList& list, int64_t pieces, int shift, const Load& at) {
    const int64_t step = list.piece << shift;
    const Unit* units = reinterpret_cast<const Unit*>(list.lanes);
    const int32_t* const places = list.places;
    for (int64_t i = 0; i < pieces; ++i, to += step, units += kUnits)
      hn::StoreU(Table::lookup(at(int64_t{places[i]} << shift), hn::Load(D(), units)), D(),
                 reinterpret_cast<Unit*>(to));
  }

  HWY_NOINLINE static void run(const Memory& memory, const ShuffleList& list, int64_t n, int64_t step, int64_t turns,
                               int shift) {
    const int64_t pieces = n == list.elements ? list.pieces : (n + list.piece - 1) / list.piece;
    auto* to = static_cast<std::byte*>(memory.out);
    const auto* from = static_cast<const std::byte*>(memory.in);
    step <<= shift;
    n <<= shift;
    int64_t nbytes = static_cast<const std::byte*>(memory.end) - from;
    const int64_t last = (list.last_place << shift) + kBytes;
    std::byte copied[kCopied + kBytes];
    if (nbytes <= kCopied && last + (turns - 1) * step > nbytes) {
      std::memcpy(copied, from, static_cast<std::size_t>(nbytes));
      std::memset(copied + nbytes, 0, kBytes);
      from = copied;
      nbytes += kBytes;
    }
    for (; turns > 0 && nbytes >= last; --turns, to += n, from += step, nbytes -= step)
      run_pieces(to, list, pieces, shift, [from](int64_t place) HWY_ATTR { return load(from + place); });
    for (; turns > 0; --turns, to += n, from += step, nbytes -= step)
      run_pieces(to, list, pieces, shift, [from, nbytes](int64_t place) HWY_ATTR {
        return nbytes - place >= kBytes ? load(from + place) : load_some(from + place, nbytes - place);
      });
  }
};

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 1, uint8_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>;

// A list and what is read and written behind it.
inline constexpr int64_t kMostListed = ShuffleList::kMost + 64;
/// The offsets of the elements of some loops. What is written behind them means nothing.
HWY_NOINLINE void list_offsets(const int64_t* counts, const int64_t* strides, int64_t loops, int64_t rows,
                               int32_t* offsets) {
  const hn::CappedTag<int32_t, 16> d;
  constexpr auto kTogether = static_cast<int64_t>(hn::MaxLanes(d));
  int64_t listed = 1;
  for (int64_t loop = 0; loop < loops; ++loop) {
    const int64_t turns = loop + 1 < loops ? counts[loop] : rows;
    const auto stride = hn::Set(d, static_cast<int32_t>(strides[loop]));
    if (loop == 0) {
      const auto first = hn::Iota(d, 0);
      for (int64_t turn = 0; turn < turns; turn += kTogether)
        hn::Store(hn::Mul(hn::Add(first, hn::Set(d, static_cast<int32_t>(turn))), stride), d, offsets + turn);
    } else {
      // The first offsets are not read again: that would wait for the last stores.
      const auto few = hn::Load(d, offsets);
      auto moved = stride;
      for (int64_t turn = 1; turn < turns; ++turn, moved = hn::Add(moved, stride)) {
        int32_t* const to = offsets + turn * listed;
        hn::StoreU(hn::Add(few, moved), d, to);
        for (int64_t i = kTogether; i < listed; i += kTogether)
          hn::StoreU(hn::Add(hn::Load(d, offsets + i), moved), d, to + i);
      }
    }
    listed *= turns;
  }
}

/// The shuffles of elements of type T.
template <class T>
struct Shuffles {
  using Table = TableOf<T>;
  using D = typename Table::D;
  using Unit = hn::TFromD<D>;
  static constexpr int64_t kUnits = hn::MaxLanes(D()), kOfElement = sizeof(T) / sizeof(Unit);
  static constexpr int64_t kLanes = kUnits / kOfElement;
  using Offsets = hn::CappedTag<int32_t, kLanes>;
  static constexpr int64_t kPart = hn::MaxLanes(Offsets()), kParts = kLanes / kPart;

  /// Writes the pieces, and gives the most lanes from the first to the last element of a piece.
  static int64_t write(ShuffleList& list, const int32_t* offsets, int64_t piece) {
    const Offsets d;
    hn::Mask<Offsets> of_piece[kParts];
    for (int64_t part = 0; part < kParts; ++part)
      of_piece[part] = hn::FirstN(d, static_cast<std::size_t>(std::clamp<int64_t>(piece - part * kPart, 0, kPart)));
    list.piece = piece;
    list.pieces = list.last_place = 0;
    auto furthest = hn::Zero(d);
    auto* units = reinterpret_cast<Unit*>(list.lanes);
    for (int64_t start = 0; start < list.elements; start += piece, offsets += piece, units += kUnits) {
      hn::Vec<Offsets> lanes[kParts];
      const auto any = hn::Set(d, offsets[0]);
      auto first = any;
      for (int64_t part = 0; part < kParts; ++part) {
        lanes[part] = hn::IfThenElse(of_piece[part], hn::LoadU(d, offsets + part * kPart), any);
        first = hn::Min(first, lanes[part]);
      }
      first = hn::MinOfLanes(d, first);
      for (int64_t part = 0; part < kParts; ++part) {
        lanes[part] = hn::Sub(lanes[part], first);
        furthest = hn::Max(furthest, lanes[part]);
        write_units(lanes[part], units + part * kPart * kOfElement);
      }
      const int32_t place = hn::GetLane(first);
      list.places[list.pieces++] = place;
      list.last_place = std::max<int64_t>(list.last_place, place);
    }
    return hn::GetLane(hn::MaxOfLanes(d, furthest)) + 1;
  }
  static HWY_INLINE void write_units(hn::Vec<Offsets> lanes, Unit* units) {
    const Offsets d;
    if constexpr (sizeof(T) == 8) {
      alignas(64) int32_t each[kPart];
      hn::Store(lanes, d, each);
      for (int64_t lane = 0; lane < kPart; ++lane)
        for (int64_t unit = 0; unit < kOfElement; ++unit)
          units[lane * kOfElement + unit] = static_cast<Unit>(each[lane] * kOfElement + unit);
    } else {
      // An element's units are numbered one after the other.
      constexpr int32_t kEach = kOfElement == 1 ? 1 : sizeof(T) == 2 ? 0x202 : 0x4040404;
      constexpr int32_t kUnit = kOfElement == 1 ? 0 : sizeof(T) == 2 ? 0x100 : 0x3020100;
      if constexpr (kOfElement > 1) lanes = hn::Add(hn::Mul(lanes, hn::Set(d, kEach)), hn::Set(d, kUnit));
      const hn::Rebind<BitsOf<T>, Offsets> to;
      auto* const at = reinterpret_cast<BitsOf<T>*>(units);
      if constexpr (sizeof(T) == 4)
        hn::StoreU(hn::BitCast(to, lanes), to, at);
      else
        hn::StoreU(hn::DemoteTo(to, lanes), to, at);
    }
  }

  static bool make(ShuffleList& list, const int64_t* counts, const int64_t* strides, int64_t loops, int64_t rows) {
    alignas(64) int32_t offsets[kMostListed] = {};
    list_offsets(counts, strides, loops, rows, offsets);
    for (int64_t i = 0; i < kLanes; ++i) offsets[list.elements + i] = offsets[list.elements - 1];
    for (int64_t piece = kLanes; piece >= kLanes / 2;) {
      const int64_t lanes = write(list, offsets, piece);
      if (lanes <= kLanes) return true;
      piece = piece * kLanes / lanes;  // elements with gaps between them: shorter pieces may fit
    }
    return false;
  }
  static void run(void* out, const void* in, const void* end, const ShuffleList& list, int64_t n, int64_t step,
                  int64_t turns) {
    TableRun<Table>::run({out, in, end}, list, n, step, turns, std::countr_zero(sizeof(T)));
  }
};

template <class T>
constexpr ShuffleKernels kernels_for() {
  return {Shuffles<T>::kLanes, &Shuffles<T>::make, &Shuffles<T>::run};
}

void fill_shuffles(KernelTable& table) {
  table.shuffle[0] = kernels_for<uint8_t>();
  table.shuffle[1] = kernels_for<uint16_t>();
  table.shuffle[2] = kernels_for<uint32_t>();
  table.shuffle[3] = kernels_for<uint64_t>();
}
#else
void fill_shuffles(KernelTable&) {}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
