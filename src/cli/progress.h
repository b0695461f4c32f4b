// cli: the progress bar. Takes the evaluator's progress; draws a bar on a terminal and stops on Ctrl-C.
#pragma once
#include <chrono>

#include "expr/progress_callback.h"

namespace tenon::cli {

/// Draws on standard error, if it is a terminal and the work has taken more than a second.
class Progress : public expr::ProgressCallback {
 public:
  Progress();
  ~Progress() override;
  /// Throws Interrupted after Ctrl-C.
  void advance(int64_t done, int64_t total) override;
  /// Gives pages of a file that is larger than half the memory back to the system.
  void leave(const Tensor& part) override;

 private:
  void draw(double share);

  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;
  bool is_terminal_;
  bool visible_ = false;
};

}  // namespace tenon::cli
