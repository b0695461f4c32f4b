// dispatch: a tensor's elements for loops and algorithms of C++, and tensors over memory of the program. tenon.h does
// not include this header.
//
//   std::span<float> all = as_span<float>(x);             // of a contiguous tensor
//   at<float>(x, 1, -1) = 3;                              // checked, like x[1][-1]
//   const auto m = strided_span<const float, 2>(x.t());   // m(i, j), of any layout
//   for (float& value : elements<float>(x.t())) ...       // row by row, of any layout
//   std::ranges::sort(elements<float>(x));
//   Tensor y = from_span(std::span(numbers), {2, 3});     // over `numbers`, without a copy
//
// `T` is the dtype's type; std::complex is one, too. Elements of a `const T` are read only. Without const a tensor
// whose elements share memory, as after expand, is refused with the Error of in-place ops. Like data_ptr, these
// functions know nothing of autograd: writes raise no version. A tensor's memory stays where it is until resize_.
#pragma once
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/factories.h"

namespace tenon {
namespace access {

enum class Purpose : uint8_t { read, write };
template <class T>
inline constexpr Purpose purpose_of = std::is_const_v<T> ? Purpose::read : Purpose::write;
template <class T>
inline constexpr Dtype dtype_for = dtype_of_v<std::remove_const_t<T>>;

/// Checks dtype, device and overlap; gives the first element. Errors name `function`.
TENON_API std::byte* first_element(const char* function, const Tensor& tensor, Dtype dtype, Purpose purpose);
TENON_API void check_contiguous(const char* function, const Tensor& tensor);
TENON_API void check_dim(const char* function, const Tensor& tensor, int64_t dim);
/// Throws Error unless the elements of a row lie side by side.
TENON_API void check_row_stride(const char* function, int64_t stride);
TENON_API std::byte* element_at(const Tensor& tensor, Dtype dtype, Purpose purpose, SizesView indices);
/// Throws ValueError unless `sizes` have `count` elements.
TENON_API void check_count(const char* function, SizesView sizes, std::size_t count);

/// The places of elements in row-major order: one dim for each run of equal steps, never none.
struct Walk {
  Dims sizes, strides;
};
TENON_API Walk row_major_walk(const Tensor& tensor);

}  // namespace access

/// All elements of a contiguous tensor, in row-major order. Error "as_span: sizes [3, 2] with strides [1, 3] are not
/// contiguous; contiguous() gives a tensor that is", TypeError "expected scalar type Float but found Double". The span
/// keeps no tensor alive, so none is given of a temporary one.
template <class T>
std::span<T> as_span(const Tensor& tensor) {
  std::byte* const first = access::first_element("as_span", tensor, access::dtype_for<T>, access::purpose_of<T>);
  access::check_contiguous("as_span", tensor);
  return {reinterpret_cast<T*>(first), static_cast<std::size_t>(tensor.numel())};
}
template <class T>
std::span<T> as_span(const Tensor&&) = delete;

/// One element. A negative index counts from the end. IndexError "index 3 is out of bounds for dimension 0 with size
/// 3", "too many indices for tensor of dimension 1".
template <class T, std::convertible_to<int64_t>... I>
T& at(const Tensor& tensor, I... indices) {
  const int64_t list[sizeof...(I) + 1] = {static_cast<int64_t>(indices)..., 0};
  return *reinterpret_cast<T*>(access::element_at(tensor, access::dtype_for<T>, access::purpose_of<T>,
                                                  {list, static_cast<int64_t>(sizeof...(I))}));
}

/// The elements of a tensor of `kRank` dims, of any layout, with the words of std::mdspan. Keeps no tensor alive.
template <class T, std::size_t kRank>
class StridedSpan {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using index_type = int64_t;
  using reference = T&;
  using data_handle_type = T*;
  using Array = std::array<int64_t, kRank>;

  constexpr StridedSpan(T* data, const Array& extents, const Array& strides) noexcept
      : data_(data), extents_(extents), strides_(strides) {}
  /// Of elements that may be written, a view that only reads.
  template <class U>
  requires(!std::is_same_v<U, T> &&
           std::is_same_v<const U, T>) constexpr StridedSpan(const StridedSpan<U, kRank>& other) noexcept
      : StridedSpan(other.data_handle(), other.extents(), other.strides()) {}

  static constexpr std::size_t rank() noexcept { return kRank; }
  constexpr int64_t extent(std::size_t dim) const noexcept { return extents_[dim]; }
  /// In elements; 0 along an expanded dim.
  constexpr int64_t stride(std::size_t dim) const noexcept { return strides_[dim]; }
  constexpr const Array& extents() const noexcept { return extents_; }
  constexpr const Array& strides() const noexcept { return strides_; }
  constexpr int64_t size() const noexcept { return numel_of({extents_.data(), static_cast<int64_t>(kRank)}); }
  constexpr bool empty() const noexcept { return size() == 0; }
  constexpr T* data_handle() const noexcept { return data_; }

  /// Checks nothing: each index must be at least 0 and below its extent.
  template <std::convertible_to<int64_t>... I>
  requires(sizeof...(I) == kRank) constexpr T& operator()(I... indices) const noexcept {
    return (*this)[Array{static_cast<int64_t>(indices)...}];
  }
  constexpr T& operator[](const Array& indices) const noexcept {
    int64_t place = 0;
    // exact: inside the tensor
    for (std::size_t dim = 0; dim < kRank; ++dim) place += indices[dim] * strides_[dim];
    return data_[place];
  }

 private:
  T* data_;
  Array extents_, strides_;
};

/// Error "strided_span: a view of 3 dims of a tensor of 2", TypeError "expected scalar type Float but found Double".
template <class T, std::size_t kRank>
StridedSpan<T, kRank> strided_span(const Tensor& tensor) {
  std::byte* const first = access::first_element("strided_span", tensor, access::dtype_for<T>, access::purpose_of<T>);
  access::check_dim("strided_span", tensor, static_cast<int64_t>(kRank));
  typename StridedSpan<T, kRank>::Array extents{}, strides{};
  for (std::size_t dim = 0; dim < kRank; ++dim) {
    extents[dim] = tensor.sizes()[static_cast<int64_t>(dim)];
    strides[dim] = tensor.strides()[static_cast<int64_t>(dim)];
  }
  return {reinterpret_cast<T*>(first), extents, strides};
}
template <class T, std::size_t kRank>
StridedSpan<T, kRank> strided_span(const Tensor&&) = delete;

/// The elements of a tensor of any layout, in row-major order: a range with random access. Holds the tensor.
template <class T>
class Elements {
 public:
  class Iterator;
  using iterator = Iterator;
  using value_type = std::remove_cv_t<T>;

  explicit Elements(Tensor tensor)
      : tensor_(std::move(tensor)),
        first_(reinterpret_cast<T*>(
            access::first_element("elements", tensor_, access::dtype_for<T>, access::purpose_of<T>))),
        walk_(access::row_major_walk(tensor_)) {}

  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, tensor_.numel()); }
  std::size_t size() const { return static_cast<std::size_t>(tensor_.numel()); }
  bool empty() const { return tensor_.numel() == 0; }
  /// Checks nothing.
  T& operator[](std::size_t i) const { return *Iterator(this, static_cast<int64_t>(i)); }
  const Tensor& tensor() const noexcept { return tensor_; }

 private:
  Tensor tensor_;
  T* first_;
  access::Walk walk_;
};

/// A place in the range, valid while the range lives. A step inside a run of equal strides is an addition.
template <class T>
class Elements<T>::Iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  /// No place.
  Iterator() noexcept = default;
  Iterator(const Elements* range, int64_t index) : range_(range), index_(index) { find(); }

  T& operator*() const noexcept { return *element_; }
  T* operator->() const noexcept { return element_; }
  T& operator[](difference_type n) const { return *(*this + n); }

  Iterator& operator++() {
    ++index_;
    if (--left_ > 0)
      element_ += range_->walk_.strides.back();  // exact: inside the tensor
    else
      find();
    return *this;
  }
  Iterator& operator--() {
    --index_;
    find();
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  Iterator operator--(int) {
    Iterator before = *this;
    --*this;
    return before;
  }
  Iterator& operator+=(difference_type n) {
    index_ += n;
    find();
    return *this;
  }
  Iterator& operator-=(difference_type n) { return *this += -n; }
  friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
  friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
  friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
  friend difference_type operator-(const Iterator& a, const Iterator& b) noexcept { return a.index_ - b.index_; }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.index_ == b.index_; }
  friend auto operator<=>(const Iterator& a, const Iterator& b) noexcept { return a.index_ <=> b.index_; }

 private:
  /// Computes the address from the index. Past either end there is none.
  void find() {
    element_ = range_->first_;
    left_ = 0;
    if (index_ < 0 || index_ >= range_->tensor_.numel()) return;
    const Dims &sizes = range_->walk_.sizes, &strides = range_->walk_.strides;
    int64_t rest = index_;
    // exact: inside the tensor
    for (int64_t dim = sizes.size() - 1; dim > 0; --dim) {
      element_ += rest % sizes[dim] * strides[dim];
      rest /= sizes[dim];
    }
    element_ += rest * strides[0];
    left_ = sizes.back() - index_ % sizes.back();
  }

  const Elements* range_ = nullptr;
  T* element_ = nullptr;
  int64_t index_ = 0;
  int64_t left_ = 0;  // elements to the end of the run, this one included
};

/// TypeError "expected scalar type Float but found Double".
template <class T>
Elements<T> elements(const Tensor& tensor) {
  return Elements<T>(tensor);
}

/// A tensor over memory of the program, without a copy: the memory must live as long as the tensor and its views.
/// ValueError "from_span: sizes [2, 3] have 6 elements, the memory has 5".
template <class T>
Tensor from_span(std::span<T> values, SizesView sizes) {
  static_assert(!std::is_const_v<T>, "tensors can be written: clone() one over memory of your own");
  access::check_count("from_span", sizes, values.size());
  return from_buffer(values.data(), sizes, access::dtype_for<T>);
}
template <class T>
Tensor from_span(std::span<T> values) {
  return from_span(values, {static_cast<int64_t>(values.size())});
}

/// A tensor that owns the vector's memory from now on, without a copy. If this call throws, the vector is unchanged.
template <class T>
Tensor from_vector(std::vector<T>&& values, SizesView sizes) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory");
  access::check_count("from_vector", sizes, values.size());
  auto owner = std::make_unique<std::vector<T>>();
  owner->swap(values);
  const auto free = [](void*, void* vector) { delete static_cast<std::vector<T>*>(vector); };
  Tensor made = from_buffer(owner->data(), sizes, access::dtype_for<T>, free, owner.get());
  owner.release();
  return made;
}
template <class T>
Tensor from_vector(std::vector<T>&& values) {
  const auto size = static_cast<int64_t>(values.size());
  return from_vector(std::move(values), {size});
}

}  // namespace tenon
