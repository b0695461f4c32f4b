// dispatch: what runs for a call, kept for later calls of the same op, dtypes, sizes and strides: planning takes longer
// than computing a few thousand elements. Bench: tenon_bench --filter '^large/.*/L1'.
#pragma once
#include <cstring>
#include <memory>
#include <utility>

#include "plan/plan.h"
#include "tenon/tensor.h"
#include "tile/schedule.h"

namespace tenon {

struct Prepared {
  uint32_t cast_first = 0;  // bit i: argument i is cast as a whole before the pass
  Plan plan;
  Program program;
  Schedule schedule;
};

/// All that a Prepared depends on, as a short list of numbers.
class PreparedKey {
 public:
  void add(int64_t number) noexcept {
    if (count_ < kMost) numbers_[count_] = number;
    ++count_;
    hash_ += static_cast<uint64_t>(number) * (0x9E3779B97F4A7C15U * static_cast<uint64_t>(2 * count_ + 1));
  }
  void add(SizesView numbers) noexcept {
    for (int64_t number : numbers) add(number);
  }
  /// Adds what a tensor's elements are and where they lie, but not their address.
  void add(const TensorImpl& tensor) noexcept {
    add(tensor.sizes.size() << 8 | static_cast<int64_t>(tensor.dtype));
    add(tensor.sizes);
    add(tensor.strides);
  }
  /// Whether it holds all that was added. Keys that do not are not kept.
  bool is_whole() const noexcept { return count_ <= kMost; }
  /// A number below 2^bits.
  uint64_t hash(int bits) const noexcept { return hash_ >> (64 - bits); }
  friend bool operator==(const PreparedKey& a, const PreparedKey& b) noexcept {
    return a.count_ == b.count_ && a.hash_ == b.hash_ &&
           std::memcmp(a.numbers_, b.numbers_, static_cast<std::size_t>(a.count_) * sizeof(int64_t)) == 0;
  }
  void copy_from(const PreparedKey& other) noexcept {
    std::memcpy(numbers_, other.numbers_, static_cast<std::size_t>(other.count_) * sizeof(int64_t));
    count_ = other.count_;
    hash_ = other.hash_;
  }

 private:
  static constexpr int kMost = 48;
  int count_ = 0;
  uint64_t hash_ = 0;
  int64_t numbers_[kMost];
};

/// A Prepared in use. Empty: nothing runs.
class PreparedCall {
 public:
  PreparedCall() noexcept = default;
  PreparedCall(PreparedCall&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  PreparedCall& operator=(PreparedCall&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~PreparedCall() {
    if (entry_) release();
  }

  /// The Prepared of this key; if there is none, `make(prepared)` fills an empty one.
  template <class Make>
  static PreparedCall find(const PreparedKey& key, const Make& make) {
    PreparedCall call(take(key));
    Entry& entry = *call.entry_;
    if (entry.is_filled && entry.key == key) return call;
    entry.is_filled = false;
    std::destroy_at(&entry.prepared);
    std::construct_at(&entry.prepared);
    make(entry.prepared);
    if (!entry.is_kept) return call;
    entry.key.copy_from(key);
    entry.is_filled = true;
    return call;
  }
  explicit operator bool() const noexcept { return entry_ != nullptr; }
  const Prepared* operator->() const noexcept { return &entry_->prepared; }

 private:
  struct Entry {
    bool is_kept = false;  // among this thread's entries
    bool is_used = false;
    bool is_filled = false;
    PreparedKey key;
    Prepared prepared;
  };
  struct Entries;

  explicit PreparedCall(Entry& entry) noexcept : entry_(&entry) {}
  static Entry& take(const PreparedKey& key);
  void release() noexcept;

  Entry* entry_ = nullptr;
};

}  // namespace tenon
