#include <tenon/tenon.h>

int main() {
  tenon::Tensor a = tenon::ones({4, 3}).requires_grad_(), b = tenon::ones({3}).requires_grad_();
  (a * b).sum().backward();
  const bool fits = a.grad().sizes() == a.sizes() && b.grad().sizes() == b.sizes();
  return fits && b.grad()[0].item<double>() == 4 ? 0 : 1;
}
