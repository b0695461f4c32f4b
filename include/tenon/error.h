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
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  // Of every exception a virtual function is in the library, so that its type information is there alone: that of a
  // program compiled with -fno-rtti would have none.
  ~Error() override;
  const char* what() const noexcept override { return text_.c_str(); }
  /// Lines of further help.
  const List<std::string>& notes() const noexcept { return notes_; }
  /// Adds a line.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }

 private:
  std::string text_;
  List<std::string> notes_;
};

/// A dim or an index is out of range.
class TENON_API IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};

/// An argument has the right type, but an invalid value.
class TENON_API ValueError : public Error {
 public:
  using Error::Error;
  ~ValueError() override;
};

/// An argument has the wrong type.
class TENON_API TypeError : public Error {
 public:
  using Error::Error;
  ~TypeError() override;
};

/// An op has no kernel for a dtype.
class TENON_API NotImplementedError : public Error {
 public:
  using Error::Error;
  ~NotImplementedError() override;
};

/// A matrix cannot be inverted or decomposed.
class TENON_API LinAlgError : public Error {
 public:
  using Error::Error;
  ~LinAlgError() override;
};

/// There is not enough memory. Nothing was changed.
class TENON_API OutOfMemoryError : public Error {
 public:
  using Error::Error;
  ~OutOfMemoryError() override;
};

/// A file cannot be read or written, or is damaged. The text has the file's path.
class TENON_API FileError : public Error {
 public:
  using Error::Error;
  ~FileError() override;
};

}  // namespace tenon
