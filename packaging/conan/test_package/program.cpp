#include <tenon/span.h>
#include <tenon/tenon.h>

int main() {
  const tenon::Tensor sum = tenon::arange(3.0).reshape({3, 1}) + tenon::ones({4});
  const tenon::Tensor half = tenon::linalg_inv(tenon::full({1, 1}, 2.0));  // libtenon_extension is found, too
  return tenon::at<float>(sum, 2, -1) == 3 && half.item<float>() == 0.5f ? 0 : 1;
}
