#include "nested_mixed.h"

#include <type_traits>
#include <utility>

#include "nest.h"

namespace bench {
namespace {

/// The dtype of a result of two, as PyTorch promotes: of a float and an integer the float, of two 16-bit floats
/// float32, of an unsigned and a signed integer of one size int16, else the wider one.
template <class A, class B>
auto promoted() {
  constexpr bool is_float_a = kIsHalf<A> || !std::is_integral_v<A>, is_float_b = kIsHalf<B> || !std::is_integral_v<B>;
  if constexpr (kIsHalf<A> && kIsHalf<B>)
    return float{};
  else if constexpr (is_float_a != is_float_b)
    return std::conditional_t<is_float_a, A, B>{};
  else if constexpr (sizeof(A) == sizeof(B))
    return int16_t{};
  else
    return std::conditional_t<(sizeof(A) > sizeof(B)), A, B>{};
}

/// The first operand's rows are contiguous; the second one's are, too, or one element.
template <class To, class A, class B, class F>
Work rows_of_two(const Nest& nest, F f) {
  if (nest.strides[0].back() != 1 || nest.strides[1].back() != 1 || nest.strides[2].back() > 1) return {};
  return [nest, f, plane = innermost(nest)](int64_t repeats) {
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      for_each_plane(nest, [&](const std::array<int64_t, kMostOperands>& offsets) {
        To* const to = reinterpret_cast<To*>(nest.data[0]) + offsets[0];
        const A* const a = reinterpret_cast<const A*>(nest.data[1]) + offsets[1];
        const B* const b = reinterpret_cast<const B*>(nest.data[2]) + offsets[2];
        constexpr std::index_sequence_for<A, B> operands;
        if (plane.column_strides[2] == 0)
          return run_rows<Step::one, Step::one, Step::none>(plane, operands, to, f, a, b);
        run_rows<Step::one, Step::one, Step::one>(plane, operands, to, f, a, b);
      });
      benchmark::ClobberMemory();
    }
  };
}

template <class A, class B>
Work of_two(Call call, const Nest& nest) {
  using To = decltype(promoted<A, B>());
  using W = Wide<To>;
  const auto wide = [](auto x) { return static_cast<W>(x); };
  switch (call) {
    case Call::add:
      return rows_of_two<To, A, B>(nest, [=](Wide<A> a, Wide<B> b) { return static_cast<W>(wide(a) + wide(b)); });
    case Call::mul:
      return rows_of_two<To, A, B>(nest, [=](Wide<A> a, Wide<B> b) { return static_cast<W>(wide(a) * wide(b)); });
    case Call::maximum:
      return rows_of_two<To, A, B>(nest, [=](Wide<A> a, Wide<B> b) {
        const W x = wide(a), y = wide(b);
        return x > y || x != x ? x : y;
      });
    default:
      return {};
  }
}

}  // namespace

Work nested_loops_of_two_dtypes(Call call, const Operands<Tenon>& x) {
  const tenon::SizesView sizes = x.out.sizes();
  const Nest nest = make_nest({x.out, x.a.expand(sizes), x.b.expand(sizes)});
  return with_type(x.a.dtype(), [&]<class A>(A) {
    return with_type(x.b.dtype(), [&]<class B>(B) -> Work {
      if constexpr (std::is_same_v<A, B>)
        return {};
      else
        return of_two<A, B>(call, nest);
    });
  });
}

}  // namespace bench
