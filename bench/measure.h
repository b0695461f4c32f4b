// bench: takes a case; gives times. Never prints.
#pragma once
#include <optional>

#include "cases.h"

namespace bench {

struct Result {
  const Case* measured;
  double tenon_ns = 0;  // the least of all rounds
  std::optional<double> torch_ns;
  std::optional<double> ratio;   // PyTorch's time / Tenon's: the median of the rounds
  std::optional<double> share;   // the limit's time / Tenon's: likewise
  std::optional<double> nested;  // the nested loops' time / Tenon's: likewise

  /// Whether a target was missed.
  bool missed() const;
};

/// A header's number of threads; of 0 that of all cores.
int thread_count(int threads);
/// Sets it in both libraries.
void set_num_threads(int threads);

/// The least time of a call in three turns, by the clock for so many threads.
double least_ns(const Work& work, int threads);

/// Alternates the libraries round by round, so that what else the machine does falls on both.
Result measure(const Case& c, int rounds);

}  // namespace bench
