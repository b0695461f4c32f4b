// Reductions over all dims, the outer, the inner and several dims.
#include <initializer_list>

#include "cases.h"
#include "levels.h"

namespace bench {
namespace {

struct Reduction {
  const char* name;
  Dims sizes;  // -1: as many as give the level's number of elements; -2 and -3: its rows and columns
  Dims dims;   // none: all
  Dtype dtype = Dtype::float32;
};

Dims fill_in(Dims sizes, const Level& level) {
  int64_t others = 1;
  for (int64_t& size : sizes) {
    if (size == -2) size = level.rows;
    if (size == -3) size = level.cols;
    if (size != -1) others *= size;
  }
  for (int64_t& size : sizes)
    if (size == -1) size = std::max<int64_t>(1, level.numel() / others);
  return sizes;
}

template <class Op>
void add_reductions(Cases& cases, std::initializer_list<Reduction> reductions, Op op) {
  for (const Reduction& reduction : reductions) {
    for (const Level& level : kLevels) {
      const Dims sizes = fill_in(reduction.sizes, level);
      cases.add(
          {std::string("reduce/") + reduction.name + "/" + level.name, 1, 0,
           tenon::numel_of(sizes) * tenon::itemsize(reduction.dtype)},
          [=]<class Library>(Library) -> Operands<Library> {
            return {.a = random_at<Library>(sizes, reduction.dtype, level.offset),
                    .dims = Library::dims(reduction.dims)};
          },
          op);
    }
  }
}

}  // namespace

void add_reduce_cases(Cases& cases) {
  // clang-format off
  const Dims matrix{-2, -3}, images{-1, 64, 56, 56};
  add_reductions(cases, {
      {"sum",             matrix,   {0, 1}},
      {"sum dim 0",       matrix,   {0}},
      {"sum dim 1",       matrix,   {1}},
      {"[N,3] sum dim 1", {-1, 3},  {1}},
      {"[N,3] sum dim 0", {-1, 3},  {0}},
      {"NCHW sum 0,2,3",  images,   {0, 2, 3}},
      {"bf16 sum",        matrix,   {0, 1}, Dtype::bfloat16},
      {"bf16 sum dim 1",  matrix,   {1},    Dtype::bfloat16},
      {"bool sum",        matrix,   {0, 1}, Dtype::bool_},
      {"i32 sum",         matrix,   {0, 1}, Dtype::int32},
  }, [](auto& x) { sum(x.a, x.dims); });
  add_reductions(cases, {
      {"mean",            matrix,   {0, 1}},
      {"mean dim 1",      matrix,   {1}},
  }, [](auto& x) { mean(x.a, x.dims); });
  add_reductions(cases, {
      {"amax",            matrix,   {0, 1}},
      {"amax dim 0",      matrix,   {0}},
      {"amax dim 1",      matrix,   {1}},
  }, [](auto& x) { amax(x.a, x.dims); });
  // clang-format on
}

}  // namespace bench
