// Elements by their rank along a dim: median, mode, kthvalue and quantiles. PyTorch: `median_with_indices_impl`,
// `mode_out`, `kthvalue_out_impl_cpu` and `quantile_compute`.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/keys.h"
#include "dispatch/plain.h"
#include "dispatch/sorted_places.h"
#include "kernel/kernel.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "type/visit.h"

namespace tenon {
namespace {

// Elements of a thread's part: work that is smaller stays on the caller.
constexpr int64_t kPartElements = 1 << 13;

// --- The order of one row

/// A row's keys, of which an element is chosen by its rank. Of equal elements, the first has the lowest rank.
class RowOrder {
 public:
  virtual ~RowOrder() = default;
  virtual int64_t length() const = 0;
  virtual int64_t place_of_rank(int64_t rank) = 0;
  /// Of the elements that occur most often, the smallest; of its places the last. Each NaN differs from all others.
  virtual int64_t place_of_mode() = 0;
  virtual int64_t count_nan() const = 0;
  /// -1: none.
  virtual int64_t first_nan() const = 0;
};

// Rows of so many vectors are ranked by comparing all elements. Bench: tenon_bench --filter '^(kthvalue|median|mode)/'.
constexpr int64_t kRankedVectors = 4, kMostRanked = 32;
// Rows of more, up to so many, are parted until the element of a rank is found.
constexpr int64_t kPartedRow = 128;
// Elements from which on a larger table is quicker.
constexpr int64_t kLongRow = 1 << 11;

/// Brings the keys that are less to the front, without branches that a processor would have to guess. Gives how many.
template <class Key, class Less>
int64_t part(Key* keys, int64_t n, const Less& is_less) {
  int64_t less = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Key key = keys[i];
    keys[i] = keys[less];
    keys[less] = key;
    less += is_less(key);
  }
  return less;
}
/// The key of a rank among few; reorders them. Of the keys that equal it, `rank` becomes the number.
template <class Key>
Key select_short(Key* keys, int64_t n, int64_t& rank) {
  while (true) {
    const Key a = keys[0], b = keys[n / 2], c = keys[n - 1];
    const Key pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
    const int64_t less = part(keys, n, [pivot](Key key) { return key < pivot; });
    if (rank < less) {
      n = less;
      continue;
    }
    rank -= less;
    const int64_t equal = part(keys + less, n - less, [pivot](Key key) { return key == pivot; });
    if (rank < equal) return pivot;
    rank -= equal;
    keys += less + equal;
    n -= less + equal;
  }
}

/// Rows of keys of one type, one after the other.
template <class Key>
class KeyOrder final : public RowOrder {
 public:
  /// For `rows` rows of `length` elements.
  KeyOrder(Dtype dtype, int64_t length, int64_t rows)
      : kernels_(kernels().order[static_cast<std::size_t>(dtype)]),
        length_(length),
        is_ranked_(length <= std::min(kRankedVectors * kernels_.lanes, kMostRanked)),
        has_nan_(is_floating_point(dtype)),
        nan_(static_cast<Key>(nan_key(dtype).value_or(0))),
        // exact: no more than the elements' indices
        keys_(std::make_unique_for_overwrite<Key[]>(static_cast<std::size_t>(rows * length + 2 * kKeySlack))),
        room_(std::make_unique_for_overwrite<Key[]>(
            static_cast<std::size_t>(is_ranked_ ? rows * length + kKeySlack : length))) {}

  void read(const void* elements, int64_t rows) {
    row_ = keys_.get() + kKeySlack;
    rank_ = room_.get();
    kernels_.keys(row_, elements, rows * length_, false);  // exact: as many as `keys_` holds
    if (is_ranked_) kernels_.rank(rank_, row_, length_, rows);
  }
  void next_row() {
    row_ += length_;
    if (is_ranked_) rank_ += length_;
  }

  int64_t length() const override { return length_; }
  int64_t place_of_rank(int64_t rank) override {
    if (is_ranked_) return std::find(rank_, rank_ + length_, static_cast<Key>(rank)) - rank_;
    return length_ <= kPartedRow ? place_by_parting(rank) : place_by_tables(rank);
  }
  int64_t count_nan() const override { return has_nan_ ? std::count(row_, row_ + length_, nan_) : 0; }
  int64_t first_nan() const override {
    const Key* const at = has_nan_ ? std::find(row_, row_ + length_, nan_) : row_ + length_;
    return at == row_ + length_ ? -1 : at - row_;
  }
  int64_t place_of_mode() override {
    if (is_ranked_ || length_ > std::numeric_limits<uint32_t>::max()) {
      sort_places();
      return last_of_longest_run(places_);
    }
    if (!sorted_) sorted_.emplace(length_);
    sorted_->sort(row_, range_of_keys(row_, length_));
    return last_of_longest_run(*sorted_);
  }

 private:
  int64_t place_by_parting(int64_t rank) {
    std::copy_n(row_, length_, room_.get());
    const Key key = select_short(room_.get(), length_, rank);
    return place_of_equal(key, rank);
  }
  /// Counts the upper bits of all keys, and orders only the keys whose upper bits are those of the rank.
  int64_t place_by_tables(int64_t rank) {
    const KeyRange<Key> of = range_of_keys(row_, length_);
    const int table_bits = length_ < kLongRow ? 8 : 11;
    const int shift = std::max(static_cast<int>(std::bit_width(of.range)) - table_bits, 0);
    const auto slot = [&](Key key) {
      return static_cast<std::size_t>((static_cast<uint64_t>(key) - static_cast<uint64_t>(of.least)) >> shift);
    };
    table_.assign(std::size_t{1} << table_bits, 0);
    for (int64_t i = 0; i < length_; ++i) ++table_[slot(row_[i])];
    std::size_t wanted = 0;
    for (; rank >= table_[wanted]; ++wanted) rank -= table_[wanted];
    Key* const found = room_.get();
    int64_t count = 0;
    for (int64_t i = 0; count < table_[wanted]; ++i) {
      found[count] = row_[i];  // the next one overwrites it unless it counts
      count += slot(row_[i]) == wanted;
    }
    std::nth_element(found, found + rank, found + count);
    const Key key = found[rank];
    const auto less = std::count_if(found, found + rank, [key](Key other) { return other < key; });
    return place_of_equal(key, rank - less);
  }
  /// Of the elements with this key, the place of number `number`.
  int64_t place_of_equal(Key key, int64_t number) const {
    for (int64_t place = 0;; ++place)
      if (row_[place] == key && number-- == 0) return place;
  }
  /// The places of a ranked row, or of one for which SortedPlaces has too few bits.
  void sort_places() {
    places_.resize(static_cast<std::size_t>(length_));
    if (is_ranked_) {
      for (int64_t i = 0; i < length_; ++i) places_[static_cast<std::size_t>(rank_[i])] = i;
      return;
    }
    std::iota(places_.begin(), places_.end(), 0);
    std::stable_sort(places_.begin(), places_.end(), [this](int64_t a, int64_t b) { return row_[a] < row_[b]; });
  }
  static int64_t place_in(const std::vector<int64_t>& places, int64_t i) { return places[static_cast<std::size_t>(i)]; }
  static int64_t place_in(const SortedPlaces& places, int64_t i) { return places[i]; }
  template <class Places>
  int64_t last_of_longest_run(const Places& places) const {
    int64_t most = 0, run = 0, last = 0;
    for (int64_t i = 0; i < length_; ++i) {
      ++run;
      const Key key = row_[place_in(places, i)];
      if (i + 1 < length_ && key == row_[place_in(places, i + 1)] && !(has_nan_ && key == nan_)) continue;
      if (run > most) {
        most = run;
        last = place_in(places, i);
      }
      run = 0;
    }
    return last;
  }

  const OrderKernels& kernels_;
  int64_t length_;
  bool is_ranked_, has_nan_;
  Key nan_;
  std::unique_ptr<Key[]> keys_, room_;
  Key *row_ = nullptr, *rank_ = nullptr;
  std::vector<int64_t> places_, table_;
  std::optional<SortedPlaces> sorted_;
};

// --- What is chosen

/// Gives the place of the element that is wanted of a row.
using Choice = std::function<int64_t(RowOrder& row)>;

int64_t place_of_median(RowOrder& row) {
  const int64_t nan = row.first_nan();
  return nan >= 0 ? nan : row.place_of_rank((row.length() - 1) / 2);
}
/// Of NaN alone, the one that std::nth_element brings to the front, as in PyTorch: none comes before another.
int64_t place_among_nan(int64_t length) {
  std::vector<int64_t> places(static_cast<std::size_t>(length));
  std::iota(places.begin(), places.end(), 0);
  std::nth_element(places.begin(), places.begin(), places.end(), [](int64_t, int64_t) { return false; });
  return places[0];
}
int64_t place_of_nanmedian(RowOrder& row) {
  const int64_t numbers = row.length() - row.count_nan();
  return numbers == 0 ? place_among_nan(row.length()) : row.place_of_rank((numbers - 1) / 2);
}
int64_t place_of_mode(RowOrder& row) { return row.place_of_mode(); }

struct Found {
  Tensor values, indices;
};

/// The chosen element of each row of `length`.
template <class Key>
void choose_of_rows(const Tensor& rows, int64_t length, const Found& found, const Choice& choice) {
  const int64_t count = rows.numel() / length, width = itemsize(rows.dtype());
  const int64_t together = std::max<int64_t>(kPartElements / length, 1);
  const auto* const from = reinterpret_cast<const std::byte*>(rows.impl()->data());
  auto* const values = reinterpret_cast<std::byte*>(found.values.impl()->data());
  auto* const places = reinterpret_cast<int64_t*>(found.indices.impl()->data());
  note_course({.route = "ranks of rows", .stores = "in place", .scratch_bytes = 2 * length * int64_t{sizeof(Key)}});
  const auto make = [&] { return KeyOrder<Key>(rows.dtype(), length, std::min(together, count)); };
  run_or_plan(values, (count + together - 1) / together, make, [&](KeyOrder<Key>& order, int64_t part) {
    check_interrupt();
    const int64_t first = part * together, last = std::min(count, first + together);
    // exact: inside the storages
    order.read(from + first * length * width, last - first);
    for (int64_t row = first; row < last; ++row, order.next_row()) {
      places[row] = choice(order);
      std::memcpy(values + row * width, from + (row * length + places[row]) * width, static_cast<std::size_t>(width));
    }
  });
}

/// The chosen element of each row, for a tensor with elements along `dim`.
void choose(const Tensor& self, int64_t dim, const Found& found, const Choice& choice) {
  if (has_no_work(found.values.numel(), found.values.data_ptr())) return;
  const Tensor rows = dense_rows_along(self, dim);
  const int64_t length = self.dim() == 0 ? 1 : self.sizes()[dim];
  if (itemsize(self.dtype()) == 8)
    choose_of_rows<int64_t>(rows, length, found, choice);
  else
    choose_of_rows<int32_t>(rows, length, found, choice);
}

void check_dim_exists(const Tensor& self, int64_t along, const char* name) {
  if (self.dim() > 0 && self.sizes()[along] == 0)
    throw IndexError(std::string(name) + ": Expected reduction dim " + std::to_string(along) +
                     " to have non-zero size.");
}

Found new_found(const Tensor& self, int64_t along, bool keepdim) {
  Dims dims;
  if (self.dim() > 0) dims.push_back(along);
  const Dims sizes = reduced_shape(self.sizes(), reduced_mask(dims, self.dim()), keepdim && self.dim() > 0);
  const Dims shape = self.dim() == 0 ? Dims() : sizes;
  return {new_tensor(shape, self.dtype(), self.device()), new_tensor(shape, int64, self.device())};
}

/// A number, even of a dtype without order, is its own.
bool is_number(const Tensor& self) { return self.dim() == 0; }
Found of_number(const Tensor& self) {
  Tensor place = new_tensor({}, int64, self.device());
  write_fill(place, 0);
  return {run_clone(self, MemoryFormat::contiguous), std::move(place)};
}

Found along_dim(Op op, const Tensor& self, int64_t along, bool keepdim, const Choice& choice) {
  if (is_computed(self)) check_has_code(row_of(op), self.dtype());
  const Found found = new_found(self, along, keepdim);
  if (is_computed(self)) choose(self, along, found, choice);
  return found;
}

std::tuple<Tensor, Tensor> as_pair(Found found) { return {std::move(found.values), std::move(found.indices)}; }

std::tuple<Tensor&, Tensor&> write_found(Op op, Tensor& values, Tensor& indices, Found found) {
  Tensor* const outs[] = {&values, &indices};
  write_results(op, outs, as_list(as_pair(std::move(found))));
  return {values, indices};
}

// --- median

Found median_along(Op op, const Tensor& self, int64_t dim, bool keepdim) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_dim_exists(self, along, "median()");
  return along_dim(op, self, along, keepdim, op == Op::median_dim ? place_of_median : place_of_nanmedian);
}

/// What the median of no elements is: NaN, and what x86 makes of it in an integer.
Tensor median_of_nothing(const Tensor& self) {
  const Tensor nothing = new_tensor({}, float64, self.device());
  write_fill(nothing, std::nan(""));
  return run_to(nothing, self.dtype(), MemoryFormat::contiguous);
}

/// Whether 0 is there with both signs.
template <class T>
bool has_both_zeros(const T* elements, int64_t count) {
  bool plus = false, minus = false;
  for (int64_t i = 0; i < count && !(plus && minus); ++i)
    if (elements[i] == 0) (std::signbit(elements[i]) ? minus : plus) = true;
  return plus && minus;
}
/// Which of 0 and -0 PyTorch gives as the median: the one that std::nth_element leaves in the middle.
template <class T>
T zero_in_the_middle(T* elements, int64_t count) {
  const auto is_less = [](T a, T b) { return (std::isnan(b) && !std::isnan(a)) || a < b; };
  // exact: inside the storage
  const int64_t numbers = count - std::count_if(elements, elements + count, [](T a) { return std::isnan(a); });
  T* const middle = elements + (numbers - 1) / 2;
  std::nth_element(elements, middle, elements + count, is_less);
  return *middle;
}
/// Gives a median that is 0 the sign that PyTorch gives it.
void choose_zero(const Tensor& self, Tensor& median) {
  const Dtype wide = self.dtype() == float64 ? float64 : float32;
  const Tensor all = run_to(run_clone(self.detach(), MemoryFormat::preserve), wide, MemoryFormat::preserve);
  visit_dtype(wide, [&]<class T>() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      T* const elements = reinterpret_cast<T*>(all.impl()->data());
      if (has_both_zeros(elements, all.numel())) write_fill(median, zero_in_the_middle(elements, all.numel()));
    }
  });
}

Tensor median_of_all(Op op, const Tensor& self) {
  if (!is_computed(self)) return new_tensor({}, self.dtype(), self.device());
  if (self.numel() == 0) return median_of_nothing(self);
  check_has_code(row_of(op), self.dtype());
  const Tensor row = self.detach().reshape({self.numel()});
  Found found{new_tensor({}, self.dtype(), self.device()), new_tensor({}, int64, self.device())};
  choose(row, 0, found, op == Op::median ? place_of_median : place_of_nanmedian);
  const bool is_float = is_floating_point(self.dtype());
  if (is_float && !self.is_meta() && found.values.item().to<double>() == 0) choose_zero(self, found.values);
  return found.values;
}

void check_median_outs(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim) {
  check_dim_exists(self, wrap_dim(dim, self.dim()), "median()");
  const auto tensor_type = [](const Tensor& tensor) {
    // PyTorch has older names of these dtypes alone.
    constexpr DtypeSet kNamed = kUsualIntegers | set_of(float16) | kWideFloats;
    const std::string name = scalar_type_name(tensor.dtype());
    return (kNamed & set_of(tensor.dtype())) != 0 ? "torch." + name + "Tensor" : "CPU" + name + "Type";
  };
  if (indices.dtype() != int64)
    throw Error("Expected tensor for argument #1 'indices' to have scalar type Long; but got " + tensor_type(indices) +
                " instead (while checking arguments for median)");
  if (values.dtype() != self.dtype())
    throw Error("Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type " +
                tensor_type(values) + " does not equal " + tensor_type(self) +
                " (while checking arguments for median)");
}

std::tuple<Tensor&, Tensor&> write_median(Op op, Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                                          bool keepdim) {
  check_unrecorded(op, values, self);
  check_unrecorded(op, indices, self);
  check_median_outs(values, indices, self, dim);
  return write_found(op, values, indices, median_along(op, self, dim, keepdim));
}

// --- mode, kthvalue

Found mode_along(const Tensor& self, int64_t dim, bool keepdim) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (self.numel() == 0 || !is_computed(self)) {
    check_dim_exists(self, along, "mode()");
    return new_found(self, along, keepdim);
  }
  if (is_number(self)) return of_number(self);
  return along_dim(Op::mode, self, along, keepdim, place_of_mode);
}

void check_rank(const Tensor& self, int64_t k, int64_t along) {
  check_dim_exists(self, along, "kthvalue()");
  if (k < 1 || k > (self.dim() == 0 ? 1 : self.sizes()[along]))
    throw Error("kthvalue(): selected number k out of range for dimension " + std::to_string(along));
}
Found kth_along(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_rank(self, k, along);
  if (is_number(self) && is_computed(self)) return of_number(self);
  return along_dim(Op::kthvalue, self, along, keepdim, [k](RowOrder& row) { return row.place_of_rank(k - 1); });
}

}  // namespace

Tensor plain::median(const Tensor& self) { return median_of_all(Op::median, self); }
Tensor plain::nanmedian(const Tensor& self) { return median_of_all(Op::nanmedian, self); }
std::tuple<Tensor, Tensor> plain::median_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return as_pair(median_along(Op::median_dim, self, dim, keepdim));
}
std::tuple<Tensor, Tensor> plain::nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return as_pair(median_along(Op::nanmedian_dim, self, dim, keepdim));
}
std::tuple<Tensor&, Tensor&> plain::median_dim_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                                                   bool keepdim) {
  return write_median(Op::median_dim, values, indices, self, dim, keepdim);
}
std::tuple<Tensor&, Tensor&> plain::nanmedian_dim_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                                                      bool keepdim) {
  return write_median(Op::nanmedian_dim, values, indices, self, dim, keepdim);
}

std::tuple<Tensor, Tensor> plain::mode(const Tensor& self, int64_t dim, bool keepdim) {
  return as_pair(mode_along(self, dim, keepdim));
}
std::tuple<Tensor&, Tensor&> plain::mode_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                                             bool keepdim) {
  check_unrecorded(Op::mode, values, self);
  check_unrecorded(Op::mode, indices, self);
  const auto check = [](const Tensor& out, Dtype dtype, const char* name) {
    if (out.dtype() != dtype)
      throw Error(std::string("expected scalar type '") + scalar_type_name(dtype) + "' but got '" +
                  scalar_type_name(out.dtype()) + "' for " + name + " output");
  };
  check(values, self.dtype(), "values");
  check(indices, int64, "indices");
  auto found = mode_along(self, dim, keepdim);
  if (self.dim() == 0)  // PyTorch does not warn of it
    for (Tensor* out : {&values, &indices})
      if (out->dim() > 0) out->resize_({});
  return write_found(Op::mode, values, indices, std::move(found));
}

std::tuple<Tensor, Tensor> plain::kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  return as_pair(kth_along(self, k, dim, keepdim));
}
std::tuple<Tensor&, Tensor&> plain::kthvalue_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t k,
                                                 int64_t dim, bool keepdim) {
  check_unrecorded(Op::kthvalue, values, self);
  check_unrecorded(Op::kthvalue, indices, self);
  check_rank(self, k, wrap_dim(dim, self.dim()));
  if (values.dtype() != self.dtype()) throw Error("output values must be of same type as input");
  if (indices.dtype() != int64) throw Error("output indices must be of scalar type Long");
  return write_found(Op::kthvalue, values, indices, kth_along(self, k, dim, keepdim));
}

// --- msort

Tensor plain::msort(const Tensor& self) { return std::get<0>(tenon::sort(self, 0, false)); }
Tensor& plain::msort_out(Tensor& out, const Tensor& self) {
  check_unrecorded(Op::sort, out, self);
  wrap_dim(0, self.dim());
  check_sortable(self);
  check_strict_out(out, self.dtype());
  return write_result(Op::sort, out, std::get<0>(plain::sort(self, 0, false, {})), &self);
}

// --- quantile

namespace {

enum class Between : uint8_t { linear, lower, higher, midpoint, nearest };

Between between(const char* word) {
  constexpr const char* kWords[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  for (int i = 0; i < 5; ++i)
    if (std::strcmp(word, kWords[i]) == 0) return static_cast<Between>(i);
  throw Error(
      std::string("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ") +
      word);
}

void check_quantile(const Tensor& self, const Tensor& q) {
  if (self.numel() == 0) throw Error("quantile() input tensor must be non-empty");
  if (q.dim() > 1) throw Error("quantile() q must be a scalar or 1D tensor");
  if (self.dtype() != float32 && self.dtype() != float64)
    throw Error("quantile() input tensor must be either float or double dtype");
  if (self.dtype() != q.dtype()) throw Error("quantile() q tensor must be same dtype as the input tensor");
  if (q.device() != self.device()) throw Error("quantile() q tensor must be on the same device as the input tensor");
}
void check_shares(const Tensor& q) {
  const Tensor shares = q.detach();
  check_readable(shares);
  if (!tenon::all((shares >= 0) & (shares <= 1)).item().as_bool())
    throw Error("quantile() q values must be in the range [0, 1]");
}
Tensor share_of_number(const Tensor& self, double q) {
  if (!(q >= 0 && q <= 1)) {
    char number[32];
    std::snprintf(number, sizeof number, "%g", q);
    throw Error(std::string("quantile() q must be in the range [0, 1] but got ") + number);
  }
  return full({}, q, Options(self.dtype(), self.device()));
}

/// The elements to choose from, sorted in the last dim; the others are those of the result.
Tensor sorted_along(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const auto sorted = [](const Tensor& rows) { return std::get<0>(tenon::sort(rows, -1, false)); };
  if (!dim) {
    const Tensor row = sorted(self.reshape({self.numel()}));
    Dims sizes(keepdim ? self.dim() : 0, 1);
    sizes.push_back(row.size(0));
    return row.view(sizes);
  }
  if (self.dim() == 0) return sorted(self.reshape({1}));
  const int64_t along = wrap_dim(*dim, self.dim());
  const Tensor rows = keepdim ? self.unsqueeze(-1).transpose(along, -1) : self.movedim(along, -1);
  return sorted(rows);
}

/// The places, as numbers with a fraction, of the shares `q` in sorted rows.
Tensor ranks_of(const Tensor& rows, const Tensor& q, bool ignore_nan) {
  const Tensor is_nan = tenon::isnan(rows.detach());
  if (ignore_nan) {
    const Tensor last = tenon::sum(~is_nan, -1, true) - 1;
    const Tensor ranks = q * last;
    return ranks.masked_fill(ranks.detach() < 0, Scalar(0));
  }
  const auto last = static_cast<double>(rows.size(-1) - 1);
  const Tensor has_nan = tenon::any(is_nan, -1, true), ranks = q * last;
  const Dims shape = infer_size(ranks.sizes(), has_nan.sizes());
  return ranks.expand(shape).masked_fill(has_nan.expand(shape), Scalar(last));
}

Tensor interpolated(const Tensor& rows, const Tensor& exact, Between how) {
  const Tensor ranks = how == Between::lower     ? tenon::floor(exact)
                       : how == Between::higher  ? tenon::ceil(exact)
                       : how == Between::nearest ? tenon::round(exact)
                                                 : exact;
  const Tensor below = ranks.detach().to(int64), value = rows.gather(-1, below);
  if (how != Between::linear && how != Between::midpoint) return value;
  const Tensor weight = how == Between::midpoint ? full_like(ranks.detach(), 0.5) : ranks - below;
  const Tensor above = rows.gather(-1, tenon::ceil(ranks.detach()).to(int64));
  return tenon::lerp(value, above, weight);
}

Tensor quantile_of(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, const char* word,
                   bool ignore_nan) {
  const Between how = between(word);
  check_quantile(self, q);
  wrap_dim(dim.value_or(0), self.dim());
  check_shares(q);
  const Tensor rows = sorted_along(self, dim, keepdim);
  const Tensor values = interpolated(rows, ranks_of(rows, q, ignore_nan), how);
  // In place: the result is not a view.
  if (q.dim() > 0) {
    take_layout(values, values.unsqueeze(0));
    take_layout(values, values.transpose(0, -1));
  }
  take_layout(values, values.squeeze(-1));
  return values;
}

Tensor& write_quantile(Tensor& out, const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                       const char* word, bool ignore_nan) {
  between(word);
  check_quantile(self, q);
  if (out.dtype() != self.dtype()) throw Error("quantile() out tensor must be same dtype as the input tensor");
  const Tensor result = quantile_of(self, q, dim, keepdim, word, ignore_nan);
  ResizedOutput resized(out, result.sizes(), contiguous_strides(result.sizes()));
  out.copy_(result);
  resized.keep();
  return out;
}

}  // namespace

Tensor plain::quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                       const char* interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, false);
}
Tensor plain::quantile_number(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                              const char* interpolation) {
  return quantile_of(self, share_of_number(self, q), dim, keepdim, interpolation, false);
}
Tensor plain::nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                          const char* interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, true);
}
Tensor plain::nanquantile_number(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                                 const char* interpolation) {
  return quantile_of(self, share_of_number(self, q), dim, keepdim, interpolation, true);
}
Tensor& plain::quantile_out(Tensor& out, const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                            const char* interpolation) {
  return write_quantile(out, self, q, dim, keepdim, interpolation, false);
}
Tensor& plain::quantile_number_out(Tensor& out, const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                                   const char* interpolation) {
  return write_quantile(out, self, share_of_number(self, q), dim, keepdim, interpolation, false);
}
Tensor& plain::nanquantile_out(Tensor& out, const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                               bool keepdim, const char* interpolation) {
  return write_quantile(out, self, q, dim, keepdim, interpolation, true);
}
Tensor& plain::nanquantile_number_out(Tensor& out, const Tensor& self, double q, std::optional<int64_t> dim,
                                      bool keepdim, const char* interpolation) {
  return write_quantile(out, self, share_of_number(self, q), dim, keepdim, interpolation, true);
}

}  // namespace tenon
