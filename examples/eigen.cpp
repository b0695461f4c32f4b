// Eigen and Tenon on the same memory: a line fitted by Eigen's decomposition to points that Tenon made.
#include <Eigen/Dense>
#include <cstdio>

#include "tenon/eigen.h"
#include "tenon/tenon.h"

using namespace tenon;

int main() {
  const Tensor x = linspace(0, 1, 20, float64), y = 3 * x + 2 + 0.01 * sin(100 * x);
  const Tensor design = stack({x, ones_like(x)}, 1);
  // Eigen reads the tensors where they are.
  Eigen::VectorXd fitted =
      eigen::rows<const double>(design).colPivHouseholderQr().solve(eigen::vector<const double>(y));
  const Tensor coefficients = eigen::tensor(fitted);  // over Eigen's memory
  std::puts(to_string(coefficients).c_str());
  return allclose(coefficients, tensor({3., 2.}, float64), 0.01, 0.01) ? 0 : 1;
}
