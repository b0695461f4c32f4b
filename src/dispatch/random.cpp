// Random tensors, whose numbers are those of PyTorch's generator on the CPU:
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/core/DistributionsHelper.h
#include "tenon/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/generator.h"
#include "dispatch/text.h"
#include "kernel/kernel.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon {

// --- Loops over a tensor without gaps, in the order of its memory

namespace {

constexpr int64_t kPiece = 4096;  // words drawn at once

/// `make(words, begin, n)` makes numbers begin..begin+n-1 from `each` words for each.
template <class Make>
void in_pieces(int64_t count, int64_t each, const Make& make) {
  uint32_t words[kPiece];
  const int64_t piece = kPiece / each;
  for (int64_t begin = 0; begin < count; begin += piece) {
    check_interrupt();
    const int64_t n = std::min(piece, count - begin);
    generator().draw(words, n * each);
    make(words, begin, n);
  }
}

/// Every element from one word.
template <class T, class Draw>
void fill_from_words(const Tensor& self, const Draw& draw) {
  T* out = self.data<T>();
  in_pieces(self.numel(), 1, [&](const uint32_t* words, int64_t begin, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[begin + i] = draw(words[i]);
  });
}
/// Every element from two words: draw(words).
template <class T, class Draw>
void fill_from_pairs(const Tensor& self, const Draw& draw) {
  T* out = self.data<T>();
  in_pieces(self.numel(), 2, [&](const uint32_t* words, int64_t begin, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[begin + i] = draw(words + 2 * i);
  });
}
/// Every element from a uniform number of float64.
template <class T, class Draw>
void fill_from_uniform(const Tensor& self, const Draw& draw) {
  fill_from_pairs<T>(self, [&](const uint32_t* words) { return element_cast<T>(draw(uniform_of(words))); });
}

/// The dims in the order of memory, the one of the smallest stride last.
Dims order_of_memory(const Tensor& self) {
  Dims order(static_cast<std::size_t>(self.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return self.stride(a) > self.stride(b); });
  return order;
}
/// Calls `fill` with a tensor without gaps whose memory is in the order of that of `self`: `self` or what is copied to
/// it.
template <class Fill>
void fill_in_memory_order(const Tensor& self, const Fill& fill) {
  if (self.numel() == 0) return;
  if (is_non_overlapping_and_dense(self.sizes(), self.strides())) return fill(self);
  Tensor ordered = self.detach().permute(order_of_memory(self));
  const Tensor values = empty(ordered.sizes(), self.dtype());
  fill(values);
  ordered.copy_(values);
}

/// A write of all elements, with its history; `write` also makes the checks. `p`: another operand.
template <class Write>
Tensor& recorded_write(DrawnBy by, Tensor& self, const Write& write, const Arg* p = nullptr) {
  if (self.impl()->in_graph || thread_modes.traced || (p && p->tensor().impl()->in_graph))
    with_history().draw_inplace(by, self, p, write);
  else
    write();
  return self;
}
/// `fill` is called with a tensor over the same memory. Counts one write, however many there are.
template <class Fill>
void overwrite(const Tensor& self, const Fill& fill) {
  check_no_internal_overlap(self);
  Storage* storage = self.impl()->storage;
  const auto before = storage ? storage->version.load(std::memory_order_relaxed) : 0;
  if (is_computed(self) && !self.is_meta()) fill(self.detach());
  if (storage) storage->version.store(before, std::memory_order_relaxed);
  bump_version(self);
}

/// A complex tensor as a real tensor of its parts.
Tensor parts_of(const Tensor& self) { return is_complex(self.dtype()) ? view_as_real(self) : self; }

// --- Uniform numbers

/// Whether numbers that are not NaN are equal. Of 16 bits by their bits, so that vectors compare them, or they are
/// zeros.
template <class T>
bool is_equal(T a, T b) {
  if constexpr (is_half_v<T>)
    return a.bits == b.bits || ((a.bits | b.bits) & 0x7FFF) == 0;
  else
    return a == b;
}

template <class T>
void fill_uniform(const Tensor& self, double from, double to) {
  T* out = self.data<T>();
  const RandomKernels& kernel = kernels().random;
  const bool is_unit = from == 0 && to == 1;
  if constexpr (std::is_same_v<T, double>) {
    in_pieces(self.numel(), 2, [&](const uint32_t* words, int64_t begin, int64_t n) {
      kernel.uniform_of_pairs(out + begin, words, n, from, to - from);
      for (int64_t i = begin; !is_unit && i < begin + n; ++i) out[i] = out[i] == to ? from : out[i];
    });
  } else {
    const float low = static_cast<float>(from), high = static_cast<float>(to);
    const T lowest = element_cast<T>(from);
    const T limit = element_cast<T>(to);
    float numbers[kPiece];
    const auto cast = kernels().cast[static_cast<int>(float32)][static_cast<int>(self.dtype())];
    in_pieces(self.numel(), 1, [&](const uint32_t* words, int64_t begin, int64_t n) {
      kernel.uniform(numbers, words, n);
      for (int64_t i = 0; !is_unit && i < n; ++i)  // rounded to float32 first, as PyTorch does
        numbers[i] = static_cast<float>(double{numbers[i]} * double{high - low} + double{low});
      T* const rounded = out + begin;
      const Lanes given{numbers, 1};
      cast(rounded, &given, n);
      for (int64_t i = 0; i < n; ++i)
        if (is_equal(rounded[i], limit)) rounded[i] = lowest;
    });
  }
}
void fill_uniform(const Tensor& self, double from, double to) {
  fill_in_memory_order(parts_of(self), [&](const Tensor& parts) {
    visit_dtype(parts.dtype(), [&]<class T>() {
      if constexpr (is_floating_v<T>) fill_uniform<T>(parts, from, to);
    });
  });
}

// --- Normal numbers

/// Runs of 16 numbers are made normal together; the last run begins 16 numbers before the end, with words of its own.
template <class T>
void fill_normal_runs(const Tensor& self, double mean, double deviation) {
  const RandomKernels& kernel = kernels().random;
  const int64_t count = self.numel(), whole = count / 16 * 16;
  T* out = self.data<T>();
  using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr int64_t each = sizeof(Computed) / sizeof(uint32_t);
  Computed numbers[kPiece / each];
  const auto cast = kernels().cast[static_cast<int>(dtype_of<Computed>::value)][static_cast<int>(self.dtype())];
  const auto make = [&](const uint32_t* words, int64_t begin, int64_t n) {
    if constexpr (std::is_same_v<T, double>) {
      kernel.uniform_of_pairs(numbers, words, n, 0, 1);
      kernel.normal_float64(numbers, n, mean, deviation);
    } else {
      kernel.uniform(numbers, words, n);
      kernel.normal_float32(numbers, n, static_cast<float>(mean), static_cast<float>(deviation));
    }
    const Lanes given{numbers, 1};
    cast(out + begin, &given, n);
  };
  in_pieces(whole, each, make);
  if (whole == count) return;
  // float32 and float64 numbers are drawn for the rest, too.
  if constexpr (std::is_same_v<T, Computed>) in_pieces(count - whole, each, [](const uint32_t*, int64_t, int64_t) {});
  in_pieces(16, each, [&](const uint32_t* words, int64_t, int64_t n) { make(words, count - 16, n); });
}

void fill_normal(const Tensor& self, double mean, double deviation) {
  const Tensor parts = parts_of(self);
  if (is_complex(self.dtype())) deviation /= std::numbers::sqrt2;  // the variance is that of both parts together
  const bool in_runs = parts.numel() >= 16 && parts.is_contiguous();
  fill_in_memory_order(parts, [&](const Tensor& memory) {
    visit_dtype(memory.dtype(), [&]<class T>() {
      if constexpr (is_floating_v<T>) {
        if (in_runs) return fill_normal_runs<T>(memory, mean, deviation);
        Generator& stream = generator();
        T* out = memory.data<T>();
        for (int64_t i = 0; i < memory.numel(); ++i) {
          if (i % kPiece == 0) check_interrupt();
          out[i] = element_cast<T>(std::fma(stream.draw_normal(), deviation, mean));
        }
      }
    });
  });
}

// --- Integers

/// The bits of a floating dtype's significand.
template <class T>
constexpr int significand_bits() {
  if constexpr (std::is_same_v<T, Float16>)
    return 11;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return 8;
  else
    return std::numeric_limits<T>::digits;
}

const char* cpp_name(Dtype dtype) { return dtype == int64 ? "long" : cpp_type_name(dtype); }

/// Warns, as PyTorch does, if a bound is so large that the floating dtype cannot hold every integer up to it.
template <class T>
void warn_beyond_precision(int64_t bound, const char* name) {
  constexpr int64_t exact = int64_t{1} << significand_bits<T>();
  if (bound >= -exact && bound <= exact) return;
  const std::string power = "2^" + std::to_string(significand_bits<T>());
  warn("UserWarning",
       std::string(name) + " is out of bounds [-(" + power + "), " + power + "]. Due to precision limitations " +
           cpp_name(dtype_of_v<T>) +
           " can support discrete uniform distribution only within this range. This warning will become an error "
           "in version 1.7 release, please fix the code in advance");
}

template <class T>
int64_t rounded(int64_t value) {
  return element_cast<int64_t>(element_cast<T>(value));
}

/// The distance between neighbouring numbers of T near `value`.
template <class T>
int64_t spacing(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int unused_bits = static_cast<int>(std::bit_width(magnitude)) - significand_bits<T>();
  return int64_t{1} << std::max(unused_bits, 0);
}

/// Moves `low` up and `high` down, so that values rounded to T stay in range.
template <class T>
void round_bounds(int64_t& low, int64_t& high) {
  warn_beyond_precision<T>(low, "from");
  warn_beyond_precision<T>(high - 1, "to - 1");
  if (const int64_t next = rounded<T>(low + 1); next < low) low = next + spacing<T>(low + 1);
  if (const int64_t last = rounded<T>(high - 1); last >= high) high = last - spacing<T>(high - 1);
  if (low >= high)
    throw Error("random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=" +
                std::to_string(low) + " >= to=" + std::to_string(high));
}

template <class T>
void check_bound(int64_t bound, const char* name) {
  bool outside = false;
  if constexpr (std::is_same_v<T, uint64_t>)
    outside = bound < 0;
  else if constexpr (std::is_integral_v<T>)
    outside = bound < static_cast<int64_t>(std::numeric_limits<T>::lowest()) ||
              bound > static_cast<int64_t>(std::numeric_limits<T>::max());
  else if constexpr (std::is_same_v<T, Float16>)
    outside = bound < -65504 || bound > 65504;
  if (outside) throw Error(std::string(name) + " is out of bounds for " + cpp_name(dtype_of_v<T>));
}

template <class T>
void fill_integers(const Tensor& self, uint64_t range, int64_t low) {
  const auto moved = [=](uint64_t drawn) {
    return element_cast<T>(static_cast<int64_t>(drawn % range + static_cast<uint64_t>(low)));
  };
  fill_in_memory_order(self, [&](const Tensor& memory) {
    if (range >= uint64_t{1} << 28)
      return fill_from_pairs<T>(memory, [=](const uint32_t* words) { return moved(wide(words)); });
    // A division of 32 bits takes half the time.
    const uint32_t narrow = static_cast<uint32_t>(range);
    fill_from_words<T>(memory,
                       [=](uint32_t word) { return element_cast<T>(static_cast<int64_t>(word % narrow) + low); });
  });
}

template <class T>
void draw_integers(const Tensor& self, int64_t low, int64_t high) {
  check_bound<T>(low, "from");
  check_bound<T>(high - 1, "to - 1");
  if constexpr (!std::is_integral_v<T>) round_bounds<T>(low, high);
  fill_integers<T>(self, static_cast<uint64_t>(high) - static_cast<uint64_t>(low), low);
}

/// Whether there are no elements. Error while a function is traced, whose tensors have elements in later calls only.
bool draws_nothing(const Tensor& self) {
  if (thread_modes.traced) generator();
  return self.is_meta();
}

void draw_integers(const Tensor& self, int64_t low, int64_t high) {
  if (low >= high)
    throw Error("random_ expects 'from' to be less than 'to', but got from=" + std::to_string(low) +
                " >= to=" + std::to_string(high));
  if (is_complex(self.dtype()))
    throw Error("check_random_bounds handles only integral, floating-point and boolean types");
  if (draws_nothing(self)) return;
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (!is_complex_v<T>) draw_integers<T>(self, low, high);
  });
}

/// Any of 2^64 integers, of dtypes that hold, or round, them.
template <class T>
void fill_all_integers(const Tensor& self) {
  if constexpr (std::is_same_v<T, int64_t> || std::is_floating_point_v<T> || std::is_same_v<T, BFloat16>)
    fill_in_memory_order(self, [](const Tensor& memory) {
      fill_from_pairs<T>(memory, [](const uint32_t* w) { return element_cast<T>(static_cast<int64_t>(wide(w))); });
    });
  else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Float16>)
    fail_no_code("random_full_64_bits_range_kernel_cpu", self.dtype());
  else
    throw Error("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16");
}

/// Integers from `low` to the last one up to which a dtype holds all.
template <class T>
void draw_integers_from(const Tensor& self, int64_t low) {
  if (low == INT64_MIN) return fill_all_integers<T>(self);
  int64_t last = 0;
  if constexpr (std::is_same_v<T, bool>) {
    last = 1;
  } else if constexpr (std::is_integral_v<T>) {
    last = static_cast<int64_t>(std::min<uint64_t>(std::numeric_limits<T>::max(), INT64_MAX));
  } else {
    last = int64_t{1} << significand_bits<T>();
    if (const int64_t next = rounded<T>(low + 1); next < low) low = next + spacing<T>(low + 1);
    if (low >= last)
      throw Error(
          "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got "
          "from=" +
          std::to_string(low) + " > to_inc=" + std::to_string(last));
    warn_beyond_precision<T>(low, "from");
  }
  check_bound<T>(low, "from");
  fill_integers<T>(self, static_cast<uint64_t>(last) - static_cast<uint64_t>(low) + 1, low);
}

template <class T>
void fill_any_integers(const Tensor& self) {
  constexpr bool is_wide = std::is_same_v<T, double> || std::is_same_v<T, int64_t>;
  uint64_t range = 2;  // of bool
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> || std::is_floating_point_v<T>)
    range = (uint64_t{1} << significand_bits<T>()) + 1;
  else if constexpr (!std::is_same_v<T, bool>)
    range = static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1;
  if constexpr (is_wide)
    fill_from_pairs<T>(self, [=](const uint32_t* w) { return element_cast<T>(static_cast<int64_t>(wide(w) % range)); });
  else
    fill_from_words<T>(self, [=](uint32_t word) { return element_cast<T>(static_cast<int64_t>(word % range)); });
}

// --- Bernoulli

void check_probability(double p) {
  if (!(p >= 0 && p <= 1))
    throw Error(
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, "
        "please report an enhancement request to PyTorch.)");
}

/// `p` has the sizes of `self`; both are contiguous.
template <class T, class P>
void fill_bernoulli(const Tensor& self, const Tensor& p) {
  T* out = self.data<T>();
  const P* probability = p.data<P>();
  for (int64_t i = 0; i < p.numel(); ++i) check_probability(element_cast<double>(probability[i]));
  constexpr int64_t each = std::is_same_v<P, double> ? 2 : 1;
  in_pieces(self.numel(), each, [&](const uint32_t* words, int64_t begin, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      bool is_one = false;
      if constexpr (each == 2)
        is_one = uniform_of(words + 2 * i) < probability[begin + i];
      else
        is_one = static_cast<float>(words[i] & 0xffffff) * 0x1p-24F < element_cast<float>(probability[begin + i]);
      out[begin + i] = element_cast<T>(is_one);
    }
  });
}

/// Elements are drawn in the order of the memory of `self`.
void fill_bernoulli(const Tensor& self, const Tensor& p) {
  const Dims order = order_of_memory(self);
  Tensor ordered = self.detach().permute(order);
  const Tensor given = p.detach().expand(self.sizes()).permute(order).contiguous();
  const bool in_place = ordered.is_contiguous();
  const Tensor values = in_place ? ordered : empty(ordered.sizes(), self.dtype());
  visit_dtype(self.dtype(), [&]<class T>() {
    visit_dtype(given.dtype(), [&]<class P>() {
      if constexpr (!is_complex_v<T> && is_floating_v<P>) fill_bernoulli<T, P>(values, given);
    });
  });
  if (!in_place) ordered.copy_(values);
}

constexpr DtypeSet kDrawn = kUsual;
void check_drawn(const char* kernel, const Tensor& self, DtypeSet dtypes) {
  if ((dtypes & set_of(self.dtype())) == 0) fail_no_code(kernel, self.dtype());
}
/// In place a tensor without elements may have any dtype.
void check_written(const char* kernel, const Tensor& self, DtypeSet dtypes) {
  if (self.numel() > 0) check_drawn(kernel, self, dtypes);
}

// --- Distributions of one uniform number

/// Writes in the order of the memory: `fill` is called with a tensor without gaps.
template <class Fill>
void overwrite_in_memory_order(const Tensor& self, const Fill& fill) {
  overwrite(self, [&](const Tensor& written) { fill_in_memory_order(written, fill); });
}
/// `draw(u)` gives an element from a number in [0, 1).
template <class Draw>
void overwrite_from_uniform(const Tensor& self, const Draw& draw) {
  overwrite_in_memory_order(self, [&](const Tensor& memory) {
    visit_dtype(memory.dtype(), [&]<class T>() {
      if constexpr (!is_complex_v<T>) fill_from_uniform<T>(memory, draw);
    });
  });
}

/// Hormann, "The transformed rejection method for generating Poisson random variables", 1993.
double poisson_of(double mean, WordStream& stream) {
  if (mean == 0) return 0;
  if (mean < 10) {
    const double limit = std::exp(-mean);
    double product = 1;
    for (int64_t count = 0;; ++count) {
      product *= stream.uniform();
      if (!(product > limit)) return static_cast<double>(count);
    }
  }
  const double root = std::sqrt(mean), log_mean = std::log(mean), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), edge = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = stream.uniform() - 0.5, v = stream.uniform(), distance = 0.5 - std::abs(u);
    const double count = std::floor((2 * a / distance + b) * u + mean + 0.43);
    if (distance >= 0.07 && v <= edge) return count;
    if (count < 0 || (distance < 0.013 && v > distance)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (distance * distance) + b) <=
        -mean + count * log_mean - std::lgamma(count + 1))
      return count;
  }
}

// Counts that are drawn at once: in microseconds.
constexpr int64_t kCounts = 128;

template <class T>
void draw_counts(T* out, const T* means, int64_t n) {
  WordStream stream(generator());
  for (int64_t i = 0; i < n; ++i) {
    const double mean = element_cast<double>(means[i]);
    if (!(mean >= 0)) throw Error("invalid Poisson rate, expected rate to be non-negative");
    out[i] = element_cast<T>(poisson_of(mean, stream));
  }
}

/// log(k!) less Stirling's approximation.
double stirling_tail(double k) {
  constexpr double kTails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                               0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                               0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kTails[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1. / 12 - (1. / 360 - 1. / 1260 / square) / square) / (k + 1);
}

// Each step is computed in the precision in which PyTorch computes it: T, or double where a number of double occurs.

/// How many geometric numbers fit into `count`: for few expected successes.
template <class T>
T binomial_by_sums(T count, T prob, WordStream& stream) {
  const double log_prob = std::log1p(-prob);
  double sum = 0;
  T successes = 0;
  while (true) {
    sum += std::ceil(std::log(stream.uniform()) / log_prob);
    if (sum > count) return successes;
    successes += 1;
  }
}

/// Hormann, "The generation of binomial random variates", 1993: for at least 10 expected successes.
template <class T>
T binomial_by_rejection(T count, T prob, WordStream& stream) {
  const double deviation = std::sqrt(count * prob * (1 - prob)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * prob, c = count * prob + 0.5, edge = 0.92 - 4.2 / b;
  const double ratio = prob / (1 - prob), alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * prob);
  while (true) {
    const double u = stream.uniform() - 0.5, v = stream.uniform(), distance = 0.5 - std::abs(u);
    const T k = static_cast<T>(std::floor((2 * a / distance + b) * u + c));
    if (distance >= 0.07 && v <= edge) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (ratio * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(ratio * (count - k + 1) / (k + 1)) + stirling_tail(mode) +
                         stirling_tail(count - mode) - stirling_tail(k) - stirling_tail(count - k);
    if (std::log(v * alpha / (a / (distance * distance) + b)) <= bound) return k;
  }
}

template <class T>
T binomial_of(T count, T prob, WordStream& stream) {
  if (count <= 0 || prob <= 0) return 0;
  if (prob >= 1) return count;
  if (std::isnan(prob) || !std::isfinite(count)) return std::numeric_limits<T>::quiet_NaN();
  const bool is_likely = prob > T(0.5);
  const T rare = is_likely ? static_cast<T>(1.0 - prob) : prob;
  const T drawn =
      count * rare >= 10 ? binomial_by_rejection(count, rare, stream) : binomial_by_sums(count, rare, stream);
  return is_likely ? count - drawn : drawn;
}

template <class T>
void draw_binomial(const Tensor& counts, const Tensor& probs, const Tensor& result) {
  const T* const count = counts.data<T>();
  const T* const prob = probs.data<T>();
  T* const out = result.data<T>();
  for (int64_t begin = 0; begin < result.numel(); begin += kCounts) {
    check_interrupt();
    WordStream stream(generator());
    // exact: inside the storages
    for (int64_t i = begin; i < std::min(begin + kCounts, result.numel()); ++i)
      out[i] = binomial_of(count[i], prob[i], stream);
  }
}

void check_binomial(const char* name, const Tensor& given) {
  if (!is_floating_point(given.dtype()))
    throw ValueError(std::string("binomial only supports floating-point dtypes for ") + name +
                     ", got: " + scalar_type_name(given.dtype()));
}

Tensor with_uniform(Tensor self) {
  if (draws_nothing(self)) return self;
  if (!is_inexact(self.dtype())) fail_no_code("check_uniform_bounds", self.dtype());
  fill_uniform(self, 0, 1);
  return self;
}
Tensor with_normal(Tensor self) {
  const bool floating = is_inexact(self.dtype());
  if (self.is_meta() && !floating)
    throw Error(std::string("expected a floating-point or complex dtype, but got dtype=torch.") +
                dtype_name(self.dtype()));
  if (draws_nothing(self) || self.numel() == 0) return self;
  if (!floating) fail_no_code("normal_kernel_cpu", self.dtype());
  fill_normal(self, 0, 1);
  return self;
}

}  // namespace

Tensor rand(SizesView sizes, Options options) { return with_uniform(empty(sizes, options)); }
Tensor randn(SizesView sizes, Options options) { return with_normal(empty(sizes, options)); }
Tensor rand_like(const Tensor& self, Options options, MemoryFormat format) {
  return with_uniform(empty_like(self, options, format));
}
Tensor randn_like(const Tensor& self, Options options, MemoryFormat format) {
  return with_normal(empty_like(self, options, format));
}
Tensor randint(int64_t low, int64_t high, SizesView sizes, Options options) {
  const Tensor result = new_tensor(sizes, options.dtype.value_or(int64), options.device.value_or(Device::cpu));
  draw_integers(result, low, high);
  return result;
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, Options options, MemoryFormat format) {
  const Tensor result = empty_like(self, options, format);
  draw_integers(result, low, high);
  return result;
}

namespace {

/// Fisher and Yates: place i is exchanged with one behind it.
template <class T>
void shuffle(const Tensor& self) {
  T* out = self.data<T>();
  const int64_t n = self.numel();
  for (int64_t i = 0; i < n; ++i) out[i] = element_cast<T>(i);
  const bool is_long = n >= std::numeric_limits<uint32_t>::max() / 20;  // the remainders of a word would be uneven
  in_pieces(n - 1, is_long ? 2 : 1, [&](const uint32_t* words, int64_t begin, int64_t count) {
    for (int64_t i = begin; i < begin + count; ++i) {
      const uint64_t rest = static_cast<uint64_t>(n - i);
      const uint64_t drawn =
          is_long ? wide(words + 2 * (i - begin)) % rest : words[i - begin] % static_cast<uint32_t>(rest);
      std::swap(out[i], out[i + static_cast<int64_t>(drawn)]);
    }
  });
}

template <class T>
void check_holds_places(int64_t n) {
  if constexpr (std::is_integral_v<T>) {
    if (n > 0) static_cast<void>(Scalar(n - 1).to<T>());
  } else if constexpr (!std::is_same_v<T, BFloat16>) {
    constexpr int bits = significand_bits<T>();
    if (n - 1 > int64_t{1} << bits)
      throw Error("n cannot be greater than " +
                  std::string(bits == 11   ? "2049"
                              : bits == 24 ? "2^24+1"
                                           : "2^53+1") +
                  " for " + scalar_type_name(dtype_of_v<T>) + " type.");
  }
}

}  // namespace

Tensor randperm(int64_t n, Options options) {
  const Tensor result = new_tensor(SizesView({n}), options.dtype.value_or(int64), options.device.value_or(Device::cpu));
  if (result.is_meta()) return result;
  check_drawn("randperm", result, kDrawn & ~set_of(bool_));
  visit_dtype(result.dtype(), [&]<class T>() {
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) {
      check_holds_places<T>(n);
      shuffle<T>(result);
    }
  });
  return result;
}

// --- Writes

namespace {
void check_uniform(Dtype dtype, double from, double to) {
  if (!is_inexact(dtype)) fail_no_code("check_uniform_bounds", dtype);
  const Dtype part = to_real(dtype);
  const double largest = largest_finite(part);
  const auto check_in_range = [&](double bound, const char* name) {
    if (!(bound >= -largest && bound <= largest))
      throw Error(std::string(name) + " is out of bounds for " + cpp_type_name(part));
  };
  check_in_range(from, "from");
  check_in_range(to, "to");
  if (!(from <= to))
    throw Error("uniform_ expects to return a [from, to) range, but found from=" + text_of(from) +
                " > to=" + text_of(to));
  if (!(to - from <= largest))
    throw Error(std::string("uniform_ expects to-from <= std::numeric_limits<") + scalar_type_name(part) +
                ">::max(), but found to=" + text_of(to) + " and from=" + text_of(from) +
                " which result in to-from to exceed the limit");
}
}  // namespace

Tensor& uniform_(Tensor& self, double from, double to) {
  return recorded_write({"uniform_", "UniformBackward0"}, self, [&] {
    check_uniform(self.dtype(), from, to);
    overwrite(self, [&](const Tensor& written) { fill_uniform(written, from, to); });
  });
}

Tensor& normal_(Tensor& self, double mean, double std) {
  return recorded_write({"normal_", "NormalBackward0"}, self, [&] {
    if (!(std >= 0)) throw Error("normal expects std >= 0.0, but found std " + text_of(std));
    if (self.numel() > 0 && !is_inexact(self.dtype())) fail_no_code("normal_kernel_cpu", self.dtype());
    overwrite(self, [&](const Tensor& written) { fill_normal(written, mean, std); });
  });
}

Tensor& random_(Tensor& self) {
  return recorded_write({"random_", "RandomBackward2"}, self, [&] {
    check_written("random_kernel_cpu", self, kDrawn);
    overwrite_in_memory_order(self, [](const Tensor& memory) {
      visit_dtype(memory.dtype(), [&]<class T>() {
        if constexpr (!is_complex_v<T>) fill_any_integers<T>(memory);
      });
    });
  });
}

Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to) {
  // The node of random_(to) has another name.
  return recorded_write({"random_", "RandomBackward0"}, self, [&] {
    overwrite(self, [&](const Tensor& written) {
      if (to) return draw_integers(written, from, *to);
      if (written.numel() == 0) return;
      if (is_complex(written.dtype()))
        throw Error("random_from_to_impl handles only integral, floating-point and boolean types");
      visit_dtype(written.dtype(), [&]<class T>() {
        if constexpr (!is_complex_v<T>) draw_integers_from<T>(written, from);
      });
    });
  });
}

Tensor& bernoulli_(Tensor& self, double p) {
  return recorded_write({"bernoulli_", "BernoulliBackward2"}, self, [&] {
    if (!(p >= 0 && p <= 1)) throw Error("bernoulli_ expects p to be in [0, 1], but got p=" + text_of(p));
    check_written("bernoulli_scalar_cpu_", self, kDrawn);
    overwrite_from_uniform(self, [=](double u) { return u < p ? 1. : 0.; });
  });
}

Tensor& bernoulli_(Tensor& self, const Tensor& p) {
  const auto write = [&] {
    check_written("bernoulli_tensor_cpu_self_", self, kDrawn);
    if (self.numel() == 0) return bump_version(self);
    if (!is_floating_point(p.dtype())) fail_no_code("bernoulli_tensor_cpu_p_", p.dtype());
    const Tensor probabilities = p.detach().expand(self.sizes()).clone();  // may share memory with `self`
    overwrite(self, [&](const Tensor& written) { fill_bernoulli(written, probabilities); });
  };
  const Arg other(p);
  return recorded_write({"bernoulli_", "BernoulliBackward1"}, self, write, &other);
}

Tensor& exponential_(Tensor& self, double lambd) {
  return recorded_write({"exponential_", "ExponentialBackward0"}, self, [&] {
    if (self.numel() > 0 && !is_floating_point(self.dtype()))
      throw Error(
          "Exponential distribution is a continuous probability distribution. dtype must be a floating point but "
          "you specified " +
          std::string(scalar_type_name(self.dtype())));
    if (!(lambd > 0)) throw Error("exponential_ expects lambda > 0.0, but found lambda=" + text_of(lambd));
    overwrite_from_uniform(self, [=](double u) { return -1 / lambd * std::log1p(-u); });
  });
}

Tensor& geometric_(Tensor& self, double p) {
  return recorded_write({"geometric_", "GeometricBackward0"}, self, [&] {
    if (!(p > 0 && p < 1)) throw Error("geometric_ expects p to be in (0, 1), but got p=" + text_of(p));
    check_written("geometric_cpu", self, kDrawn & ~set_of(bool_));
    overwrite_from_uniform(self, [=](double u) { return std::ceil(std::log(u) / std::log1p(-p)); });
  });
}

Tensor& log_normal_(Tensor& self, double mean, double std) {
  return recorded_write({"log_normal_", "LogNormalBackward0"}, self, [&] {
    if (!(std > 0)) throw Error("log_normal_ expects std > 0.0, but found std=" + text_of(std));
    check_written("log_normal_cpu", self, kFloats);
    overwrite_in_memory_order(self, [&](const Tensor& memory) {
      Generator& stream = generator();
      visit_dtype(memory.dtype(), [&]<class T>() {
        if constexpr (is_floating_v<T>) {
          T* out = memory.data<T>();
          for (int64_t i = 0; i < memory.numel(); ++i) {
            if (i % kPiece == 0) check_interrupt();
            out[i] = element_cast<T>(std::exp(std::fma(stream.draw_normal(), std, mean)));
          }
        }
      });
    });
  });
}

Tensor& cauchy_(Tensor& self, double median, double sigma) {
  return recorded_write({"cauchy_", "CauchyBackward0"}, self, [&] {
    if (!is_floating_point(self.dtype()))
      throw Error(
          "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
          "specified " +
          std::string(cpp_type_name(self.dtype())));
    if (!(sigma > 0)) throw Error("cauchy_ expects sigma > 0.0, but found sigma=" + text_of(sigma));
    overwrite_from_uniform(self, [=](double u) { return median + sigma * std::tan(std::numbers::pi * (u - 0.5)); });
  });
}

// --- Draws with parameters that are tensors

namespace {

/// Errors of weights; gives them as rows.
Tensor checked_weights(const Tensor& self, int64_t num_samples, bool replacement) {
  if (!is_floating_point(self.dtype()))
    throw Error(std::string("multinomial only supports floating-point dtypes for input, got: ") +
                scalar_type_name(self.dtype()));
  if (num_samples <= 0) throw Error("cannot sample n_sample <= 0 samples");
  if (self.dim() == 0 || self.dim() > 2) throw Error("prob_dist must be 1 or 2 dim");
  const int64_t categories = self.size(-1);
  if (!replacement && num_samples > categories)
    throw Error("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  if (categories > int64_t{1} << 24) throw Error("number of categories cannot exceed 2^24");
  return self.dim() == 1 ? self.detach().unsqueeze(0) : self.detach();
}

/// Draws without replacement: the elements whose weights are the largest multiples of exponential numbers.
/// Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006.
Tensor races(const Tensor& rows, int64_t num_samples) {
  if (!rows.lt(INFINITY).logical_and(rows.ge(0)).all().item().as_bool())
    throw Error("probability tensor contains either `inf`, `nan` or element < 0");
  if (rows.sum(1).eq(0).any().item().as_bool())
    throw Error("invalid multinomial distribution (sum of probabilities <= 0)");
  Tensor times = empty_like(rows, {}, MemoryFormat::contiguous);
  exponential_(times);
  times.clamp_min_(std::numeric_limits<float>::denorm_min());  // 0 / 0 would win
  const Tensor speeds = rows.div(times);
  return num_samples == 1 ? argmax(speeds, 1, true) : std::get<1>(topk(speeds, num_samples));
}

/// The Error of the first weight that is none.
template <class T>
[[noreturn]] void fail_of_weights(const T* weights, int64_t categories) {
  const auto is_wrong = [](T weight) {
    return !(element_cast<double>(weight) >= 0) || std::isinf(element_cast<double>(weight));
  };
  const auto first = element_cast<double>(*std::find_if(weights, weights + categories, is_wrong));
  // A NaN has the text of a number below 0, as in PyTorch.
  throw Error(!(first >= 0) ? "invalid multinomial distribution (encountering probability entry < 0)"
                            : "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
}

/// Draws with replacement: each finds its place in the running sums.
template <class T>
void draw_places(const T* weights, int64_t categories, int64_t* places, int64_t count) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<Sum> sums(static_cast<std::size_t>(categories));
  Sum sum = 0;
  bool is_valid = true;
  for (int64_t i = 0; i < categories; ++i) {
    const Sum weight = element_cast<Sum>(weights[i]);
    is_valid &= weight >= 0 && weight <= std::numeric_limits<Sum>::max();
    sums[static_cast<std::size_t>(i)] = sum += weight;
  }
  if (!is_valid) fail_of_weights(weights, categories);
  if (!(sum > 0)) throw Error("invalid multinomial distribution (sum of probabilities <= 0)");
  // Of many sums, few are compared: only those are divided.
  const auto is_less = [sum](Sum part, double drawn) { return part / sum < drawn; };
  in_pieces(count, 2, [&](const uint32_t* words, int64_t begin, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      places[begin + i] = std::lower_bound(sums.begin(), sums.end(), uniform_of(words + 2 * i), is_less) - sums.begin();
  });
}

}  // namespace

namespace {
/// Memory for `sizes`, of the dtype and the device of `of`, and if that is the output and has these sizes, of its
/// strides: on them depends which element gets which number.
Tensor memory_like(const Tensor& of, SizesView sizes, bool is_out) {
  const Options options(of.dtype(), of.device());
  return is_out && of.sizes() == sizes ? empty_strided(sizes, of.strides(), options) : empty(sizes, options);
}
/// `of` has the dtype and the device of the result.
Tensor normal_like(const Tensor& of, const Arg& mean, const Arg& std, bool is_out) {
  if (!std.is_tensor()) {
    // PyTorch expands `mean` to the sizes of `out=`, too.
    Tensor result = memory_like(of, infer_size(mean.tensor().sizes(), of.sizes()), is_out);
    return normal_(result, 0, std.number().as_double()).add_(mean.tensor().detach());
  }
  const Tensor deviation = std.tensor().detach();
  if (is_complex(deviation.dtype())) throw Error("normal expects standard deviation to be non-complex");
  if (deviation.numel() > 0 && !deviation.is_meta() && !min(deviation).ge(0).item().as_bool())
    throw Error("normal expects all elements of std >= 0.0");
  const SizesView first = mean.is_tensor() ? mean.tensor().sizes() : deviation.sizes();
  Tensor result = memory_like(of, infer_size(first, deviation.sizes()), is_out);
  normal_(result).mul_(deviation);
  return result.add_(mean.is_tensor() ? mean.tensor().detach()
                                      : full({}, mean.number(), Options(result.dtype(), result.device())));
}
}  // namespace

Tensor normal(const Arg& mean, const Arg& std) {
  const Tensor result = normal_like(mean.is_tensor() ? mean.tensor() : std.tensor(), mean, std, false);
  forget_writes(result);
  const Arg* const args[] = {&mean, &std};
  const char* node = !std.is_tensor() ? "NormalBackward1" : mean.is_tensor() ? "NormalBackward3" : "NormalBackward2";
  with_history().draw({"normal", node}, result, args, 2);
  return result;
}
Tensor& normal_out(Tensor& out, const Arg& mean, const Arg& std) {
  const Arg* const args[] = {&mean, &std};
  check_out_unrecorded("normal", out, args, 2);
  const Tensor result = normal_like(out, mean, std, true);
  ResizedOutput resized(out, result.sizes(), result.strides());
  out.copy_(result);
  resized.keep();
  return out;
}

Tensor bernoulli(const Tensor& self) {
  Tensor result = empty_like(self, {}, MemoryFormat::contiguous);
  bernoulli_(result, self.detach());
  forget_writes(result);
  const Arg arg(self);
  const Arg* const args[] = {&arg};
  with_history().draw({"bernoulli", "BernoulliBackward0"}, result, args, 1);
  return result;
}
Tensor bernoulli(const Tensor& self, double p) {
  Tensor result = empty_like(self, {}, MemoryFormat::contiguous);
  return bernoulli_(result, p);
}

Tensor poisson(const Tensor& self) {
  check_drawn("poisson_cpu", self, kFloats);
  const Tensor result = empty_like(self, {}, MemoryFormat::contiguous), means = self.detach().contiguous();
  if (self.is_meta()) return result;
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (is_floating_v<T>)
      for (int64_t begin = 0; begin < means.numel(); begin += kCounts) {
        check_interrupt();
        // exact: inside the storages
        draw_counts(result.data<T>() + begin, means.data<T>() + begin, std::min(kCounts, means.numel() - begin));
      }
  });
  const Arg arg(self);
  const Arg* const args[] = {&arg};
  with_history().draw({"poisson", "PoissonBackward0"}, result, args, 1);
  return result;
}

Tensor binomial(const Tensor& count, const Tensor& prob) {
  check_binomial("count", count);
  check_binomial("prob", prob);
  const Dims sizes = infer_size(count.sizes(), prob.sizes());
  if (count.dtype() != prob.dtype())
    throw Error(std::string("Found dtype ") + scalar_type_name(prob.dtype()) + " but expected " +
                scalar_type_name(count.dtype()));
  check_drawn("binomial_cpu", count, kWideFloats);
  const Tensor result = empty(sizes, Options(count.dtype(), count.device()));
  if (count.is_meta() && prob.is_meta()) return result;
  const auto laid_out = [&](const Tensor& given) { return given.detach().expand(sizes).contiguous(); };
  check_readable(count);
  check_readable(prob);
  if (count.dtype() == float32)
    draw_binomial<float>(laid_out(count), laid_out(prob), result);
  else
    draw_binomial<double>(laid_out(count), laid_out(prob), result);
  return result;
}

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement) {
  const Tensor rows = checked_weights(self, num_samples, replacement);
  if (self.is_meta())
    return self.dim() == 1 ? empty({num_samples}, {int64, Device::meta})
                           : empty({self.size(0), num_samples}, {int64, Device::meta});
  Tensor places;
  if (!replacement || num_samples == 1) {
    places = races(rows, num_samples);
  } else {
    places = empty({rows.size(0), num_samples}, int64);
    const Tensor weights = rows.contiguous();
    visit_dtype(rows.dtype(), [&]<class T>() {
      if constexpr (is_floating_v<T>)
        // exact: inside the storages
        for (int64_t row = 0; row < rows.size(0); ++row)
          draw_places(weights.data<T>() + row * rows.size(1), rows.size(1), places.data<int64_t>() + row * num_samples,
                      num_samples);
    });
  }
  return self.dim() == 1 ? places.squeeze(0) : places;
}

}  // namespace tenon
