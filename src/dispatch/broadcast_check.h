// dispatch: takes the operands of one call; gives their common shape. Warns, throws, or falls back to 1-D by this
// thread's policy. Costs one flag if no policy is set.
#pragma once
#include "dispatch/settings.h"
#include "ops/row.h"
#include "tenon/tensor.h"

namespace tenon {

class BroadcastCheck {
 public:
  explicit BroadcastCheck(bool inplace) noexcept : inplace_(inplace) {}

  /// Adds a tensor operand, in argument order.
  void add(const Tensor& tensor) { operands_[count_++] = &tensor; }
  /// The common shape. The Error has PyTorch's text, and the aligned shapes as a note. `name` is the op's.
  Dims shape(const char* name);
  /// Whether the operands do not broadcast and are treated as 1-D. The result then has the first operand's shape.
  bool pointwise() const noexcept { return pointwise_; }
  /// Throws Error if the result would be larger than the policy allows.
  void check_blow_up(SizesView shape, int64_t itemsize) const {
    if (!is_silent()) judge_size(shape, itemsize);
  }

  /// Whether this thread's settings allow every broadcast silently.
  static bool is_silent() noexcept { return !thread_settings.active || !settings().active; }

 private:
  [[noreturn]] void fail(Error error, const char* name) const;
  bool takes_pointwise() const;
  void judge(const Dims& shape, const char* name) const;
  void judge_size(SizesView shape, int64_t itemsize) const;

  const Tensor* operands_[kMaxArgs] = {};
  int count_ = 0;
  bool inplace_;
  bool pointwise_ = false;
};

/// While it lives, the policy does not apply: for broadcasts that the library itself does.
class PolicyExemption {
 public:
  PolicyExemption() noexcept;
  ~PolicyExemption();
  PolicyExemption(const PolicyExemption&) = delete;
  PolicyExemption& operator=(const PolicyExemption&) = delete;
};

/// "add: \n a 5 2 4 1\n b 3 1 1": a line for each operand, aligned right, and a mark under the failing dim.
std::string aligned_shapes(const char* name, const SizesView* shapes, int64_t count);

}  // namespace tenon
