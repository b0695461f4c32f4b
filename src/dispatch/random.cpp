// Random tensors from Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a block of
// four words depends only on seed and counter, so any part of a tensor can be filled on its own.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <random>
#include <string>

#include "base/fork.h"
#include "dispatch/elementwise.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

struct Block {
  std::array<uint32_t, 4> words;
  uint64_t wide(int64_t i) const {
    const auto at = static_cast<std::size_t>(2 * i);
    return static_cast<uint64_t>(words[at]) << 32 | words[at + 1];
  }
};

/// The blocks of one call.
struct Stream {
  uint64_t seed;
  uint64_t first;

  Block block(int64_t i) const {
    const uint64_t counter = first + static_cast<uint64_t>(i);
    std::array<uint32_t, 4> x{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t product0 = uint64_t{0xD2511F53} * x[0], product1 = uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<uint32_t>(product1 >> 32) ^ x[1] ^ key0, static_cast<uint32_t>(product1),
           static_cast<uint32_t>(product0 >> 32) ^ x[3] ^ key1, static_cast<uint32_t>(product0)};
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    return {x};
  }
};

thread_local Generator* chosen_generator = nullptr;

Generator& generator() { return chosen_generator ? *chosen_generator : default_generator(); }

// Blocks between two checks for an interrupt: less than a millisecond of work.
constexpr int64_t kUninterrupted = 1 << 14;

/// Fills `self` in memory order: `draw(block, i)` makes value `i` of the `per_block` values of a block.
template <class T, class Draw>
void fill_by_blocks(const Tensor& self, int64_t per_block, Draw draw) {
  T* out = self.data<T>();
  const int64_t count = self.numel(), blocks = count / per_block + (count % per_block != 0);
  const Generator::State state = generator().take(blocks);
  const Stream stream{state.seed, state.position};
  for (int64_t index = 0; index < blocks; ++index) {
    if (index % kUninterrupted == 0) check_interrupt();
    const Block block = stream.block(index);
    const int64_t begin = index * per_block, length = std::min(per_block, count - begin);
    for (int64_t i = 0; i < length; ++i) out[begin + i] = draw(block, i);
  }
}

/// The bits of a floating dtype's significand: so many random bits give values of [0, 1) in equal steps.
template <class T>
constexpr int significand_bits() {
  if constexpr (std::is_same_v<T, Float16>)
    return 11;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return 8;
  else
    return std::numeric_limits<T>::digits;
}

constexpr double kTo32 = 0x1p-32, kTo53 = 0x1p-53;

template <class T>
void fill_uniform(const Tensor& self) {
  constexpr int bits = significand_bits<T>();
  if constexpr (std::is_same_v<T, double>)
    fill_by_blocks<T>(self, 2,
                      [](const Block& block, int64_t i) { return static_cast<double>(block.wide(i) >> 11) * kTo53; });
  else
    fill_by_blocks<T>(self, 4, [](const Block& block, int64_t i) {
      const uint32_t word = block.words[static_cast<std::size_t>(i)] >> (32 - bits);
      return element_cast<T>(std::ldexp(static_cast<float>(word), -bits));
    });
}

/// Box-Muller: two uniform numbers, the first above 0, give two normal ones.
double normal(double u, double v, bool second) {
  const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
  return radius * (second ? std::sin(angle) : std::cos(angle));
}

template <class T>
void fill_normal(const Tensor& self) {
  if constexpr (std::is_same_v<T, double>)
    fill_by_blocks<T>(self, 2, [](const Block& block, int64_t i) {
      const double u = static_cast<double>((block.wide(0) >> 11) + 1) * kTo53,
                   v = static_cast<double>(block.wide(1) >> 11) * kTo53;
      return normal(u, v, i == 1);
    });
  else
    fill_by_blocks<T>(self, 4, [](const Block& block, int64_t i) {
      const auto pair = static_cast<std::size_t>(i / 2 * 2);
      const double u = (block.words[pair] + 1.0) * kTo32, v = block.words[pair + 1] * kTo32;
      return element_cast<T>(normal(u, v, i % 2 == 1));
    });
}

/// A complex tensor as a real tensor of its parts.
Tensor parts_of(const Tensor& self) { return is_complex(self.dtype()) ? view_as_real(self) : self; }

void fill_uniform(const Tensor& self, Dtype dtype) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (is_floating_v<T>) fill_uniform<T>(self);
  });
}

void fill_normal(const Tensor& self, Dtype dtype) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (is_floating_v<T>) fill_normal<T>(self);
  });
}

Tensor with_uniform(Tensor self) {
  if (self.is_meta()) return self;
  if (!is_inexact(self.dtype())) fail_no_code("check_uniform_bounds", self.dtype());
  fill_uniform(parts_of(self), to_real(self.dtype()));
  return self;
}

/// A complex number of variance 1 has parts of variance 1/2.
void scale_parts(const Tensor& self) {
  Tensor parts = parts_of(self);
  parts.mul_(std::numbers::sqrt2 / 2);
  parts.impl()->storage->version.store(0, std::memory_order_relaxed);
}

Tensor with_normal(Tensor self) {
  const bool floating = is_inexact(self.dtype());
  if (self.is_meta() && !floating)
    throw Error(std::string("expected a floating-point or complex dtype, but got dtype=torch.") +
                dtype_name(self.dtype()));
  if (self.is_meta() || self.numel() == 0) return self;
  if (!floating) fail_no_code("normal_kernel_cpu", self.dtype());
  fill_normal(parts_of(self), to_real(self.dtype()));
  if (is_complex(self.dtype())) scale_parts(self);
  return self;
}

// --- randint

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
void fill_integers(const Tensor& self, int64_t low, int64_t high) {
  check_bound<T>(low, "from");
  check_bound<T>(high - 1, "to - 1");
  if constexpr (!std::is_integral_v<T>) round_bounds<T>(low, high);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  fill_by_blocks<T>(self, 2, [=](const Block& block, int64_t i) {
    // The upper half of word * range: uniform up to range / 2^64.
    const uint64_t word = block.wide(i), low_half = (word & 0xFFFFFFFF) * (range & 0xFFFFFFFF);
    const uint64_t middle = (word >> 32) * (range & 0xFFFFFFFF) + (low_half >> 32);
    const uint64_t cross = (word & 0xFFFFFFFF) * (range >> 32) + (middle & 0xFFFFFFFF);
    const uint64_t drawn = (word >> 32) * (range >> 32) + (middle >> 32) + (cross >> 32);
    return element_cast<T>(static_cast<int64_t>(static_cast<uint64_t>(low) + drawn));
  });
}

}  // namespace

uint64_t random_seed() noexcept {
  try {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  } catch (...) {
    return 67280421310721;  // no entropy source: PyTorch's default seed
  }
}

namespace {
ForkMutex generator_mutex;  // for all generators; held for a few instructions
}

Generator::Generator() noexcept : next_{random_seed(), 0} {}
Generator::State Generator::state() const noexcept {
  const std::lock_guard lock(generator_mutex);
  return next_;
}
void Generator::set_state(State state) noexcept {
  const std::lock_guard lock(generator_mutex);
  next_ = state;
}
Generator::State Generator::take(int64_t blocks) noexcept {
  const std::lock_guard lock(generator_mutex);
  const State before = next_;
  next_.position += static_cast<uint64_t>(blocks);
  return before;
}

Generator& default_generator() noexcept {
  static Generator instance;
  return instance;
}
static const AtLoad generator_at_load(default_generator);

GeneratorGuard::GeneratorGuard(Generator& generator) noexcept : previous_(chosen_generator) {
  chosen_generator = &generator;
}
GeneratorGuard::~GeneratorGuard() { chosen_generator = previous_; }

void manual_seed(uint64_t seed) noexcept { default_generator().manual_seed(seed); }

Tensor rand(SizesView sizes, Options options) { return with_uniform(empty(sizes, options)); }
Tensor randn(SizesView sizes, Options options) { return with_normal(empty(sizes, options)); }
Tensor rand_like(const Tensor& self, Options options) { return with_uniform(empty_like(self, options)); }
Tensor randn_like(const Tensor& self, Options options) { return with_normal(empty_like(self, options)); }

Tensor randint(int64_t low, int64_t high, SizesView sizes, Options options) {
  const Dtype dtype = options.dtype.value_or(int64);
  Tensor result = new_tensor(sizes, dtype, options.device.value_or(Device::cpu));
  if (low >= high)
    throw Error("random_ expects 'from' to be less than 'to', but got from=" + std::to_string(low) +
                " >= to=" + std::to_string(high));
  if (is_complex(dtype)) throw Error("check_random_bounds handles only integral, floating-point and boolean types");
  if (result.is_meta()) return result;
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!is_complex_v<T>) fill_integers<T>(result, low, high);
  });
  return result;
}

}  // namespace tenon
