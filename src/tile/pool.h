// tile: the threads. Takes a number of parts; runs each part once, the caller taking part. Never splits by itself, so
// that results do not depend on how many threads there are.
#pragma once
#include <cstdint>
#include <type_traits>

namespace tenon {

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
