// base: what every failure looks like. Takes a text; gives an exception of the right type with notes beside it.
#pragma once
#include <exception>
#include <string>
#include <utility>

#include "tenon/export.h"
#include "tenon/list.h"

namespace tenon {

/// A failure the caller can act on (Python: RuntimeError). `what()` is PyTorch's text, letter for letter, where
/// PyTorch speaks; what helps beyond it (aligned shapes, one suggestion) travels in `notes()`.
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

/// A dim or an index outside its range.
class TENON_API IndexError : public Error {
 public:
  using Error::Error;
};

/// An argument of the right type with a value that no call accepts.
class TENON_API ValueError : public Error {
 public:
  using Error::Error;
};

/// An argument of the wrong kind.
class TENON_API TypeError : public Error {
 public:
  using Error::Error;
};

/// An op without code for that dtype.
class TENON_API NotImplementedError : public Error {
 public:
  using Error::Error;
};

/// Memory could not be had; nothing was changed.
class TENON_API OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// A file that is not what its name or header says; the text names the file.
class TENON_API FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace tenon
