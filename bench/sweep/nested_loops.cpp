#include "nested_loops.h"

#include <type_traits>
#include <utility>

#include "nest.h"
#include "nested_mixed.h"
#include "nested_others.h"
#include "nested_reductions.h"

namespace bench {
namespace {

template <class T>
Work of_two(Call call, const Nest& nest) {
  using W = Wide<T>;
  switch (call) {
    case Call::add:
      return elementwise<T, T, T>(nest, [](W a, W b) { return static_cast<W>(a + b); });
    case Call::mul:
      return elementwise<T, T, T>(nest, [](W a, W b) { return static_cast<W>(a * b); });
    case Call::maximum:  // with NaN as the result where either is
      return elementwise<T, T, T>(nest, [](W a, W b) { return a > b || a != a ? a : b; });
    case Call::lt:
      return elementwise<bool, T, T>(nest, [](W a, W b) { return a < b; });
    case Call::eq:
      return elementwise<bool, T, T>(nest, [](W a, W b) { return a == b; });
    default:
      return {};
  }
}

template <class T>
Work same_dtypes(Call call, const Operands<Tenon>& x) {
  if (!x.out.defined()) return {};
  const tenon::SizesView sizes = x.out.sizes();
  using Moved = std::conditional_t<kIsHalf<T>, uint16_t, T>;
  if (call == Call::copy)
    return elementwise<Moved, Moved>(make_nest({x.out, x.a.expand(sizes)}), [](Moved a) { return a; });
  if (call == Call::where)
    return elementwise<Moved, bool, Moved, Moved>(
        make_nest({x.out, x.c.expand(sizes), x.a.expand(sizes), x.b.expand(sizes)}),
        [](bool c, Moved a, Moved b) { return c ? a : b; });
  if (!x.b.defined()) return {};
  return of_two<T>(call, make_nest({x.out, x.a.expand(sizes), x.b.expand(sizes)}));
}

Work cast(const Tensor& to, const Tensor& from) {
  const Nest nest = make_nest({to, from});
  return with_type(to.dtype(), [&]<class To>(To) {
    return with_type(from.dtype(),
                     [&]<class From>(From) { return elementwise<To, From>(nest, [](Wide<From> a) { return a; }); });
  });
}

}  // namespace

Work nested_loops(Call call, const Operands<Tenon>& operands, const Dims& reduced, int64_t dim) {
  const bool casts = call == Call::copy && operands.out.dtype() != operands.a.dtype();
  const bool is_mixed = operands.b.defined() && operands.b.dtype() != operands.a.dtype();
  const bool is_other = call == Call::cat || call == Call::matmul || call == Call::cumsum || call == Call::exp;
  Work work = is_other           ? nested_loops_of(call, operands, dim)
              : !reduced.empty() ? nested_reduction(call, operands.a, reduced)
              : is_mixed         ? nested_loops_of_two_dtypes(call, operands)
              : casts            ? cast(operands.out, operands.a)
                      : with_type(operands.a.dtype(), [&]<class T>(T) { return same_dtypes<T>(call, operands); });
  if (!work) return {};
  // The operands live as long as the work that reads them.
  return [operands, work = std::move(work)](int64_t repeats) { work(repeats); };
}

}  // namespace bench
