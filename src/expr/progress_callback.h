// expr: the progress callback of long work, which may stop it.
#pragma once
#include <cstdint>

namespace tenon::expr {

class ProgressCallback {
 public:
  ProgressCallback() = default;
  ProgressCallback(const ProgressCallback&) = delete;
  ProgressCallback& operator=(const ProgressCallback&) = delete;
  virtual ~ProgressCallback() = default;

  /// `done` of `total` elements of the pass that runs. Throws Interrupted when the user wants to stop.
  virtual void advance(int64_t done, int64_t total) = 0;

  int64_t block_bytes = int64_t{2} << 20;    // of the result per block: a few of them stay in the last-level cache
  int64_t fused_bytes = int64_t{64} << 20;   // of the result per block where no temporaries are needed
  int64_t stream_bytes = int64_t{64} << 20;  // reductions of larger trees go block by block
};

/// Reports nothing.
class NoProgress : public ProgressCallback {
 public:
  void advance(int64_t, int64_t) override {}
};

}  // namespace tenon::expr
