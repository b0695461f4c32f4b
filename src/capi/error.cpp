#include "capi/error.h"

#include <new>

#include "tenon/threads.h"

namespace tenon::capi {
namespace {

struct LastError {
  tenon_status code = TENON_OK;
  const char* text = "";  // of `kept`, or a literal if there was no memory to keep a text
  std::string kept;
  List<std::string> notes;
};
thread_local LastError last_error;

template <class E>
bool is(const std::exception& error) noexcept {
  return dynamic_cast<const E*>(&error) != nullptr;
}

tenon_status code_of(const std::exception& error) noexcept {
  if (is<OutOfMemoryError>(error) || is<std::bad_alloc>(error)) return TENON_OUT_OF_MEMORY;
  if (is<IndexError>(error)) return TENON_INDEX_ERROR;
  if (is<ValueError>(error)) return TENON_VALUE_ERROR;
  if (is<TypeError>(error)) return TENON_TYPE_ERROR;
  if (is<NotImplementedError>(error)) return TENON_NOT_IMPLEMENTED;
  if (is<LinAlgError>(error)) return TENON_LINALG_ERROR;
  if (is<FileError>(error)) return TENON_FILE_ERROR;
  return is<Interrupted>(error) ? TENON_INTERRUPTED : TENON_ERROR;
}

tenon_status keep(tenon_status code, const char* text, const List<std::string>* notes) noexcept {
  last_error.code = code;
  last_error.text = "not enough memory for the text of the error";
  try {
    last_error.notes = notes ? *notes : List<std::string>();
    last_error.kept = text;
    last_error.text = last_error.kept.c_str();
  } catch (const std::bad_alloc&) {
    last_error.notes = {};
  }
  return code;
}

}  // namespace

tenon_status keep_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(code_of(error), error.what(), &error.notes());
  } catch (const std::bad_alloc&) {
    return keep(TENON_OUT_OF_MEMORY, "not enough memory", nullptr);
  } catch (const std::exception& error) {
    return keep(TENON_ERROR, error.what(), nullptr);
  } catch (...) {
    return keep(TENON_ERROR, "an unknown exception", nullptr);
  }
}

void check_given(const void* pointer, const char* call, const char* what) {
  if (!pointer) throw ValueError(std::string(call) + ": " + what + " is a null pointer");
}

}  // namespace tenon::capi

using tenon::capi::last_error;

tenon_status tenon_error_code() { return last_error.code; }
const char* tenon_error_text() { return last_error.text; }
int64_t tenon_error_note_count() { return static_cast<int64_t>(last_error.notes.size()); }
const char* tenon_error_note(int64_t index) {
  return index >= 0 && index < tenon_error_note_count() ? last_error.notes[static_cast<std::size_t>(index)].c_str()
                                                        : nullptr;
}
