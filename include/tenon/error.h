// base: the exceptions of the library. Each has a text and notes.
#pragma once
#include <exception>
#include <string>
#include <utility>

#include "tenon/export.h"
#include "tenon/list.h"

namespace tenon {

/// The base of all exceptions (Python: RuntimeError). If PyTorch has an error for the case, `what()` is its text,
/// letter for letter. `notes()` has further help: aligned shapes, a suggestion.
class TENON_API Error : public std::exception {
 public:
  explicit Error(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const List<std::string>& notes() const noexcept { return notes_; }
  void add_note(std::string note) { notes_.push_back(std::move(note)); }

 private:
  std::string text_;
  List<std::string> notes_;
};

/// A dim or an index is out of range.
class TENON_API IndexError : public Error {
 public:
  using Error::Error;
};

/// An argument has the right type, but an invalid value.
class TENON_API ValueError : public Error {
 public:
  using Error::Error;
};

/// An argument has the wrong type.
class TENON_API TypeError : public Error {
 public:
  using Error::Error;
};

/// An op has no kernel for a dtype.
class TENON_API NotImplementedError : public Error {
 public:
  using Error::Error;
};

/// A matrix cannot be inverted or decomposed.
class TENON_API LinAlgError : public Error {
 public:
  using Error::Error;
};

/// There is not enough memory. Nothing was changed.
class TENON_API OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// A file cannot be read or written, or is damaged. The text has the file's path.
class TENON_API FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace tenon
