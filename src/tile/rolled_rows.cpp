#include "tile/rolled_rows.h"

#include <algorithm>
#include <cstring>

#include "kernel/copy_run.h"
#include "tile/course.h"
#include "tile/pool.h"

namespace tenon {
namespace {

// Bytes that stay in the first-level cache until the ends of rows are corrected, and of a thread's part. Bench:
// ./dev bench-catalogue --filter roll.
constexpr int64_t kTogether = 1 << 14, kPart = 1 << 17;

template <std::size_t kBytes>
void copy_pieces_of(std::byte* to, const std::byte* from, int64_t rows, int64_t length) {
  for (; rows > 0; --rows, to += length, from += length) std::memcpy(to, from, kBytes);
}
/// Copies `nbytes` of each row, which are few.
void copy_pieces(std::byte* to, const std::byte* from, int64_t rows, int64_t length, int64_t nbytes) {
  switch (nbytes) {  // without a call for each row
    case 1:
      return copy_pieces_of<1>(to, from, rows, length);
    case 2:
      return copy_pieces_of<2>(to, from, rows, length);
    case 4:
      return copy_pieces_of<4>(to, from, rows, length);
    case 8:
      return copy_pieces_of<8>(to, from, rows, length);
    case 16:
      return copy_pieces_of<16>(to, from, rows, length);
    default:
      for (; rows > 0; --rows, to += length, from += length) copy_run(to, from, nbytes);
  }
}

/// Rolled rows are the same bytes, moved as one run by the shorter way round, but for a piece of each row.
void roll_together(std::byte* to, const std::byte* from, int64_t rows, int64_t length, int64_t start) {
  const int64_t back = length - start;
  // exact: bytes of the rows
  if (start <= back) {
    copy_run(to + start, from, rows * length - start);
    copy_pieces(to, from + back, rows, length, start);
  } else {
    copy_run(to, from + back, rows * length - back);
    copy_pieces(to + start, from, rows, length, back);
  }
}

}  // namespace

void roll_rows(std::byte* to, const std::byte* from, int64_t rows, int64_t length, int64_t start) {
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "runs copied", .stores = "in place"});
  const int64_t together = std::max<int64_t>(kTogether / length, 1),
                part_rows = std::max<int64_t>(kPart / (together * length), 1) * together;
  run_or_plan(to, (rows + part_rows - 1) / part_rows, [&](int64_t part) {
    // exact: inside the rows
    const int64_t end = std::min(rows, (part + 1) * part_rows);
    for (int64_t row = part * part_rows; row < end; row += together)
      roll_together(to + row * length, from + row * length, std::min(together, end - row), length, start);
  });
}

}  // namespace tenon
