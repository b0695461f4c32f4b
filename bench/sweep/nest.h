// bench: nested loops over operands with strides, for the compiler to make the best of: the elements' types, the op and
// the strides of the innermost dim are known to it.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "../cases.h"

namespace bench {

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

/// A float of 16 bits that the processor converts.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  operator float() const;
};
#if defined(__F16C__)
inline Float16::Float16(float value) : bits(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)) {}
inline Float16::operator float() const { return _cvtsh_ss(bits); }
#endif

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Bfloat16> || std::is_same_v<T, Float16>;
/// What arithmetic on elements is done in.
template <class T>
using Wide = std::conditional_t<kIsHalf<T>, float, T>;

template <class To, class From>
To converted(From value) {
  if constexpr (kIsHalf<To>)
    return To(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

inline constexpr std::size_t kMostOperands = 4;

/// Sizes of the loops, and for each operand, the result first, the distance in elements from one step to the next.
struct Nest {
  std::vector<int64_t> sizes;
  std::array<std::vector<int64_t>, kMostOperands> strides;
  std::array<std::byte*, kMostOperands> data{};
  std::size_t operands = 0;

  std::size_t ndim() const { return sizes.size(); }
};

/// Adds a loop inside the others, or makes the innermost longer.
inline void add_loop(Nest& nest, int64_t size, const std::array<int64_t, kMostOperands>& strides) {
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
inline Nest make_nest(const std::vector<Tensor>& tensors) {
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

inline Plane innermost(const Nest& nest) {
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
template <class>
inline constexpr Step kAny = Step::any;
template <Step kStep>
int64_t place(int64_t i, int64_t stride) {
  return kStep == Step::none ? 0 : kStep == Step::one ? i : i * stride;
}
inline Step step_of(int64_t stride) { return stride == 0 ? Step::none : stride == 1 ? Step::one : Step::any; }

// Compilers convert no vectors of float16: the loops do it, so many at a time.
constexpr int64_t kTogether = 8;
template <class T>
using Few = std::array<Wide<T>, kTogether>;
template <Step kStep, class T>
Few<T> load_few(const T* from, int64_t i, int64_t stride) {
  Few<T> few;
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Float16> && kStep == Step::one) {
    _mm256_storeu_ps(few.data(), _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    return few;
  }
#endif
  for (int64_t k = 0; k < kTogether; ++k)
    few[static_cast<std::size_t>(k)] = static_cast<Wide<T>>(from[place<kStep>(i + k, stride)]);
  return few;
}
template <class T, class From>
void store_few(T* to, const std::array<From, kTogether>& few) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Float16>) {
    alignas(32) std::array<float, kTogether> floats;
    for (std::size_t k = 0; k < kTogether; ++k) floats[k] = static_cast<float>(few[k]);
    const __m128i halves = _mm256_cvtps_ph(_mm256_load_ps(floats.data()), _MM_FROUND_TO_NEAREST_INT);
    return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), halves);
  }
#endif
  for (std::size_t k = 0; k < kTogether; ++k) to[k] = converted<T>(few[k]);
}

/// A row whose results are contiguous, by few. Returns how many elements are done.
template <Step... kSteps, std::size_t... kOperands, class To, class F, class... From>
int64_t run_few(const Plane& p, std::index_sequence<kOperands...>, To* __restrict out, const F& f,
                const From* __restrict... in) {
  int64_t i = 0;
  for (; i + kTogether <= p.columns; i += kTogether) {
    const auto each = [&](const Few<From>&... few) {
      std::array<decltype(f(few[0]...)), kTogether> results;
      for (std::size_t k = 0; k < kTogether; ++k) results[k] = f(few[k]...);
      store_few(out + i, results);
    };
    each(load_few<kSteps>(in, i, p.column_strides[kOperands + 1])...);
  }
  return i;
}

template <Step kTo, Step... kSteps, std::size_t... kOperands, class To, class F, class... From>
void run_rows(const Plane& p, std::index_sequence<kOperands...> operands, To* to, const F& f, const From*... from) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const auto run_row = [&](To* __restrict out, const From* __restrict... in) {
      int64_t i = 0;
      if constexpr (kTo == Step::one && (std::is_same_v<To, Float16> || ... || std::is_same_v<From, Float16>))
        i = run_few<kSteps...>(p, operands, out, f, in...);
      for (; i < p.columns; ++i)
        out[place<kTo>(i, p.column_strides[0])] =
            converted<To>(f(in[place<kSteps>(i, p.column_strides[kOperands + 1])]...));
    };
    run_row(to + row * p.row_strides[0], (from + row * p.row_strides[kOperands + 1])...);
  }
}

/// Chooses the loop by the strides of the innermost dim, one operand after the other. Where results lie apart the
/// operands' strides are any.
template <Step... kSteps, class To, class F, class... From>
void run_steps(const Plane& p, To* to, const F& f, const From*... from) {
  if constexpr (sizeof...(kSteps) == sizeof...(From)) {
    run_rows<Step::one, kSteps...>(p, std::index_sequence_for<From...>(), to, f, from...);
  } else if (p.column_strides[0] != 1) {
    constexpr std::index_sequence_for<From...> operands;
    run_rows<Step::any, kAny<From>...>(p, operands, to, f, from...);
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
#if defined(__F16C__)
    case Dtype::float16:
      return f(Float16{});
#endif
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

}  // namespace bench
