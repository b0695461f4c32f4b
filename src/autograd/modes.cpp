// What this thread records: guards that put back what they found.
#include "autograd/meta.h"

namespace tenon {

bool is_grad_enabled() noexcept { return thread_modes.grad; }
bool is_inference_mode_enabled() noexcept { return thread_modes.inference; }

SetGradEnabled::SetGradEnabled(bool enabled) noexcept : previous_(std::exchange(thread_modes.grad, enabled)) {}
SetGradEnabled::~SetGradEnabled() { thread_modes.grad = previous_; }

InferenceMode::InferenceMode(bool enabled) noexcept
    : inference_(std::exchange(thread_modes.inference, enabled)), grad_(std::exchange(thread_modes.grad, !enabled)) {}
InferenceMode::~InferenceMode() {
  thread_modes.inference = inference_;
  thread_modes.grad = grad_;
}

namespace autograd {

DetectAnomaly::DetectAnomaly(bool enabled, bool check_nan) noexcept
    : enabled_(std::exchange(anomaly_mode.enabled, enabled)),
      check_nan_(std::exchange(anomaly_mode.check_nan, check_nan)) {}
DetectAnomaly::~DetectAnomaly() { anomaly_mode = {enabled_, check_nan_}; }

}  // namespace autograd
}  // namespace tenon
