#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/bytes.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
#if TENON_HAS_VECTORS
using WholeBytes = hn::CappedTag<uint8_t, 64>;
inline constexpr int64_t kWholeBytes = hn::MaxLanes(WholeBytes());

/// Asks the counted bytes of a vector.
template <bool kAll>
HWY_INLINE bool truth_of_vector(hn::Vec<WholeBytes> bytes, hn::Mask<WholeBytes> counted) {
  const WholeBytes d;
  if constexpr (kAll)
    return hn::AllFalse(d, hn::And(counted, hn::Eq(bytes, hn::Zero(d))));
  else
    return !hn::AllFalse(d, hn::And(counted, hn::Ne(bytes, hn::Zero(d))));
}
/// Folds the vectors of a row of at least one.
template <bool kAll>
HWY_INLINE hn::Vec<WholeBytes> vectors_of_row(const uint8_t* from, int64_t n) {
  const WholeBytes d;
  const auto join = [](auto a, auto b) TENON_UNROLLED { return kAll ? hn::Min(a, b) : hn::Or(a, b); };
  auto bytes = hn::LoadU(d, from);
  for (int64_t i = kWholeBytes; i + kWholeBytes <= n; i += kWholeBytes) bytes = join(bytes, hn::LoadU(d, from + i));
  return join(bytes, hn::LoadU(d, from + n - kWholeBytes));
}
HWY_INLINE uint64_t load_word(const uint8_t* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, 8);
  return word;
}

/// Asks the bytes of words. Those that do not count are 0, or 0xFF if all others are asked.
template <bool kAll>
HWY_INLINE bool truth_of_words(uint64_t a, uint64_t b) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = kOnes << 7;
  if constexpr (kAll)
    return ((((a - kOnes) & ~a) | ((b - kOnes) & ~b)) & kHighs) == 0;  // no byte is 0
  else
    return (a | b) != 0;
}
/// Keeps compilers from gathering words to vectors, which takes six times the code and about two thirds of the time.
HWY_INLINE void keep_words_apart() { __asm__ volatile("" : : : "memory"); }

/// Folds rows of up to 16 bytes. Of shorter ones than a word, a whole word is read.
template <bool kAll>
HWY_INLINE void truth_of_short_rows(uint8_t* to, const uint8_t* from, int64_t n, int64_t step, int64_t rows) {
  if (n >= 8) {
    for (int64_t row = 0; row < rows; ++row, from += step) {
      to[row] = truth_of_words<kAll>(load_word(from), load_word(from + n - 8));
      keep_words_apart();
    }
    return;
  }
  uint8_t first[8];
  for (int64_t i = 0; i < 8; ++i) first[i] = i < n ? 0xFF : 0;
  const uint64_t counted = load_word(first);
  for (int64_t row = 0; row < rows; ++row, from += step) {
    const uint64_t word = kAll ? load_word(from) | ~counted : load_word(from) & counted;
    to[row] = truth_of_words<kAll>(word, word);
    keep_words_apart();
  }
}

/// amax and amin of rows of bool, which are any and all, and whose bytes may have any value: a row of up to a vector is
/// one or two loads and one question, not a tree over lanes. Bench: ./dev bench --sweep, inner reductions.
template <class F>
void fold_truth(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  constexpr int64_t kLongBytes = 2048;
  constexpr bool kAll = std::is_same_v<F, ops::amin>;
  if (n >= kLongBytes) return fold<F, bool>(out, in, n, step, rows, is_far);
  const WholeBytes d;
  auto* to = static_cast<uint8_t*>(out);
  const auto* from = static_cast<const uint8_t*>(in);
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(std::min(n, kWholeBytes)));
  int64_t row = 0;
  if (n < kWholeBytes) {
    const int64_t room = (rows - 1) * step + n - kWholeBytes;  // behind the first vector
    const int64_t whole = room < 0 ? 0 : step == 0 ? rows : std::min(rows, room / step + 1);
    if (n <= 16) truth_of_short_rows<kAll>(to, from, n, step, row = whole);
    for (; row < whole; ++row) to[row] = truth_of_vector<kAll>(hn::LoadU(d, from + row * step), counted);
    for (; row < rows; ++row) to[row] = truth_of_vector<kAll>(load_some(d, from + row * step, n), counted);
    return;
  }
  for (; row < rows; ++row) to[row] = truth_of_vector<kAll>(vectors_of_row<kAll>(from + row * step, n), counted);
}
#endif

void fill_bytes(KernelTable& table) {
  fill_dtype<int8_t>(table);
  fill_dtype<uint8_t>(table);
  fill_dtype<bool>(table);
#if TENON_HAS_VECTORS
  table.fold[static_cast<int>(Op::amax)][static_cast<int>(bool_)] = &fold_truth<ops::amax>;
  table.fold[static_cast<int>(Op::amin)][static_cast<int>(bool_)] = &fold_truth<ops::amin>;
#endif
}
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
