// ops: a table with one entry for each custom op. It grows in blocks that never move, so reading needs no lock.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "ops/row.h"

namespace tenon {

template <class T>
class CustomTable {
 public:
  /// Creates an op's entry.
  T& make(Op op) {
    std::atomic<Block*>& slot = blocks_[place(op) / kBlock];
    if (!slot.load(std::memory_order_acquire)) {
      auto fresh = std::make_unique<Block>();
      Block* none = nullptr;
      if (slot.compare_exchange_strong(none, fresh.get(), std::memory_order_acq_rel))
        static_cast<void>(fresh.release());
    }
    return (*this)[op];
  }
  /// The entry of an op, which must exist.
  T& operator[](Op op) noexcept {
    return (*blocks_[place(op) / kBlock].load(std::memory_order_acquire))[place(op) % kBlock];
  }

 private:
  static constexpr std::size_t kBlock = 256;
  using Block = std::array<T, kBlock>;
  static std::size_t place(Op op) noexcept { return static_cast<std::size_t>(op) - kOpCount; }

  std::atomic<Block*> blocks_[kCustomOps / kBlock + 1] = {};
};

}  // namespace tenon
