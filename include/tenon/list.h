// base: the list type of the public interface. std::vector has another layout and name in programs compiled with
// -D_GLIBCXX_DEBUG; List is the same everywhere.
#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "tenon/allocation.h"

namespace tenon {

/// The part of std::vector that the interface needs. T must be default-constructible: unused capacity holds such
/// values.
template <class T>
class List {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  List() noexcept = default;
  explicit List(std::size_t count) : items_(new T[count]), size_(count), capacity_(count) {}
  List(std::initializer_list<T> values) : List(values.size()) {
    T* to = items_.get();
    for (const T& value : values) *to++ = value;
  }
  template <class Iterator>
  requires requires(Iterator i) { *++i; }
  List(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }
  /// Any other container of T (std::vector, std::array, std::span).
  template <class Container>
  requires(!std::derived_from<Container, List> &&
           requires(const Container& c) {
             { c.data() } -> std::same_as<const T*>;
             { c.size() } -> std::same_as<std::size_t>;
           }) List(const Container& values)
      : List(values.data(), values.data() + values.size()) {}
  List(const List& other) : List(other.begin(), other.end()) {}
  List(List&& other) noexcept { swap(other); }
  List& operator=(List other) noexcept {
    swap(other);
    return *this;
  }
  /// Converts to a container that is made from two iterators (std::vector).
  template <class Container>
  requires(std::same_as<typename Container::value_type, T>&& std::constructible_from<Container, const T*, const T*> &&
           !std::derived_from<Container, List>)
  operator Container() const {
    return Container(begin(), end());
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return items_.get(); }
  const T* data() const noexcept { return items_.get(); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }  // exact: inside the list
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }  // exact: inside the list
  T& operator[](std::size_t i) noexcept { return items_[i]; }
  const T& operator[](std::size_t i) const noexcept { return items_[i]; }
  T& front() noexcept { return items_[0]; }
  const T& front() const noexcept { return items_[0]; }
  T& back() noexcept { return items_[size_ - 1]; }
  const T& back() const noexcept { return items_[size_ - 1]; }

  /// Leaves the list unchanged if there is no memory.
  void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ == 0 ? 4 : 2 * capacity_);
    items_[size_++] = std::move(value);
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    if (count > kMostBytes / sizeof(T)) fail_allocation();  // also under tools that end the process for it
    std::unique_ptr<T[]> larger(new T[count]);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(items_[i]);
    items_ = std::move(larger);
    capacity_ = count;
  }
  void resize(std::size_t count) {
    reserve(count);
    for (; size_ > count; --size_) back() = T();
    size_ = count;
  }
  void pop_back() { resize(size_ - 1); }
  void clear() { resize(0); }
  void swap(List& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 40;

  std::unique_ptr<T[]> items_;
  std::size_t size_ = 0, capacity_ = 0;  // values from size_ to capacity_ are default-constructed
};

}  // namespace tenon
