// dispatch: the op table's functions: functional and `out=` forms, and operators. Each broadcasts its operands,
// promotes their dtypes and keeps their memory format as PyTorch does. Errors: Error for shapes and dtypes, IndexError
// for dims.
#pragma once
#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon {

#define TENON_OP(NAME, KIND) TENON_FUNCTION_##KIND(NAME)
#define TENON_FUNCTION_form(NAME)
#define TENON_FUNCTION_unary(NAME)           \
  TENON_API Tensor NAME(const Tensor& self); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Tensor& self);
#define TENON_FUNCTION_binary(NAME)                         \
  TENON_API Tensor NAME(const Arg& self, const Arg& other); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Arg& self, const Arg& other);
#define TENON_FUNCTION_binary_alpha(NAME)                                     \
  TENON_API Tensor NAME(const Arg& self, const Arg& other, Scalar alpha = 1); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Arg& self, const Arg& other, Scalar alpha = 1);
#define TENON_FUNCTION_division(NAME)                                                            \
  TENON_API Tensor NAME(const Arg& self, const Arg& other, const char* rounding_mode = nullptr); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Arg& self, const Arg& other, const char* rounding_mode = nullptr);
#define TENON_FUNCTION_clamp(NAME)                                                                              \
  TENON_API Tensor NAME(const Tensor& self, const std::optional<Arg>& min, const std::optional<Arg>& max = {}); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Tensor& self, const std::optional<Arg>& min,                  \
                               const std::optional<Arg>& max = {});
#define TENON_FUNCTION_where(NAME)                                                   \
  TENON_API Tensor NAME(const Tensor& condition, const Arg& self, const Arg& other); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Tensor& condition, const Arg& self, const Arg& other);
#define TENON_FUNCTION_product(NAME)                              \
  TENON_API Tensor NAME(const Tensor& self, const Tensor& other); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Tensor& self, const Tensor& other);
#define TENON_FUNCTION_reduction(NAME)                                                       \
  TENON_API Tensor NAME(const Tensor& self, const DimsArg& dims = {}, bool keepdim = false); \
  TENON_API Tensor& NAME##_out(Tensor& out, const Tensor& self, const DimsArg& dims = {}, bool keepdim = false);
#define TENON_FUNCTION_reduction_dtype(NAME)                                                                    \
  TENON_API Tensor NAME(const Tensor& self, const DimsArg& dims = {}, bool keepdim = false,                     \
                        std::optional<Dtype> dtype = {});                                                       \
  TENON_API Tensor& NAME##_out(Tensor& out, const Tensor& self, const DimsArg& dims = {}, bool keepdim = false, \
                               std::optional<Dtype> dtype = {});
#include "tenon/ops.def"
#undef TENON_FUNCTION_form
#undef TENON_FUNCTION_unary
#undef TENON_FUNCTION_binary
#undef TENON_FUNCTION_binary_alpha
#undef TENON_FUNCTION_division
#undef TENON_FUNCTION_clamp
#undef TENON_FUNCTION_where
#undef TENON_FUNCTION_product
#undef TENON_FUNCTION_reduction
#undef TENON_FUNCTION_reduction_dtype
#undef TENON_OP

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
