// Learns to read digits and shows how well. Ends with 1 below 95 % of the held-out digits.
#include "digits.h"

#include <cstdio>

#include "io/load.h"

int main() {
  const digits::Data data = digits::split(tenon::io::load("data/digits.csv.gz"));
  const digits::Result result = digits::train(data, [](int64_t, int64_t) {});
  std::printf("loss %.3f, then %.3f\n%.1f %% of %lld held-out digits are read rightly\n", result.losses.front(),
              result.losses.back(), 100 * result.accuracy, static_cast<long long>(data.test_images.size(0)));
  return result.accuracy >= 0.95 ? 0 : 1;
}
