// capi: the library for C and for languages that call C: opaque handles, status codes, DLPack, and every op by name.
//
// Functions that can fail return a tenon_status, or a value that no success gives (-1, NULL). What failed is then kept
// for the calling thread: tenon_error_code, tenon_error_text, tenon_error_note. A call that succeeds leaves it as it
// is. No C++ exception leaves a function; a null pointer, a count below 0 and an unknown dtype are TENON_VALUE_ERROR.
//
// A tenon_tensor* is one reference. Who gets one as a result owns it and gives it back by tenon_release. A function
// never takes over a reference that is passed to it. Threads may use different references of one tensor at the same
// time; writes to its elements are the callers' to order.
#ifndef TENON_C_H
#define TENON_C_H
// NOLINTBEGIN(modernize-*): this is C.

#include <stddef.h>
#include <stdint.h>

#include "tenon/export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENON_C_API TENON_API

/* The structs of DLPack 1.1, which dlpack.h declares: https://dmlc.github.io/dlpack/latest/c_api.html */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* A tensor: an opaque handle, of which tenon_release frees the last. */
typedef struct tenon_tensor tenon_tensor;

/* One code for each class of exception that the library has in C++ and Python. */
typedef enum tenon_status {
  TENON_OK = 0,
  TENON_ERROR = 1, /* Python: RuntimeError */
  TENON_INDEX_ERROR = 2,
  TENON_VALUE_ERROR = 3,
  TENON_TYPE_ERROR = 4,
  TENON_NOT_IMPLEMENTED = 5, /* an op has no kernel for a dtype */
  TENON_LINALG_ERROR = 6,
  TENON_OUT_OF_MEMORY = 7,
  TENON_FILE_ERROR = 8,
  TENON_INTERRUPTED = 9
} tenon_status;

/* The type of an element. */
typedef enum tenon_dtype {
  TENON_BOOL = 0,
  TENON_UINT8 = 1,
  TENON_INT8 = 2,
  TENON_INT16 = 3,
  TENON_INT32 = 4,
  TENON_INT64 = 5,
  TENON_UINT16 = 6,
  TENON_UINT32 = 7,
  TENON_UINT64 = 8,
  TENON_FLOAT16 = 9,
  TENON_BFLOAT16 = 10,
  TENON_FLOAT32 = 11,
  TENON_FLOAT64 = 12,
  TENON_COMPLEX64 = 13,
  TENON_COMPLEX128 = 14
} tenon_dtype;

/* ---- the library ------------------------------------------------------------------------------------------------- */

/* "0.1.0". Lives as long as the library. */
TENON_C_API const char* tenon_version(void);
/* Threads per op, the caller's included. TENON_VALUE_ERROR below 1. */
TENON_C_API tenon_status tenon_set_num_threads(int32_t count);
TENON_C_API int32_t tenon_num_threads(void);
/* The seed of `rand`, `randn` and all other random ops of the process. */
TENON_C_API void tenon_manual_seed(uint64_t seed);
/* Receives every warning of the process; `category` is Python's class name ("UserWarning"). Both texts live for the
   call only. The handler may be called from any thread. NULL: warnings are printed to stderr, which is the default. */
typedef void (*tenon_warning_handler)(const char* category, const char* text);
TENON_C_API void tenon_set_warning_handler(tenon_warning_handler handler);

/* ---- what failed: of the calling thread's last call that failed -------------------------------------------------- */

/* TENON_OK if none has failed yet. */
TENON_C_API tenon_status tenon_error_code(void);
/* PyTorch's text where PyTorch has one; "" if nothing has failed. Lives until the thread's next failure. */
TENON_C_API const char* tenon_error_text(void);
/* Further help, such as the shapes aligned at the right. NULL for an index outside 0 to tenon_error_note_count() - 1.
 */
TENON_C_API int64_t tenon_error_note_count(void);
TENON_C_API const char* tenon_error_note(int64_t index);

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* A tensor over the caller's memory, without a copy. `sizes` and `strides` hold `ndim` numbers; strides count elements,
   none is negative, and NULL stands for a row-major layout. `deleter(data, context)`, if it is not NULL, runs when the
   last tensor over the memory is gone; it may run on any thread. If the call fails, the caller keeps the memory. */
TENON_C_API tenon_status tenon_from_data(void* data, const int64_t* sizes, const int64_t* strides, int64_t ndim,
                                         int32_t dtype, void (*deleter)(void* data, void* context), void* context,
                                         tenon_tensor** result);
/* One more reference; returns `tensor`. NULL stays NULL. */
TENON_C_API tenon_tensor* tenon_retain(tenon_tensor* tensor);
/* Gives a reference back. NULL does nothing. */
TENON_C_API void tenon_release(tenon_tensor* tensor);

/* -1 for NULL. */
TENON_C_API int64_t tenon_ndim(const tenon_tensor* tensor);
TENON_C_API int64_t tenon_numel(const tenon_tensor* tensor);
/* A tenon_dtype. -1 for NULL. */
TENON_C_API int32_t tenon_dtype_of(const tenon_tensor* tensor);
/* tenon_ndim() numbers, strides in elements. They live as long as the tensor, unless an op changes its shape in place.
   NULL for NULL. */
TENON_C_API const int64_t* tenon_sizes(const tenon_tensor* tensor);
TENON_C_API const int64_t* tenon_strides(const tenon_tensor* tensor);
/* The address of the first element; the others follow by the strides (call "contiguous" for a row-major tensor).
   The library does not see what is written there: gradients of ops that saved the tensor would be wrong. NULL for NULL,
   and for a tensor of the meta device, which has no elements. */
TENON_C_API void* tenon_data(const tenon_tensor* tensor);
/* "float32", or NULL for no tenon_dtype. Lives as long as the library. */
TENON_C_API const char* tenon_dtype_name(int32_t dtype);
/* Bytes of an element; -1 for no tenon_dtype. */
TENON_C_API int64_t tenon_itemsize(int32_t dtype);
/* Writes what Python prints, cut after `capacity` - 1 bytes and ended by a NUL; `buffer` may be NULL if `capacity` is
   0. Returns the whole text's length without the NUL, -1 if it fails. */
TENON_C_API int64_t tenon_to_string(const tenon_tensor* tensor, char* buffer, int64_t capacity);

/* ---- DLPack ------------------------------------------------------------------------------------------------------ */

/* A struct that shares the elements. Its receiver calls its deleter. A tensor whose elements share places (a stride of
   0) is marked as read-only; the unversioned struct, which has no such mark, gets a copy of it. */
TENON_C_API tenon_status tenon_to_dlpack(const tenon_tensor* tensor, struct DLManagedTensorVersioned** result);
TENON_C_API tenon_status tenon_to_dlpack_unversioned(const tenon_tensor* tensor, struct DLManagedTensor** result);
/* A tensor over the struct's memory; read-only memory is copied. If the call succeeds, the library calls the struct's
   deleter once the memory is not needed; if it fails, the struct stays the caller's. */
TENON_C_API tenon_status tenon_from_dlpack(struct DLManagedTensorVersioned* managed, tenon_tensor** result);
TENON_C_API tenon_status tenon_from_dlpack_unversioned(struct DLManagedTensor* managed, tenon_tensor** result);

/* ---- ops --------------------------------------------------------------------------------------------------------- */

/* What an argument holds, and where. */
typedef enum tenon_kind {
  TENON_KIND_NONE = 0,    /* None: as if the argument were left out */
  TENON_KIND_TENSOR = 1,  /* as.tensor */
  TENON_KIND_BOOL = 2,    /* as.integer: 0 or 1 */
  TENON_KIND_INT = 3,     /* as.integer */
  TENON_KIND_FLOAT = 4,   /* as.floating */
  TENON_KIND_COMPLEX = 5, /* as.parts: real and imaginary part */
  TENON_KIND_STRING = 6,  /* as.string, ended by a NUL */
  TENON_KIND_DTYPE = 7,   /* as.integer: a tenon_dtype */
  TENON_KIND_INTS = 8,    /* as.integers: `count` numbers */
  TENON_KIND_FLOATS = 9,  /* as.floats: `count` numbers */
  TENON_KIND_TENSORS = 10 /* as.tensors: `count` tensors */
} tenon_kind;

/* An argument. Its pointers must live as long as the call. */
typedef struct tenon_value {
  const char* name; /* of the parameter; NULL: by position */
  int32_t kind;     /* a tenon_kind */
  int64_t count;    /* of a list */
  union {
    tenon_tensor* tensor;
    int64_t integer;
    double floating;
    double parts[2];
    const char* string;
    const int64_t* integers;
    const double* floats;
    tenon_tensor* const* tensors;
  } as;
} tenon_value;

/* Calls an op: tenon_call("sub", arguments, 2, &result, 1, NULL).
   Names, parameters and defaults are those that `tenon ops` lists, which are Python's. Arguments without a name come
   first, in the order of the parameters; of several signatures the first that they fit is called. A name that ends in
   `_` ("add_") writes into its first argument. An argument named "out" (a tensor, or a list for several results) is
   written, too. In both cases the results are further references to the tensors written. Factories and copies, which
   `tenon ops` lists as well, are called the same way: "empty", "zeros", "ones", "full", "arange", "eye", "rand",
   "randn", "clone", "contiguous", "to", "detach", "copy_", "fill_", "zero_", "slice".
   Writes `capacity` results at most; a result that the op leaves out is NULL. `result_count` (may be NULL) gets their
   number, also if there is no room for them, which is TENON_VALUE_ERROR, unless `results` is NULL: then they are
   dropped. Other errors: TENON_VALUE_ERROR for an unknown op, TENON_TYPE_ERROR for arguments that fit no signature,
   and every error of the op. */
TENON_C_API tenon_status tenon_call(const char* op, const tenon_value* arguments, int64_t count, tenon_tensor** results,
                                    int64_t capacity, int64_t* result_count);

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Whether ops on the tensor are recorded: 1 or 0, -1 for NULL. */
TENON_C_API int32_t tenon_requires_grad(const tenon_tensor* tensor);
TENON_C_API tenon_status tenon_set_requires_grad(tenon_tensor* tensor, int32_t requires_grad);
/* Whether ops of the calling thread are recorded; returns what held before. On at first. */
TENON_C_API int32_t tenon_set_grad_enabled(int32_t enabled);
/* Adds the gradients of `tensor`, weighted by `gradient`, to those of every leaf that it was computed from. `gradient`
   may be NULL for a tensor of one element. */
TENON_C_API tenon_status tenon_backward(const tenon_tensor* tensor, const tenon_tensor* gradient);
/* The gradient of a leaf; a NULL result if it has none. */
TENON_C_API tenon_status tenon_grad(const tenon_tensor* tensor, tenon_tensor** result);

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Each makes an argument of its kind; lists and strings are not copied. */
static inline tenon_value tenon_none(void) {
  tenon_value value;
  value.name = NULL;
  value.kind = TENON_KIND_NONE;
  value.count = 0;
  value.as.parts[0] = 0;
  value.as.parts[1] = 0;
  return value;
}
static inline tenon_value tenon_of_tensor(tenon_tensor* tensor) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_TENSOR;
  value.as.tensor = tensor;
  return value;
}
static inline tenon_value tenon_of_bool(int truth) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_BOOL;
  value.as.integer = truth != 0;
  return value;
}
static inline tenon_value tenon_of_int(int64_t number) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_INT;
  value.as.integer = number;
  return value;
}
static inline tenon_value tenon_of_float(double number) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_FLOAT;
  value.as.floating = number;
  return value;
}
static inline tenon_value tenon_of_complex(double real, double imaginary) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_COMPLEX;
  value.as.parts[0] = real;
  value.as.parts[1] = imaginary;
  return value;
}
static inline tenon_value tenon_of_string(const char* text) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_STRING;
  value.as.string = text;
  return value;
}
static inline tenon_value tenon_of_dtype(tenon_dtype dtype) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_DTYPE;
  value.as.integer = dtype;
  return value;
}
static inline tenon_value tenon_of_ints(const int64_t* numbers, int64_t count) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_INTS;
  value.count = count;
  value.as.integers = numbers;
  return value;
}
static inline tenon_value tenon_of_floats(const double* numbers, int64_t count) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_FLOATS;
  value.count = count;
  value.as.floats = numbers;
  return value;
}
static inline tenon_value tenon_of_tensors(tenon_tensor* const* tensors, int64_t count) {
  tenon_value value = tenon_none();
  value.kind = TENON_KIND_TENSORS;
  value.count = count;
  value.as.tensors = tensors;
  return value;
}
/* The same argument for the parameter of that name. */
static inline tenon_value tenon_named(const char* name, tenon_value value) {
  value.name = name;
  return value;
}

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*)
#endif
