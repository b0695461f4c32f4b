// ops: the table of ops. An op's row holds its facts; its formula is in its block, in the -inl.h files of this folder.
#pragma once
#include "tenon/dtype.h"

namespace tenon {

/// Every block of src/ops/, in alphabetical order.
enum class Op : uint16_t {
#define TENON_OP(NAME) NAME,
#include "ops/list.def"
#undef TENON_OP
};
inline constexpr int kOpCount = 0
#define TENON_OP(NAME) +1
#include "ops/list.def"
#undef TENON_OP
    ;
inline constexpr Op kNoOp = static_cast<Op>(0xFFFF);

/// How an op computes.
enum class Kind : uint8_t {
  map,        // the formula computes an element of the result from one element of each operand
  fold,       // the formula joins two partial results, and each element is one; or the block has a State
  algorithm,  // no formula: a function in dispatch/
};

/// How the operands' dtypes decide the compute dtype and the result's dtype.
enum class Promotion : uint8_t {
  common,        // computes in the common dtype; so is the result
  int_to_float,  // integers and bool become the default dtype
  bool_to_int,   // bool becomes int64
  to_complex,    // the result is complex, with parts of the operands' dtype
  comparison,    // computes in the common dtype; the result is bool
  logical,       // each operand is tested for nonzero; the result is bool
  to_int32,      // computes in the common dtype; the result is cast to int32
  to_float64,    // computes in float64, or in complex128 if an operand is complex
  select,        // the first operand is a bool condition, the others as `common`
  sum,           // integers and bool are summed in int64
  place,         // the result is int64: indices or numbers of elements
};

/// The role of last arguments that are numbers, not operands. They do not affect shape and layout, and must fit the
/// dtype.
enum class Parameters : uint8_t {
  none,
  alpha,         // one factor of the dtype's kind, ignored by promotion
  factor,        // one number, in float32 with 16-bit floats, ignored by promotion
  bounds,        // all arguments but the first; promotion includes them
  replacements,  // all arguments but the first, ignored by promotion; they may be too large
  numbers,       // all arguments but the first, ignored by promotion
  constants,     // the same, but in float32 with 16-bit floats
};

/// A set of dtypes, as bits in the order of Dtype.
using DtypeSet = uint16_t;
constexpr DtypeSet set_of(Dtype dtype) { return static_cast<DtypeSet>(1u << static_cast<unsigned>(dtype)); }
inline constexpr DtypeSet kAllDtypes = (1u << kDtypeCount) - 1;
inline constexpr DtypeSet kWideUnsigned = set_of(uint16) | set_of(uint32) | set_of(uint64);
inline constexpr DtypeSet kComplex = set_of(complex64) | set_of(complex128);
/// The default: all but the wide unsigned and the complex dtypes.
inline constexpr DtypeSet kUsual = kAllDtypes & ~kWideUnsigned & ~kComplex;
inline constexpr DtypeSet kNoBool = kUsual & ~1u;
inline constexpr DtypeSet kAllReal = kAllDtypes & ~kComplex;
inline constexpr DtypeSet kAllNumbers = kAllReal & ~1u;
inline constexpr DtypeSet kUsualIntegers = set_of(uint8) | set_of(int8) | set_of(int16) | set_of(int32) | set_of(int64);
inline constexpr DtypeSet kAllIntegers = kUsualIntegers | kWideUnsigned | set_of(bool_);
inline constexpr DtypeSet kWideFloats = set_of(float32) | set_of(float64);
inline constexpr DtypeSet kWideNumbers = set_of(int32) | set_of(int64) | kWideFloats;
inline constexpr DtypeSet kFloats = set_of(float16) | set_of(bfloat16) | set_of(float32) | set_of(float64);
inline constexpr DtypeSet kInexact = kFloats | kComplex;
inline constexpr DtypeSet kSolved = kWideFloats | kComplex;  // matrices that are decomposed
// Fourier transforms.
inline constexpr DtypeSet kTransformedReal = kAllIntegers | kWideFloats;
inline constexpr DtypeSet kTransformed = kTransformedReal | kComplex;

// Numbers in formulas.
inline constexpr double kInfinity = __builtin_huge_val();
inline constexpr double kLog2 = 0.69314718055994531, kLog10 = 2.302585092994045684;  // natural logarithms
inline constexpr double k2BySqrtPi = 1.12837916709551257390, kSqrtPiBy2 = 0.88622692545275801365;
inline constexpr double kSqrt2Pi = 2.50662827463100050242, kSqrt2ByPi = 0.79788456080286535588;
inline constexpr double kSqrtHalf = 0.70710678118654752440;

/// The facts that a block declares besides its formulas. tools/ops.py reads the same text and makes functions, methods,
/// the tables of Python and the command line, and the reference page from it.
struct Row {
  /// In PyTorch's grammar: "sub(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None) -> Tensor". Null: a
  /// variant of another op, which only dispatch calls.
  const char* signature = nullptr;
  const char* alias = nullptr;         // other names of the function and the methods: "concat concatenate"
  const char* alias_python = nullptr;  // PyTorch's overloads of these names, if they are not the op's
  const char* array_api = nullptr;     // the function's name in the array API, which NumPy has, too
  // NumPy's names, if they differ: "max amax", "linalg.vector_norm". "": NumPy has no such function.
  const char* numpy = nullptr;
  // The module of the package that Python's function is in, if it is not the package itself: "special",
  // "nn.functional". The op's name may begin with it: special_zeta is tenon.special.zeta.
  const char* module = nullptr;
  // PyTorch's overloads, one per line, if `signature` does not describe them. "": Python's function is handwritten.
  const char* python = nullptr;
  Kind kind = Kind::map;
  // The operands' sizes, if they do not broadcast together: "ij,jk". Operands after `*` broadcast to these sizes.
  const char* shapes = "";
  // What its type doesn't say of a parameter: "reduce: add multiply; index: int64", words, numbers or a tensor's dtype:
  // bool, or int64, places along a dim. "indices: any": a result names any of equal elements; "order: any": holds them.
  const char* values = "";
  // For a map: the public function calls by_hand::NAME in dispatch/, which chooses an op. For an algorithm: out= is
  // handwritten, plain::NAME_out. For a fold with a State: so is every form, and plain::NAME computes it.
  bool by_hand = false;
  bool numbers_as_tensors = false;  // Python accepts numbers for parameters of type Tensor
  bool function = true;             // whether Python has a function; an op without one is a method only
  bool method = true;               // whether an op with a parameter `self` is also a method
  // Whether there is an in-place form NAME_. A map has one unless it declares false; an algorithm if it declares true
  // and defines plain::NAME_inplace.
  bool inplace = true;
  const char* inplace_functions = "";  // in-place methods that Python has as functions, too: "asin_ arcsin_"
  // For a map of several results: the op that computes the next one from the same operands.
  Op next_result = kNoOp;

  const char* name = nullptr;  // in error texts, if it differs from the block's
  const char* symbol = "";     // of its operator, if it has one
  Promotion promotion = Promotion::common;
  bool one_dtype = false;    // operands of two dtypes are an error: they are not promoted
  DtypeSet dtypes = kUsual;  // the compute dtypes that have kernels
  // The dtypes of operands, if they are not `dtypes` and what promotes to these: by_hand computes the others.
  DtypeSet accepts = 0;
  DtypeSet lanes = 0;                     // for a fold with a State: the dtypes in which states are computed
  const char* kernel_name = "";           // in the error for other dtypes: "abs_cpu" not implemented for 'Bool'
  const char* refuses_bool = nullptr;     // PyTorch's text, if it has a special one for bool
  const char* refuses_complex = nullptr;  // the same for a complex operand
  bool complex_lacks_code = false;        // refuses_complex is a NotImplementedError
  const char* refuses_others = nullptr;   // PyTorch's text for a first operand of a dtype that is not in `dtypes`
  Parameters parameters = Parameters::none;
  bool strict_out = false;       // out= must have the compute dtype: nothing is cast
  uint8_t no_overlap = 0;        // bit i: result i may not be written to an out= that partly overlaps the first operand
  bool keeps_real = false;       // the result of a real operand is that operand
  bool complex_to_real = false;  // the result of complex numbers is real
  bool as_input = false;         // for an algorithm: the result has the first operand's dtype
  bool gives_row_major = false;  // a new result (not on meta) is contiguous, however the operands lie
  bool exact_second = false;     // a second operand of one element is not rounded to 16-bit floats
  bool beside_numbers = false;   // 16-bit floats beside numbers in float32 have a kernel: see numbers_beside
  bool commutative = false;      // a number as first operand is treated like one as second operand
  bool stepwise = false;         // 16-bit floats are rounded after every step of the formula, not once at the end
  bool divides_integers = false;  // a zero among integer divisors is Error "ZeroDivisionError"
  bool short_rows = false;  // also compiled as a loop over rows, for its common dtypes (kernel/kernel.h: RowsKernel)
  bool vectors = false;     // the formula calls functions that exist only for SIMD vectors
  // The formula is a call of functions that are not inlined (kernel/special.h): one loop serves splats and lanes. With
  // `vectors`, too: where there is fused multiply-add, a loop over vectors (kernel/special_vectors-inl.h).
  bool compiled_once = false;
  bool may_throw = false;        // its kernel may throw, so operands are written after the whole result is computed
  float ulp = 0;                 // largest error of float32 and float64 in ulp; 0: rounded once
  const char* domain = "";       // of the first argument, if it is not all numbers: "(0, inf)"
  bool through_float32 = false;  // 16-bit floats use the float32 kernel, which keeps rarely used ops small
  bool on_bits = false;          // only compares, chooses and changes signs: 16-bit floats are not converted for it
  const char* grad_fn = "";      // name of its node; for sum and mean without the number
  const char* grad_fn_of_number = nullptr;        // the name if the second operand is a number, if different
  const char* grad_fn_of_first_number = nullptr;  // and if the first one is
  const char* grad_fn_inplace = nullptr;          // the name of the in-place form, if different
  const char* grad_fn_of_keyword = nullptr;       // for an algorithm: the name if a keyword-only argument is given
  // For an algorithm with derivatives: C++ that says which calls are differentiated through what they call instead.
  const char* composite_if = "";
  // The gradient changes in steps with the operand, or not at all. PyTorch's has a node whose own gradient is 0.
  bool flat_gradient = false;
  const char* doc = "";  // one line of documentation
};

template <class Formula>
struct ParameterCount;
template <class Result, class... Parameters>
struct ParameterCount<Result (*)(Parameters...)> {
  static constexpr int value = sizeof...(Parameters);
};
/// The number of operands of a block's formula.
template <class Block>
inline constexpr int kFormulaArity = ParameterCount<decltype(&Block::template forward<int>)>::value;

/// The most arguments of an op.
inline constexpr int kMaxArgs = 4;
/// The most results of a map.
inline constexpr int kMaxResults = 4;
constexpr bool has_several_results(const Row& row) { return row.next_result != kNoOp; }

/// How many of `count` arguments type promotion includes.
constexpr int promoted_count(const Row& row, int count) {
  if (row.parameters == Parameters::replacements || row.parameters == Parameters::numbers ||
      row.parameters == Parameters::constants)
    return 1;
  return row.parameters == Parameters::alpha || row.parameters == Parameters::factor ? count - 1 : count;
}
/// Whether numbers keep their precision with 16-bit floats.
constexpr bool keeps_numbers(const Row& row) {
  return row.parameters == Parameters::factor || row.parameters == Parameters::replacements ||
         row.parameters == Parameters::constants;
}
/// A fold whose partial results are States, not elements. The block has
///   template <class V> struct State { V sum, ...; };                  at most three members
///   template <class V, class At> static State<V> init(const At&);     before any element
///   template <class V, class At> static void step(State<V>&, V value, const At&);
///   template <class V, class At> static void join(State<V>&, const State<V>& other, const At&);
///   template <class V, class At> static V finish(const State<V>&, const At&);
/// and, if it uses indices, `shift(State<V>&, V start)`. For two results `finish` returns a
///   template <class V> struct Results { V spread, mean; };
/// `At` is described in kernel/states.cpp.
template <class Block>
concept HasState = requires {
  sizeof(typename Block::template State<int>);
};

/// How many of `count` arguments are operands.
constexpr int operand_count(const Row& row, int count) {
  return row.parameters == Parameters::bounds ? 1 : promoted_count(row, count);
}

/// How many of `count` arguments, the last ones, are numbers that PyTorch does not round to 16 bits.
constexpr int numbers_beside(const Row& row, int count) {
  return row.exact_second ? 1 : count - operand_count(row, count);
}

/// The number of possible custom ops. Their numbers follow those of the table.
inline constexpr int kCustomOps = static_cast<int>(kNoOp) - kOpCount;
constexpr bool is_custom(Op op) { return static_cast<int>(op) >= kOpCount; }

extern const Row table_rows[];  // in the order of Op
const Row& custom_row(Op op) noexcept;
inline const Row& row_of(Op op) noexcept { return is_custom(op) ? custom_row(op) : table_rows[static_cast<int>(op)]; }

/// Registers a row and returns its number. Throws Error if all are used. The row's strings must live as long as the
/// process.
Op define_row(const Row& row);

}  // namespace tenon
