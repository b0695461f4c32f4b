// base: lists of sizes, strides and dims. No heap memory up to six dimensions.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include "tenon/allocation.h"

// GCC warns when a view of an initializer list is stored. Here the list outlives the call that takes the view.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif

namespace tenon {

/// A list of int64 (sizes, strides, dims) that owns its values: inline up to `kInline`, on the heap beyond.
class Dims {
 public:
  static constexpr int64_t kInline = 6;

  Dims() noexcept = default;
  explicit Dims(int64_t count, int64_t value = 0) {
    resize(count);
    for (int64_t i = 0; i < count; ++i) data_[i] = value;
  }
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), static_cast<int64_t>(values.size())) {}
  Dims(const int64_t* values, int64_t count) {
    resize(count);
    copy_from(values);
  }
  Dims(const Dims& other) : Dims(other.data_, other.size_) {}
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) {
      resize(other.size_);
      copy_from(other.data_);
    }
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~Dims() { release(); }

  int64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  int64_t* data() noexcept { return data_; }
  const int64_t* data() const noexcept { return data_; }
  int64_t& operator[](int64_t i) noexcept { return data_[i]; }
  int64_t operator[](int64_t i) const noexcept { return data_[i]; }
  int64_t* begin() noexcept { return data_; }
  int64_t* end() noexcept { return data_ + size_; }
  const int64_t* begin() const noexcept { return data_; }
  const int64_t* end() const noexcept { return data_ + size_; }
  int64_t back() const noexcept { return data_[size_ - 1]; }

  /// Copies `values`, which must not be a view of this list.
  template <class View>
  void assign(const View& values) {
    resize(values.size());
    copy_from(values.data());
  }
  /// Keeps the first `count` values; new ones are uninitialised.
  void resize(int64_t count) {
    if (count > capacity_) grow(count);
    size_ = static_cast<int32_t>(count);
  }
  void push_back(int64_t value) {
    resize(size() + 1);
    data_[size_ - 1] = value;
  }
  void insert(int64_t at, int64_t value) {
    resize(size() + 1);
    for (int64_t i = size_ - 1; i > at; --i) data_[i] = data_[i - 1];
    data_[at] = value;
  }
  void erase(int64_t at) {
    for (int64_t i = at; i + 1 < size_; ++i) data_[i] = data_[i + 1];
    --size_;
  }
  [[gnu::always_inline]] friend bool operator==(const Dims& a, const Dims& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (int64_t i = 0; i < a.size_; ++i)
      if (a.data_[i] != b.data_[i]) return false;
    return true;
  }

 private:
  void copy_from(const int64_t* values) {
    for (int64_t i = 0; i < size_; ++i) data_[i] = values[i];  // few values: a loop is cheaper than a memcpy call
  }
  void grow(int64_t count) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    if (count > most) fail_allocation();
    const int64_t twice = 2 * int64_t{capacity_};
    const int64_t capacity = count > twice ? count : twice < most ? twice : most;
    int64_t* wider = new int64_t[static_cast<std::size_t>(capacity)];
    for (int64_t i = 0; i < size_; ++i) wider[i] = data_[i];
    release();
    data_ = wider;
    capacity_ = static_cast<int32_t>(capacity);
  }
  void release() noexcept {
    if (data_ != inline_) delete[] data_;
    data_ = inline_;
    capacity_ = kInline;
  }
  void take(Dims& other) noexcept {
    size_ = other.size_;
    if (other.data_ == other.inline_) {
      for (int64_t i = 0; i < size_; ++i) inline_[i] = other.inline_[i];
      return;
    }
    data_ = other.data_;
    capacity_ = other.capacity_;
    other.data_ = other.inline_;
    other.capacity_ = kInline;
    other.size_ = 0;
  }

  int32_t size_ = 0;
  int32_t capacity_ = kInline;
  int64_t inline_[kInline];
  int64_t* data_ = inline_;
};

/// A view of a list of int64. The parameter type for sizes, strides and dims.
class SizesView {
 public:
  constexpr SizesView() noexcept = default;
  constexpr SizesView(const int64_t* values, int64_t count) noexcept : data_(values), size_(count) {}
  constexpr SizesView(std::initializer_list<int64_t> values) noexcept
      : data_(values.begin()), size_(static_cast<int64_t>(values.size())) {}
  SizesView(const Dims& dims) noexcept : data_(dims.data()), size_(dims.size()) {}
  /// Any contiguous container of int64_t (std::vector, std::array, std::span).
  template <class C>
  requires requires(const C& c) {
    { c.data() } -> std::same_as<const int64_t*>;
    { c.size() } -> std::same_as<std::size_t>;
  }
  SizesView(const C& values) noexcept : data_(values.data()), size_(static_cast<int64_t>(values.size())) {}

  constexpr int64_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const int64_t* data() const noexcept { return data_; }
  constexpr int64_t operator[](int64_t i) const noexcept { return data_[i]; }
  constexpr const int64_t* begin() const noexcept { return data_; }
  constexpr const int64_t* end() const noexcept { return data_ + size_; }
  constexpr int64_t back() const noexcept { return data_[size_ - 1]; }
  /// A list that owns the values.
  Dims copy() const { return Dims(data_, size_); }

  [[gnu::always_inline]] friend constexpr bool operator==(SizesView a, SizesView b) noexcept {
    if (a.size_ != b.size_) return false;
    for (int64_t i = 0; i < a.size_; ++i)
      if (a.data_[i] != b.data_[i]) return false;
    return true;
  }

 private:
  const int64_t* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace tenon

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
