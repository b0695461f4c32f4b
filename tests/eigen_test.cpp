// tenon/eigen.h: tensors of any layout as Eigen's maps, and Eigen's matrices as tensors, without copies.
#include "tenon/eigen.h"

#include <gtest/gtest.h>

#include <complex>

#include "error_text.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

// What cannot be written, and a map of a temporary tensor, must not compile.
template <class M>
concept Tensored = requires(M&& matrix) {
  eigen::tensor(std::forward<M>(matrix));
};
template <class X>
concept Mapped = requires(X&& x) {
  eigen::matrix<float>(std::forward<X>(x));
};
static_assert(Tensored<Eigen::MatrixXf&> && Tensored<Eigen::MatrixXf> && !Tensored<const Eigen::MatrixXf&>);
static_assert(!Tensored<Eigen::Map<const Eigen::MatrixXf>&>);
static_assert(!Tensored<decltype(std::declval<Eigen::MatrixXf&>() + std::declval<Eigen::MatrixXf&>())>);
static_assert(Mapped<Tensor&> && !Mapped<Tensor>);

TEST(Eigen, MapsEveryLayout) {
  const Tensor x = arange(24.0).reshape({4, 6}), column = arange(4.0).unsqueeze(1).expand({4, 6});
  const Tensor layouts[] = {x, x.t(), x.slice(1, 0, 6, 2), x.t().slice(0, 1, 6, 3), column, column.t(), empty({0, 3})};
  for (const Tensor& layout : layouts) {
    const auto map = eigen::matrix<const float>(layout);
    ASSERT_EQ(map.rows(), layout.size(0));
    ASSERT_EQ(map.cols(), layout.size(1));
    const Eigen::MatrixXf dense = map;
    for (int64_t i = 0; i < layout.size(0); ++i)
      for (int64_t j = 0; j < layout.size(1); ++j) EXPECT_EQ(dense(i, j), at<const float>(layout, i, j)) << i << j;
  }
}

TEST(Eigen, WritesIntoTensors) {
  const Tensor x = zeros({3, 4}), turned = x.t(), half = x.select(1, 3);
  eigen::matrix<float>(turned)(3, 1) = 7;
  EXPECT_EQ(at<float>(x, 1, 3), 7);
  eigen::rows<float>(x).row(2).setConstant(2);
  eigen::vector<float>(half).array() += 1;
  EXPECT_TRUE(equal(x, tensor({{0, 0, 0, 1}, {0, 0, 0, 8}, {2, 2, 2, 3}}, float32)));
  const Tensor z = zeros({2}, complex128);
  eigen::vector<std::complex<double>>(z)(1) = {1, 2};
  EXPECT_EQ(z[1].item().as_complex().im, 2);
}

TEST(Eigen, MultipliesAsTenonDoes) {
  const Tensor a = arange(6.0).reshape({2, 3}), b = arange(12.0).reshape({4, 3}).t();
  Eigen::MatrixXf product = eigen::rows<const float>(a) * eigen::matrix<const float>(b);
  EXPECT_TRUE(equal(eigen::tensor(product), a.matmul(b)));
}

TEST(Eigen, Refuses) {
  const Tensor x = ones({2, 3}), row = ones({3}).expand({2, 3}), gaps = ones({2, 6}).slice(1, 0, 6, 2), turned = x.t();
  EXPECT_EQ(error_text([&] { eigen::matrix<double>(x); }), "expected scalar type Double but found Float");
  EXPECT_EQ(error_text([&] { eigen::vector<float>(x); }), "strided_span: a view of 1 dims of a tensor of 2");
  EXPECT_NE(error_text([&] { eigen::matrix<float>(row); }).find("single memory location"), std::string::npos);
  EXPECT_EQ(error_text([&] { eigen::rows<float>(gaps); }),
            "eigen::rows: a row has the stride 2, not 1; contiguous() gives a tensor whose rows have no gaps");
  EXPECT_NE(error_text([&] { eigen::rows<float>(turned); }), "no error");
  EXPECT_EQ(error_text([&] { eigen::rows<const float>(row); }), "no error");
}

TEST(Eigen, TensorsShareAMatrix) {
  Eigen::MatrixXf m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  const Tensor x = eigen::tensor(m);
  EXPECT_EQ(x.strides(), (SizesView{1, 2}));
  EXPECT_TRUE(equal(x, tensor({{1, 2, 3}, {4, 5, 6}}, float32)));
  x.index({1, 2}).fill_(60);
  EXPECT_EQ(m(1, 2), 60);
  EXPECT_TRUE(equal(eigen::tensor(m.block(0, 1, 2, 2)), tensor({{2, 3}, {5, 60}}, float32)));
  EXPECT_TRUE(equal(eigen::tensor(m.row(1)), tensor({4, 5, 60}, float32)));
  EXPECT_EQ(eigen::tensor(m.row(1)).strides(), (SizesView{2}));
  Eigen::Matrix<double, 2, 2, Eigen::RowMajor> fixed;
  EXPECT_EQ(eigen::tensor(fixed).strides(), (SizesView{2, 1}));
  Eigen::ArrayXi array(0);
  EXPECT_EQ(eigen::tensor(array).sizes(), (SizesView{0}));
}

TEST(Eigen, TensorsOwnAMovedMatrix) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Identity(3, 3);
  const double* const before = m.data();
  const Tensor x = eigen::tensor(std::move(m));
  EXPECT_EQ(x.data_ptr(), before);
  EXPECT_TRUE(equal(x, eye(3, float64)));
  EXPECT_EQ(eigen::tensor(Eigen::VectorXf(Eigen::VectorXf::Ones(4))).sizes(), (SizesView{4}));
}

TEST(Eigen, HalvesAreDtypes) {
  Eigen::Matrix<Eigen::half, 2, 1> halves(Eigen::half(1.5f), Eigen::half(2.f));
  EXPECT_TRUE(equal(eigen::tensor(halves), tensor({1.5, 2.0}, float16)));
  const Tensor x = tensor({3.0}, bfloat16);
  EXPECT_EQ(static_cast<float>(eigen::vector<Eigen::bfloat16>(x)(0)), 3);
}

}  // namespace
}  // namespace tenon
