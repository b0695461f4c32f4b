// dispatch: every op as a function (tenon/functions.h), and what is beside them: operators, the dtypes and places of
// results.
#pragma once
#include "tenon/functions.h"

namespace tenon {

/// The dtype an op over these operands computes in.
TENON_API Dtype result_type(const Arg& a, const Arg& b);
/// All tensors expanded to their common shape, as views.
TENON_API void broadcast_tensors(Tensor* tensors, int64_t count);

/// The places of what is not zero: one int64 tensor a dim.
TENON_API List<Tensor> nonzero_places(const Tensor& self);

inline Tensor operator-(const Tensor& self) { return neg(self); }
#define TENON_OPERATOR(SYMBOL, NAME)                                                     \
  inline Tensor operator SYMBOL(const Tensor& a, const Tensor& b) { return NAME(a, b); } \
  inline Tensor operator SYMBOL(const Tensor& a, Scalar b) { return NAME(a, b); }        \
  inline Tensor operator SYMBOL(Scalar a, const Tensor& b) { return NAME(a, b); }
TENON_OPERATOR(+, add)
TENON_OPERATOR(-, sub)
TENON_OPERATOR(*, mul)
TENON_OPERATOR(/, div)
TENON_OPERATOR(==, eq)
TENON_OPERATOR(!=, ne)
TENON_OPERATOR(<, lt)
TENON_OPERATOR(<=, le)
TENON_OPERATOR(>, gt)
TENON_OPERATOR(>=, ge)
#undef TENON_OPERATOR
inline Tensor& operator+=(Tensor& a, const Arg& b) { return a.add_(b); }
inline Tensor& operator-=(Tensor& a, const Arg& b) { return a.sub_(b); }
inline Tensor& operator*=(Tensor& a, const Arg& b) { return a.mul_(b); }
inline Tensor& operator/=(Tensor& a, const Arg& b) { return a.div_(b); }

}  // namespace tenon
