#include "chain_by_hand.h"

#include "hwy/cache_control.h"
#include "hwy/highway.h"

namespace bench {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
const hn::ScalableTag<float> d;

template <bool kStreamed>
void chain(float* out, const float* a, const float* row, const float* column, int64_t rows, int64_t columns) {
  const auto two = hn::Set(d, 2.0f), one = hn::Set(d, 1.0f), least = hn::Set(d, 0.0f), most = hn::Set(d, 5.0f);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t y = 0; y < rows; ++y) {
    const auto deviation = hn::Set(d, column[y]);
    for (int64_t x = 0; x < columns; x += lanes, a += lanes, out += lanes) {
      const auto scaled = hn::Div(hn::Sub(hn::LoadU(d, a), hn::LoadU(d, row + x)), deviation);
      const auto result = hn::Min(hn::Max(hn::Add(hn::Mul(scaled, two), one), least), most);
      if constexpr (kStreamed)
        hn::Stream(result, d, out);
      else
        hn::StoreU(result, d, out);
    }
  }
  if constexpr (kStreamed) hwy::FlushStream();
}

}  // namespace

void chain_by_hand(float* out, const float* a, const float* row, const float* column, int64_t rows, int64_t columns,
                   bool streamed) {
  (streamed ? chain<true> : chain<false>)(out, a, row, column, rows, columns);
}

}  // namespace bench
