// Chooses the instruction set, once.
#include "kernel/kernel.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "base/fork.h"
#include "kernel/complex_functions.h"
#include "ops/custom_table.h"
#include "tenon/instruction_set.h"
#include "tenon/lane_loop.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/kernel.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

void fill_float32(KernelTable& table);
void fill_float64(KernelTable& table);
void fill_wide_integers(KernelTable& table);
void fill_int16(KernelTable& table);
void fill_integer_sums(KernelTable& table);
void fill_bytes(KernelTable& table);
void fill_float16(KernelTable& table);
void fill_bfloat16(KernelTable& table);
void fill_complex_dtypes(KernelTable& table);
void fill_casts(KernelTable& table);
void fill_chains(KernelTable& table);
void fill_quotients(KernelTable& table);
void fill_moves(KernelTable& table);
void fill_orders(KernelTable& table);
void fill_products(KernelTable& table);
void fill_states(KernelTable& table);
void fill_extremes(KernelTable& table);
void fill_places(KernelTable& table);
void fill_index(KernelTable& table);
void fill_scans(KernelTable& table);
void fill_random(KernelTable& table);
void fill_softmax(KernelTable& table);
void fill_normalize(KernelTable& table);
void fill_distances(KernelTable& table);
void fill_joins(KernelTable& table);
void fill_shuffles(KernelTable& table);

/// Ops on uint16, uint32 and uint64 use the kernels of signed integers of that width: the bits of the results are
/// equal.
void share_unsigned(KernelTable& table, Dtype dtype, Dtype other) {
  const auto to = static_cast<std::size_t>(dtype), from = static_cast<std::size_t>(other);
  for (std::size_t op = 0; op < kOpCount; ++op) {
    if ((row_of(static_cast<Op>(op)).dtypes & set_of(dtype)) == 0) continue;
    table.elementwise[op][to] = table.elementwise[op][from];
    table.elementwise_streamed[op][to] = table.elementwise_streamed[op][from];
  }
}

void share_bytes(KernelTable& table) {
  constexpr auto to = static_cast<std::size_t>(uint8), from = static_cast<std::size_t>(int8);
  for (std::size_t op = 0; op < kOpCount; ++op) {
    if (!ignores_sign(static_cast<Op>(op))) continue;
    table.elementwise[op][to] = table.elementwise[op][from];
    table.elementwise_streamed[op][to] = table.elementwise_streamed[op][from];
    table.elementwise_rows[op][to] = table.elementwise_rows[op][from];
  }
}

void share_formulas(KernelTable& table) {
  for (std::size_t op = 0; op < kOpCount; ++op)
    for (std::size_t dtype = 0; dtype < kDtypeCount; ++dtype) {
      const auto from = static_cast<std::size_t>(formula_of(static_cast<Op>(op), static_cast<Dtype>(dtype)));
      if (op == from || (row_of(static_cast<Op>(op)).dtypes & set_of(static_cast<Dtype>(dtype))) == 0) continue;
      if (table.elementwise[op][dtype]) continue;  // complex dtypes have their own kernel
      table.elementwise[op][dtype] = table.elementwise[from][dtype];
      table.elementwise_streamed[op][dtype] = table.elementwise_streamed[from][dtype];
      table.elementwise_rows[op][dtype] = table.elementwise_rows[from][dtype];
      table.fold[op][dtype] = table.fold[from][dtype];
      table.fold_across[op][dtype] = table.fold_across[from][dtype];
      table.fold_blocks[op][dtype] = table.fold_blocks[from][dtype];
    }
}

/// A bool is a byte that may hold any value, so that bytes are tested for nonzero by the kernels of bool.
void share_truths(KernelTable& table) {
  for (const Op op : {Op::logical_and, Op::logical_not, Op::logical_or, Op::logical_xor})
    for (const Dtype dtype : {uint8, int8}) {
      const auto row = static_cast<std::size_t>(op), to = static_cast<std::size_t>(dtype);
      table.elementwise[row][to] = table.elementwise[row][static_cast<std::size_t>(bool_)];
      table.elementwise_streamed[row][to] = table.elementwise_streamed[row][static_cast<std::size_t>(bool_)];
    }
}

/// Ops of an operand and numbers that have another op's formula.
void share_beside_numbers(KernelTable& table) {
  const auto share = [&](Op op, Op from) {
    const auto to = static_cast<std::size_t>(op), source = static_cast<std::size_t>(from);
    std::copy_n(table.beside_numbers[source], 2, table.beside_numbers[to]);
    std::copy_n(table.beside_numbers_streamed[source], 2, table.beside_numbers_streamed[to]);
  };
  share(Op::deg2rad, Op::mul);
  share(Op::rad2deg, Op::mul);
  share(Op::rrelu, Op::leaky_relu);
  share(Op::celu, Op::elu);
}

/// conj of a real dtype is a copy.
void copy_conjugates(KernelTable& table) {
  constexpr auto op = static_cast<std::size_t>(Op::conj_physical);
  for (std::size_t dtype = 0; dtype < kDtypeCount; ++dtype) {
    if (is_complex(static_cast<Dtype>(dtype))) continue;
    table.elementwise[op][dtype] = table.cast[dtype][dtype];
    table.elementwise_streamed[op][dtype] = table.cast_streamed[dtype][dtype];
  }
}

KernelTable make_table() {
  KernelTable table{};
  table.vector_bytes =
      std::max<int64_t>(16, hwy::HWY_NAMESPACE::MaxLanes(hwy::HWY_NAMESPACE::CappedTag<uint8_t, 64>()));
  fill_float32(table);
  fill_float64(table);
  fill_quotients(table);
  fill_wide_integers(table);
  fill_int16(table);
  fill_bytes(table);
  fill_float16(table);
  fill_bfloat16(table);
  fill_complex_dtypes(table);
  fill_complex_functions(table);
  fill_extremes(table);  // after the dtypes, whose folds are replaced
  share_bytes(table);
  share_formulas(table);
  share_truths(table);
  share_beside_numbers(table);
  share_unsigned(table, uint16, int16);
  share_unsigned(table, uint32, int32);
  share_unsigned(table, uint64, int64);
  fill_casts(table);
  fill_chains(table);
  copy_conjugates(table);
  fill_moves(table);
  fill_orders(table);
  fill_products(table);
  fill_integer_sums(table);
  fill_states(table);
  fill_places(table);
  fill_index(table);
  fill_scans(table);
  fill_random(table);
  fill_softmax(table);
  fill_normalize(table);
  fill_distances(table);
  fill_joins(table);
  fill_shuffles(table);
  return table;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace {

/// An instruction set of this build.
struct InstructionSet {
  int64_t target;
  KernelTable (*make_table)();
  bool (*supported)();
};

bool always() { return true; }

#if HWY_ARCH_X86
/// Whether the processor has all that Highway's AVX2 target is compiled for.
[[maybe_unused]] bool has_avx2() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return false;
  const bool f16c = (ecx & (1u << 29)) != 0;
  return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
}
[[maybe_unused]] bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}
#endif

// Best first; the last one always works, where TENON_BASELINE_TARGETS asks for no more than the machine has.
// Not Highway's detection: it needs Highway's library, which takes milliseconds to load because it calibrates a timer.
constexpr InstructionSet kSets[] = {
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX3
    {HWY_AVX3, &N_AVX3::make_table, &has_avx512},
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX2
    {HWY_AVX2, &N_AVX2::make_table, &has_avx2},
#endif
    {HWY_STATIC_TARGET, &HWY_NAMESPACE::make_table, &always},
};

const char* name_of(int64_t target) {
  switch (target) {
    case HWY_AVX3:
      return "AVX3";
    case HWY_AVX2:
      return "AVX2";
    case HWY_NEON:
      return "NEON";
    default:
      return "baseline";
  }
}

KernelTable choose_table() {
  const char* wanted = std::getenv("TENON_ISA");
  const InstructionSet* last = std::end(kSets) - 1;
  const InstructionSet* chosen = std::find_if(kSets, last, [](const InstructionSet& set) { return set.supported(); });
  if (wanted && *wanted) {
    const InstructionSet* named = std::find_if(kSets, std::end(kSets), [&](const InstructionSet& set) {
      return set.supported() && std::strcmp(wanted, name_of(set.target)) == 0;
    });
    if (named == std::end(kSets))
      std::fprintf(stderr, "TENON_ISA is ignored: this machine or this build has no '%s'\n", wanted);
    else
      chosen = named;
  }
  KernelTable table = chosen->make_table();
  table.name = name_of(chosen->target);
  return table;
}

constinit CustomTable<CustomKernels> custom_table, custom_streamed_table;

}  // namespace

const KernelTable& kernels() noexcept {
  static const KernelTable table = choose_table();
  return table;
}
static const AtLoad kernels_at_load(kernels);

const CustomKernels& custom_kernels(Op op) noexcept { return custom_table[op]; }
const CustomKernels& custom_streamed_kernels(Op op) noexcept { return custom_streamed_table[op]; }
void set_custom_kernels(Op op, const CustomKernels& kernels, const CustomKernels& streamed) {
  custom_streamed_table.make(op) = streamed;
  custom_table.make(op) = kernels;
}

const char* instruction_set() noexcept { return kernels().name; }

int simd::vector_bytes() noexcept { return static_cast<int>(kernels().vector_bytes); }

const char* compiled_instruction_sets() noexcept {
  static const std::string names = [] {
    std::string text;
    for (const InstructionSet& set : kSets) {
      if (!text.empty()) text += ' ';
      text += name_of(set.target);
    }
    return text;
  }();
  return names.c_str();
}
static const AtLoad names_at_load(compiled_instruction_sets);

}  // namespace tenon
#endif
