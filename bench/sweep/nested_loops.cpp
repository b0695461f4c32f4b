#include "nested_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {
namespace {

using tenon::Tensor;

/// A float of 16 bits: the upper half of a float32.
struct Bfloat16 {
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float value) {
    const uint32_t wide = std::bit_cast<uint32_t>(value);
    bits = static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// What arithmetic on elements is done in.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Bfloat16>, float, T>;

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, Bfloat16>)
    return To(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

constexpr std::size_t kMostOperands = 4;

/// Sizes of the loops, and for each operand, the result first, the distance in elements from one step to the next.
struct Nest {
  std::vector<int64_t> sizes;
  std::array<std::vector<int64_t>, kMostOperands> strides;
  std::array<std::byte*, kMostOperands> data{};
  std::size_t operands = 0;

  std::size_t ndim() const { return sizes.size(); }
};

/// Adds a loop inside the others, or makes the innermost longer.
void add_loop(Nest& nest, int64_t size, const std::array<int64_t, kMostOperands>& strides) {
  const bool continues = nest.ndim() > 0 && [&] {
    for (std::size_t i = 0; i < nest.operands; ++i)
      if (nest.strides[i].back() != strides[i] * size) return false;
    return true;
  }();
  if (continues) nest.sizes.back() *= size;
  if (!continues) nest.sizes.push_back(size);
  for (std::size_t i = 0; i < nest.operands; ++i) {
    if (continues) nest.strides[i].back() = strides[i];
    if (!continues) nest.strides[i].push_back(strides[i]);
  }
}

/// At least two loops, over dims of more than one element.
Nest make_nest(const std::vector<Tensor>& tensors) {
  Nest nest{.sizes = {}, .strides = {}, .data = {}, .operands = tensors.size()};
  for (std::size_t i = 0; i < tensors.size(); ++i) nest.data[i] = static_cast<std::byte*>(tensors[i].data_ptr());
  for (int64_t dim = 0; dim < tensors[0].dim(); ++dim) {
    std::array<int64_t, kMostOperands> strides{};
    for (std::size_t i = 0; i < tensors.size(); ++i) strides[i] = tensors[i].strides()[dim];
    if (tensors[0].sizes()[dim] != 1) add_loop(nest, tensors[0].sizes()[dim], strides);
  }
  while (nest.ndim() < 2) {
    nest.sizes.insert(nest.sizes.begin(), 1);
    for (auto& strides : nest.strides) strides.insert(strides.begin(), nest.ndim() == 1 ? 1 : 0);
  }
  return nest;
}

/// The elements of the two innermost loops.
struct Plane {
  int64_t rows, columns;
  std::array<int64_t, kMostOperands> row_strides, column_strides;
};

/// Calls `plane(offsets)`, in elements, for every step of the outer loops.
template <class Body>
void for_each_plane(const Nest& nest, const Body& body) {
  const std::size_t outer = nest.ndim() - 2;
  std::array<int64_t, kMostOperands> offsets{};
  std::array<int64_t, 8> at{};
  for (;;) {
    body(offsets);
    std::size_t dim = outer;
    for (; dim > 0; --dim) {
      const std::size_t d = dim - 1;
      for (std::size_t i = 0; i < nest.operands; ++i) offsets[i] += nest.strides[i][d];
      if (++at[d] < nest.sizes[d]) break;
      for (std::size_t i = 0; i < nest.operands; ++i) offsets[i] -= nest.strides[i][d] * nest.sizes[d];
      at[d] = 0;
    }
    if (dim == 0) return;
  }
}

Plane innermost(const Nest& nest) {
  const std::size_t last = nest.ndim() - 1;
  Plane plane{.rows = nest.sizes[last - 1], .columns = nest.sizes[last], .row_strides = {}, .column_strides = {}};
  for (std::size_t i = 0; i < nest.operands; ++i) {
    plane.row_strides[i] = nest.strides[i][last - 1];
    plane.column_strides[i] = nest.strides[i][last];
  }
  return plane;
}

/// A distance between elements that the compiler knows, or is told.
enum class Step { none, one, any };
template <Step kStep>
int64_t place(int64_t i, int64_t stride) {
  return kStep == Step::none ? 0 : kStep == Step::one ? i : i * stride;
}
Step step_of(int64_t stride) { return stride == 0 ? Step::none : stride == 1 ? Step::one : Step::any; }

template <Step... kSteps, std::size_t... kOperands, class To, class F, class... From>
void run_rows(const Plane& p, std::index_sequence<kOperands...>, To* to, const F& f, const From*... from) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const auto run_row = [&](To* __restrict out, const From* __restrict... in) {
      for (int64_t i = 0; i < p.columns; ++i)
        out[i] = converted<To>(f(in[place<kSteps>(i, p.column_strides[kOperands + 1])]...));
    };
    run_row(to + row * p.row_strides[0], (from + row * p.row_strides[kOperands + 1])...);
  }
}

/// Chooses the loop by the strides of the innermost dim, one operand after the other.
template <Step... kSteps, class To, class F, class... From>
void run_steps(const Plane& p, To* to, const F& f, const From*... from) {
  if constexpr (sizeof...(kSteps) == sizeof...(From)) {
    run_rows<kSteps...>(p, std::index_sequence_for<From...>(), to, f, from...);
  } else {
    switch (step_of(p.column_strides[sizeof...(kSteps) + 1])) {
      case Step::none:
        return run_steps<kSteps..., Step::none>(p, to, f, from...);
      case Step::one:
        return run_steps<kSteps..., Step::one>(p, to, f, from...);
      case Step::any:
        return run_steps<kSteps..., Step::any>(p, to, f, from...);
    }
  }
}

template <class To, class... From, class F>
Work elementwise(const Nest& nest, F f) {
  if (nest.strides[0].back() != 1) return {};
  return [nest, f, plane = innermost(nest)](int64_t repeats) {
    const auto at = [&]<class T>(std::size_t operand, int64_t offset, T*) {
      return reinterpret_cast<T*>(nest.data[operand]) + offset;
    };
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      for_each_plane(nest, [&](const std::array<int64_t, kMostOperands>& offsets) {
        std::size_t operand = 0;
        const auto next = [&]<class T>(T* type) {
          ++operand;
          return static_cast<const T*>(at(operand, offsets[operand], type));
        };
        To* const to = at(0, offsets[0], static_cast<To*>(nullptr));
        const std::tuple<const From*...> from{next(static_cast<From*>(nullptr))...};
        std::apply([&](const From*... rows) { run_steps<>(plane, to, f, rows...); }, from);
      });
      benchmark::ClobberMemory();
    }
  };
}

/// Folds a row into one sum, by several: the compiler may not reorder additions of floats.
template <class From, class Sum, class F, class Join>
Sum folded(Sum sum, const From* from, int64_t n, Sum first, const F& f, const Join& join) {
  constexpr std::size_t kSums = 64 / sizeof(Sum) * 4;
  std::array<Sum, kSums> parts;
  parts.fill(first);
  int64_t i = 0;
  for (constexpr auto kTogether = static_cast<int64_t>(kSums); i + kTogether <= n; i += kTogether)
    for (std::size_t k = 0; k < kSums; ++k) parts[k] = f(parts[k], static_cast<Sum>(from[i + static_cast<int64_t>(k)]));
  if (i > 0)
    for (const Sum part : parts) sum = join(sum, part);
  for (; i < n; ++i) sum = f(sum, static_cast<Sum>(from[i]));
  return sum;
}

/// Folds into a buffer of `Sum`, whose layout is the result's, and writes the result from it.
template <class From, class Sum, class To, class F, class Join, class Finish>
Work reduction(const Nest& nest, int64_t results, Sum first, F f, Join join, Finish finish) {
  return [=, plane = innermost(nest), sums = std::vector<Sum>(static_cast<std::size_t>(results)),
          written = std::vector<To>(static_cast<std::size_t>(results))](int64_t repeats) mutable {
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      std::fill(sums.begin(), sums.end(), first);
      for_each_plane(nest, [&](const std::array<int64_t, kMostOperands>& offsets) {
        for (int64_t row = 0; row < plane.rows; ++row) {
          Sum* const to = sums.data() + offsets[0] + row * plane.row_strides[0];
          const From* const from =
              reinterpret_cast<const From*>(nest.data[1]) + offsets[1] + row * plane.row_strides[1];
          if (plane.column_strides[0] == 0)
            *to = folded(*to, from, plane.columns, first, f, join);
          else
            for (int64_t i = 0; i < plane.columns; ++i) to[i] = f(to[i], static_cast<Sum>(from[i]));
        }
      });
      for (int64_t i = 0; i < results; ++i)
        written[static_cast<std::size_t>(i)] = converted<To>(finish(sums[static_cast<std::size_t>(i)]));
      benchmark::DoNotOptimize(written.data());
      benchmark::ClobberMemory();
    }
  };
}

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

/// Strides of the result over the operand's dims: none along the reduced ones.
Tensor over_operand(const Tensor& a, const Dims& reduced) {
  Dims sizes = a.sizes().copy();
  for (const int64_t dim : reduced) sizes[dim] = 1;
  return tenon::empty(sizes, {Dtype::uint8}).expand(a.sizes());
}

/// The operand's dims in the order of memory, and which of them are `dims`.
std::pair<Tensor, Dims> in_order_of_memory(const Tensor& a, const Dims& dims) {
  Dims order, reduced;
  for (int64_t dim = 0; dim < a.dim(); ++dim) order.push_back(dim);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return a.strides()[x] > a.strides()[y]; });
  for (int64_t i = 0; i < order.size(); ++i)
    if (std::find(dims.begin(), dims.end(), order[i]) != dims.end()) reduced.push_back(i);
  return {a.permute(order), reduced};
}

/// Indices of the largest elements along one dim: of a row, or of rows side by side.
template <class T>
Work places(const Nest& nest, int64_t results) {
  return [=, plane = innermost(nest), best = std::vector<Wide<T>>(static_cast<std::size_t>(results)),
          found = std::vector<int64_t>(static_cast<std::size_t>(results)),
          taken = std::vector<int64_t>(static_cast<std::size_t>(results))](int64_t repeats) mutable {
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      std::fill(best.begin(), best.end(), std::numeric_limits<Wide<T>>::lowest());
      std::fill(taken.begin(), taken.end(), 0);
      for_each_plane(nest, [&](const std::array<int64_t, kMostOperands>& offsets) {
        for (int64_t row = 0; row < plane.rows; ++row) {
          const int64_t at = offsets[0] + row * plane.row_strides[0];
          const T* __restrict const from =
              reinterpret_cast<const T*>(nest.data[1]) + offsets[1] + row * plane.row_strides[1];
          Wide<T>* __restrict const value = best.data() + at;
          int64_t* __restrict const place = found.data() + at;
          if (plane.column_strides[0] == 0) {
            for (int64_t i = 0; i < plane.columns; ++i)
              if (from[i] > *value) *value = from[i], *place = i;
            continue;
          }
          const int64_t now = taken[static_cast<std::size_t>(at)]++;
          for (int64_t i = 0; i < plane.columns; ++i) {
            place[i] = from[i] > value[i] ? now : place[i];
            value[i] = from[i] > value[i] ? static_cast<Wide<T>>(from[i]) : value[i];
          }
        }
      });
      benchmark::DoNotOptimize(found.data());
      benchmark::ClobberMemory();
    }
  };
}

template <class T>
Work reduced(Call call, const Tensor& given, const Dims& given_dims) {
  using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, Wide<T>>;
  const auto [a, dims] = in_order_of_memory(given, given_dims);
  const Tensor results = over_operand(a, dims);
  const Nest nest = make_nest({results, a});
  if (nest.strides[1].back() != 1 || nest.strides[0].back() > 1) return {};
  int64_t count = a.numel(), each = 1;
  for (const int64_t dim : dims) each *= a.sizes()[dim];
  count /= each;
  using To = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
  const auto larger = [](Wide<T> x, Wide<T> y) { return x > y ? x : y; };
  const auto plus = [](Sum x, Sum y) { return static_cast<Sum>(x + y); };
  const auto same = [](auto sum) { return sum; };
  if (call == Call::argmax) return places<T>(nest, count);
  if (call == Call::amax)
    return reduction<T, Wide<T>, T>(nest, count, std::numeric_limits<Wide<T>>::lowest(), larger, larger, same);
  if (call == Call::sum) return reduction<T, Sum, To>(nest, count, Sum{0}, plus, plus, same);
  if (call == Call::mean)
    return reduction<T, Sum, To>(nest, count, Sum{0}, plus, plus,
                                 [each](Sum sum) { return sum / static_cast<Sum>(each); });
  if constexpr (!std::is_integral_v<T>)
    if (call == Call::norm)
      return reduction<T, Sum, To>(
          nest, count, Sum{0}, [](Sum x, Sum y) { return x + y * y; }, plus, [](Sum sum) { return std::sqrt(sum); });
  return {};
}

template <class T>
Work same_dtypes(Call call, const Operands<Tenon>& x, const Dims& dims) {
  if (!dims.empty()) return reduced<T>(call, x.a, dims);
  if (!x.out.defined()) return {};
  const tenon::SizesView sizes = x.out.sizes();
  if (call == Call::copy) return elementwise<T, T>(make_nest({x.out, x.a.expand(sizes)}), [](T a) { return a; });
  if (call == Call::where)
    return elementwise<T, bool, T, T>(make_nest({x.out, x.c.expand(sizes), x.a.expand(sizes), x.b.expand(sizes)}),
                                      [](bool c, T a, T b) { return c ? a : b; });
  if (!x.b.defined()) return {};
  return of_two<T>(call, make_nest({x.out, x.a.expand(sizes), x.b.expand(sizes)}));
}

/// Calls `f` with a value of the dtype's type.
template <class F>
Work with_type(Dtype dtype, const F& f) {
  switch (dtype) {
    case Dtype::float32:
      return f(float{});
    case Dtype::float64:
      return f(double{});
    case Dtype::bfloat16:
      return f(Bfloat16{});
    case Dtype::int64:
      return f(int64_t{});
    case Dtype::int32:
      return f(int32_t{});
    case Dtype::int16:
      return f(int16_t{});
    case Dtype::int8:
      return f(int8_t{});
    case Dtype::uint8:
      return f(uint8_t{});
    default:
      return {};
  }
}

Work cast(const Tensor& to, const Tensor& from) {
  const Nest nest = make_nest({to, from});
  return with_type(to.dtype(), [&]<class To>(To) {
    return with_type(from.dtype(),
                     [&]<class From>(From) { return elementwise<To, From>(nest, [](Wide<From> a) { return a; }); });
  });
}

}  // namespace

Work nested_loops(Call call, const Operands<Tenon>& operands, const Dims& reduced) {
  if (call == Call::cat || call == Call::matmul || call == Call::cumsum || call == Call::exp) return {};
  if (operands.b.defined() && operands.b.dtype() != operands.a.dtype()) return {};
  const bool casts = call == Call::copy && operands.out.dtype() != operands.a.dtype();
  Work work = casts
                  ? cast(operands.out, operands.a)
                  : with_type(operands.a.dtype(), [&]<class T>(T) { return same_dtypes<T>(call, operands, reduced); });
  if (!work) return {};
  // The operands live as long as the work that reads them.
  return [operands, work = std::move(work)](int64_t repeats) { work(repeats); };
}

}  // namespace bench
