// A tensor over the memory budget is refused before it is allocated, and the text says shape and bytes.
#include "tenon/budget.h"
#include "gtest/gtest.h"
#include "tenon/storage.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

TEST(Budget, ATensorBeyondItIsRefused) {
  const int64_t before = memory::statistics().in_use;
  const memory::BudgetGuard guard(before + 1000000);
  const Tensor kept = new_tensor({1000, 200}, Dtype::float32, Device::cpu);
  const int64_t in_use = memory::statistics().in_use;
  try {
    new_tensor({1000, 60}, Dtype::float32, Device::cpu);
    FAIL() << "more bytes than the budget";
  } catch (const BudgetError& error) {
    EXPECT_EQ(std::string(error.what()),
              "not enough memory: a tensor of shape [1000, 60] takes 240000 bytes, and with the " +
                  std::to_string(before + 800000) + " bytes in use that is more than the memory budget of " +
                  std::to_string(before + 1000000) + " bytes");
  }
  EXPECT_EQ(memory::statistics().in_use, in_use);
  EXPECT_THROW(new_strided_tensor({1000, 60}, {1, 1000}, Dtype::float32, Device::cpu), BudgetError);
  EXPECT_THROW(set_sizes_and_strides(new_tensor({1}, Dtype::float32, Device::cpu), {60000}, {1}), BudgetError);
  EXPECT_NO_THROW(new_tensor({1000, 60}, Dtype::float32, Device::meta));  // no memory
  EXPECT_NO_THROW(new_tensor({1000, 4}, Dtype::float32, Device::cpu));    // small ones do not count
  EXPECT_NO_THROW(new_tensor({1000, 50}, Dtype::float32, Device::cpu));
}

TEST(Budget, TheGuardRestoresIt) {
  const int64_t before = memory::budget();
  {
    const memory::BudgetGuard guard(0);
    EXPECT_EQ(memory::budget(), 0);
  }
  EXPECT_EQ(memory::budget(), before);
  EXPECT_THROW(memory::set_budget(-1), ValueError);
}

}  // namespace
}  // namespace tenon
