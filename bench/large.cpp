// Elementwise operations limited by memory bandwidth: every access pattern at every level.
#include <algorithm>

#include "cases.h"
#include "levels.h"

namespace bench {
namespace {

constexpr Dtype boolean = Dtype::bool_, u8 = Dtype::uint8, i32 = Dtype::int32;
constexpr Dtype i64 = Dtype::int64, c64 = Dtype::complex64;
constexpr Dtype f16 = Dtype::float16, bf16 = Dtype::bfloat16, f32 = Dtype::float32, f64 = Dtype::float64;

/// An operand's sizes, relative to a level's.
enum class Of {
  none,
  full,
  row,
  column,
  transposed,  // [rows, cols]
  triples,
  triple,
  triples_column,  // [N, 3]
  quads,
  quads_column,  // [N, 4]
  maps56,
  channels56,
  maps7,
  channels7,  // NCHW
};

Dims maps(const Level& level, int64_t side, int64_t most_channels) {
  if (level.numel() % 2 != 0 && side % 2 == 0) --side, --most_channels;
  const int64_t planes = std::max<int64_t>(1, level.numel() / (side * side));
  const int64_t channels = std::min(planes, most_channels);
  return {planes / channels, channels, side, side};
}
Dims channels_of(const Dims& maps) { return {maps[1], 1, 1}; }

Dims sizes_of(Of of, const Level& level) {
  switch (of) {
    case Of::none:
      return {0};
    case Of::full:
      return {level.rows, level.cols};
    case Of::row:
      return {level.cols};
    case Of::column:
      return {level.rows, 1};
    case Of::transposed:
      return {level.cols, level.rows};
    case Of::triples:
      return {level.numel() / 3, 3};
    case Of::triple:
      return {3};
    case Of::triples_column:
      return {level.numel() / 3, 1};
    case Of::quads:
      return {level.numel() / 4, 4};
    case Of::quads_column:
      return {level.numel() / 4, 1};
    case Of::maps56:
      return maps(level, 56, 64);
    case Of::channels56:
      return channels_of(maps(level, 56, 64));
    case Of::maps7:
      return maps(level, 7, 512);
    case Of::channels7:
      return channels_of(maps(level, 7, 512));
  }
  return {};
}

struct Operand {
  Of of = Of::none;
  Dtype dtype = f32;
};

struct Pattern {
  const char* name;
  double in_cache, in_memory;  // smallest accepted ratios
  Operand out, a, b = {}, c = {};
};

template <class Library>
typename Library::Tensor make_operand(const Operand& operand, const Level& level) {
  typename Library::Tensor made = random_at<Library>(sizes_of(operand.of, level), operand.dtype, level.offset);
  return operand.of == Of::transposed ? made.t() : made;
}

int64_t bytes_of(const Operand& operand, const Level& level) {
  return tenon::numel_of(sizes_of(operand.of, level)) * tenon::itemsize(operand.dtype);
}

/// Adds an op with several patterns at every level.
template <class Op>
void add_patterns(Cases& cases, std::initializer_list<Pattern> patterns, Op op) {
  for (const Pattern& pattern : patterns) {
    for (const Level& level : kLevels) {
      const int64_t bytes = bytes_of(pattern.out, level) + bytes_of(pattern.a, level) + bytes_of(pattern.b, level) +
                            bytes_of(pattern.c, level);
      cases.add(
          {std::string(pattern.name) + "/" + level.name, level.in_memory ? pattern.in_memory : pattern.in_cache, 0,
           bytes},
          [pattern, level]<class Library>(Library) -> Operands<Library> {
            return {.out = make_operand<Library>(pattern.out, level),
                    .a = make_operand<Library>(pattern.a, level),
                    .b = make_operand<Library>(pattern.b, level),
                    .c = make_operand<Library>(pattern.c, level)};
          },
          op);
    }
  }
}

/// A result that the next op reads: whether it should have stayed in the cache. Targets are for results that fit it.
void add_chains(Cases& cases) {
  for (const int64_t mib : {1, 4, 6, 12, 64}) {
    const int64_t numel = mib * (int64_t{1} << 18);
    const auto operands = [numel]<class Library>(Library) -> Operands<Library> {
      return {
          .out = Library::random({numel}, f32), .a = Library::random({numel}, f32), .b = Library::random({numel}, f32)};
    };
    const std::string size = " " + std::to_string(mib) + " MiB";
    cases.add({"chain/add, sum" + size, 1, 0, 4 * numel * 4}, operands, [](auto& x) {
      add_out(x.out, x.a, x.b);
      sum(x.out);
    });
    cases.add({"chain/add, mul_" + size, 1, 0, 5 * numel * 4}, operands, [](auto& x) {
      add_out(x.out, x.a, x.b);
      x.out.mul_(x.b);
    });
  }
}

}  // namespace

void add_large_cases(Cases& cases) {
  add_chains(cases);
  // clang-format off
  constexpr Operand full{Of::full}, row{Of::row}, column{Of::column}, truth{Of::full, boolean};
  add_patterns(cases, {
      {"large/equal",           1.4, 1.4, full, full, full},
      {"large/row",             1.4, 1.4, full, full, row},
      {"large/column",          1.4, 1.4, full, full, column},
      {"large/outer",           1,   1,   full, column, row},
      {"large/NCHW 56x56",      1.4, 1.4, {Of::maps56}, {Of::maps56}, {Of::channels56}},
      {"large/NCHW 7x7",        1.4, 1.4, {Of::maps7}, {Of::maps7}, {Of::channels7}},
      {"large/[N,3]+[3]",       3.5, 3.5, {Of::triples}, {Of::triples}, {Of::triple}},
      {"large/[N,3]+[N,1]",     1,   1,   {Of::triples}, {Of::triples}, {Of::triples_column}},
      {"large/[N,4]+[N,1]",     3.5, 3.5, {Of::quads}, {Of::quads}, {Of::quads_column}},
      {"large/A+B.T",           7,   7,   full, full, {Of::transposed}},
      {"large/A.T+B.T",         1,   1,   full, {Of::transposed}, {Of::transposed}},
      {"large/f32+i32",         5,   5,   full, full, {Of::full, i32}},
      {"large/bf16+bf16",       1,   1,   {Of::full, bf16}, {Of::full, bf16}, {Of::full, bf16}},
      {"large/f16+f16",         1,   1,   {Of::full, f16}, {Of::full, f16}, {Of::full, f16}},
  }, [](auto& x) { add_out(x.out, x.a, x.b); });
  add_patterns(cases, {
      {"large/u8*f32",          5,   5,   full, {Of::full, u8}, full},
  }, [](auto& x) { mul_out(x.out, x.a, x.b); });
  add_patterns(cases, {
      {"large/equal, allocated", 1,  5,   full, full, full},
      {"large/row, allocated",   1,  5,   full, full, row},
  }, [](auto& x) { add(x.a, x.b); });
  add_patterns(cases, {
      {"large/equal, in-place", 1,   1,   full, full, full},
      {"large/row, in-place",   1,   1,   full, full, row},
  }, [](auto& x) { x.a.add_(x.b); });
  add_patterns(cases, {
      {"large/f32<f32",         3,   3,   truth, full, full},
      {"large/f32<row",         3,   3,   truth, full, row},
      {"large/u8<u8",           3,   3,   truth, {Of::full, u8}, {Of::full, u8}},
  }, [](auto& x) { lt_out(x.out, x.a, x.b); });
  add_patterns(cases, {
      {"large/f32==number",     3,   3,   truth, full},
  }, [](auto& x) { eq_out(x.out, x.a, 1); });
  add_patterns(cases, {
      {"large/where",           1,   1,   full, full, full, truth},
      {"large/where row",       1,   1,   full, full, row, truth},
  }, [](auto& x) { where_out(x.out, x.c, x.a, x.b); });
  add_patterns(cases, {
      {"large/clamp",           1,   1,   full, full},
  }, [](auto& x) { clamp_out(x.out, x.a, 0.6, 1.2); });
  add_patterns(cases, {
      {"large/exp",             1,   1,   full, full},
      {"large/exp f64",         1,   1,   {Of::full, f64}, {Of::full, f64}},
      {"large/exp c64",         1.5, 1.5, {Of::full, c64}, {Of::full, c64}},
  }, [](auto& x) { exp_out(x.out, x.a); });
  add_patterns(cases, {
      {"large/pow i32",         1.5, 1.5, {Of::full, i32}, {Of::full, i32}, {Of::full, i32}},
      {"large/pow i64",         1.5, 1.5, {Of::full, i64}, {Of::full, i64}, {Of::row, i64}},
  }, [](auto& x) { pow_out(x.out, x.a, x.b); });
  add_patterns(cases, {
      {"large/log c64",         1.5, 1.5, {Of::full, c64}, {Of::full, c64}},
  }, [](auto& x) { log_out(x.out, x.a); });
  add_patterns(cases, {
      {"large/angle c64",       1,   1,   full, {Of::full, c64}},
  }, [](auto& x) { angle_out(x.out, x.a); });
  add_patterns(cases, {
      {"large/copy row",        1,   1,   full, row},
      {"large/copy A.T",        1,   1,   full, {Of::transposed}},
      {"large/copy i32 to f32", 1,   1,   full, {Of::full, i32}},
  }, [](auto& x) { x.out.copy_(x.a); });
  // clang-format on
}

}  // namespace bench
