// kernel: rows less their mean, over their deviation, and the gradients of that. A row is read once for its mean and
// deviation, in chunks that stay in the first cache, and once for the result.
#include <algorithm>
#include <cmath>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/normalize.cpp"
#include "hwy/foreach_target.h"
#include "kernel/row_vectors-inl.h"
#include "kernel/some_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

// Elements whose sum is one chain of additions for each lane; the sums of chunks are added in float64.
constexpr int64_t kChunk = 2048;

/// A factor or a summand for each element of a row, or one for all.
template <class T>
struct Numbers {
  const T* data = copies;
  int64_t mask = 0;  // of places: with 0 all are the first
  HWY_ALIGN T copies[hn::MaxLanes(RowTag<T>())];

  HWY_INLINE void set(T number) {
    data = copies;
    mask = 0;
    hn::Store(hn::Set(RowTag<T>(), number), RowTag<T>(), copies);
  }
  void set_each(const T* numbers) {
    data = numbers;
    mask = -1;
  }
  explicit Numbers(T number) { set(number); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
};

/// Reads a vector of any array of a row's elements: the one at element `i`, or the row's last one.
template <class T>
struct ReadAt {
  RowTag<T> d;
  int64_t i;
  HWY_INLINE hn::Vec<RowTag<T>> operator()(const T* p) const { return hn::LoadU(d, p + i); }
  HWY_INLINE hn::Vec<RowTag<T>> operator()(const Numbers<T>& p) const { return hn::LoadU(d, p.data + (i & p.mask)); }
};
template <class T>
struct ReadLast {
  const RowVectors<T>& row;
  HWY_INLINE hn::Vec<RowTag<T>> operator()(const T* p) const {
    return row.is_part() ? load_some(row.d, p, row.length) : row.last_whole(p);
  }
  HWY_INLINE hn::Vec<RowTag<T>> operator()(const Numbers<T>& p) const {
    return p.mask == 0 ? hn::LoadU(row.d, p.data) : (*this)(p.data);
  }
};

/// The sum of the vectors of a row, each as step(read).
template <class T, class Step>
HWY_INLINE T sum_of(const RowVectors<T>& row, const Step& step) {
  const auto d = row.d;
  auto first = hn::Zero(d), second = first, third = first, fourth = first;
  const int64_t lanes = row.lanes;
  int64_t i = 0;
  for (; i + 4 * lanes <= row.length; i += 4 * lanes) {
    first = hn::Add(first, step(ReadAt<T>{d, i}));
    second = hn::Add(second, step(ReadAt<T>{d, i + lanes}));
    third = hn::Add(third, step(ReadAt<T>{d, i + 2 * lanes}));
    fourth = hn::Add(fourth, step(ReadAt<T>{d, i + 3 * lanes}));
  }
  for (; i < row.whole; i += lanes) first = hn::Add(first, step(ReadAt<T>{d, i}));
  if (row.rest > 0) second = hn::Add(second, hn::IfThenElseZero(row.own_lanes(), step(ReadLast<T>{row})));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(first, second), hn::Add(third, fourth))));
}

/// to[i] = step(read) for each vector of a row.
template <class T, class Step>
HWY_INLINE void each_place(const RowVectors<T>& row, T* to, const Step& step) {
  const auto d = row.d;
  const auto last = row.rest > 0 ? step(ReadLast<T>{row}) : hn::Zero(d);
  for (int64_t i = 0; i < row.whole; i += row.lanes) hn::StoreU(step(ReadAt<T>{d, i}), d, to + i);
  if (row.rest == 0) return;
  if (row.is_part())
    store_some(d, last, to, row.length);
  else
    hn::StoreU(last, d, to + row.length - row.lanes);
}

template <class T>
struct Moments {
  T mean, factor;  // factor: 1 / deviation
};

/// The mean of a chunk, and the sum of the squares around it.
template <class T>
struct ChunkMoments {
  T mean = 0, squares;

  HWY_INLINE ChunkMoments(const RowVectors<T>& row, const T* from, bool keeps_mean) {
    if (!keeps_mean) {
      // Distances from an element lose nothing of numbers that are close together, and do not overflow.
      const auto first = hn::Set(row.d, *from);
      const T apart = sum_of(row, [from, first](const auto& read) HWY_ATTR { return hn::Sub(read(from), first); });
      mean = *from + apart / static_cast<T>(row.length);
    }
    const auto center = hn::Set(row.d, mean);
    squares = sum_of(row, [from, center](const auto& read) HWY_ATTR {
      const auto apart = hn::Sub(read(from), center);
      return hn::Mul(apart, apart);
    });
  }
};

/// Of the chunks of a row, each around its own mean. `share`: 1 / length, as divisions are most of a short row's time.
template <class T>
HWY_NOINLINE Moments<T> moments_of(const T* in, const NormalizedRows& given, double share) {
  double mean = 0, squares = 0;
  for (int64_t start = 0; start < given.length; start += kChunk) {
    const RowVectors<T> row{{}, std::min(kChunk, given.length - start)};
    const ChunkMoments<T> chunk(row, in + start, given.keeps_mean);
    squares += static_cast<double>(chunk.squares);
    if (start == 0) {
      mean = static_cast<double>(chunk.mean);
      continue;
    }
    const double apart = static_cast<double>(chunk.mean) - mean, taken = static_cast<double>(start);
    const double part = static_cast<double>(row.length) / static_cast<double>(start + row.length);
    mean += apart * part;
    squares += apart * apart * taken * part;
  }
  return {static_cast<T>(mean), T{1} / std::sqrt(static_cast<T>(squares * share + given.eps))};
}
HWY_INLINE double share_of(const NormalizedRows& given) { return 1 / static_cast<double>(given.length); }

/// The weights of a row; null where there are none.
template <class T>
HWY_INLINE const T* weights_of_row(const void* weights, int64_t row, const NormalizedRows& given) {
  return weights ? static_cast<const T*>(weights) + row % given.groups * (given.length / given.segment) : nullptr;
}

/// Calls step(row, place) for the chunks of a row.
template <class T, class Step>
HWY_INLINE void each_chunk(const NormalizedRows& given, const Step& step) {
  const int64_t whole = given.segment == 1 ? given.length : given.segment;
  for (int64_t start = 0; start < given.length; start += whole)
    for (int64_t i = 0; i < whole; i += kChunk) step(RowVectors<T>{{}, std::min(kChunk, whole - i)}, start + i);
}
/// What a chunk has of `all`; as they are, if there are none.
template <class T>
HWY_INLINE void set_numbers(Numbers<T>& numbers, const T* all, int64_t place, const NormalizedRows& given) {
  if (!all) return;
  if (given.segment == 1)
    numbers.set_each(all + place);
  else
    numbers.set(all[place / given.segment]);
}

// Rows of at most so many elements are taken several at once, in steps: the end of a sum has a long latency, which the
// next rows' steps fill.
constexpr int64_t kShortRow = 256, kRowsAtOnce = 8;

/// Calls step(first, count, moments) for a few rows at a time.
template <class T, class Step>
HWY_INLINE void each_few_rows(const T* from, int64_t count, const NormalizedRows& given, const Step& step) {
  const double share = share_of(given);
  const int64_t most = given.length <= kShortRow ? kRowsAtOnce : 1;
  Moments<T> moments[kRowsAtOnce];
  for (int64_t start = 0; start < count; start += most) {
    const int64_t rows = std::min(most, count - start);
    for (int64_t i = 0; i < rows; ++i) moments[i] = moments_of(from + (start + i) * given.length, given, share);
    step(start, rows, moments);
  }
}

template <class T>
HWY_NOINLINE void write_row(T* to, const T* from, const Moments<T>& moments, const T* weights, const T* biases,
                            const NormalizedRows& given) {
  Numbers<T> weight(1), bias(given.keeps_mean ? T{-0.0} : T{0});  // PyTorch adds 0 where a mean is taken away
  each_chunk<T>(given, [&](const RowVectors<T>& row, int64_t place) HWY_ATTR {
    const auto mean = hn::Set(row.d, moments.mean), factor = hn::Set(row.d, moments.factor);
    set_numbers(weight, weights, place, given);
    set_numbers(bias, biases, place, given);
    const T* const at = from + place;
    each_place(row, to + place, [&](const auto& read) HWY_ATTR {
      return hn::MulAdd(hn::Mul(hn::Sub(read(at), mean), factor), read(weight), read(bias));
    });
  });
}

// Rows of fewer elements, at least a vector of them, are transposed: vectors hold elements of different rows.
constexpr int64_t kTurnedRow = 48, kTurnedRows = 64;

/// Normalizes columns of elements that lie `stride` apart, in whole vectors.
template <class T>
HWY_INLINE void normalize_columns(T* tile, int64_t stride, const NormalizedRows& given) {
  const RowTag<T> d;
  const auto share = hn::Set(d, static_cast<T>(share_of(given))), eps = hn::Set(d, static_cast<T>(given.eps));
  const T *const weights = static_cast<const T*>(given.weight), *const biases = static_cast<const T*>(given.bias);
  const T no_bias = given.keeps_mean ? T{-0.0} : T{0};
  for (int64_t i = 0; i < stride; i += static_cast<int64_t>(hn::Lanes(d))) {
    T* const column = tile + i;
    const auto at = [=](int64_t row) HWY_ATTR { return hn::LoadU(d, column + row * stride); };
    auto mean = hn::Zero(d), squares = mean;
    if (!given.keeps_mean) {
      const auto start = at(0);  // distances from an element: see ChunkMoments
      for (int64_t row = 1; row < given.length; ++row) mean = hn::Add(mean, hn::Sub(at(row), start));
      mean = hn::MulAdd(mean, share, start);
    }
    for (int64_t row = 0; row < given.length; ++row) {
      const auto apart = hn::Sub(at(row), mean);
      squares = hn::MulAdd(apart, apart, squares);
    }
    const auto factor = hn::Div(hn::Set(d, T{1}), hn::Sqrt(hn::MulAdd(squares, share, eps)));
    for (int64_t row = 0; row < given.length; ++row) {
      const auto scaled = hn::Mul(hn::Sub(at(row), mean), factor);
      const auto weight = hn::Set(d, weights ? weights[row] : T{1}), bias = hn::Set(d, biases ? biases[row] : no_bias);
      hn::StoreU(hn::MulAdd(scaled, weight, bias), d, column + row * stride);
    }
  }
}
template <class T>
HWY_NOINLINE void normalize_short_rows(T* to, const T* from, int64_t count, const NormalizedRows& given) {
  const auto transpose = kernels().move[sizeof(T) == 4 ? 2 : 3].transpose;
  const auto lanes = static_cast<int64_t>(hn::Lanes(RowTag<T>()));
  HWY_ALIGN T tile[kTurnedRow * kTurnedRows];
  for (int64_t start = 0; start < count; start += kTurnedRows) {
    const int64_t rows = std::min(kTurnedRows, count - start), stride = (rows + lanes - 1) / lanes * lanes;
    transpose(tile, stride, from + start * given.length, given.length, given.length, rows);
    for (int64_t row = 0; row < given.length; ++row)
      std::fill(tile + row * stride + rows, tile + (row + 1) * stride, T{});
    normalize_columns(tile, stride, given);
    transpose(to + start * given.length, given.length, tile, stride, rows, given.length);
  }
}

/// Applies the weights of several groups to rows that are normalized.
template <class T>
HWY_NOINLINE void scale_rows(T* to, int64_t first, int64_t count, const NormalizedRows& given) {
  const auto *const weights = static_cast<const T*>(given.weight), *const biases = static_cast<const T*>(given.bias);
  const int64_t turn = given.groups * given.length;
  Numbers<T> weight(1), bias(T{-0.0});
  int64_t place = first % given.groups * given.length;
  for (int64_t left = count * given.length, n = 0; left > 0; left -= n, to += n, place = 0) {
    n = std::min(left, turn - place);
    set_numbers(weight, weights, place, given);
    set_numbers(bias, biases, place, given);
    each_place(RowVectors<T>{{}, n}, to,
               [&](const auto& read) HWY_ATTR { return hn::MulAdd(read(to), read(weight), read(bias)); });
  }
}

template <class T>
void normalize_rows(void* out, const void* in, int64_t first, int64_t count, const NormalizedRows& given) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  if (given.length < kTurnedRow && count >= static_cast<int64_t>(hn::Lanes(RowTag<T>())) && given.segment == 1) {
    if (given.groups == 1) return normalize_short_rows(to, from, count, given);
    NormalizedRows alone = given;
    alone.weight = alone.bias = nullptr;
    normalize_short_rows(to, from, count, alone);
    return scale_rows(to, first, count, given);
  }
  each_few_rows<T>(from, count, given, [&](int64_t start, int64_t rows, const Moments<T>* moments) HWY_ATTR {
    for (int64_t i = start; i < start + rows; ++i)
      write_row(to + i * given.length, from + i * given.length, moments[i - start],
                weights_of_row<T>(given.weight, first + i, given), weights_of_row<T>(given.bias, first + i, given),
                given);
  });
}

/// The sum of the gradients, and of these times the elements less their mean.
struct GradientSums {
  double plain = 0, products = 0;
};
template <class T>
HWY_NOINLINE GradientSums sums_of(const RowVectors<T>& row, const T* from, const T* grad, T middle,
                                  const Numbers<T>& weight) {
  const auto d = row.d;
  const auto mean = hn::Set(d, middle);
  auto plain = hn::Zero(d), other = plain, products = plain, others = plain;
  int64_t i = 0;
  const auto add = [&](auto& sum, auto& product, const auto& read) HWY_ATTR {
    const auto slope = hn::Mul(read(grad), read(weight));
    sum = hn::Add(sum, slope);
    product = hn::MulAdd(hn::Sub(read(from), mean), slope, product);
  };
  for (; i + 2 * row.lanes <= row.length; i += 2 * row.lanes) {
    add(plain, products, ReadAt<T>{d, i});
    add(other, others, ReadAt<T>{d, i + row.lanes});
  }
  if (i < row.whole) add(plain, products, ReadAt<T>{d, i});
  if (row.rest > 0) {
    const ReadLast<T> read{row};
    const auto slope = hn::IfThenElseZero(row.own_lanes(), hn::Mul(read(grad), read(weight)));
    other = hn::Add(other, slope);
    others = hn::MulAdd(hn::IfThenElseZero(row.own_lanes(), hn::Sub(read(from), mean)), slope, others);
  }
  return {static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(plain, other)))),
          static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(products, others))))};
}

/// Adds to the sums of a row's weights: the gradients, and these times the normalized elements.
template <class T>
HWY_NOINLINE void add_to_sums(const RowVectors<T>& row, T* plain, T* products, const T* grad, const T* from,
                              const Moments<T>& moments) {
  const auto d = row.d;
  const auto mean = hn::Set(d, moments.mean), factor = hn::Set(d, moments.factor);
  const auto plain_of = [&](const auto& read) HWY_ATTR { return hn::Add(read(plain), read(grad)); };
  const auto product_of = [&](const auto& read) HWY_ATTR {
    return hn::MulAdd(hn::Mul(hn::Sub(read(from), mean), factor), read(grad), read(products));
  };
  auto last = hn::Zero(d), last_product = last;
  if (row.rest > 0) {
    const ReadLast<T> read{row};
    last = plain_of(read);
    last_product = product_of(read);
  }
  for (int64_t i = 0; i < row.whole; i += row.lanes) {
    const ReadAt<T> read{d, i};
    const auto sum = plain_of(read), product = product_of(read);  // before any store: both may lie 4096 bytes apart
    hn::StoreU(sum, d, plain + i);
    hn::StoreU(product, d, products + i);
  }
  if (row.rest == 0) return;
  if (row.is_part()) {
    store_some(d, last, plain, row.length);
    store_some(d, last_product, products, row.length);
    return;
  }
  hn::StoreU(last, d, plain + row.length - row.lanes);
  hn::StoreU(last_product, d, products + row.length - row.lanes);
}

/// A row whose elements have weights of their own.
template <class T>
GradientSums sums_of_elements(const T* from, const T* grad, const T* weights, const Moments<T>& moments,
                              const NormalizedRows& given, T* plain, T* products) {
  GradientSums sums;
  Numbers<T> weight(1);
  each_chunk<T>(given, [&](const RowVectors<T>& row, int64_t place) HWY_ATTR {
    set_numbers(weight, weights, place, given);
    const GradientSums part = sums_of(row, from + place, grad + place, moments.mean, weight);
    sums.plain += part.plain;
    sums.products += part.products;
    if (plain) add_to_sums(row, plain + place, products + place, grad + place, from + place, moments);
  });
  return sums;
}

/// A row of segments: their sums are those of their weights, and give those of the row.
template <class T>
GradientSums sums_of_segments(const T* from, const T* grad, const T* weights, const Moments<T>& moments,
                              const NormalizedRows& given, T* plain, T* products) {
  GradientSums sums;
  const Numbers<T> one(1);
  for (int64_t segment = 0; segment < given.length / given.segment; ++segment) {
    GradientSums own;
    for (int64_t i = 0; i < given.segment; i += kChunk) {
      const int64_t place = segment * given.segment + i;
      const GradientSums part = sums_of(RowVectors<T>{{}, std::min(kChunk, given.segment - i)}, from + place,
                                        grad + place, moments.mean, one);
      own.plain += part.plain;
      own.products += part.products;
    }
    const double weight = weights ? static_cast<double>(weights[segment]) : 1;
    sums.plain += weight * own.plain;
    sums.products += weight * own.products;
    if (!plain) continue;
    plain[segment] = static_cast<T>(own.plain);
    products[segment] = static_cast<T>(own.products * static_cast<double>(moments.factor));
  }
  return sums;
}

template <class T>
void write_gradient(T* to, const T* grad, const T* from, const T* weights, const Moments<T>& moments,
                    const GradientSums& sums, const NormalizedRows& given, double share) {
  const auto factor_of = static_cast<double>(moments.factor);
  const T plain = given.keeps_mean ? T{0} : static_cast<T>(sums.plain * share),
          product = static_cast<T>(sums.products * factor_of * factor_of * share);
  Numbers<T> weight(1);
  each_chunk<T>(given, [&](const RowVectors<T>& row, int64_t place) HWY_ATTR {
    set_numbers(weight, weights, place, given);
    const auto mean = hn::Set(row.d, moments.mean), factor = hn::Set(row.d, moments.factor);
    const auto start = hn::Set(row.d, plain), by = hn::Set(row.d, product);
    const T *at = from + place, *slope_at = grad + place;
    each_place(row, to + place, [&](const auto& read) HWY_ATTR {
      const auto own = hn::MulSub(read(slope_at), read(weight), start);
      return hn::Mul(factor, hn::NegMulAdd(hn::Sub(read(at), mean), by, own));
    });
  });
}

template <class T>
void normalize_gradient(void* out, const void* grads, const void* in, int64_t first, int64_t count,
                        const NormalizedRows& given, const WeightSums& weight_sums) {
  const T *grad = static_cast<const T*>(grads), *from = static_cast<const T*>(in);
  T *to = static_cast<T*>(out), *plain = static_cast<T*>(weight_sums.plain),
    *products = static_cast<T*>(weight_sums.products);
  const int64_t own = given.length / given.segment;
  const double share = share_of(given);
  const auto sums_of_row = given.segment == 1 ? &sums_of_elements<T> : &sums_of_segments<T>;
  each_few_rows<T>(from, count, given, [&](int64_t start, int64_t rows, const Moments<T>* moments) HWY_ATTR {
    GradientSums sums[kRowsAtOnce];
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t place = (start + i) * given.length, row = first + start + i;
      const int64_t sum = (given.segment == 1 ? row % given.groups : start + i) * own;
      sums[i] = sums_of_row(from + place, grad + place, weights_of_row<T>(given.weight, row, given), moments[i], given,
                            plain ? plain + sum : nullptr, plain ? products + sum : nullptr);
    }
    for (int64_t i = 0; to && i < rows; ++i) {
      const int64_t place = (start + i) * given.length, row = first + start + i;
      write_gradient(to + place, grad + place, from + place, weights_of_row<T>(given.weight, row, given), moments[i],
                     sums[i], given, share);
    }
  });
}

void fill_normalize(KernelTable& table) {
  table.normalize[static_cast<int>(float32)] = {&normalize_rows<float>, &normalize_gradient<float>};
  table.normalize[static_cast<int>(float64)].rows = &normalize_rows<double>;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
