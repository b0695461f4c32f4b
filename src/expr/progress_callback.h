// expr: the progress callback of long work, which may stop it.
#pragma once
#include <cstdint>

#include "tenon/tensor.h"

namespace tenon::expr {

class ProgressCallback {
 public:
  ProgressCallback() = default;
  ProgressCallback(const ProgressCallback&) = delete;
  ProgressCallback& operator=(const ProgressCallback&) = delete;
  virtual ~ProgressCallback() = default;

  /// `done` of `total` elements of the current pass are done. Throws Interrupted to stop the work.
  virtual void advance(int64_t done, int64_t total) = 0;
  /// The current pass has read these elements of an input and does not read them again.
  virtual void leave(const Tensor&) {}

  int64_t block_bytes = int64_t{2} << 20;    // bytes of the result per block: a few blocks fit the last-level cache
  int64_t fused_bytes = int64_t{64} << 20;   // bytes of the result per block without temporaries
  int64_t stream_bytes = int64_t{64} << 20;  // a reduction of a larger tree is done block by block
};

/// Reports nothing.
class NoProgress : public ProgressCallback {
 public:
  void advance(int64_t, int64_t) override {}
};

}  // namespace tenon::expr
