#include "tile/join.h"

#include <algorithm>
#include <bit>
#include <cstring>

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
constexpr int64_t kShort = 1024, kFewParts = 32;
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
  }

  int64_t nbytes() const { return rows_ * row_bytes_; }  // exact: of the output
  /// In bytes that cost as much.
  int64_t cost() const { return rows_ * row_cost_; }  // exact: memory is smaller than 2^48
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
    if (is_element(to))
      to = write_elements(to, row, last);
    else if (longest_ <= kShort)
      to = longest_ <= 8    ? write_short_rows<8, true>(to, row, last)
           : longest_ <= 16 ? write_short_rows<16, true>(to, row, last)
                            : write_short_rows<32, false>(to, row, last);
    for (; row < last; ++row) to = write_row(to, row, 0, row_bytes_, copy_run);
    write_row(to, last, 0, end % row_bytes_, copy_run);
  }

 private:
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
  /// Whether each run is one element of a power-of-two size and aligned.
  bool is_element(const std::byte* to) const {
    if (shortest_ != longest_ || shortest_ > 8 || !std::has_single_bit(static_cast<uint64_t>(shortest_))) return false;
    const auto is_aligned = [&](const std::byte* at) {
      return reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(shortest_) == 0;
    };
    return is_aligned(to) &&
           std::all_of(parts_, parts_ + count_, [&](const Part& part) { return is_aligned(part.data); });
  }
  /// Writes rows made of single elements: one part after the other, over as many rows as fit the first-level cache.
  std::byte* write_elements(std::byte* to, int64_t& row, int64_t last) const {
    const auto scatter = kernels().move[std::countr_zero(static_cast<uint64_t>(shortest_))].scatter;
    const int64_t most = std::max(kBlock / row_bytes_, int64_t{1});
    while (row < last) {
      const int64_t rows = std::min(most, last - row);
      // exact: inside the output and the parts
      for (int64_t i = 0; i < count_; ++i)
        scatter(to + i * shortest_, count_, rows, 0, 1, parts_[i].data + row * shortest_);
      to += rows * row_bytes_;
      row += rows;
    }
    return to;
  }
  /// Writes whole rows from `row` on, up to the last ones, where a step of kStep bytes would pass the end of the output
  /// or of a part. Advances `row`. `kOneStep`: no run is longer than a step.
  template <int64_t kStep, bool kOneStep>
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
        for (int64_t at = kStep; !kOneStep && at < nbytes[i]; at += kStep) std::memcpy(to + at, from[i] + at, kStep);
        to += nbytes[i];
        from[i] += nbytes[i];
      }
    return to;
  }

  const Part* parts_;
  int64_t count_, rows_, row_bytes_ = 0, row_cost_ = 0, shortest_, longest_;
};

/// The same with streaming stores.
void write_streamed(const Joint& joint, std::byte* to, int64_t begin, int64_t end) {
  StreamedOutput output(StreamedOutput::bytes(kLine));
  if (joint.shortest() >= kShortStream)
    return joint.write(to, begin, end, [&output](std::byte* run, const std::byte* from, int64_t nbytes) {
      stream_bytes(run, from, nbytes, output);
    });
  alignas(kBlock) std::byte block[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t stop = std::min(at + kBlock, end);
    joint.write(block, at, stop, copy);
    stream_bytes(to + (at - begin), block, stop - at, output);
  }
}

}  // namespace

void join(std::byte* out, const Part* parts, int64_t count, int64_t rows) {
  const Joint joint(parts, count, rows);
  const int64_t nbytes = joint.nbytes();
  const bool streaming = outgrows_cache(nbytes, nbytes) && !joint.has_fair_runs();
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "runs joined", .stores = streaming ? "streamed" : "in place"});
  if (joint.cost() < kSerialBytes) return run_or_plan(out, 1, [&](int64_t) { joint.write(out, 0, nbytes, copy); });
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
