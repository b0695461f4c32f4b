#include "tile/blocks.h"

#include <algorithm>
#include <cstring>

#include "kernel/copy_run.h"

namespace tenon {
namespace {

int64_t elements_of(const Plan& plan, int64_t dims) {
  int64_t elements = 1;
  for (int64_t dim = 0; dim < dims; ++dim) elements *= plan.sizes[dim];
  return elements;
}

}  // namespace

void load_block(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift, int64_t dims,
                int64_t rows) {
  const MoveKernels& move = kernels().move[shift];
  if (dims == 0) {
    std::memcpy(to, from, std::size_t{1} << shift);
  } else if (dims == 1) {
    move.gather(to, from, strides[0], rows, 0, 1);
  } else if (dims == 2) {
    move.gather(to, from, strides[0], plan.sizes[0], strides[1], rows);
  } else {
    const int64_t inner = elements_of(plan, dims - 1);
    for (int64_t row = 0; row < rows; ++row)
      load_block(to + ((row * inner) << shift), from + ((row * strides[dims - 1]) << shift), plan, strides, shift,
                 dims - 1, plan.sizes[dims - 2]);
  }
}

void store_block(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift,
                 int64_t dims, int64_t rows) {
  const MoveKernels& move = kernels().move[shift];
  if (dims == 0) {
    std::memcpy(to, from, std::size_t{1} << shift);
  } else if (dims == 1) {
    move.scatter(to, strides[0], rows, 0, 1, from);
  } else if (dims == 2) {
    move.scatter(to, strides[0], plan.sizes[0], strides[1], rows, from);
  } else {
    const int64_t inner = elements_of(plan, dims - 1);
    for (int64_t row = 0; row < rows; ++row)
      store_block(to + ((row * strides[dims - 1]) << shift), from + ((row * inner) << shift), plan, strides, shift,
                  dims - 1, plan.sizes[dims - 2]);
  }
}

void build_pattern(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift,
                   int64_t length, int64_t total) {
  int64_t dims = 0, inner = 1;
  while (inner < length) inner *= plan.sizes[dims++];
  load_block(to, from, plan, strides, shift, dims, dims > 0 ? plan.sizes[dims - 1] : 1);
  for (int64_t filled = length; filled < total;) {
    const int64_t more = std::min(filled, total - filled);
    copy_run(to + (filled << shift), to, more << shift);
    filled += more;
  }
}

}  // namespace tenon
