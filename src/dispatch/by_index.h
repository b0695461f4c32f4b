// dispatch: what the ops that write by an index share. Takes a tensor, an index along one dim and elements; replaces
// the elements at these places, or joins them with those that are there.
#pragma once
#include "dispatch/algorithm.h"
#include "dispatch/places.h"

namespace tenon::by_index {

/// An operand that is read while `self` is written: a copy if they overlap.
Tensor apart(const Tensor& self, const Tensor& operand);
/// Throws if elements of `written` share memory with each other or with an operand.
void check_no_overlaps(const Tensor& written, const Tensor& index, const Tensor* src);
/// Elements that are joined with those of `self`.
Tensor beside(const Tensor& self, const Tensor& elements);
/// Notes the writes for `explain`: one thread does them. True if they are only planned.
bool is_only_planned(const Tensor& self, const char* route);
/// A number as a 0-dim tensor. Throws Error if the dtype cannot hold it.
Tensor as_element(Scalar number, Dtype dtype);
/// Checks the operands of scatter and its relatives. `src` is null if a number is written.
void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src);
/// Checks the operands of index_add and index_reduce.
void check_indexed(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
/// The places of index_fill as a vector, negative ones counted from the end.
Tensor filled_places(const Tensor& self, int64_t dim, const Tensor& index);

/// What is done with an element and the one that it meets.
enum class Join : uint8_t { replace, add, multiply, largest, smallest };
/// Scatters into `self` after all checks. `src` has its number of dims, or is one element.
void write_elements(const Tensor& self, int64_t dim, const ByteView& index, const Tensor& src, Join join);

/// Writes to `self`, or to a tensor in its place, at places in range.
struct PlacedWrite {
  void (*call)(const void* write, const Tensor& to, const Tensor& places);
  const void* write;
};
/// Writes into 16-bit floats: in float32, rounded once. Where few parts are named, only these are converted.
void write_wide(const Tensor& self, int64_t dim, const Tensor& places, const PlacedWrite& write);

/// The places of an index that is one vector along `dim`, seen in all other dims; else undefined.
Tensor vector_along(const Tensor& places, int64_t dim);
/// Adds rows of 16-bit floats to those that a vector names along dim 0, all of one row in float32, and counts one
/// write. Whether it did: rows lie along memory and are not short. The places are in range.
bool add_rows_wide(const Tensor& self, int64_t dim, const Tensor& places, const Tensor& source);

/// Whether elements are joined in a wider dtype.
inline bool is_joined_wide(Dtype dtype) { return is_floating_point(dtype) && itemsize(dtype) == 2; }

/// Calls `write(self, places)`, and counts it as one write. If elements are joined, 16-bit floats are joined in float32
/// and rounded once, as in PyTorch. The places are in range.
template <class Write>
void write_counted(const Tensor& self, int64_t dim, const Tensor& places, bool joins, const Write& write) {
  if (joins && is_joined_wide(self.dtype())) {
    const auto call = [](const void* given, const Tensor& to, const Tensor& at) {
      (*static_cast<const Write*>(given))(to, at);
    };
    return write_wide(self, dim, places, {call, &write});
  }
  write(self, places);
  bump_version(self);
}

}  // namespace tenon::by_index
