// Shared by the tests against the specification: its files, and a call's outcome as text.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace spec {

using nlohmann::json;
using tenon::Dims;
using tenon::Dtype;
using tenon::Tensor;

/// The folder TENON_SPEC, or shared/spec beside the checkout.
inline std::filesystem::path folder() {
  const char* given = std::getenv("TENON_SPEC");
  return given ? given : TENON_SOURCE_DIR "/../shared/spec";
}
/// Skips tests without the specification; fails if TENON_SPEC names a missing folder.
#define TENON_NEEDS_SPEC()                                                    \
  if (!std::getenv("TENON_SPEC") && !std::filesystem::exists(spec::folder())) \
  GTEST_SKIP() << "no specification beside the checkout"

inline json read_cases(const std::string& name) {
  std::ifstream file(folder() / "cases" / (name + ".json"));
  if (!file) throw std::runtime_error("cannot read " + name + ".json of " + folder().string());
  return json::parse(file).at("cases");
}

/// The rows of a table, split at commas; the first row has the names.
inline std::vector<std::vector<std::string>> read_table(const std::string& name) {
  std::ifstream file(folder() / name);
  if (!file) throw std::runtime_error("cannot read " + name + " of " + folder().string());
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> cells(1);
    for (char c : line) {
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    }
    rows.push_back(cells);
  }
  return rows;
}

inline Dims to_dims(const json& list) {
  Dims dims;
  for (const json& size : list) dims.push_back(size.get<int64_t>());
  return dims;
}

/// An expected or actual result as text: "[2, 3]" for a shape.
inline std::string as_text(const json& result) {
  return result.is_string() ? result.get<std::string>() : tenon::to_string(to_dims(result));
}

/// How a call ended.
struct Outcome {
  std::string type;  // the error's type, "RuntimeError"; empty if it returned
  std::string text;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;  // "UserWarning: ..."
  Tensor value;

  bool failed() const { return !type.empty(); }
  /// The shape, or the error's text.
  std::string shape_or_text() const { return failed() ? text : tenon::to_string(value.sizes()); }
};

template <class Call>
Outcome attempt(const Call& call) {
  Outcome outcome;
  const auto fail = [&](const char* type, const tenon::Error& error) {
    outcome.type = type;
    outcome.text = error.what();
    outcome.notes = error.notes();
  };
  tenon::set_warning_handler(
      [](const char* category, const std::string& text, const std::string&, void* list) {
        static_cast<std::vector<std::string>*>(list)->push_back(std::string(category) + ": " + text);
      },
      &outcome.warnings);
  try {
    outcome.value = call();
  } catch (const tenon::IndexError& error) {
    fail("IndexError", error);
  } catch (const tenon::ValueError& error) {
    fail("ValueError", error);
  } catch (const tenon::TypeError& error) {
    fail("TypeError", error);
  } catch (const tenon::NotImplementedError& error) {
    fail("NotImplementedError", error);
  } catch (const tenon::OutOfMemoryError& error) {
    fail("OutOfMemoryError", error);
  } catch (const tenon::Error& error) {
    fail("RuntimeError", error);
  }
  tenon::set_warning_handler(nullptr);
  return outcome;
}

/// The number of rows when the test was written, for a table that grows with the declared ops.
struct AtLeast {
  int rows;
};

/// Counts rows, so that none is skipped silently, and prints at most ten failures.
class Rows {
 public:
  explicit Rows(int expected) : expected_(expected) {}
  explicit Rows(AtLeast least) : expected_(least.rows), grows_(true) {}
  ~Rows() {
    EXPECT_TRUE(grows_ ? ran_ >= expected_ : ran_ == expected_) << ran_ << " rows of " << expected_ << " ran";
    EXPECT_EQ(failed_, 0) << first_;
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void same(const std::string& row, const std::string& want, const std::string& got) {
    ++ran_;
    if (want == got || ++failed_ > 10) return;
    first_ += "\n  " + row + "\n    want " + want + "\n    got  " + got;
  }

 private:
  int expected_, ran_ = 0, failed_ = 0;
  bool grows_ = false;
  std::string first_;
};

/// The documented text of an in-place shape error in which a dim would have to grow (docs/differences.md).
inline std::string documented_in_place_text(const std::string& live, const Dims& target, const Dims& shape) {
  if (live.rfind("output with shape", 0) != 0 || target.size() != shape.size()) return live;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim)
    if (target[dim] != shape[dim])
      return "The expanded size of the tensor (" + std::to_string(target[dim]) + ") must match the existing size (" +
             std::to_string(shape[dim]) + ") at non-singleton dimension " + std::to_string(dim) + ".";
  return live;
}

inline bool is_in_scope(const std::string& dtype) { return dtype != "complex32"; }

}  // namespace spec
