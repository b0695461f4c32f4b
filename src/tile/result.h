// tile: one result of a running Program. Takes the lanes of each tile; brings them to memory as the schedule decides.
#pragma once
#include "tile/blocks.h"
#include "tile/registers.h"
#include "tile/schedule.h"
#include "tile/streamed.h"

namespace tenon {

/// For each tile: `aim`, then the Program's instructions, then `store`.
class TileResult {
 public:
  TileResult(const Plan& plan, const Program& program, const Schedule& schedule, int number, void* base)
      : plan_(plan),
        program_(program),
        number_(number),
        reg_(program.result(number)),
        shift_(shift_of(program.dtype(reg_))),
        store_(schedule.store_of(number)),
        is_computed_(reg_ >= program.inputs() && !is_copy(program, number)),
        kernel_streams_(is_computed_ && program.streams_last(reg_)),
        base_(static_cast<std::byte*>(base)),
        streamed_(schedule.staging_bytes_of(program, number)) {}

  /// Tells the registers where to write the next `n` lanes: those from element `start` of the fused loops on, at
  /// `offset` of the outer loops.
  void aim(Registers& registers, int64_t offset, int64_t start, int64_t n) {
    row_ = base_ + (offset << shift_);
    start_ = start;
    to_ = row_ + (start << shift_);
    if (store_ == StoreMode::scattered) return;
    const bool streams = store_ != StoreMode::in_place;
    staged_ = streams && n < kShortStream;
    if (staged_) to_ = streamed_.staging(to_);
    const bool is_long = streams && !staged_;
    if (is_computed_) registers.aim(reg_, is_long && !kernel_streams_ ? nullptr : to_, is_long ? &streamed_ : nullptr);
  }
  void store(Registers& registers, int64_t n) {
    Lanes lanes = registers[reg_];
    if (store_ == StoreMode::scattered) return scatter(registers, lanes, n);
    if (lanes.data != to_) copy(lanes, n);
    if (staged_) streamed_.commit(n << shift_);
  }
  void flush() { streamed_.flush(); }
  StreamedOutput& streamed() { return streamed_; }

 private:
  /// Whether an earlier result has the same register.
  static bool is_copy(const Program& program, int number) {
    for (int before = 0; before < number; ++before)
      if (program.result(before) == program.result(number)) return true;
    return false;
  }
  Instruction copy_instruction() const {
    const int dtype = static_cast<int>(program_.dtype(reg_));
    return {kernels().cast[dtype][dtype], kernels().cast_streamed[dtype][dtype], 1, {static_cast<int16_t>(reg_)}};
  }
  /// Stores lanes that were computed elsewhere.
  void copy(Lanes& lanes, int64_t n) {
    const Instruction copy = copy_instruction();
    if (store_ == StoreMode::in_place || staged_) return copy.kernel(to_, &lanes, n);
    run_streamed(copy, to_, program_, reg_, &lanes, n, streamed_);
  }
  void scatter(Registers& registers, const Lanes& lanes, int64_t n) {
    const std::byte* from = static_cast<const std::byte*>(lanes.data);
    if (lanes.step == 0) {
      copy_instruction().kernel(registers.slot(reg_), &lanes, n);
      from = registers.slot(reg_);
    }
    const int64_t* strides = plan_.strides_of(number_);
    const int64_t row = start_ / plan_.unit;
    store_block(row_ + ((row * strides[plan_.fused - 1]) << shift_), from, plan_, strides, shift_, plan_.fused,
                n / plan_.unit);
  }

  const Plan& plan_;
  const Program& program_;
  int number_, reg_, shift_;
  StoreMode store_;
  bool is_computed_;     // by an instruction that can write to memory
  bool kernel_streams_;  // with streaming stores
  std::byte* base_;
  StreamedOutput streamed_;
  std::byte *row_ = nullptr, *to_ = nullptr;
  int64_t start_ = 0;
  bool staged_ = false;
};

}  // namespace tenon
