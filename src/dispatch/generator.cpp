#include "dispatch/generator.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <numbers>
#if __has_include(<sys/random.h>)
#include <sys/random.h>
#define TENON_HAS_GETENTROPY 1
#else
#include <random>
#endif

#include "base/fork.h"
#include "kernel/kernel.h"
#include "tenon/error.h"
#include "tensor/history.h"

namespace tenon {

uint64_t random_seed() noexcept {
  constexpr uint64_t kWithoutEntropy = 67280421310721;  // PyTorch's default seed
#ifdef TENON_HAS_GETENTROPY
  // std::random_device asks the newest C library that it knows, and a wheel would need that one.
  uint64_t seed = 0;
  return getentropy(&seed, sizeof seed) == 0 ? seed : kWithoutEntropy;
#else
  try {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  } catch (...) {
    return kWithoutEntropy;
  }
#endif
}

namespace {

/// Held while words are made, which takes microseconds. Several, so that generators seldom wait for each other.
ForkMutex generator_mutexes[16];
ForkMutex& mutex_of(const Generator* generator) {
  return generator_mutexes[reinterpret_cast<uintptr_t>(generator) / sizeof(Generator) % std::size(generator_mutexes)];
}

Generator::State first_state(uint64_t seed) noexcept {
  Generator::State state{seed, {}, Generator::kWords, {}};
  state.words[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < Generator::kWords; ++i)
    state.words[i] = 1812433253U * (state.words[i - 1] ^ (state.words[i - 1] >> 30)) + i;
  return state;
}

}  // namespace

Generator::Generator() noexcept : Generator(random_seed()) {}
Generator::Generator(uint64_t seed) noexcept : state_(first_state(seed)) {}
void Generator::manual_seed(uint64_t seed) noexcept { set_state(first_state(seed)); }
Generator::State Generator::state() const noexcept {
  const std::lock_guard lock(mutex_of(this));
  return state_;
}
void Generator::set_state(const State& state) noexcept {
  const std::lock_guard lock(mutex_of(this));
  state_ = state;
}

void Generator::advance(uint32_t* words, int64_t count) noexcept {
  const RandomKernels& kernel = kernels().random;
  while (count > 0) {
    if (state_.used == kWords) {
      kernel.twist(state_.words);
      state_.used = 0;
    }
    const int64_t n = std::min<int64_t>(count, kWords - state_.used);
    kernel.temper(words, state_.words + state_.used, n);
    state_.used += static_cast<int32_t>(n);
    words += n;
    count -= n;
  }
}
void Generator::draw(uint32_t* words, int64_t count) noexcept {
  const std::lock_guard lock(mutex_of(this));
  advance(words, count);
}

/// Box and Muller: two uniform numbers give two normal ones.
double Generator::draw_normal() noexcept {
  const std::lock_guard lock(mutex_of(this));
  if (state_.next_normal) {
    const double given = *state_.next_normal;
    state_.next_normal.reset();
    return given;
  }
  uint32_t words[4];
  advance(words, 4);
  const double radius = std::sqrt(-2 * std::log1p(-uniform_of(words + 2)));
  const double angle = 2 * std::numbers::pi * uniform_of(words);
  state_.next_normal = radius * std::sin(angle);
  return radius * std::cos(angle);
}

WordStream::WordStream(Generator& generator) noexcept : generator_(generator) {
  mutex_of(&generator).lock();
  used_ = generator.state_.used;
  kernels().random.temper(words_ + used_, generator.state_.words + used_, Generator::kWords - used_);
}
WordStream::~WordStream() {
  generator_.state_.used = used_;
  mutex_of(&generator_).unlock();
}
void WordStream::twist() noexcept {
  const RandomKernels& kernel = kernels().random;
  kernel.twist(generator_.state_.words);
  kernel.temper(words_, generator_.state_.words, Generator::kWords);
  used_ = 0;
}

Generator& default_generator() noexcept {
  static Generator instance;
  return instance;
}
static const AtLoad generator_at_load(default_generator);

namespace {
thread_local Generator* chosen_generator = nullptr;
}
Generator& generator() {
  if (thread_modes.traced)
    throw Error(
        "tenon.fuse: the function draws random numbers, which would be the same in each call; draw them outside and "
        "pass them in");
  return chosen_generator ? *chosen_generator : default_generator();
}

GeneratorGuard::GeneratorGuard(Generator& generator) noexcept : previous_(chosen_generator) {
  chosen_generator = &generator;
}
GeneratorGuard::~GeneratorGuard() { chosen_generator = previous_; }

void manual_seed(uint64_t seed) noexcept { default_generator().manual_seed(seed); }

}  // namespace tenon
