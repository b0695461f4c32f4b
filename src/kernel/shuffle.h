// kernel: what the kernels take that rearrange elements by shuffles.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

/// How elements of an operand become neighbours: piece by piece of the result, each of which takes lanes of one vector
/// of the operand. A vector that is stored covers a piece and more; the next piece overwrites that.
struct ShuffleList {
  /// The most elements.
  static constexpr int64_t kMost = 256;
  /// What may be written behind the last element, in bytes.
  static constexpr int64_t kSlack = 64;
  /// Bytes of `lanes` for so many bytes of elements, a whole number of vectors: a piece is at least half a vector.
  static constexpr int64_t lanes_bytes(int64_t nbytes) noexcept { return (2 * nbytes + 127) / 64 * 64; }
  /// The number of `places`: vectors have at least 16 bytes.
  static constexpr int64_t most_pieces(int64_t nbytes) noexcept { return (nbytes + 7) / 8 + 1; }

  std::byte* lanes;  // by piece, a vector each; on a cache line
  int32_t* places;   // by piece: of its vector in the operand, in elements
  int64_t elements;  // of the result
  int64_t piece;     // elements
  int64_t pieces;
  int64_t last_place;  // the largest place
};

/// By element size. Null without vectors.
struct ShuffleKernels {
  int64_t lanes = 0;  // elements of a vector
  /// Makes the list, of which memory and number of elements are given, of the elements of these loops, innermost first,
  /// with `rows` turns of the last one: in[offsets[i]]. False if their places differ too much. No stride is negative.
  bool (*make)(ShuffleList& list, const int64_t* counts, const int64_t* strides, int64_t loops, int64_t rows) = nullptr;
  /// out[turn * n + i] = in[turn * step + offsets[i]], for the first `n` elements of the list, `step` >= 0. Reads
  /// nothing from `end` on, where the operand's memory ends.
  void (*run)(void* out, const void* in, const void* end, const ShuffleList& list, int64_t n, int64_t step,
              int64_t turns) = nullptr;
};

}  // namespace tenon
