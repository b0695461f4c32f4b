// fuse: passes that run block by block over some axes, so that what one pass writes is still in the cache when the next
// one reads it. Takes passes and axes; gives their values.
#pragma once
#include <memory>
#include <vector>

#include "fuse/axes.h"
#include "fuse/pass.h"

namespace tenon::fusion {

class Blocks {
 public:
  /// Blocks over `along`, axes from the outermost to the innermost: a block has one index of each but the last, and
  /// some of that. All results of the passes lie on all of them. `lasting`: the values that are read later.
  /// A block's values have `block_bytes` together, or up to three times as many. Null if the smallest block has more,
  /// or one block is all.
  static std::unique_ptr<const Blocks> make(const GraphTrace& trace, const Axes& axes,
                                            const std::vector<const Pass*>& passes, std::vector<int> along,
                                            const std::vector<bool>& lasting, int64_t block_bytes);

  /// Whether a pass is a reduction of all these axes, which folds each block, and what the blocks give at the end.
  static bool folds_blocks(const Axes& axes, const Pass& pass, const std::vector<int>& along);

  /// Whether the tensors that the passes read have the layouts that the blocks are planned for.
  bool fits(const std::vector<Tensor>& tensors) const;
  /// Computes the lasting values. What the blocks are depends on shapes alone: the same bits for any number of threads.
  void run(std::vector<Tensor>& tensors) const;
  /// Scratch memory of one thread, in bytes.
  int64_t scratch_bytes() const;
  /// Whether a value is read after the blocks.
  bool lasts(int id) const { return is_lasting_[place(id)]; }
  /// "256 blocks of 8 rows".
  std::string described() const;

 private:
  /// What depends on the size of a block.
  struct Form {
    std::vector<Dims> sizes, strides;      // of each value in a block
    std::vector<PlannedProgram> programs;  // of each pass
  };
  class Worker;
  friend class Worker;

  explicit Blocks(const GraphTrace& trace) : trace_(trace) {}
  void add_pass(const Axes& axes, const Pass& pass);
  bool find_rows(const Axes& axes, int64_t block_bytes);
  /// Whether blocks are long runs of the memory of what is read and lasts.
  bool has_long_runs(const Axes& axes, int64_t shortest) const;
  void make_form(const Axes& axes, int64_t rows, Form& form) const;
  /// Whether a value may be computed in the memory of an argument, which begins anywhere.
  bool is_written(int id) const;
  void plan_program(const Form& form, const Pass& pass, PlannedProgram& planned) const;
  /// What the blocks of pass `i` folded to becomes its result.
  void join_folded(std::size_t i, const Tensor& folded, std::vector<Tensor>& tensors) const;
  const Tensor& meta_of(int id) const { return trace_.values[place(id)].meta; }
  /// The value in whose memory a value lies.
  int source_of(int id) const { return sources_[place(id)]; }

  const GraphTrace& trace_;
  std::vector<const Pass*> passes_;
  std::vector<bool> folds_blocks_;                       // of each pass
  std::vector<std::unique_ptr<const Pass>> own_passes_;  // reductions of tensors, as folds
  std::vector<int> along_;
  std::vector<bool> is_lasting_, is_made_here_;
  std::vector<int> sources_;
  std::vector<int> leaves_;                  // values that the passes read from outside
  std::vector<std::vector<int64_t>> steps_;  // of each value: strides along the axes; 0: it is on none
  int64_t rows_ = 0;                         // of a block
  int64_t count_ = 0;                        // blocks along the last axis
  int64_t outer_ = 1;                        // indices of the other axes together
  std::vector<int64_t> outer_sizes_;
  int64_t last_size_ = 0;
  bool is_far_ = false;  // the lasting values exceed their share of the last cache
  Form whole_, rest_;    // blocks of `rows_`, and of one less
};

}  // namespace tenon::fusion
