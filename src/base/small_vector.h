// base: a list of plain values. Up to `kInline` of them need no heap memory.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tenon {

template <class T, int64_t kInline>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SmallVector() noexcept : data_(inline_values()) {}
  explicit SmallVector(int64_t count) : SmallVector() { resize(count); }
  SmallVector(const SmallVector& other) : SmallVector() { assign(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  ~SmallVector() { release(); }

  int64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](int64_t i) noexcept { return data_[i]; }
  const T& operator[](int64_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }

  /// Keeps the first `count` values; new ones are uninitialised.
  void resize(int64_t count) {
    if (count > capacity_) grow(count);
    size_ = count;
  }
  /// Adds an uninitialised value.
  T& add() {
    resize(size_ + 1);
    return back();
  }
  void push_back(const T& value) {
    const T copy = value;
    resize(size_ + 1);
    data_[size_ - 1] = copy;
  }

 private:
  T* inline_values() noexcept { return reinterpret_cast<T*>(bytes_); }
  void assign(const SmallVector& other) {
    resize(other.size_);
    if (size_ > 0) std::memcpy(static_cast<void*>(data_), other.data_, static_cast<std::size_t>(size_) * sizeof(T));
  }
  void grow(int64_t count) {
    const int64_t capacity = count > 2 * capacity_ ? count : 2 * capacity_;
    T* wider = static_cast<T*>(::operator new(static_cast<std::size_t>(capacity) * sizeof(T)));
    if (size_ > 0) std::memcpy(static_cast<void*>(wider), data_, static_cast<std::size_t>(size_) * sizeof(T));
    release();
    data_ = wider;
    capacity_ = capacity;
  }
  void release() noexcept {
    if (data_ != inline_values()) ::operator delete(data_);
  }

  T* data_;
  int64_t size_ = 0;
  int64_t capacity_ = kInline;
  alignas(T) unsigned char bytes_[static_cast<std::size_t>(kInline) * sizeof(T)];
};

}  // namespace tenon
