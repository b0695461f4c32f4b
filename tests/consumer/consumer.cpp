// An installed library works from outside: a call, its result, a gradient, and an error that is caught across the
// boundary.
#include <tenon/tenon.h>

#include <cstdio>
#include <string>

int main() {
  const tenon::Tensor sum = tenon::ones({5, 1}) + tenon::ones({3});
  if (sum.sizes() != tenon::SizesView{5, 3} || sum.sum().item<double>() != 30) return 1;
  tenon::Tensor leaf = tenon::ones({3}).requires_grad_();
  (leaf * sum).sum().backward();
  if (leaf.grad()[0].item<double>() != 10) return 3;
  try {
    tenon::ones({2}) + tenon::ones({3});
  } catch (const tenon::Error& error) {
    std::puts(error.what());
    return std::string(error.what()).find("size of tensor a (2)") == std::string::npos;
  }
  return 2;
}
