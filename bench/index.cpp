// Elements selected by index: gather, index_select, scatter and their relatives along both dims of a matrix.
#include "cases.h"

namespace bench {
namespace {

struct Matrix {
  const char* name;
  int64_t dim;
  Dtype dtype;
};

const Matrix kMatrices[] = {
    {"f32 dim 0", 0, Dtype::float32}, {"f32 dim 1", 1, Dtype::float32},   {"f16 dim 0", 0, Dtype::float16},
    {"f16 dim 1", 1, Dtype::float16}, {"bf16 dim 0", 0, Dtype::bfloat16}, {"bf16 dim 1", 1, Dtype::bfloat16},
};

/// `op(a, dim, places of all elements, places of one row or column, b)`.
template <class Op>
void add_matrices(Cases& cases, const std::string& name, Op op) {
  const Dims sizes = {1024, 256};
  for (const Matrix& matrix : kMatrices)
    cases.add(
        {name + "/" + matrix.name, 1, 0, 2 * tenon::numel_of(sizes) * tenon::itemsize(matrix.dtype)},
        [=]<class Library>(Library) -> Operands<Library> {
          return {.out = Library::random(sizes, matrix.dtype),
                  .a = Library::random(sizes, Dtype::int64),
                  .b = Library::random({sizes[matrix.dim]}, Dtype::int64),
                  .c = Library::random(sizes, matrix.dtype)};
        },
        [op, dim = matrix.dim](auto& x) { op(x.out, dim, x.a, x.b, x.c); });
}

}  // namespace

void add_index_cases(Cases& cases) {
  add_matrices(cases, "gather", [](auto& x, int64_t dim, auto& all, auto&, auto&) { gather(x, dim, all); });
  add_matrices(cases, "index_select", [](auto& x, int64_t dim, auto&, auto& one, auto&) { index_select(x, dim, one); });
  add_matrices(cases, "scatter", [](auto& x, int64_t dim, auto& all, auto&, auto& src) { x.scatter_(dim, all, src); });
  add_matrices(cases, "scatter_add",
               [](auto& x, int64_t dim, auto& all, auto&, auto& src) { x.scatter_add_(dim, all, src); });
  add_matrices(cases, "index_add",
               [](auto& x, int64_t dim, auto&, auto& one, auto& src) { x.index_add_(dim, one, src); });
  add_matrices(cases, "index_copy",
               [](auto& x, int64_t dim, auto&, auto& one, auto& src) { x.index_copy_(dim, one, src); });
  add_matrices(cases, "index_fill", [](auto& x, int64_t dim, auto&, auto& one, auto&) { x.index_fill_(dim, one, 1); });
}

}  // namespace bench
