// Rows that are put together from shuffled vectors or from runs are those of a loop over bytes; nothing beside the
// parts is read, and nothing beside the output written.
#include "kernel/join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernel/kernel.h"

namespace tenon {
namespace {

using Memory = std::unique_ptr<uint8_t[]>;

/// Two parts of `a` and `b` units in turns of `rows` rows, of one block for each.
JoinTurn turn_of(int64_t unit, int64_t block, int64_t a, int64_t b, int64_t rows) {
  JoinTurn turn{};
  turn.count = 2;
  turn.unit = unit;
  turn.block = block;
  turn.blocks = rows * (a + b) * unit / block;
  turn.steps[0] = rows * a * unit;
  turn.steps[1] = rows * b * unit;
  for (int64_t at = 0, units = block / unit; at < turn.blocks * units; ++at) {
    const int64_t row = at / (a + b), column = at % (a + b), place = at / units;
    const bool is_first = column < a;
    for (int64_t part = 0; part < 2; ++part) {
      // What the part has before this unit of the output.
      const int64_t before = part == 0 ? row * a + std::min(column, a) : row * b + std::max<int64_t>(column - a, 0);
      if (at % units == 0)
        turn.offsets[place][part] = static_cast<int32_t>(std::min(before * unit, turn.steps[part] - block));
      const bool is_own = is_first == (part == 0);
      turn.shuffles[place][part][at % units] =
          is_own ? static_cast<uint8_t>(before - turn.offsets[place][part] / unit) : JoinTurn::kNone;
    }
  }
  return turn;
}

void check(int64_t unit, int64_t block, int64_t a, int64_t b, int64_t turns) {
  const int64_t rows = block / unit, row_bytes = (a + b) * unit, first = rows * a * unit * turns,
                second = rows * b * unit * turns;
  const JoinTurn turn = turn_of(unit, block, a, b, rows);
  // Memory of exactly so many bytes, so that a sanitizer finds what is read or written beside it.
  const Memory left(new uint8_t[static_cast<std::size_t>(first)]), right(new uint8_t[static_cast<std::size_t>(second)]),
      out(new uint8_t[static_cast<std::size_t>(first + second)]);
  for (int64_t i = 0; i < first; ++i) left[i] = static_cast<uint8_t>(i * 7 + i / 251);
  for (int64_t i = 0; i < second; ++i) right[i] = static_cast<uint8_t>(i * 5 + i / 241 + 3);
  const void* const parts[] = {left.get(), right.get()};
  kernels().join(out.get(), parts, turn, turns);
  for (int64_t i = 0; i < first + second; ++i) {
    const int64_t row = i / row_bytes, column = i % row_bytes;
    const uint8_t want = column < a * unit ? left[row * a * unit + column] : right[row * b * unit + column - a * unit];
    ASSERT_EQ(out[i], want) << unit << " " << block << " " << a << " " << b << " " << turns << " at " << i;
  }
}

TEST(JoinTurns, PutRowsTogether) {
  if (!kernels().join) GTEST_SKIP();
  for (const int64_t a : {1, 2, 3})
    for (const int64_t b : {1, 2, 5})
      for (const int64_t turns : {1, 2, 300}) {
        check(1, 16, a, b, turns);
        if (kernels().vector_bytes >= 32) check(4, kernels().vector_bytes, a, b, turns);
        if (HasFatalFailure()) return;
      }
}

/// Rows of these runs, from memory and to memory that ends where they do.
void check_runs(const std::vector<int64_t>& lengths, int64_t rows) {
  JoinTurn turn{};
  std::vector<Memory> memory;
  std::vector<const void*> parts;
  int64_t row_bytes = 0;
  for (const int64_t length : lengths) {
    memory.emplace_back(new uint8_t[static_cast<std::size_t>(length * rows)]);
    for (int64_t i = 0; i < length * rows; ++i) memory.back()[i] = static_cast<uint8_t>(i * 7 + i / 251 + length);
    parts.push_back(memory.back().get());
    turn.steps[turn.count++] = length;
    row_bytes += length;
  }
  const Memory out(new uint8_t[static_cast<std::size_t>(row_bytes * rows)]);
  kernels().join(out.get(), parts.data(), turn, rows);
  const uint8_t* at = out.get();
  for (int64_t row = 0; row < rows; ++row)
    for (std::size_t part = 0; part < lengths.size(); at += lengths[part++])
      ASSERT_TRUE(std::equal(at, at + lengths[part], memory[part].get() + row * lengths[part]))
          << lengths[part] << " of part " << part << " at row " << row;
}

TEST(JoinTurns, OfOneRowCopyItsRuns) {
  if (!kernels().join) GTEST_SKIP();
  for (int64_t length = 1; length <= 200; ++length)
    for (const int64_t rows : {1, 2, 7}) {
      check_runs({length, 300}, rows);
      check_runs({193, length, 5}, rows);
      check_runs({length, 1, 1000, length}, rows);
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace tenon
