#include "tile/join.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hwy/cache_control.h"
#include "kernel/copy_run.h"
#include "kernel/join.h"
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
// Longer runs of few parts are copied one by one, shorter ones copied by a kernel. Bench: ./dev bench --sweep, cat.
constexpr int64_t kKernelRun = 2560;
// Runs of at most so many bytes are copied part by part, over as many rows as fit the first-level cache: a loop over
// one part's rows has no branches. Bench: ./dev bench --sweep, cat.
constexpr int64_t kNarrow = 192, kFewRows = 2, kRowsTogether = 16, kBytesTogether = 16 << 10;
// Runs of at least so many bytes are copied by the kernel, too, where the result leaves the first-level cache, or the
// second.
constexpr int64_t kRunsBeyond = 65, kNearBytes = 96 << 10, kRunsFarBeyond = 64, kSecondBytes = 1 << 20;
// Rows for which it may be worth making shuffles, and what a unit of them costs. Bench: ./dev bench --sweep, cat.
constexpr int64_t kTurnRows = 48, kUnitCost = 48;
// Shorter runs are joined to blocks of so many bytes before they are streamed. Bench: ./dev bench --sweep, cat.
constexpr int64_t kBlock = 4096;

class Joint {
 public:
  Joint(const Part* parts, int64_t count, int64_t rows) : parts_(parts), count_(count), rows_(rows) {
    shortest_ = longest_ = parts[0].nbytes;
    for (int64_t i = 0; i < count; ++i) {
      row_bytes_ += parts[i].nbytes;  // exact: inside the output
      row_cost_ += std::max(parts[i].nbytes, kRunBytes);
      shortest_ = std::min(shortest_, parts[i].nbytes);
      longest_ = std::max(longest_, parts[i].nbytes);
      has_gaps_ = has_gaps_ || parts[i].step != parts[i].nbytes;
    }
    if (has_gaps_ || count < 2 || count > JoinTurn::kMostParts || !kernels().join) return;
    if (longest_ >= shortest_kernel_run())
      make_runs();
    else if (rows >= kTurnRows)
      make_turn();
  }

  int64_t nbytes() const { return rows_ * row_bytes_; }  // exact: of the output
  /// In bytes that cost as much.
  int64_t cost() const { return rows_ * row_cost_; }  // exact: memory is smaller than 2^48
  int64_t row_bytes() const { return row_bytes_; }
  int64_t mean_run() const { return row_bytes_ / count_; }

  /// Writes bytes [begin, end) of the output.
  void write(std::byte* to, int64_t begin, int64_t end) const {
    // exact: positions in the output
    const int64_t first = begin / row_bytes_, last = end / row_bytes_;
    if (first == last) return write_row(to, first, begin % row_bytes_, end % row_bytes_), void();
    int64_t row = first;
    if (begin % row_bytes_ > 0) to = write_row(to, row++, begin % row_bytes_, row_bytes_);
    to = write_rows(to, row, last);
    write_row(to, last, 0, end % row_bytes_);
  }
  /// Writes all of the output.
  void write_all(std::byte* to) const { write_rows(to, 0, rows_); }
  /// Calls run(from, nbytes, readable) for the runs, or what is there of them, in bytes [begin, end) of the output.
  /// `readable`: the bytes of the part from there on.
  template <class Run>
  void for_each_run(int64_t begin, int64_t end, const Run& run) const {
    for (int64_t row = begin / row_bytes_; row * row_bytes_ < end; ++row)  // exact: positions in the output
      for_each_run_of_row(row, std::max<int64_t>(begin - row * row_bytes_, 0),
                          std::min(end - row * row_bytes_, row_bytes_), run);
  }

 private:
  /// The same in bytes [begin, end) of one row.
  template <class Run>
  void for_each_run_of_row(int64_t row, int64_t begin, int64_t end, const Run& run) const {
    // exact: positions in a row
    for (int64_t i = 0; i < count_ && end > 0; ++i) {
      const int64_t nbytes = parts_[i].nbytes, stop = std::min(end, nbytes);
      const int64_t step = parts_[i].step, readable = (rows_ - 1 - row) * step + nbytes;
      if (begin < stop) run(parts_[i].data + row * step + begin, stop - begin, readable - begin);
      begin = std::max<int64_t>(begin - nbytes, 0);
      end -= nbytes;
    }
  }
  /// Writes whole rows. Returns the address behind them.
  std::byte* write_rows(std::byte* to, int64_t row, int64_t last) const {
    if (turn_rows_ > 0) to = write_turns(to, row, last);
    if (!has_gaps_ && longest_ <= kNarrow && last - row >= kFewRows &&
        (row_bytes_ * kRowsTogether <= kBytesTogether || count_ > kFewParts))
      to = write_narrow_rows(to, row, last);
    else if (longest_ <= kShort)
      to = write_short_rows(to, row, last);
    for (; row < last; ++row) to = write_row(to, row, 0, row_bytes_);
    return to;
  }
  /// Writes bytes [begin, end) of one row. Returns the address behind them.
  std::byte* write_row(std::byte* to, int64_t row, int64_t begin, int64_t end) const {
    const bool is_far = nbytes() >= kFarCopyBytes;
    for_each_run_of_row(row, begin, end, [&to, is_far](const std::byte* from, int64_t nbytes, int64_t) {
      is_far&& nbytes >= kFarCopyRun ? copy_far(to, from, nbytes) : copy_run(to, from, nbytes);
      to += nbytes;
    });
    return to;
  }
  int64_t shortest_kernel_run() const {
    if (nbytes() <= kNearBytes) return kNarrow + 1;
    return nbytes() <= kSecondBytes ? kRunsBeyond : kRunsFarBeyond;
  }
  void make_runs() {
    if (longest_ > kKernelRun) return;
    turn_rows_ = 1;
    turn_.count = count_;
    turn_.blocks = 0;
    for (int64_t i = 0; i < count_; ++i) turn_.steps[i] = parts_[i].nbytes;
  }
  /// Decides how rows are put together from shuffled vectors, if that is worth it: a block of the output costs four for
  /// each part and another four.
  void make_turn() {
    const bool has_words = kernels().vector_bytes >= 32 && (widths() & 3) == 0;
    const auto block = has_words ? kernels().vector_bytes : JoinTurn::kMostUnits;
    int64_t copies = 0;
    for (int64_t i = 0; i < count_; ++i) copies += cost_of_copies(parts_[i].nbytes);
    if (4 * row_bytes_ * (count_ + 1) > block * copies) return;
    // After these rows a block of output begins again where a row does, and each part has a vector of bytes.
    const int64_t whole = block / std::min(row_bytes_ & -row_bytes_, block),
                  least = (block + shortest_ - 1) / shortest_;
    const int64_t rows = (least + whole - 1) & -whole, blocks = rows * row_bytes_ / block;
    const int shift = has_words ? 2 : 0;
    // exact: costs of an output
    if (blocks > JoinTurn::kMostBlocks || rows_ * copies < kUnitCost * (rows * row_bytes_ >> shift)) return;
    turn_rows_ = rows;
    turn_.count = count_;
    turn_.unit = has_words ? 4 : 1;
    turn_.block = block;
    turn_.blocks = blocks;
    for (int64_t i = 0; i < count_; ++i) turn_.steps[i] = rows * parts_[i].nbytes;
    make_shuffles(shift);
  }
  /// A bit is 0 if it is 0 in the lengths of all runs.
  int64_t widths() const {
    int64_t bits = 0;
    for (int64_t i = 0; i < count_; ++i) bits |= parts_[i].nbytes;
    return bits;
  }
  /// Of the copies of whole words or vectors that a run takes.
  static int64_t cost_of_copies(int64_t nbytes) {
    const int shift = 63 - std::countl_zero(static_cast<uint64_t>(std::min(nbytes, kStep)));
    return ((nbytes + (int64_t{1} << shift) - 1) >> shift) * (shift < 4 ? 4 : 3);
  }
  /// A unit has 1 << shift bytes.
  void make_shuffles(int shift) {
    const int64_t block_units = turn_.block >> shift;
    std::memset(turn_.shuffles, JoinTurn::kNone, static_cast<std::size_t>(turn_.blocks) * sizeof(turn_.shuffles[0]));
    int64_t sources[JoinTurn::kMostParts] = {};  // the next byte of each part
    int64_t block = -1, place = block_units;     // the next unit of the output
    for (int64_t row = 0; row < turn_rows_; ++row)
      for (int64_t part = 0; part < count_; ++part)
        for (int64_t left = parts_[part].nbytes >> shift; left > 0; --left) {
          if (place == block_units) {
            set_offsets(++block, sources);
            place = 0;
          }
          const int64_t source = sources[part] - turn_.offsets[block][part];
          turn_.shuffles[block][part][place++] = static_cast<uint8_t>(source >> shift);
          sources[part] += turn_.unit;
        }
  }
  /// A block takes the vectors that begin at these bytes, or the last ones of a turn.
  void set_offsets(int64_t block, const int64_t* sources) {
    for (int64_t i = 0; i < count_; ++i)
      turn_.offsets[block][i] = static_cast<int32_t>(std::min(sources[i], turn_.steps[i] - turn_.block));
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
    int64_t nbytes[kFewParts], steps[kFewParts];
    for (int64_t i = 0; i < count_; ++i) {
      nbytes[i] = parts_[i].nbytes;
      steps[i] = parts_[i].step;
      from[i] = parts_[i].data + row * steps[i];  // exact: inside the part
    }
    for (const int64_t count = count_; row < stop; ++row)
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(to, from[i], kStep);
        for (int64_t at = kStep; at < nbytes[i]; at += kStep) std::memcpy(to + at, from[i] + at, kStep);
        to += nbytes[i];
        from[i] += steps[i];
      }
    return to;
  }

  const Part* parts_;
  int64_t count_, rows_, row_bytes_ = 0, row_cost_ = 0, shortest_, longest_;
  bool has_gaps_ = false;  // between the rows of a part
  int64_t turn_rows_ = 0;  // of a turn; 0: there is none
  JoinTurn turn_;
};

/// The same with streaming stores.
void write_streamed(const Joint& joint, std::byte* to, int64_t begin, int64_t end) {
  if (joint.mean_run() >= StreamedRuns::kLong) {
    StreamedRuns runs;
    runs.go_to(to);
    return joint.for_each_run(begin, end, [&runs](const std::byte* from, int64_t nbytes, int64_t readable) {
      runs.append(from, nbytes, readable);
    });
  }
  StreamedOutput output(StreamedOutput::bytes(kLine));
  alignas(kBlock) std::byte block[kBlock];
  const int64_t row = joint.row_bytes();
  for (int64_t at = begin, stop; at < end; at = stop) {
    stop = std::min(at + kBlock, end);
    if (2 * row <= kBlock && stop < end) stop -= stop % row;  // blocks of whole rows
    joint.write(block, at, stop);
    stream_bytes(to + (at - begin), block, stop - at, output);
  }
}

}  // namespace

void join(std::byte* out, const Part* parts, int64_t count, int64_t rows) {
  const Joint joint(parts, count, rows);
  const int64_t nbytes = joint.nbytes();
  const bool streaming = joint.cost() >= kSerialBytes && outgrows_cache(nbytes, nbytes);
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "runs joined", .stores = streaming ? "streamed" : "in place"});
  if (joint.cost() < kSerialBytes) return run_or_plan(out, 1, [&](int64_t) { joint.write_all(out); });
  const int64_t least = std::max(nbytes / (joint.cost() / kGrainBytes), kLine);
  const int64_t grain = std::clamp(nbytes / (int64_t{8} * get_num_threads()), least, kMostBytes) / kLine * kLine;
  run_or_plan(out, (nbytes + grain - 1) / grain, [&](int64_t part) {
    const int64_t begin = part * grain, end = std::min(begin + grain, nbytes);
    if (!streaming) return joint.write(out + begin, begin, end);
    write_streamed(joint, out + begin, begin, end);
    hwy::FlushStream();  // makes streaming stores visible before the caller continues
  });
}

}  // namespace tenon
