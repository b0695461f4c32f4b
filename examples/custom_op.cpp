#include <tenon/tenon.h>

#include <cmath>

using namespace tenon;

struct Hypot {
  static constexpr const char* name = "hypot";
  template <class T>
  static T forward(T a, T b) {
    return std::sqrt(a * a + b * b);
  }
  static Tensor grad_a(const CustomGiven& g) { return g.grad() * (g.a() / g.result()); }
  static Tensor grad_b(const CustomGiven& g) { return g.grad() * (g.b() / g.result()); }
};
const CustomOp<Hypot> hypot_op;

int main() {
  Tensor a = tensor({3., 6.}).requires_grad_(), b = tensor({{4.}, {8.}}).requires_grad_();
  const Tensor y = hypot_op(a, b);  // [2] and [2, 1] give [2, 2]
  y.sum().backward();
  const bool fits = y.sizes() == SizesView{2, 2} && b.grad().sizes() == b.sizes();
  return fits && y.index({1, 1}).item<double>() == 10 ? 0 : 1;
}
