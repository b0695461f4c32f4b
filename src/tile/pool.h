// tile: the threads. Takes a number of parts; runs each part once, the caller taking part. Never splits by itself, so
// that results do not depend on how many threads there are.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace tenon {

/// What ends this thread's work early; null: nothing does. Parts of a job look at what their caller looks at.
extern constinit thread_local const std::atomic<bool>* stop_flag [[gnu::tls_model("initial-exec")]];
[[noreturn]] void fail_interrupted();
/// Interrupted, where somebody asked for it. Called once a tile.
inline void check_interrupt() {
  if (stop_flag && stop_flag->load(std::memory_order_relaxed)) [[unlikely]]
    fail_interrupted();
}

/// Runs body(context, part) for parts [0, parts), on up to get_num_threads() threads. The first exception is thrown
/// again by the caller after all parts are done. Calls from inside a part run on that thread alone.
void run_parts(int64_t parts, void (*body)(void* context, int64_t part), void* context);

template <class Body>
void parallel_for(int64_t parts, Body&& body) {
  if (parts == 1) return body(0);
  run_parts(
      parts, [](void* context, int64_t part) { (*static_cast<std::remove_reference_t<Body>*>(context))(part); }, &body);
}

}  // namespace tenon
