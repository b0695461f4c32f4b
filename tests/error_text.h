// The text of a call's error, for all tests.
#pragma once
#include <exception>
#include <functional>
#include <string>

#include "tenon/error.h"

namespace tenon {

/// The text of the call's Error; "no error" if it returns. Every exception of the library is an Error.
inline std::string error_text(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "no error";
}

}  // namespace tenon
