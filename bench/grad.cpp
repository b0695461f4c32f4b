// Forward and backward together: the cost of a broadcast operand's gradient.
#include "cases.h"

namespace bench {
namespace {

constexpr Dtype kFloat = Dtype::float32;

/// Leaves of these sizes; a size list that is {-1} is left out.
auto leaves(Dims a, Dims b, Dims c = {-1}) {
  return [=]<class Library>(Library) -> Operands<Library> {
    const auto make = [](const Dims& sizes) {
      if (sizes == Dims{-1}) return typename Library::Tensor();
      const typename Library::Recording recording;
      return Library::leaf(sizes, kFloat);
    };
    return {.a = make(a), .b = make(b), .c = make(c)};
  };
}

/// `forward(x)` gives the tensor whose sum is differentiated.
template <class Forward>
auto both_ways(Forward forward) {
  return [forward]<class Library>(Operands<Library>& x) {
    const typename Library::Recording recording;
    forward(x).sum().backward();
    for (auto* leaf : {&x.a, &x.b, &x.c}) Library::clear_grad(*leaf);
  };
}

int64_t bytes_of(std::initializer_list<Dims> sizes) {
  int64_t bytes = 0;
  for (const Dims& each : sizes) bytes += tenon::numel_of(each) * tenon::itemsize(kFloat);
  return bytes;
}

}  // namespace

void add_grad_cases(Cases& cases) {
  const Dims matrix{2048, 4096}, row{4096}, column{2048, 1}, maps{16, 64, 56, 56}, channels{64, 1, 1};
  const int64_t bytes = bytes_of({matrix, matrix});
  cases.add({"grad/([3]+[1]).sum()", 6, 700}, leaves({3}, {1}), both_ways([](auto& x) { return x.a + x.b; }));
  cases.add({"grad/([3]*[1]).sum()", 1}, leaves({3}, {1}), both_ways([](auto& x) { return x.a * x.b; }));
  cases.add({"grad/((A-m)/s).sum()", 6, 0, bytes}, leaves(matrix, row, row),
            both_ways([](auto& x) { return (x.a - x.b) / x.c; }));
  cases.add({"grad/A*[n,1]", 3, 0, bytes}, leaves(matrix, column), both_ways([](auto& x) { return x.a * x.b; }));
  cases.add({"grad/NCHW*[C,1,1]+[C,1,1]", 3, 0, bytes_of({maps, maps})}, leaves(maps, channels, channels),
            both_ways([](auto& x) { return x.a * x.b + x.c; }));
  cases.add({"grad/outer [n,1]*[n]", 3, 0, bytes}, leaves(column, row), both_ways([](auto& x) { return x.a * x.b; }));
  cases.add({"grad/expand", 3, 0, bytes}, leaves(row, matrix),
            both_ways([](auto& x) { return x.a.expand_as(x.b) * x.b; }));
  cases.add({"grad/exp of a row's sum", 1, 0, bytes}, leaves(matrix, row),
            both_ways([](auto& x) { return (x.a + x.b).exp(); }));
  cases.add({"grad/tanh of mm", 1, 0, 0}, leaves({256, 256}, {256, 256}, {256}),
            both_ways([](auto& x) { return (x.a.mm(x.b) + x.c).tanh(); }));
  // The same op recorded and not recorded: the difference is the cost of recording.
  cases.add({"grad/[3]+[1] recorded", 1, 110}, leaves({3}, {1}), []<class Library>(Operands<Library>& x) {
    const typename Library::Recording recording;
    add(x.a, x.b);
  });
  cases.add({"grad/[3]+[1] not recorded", 1, 60}, leaves({3}, {1}), [](auto& x) { add(x.a, x.b); });
}

}  // namespace bench
