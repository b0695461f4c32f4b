#include "kernel/complex_parts.h"

namespace tenon {
namespace {

template <class T>
struct Number {
  T re, im;
};

/// Calls write.operator()<T>().
template <class Write>
void for_part(Dtype real, const Write& write) {
  real == float32 ? write.template operator()<float>() : write.template operator()<double>();
}

template <class T>
void rotate_row(T* row, T* rotated, const Number<T>* from, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; ++i) {
    const Number<T> number = from[i * step];
    row[2 * i] = number.re;
    row[2 * i + 1] = number.im;
    rotated[2 * i] = -number.im;
    rotated[2 * i + 1] = number.re;
  }
}
template <class T>
void split_row(T* re, T* im, const Number<T>* from, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; ++i) {
    re[i] = from[i * step].re;
    im[i] = from[i * step].im;
  }
}

}  // namespace

void write_with_rotations(Dtype real, void* to, const ComplexRows& from) {
  for_part(real, [&]<class T>() {
    auto* row = static_cast<T*>(to);
    const auto* numbers = static_cast<const Number<T>*>(from.data);
    const int64_t width = 2 * from.columns;  // exact: a part of `to`
    for (int64_t i = 0; i < from.rows; ++i, row += 2 * width, numbers += from.row_stride)
      if (from.column_stride == 1)  // a loop that compilers vectorise
        rotate_row(row, row + width, numbers, from.columns, 1);
      else
        rotate_row(row, row + width, numbers, from.columns, from.column_stride);
  });
}

void write_parts(Dtype real, void* to, const ComplexRows& from) {
  for_part(real, [&]<class T>() {
    T *re = static_cast<T*>(to), *im = re + from.rows * from.columns;  // exact: half of `to`
    const auto* numbers = static_cast<const Number<T>*>(from.data);
    for (int64_t i = 0; i < from.rows; ++i, re += from.columns, im += from.columns, numbers += from.row_stride)
      split_row(re, im, numbers, from.columns, from.column_stride);
  });
}

void write_sum_with_rotated(Dtype real, void* to, const void* from, int64_t count) {
  for_part(real, [&]<class T>() {
    auto* sums = static_cast<Number<T>*>(to);
    const auto *first = static_cast<const Number<T>*>(from), *second = first + count;
    for (int64_t i = 0; i < count; ++i) sums[i] = {first[i].re - second[i].im, first[i].im + second[i].re};
  });
}

}  // namespace tenon
