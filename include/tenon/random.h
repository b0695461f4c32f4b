// dispatch: random tensors. The numbers of a seed are those that PyTorch gives on the CPU: bit for bit in all but
// normal float64 numbers, which may differ in the last places. https://pytorch.org/docs/stable/random.html
#pragma once
#include <cstdint>
#include <optional>

#include "tenon/factories.h"

namespace tenon {

class WordStream;

/// A stream of random numbers: the Mersenne Twister of Matsumoto and Nishimura ("Mersenne Twister", 1998). It depends
/// only on the seed and on the calls, not on the number of threads. Threads may share one.
class TENON_API Generator {
 public:
  static constexpr int kWords = 624;
  /// Everything that the next numbers depend on.
  struct State {
    uint64_t seed;
    uint32_t words[kWords];
    int32_t used;                       // words that were given; kWords: all
    std::optional<double> next_normal;  // the second of two that were made together
  };
  /// Begins with an unpredictable seed.
  Generator() noexcept;
  explicit Generator(uint64_t seed) noexcept;
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  void manual_seed(uint64_t seed) noexcept;
  State state() const noexcept;
  void set_state(const State& state) noexcept;

  /// The next words of the stream.
  void draw(uint32_t* words, int64_t count) noexcept;
  /// A normal number, mean 0, variance 1.
  double draw_normal() noexcept;

 private:
  friend class WordStream;
  void advance(uint32_t* words, int64_t count) noexcept;
  double uniform() noexcept;

  State state_;
};
/// The generator used by calls that name none.
TENON_API Generator& default_generator() noexcept;
/// An unpredictable seed.
TENON_API uint64_t random_seed() noexcept;

/// While the guard lives, the functions below draw from another generator in this thread.
class TENON_API GeneratorGuard {
 public:
  explicit GeneratorGuard(Generator& generator) noexcept;
  ~GeneratorGuard();
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

 private:
  Generator* previous_;
};

/// Seeds the default generator.
TENON_API void manual_seed(uint64_t seed) noexcept;

/// Uniform in [0, 1). Floating-point and complex dtypes.
TENON_API Tensor rand(SizesView sizes, Options options = {});
TENON_API Tensor rand_like(const Tensor& self, Options options = {}, MemoryFormat format = MemoryFormat::preserve);
/// Normal, mean 0, variance 1. Floating-point and complex dtypes.
TENON_API Tensor randn(SizesView sizes, Options options = {});
TENON_API Tensor randn_like(const Tensor& self, Options options = {}, MemoryFormat format = MemoryFormat::preserve);
/// Uniform integers in [low, high); int64 unless asked otherwise. Error "random_ expects 'from' to be less than 'to'".
TENON_API Tensor randint(int64_t low, int64_t high, SizesView sizes, Options options = {});
TENON_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high, Options options = {},
                              MemoryFormat format = MemoryFormat::preserve);
/// The integers from 0 to n - 1 in random order; int64 unless asked otherwise. Shape [n].
TENON_API Tensor randperm(int64_t n, Options options = {});
/// Normal numbers; a tensor of means and one of standard deviations are broadcast.
/// Error "normal expects all elements of std >= 0.0".
TENON_API Tensor normal(const Arg& mean, const Arg& std);
/// The same, drawn in the dtype of `out`.
TENON_API Tensor& normal_out(Tensor& out, const Arg& mean, const Arg& std);
/// 1 with the probability that `self` holds, else 0.
TENON_API Tensor bernoulli(const Tensor& self);
TENON_API Tensor bernoulli(const Tensor& self, double p);
/// Numbers of the Poisson distributions whose means `self` holds.
TENON_API Tensor poisson(const Tensor& self);
/// Numbers of successes in `count` trials, each of which succeeds with probability `prob`; both are broadcast. Has no
/// derivative.
TENON_API Tensor binomial(const Tensor& count, const Tensor& prob);
/// Places of `num_samples` elements drawn with the weights that the rows of `self` hold: int64, [num_samples] or [rows,
/// num_samples]. Without replacement no place comes twice.
TENON_API Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false);

// These overwrite all elements of `self`, in the order of its memory.

/// Uniform in [from, to). Error "uniform_ expects to return a [from, to) range, but found from=2 > to=1".
TENON_API Tensor& uniform_(Tensor& self, double from = 0, double to = 1);
TENON_API Tensor& normal_(Tensor& self, double mean = 0, double std = 1);
/// Integers in [from, to). Without `to`, up to the largest integer that the dtype holds with all smaller ones.
TENON_API Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to);
TENON_API Tensor& random_(Tensor& self);
/// 1 with probability `p`, else 0.
TENON_API Tensor& bernoulli_(Tensor& self, double p = 0.5);
TENON_API Tensor& bernoulli_(Tensor& self, const Tensor& p);
TENON_API Tensor& exponential_(Tensor& self, double lambd = 1);
/// The number of trials until the first success.
TENON_API Tensor& geometric_(Tensor& self, double p);
TENON_API Tensor& log_normal_(Tensor& self, double mean = 1, double std = 2);
TENON_API Tensor& cauchy_(Tensor& self, double median = 0, double sigma = 1);

}  // namespace tenon
