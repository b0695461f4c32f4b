// A plug-in that computes with threads.
#include <tenon/tenon.h>

extern "C" __attribute__((visibility("default"))) double work(int n) {
  tenon::set_num_threads(3);
  const tenon::Tensor a = tenon::ones({n});
  tenon::Tensor leaf = tenon::ones({10}).requires_grad_();
  (leaf * 2).sum().backward();
  try {
    a + tenon::ones({3});
  } catch (const tenon::Error&) {
  }
  return (a + a).sum().item<double>() + leaf.grad()[0].item<double>();
}
