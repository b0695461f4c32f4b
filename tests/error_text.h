// What a refused call says, for the tests of rooms and of the whole.
#pragma once
#include <exception>
#include <functional>
#include <string>

#include "tenon/error.h"

namespace tenon {

/// The text of the call's Error, which every exception of the library is; "no error" where it returns.
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
