// The same operations on one core and on all of them.
#include "cases.h"
#include "levels.h"

namespace bench {
namespace {

/// The second operand: a matrix, a transposed matrix or a row.
enum class Second { full, row, transposed };

template <class Op>
void on_one_and_all(Cases& cases, const std::string& name, Second second, int64_t side, int64_t bytes, Op op) {
  const auto make = [=]<class Library>(Library) -> Operands<Library> {
    const Dims sizes{side, side};
    auto b = Library::random(second == Second::row ? Dims{side} : sizes, Dtype::float32);
    return {.out = Library::random(sizes, Dtype::float32),
            .a = Library::random(sizes, Dtype::float32),
            .b = second == Second::transposed ? b.t() : b};
  };
  cases.add({"threads/" + name + "/1", 1, 0, bytes, 1}, make, op);
  cases.add({"threads/" + name + "/all", 1, 0, bytes, 0}, make, op);
}

}  // namespace

void add_thread_cases(Cases& cases) {
  const auto add_to_out = [](auto& x) { add_out(x.out, x.a, x.b); };
  const auto exp_to_out = [](auto& x) { exp_out(x.out, x.a); };
  constexpr int64_t kSmallSide = 192;  // of few elements more than PyTorch computes on one thread
  on_one_and_all(cases, "exp 192", Second::row, kSmallSide, 2 * kSmallSide * kSmallSide * 4, exp_to_out);
  for (const int64_t side : {256, 1024, 4096}) {
    const std::string level = " " + std::to_string(side);
    const int64_t bytes = side * side * tenon::itemsize(Dtype::float32);
    on_one_and_all(cases, "equal" + level, Second::full, side, 3 * bytes, add_to_out);
    on_one_and_all(cases, "row" + level, Second::row, side, 2 * bytes, add_to_out);
    on_one_and_all(cases, "A+B.T" + level, Second::transposed, side, 3 * bytes, add_to_out);
    on_one_and_all(cases, "exp" + level, Second::row, side, 2 * bytes, exp_to_out);
    on_one_and_all(cases, "sum" + level, Second::row, side, bytes, [](auto& x) { sum(x.a); });
  }
}

}  // namespace bench
