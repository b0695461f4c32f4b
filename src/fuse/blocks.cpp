#include "fuse/blocks.h"

#include <algorithm>
#include <numeric>

#include "dispatch/differentiate.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "tile/run.h"

namespace tenon::fusion {
namespace {

// What a block takes of a larger value's lines is at least so long. [2048, 8192] in panels of 8 columns took six times
// as long as in whole rows.
constexpr int64_t kShortestRun = 1024;

// The folds of some blocks after each other are folded before they are stored: blocks may have few rows, so that their
// folds are a part of the matrix. At most so many, and only if there are groups for all threads. Bench: tenon_bench
// --filter '^fuse/chain both ways'.
constexpr int64_t kMostInGroup = 16, kFewGroups = 64;

// Stands for where blocks begin: at its first byte, or elsewhere.
alignas(64) constexpr std::byte kSomeLine[64] = {};

/// An expanded tensor may have any number of elements.
Checked bytes_of(SizesView sizes, Dtype dtype) {
  Checked bytes = itemsize(dtype);
  for (const int64_t size : sizes) bytes *= size;
  return bytes;
}

}  // namespace

std::unique_ptr<const Blocks> Blocks::make(const GraphTrace& trace, const Axes& axes,
                                           const std::vector<const Pass*>& passes, std::vector<int> along,
                                           const std::vector<bool>& lasting, int64_t block_bytes) {
  std::unique_ptr<Blocks> blocks(new Blocks(trace));
  blocks->along_ = std::move(along);
  for (const Pass* pass : passes) blocks->add_pass(axes, *pass);
  blocks->is_lasting_ = lasting;
  const std::size_t count = trace.values.size();
  blocks->is_made_here_.resize(count, false);
  blocks->sources_.resize(count);
  std::iota(blocks->sources_.begin(), blocks->sources_.end(), 0);
  for (const Pass* pass : blocks->passes_) {
    for (const int id : pass->reads)
      if (!blocks->is_made_here_[place(id)]) blocks->leaves_.push_back(id);
    for (const int id : pass->writes) {
      blocks->is_made_here_[place(id)] = true;
      if (pass->is_view()) blocks->sources_[place(id)] = blocks->source_of(pass->reads[0]);
    }
  }
  std::sort(blocks->leaves_.begin(), blocks->leaves_.end());
  blocks->leaves_.erase(std::unique(blocks->leaves_.begin(), blocks->leaves_.end()), blocks->leaves_.end());
  if (!blocks->find_rows(axes, block_bytes)) return nullptr;
  blocks->make_form(axes, blocks->rows_, blocks->whole_);
  if (blocks->last_size_ % blocks->count_ != 0) blocks->make_form(axes, blocks->rows_ - 1, blocks->rest_);
  return blocks;
}

bool Blocks::folds_blocks(const Axes& axes, const Pass& pass, const std::vector<int>& along) {
  const GraphStep* const rows = pass.row_step();
  if (!rows || !rows->fold) return false;
  return std::all_of(along.begin(), along.end(), [&](int axis) {
    const int64_t dim = axes.dim_on(rows->operands[0], axis);
    if (dim < 0 || !(*rows->row_dims)[dim] || axes.repeats(rows->operands[0], axis)) return false;
    return std::none_of(pass.reads.begin(), pass.reads.end(), [&](int id) { return axes.repeats(id, axis); });
  });
}

void Blocks::add_pass(const Axes& axes, const Pass& pass) {
  folds_blocks_.push_back(folds_blocks(axes, pass, along_));
  passes_.push_back(&pass);
  if (!folds_blocks_.back() || pass.fold_step) return;
  auto fold = std::make_unique<Pass>();
  fold->fold_step = pass.step;
  fold->reads = pass.reads;
  fold->writes = pass.writes;
  fold->program.input(meta_of(pass.reads[0]).dtype());
  fold->finish_fold(meta_of(pass.reads[0]));
  passes_.back() = own_passes_.emplace_back(std::move(fold)).get();
}

bool Blocks::find_rows(const Axes& axes, int64_t block_bytes) {
  last_size_ = axes.size_of(along_.back());
  for (std::size_t i = 0; i + 1 < along_.size(); ++i) {
    outer_sizes_.push_back(axes.size_of(along_[i]));
    outer_ *= outer_sizes_.back();  // exact: a part of a tensor's elements
  }
  Checked row_bytes = 0, written = 0, read = 0;
  steps_.resize(trace_.values.size());
  for (std::size_t id = 0; id < trace_.values.size(); ++id) {
    const int number = static_cast<int>(id);
    const Tensor& meta = meta_of(number);
    const bool is_leaf = std::binary_search(leaves_.begin(), leaves_.end(), number);
    if (!is_leaf && !is_made_here_[id]) continue;
    if (meta.numel() == 0) return false;
    const Checked bytes = bytes_of(meta.sizes(), meta.dtype());
    if (!bytes.fits()) return false;
    int64_t row = bytes.value_or(0);
    if (is_leaf || is_lasting_[id]) (is_leaf ? read : written) += bytes;
    for (const int axis : along_) {
      const int64_t dim = axes.dim_on(number, axis);
      steps_[id].push_back(dim < 0 ? 0 : meta.stride(dim));
      row /= dim < 0 ? 1 : meta.size(dim);
    }
    const bool is_divided = axes.dim_on(number, along_.back()) >= 0;
    if (is_divided && source_of(number) == number) row_bytes += Checked(row);
  }
  for (std::size_t i = 0; i < passes_.size(); ++i)
    if (folds_blocks_[i] && meta_of(passes_[i]->writes[0]).nbytes() > block_bytes / 4) return false;
  Checked all_bytes = row_bytes;
  all_bytes *= last_size_;
  all_bytes *= outer_;
  // exact: a few hundred kilobytes
  if (!row_bytes.is_at_most(3 * block_bytes) || !all_bytes.fits() || all_bytes.is_at_most(2 * block_bytes - 1))
    return false;
  const int64_t rows = std::clamp<int64_t>(block_bytes / row_bytes.value_or(1), 1, last_size_);
  count_ = (last_size_ + rows - 1) / rows;     // exact: at most the size
  rows_ = (last_size_ + count_ - 1) / count_;  // exact: likewise
  is_far_ = written.fits() && read.fits() && outgrows_cache(written.value_or(0), read.value_or(0));
  return count_ * outer_ > 1 && has_long_runs(axes, std::min(kShortestRun, block_bytes / 4));
}

bool Blocks::has_long_runs(const Axes& axes, int64_t shortest) const {
  for (std::size_t id = 0; id < trace_.values.size(); ++id) {
    const int number = static_cast<int>(id);
    const bool is_whole = is_made_here_[id] ? is_lasting_[id] && source_of(number) == number
                                            : std::binary_search(leaves_.begin(), leaves_.end(), number);
    const int64_t along = is_whole ? axes.dim_on(number, along_.back()) : -1;
    if (along < 0) continue;
    const Tensor& meta = meta_of(number);
    if (meta.stride(along) == 0) continue;  // each block reads the same
    bool is_outermost = true;
    for (int64_t dim = 0; dim < meta.dim(); ++dim)
      is_outermost &= meta.size(dim) == 1 || meta.stride(dim) <= meta.stride(along);
    // exact: inside the tensor
    if (!is_outermost && rows_ * meta.stride(along) * meta.itemsize() < shortest) return false;
  }
  return true;
}

void Blocks::make_form(const Axes& axes, int64_t rows, Form& form) const {
  const std::size_t count = trace_.values.size();
  form.sizes.resize(count);
  form.strides.resize(count);
  const auto add = [&](int id) {
    Dims sizes = meta_of(id).sizes().copy();
    for (std::size_t i = 0; i < along_.size(); ++i)
      if (const int64_t dim = axes.dim_on(id, along_[i]); dim >= 0) sizes[dim] = i + 1 == along_.size() ? rows : 1;
    form.sizes[place(id)] = std::move(sizes);
  };
  for (const int id : leaves_) {
    add(id);
    form.strides[place(id)] = meta_of(id).strides().copy();
  }
  form.programs.resize(passes_.size());
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const Pass& pass = *passes_[i];
    for (const int id : pass.writes) {
      add(id);
      Dims& strides = form.strides[place(id)];
      if (pass.is_view()) {
        const Dims moved = *moved_dims(meta_of(pass.reads[0]), meta_of(id));
        for (const int64_t from : moved) strides.push_back(from < 0 ? 0 : form.strides[place(pass.reads[0])][from]);
      } else if (!pass.step && is_lasting_[place(id)]) {
        strides = meta_of(id).strides().copy();
      } else {
        strides = dense_strides_like(form.sizes[place(id)], meta_of(id).strides());
      }
    }
    if (pass.fold_step) add(pass.folded());
    if (!pass.step) plan_program(form, pass, form.programs[i]);
  }
}

bool Blocks::is_written(int id) const {
  return std::any_of(trace_.written.begin(), trace_.written.end(), [&](const auto& each) { return each.second == id; });
}

void Blocks::plan_program(const Form& form, const Pass& pass, PlannedProgram& planned) const {
  Memory memory;
  memory.is_part_of_far =
      is_far_ && std::all_of(pass.writes.begin(), pass.writes.end(), [&](int id) { return is_lasting_[place(id)]; });
  // Blocks begin anywhere in the lines of their results.
  std::vector<const void*> outs;
  for (const int id : pass.writes) {
    const int64_t size = itemsize(meta_of(id).dtype());
    // exact: a block is inside the tensor
    const bool on_lines = !is_written(id) && std::all_of(steps_[place(id)].begin(), steps_[place(id)].end(),
                                                         [&](int64_t step) { return step * rows_ * size % 64 == 0; });
    outs.push_back(&kSomeLine[on_lines ? 0 : size]);
  }
  memory.outs = outs.data();
  pass.plan([&](int id) { return StridedView{form.sizes[place(id)], form.strides[place(id)]}; }, memory, planned);
}

int64_t Blocks::scratch_bytes() const {
  int64_t bytes = 0;
  for (std::size_t id = 0; id < is_made_here_.size(); ++id)
    if (is_made_here_[id] && !is_lasting_[id] && sources_[id] == static_cast<int>(id))
      bytes += bytes_of(whole_.sizes[id], meta_of(static_cast<int>(id)).dtype()).value_or(0);  // exact: a block
  return bytes;
}

std::string Blocks::described() const {
  const bool is_even = last_size_ % count_ == 0;
  return std::to_string(count_ * outer_) + " blocks of " + (is_even ? "" : std::to_string(rows_ - 1) + " or ") +
         std::to_string(rows_) + (rows_ == 1 ? " row" : " rows");
}

bool Blocks::fits(const std::vector<Tensor>& tensors) const {
  return std::all_of(leaves_.begin(), leaves_.end(),
                     [&](int id) { return tensors[place(id)].strides() == meta_of(id).strides(); });
}

namespace {

/// Where a row of a matrix begins.
std::byte* row_of(const Tensor& matrix, int64_t row) {
  // exact: within the tensor
  return static_cast<std::byte*>(matrix.impl()->data()) + row * matrix.stride(0) * matrix.itemsize();
}

/// Folds the rows of a matrix to one.
void fold_rows(const Tensor& rows, const Reduction& reduction, void* to) {
  const Dims result_strides{0, 1};
  const StridedView views[] = {{rows.sizes(), result_strides}, {rows.sizes(), rows.strides()}};
  Plan plan;
  make_reduction_plan(rows.sizes(), views, 2, plan);
  Program program;
  program.input(rows.dtype());
  const void* const from = rows.impl()->data();
  run_reduction(plan, program, reduction, to, &from);
}

}  // namespace

/// What one thread works with.
class Blocks::Worker {
 public:
  Worker(const Blocks& blocks, const std::vector<Tensor>& tensors, const std::vector<Tensor>& folded, int64_t in_group)
      : blocks_(blocks),
        in_group_(in_group),
        tensors_(tensors),
        folded_(folded),
        own_(tensors.size()),
        now_(tensors.size()),
        index_(blocks.along_.size()) {
    for (const Pass* pass : blocks_.passes_)
      for (const int id : pass->writes)
        if (!pass->step && !blocks_.is_lasting_[place(id)])
          own_[place(id)] = new_strided_tensor(blocks_.whole_.sizes[place(id)], blocks_.whole_.strides[place(id)],
                                               blocks_.meta_of(id).dtype(), Device::cpu);
    for (const Tensor& whole : folded_)
      group_.push_back(whole.defined() && in_group_ > 1 ? new_tensor({in_group_, whole.size(1)}, whole.dtype())
                                                        : Tensor());
  }

  void run_group(int64_t group) {
    const int64_t begin = group * in_group_;                                           // exact: at most the blocks
    const int64_t end = std::min(begin + in_group_, blocks_.outer_ * blocks_.count_);  // exact: likewise
    for (int64_t block = begin; block < end; ++block) {
      check_interrupt();
      run(block);
    }
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (!group_[i].defined()) continue;
      const Pass& pass = *blocks_.passes_[i];
      fold_rows(group_[i].narrow(0, 0, end - begin), {pass.reduction.op, 0, folded_[i].dtype()},
                row_of(folded_[i], group));
    }
  }

  void run(int64_t block) {
    go_to(block);
    for (std::size_t i = 0; i < blocks_.passes_.size(); ++i) {
      const Pass& pass = *blocks_.passes_[i];
      if (pass.is_view()) continue;
      if (blocks_.folds_blocks_[i])
        fold_block(i, block);
      else if (pass.step)
        run_step(pass);
      else
        run_program(pass, form_->programs[i]);
    }
  }

 private:
  void go_to(int64_t block) {
    const int64_t part = block % blocks_.count_, size = blocks_.last_size_, count = blocks_.count_;
    int64_t outer = block / count;
    for (std::size_t i = blocks_.outer_sizes_.size(); i-- > 0;) {
      index_[i] = outer % blocks_.outer_sizes_[i];
      outer /= blocks_.outer_sizes_[i];
    }
    const int64_t longer = size % count;  // blocks of one more row, which come first
    // exact: within the size
    const int64_t begin = part * (size / count) + std::min(part, longer), end = begin + size / count + (part < longer);
    index_.back() = begin;
    form_ = end - begin == blocks_.rows_ ? &blocks_.whole_ : &blocks_.rest_;
  }
  /// Where the block begins in a value that has all rows. exact: within the tensor
  int64_t offset_of(int id) const {
    const std::vector<int64_t>& steps = blocks_.steps_[place(id)];
    return std::inner_product(steps.begin(), steps.end(), index_.begin(), int64_t{0});
  }
  /// The first element of a value's block.
  std::byte* data_of(int id) const {
    const int source = blocks_.source_of(id);
    if (now_[place(source)].defined()) return static_cast<std::byte*>(now_[place(source)].impl()->data());
    if (own_[place(source)].defined()) return static_cast<std::byte*>(own_[place(source)].impl()->data());
    const Tensor& tensor = tensors_[place(source)];
    return static_cast<std::byte*>(tensor.impl()->data()) +
           offset_of(source) * tensor.itemsize();  // exact: within the tensor
  }
  Tensor tensor_of(int id) const {
    const int source = blocks_.source_of(id);
    const SizesView sizes = form_->sizes[place(id)], strides = form_->strides[place(id)];
    for (const std::vector<Tensor>* known : {&now_, &own_})
      if ((*known)[place(source)].defined()) return new_alias((*known)[place(source)], sizes, strides, 0);
    const Tensor& tensor = tensors_[place(source)];
    return new_alias(tensor, sizes, strides, tensor.storage_offset() + offset_of(source));  // exact: within it
  }

  void run_program(const Pass& pass, const PlannedProgram& planned) {
    pointers_.clear();
    for (const std::vector<int>* ids : {&pass.writes, &pass.reads})
      for (const int id : *ids) pointers_.push_back(data_of(id));
    const auto writes = static_cast<std::ptrdiff_t>(pass.writes.size());
    inputs_.assign(std::next(pointers_.begin(), writes), pointers_.end());
    inputs_.insert(inputs_.end(), pass.numbers.begin(), pass.numbers.end());
    pass.run(planned, pointers_.data(), inputs_.data());
  }

  void fold_block(std::size_t i, int64_t block) {
    const Pass& pass = *blocks_.passes_[i];
    inputs_.clear();
    for (const int id : pass.reads) inputs_.push_back(data_of(id));
    inputs_.insert(inputs_.end(), pass.numbers.begin(), pass.numbers.end());
    std::byte* const to = in_group_ > 1 ? row_of(group_[i], block % in_group_) : row_of(folded_[i], block);
    run_reduction(form_->programs[i].plan, pass.program, {pass.reduction.op, 0, folded_[i].dtype()}, to,
                  inputs_.data());
  }

  void run_step(const Pass& pass) {
    operands_.clear();
    for (const int id : pass.reads) operands_.push_back(tensor_of(id));
    const List<Tensor> results = pass.step->compute(operands_.data());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const int id = pass.writes[i];
      Tensor& now = now_[place(id)];
      now = results[i];
      if (now.strides() != form_->strides[place(id)] || now.storage_offset() != 0) {
        now = new_strided_tensor(form_->sizes[place(id)], form_->strides[place(id)], now.dtype(), Device::cpu);
        run_copy(now, results[i]);
      }
      if (!blocks_.is_lasting_[place(id)]) continue;
      const Tensor& all = tensors_[place(id)];
      run_copy(new_alias(all, form_->sizes[place(id)], all.strides(), offset_of(id)), now);
    }
  }

  const Blocks& blocks_;
  const int64_t in_group_;
  const std::vector<Tensor>& tensors_;
  const std::vector<Tensor>& folded_;
  std::vector<Tensor> own_;    // what Programs write and nothing reads later
  std::vector<Tensor> now_;    // what other ops gave for this block
  std::vector<Tensor> group_;  // of each pass that folds: a row for each block of a group
  std::vector<int64_t> index_;
  const Form* form_ = nullptr;
  std::vector<void*> pointers_;
  std::vector<const void*> inputs_;
  std::vector<Tensor> operands_;
};

void Blocks::run(std::vector<Tensor>& tensors) const {
  for (const Pass* pass : passes_)
    for (const int id : pass->writes)
      if (is_lasting_[place(id)] && !pass->is_view() && !tensors[place(id)].defined())  // else it is an argument
        tensors[place(id)] =
            new_strided_tensor(meta_of(id).sizes(), meta_of(id).strides(), meta_of(id).dtype(), Device::cpu);
  const bool has_folds = std::any_of(folds_blocks_.begin(), folds_blocks_.end(), [](bool folds) { return folds; });
  const int64_t blocks = outer_ * count_, threads = get_num_threads();
  const int64_t in_group = has_folds ? std::clamp<int64_t>(blocks / kFewGroups, 1, kMostInGroup) : 1;
  const int64_t groups = (blocks + in_group - 1) / in_group;
  std::vector<Tensor> folded(passes_.size());  // a row for each group
  for (std::size_t i = 0; i < passes_.size(); ++i)
    if (folds_blocks_[i])
      folded[i] = new_tensor({groups, meta_of(passes_[i]->writes[0]).numel()},
                             passes_[i]->program.dtype(passes_[i]->program.result()));
  const int64_t parts = threads == 1 ? 1 : std::min(groups, 8 * threads);
  parallel_for(
      parts, [&] { return Worker(*this, tensors, folded, in_group); },
      [&](Worker& worker, int64_t part) {
        for (int64_t group = groups * part / parts; group < groups * (part + 1) / parts; ++group)
          worker.run_group(group);
      });
  for (std::size_t i = 0; i < passes_.size(); ++i)
    if (folds_blocks_[i]) join_folded(i, folded[i], tensors);
}

void Blocks::join_folded(std::size_t i, const Tensor& folded, std::vector<Tensor>& tensors) const {
  fold_rows(folded, passes_[i]->reduction, tensors[place(passes_[i]->writes[0])].impl()->data());
}

}  // namespace tenon::fusion
