#include "tile/join.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "hwy/cache_control.h"
#include "kernel/kernel.h"
#include "tenon/threads.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/streamed.h"

namespace tenon {
namespace {

// Bytes for one thread; fewer than three of these are copied by the caller alone. A short run costs as much as so many
// bytes. Bench: tenon_bench --ops --filter 'ops/(cat|stack)$'.
constexpr int64_t kGrainBytes = 128 << 10, kSerialBytes = 3 * kGrainBytes, kMostBytes = 1 << 20, kRunBytes = 32;
// Runs of so many bytes, of so many parts, are copied in steps of a fixed length; the next run overwrites the excess.
constexpr int64_t kShort = 1024, kFewParts = 32, kStep = 32;
// Runs of at most so many bytes are copied part by part, over as many rows as fit the first-level cache: a loop over
// one part's rows has no branches. Bench: ./dev bench --sweep, cat.
constexpr int64_t kNarrow = 64, kFewRows = 4, kRowsTogether = 16, kBytesTogether = 16 << 10;
// Rows for which it is worth making the shuffles of a turn. Bench: ./dev bench --sweep, cat.
constexpr int64_t kTurns = 16;
// Shorter runs are joined to blocks of kBlock bytes before a streaming store; copies of short ones that are longer than
// this follow each other so fast that ordinary stores do as well. Bench: ./dev bench --sweep, cat.
constexpr int64_t kBlock = 4096, kShortStream = 256;

void copy(std::byte* to, const std::byte* from, int64_t nbytes) {
  std::memcpy(to, from, static_cast<std::size_t>(nbytes));
}

class Joint {
 public:
  Joint(const Part* parts, int64_t count, int64_t rows) : parts_(parts), count_(count), rows_(rows) {
    shortest_ = longest_ = parts[0].nbytes;
    for (int64_t i = 0; i < count; ++i) {
      row_bytes_ += parts[i].nbytes;  // exact: inside the output
      row_cost_ += std::max(parts[i].nbytes, kRunBytes);
      shortest_ = std::min(shortest_, parts[i].nbytes);
      longest_ = std::max(longest_, parts[i].nbytes);
    }
    if (shuffles()) make_turn();
  }

  int64_t nbytes() const { return rows_ * row_bytes_; }  // exact: of the output
  /// In bytes that cost as much.
  int64_t cost() const { return rows_ * row_cost_; }  // exact: memory is smaller than 2^48
  int64_t row_bytes() const { return row_bytes_; }
  int64_t shortest() const { return shortest_; }
  /// Whether ordinary stores are as fast as streaming ones.
  bool has_fair_runs() const { return shortest_ >= kShortStream && longest_ <= kShort && count_ <= kFewParts; }

  /// Writes bytes [begin, end) of the output.
  template <class Copy>
  void write(std::byte* to, int64_t begin, int64_t end, const Copy& copy_run) const {
    // exact: positions in the output
    const int64_t first = begin / row_bytes_, last = end / row_bytes_;
    if (first == last) return write_row(to, first, begin % row_bytes_, end % row_bytes_, copy_run), void();
    int64_t row = first;
    if (begin % row_bytes_ > 0) to = write_row(to, row++, begin % row_bytes_, row_bytes_, copy_run);
    to = write_rows(to, row, last, copy_run);
    write_row(to, last, 0, end % row_bytes_, copy_run);
  }
  /// Writes all of the output.
  void write_all(std::byte* to) const { write_rows(to, 0, rows_, copy); }

 private:
  /// Writes whole rows. Returns the address behind them.
  template <class Copy>
  std::byte* write_rows(std::byte* to, int64_t row, int64_t last, const Copy& copy_run) const {
    if (turn_rows_ > 0) to = write_turns(to, row, last);
    if (longest_ <= kNarrow && last - row >= kFewRows &&
        (row_bytes_ * kRowsTogether <= kBytesTogether || count_ > kFewParts))
      to = write_narrow_rows(to, row, last);
    else if (longest_ <= kShort)
      to = write_short_rows(to, row, last);
    for (; row < last; ++row) to = write_row(to, row, 0, row_bytes_, copy_run);
    return to;
  }
  /// Writes bytes [begin, end) of one row. Returns the address behind them.
  template <class Copy>
  std::byte* write_row(std::byte* to, int64_t row, int64_t begin, int64_t end, const Copy& copy_run) const {
    // exact: positions in a row
    for (int64_t i = 0; i < count_ && end > 0; ++i) {
      const int64_t nbytes = parts_[i].nbytes, stop = std::min(end, nbytes);
      if (begin < stop) {
        copy_run(to, parts_[i].data + row * nbytes + begin, stop - begin);
        to += stop - begin;
      }
      begin = std::max<int64_t>(begin - nbytes, 0);
      end -= nbytes;
    }
    return to;
  }
  /// Whether it is worth putting rows together from shuffled vectors: a byte of the output costs as much as the parts
  /// it may come from, and copied runs as much as they have words or vectors.
  bool shuffles() const {
    if (rows_ < kTurns || !kernels().join || count_ < 2 || count_ > JoinTurn::kMostParts || longest_ > kNarrow)
      return false;
    int64_t copies = 0;
    for (int64_t i = 0; i < count_; ++i) copies += copies_of(parts_[i].nbytes);
    return row_bytes_ * (count_ + 1) <= 2 * JoinTurn::kBlock * copies && rows_ / rows_of_turn() >= kTurns &&
           blocks_of_turn() <= JoinTurn::kMostBlocks;
  }
  /// The copies of whole words or vectors that a run takes.
  static int64_t copies_of(int64_t nbytes) {
    const auto width = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min(nbytes, kStep))));
    return (nbytes + width - 1) / width;
  }
  /// After these rows a block of output begins again where a row does, and each part has a vector of bytes.
  int64_t rows_of_turn() const {
    const int64_t whole = JoinTurn::kBlock / std::gcd(row_bytes_, JoinTurn::kBlock),
                  least = (JoinTurn::kBlock + shortest_ - 1) / shortest_;
    return (least + whole - 1) / whole * whole;
  }
  int64_t blocks_of_turn() const { return rows_of_turn() * row_bytes_ / JoinTurn::kBlock; }
  void make_turn() {
    turn_rows_ = rows_of_turn();
    turn_.count = count_;
    turn_.blocks = blocks_of_turn();
    int64_t first = 0;
    for (int64_t i = 0; i < count_; first += parts_[i++].nbytes) {
      const int64_t nbytes = parts_[i].nbytes;
      turn_.steps[i] = turn_rows_ * nbytes;
      make_shuffles(i, first, nbytes);
    }
  }
  /// `first`: where the part's run begins in a row.
  void make_shuffles(int64_t part, int64_t first, int64_t nbytes) {
    constexpr int64_t kVector = JoinTurn::kBlock;
    int64_t source = 0,
            place = -first;  // of the next byte of the part; of the next byte of a row, counted from its run
    for (int64_t block = 0; block < turn_.blocks; ++block) {
      const int64_t offset = std::min(source, turn_.steps[part] - kVector);
      turn_.offsets[block][part] = static_cast<int32_t>(offset);
      for (uint8_t& shuffle : turn_.shuffles[block][part]) {
        const bool is_own = place >= 0 && place < nbytes;
        shuffle = is_own ? static_cast<uint8_t>(source - offset) : 0x80;
        source += is_own;
        if (++place == row_bytes_ - first) place = -first;
      }
    }
  }

  /// Writes whole turns of rows. Advances `row`.
  std::byte* write_turns(std::byte* to, int64_t& row, int64_t last) const {
    const int64_t turns = (last - row) / turn_rows_;
    const void* from[JoinTurn::kMostParts] = {};
    // exact: inside the parts and the output
    for (int64_t i = 0; i < count_; ++i) from[i] = parts_[i].data + row * parts_[i].nbytes;
    kernels().join(to, from, turn_, turns);
    row += turns * turn_rows_;
    return to + turns * turn_rows_ * row_bytes_;
  }
  /// Writes rows part by part. Advances `row`.
  std::byte* write_narrow_rows(std::byte* to, int64_t& row, int64_t last) const {
    const auto scatter = kernels().move[0].scatter;
    const int64_t most = std::max(kBytesTogether / row_bytes_, kRowsTogether);
    while (row < last) {
      const int64_t rows = std::min(most, last - row);
      // exact: inside the output and the parts
      std::byte* run = to;
      for (int64_t i = 0; i < count_; run += parts_[i++].nbytes)
        scatter(run, 1, parts_[i].nbytes, row_bytes_, rows, parts_[i].data + row * parts_[i].nbytes);
      to += rows * row_bytes_;
      row += rows;
    }
    return to;
  }
  /// Writes whole rows from `row` on, up to the last ones, where a step of kStep bytes would pass the end of the output
  /// or of a part. Advances `row`.
  std::byte* write_short_rows(std::byte* to, int64_t& row, int64_t last) const {
    const int64_t beyond = (kStep + shortest_ - 1) / shortest_, stop = std::min(last, rows_) - beyond;
    if (count_ > kFewParts) return to;
    const std::byte* from[kFewParts];
    int64_t nbytes[kFewParts];
    for (int64_t i = 0; i < count_; ++i) {
      nbytes[i] = parts_[i].nbytes;
      from[i] = parts_[i].data + row * nbytes[i];  // exact: inside the part
    }
    for (const int64_t count = count_; row < stop; ++row)
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(to, from[i], kStep);
        for (int64_t at = kStep; at < nbytes[i]; at += kStep) std::memcpy(to + at, from[i] + at, kStep);
        to += nbytes[i];
        from[i] += nbytes[i];
      }
    return to;
  }

  const Part* parts_;
  int64_t count_, rows_, row_bytes_ = 0, row_cost_ = 0, shortest_, longest_;
  int64_t turn_rows_ = 0;  // of a turn; 0: there is none
  JoinTurn turn_;
};

/// The same with streaming stores.
void write_streamed(const Joint& joint, std::byte* to, int64_t begin, int64_t end) {
  StreamedOutput output(StreamedOutput::bytes(kLine));
  if (joint.shortest() >= kShortStream)
    return joint.write(to, begin, end, [&output](std::byte* run, const std::byte* from, int64_t nbytes) {
      stream_bytes(run, from, nbytes, output);
    });
  alignas(kBlock) std::byte block[kBlock];
  const int64_t row = joint.row_bytes();
  for (int64_t at = begin, stop; at < end; at = stop) {
    stop = std::min(at + kBlock, end);
    if (2 * row <= kBlock && stop < end) stop -= stop % row;  // blocks of whole rows
    joint.write(block, at, stop, copy);
    stream_bytes(to + (at - begin), block, stop - at, output);
  }
}

}  // namespace

void join(std::byte* out, const Part* parts, int64_t count, int64_t rows) {
  const Joint joint(parts, count, rows);
  const int64_t nbytes = joint.nbytes();
  const bool streaming = joint.cost() >= kSerialBytes && outgrows_cache(nbytes, nbytes) && !joint.has_fair_runs();
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "runs joined", .stores = streaming ? "streamed" : "in place"});
  if (joint.cost() < kSerialBytes) return run_or_plan(out, 1, [&](int64_t) { joint.write_all(out); });
  const int64_t least = std::max(nbytes / (joint.cost() / kGrainBytes), kLine);
  const int64_t grain = std::clamp(nbytes / (int64_t{8} * get_num_threads()), least, kMostBytes) / kLine * kLine;
  run_or_plan(out, (nbytes + grain - 1) / grain, [&](int64_t part) {
    const int64_t begin = part * grain, end = std::min(begin + grain, nbytes);
    if (!streaming) return joint.write(out + begin, begin, end, copy);
    write_streamed(joint, out + begin, begin, end);
    hwy::FlushStream();  // makes streaming stores visible before the caller continues
  });
}

}  // namespace tenon
