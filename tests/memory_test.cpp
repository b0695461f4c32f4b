// No op uses more memory than its result and tiles: for all access patterns, dtypes and dims, no operand is expanded,
// converted or transposed as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tenon/tenon.h"

namespace {

// memory::statistics counts tensors. Other memory of an op, scratch and lists, is counted here.
std::atomic<int64_t> taken{0};

void* take(std::size_t alignment, std::size_t nbytes) noexcept {
  taken.fetch_add(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
  return std::aligned_alloc(alignment, (nbytes + alignment - 1) / alignment * alignment);
}

}  // namespace

// The library calls these functions, because the executable's symbols come first. Not inline: GCC would warn that
// memory from `new` is given to `free`.
#define TENON_REPLACES __attribute__((visibility("default"), noinline))
extern "C" TENON_REPLACES int posix_memalign(void** block, std::size_t alignment, std::size_t nbytes) noexcept {
  *block = take(alignment, nbytes);
  return *block ? 0 : ENOMEM;
}
TENON_REPLACES void* operator new(std::size_t nbytes) {
  if (void* block = take(alignof(std::max_align_t), nbytes)) return block;
  throw std::bad_alloc();
}
TENON_REPLACES void* operator new(std::size_t nbytes, const std::nothrow_t&) noexcept {
  return take(alignof(std::max_align_t), nbytes);
}
TENON_REPLACES void operator delete(void* block) noexcept { std::free(block); }
TENON_REPLACES void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#undef TENON_REPLACES

namespace tenon {
namespace {

constexpr int kThreads = 2;
constexpr int64_t kKiB = 1 << 10;
// Tiles, and lists of a few bytes.
constexpr int64_t kSlack = kThreads * 256 * kKiB + 64 * kKiB;
// A reduction to few elements also keeps the partial results of its segments: at most 64 tiles.
constexpr int64_t kPartialResults = 64 * 32 * kKiB;
// 2 Mi elements: a power of two bytes in every dtype, so that no block is rounded up, and in the smallest dtype four
// times kSlack.
constexpr int64_t kRows = 2048, kCols = 1024;

/// Empties the library's cache, so that blocks are counted when they are allocated again.
class Memory : public ::testing::Test {
 protected:
  void SetUp() override {
    threads_ = get_num_threads();
    set_num_threads(kThreads);
  }
  void TearDown() override { set_num_threads(threads_); }

 private:
  int threads_ = 0;
};

void expect_no_temporary(const std::string& what, int64_t result_bytes, const std::function<void()>& op,
                         int64_t slack = kSlack) {
  // The cache is empty, so only blocks that the op itself freed are recycled, and the counted memory is what it uses at
  // once.
  memory::trim();
  const int64_t in_use = memory::statistics().in_use, taken_before = taken.load();
  memory::reset_peak();
  op();
  const int64_t taken_by_op = taken.load() - taken_before;
  EXPECT_LE(memory::statistics().peak - in_use, result_bytes + slack)
      << what << ": tensors; the result has " << result_bytes;
  EXPECT_LE(taken_by_op, result_bytes + slack) << what << ": taken from the system; the result has " << result_bytes;
}

Tensor values(SizesView sizes, Dtype dtype = Dtype::float32) {
  return is_floating_point(dtype) ? rand(sizes).to(dtype) : randint(0, 2, sizes).to(dtype);
}

struct Pattern {
  const char* name;
  Tensor a, b;
};

/// Both operands of a matrix's or a batch's size once broadcast.
std::vector<Pattern> patterns(Dtype left, Dtype right) {
  const auto a = [&](Dims sizes) { return values(sizes, left); };
  const auto b = [&](Dims sizes) { return values(sizes, right); };
  return {
      {"equal", a({kRows, kCols}), b({kRows, kCols})},
      {"row", a({kRows, kCols}), b({kCols})},
      {"column", a({kRows, kCols}), b({kRows, 1})},
      {"outer", a({kRows, 1}), b({kCols})},
      {"0-dim", a({kRows, kCols}), b({})},
      {"NCHW", a({4, 64, 64, 64}), b({64, 1, 1})},
      {"inner channels", a({4, 64, 64, 64}), b({4, 1, 64, 1})},
      {"[N,4]+[4]", a({kRows * kCols / 4, 4}), b({4})},
      {"[N,4]+[N,1]", a({kRows * kCols / 4, 4}), b({kRows * kCols / 4, 1})},
      {"[N,2,4]+[2,1]", a({kRows * kCols / 8, 2, 4}), b({2, 1})},
      {"A+B.T", a({kRows, kCols}), b({kCols, kRows}).t()},
      {"A.T+B", a({kCols, kRows}).t(), b({kRows, kCols})},
      {"A.T+B.T", a({kCols, kRows}).t(), b({kCols, kRows}).t()},
      {"permuted", a({64, 64, 256}).permute({2, 0, 1}), b({256, 64, 64})},
      {"every other column", a({kRows, 2 * kCols}).slice(1, 0, {}, 2), b({kRows, 2 * kCols}).slice(1, 1, {}, 2)},
      {"offset", a({kRows * kCols + 1}).slice(0, 1, {}), b({kRows * kCols + 1}).slice(0, 1, {})},
      {"expanded", a({kRows, 1}).expand({kRows, kCols}), b({1, kCols}).expand({kRows, kCols})},
  };
}

struct DtypePair {
  Dtype left, right;
};
const DtypePair kDtypePairs[] = {
    {Dtype::float32, Dtype::float32},  {Dtype::float32, Dtype::int32}, {Dtype::uint8, Dtype::float32},
    {Dtype::float64, Dtype::bfloat16}, {Dtype::float16, Dtype::uint8}, {Dtype::bfloat16, Dtype::bfloat16},
    {Dtype::int64, Dtype::int16},      {Dtype::bool_, Dtype::float32}, {Dtype::bool_, Dtype::bool_},
};

std::string describe(const char* op, const Pattern& pattern, DtypePair dtypes) {
  return std::string(op) + " " + pattern.name + " " + dtype_name(dtypes.left) + ", " + dtype_name(dtypes.right);
}

struct BinaryOp {
  const char* name;
  Tensor (*functional)(const Arg&, const Arg&);
  Tensor& (*into)(Tensor&, const Arg&, const Arg&);
};
#define TENON_BINARY(NAME)                                                                                        \
  BinaryOp {                                                                                                      \
#NAME, [](const Arg& a,                                                                                       \
              const Arg& b) { return NAME(a, b); }, [](Tensor & out, const Arg& a,                                \
                                                       const Arg& b) -> Tensor& { return NAME##_out(out, a, b); } \
  }
const BinaryOp kBinaryOps[] = {
    TENON_BINARY(add),         TENON_BINARY(mul),        TENON_BINARY(div), TENON_BINARY(maximum),
    TENON_BINARY(minimum),     TENON_BINARY(eq),         TENON_BINARY(ne),  TENON_BINARY(lt),
    TENON_BINARY(le),          TENON_BINARY(gt),         TENON_BINARY(ge),  TENON_BINARY(logical_and),
    TENON_BINARY(logical_xor), TENON_BINARY(logical_or),
};
#undef TENON_BINARY

TEST_F(Memory, BinaryOpsTakeTheirResultAlone) {
  for (const DtypePair dtypes : kDtypePairs) {
    for (const Pattern& pattern : patterns(dtypes.left, dtypes.right)) {
      for (const BinaryOp& op : kBinaryOps) {
        // In dtypes that ops of a kind treat alike, one op is enough.
        const std::string name = op.name;
        if ((dtypes.left != Dtype::float32 || dtypes.right != Dtype::float32) && name != "add" && name != "div" &&
            name != "lt" && name != "logical_and")
          continue;
        Tensor out = op.functional(pattern.a, pattern.b);
        const int64_t nbytes = out.nbytes();
        expect_no_temporary(describe(op.name, pattern, dtypes), nbytes, [&] { op.functional(pattern.a, pattern.b); });
        expect_no_temporary(describe(op.name, pattern, dtypes) + " out=", 0,
                            [&] { op.into(out, pattern.a, pattern.b); });
      }
    }
  }
}

TEST_F(Memory, FormsWithAnAlphaAndRoundingTakeTheirResultAlone) {
  for (const DtypePair dtypes : {DtypePair{Dtype::float32, Dtype::float32}, DtypePair{Dtype::float32, Dtype::int32}}) {
    for (const Pattern& pattern : patterns(dtypes.left, dtypes.right)) {
      const Tensor divisor = pattern.b.add(2);
      const int64_t nbytes = add(pattern.a, pattern.b).nbytes();
      expect_no_temporary(describe("add alpha", pattern, dtypes), nbytes, [&] { add(pattern.a, pattern.b, 2); });
      expect_no_temporary(describe("sub alpha", pattern, dtypes), nbytes, [&] { sub(pattern.a, pattern.b, 2); });
      expect_no_temporary(describe("div floor", pattern, dtypes), nbytes, [&] { div(pattern.a, divisor, "floor"); });
      expect_no_temporary(describe("div trunc", pattern, dtypes), nbytes, [&] { div(pattern.a, divisor, "trunc"); });
    }
  }
}

TEST_F(Memory, InPlaceOpsTakeNothing) {
  const DtypePair pairs[] = {
      {Dtype::float32, Dtype::float32}, {Dtype::float32, Dtype::int32}, {Dtype::float16, Dtype::float64}};
  for (const DtypePair dtypes : pairs) {
    for (Pattern& pattern : patterns(dtypes.left, dtypes.right)) {
      const std::string name = pattern.name;
      if (name == "outer" || name == "expanded") continue;  // refused: the result is larger, or elements overlap
      // An output with gaps may overlap itself, as far as the check can tell, and is written through a copy.
      if (name == "every other column") continue;
      expect_no_temporary(describe("add_", pattern, dtypes), 0, [&] { pattern.a.add_(pattern.b); });
      expect_no_temporary(describe("maximum_", pattern, dtypes), 0, [&] { pattern.a.maximum_(pattern.b); });
      expect_no_temporary(describe("lt_", pattern, dtypes), 0, [&] { pattern.a.lt_(pattern.b); });
    }
  }
}

TEST_F(Memory, CopiesTakeTheirResultAlone) {
  for (const DtypePair dtypes : kDtypePairs) {
    for (Pattern& pattern : patterns(dtypes.left, dtypes.right)) {
      Tensor to = empty(add(pattern.a, pattern.b).sizes(), dtypes.left);
      expect_no_temporary(describe("copy_", pattern, dtypes), 0, [&] { to.copy_(pattern.b); });
      expect_no_temporary(describe("contiguous", pattern, dtypes), pattern.a.nbytes(), [&] { pattern.a.contiguous(); });
      expect_no_temporary(describe("clone", pattern, dtypes), pattern.a.nbytes(), [&] { pattern.a.clone(); });
      expect_no_temporary(describe("to", pattern, dtypes), pattern.a.numel() * itemsize(dtypes.right),
                          [&] { pattern.a.to(dtypes.right); });
      expect_no_temporary(describe("fill_", pattern, dtypes), 0, [&] { to.fill_(1); });
    }
  }
}

TEST_F(Memory, ThreeOperandsTakeTheirResultAlone) {
  for (const DtypePair dtypes : kDtypePairs) {
    const Tensor full = values({kRows, kCols}, Dtype::bool_);
    const Tensor conditions[] = {full, values({kRows, 1}, Dtype::bool_), values({kCols, kRows}, Dtype::bool_).t()};
    for (const Pattern& pattern : patterns(dtypes.left, dtypes.right)) {
      const Tensor sum_of_both = add(pattern.a, pattern.b);
      const int64_t nbytes = sum_of_both.nbytes();
      if (dtypes.left != Dtype::bool_) {
        expect_no_temporary(describe("clamp", pattern, dtypes), nbytes, [&] { clamp(pattern.a, pattern.b, 1); });
        expect_no_temporary(describe("clamp both", pattern, dtypes), nbytes,
                            [&] { clamp(pattern.a, pattern.b, pattern.b); });
        expect_no_temporary(describe("clamp max", pattern, dtypes), nbytes, [&] { clamp(pattern.a, {}, pattern.b); });
      }
      if (!(sum_of_both.sizes() == full.sizes())) continue;
      for (const Tensor& condition : conditions)
        expect_no_temporary(describe("where", pattern, dtypes), nbytes,
                            [&] { where(condition, pattern.a, pattern.b); });
    }
  }
}

TEST_F(Memory, UnaryOpsTakeTheirResultAlone) {
  using Unary = Tensor (*)(const Tensor&);
  const std::pair<const char*, Unary> ops[] = {{"abs", &abs},       {"exp", &exp},
                                               {"log", &log},       {"neg", &neg},
                                               {"square", &square}, {"reciprocal", &reciprocal},
                                               {"sqrt", &sqrt},     {"logical_not", &logical_not}};
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16, Dtype::uint8}) {
    for (const Pattern& pattern : patterns(dtype, dtype)) {
      for (const auto& [name, op] : ops) {
        const int64_t nbytes = op(pattern.a).nbytes();
        expect_no_temporary(describe(name, pattern, {dtype, dtype}), nbytes, [&, run = op] { run(pattern.a); });
      }
    }
  }
}

/// Every choice of dims of a 4-dimensional tensor, dense, channels last and with a broadcast dim.
TEST_F(Memory, ReductionsTakeTheirResultAlone) {
  struct Named {
    const char* name;
    Tensor (*run)(const Tensor&, const DimsArg&);
  };
  const Named ops[] = {
      {"sum", [](const Tensor& a, const DimsArg& dims) { return sum(a, dims); }},
      {"mean", [](const Tensor& a, const DimsArg& dims) { return mean(a, dims); }},
      {"amax", [](const Tensor& a, const DimsArg& dims) { return amax(a, dims); }},
      {"amin", [](const Tensor& a, const DimsArg& dims) { return amin(a, dims); }},
  };
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16, Dtype::uint8, Dtype::bool_, Dtype::int64}) {
    const std::pair<const char*, Tensor> operands[] = {
        {"dense", values({16, 64, 32, 32}, dtype)},
        {"channels last", values({16, 32, 32, 64}, dtype).permute({0, 3, 1, 2})},
        {"expanded", values({16, 1, 32, 32}, dtype).expand({16, 64, 32, 32})},
        {"narrow", values({kRows * kCols / 16, 2, 2, 4}, dtype)},
    };
    for (const auto& [layout, a] : operands) {
      for (const Named& op : ops) {
        if (std::string(op.name) == "mean" && !is_floating_point(dtype)) continue;
        for (unsigned chosen = 0; chosen < 16; ++chosen) {
          std::vector<int64_t> dims;
          for (int64_t dim = 0; dim < 4; ++dim)
            if (chosen >> dim & 1u) dims.push_back(dim);
          const DimsArg arg{SizesView(dims)};
          const int64_t nbytes = op.run(a, arg).nbytes();
          expect_no_temporary(
              std::string(op.name) + " " + layout + " " + dtype_name(dtype) + " dims " + to_string(SizesView(dims)),
              nbytes, [&, operand = a] { op.run(operand, arg); }, kSlack + kPartialResults);
        }
      }
    }
  }
}

/// The rest of the catalogue, of a matrix along each dim, of its transpose and of every other column.
struct MatrixCall {
  const char* name;
  std::function<List<Tensor>(const Tensor& matrix, int64_t dim)> run;
  // Bytes beyond the results and tiles, as a multiple of the operand's: docs/differences.md has the reasons. Of sorts
  // it is scratch that is freed and taken again.
  double more = 0, more_strided = 0;
};

std::vector<MatrixCall> matrix_calls() {
  const auto one = [](auto run) { return [run](const Tensor& a, int64_t dim) { return List<Tensor>{run(a, dim)}; }; };
  const auto two = [](auto run) {
    return [run](const Tensor& a, int64_t dim) {
      auto [first, second] = run(a, dim);
      return List<Tensor>{first, second};
    };
  };
  const Tensor places = randint(0, kCols, {2000}), some = randint(0, kCols, {100});
  return {
      {"prod", one([](const Tensor& a, int64_t dim) { return prod(a, dim); })},
      {"all", one([](const Tensor& a, int64_t dim) { return all(a, dim); })},
      {"any", one([](const Tensor& a, int64_t dim) { return any(a, dim); })},
      {"argmax", one([](const Tensor& a, int64_t dim) { return argmax(a, dim); })},
      {"argmin", one([](const Tensor& a, int64_t dim) { return argmin(a, dim); })},
      {"max", two([](const Tensor& a, int64_t dim) { return max(a, dim); })},
      {"min", two([](const Tensor& a, int64_t dim) { return min(a, dim); })},
      {"var", one([](const Tensor& a, int64_t dim) { return var(a, dim); })},
      {"std", one([](const Tensor& a, int64_t dim) { return std(a, dim); })},
      {"var_mean", two([](const Tensor& a, int64_t dim) { return var_mean(a, dim); })},
      {"nansum", one([](const Tensor& a, int64_t dim) { return nansum(a, dim); })},
      {"nanmean", one([](const Tensor& a, int64_t dim) { return nanmean(a, dim); }), 1.2},
      {"logsumexp", one([](const Tensor& a, int64_t dim) { return logsumexp(a, dim); })},
      {"count_nonzero", one([](const Tensor& a, int64_t dim) { return count_nonzero(a, dim); })},
      {"vector_norm", one([](const Tensor& a, int64_t dim) { return linalg_vector_norm(a, 2, dim); })},
      {"aminmax", two([](const Tensor& a, int64_t dim) { return aminmax(a, dim); })},
      {"cumsum", one([](const Tensor& a, int64_t dim) { return cumsum(a, dim); })},
      {"cumprod", one([](const Tensor& a, int64_t dim) { return cumprod(a, dim); })},
      {"cummax", two([](const Tensor& a, int64_t dim) { return cummax(a, dim); }), 2.1},
      {"cummin", two([](const Tensor& a, int64_t dim) { return cummin(a, dim); }), 2.1},
      {"logcumsumexp", one([](const Tensor& a, int64_t dim) { return logcumsumexp(a, dim); }), 0, 1.1},
      {"diff", one([](const Tensor& a, int64_t dim) { return diff(a, 1, dim); })},
      {"softmax", one([](const Tensor& a, int64_t dim) { return softmax(a, dim); }), 0, 1},
      {"log_softmax", one([](const Tensor& a, int64_t dim) { return log_softmax(a, dim); }), 0, 1},
      {"sort", two([](const Tensor& a, int64_t dim) { return sort(a, dim); }), 2.2},
      {"argsort", one([](const Tensor& a, int64_t dim) { return argsort(a, dim); }), 3.8},
      {"topk", two([](const Tensor& a, int64_t dim) { return topk(a, 10, dim); })},
      {"kthvalue", two([](const Tensor& a, int64_t dim) { return kthvalue(a, 10, dim); }), 1.1},
      {"median", two([](const Tensor& a, int64_t dim) { return median(a, dim); }), 1.1},
      {"mode", two([](const Tensor& a, int64_t dim) { return mode(a, dim); }), 1.1},
      {"quantile", one([](const Tensor& a, int64_t dim) { return quantile(a, 0.3, dim); }), 5.1},
      {"index_select", one([=](const Tensor& a, int64_t dim) { return a.index_select(dim, places); })},
      {"gather", one([](const Tensor& a, int64_t dim) {
         return a.gather(dim, zeros({100, 100}, int64));
       })},
      {"scatter", one([](const Tensor& a, int64_t dim) {
         return a.scatter(dim, zeros({100, 100}, int64), 1);
       })},
      {"index_add",
       one([=](const Tensor& a, int64_t dim) { return a.index_add(dim, some, a.narrow(dim, 0, some.numel())); }), 2.3},
      {"index_fill", one([=](const Tensor& a, int64_t dim) { return a.index_fill(dim, some, 1); })},
      {"masked_fill",
       one([](const Tensor& a, int64_t dim) { return a.masked_fill(zeros({1}, bool_).expand(a.sizes()), dim); })},
      {"flip", one([](const Tensor& a, int64_t dim) { return flip(a, {dim}); }), 0, 1.1},
      {"roll", one([](const Tensor& a, int64_t dim) { return roll(a, {3}, {dim}); })},
      {"tril", one([](const Tensor& a, int64_t) { return tril(a); })},
      {"repeat_interleave", one([](const Tensor& a, int64_t dim) { return repeat_interleave(a, 2, dim); })},
      {"repeat", one([](const Tensor& a, int64_t) {
         return a.repeat({2, 2});
       })},
      {"pad", one([](const Tensor& a, int64_t) {
         return constant_pad_nd(a, {1, 2, 2, 1});
       }),
       0.3},
      {"cat", one([](const Tensor& a, int64_t dim) {
         return cat({a, a}, dim);
       })},
      {"stack", one([](const Tensor& a, int64_t dim) {
         return stack({a, a}, dim);
       })},
      {"renorm", one([](const Tensor& a, int64_t dim) { return renorm(a, 2, dim, 1); }), 1.2},
      {"layer_norm", one([](const Tensor& a, int64_t) { return layer_norm(a, {a.size(1)}); }), 0, 1},
      {"rms_norm", one([](const Tensor& a, int64_t) { return rms_norm(a, {a.size(1)}); }), 0, 1},
      {"group_norm", one([](const Tensor& a, int64_t) { return group_norm(a, 4); }), 0, 1},
  };
}

TEST_F(Memory, TheRestOfTheCatalogueTakesItsResultAlone) {
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
    const std::pair<const char*, Tensor> operands[] = {
        {"dense", values({kRows, kCols}, dtype)},
        {"transposed", values({kCols, kRows}, dtype).t()},
        {"every other column", values({kRows, 2 * kCols}, dtype).slice(1, 0, {}, 2)},
    };
    for (const auto& [layout, a] : operands)
      for (const MatrixCall& call : matrix_calls())
        for (const int64_t dim : {0, 1}) {
          int64_t nbytes = 0;
          try {
            for (const Tensor& result : call.run(a, dim)) nbytes += result.nbytes();
          } catch (const Error&) {
            continue;  // floats alone
          }
          const double more = a.is_contiguous() ? call.more : std::max(call.more, call.more_strided);
          expect_no_temporary(
              std::string(call.name) + " " + layout + " " + dtype_name(dtype) + " dim " + std::to_string(dim), nbytes,
              [&, operand = a] { call.run(operand, dim); },
              kSlack + kPartialResults + static_cast<int64_t>(more * static_cast<double>(a.numel() * a.itemsize())));
        }
  }
}

TEST_F(Memory, AMatrixOf16BitFloatsTimesAVectorIsWidenedByTiles) {
  for (const Dtype dtype : {float16, bfloat16})
    for (const auto& [rows, columns] : {std::array<int64_t, 2>{2048, 4096}, {16, 1 << 19}, {1 << 18, 32}}) {
      const Tensor a = values({rows, columns}, dtype), row = values({rows}, dtype), column = values({columns}, dtype);
      for (const auto& [layout, matrix] : {std::pair{"dense", a}, {"transposed", values({columns, rows}, dtype).t()}}) {
        const std::string of = std::string(layout) + " " + to_string(a.sizes()) + " " + dtype_name(dtype);
        expect_no_temporary(
            "matrix, vector: " + of, row.nbytes(), [&, m = matrix] { mv(m, column); }, kSlack + kPartialResults);
        expect_no_temporary(
            "vector, matrix: " + of, column.nbytes(), [&, m = matrix] { matmul(row, m); }, kSlack + kPartialResults);
      }
    }
}

TEST_F(Memory, SumToSizeTakesItsResultAlone) {
  const Tensor grad = values({4, 64, 64, 64});
  for (const Dims& sizes : {Dims{64, 1, 1}, Dims{64}, Dims{4, 1, 64, 1}, Dims{1}})
    expect_no_temporary(
        "sum_to_size " + to_string(sizes), 4 * 64 * 4, [&] { grad.sum_to_size(sizes); }, kSlack + kPartialResults);
}

/// Passes over the same rows hold blocks of them, and derivatives what docs/python.md says is kept.
TEST_F(Memory, FusedFunctionsTakeTheirResultsAndBlocks) {
  constexpr int64_t kBlocks = kThreads * 1024 * kKiB;
  const auto chain = fuse([](const auto& a, const auto& m, const auto& s) { return clamp((a - m) / s * 2 + 1, 0, 5); });
  const auto softmax = fuse([](const auto& a) {
    const auto e = exp(a - a.amax({-1}, true));
    return e / e.sum({-1}, true);
  });
  const auto norm = fuse([](const auto& a, const auto& weight) {
    const auto d = a - a.mean({-1}, true);
    return d * ((d * d).mean({-1}, true) + 1e-5).rsqrt() * weight;
  });
  const auto scaled = fuse([](const auto& a) { return (a - a.amin({})) / (a.amax({}) - a.amin({})); });
  const auto distances = fuse([](const auto& p, const auto& q) { return square(p.unsqueeze(1) - q).sum({-1}); });
  const auto nearest =
      fuse([](const auto& p, const auto& q) { return square(p.unsqueeze(1) - q).sum({-1}).argmin(1); });
  const Tensor a = values({kRows, kCols}), row = values({kCols}), column = values({kRows, 1}) + 1;
  const Tensor points = values({2000, 8}), many = values({20000, 8}), centres = values({500, 8});
  const auto check = [&](const char* what, int64_t result_bytes, auto function, const auto&... inputs) {
    function(inputs...);  // traces it
    expect_no_temporary(
        what, result_bytes, [&] { function(inputs...); }, kSlack + kBlocks);
  };
  check("chain", a.nbytes(), chain, a, row, column);
  check("softmax", a.nbytes(), softmax, a);
  check("layer norm", a.nbytes(), norm, a, row);
  check("min-max scaling", a.nbytes(), scaled, a);
  check("pairwise distances", 2000 * 500 * 4, distances, points, centres);
  check("nearest of all", 20000 * 8, nearest, many, centres);
  const Tensor leaf = values({kRows, kCols}).requires_grad_(), grad = values({kRows, kCols});
  const auto both_ways = [&](auto function) {
    return [&grad, function](const auto& first, const auto&... others) mutable {
      autograd::grad({function(first, others...)}, {first}, {grad});
    };
  };
  check("chain both ways", 2 * a.nbytes(), both_ways(chain), leaf, row, column);
  check("softmax both ways", 2 * a.nbytes(), both_ways(softmax), leaf);
  check("layer norm both ways", 2 * a.nbytes(), both_ways(norm), leaf, row);
}

/// Shows that the check can fail.
TEST_F(Memory, ATemporaryIsSeen) {
  const Tensor a = values({kRows, kCols}), b = values({kCols, kRows});
  memory::trim();
  const int64_t in_use = memory::statistics().in_use, taken_before = taken.load();
  memory::reset_peak();
  add(a, b.t().contiguous());
  EXPECT_GT(memory::statistics().peak - in_use, a.nbytes() + kSlack);
  EXPECT_GT(taken.load() - taken_before, a.nbytes() + kSlack);
}

}  // namespace
}  // namespace tenon
