// Functions that Tenon runs as few passes over memory, and PyTorch op by op.
#include "tenon/fuse.h"
#include "cases.h"
#include "chain_by_hand.h"
#include "levels.h"
#include "tenon/compile.h"

namespace bench {
namespace {

/// `function(a, b, c)` over a matrix, a row and a column; Tenon's side is traced. `both_ways`: with the gradients of
/// its sum.
template <class Function>
void fused(Cases& cases, const std::string& name, int64_t rows, int64_t columns, Function function,
           bool both_ways = false) {
  const auto make = [=]<class Library>(Library) -> Operands<Library> {
    const auto tensor = [&](const Dims& sizes) {
      const typename Library::Recording recording;
      return both_ways ? Library::leaf(sizes, Dtype::float32) : Library::random(sizes, Dtype::float32);
    };
    return {.a = tensor({rows, columns}), .b = tensor({columns}), .c = tensor({rows, 1})};
  };
  const auto run = [both_ways]<class Library>(Operands<Library>& x, auto& call) {
    if (!both_ways) {
      call(x.a, x.b, x.c);
      return;
    }
    const typename Library::Recording recording;
    call(x.a, x.b, x.c).sum().backward();
    for (auto* leaf : {&x.a, &x.b, &x.c}) Library::clear_grad(*leaf);
  };
  Case c{{"fuse/" + name, 1, 0, 2 * rows * columns * tenon::itemsize(Dtype::float32)}, {}, {}};
  c.tenon = [=]() -> Work {
    auto operands = std::make_shared<Operands<Tenon>>(make(Tenon{}));
    return [operands, run, call = tenon::fuse(function)](int64_t repeats) mutable {
      for (int64_t i = 0; i < repeats; ++i) {
        run(*operands, call);
        benchmark::ClobberMemory();
      }
    };
  };
#ifdef TENON_BENCH_TORCH
  c.torch = prepare<Torch>(make, [function, run](auto& x) { run(x, function); });
#endif
  cases.add(std::move(c));
}

template <class Call>
Prepare repeated(int64_t rows, int64_t columns, Call call) {
  return [=]() -> Work {
    const auto tensor = [](const Dims& sizes) { return Tenon::random(sizes, Dtype::float32); };
    return [call, a = tensor({rows, columns}), row = tensor({columns}),
            column = tensor({rows, 1})](int64_t repeats) mutable {
      for (int64_t i = 0; i < repeats; ++i) {
        call(a, row, column);
        benchmark::ClobberMemory();
      }
    };
  };
}

/// The same function compiled, traced, op by op in PyTorch, and as a loop written by hand. `traced`: Tenon's side is
/// traced.
template <class Function>
void beside_by_hand(Cases& cases, const Level& level, Function function, bool traced) {
  const int64_t rows = level.rows, columns = level.cols;
  Case c{{std::string("fuse/chain, ") + (traced ? "traced" : "compiled") + " beside a loop by hand/" + level.name, 1, 0,
          2 * level.numel() * tenon::itemsize(Dtype::float32)},
         {},
         {}};
  c.tenon =
      traced ? repeated(rows, columns, [call = tenon::fuse(function)](const auto&... x) mutable { return call(x...); })
             : repeated(rows, columns, tenon::compile(function));
  c.limit = repeated(rows, columns, [in_memory = level.in_memory](const auto& a, const auto& row, const auto& column) {
    const auto out = tenon::empty(a.sizes());
    chain_by_hand(out.template data<float>(), a.template data<float>(), row.template data<float>(),
                  column.template data<float>(), a.size(0), a.size(1), in_memory);
    return out;
  });
#ifdef TENON_BENCH_TORCH
  c.torch = prepare<Torch>(
      [=](auto) -> Operands<Torch> {
        const auto tensor = [](const Dims& sizes) { return Torch::random(sizes, Dtype::float32); };
        return {.a = tensor({rows, columns}), .b = tensor({columns}), .c = tensor({rows, 1})};
      },
      [function](auto& x) { function(x.a, x.b, x.c); });
#endif
  cases.add(std::move(c));
}

}  // namespace

void add_fuse_cases(Cases& cases) {
  const auto chain = [](const auto& a, const auto& m, const auto& s) { return ((a - m) / s * 2 + 1).clamp(0, 5); };
  const auto gelu = [](const auto& a, const auto&, const auto&) {
    return a * 0.5 * (((a + a * a * a * 0.044715) * 0.7978845608).tanh() + 1);
  };
  const auto softmax = [](const auto& a, const auto&, const auto&) {
    const auto e = (a - a.amax({-1}, true)).exp();
    return e / e.sum({-1}, true);
  };
  const auto layer_norm = [](const auto& a, const auto& weight, const auto&) {
    const auto d = a - a.mean({-1}, true);
    return d * ((d * d).mean({-1}, true) + 1e-5).rsqrt() * weight;
  };
  const auto scale = [](const auto& a, const auto&, const auto&) {
    const auto low = a.amin({}), high = a.amax({});
    return (a - low) / (high - low);
  };
  const auto distances = [](const auto& a, const auto&, const auto&) {
    const auto d = a.unsqueeze(1) - a.unsqueeze(0);
    return (d * d).sum({-1});
  };
  fused(cases, "chain/10", 1, 10, chain);
  fused(cases, "chain/few", 16, 16, chain);
  fused(cases, "softmax by hand/few", 16, 16, softmax);
  fused(cases, "layer_norm by hand/few", 16, 16, layer_norm);
  fused(cases, "chain/rows of 32", 32, 32, chain);
  for (const Level& level : kLevels) {
    if (level.offset != 0) continue;
    if (level.cols % 16 == 0)
      for (const bool traced : {false, true}) beside_by_hand(cases, level, chain, traced);
    const std::string at = "/" + std::string(level.name);
    fused(cases, "chain" + at, level.rows, level.cols, chain);
    fused(cases, "gelu by hand" + at, level.rows, level.cols, gelu);
    fused(cases, "softmax by hand" + at, level.rows, level.cols, softmax);
    fused(cases, "layer_norm by hand" + at, level.rows, level.cols, layer_norm);
    fused(cases, "min-max scaling" + at, level.rows, level.cols, scale);
    fused(cases, "chain both ways" + at, level.rows, level.cols, chain, true);
    fused(cases, "gelu both ways" + at, level.rows, level.cols, gelu, true);
    fused(cases, "softmax both ways" + at, level.rows, level.cols, softmax, true);
    fused(cases, "layer_norm both ways" + at, level.rows, level.cols, layer_norm, true);
    fused(cases, "distances" + at, level.rows, 8, distances);
  }
}

}  // namespace bench
