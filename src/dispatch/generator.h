// dispatch: a stream of random words, and uniform numbers from them. Takes a seed; gives PyTorch's words:
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/core/MT19937RNGEngine.h
#pragma once
#include <cstdint>

#include "tenon/random.h"

namespace tenon {

/// The generator that this thread draws from. Throws Error while a function is traced.
Generator& generator();

/// 64 bits from two words.
constexpr uint64_t wide(const uint32_t* words) noexcept { return static_cast<uint64_t>(words[0]) << 32 | words[1]; }
/// In [0, 1), from two words.
constexpr double uniform_of(const uint32_t* words) noexcept {
  return static_cast<double>(wide(words) & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

/// Draws single numbers. It makes words in advance and holds a lock, so it should live for microseconds.
class WordStream {
 public:
  explicit WordStream(Generator& generator) noexcept;
  ~WordStream();
  WordStream(const WordStream&) = delete;
  WordStream& operator=(const WordStream&) = delete;

  /// In [0, 1).
  double uniform() noexcept {
    const uint32_t upper = word(), pair[] = {upper, word()};
    return uniform_of(pair);
  }

 private:
  uint32_t word() noexcept {
    if (used_ == Generator::kWords) [[unlikely]]
      twist();
    return words_[used_++];
  }
  void twist() noexcept;

  Generator& generator_;
  int32_t used_;
  uint32_t words_[Generator::kWords];  // those of the state, from used_ on
};

}  // namespace tenon
