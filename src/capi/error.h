// capi: exceptions as status codes. Takes a body; gives TENON_OK, or the code of the exception that left it, which is
// kept for the calling thread. Never lets an exception out.
#pragma once
#include <string>

#include "tenon/c.h"
#include "tenon/error.h"

namespace tenon::capi {

/// Keeps the exception that is being handled. Returns its code.
tenon_status keep_exception() noexcept;

template <class Body>
tenon_status guarded(const Body& body) noexcept {
  try {
    body();
    return TENON_OK;
  } catch (...) {
    return keep_exception();
  }
}

/// The body's value, or `failed`.
template <class T, class Body>
T guarded_value(T failed, const Body& body) noexcept {
  try {
    return body();
  } catch (...) {
    keep_exception();
    return failed;
  }
}

/// ValueError "CALL: WHAT is a null pointer".
void check_given(const void* pointer, const char* call, const char* what);

}  // namespace tenon::capi
