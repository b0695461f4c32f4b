// ops: what the table says of an op. Takes a name; gives a row. Never computes: formulas stand in the blocks beside
// this file.
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

/// How an op computes.
enum class Kind : uint8_t {
  map,        // the formula gives one element of the result from one of each operand
  fold,       // the formula joins two partial results; each element is one. Or the block has a State of its own
  algorithm,  // no formula: a function in dispatch/
};

/// How the dtypes of the operands give the dtypes of computation and result.
enum class Promotion : uint8_t {
  common,        // computes in the common dtype, gives it
  int_to_float,  // integers and bool become the default dtype
  bool_to_int,   // bool becomes int64
  comparison,    // computes in the common dtype, gives bool
  logical,       // each operand is asked whether it is not zero, gives bool
  select,        // the first operand is a bool condition, the others as `common`
  sum,           // integers and bool are summed in int64
};

/// What the last arguments are where they are numbers that are no operands: they have no part in shape and layout and
/// must fit the dtype.
enum class Parameters : uint8_t {
  none,
  alpha,         // one factor of the dtype's kind, with no part in promotion
  factor,        // one number, in float32 beside 16-bit floats, with no part in promotion
  bounds,        // all but the first argument; they have a part in promotion
  replacements,  // all but the first argument, with no part in promotion; they may be too large
  numbers,       // all but the first argument, with no part in promotion
};

/// The dtypes an op has code for, as bits in the order of Dtype.
using DtypeSet = uint16_t;
constexpr DtypeSet set_of(Dtype dtype) { return static_cast<DtypeSet>(1u << static_cast<unsigned>(dtype)); }
inline constexpr DtypeSet kAllDtypes = (1u << kDtypeCount) - 1;
inline constexpr DtypeSet kWideUnsigned = set_of(uint16) | set_of(uint32) | set_of(uint64);
inline constexpr DtypeSet kComplex = set_of(complex64) | set_of(complex128);
/// Those that every op has code for.
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

// Numbers in formulas.
inline constexpr double kInfinity = __builtin_huge_val();
inline constexpr double kLog2 = 0.69314718055994531, kLog10 = 2.302585092994045684;  // natural logarithms
inline constexpr double k2BySqrtPi = 1.12837916709551257390;

/// What a block declares beside its formulas. tools/ops.py reads the same text: functions, methods, Python's and the
/// shell's tables and the reference page follow from it.
struct Row {
  /// In PyTorch's grammar: "sub(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None) -> Tensor". None: a form
  /// of another op, which only dispatch calls.
  const char* signature = nullptr;
  const char* alias = nullptr;      // other names of the function and the methods: "concat concatenate"
  const char* array_api = nullptr;  // the array API's name of the function, by which NumPy knows it, too
  // NumPy's names, where they are others: "max amax", "linalg.vector_norm". "": it has none for quite this function.
  const char* numpy = nullptr;
  // PyTorch's overloads, one a line, where they are not what `signature` says. "": Python's function is by hand.
  const char* python = nullptr;
  Kind kind = Kind::map;
  // The operands' sizes, where these don't broadcast to one shape: "ij,jk". Behind *: what broadcasts to these sizes.
  const char* shapes = "";
  // Of a map: the public function calls by_hand::NAME in dispatch/, which picks a form. Of an algorithm: out= has rules
  // of its own, and is plain::NAME_out. Of a fold with a State: so has every form, and plain::NAME computes it.
  bool by_hand = false;
  bool numbers_as_tensors = false;  // Python takes numbers where the signature says Tensor
  bool method = true;               // where a parameter is `self`: whether it is a method, too
  // Whether there is NAME_: of a map, unless it says false; of an algorithm where it says true: plain::NAME_inplace.
  bool inplace = true;

  const char* name = nullptr;  // in texts, where it is not the block's
  const char* symbol = "";     // of the operator, where there is one
  Promotion promotion = Promotion::common;
  DtypeSet dtypes = kUsual;               // of the computation
  DtypeSet lanes = 0;                     // of a fold with a State: the dtypes its states are computed in
  const char* kernel_name = "";           // in the text for other dtypes: "abs_cpu" not implemented for 'Bool'
  const char* refuses_bool = nullptr;     // the text where PyTorch has one of its own
  const char* refuses_complex = nullptr;  // the same, of any operand
  bool complex_lacks_code = false;        // that text is a NotImplementedError
  Parameters parameters = Parameters::none;
  bool strict_out = false;       // out= has the dtype of the computation: nothing is cast
  bool keeps_real = false;       // a real operand is its result
  bool complex_to_real = false;  // of complex numbers it gives a real one
  bool exact_second = false;     // 16-bit floats meet a second operand of one element at its own precision, not rounded
  bool commutative = false;      // a number that comes first is treated as one that comes second
  bool stepwise = false;         // other 16-bit floats are rounded at every step of the formula, not once at the end
  bool divides_integers = false;  // a zero divisor is Error "ZeroDivisionError"
  bool vectors = false;           // the formula calls functions that only whole SIMD vectors have
  bool may_throw = false;         // its kernel: operands are written once the whole result is there
  float ulp = 0;                  // largest error of float32 and float64 in units in the last place; 0: rounded once
  const char* domain = "";        // of the first argument, where it is not all numbers: "(0, inf)"
  bool through_float32 = false;   // 16-bit floats are widened to lanes of the float32 loop: rarely used ops stay small
  const char* grad_fn = "";       // name of the node that knows its derivative; of sum and mean without the number
  const char* grad_fn_of_number = nullptr;        // the name where the second operand is a number, if it is another one
  const char* grad_fn_of_first_number = nullptr;  // and where the first one is
  const char* grad_fn_inplace = nullptr;          // the name in place, if it is another one
  const char* grad_fn_of_keyword = nullptr;       // of an algorithm: the name where a keyword-only argument is given
  const char* doc = "";                           // one line for people
};

template <class Formula>
struct ParameterCount;
template <class Result, class... Parameters>
struct ParameterCount<Result (*)(Parameters...)> {
  static constexpr int value = sizeof...(Parameters);
};
/// How many elements a block's formula takes.
template <class Block>
inline constexpr int kFormulaArity = ParameterCount<decltype(&Block::template forward<int>)>::value;

/// The most arguments of an op.
inline constexpr int kMaxArgs = 4;

/// How many of `count` arguments have a part in promotion.
constexpr int promoted_count(const Row& row, int count) {
  if (row.parameters == Parameters::replacements || row.parameters == Parameters::numbers) return 1;
  return row.parameters == Parameters::alpha || row.parameters == Parameters::factor ? count - 1 : count;
}
/// Whether numbers keep their precision beside 16-bit floats.
constexpr bool keeps_numbers(const Row& row) {
  return row.parameters == Parameters::factor || row.parameters == Parameters::replacements;
}
/// A fold whose partial results are no elements. The block has
///   template <class V> struct State { V sum, ...; };                  at most three lanes
///   template <class V, class At> static State<V> init(const At&);     of nothing
///   template <class V, class At> static void step(State<V>&, V value, const At&);
///   template <class V, class At> static void join(State<V>&, const State<V>& other, const At&);
///   template <class V, class At> static V finish(const State<V>&, const At&);
/// and, where it knows places, `shift(State<V>&, V start)`. Of two results, `finish` gives a
///   template <class V> struct Results { V spread, mean; };
/// What `At` says: kernel/states.cpp.
template <class Block>
concept HasState = requires {
  sizeof(typename Block::template State<int>);
};

/// How many of `count` arguments are operands.
constexpr int operand_count(const Row& row, int count) {
  return row.parameters == Parameters::bounds ? 1 : promoted_count(row, count);
}

const Row& row_of(Op op) noexcept;

/// Ops that are defined from outside have the numbers behind the table's.
inline constexpr int kCustomOps = (1 << 16) - kOpCount;
constexpr bool is_custom(Op op) { return static_cast<int>(op) >= kOpCount; }
/// Gives a row a number. Error when all are taken. The row's texts must outlive the process's ops.
Op define_row(const Row& row);

}  // namespace tenon
