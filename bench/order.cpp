// Scans and orders: running sums and extremes, sort, ranks and flip, over rows of arbitrary lengths; sets of elements
// and searches.
#include <tuple>
#include <type_traits>

#include "cases.h"

namespace bench {
namespace {

struct Rows {
  const char* name;
  Dims sizes;
  int64_t dim;
  Dtype dtype = Dtype::float32;
};

const Rows kRows[] = {
    {"[1000,13]", {1000, 13}, 1},
    {"[13,1000] dim 0", {13, 1000}, 0},
    {"[700,45]", {700, 45}, 1},
    {"[20000,5]", {20'000, 5}, 1},
    {"[3000,30]", {3000, 30}, 1},
    {"[400,300]", {400, 300}, 1},
    {"[4,5000]", {4, 5000}, 1},
    {"[300000]", {300000}, 0},
    {"f16 [700,45]", {700, 45}, 1, Dtype::float16},
    {"i32 [700,45]", {700, 45}, 1, Dtype::int32},
    {"i64 [700,45]", {700, 45}, 1, Dtype::int64},
    {"f64 [30,3000]", {30, 3000}, 1, Dtype::float64},
    {"i64 [300000]", {300000}, 0, Dtype::int64},
    {"u8 [300000]", {300000}, 0, Dtype::uint8},
};

template <class Op>
void add_rows(Cases& cases, const std::string& name, Op op) {
  for (const Rows& rows : kRows)
    cases.add(
        {name + "/" + rows.name, 1, 0, tenon::numel_of(rows.sizes) * tenon::itemsize(rows.dtype)},
        [=]<class Library>(Library) -> Operands<Library> { return {.a = Library::random(rows.sizes, rows.dtype)}; },
        [op, dim = rows.dim](auto& x) { op(x, dim); });
}

/// The elements without repetition, sorted.
template <class Tensor>
void take_unique(const Tensor& x) {
  if constexpr (std::is_same_v<Tensor, tenon::Tensor>)
    tenon::unique(x);
  else
    _unique2(x);
}

/// `op(x)`: `a` are elements, `b` sorted ones.
template <class Op>
void add_sets(Cases& cases, const std::string& name, Op op) {
  for (int64_t count : {10, 1000, 100'000})
    cases.add(
        {name + "/" + std::to_string(count), 1, 0, 300'000 * 4},
        [=]<class Library>(Library) -> Operands<Library> {
          return {.a = Library::random({300'000}, Dtype::float32),
                  .b = std::get<0>(sort(Library::random({count}, Dtype::float32)))};
        },
        op);
}

}  // namespace

void add_order_cases(Cases& cases) {
  add_rows(cases, "sort", [](auto& x, int64_t dim) { sort(x.a, dim); });
  add_rows(cases, "topk", [](auto& x, int64_t dim) { topk(x.a, 5, dim); });
  add_rows(cases, "topk1", [](auto& x, int64_t dim) { topk(x.a, 1, dim); });
  add_rows(cases, "topk_half", [](auto& x, int64_t dim) { topk(x.a, x.a.size(dim) / 2, dim); });
  add_rows(cases, "flip", [](auto& x, int64_t dim) { flip(x.a, {dim}); });
  add_rows(cases, "median", [](auto& x, int64_t dim) { median(x.a, dim); });
  add_rows(cases, "kthvalue", [](auto& x, int64_t dim) { kthvalue(x.a, x.a.size(dim) / 3 + 1, dim); });
  add_rows(cases, "mode", [](auto& x, int64_t dim) { mode(x.a, dim); });
  add_rows(cases, "unique", [](auto& x, int64_t) { take_unique(x.a); });
  add_rows(cases, "unique_consecutive", [](auto& x, int64_t) { unique_consecutive(x.a); });
  add_sets(cases, "searchsorted", [](auto& x) { searchsorted(x.b, x.a); });
  add_sets(cases, "isin", [](auto& x) { isin(x.a, x.b); });
  add_rows(cases, "cumprod", [](auto& x, int64_t dim) { cumprod(x.a, dim); });
  add_rows(cases, "cumsum", [](auto& x, int64_t dim) { cumsum(x.a, dim); });
  add_rows(cases, "cummax", [](auto& x, int64_t dim) { cummax(x.a, dim); });
}

}  // namespace bench
