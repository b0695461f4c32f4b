// dispatch: tensors as Eigen's matrices and Eigen's matrices as tensors, both without a copy. Needs Eigen 3.4 or later,
// which only programs that include this header need; tenon.h does not.
//
//   eigen::matrix<const float>(x) * eigen::vector<const float>(y)   // Eigen::Map of any layout
//   eigen::rows<float>(x) += ...                                    // rows without gaps: Eigen uses vectors
//   Tensor z = eigen::tensor(m);                                    // over m's elements, which must outlive z
//   Tensor z = eigen::tensor(std::move(m));                         // owns them
//
// What tenon/span.h says of `T`, of reading and writing, and of autograd holds here, too.
#pragma once
#include <Eigen/Core>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "tenon/span.h"

namespace tenon {

template <>
struct dtype_of<Eigen::half> {
  static constexpr Dtype value = Dtype::float16;
};
template <>
struct dtype_of<Eigen::bfloat16> {
  static constexpr Dtype value = Dtype::bfloat16;
};

namespace eigen {

/// The types of the maps, of `T` or `const T`.
using AnyStrides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
template <class T, class Plain>
using PlainOf = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
template <class T>
using Matrix =
    Eigen::Map<PlainOf<T, Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>>, 0,
               AnyStrides>;
template <class T>
using Rows =
    Eigen::Map<PlainOf<T, Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>, 0,
               Eigen::OuterStride<>>;
template <class T>
using Vector =
    Eigen::Map<PlainOf<T, Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>>, 0, Eigen::InnerStride<>>;

/// A tensor of two dims, of any layout. Error "strided_span: a view of 2 dims of a tensor of 1".
template <class T>
Matrix<T> matrix(const Tensor& tensor) {
  const StridedSpan<T, 2> view = strided_span<T, 2>(tensor);
  return {view.data_handle(), view.extent(0), view.extent(1), AnyStrides(view.stride(1), view.stride(0))};
}
/// The same in the order of most tensors. Error "eigen::rows: a row has the stride 2, not 1; contiguous() gives a
/// tensor whose rows have no gaps".
template <class T>
Rows<T> rows(const Tensor& tensor) {
  const StridedSpan<T, 2> view = strided_span<T, 2>(tensor);
  if (view.extent(1) > 1) access::check_row_stride("eigen::rows", view.stride(1));
  return {view.data_handle(), view.extent(0), view.extent(1), Eigen::OuterStride<>(view.stride(0))};
}
/// A tensor of one dim, as a column.
template <class T>
Vector<T> vector(const Tensor& tensor) {
  const StridedSpan<T, 1> view = strided_span<T, 1>(tensor);
  return {view.data_handle(), view.extent(0), Eigen::InnerStride<>(view.stride(0))};
}
// Of a temporary tensor none is given: it would keep no memory alive.
template <class T>
Matrix<T> matrix(const Tensor&&) = delete;
template <class T>
Rows<T> rows(const Tensor&&) = delete;
template <class T>
Vector<T> vector(const Tensor&&) = delete;

/// What has elements in memory that may be written: matrices, arrays, maps and blocks, unless they are constant.
template <class M>
concept InMemory = std::derived_from<M, Eigen::DenseBase<M>> && requires(M& matrix) {
  { matrix.data() } -> std::same_as<typename M::Scalar*>;
  matrix.innerStride();
};

namespace internal {

template <InMemory M>
Tensor over(M& matrix, Storage::Deleter deleter, void* context) {
  constexpr Dtype dtype = dtype_of_v<typename M::Scalar>;
  if constexpr (M::IsVectorAtCompileTime)
    return from_buffer(matrix.data(), {matrix.size()}, {matrix.innerStride()}, dtype, deleter, context);
  else
    return from_buffer(matrix.data(), {matrix.rows(), matrix.cols()}, {matrix.rowStride(), matrix.colStride()}, dtype,
                       deleter, context);
}

}  // namespace internal

/// A tensor over a matrix, a map or a block, with its strides; of one dim if it is a row or a column by its type. The
/// elements must outlive the tensor and its views, and a matrix must not be resized.
template <InMemory M>
Tensor tensor(M& matrix) {
  return internal::over(matrix, nullptr, nullptr);
}
/// A temporary map or block has elements that live elsewhere. A matrix is moved into the tensor, which owns it.
template <InMemory M>
Tensor tensor(M&& matrix) {
  if constexpr (std::derived_from<M, Eigen::PlainObjectBase<M>>) {
    auto owner = std::make_unique<M>(std::move(matrix));
    const auto free = [](void*, void* moved) { delete static_cast<M*>(moved); };
    Tensor made = internal::over(*owner, free, owner.get());
    owner.release();
    return made;
  } else {
    return internal::over(matrix, nullptr, nullptr);
  }
}

}  // namespace eigen
}  // namespace tenon
