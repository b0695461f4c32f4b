// Guards for this thread's grad modes, which restore the former ones.
#include "autograd/meta.h"
#include "autograd/recording.h"

namespace tenon {

bool is_grad_enabled() noexcept { return thread_modes.grad_enabled; }
bool is_inference_mode_enabled() noexcept { return thread_modes.inference; }

SetGradEnabled::SetGradEnabled(bool enabled) noexcept : previous_(thread_modes.grad_enabled) {
  thread_modes.set(enabled, thread_modes.inference);
}
SetGradEnabled::~SetGradEnabled() { thread_modes.set(previous_, thread_modes.inference); }

InferenceMode::InferenceMode(bool enabled) noexcept
    : inference_(thread_modes.inference), grad_(thread_modes.grad_enabled) {
  recording::begin();
  thread_modes.set(!enabled, enabled);
}
InferenceMode::~InferenceMode() { thread_modes.set(grad_, inference_); }

namespace autograd {

DetectAnomaly::DetectAnomaly(bool enabled, bool check_nan) noexcept
    : enabled_(std::exchange(anomaly_mode.enabled, enabled)),
      check_nan_(std::exchange(anomaly_mode.check_nan, check_nan)) {}
DetectAnomaly::~DetectAnomaly() { anomaly_mode = {enabled_, check_nan_}; }

}  // namespace autograd
}  // namespace tenon
