// out= of every declared op, with an output that is also an input, shares memory with one, or cannot be resized: the
// value of the functional form, or an error that changes nothing.
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "error_text.h"
#include "gtest/gtest.h"

#include "declared.h"

namespace tenon {
namespace {

/// A declared op with out=, and a call of it.
struct OutCase {
  const Schema* schema;
  std::vector<std::size_t> operands;  // indices of the tensors among the values
  declared::Values values;            // the operands are set later
  std::string name;

  declared::Values with(const Tensor* in) const {
    declared::Values all = values;
    for (std::size_t i = 0; i < operands.size(); ++i) all[operands[i]] = in[i];
    return all;
  }
  Tensor call(const Tensor* in) const { return schema->function(with(in).data())[0]; }
  void call_out(Tensor& out, const Tensor* in) const { schema->out(with(in).data(), &out); }
  int arity() const { return static_cast<int>(operands.size()); }
};

std::vector<OutCase> cases_of(std::string_view kind) {
  std::vector<OutCase> cases;
  for (const Schema& schema : schemas()) {
    if (schema.kind != kind || !schema.out || schema.results != 1 || (kind == "algorithm" && !*schema.shapes)) continue;
    if (std::string_view(schema.name).starts_with("linalg_"))
      continue;  // not of any matrix: tests/python/test_linalg_against_torch.py
    for (declared::Call& call : declared::calls(schema, [](int) { return Value(Tensor()); })) {
      OutCase out_case{&schema, {}, std::move(call.values), schema.name + call.says};
      for (std::size_t i = 0; i < out_case.values.size(); ++i)
        if (out_case.values[i].is_tensor()) out_case.operands.push_back(i);
      cases.push_back(std::move(out_case));
    }
  }
  return cases;
}

/// The layout and bytes of a tensor.
std::string seen(const Tensor& tensor) {
  return to_string(tensor.sizes()) + to_string(tensor.strides()) + dtype_name(tensor.dtype()) + to_string(tensor);
}

bool same_values(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(float64).contiguous(), y = b.to(float64).contiguous();
  return a.sizes() == b.sizes() && std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<std::size_t>(x.nbytes())) == 0;
}

/// Calls `check` with every op of a kind and each dtype that it accepts; it must accept at least one.
void for_each_case(std::string_view kind, const std::function<Tensor(Dtype, const OutCase&, int operand)>& operand,
                   const std::function<void(const OutCase&, Dtype, const std::vector<Tensor>&)>& check) {
  std::map<std::string, int> runs;
  for (const OutCase& out_case : cases_of(kind)) {
    int& own = runs[out_case.schema->signature];
    for (const Dtype dtype : {float32, int32, bool_}) {
      std::vector<Tensor> in;
      for (int i = 0; i < out_case.arity(); ++i) in.push_back(operand(dtype, out_case, i));
      if (error_text([&] { out_case.call(in.data()); }) != "no error") continue;
      ++own;
      check(out_case, dtype, in);
    }
  }
  for (const auto& [signature, count] : runs) EXPECT_GT(count, 0) << signature;
}

struct QuietWarnings {
  QuietWarnings() {
    set_warning_handler([](const char*, const std::string&, const std::string&, void*) {}, nullptr);
  }
  ~QuietWarnings() { set_warning_handler(nullptr); }
};

TEST(Out, AnInputThatWouldChangeShapeIsRefused) {
  const QuietWarnings quiet;
  const auto column = [](Dtype dtype, const OutCase&, int) { return arange(1, 4).reshape({3, 1}).to(dtype); };
  for_each_case("map", column, [](const OutCase& out_case, Dtype dtype, const std::vector<Tensor>& in) {
    if (std::string_view(out_case.name).starts_with("float_power") && dtype != float64)
      return;  // the dtype is refused first
    for (int at = 0; out_case.arity() > 1 && at < out_case.arity(); ++at) {
      std::vector<Tensor> mixed = in;
      Tensor out = mixed[static_cast<std::size_t>(at)] = full({1, 1, 1}, 1, Options(dtype));
      const std::string before = seen(out);
      EXPECT_EQ(error_text([&] { out_case.call_out(out, mixed.data()); }),
                "output with shape [1, 1, 1] doesn't match the broadcast shape [1, 3, 1]")
          << out_case.name << " " << dtype_name(dtype) << " operand " << at;
      EXPECT_EQ(seen(out), before) << out_case.name;
    }
  });
}

TEST(Out, AnAliasOfAnInputMayChangeShape) {
  const QuietWarnings quiet;
  const auto column = [](Dtype dtype, const OutCase&, int) { return arange(1, 4).reshape({3, 1}).to(dtype); };
  for_each_case("map", column, [](const OutCase& out_case, Dtype dtype, const std::vector<Tensor>& in) {
    if (std::string_view(out_case.name).starts_with("float_power") && dtype != float64)
      return;  // the dtype is refused first
    for (int at = 0; out_case.arity() > 1 && at < out_case.arity(); ++at) {
      std::vector<Tensor> mixed = in;
      const Tensor input = mixed[static_cast<std::size_t>(at)] = full({1, 1, 1}, 1, Options(dtype));
      const Tensor want = out_case.call(mixed.data());
      Tensor out = input.detach();
      if (error_text([&] { out_case.call_out(out, mixed.data()); }) != "no error")
        continue;  // the result has another dtype
      EXPECT_TRUE(same_values(out, want)) << out_case.name << " operand " << at << " gives " << to_string(out);
    }
  });
}

TEST(Out, AReductionIntoItsInputGivesTheValue) {
  const QuietWarnings quiet;
  for (const Dims& sizes : {Dims{2, 5}, Dims{3, 3}, Dims{1, 1}, Dims{70, 90}}) {
    const auto matrix = [&](Dtype dtype, const OutCase&, int) {
      return arange(numel_of(sizes)).reshape(sizes).to(dtype);
    };
    for_each_case("fold", matrix, [&](const OutCase& out_case, Dtype dtype, const std::vector<Tensor>& in) {
      const Tensor want = out_case.call(in.data());
      if (want.dtype() != dtype) return;
      Tensor itself = in[0].clone();
      out_case.call_out(itself, &itself);
      EXPECT_TRUE(same_values(itself, want)) << out_case.name << " into itself gives " << to_string(itself);
      Tensor base = in[0].clone();
      for (Tensor view : {base.detach(), base.view({-1}), base.select(0, 0), base.t()}) {
        base.copy_(in[0]);
        out_case.call_out(view, &base);
        EXPECT_TRUE(same_values(view, want)) << out_case.name << " into a view gives " << to_string(view);
      }
    });
  }
}

TEST(Out, AReductionOfNothingIntoItsInput) {
  const QuietWarnings quiet;
  Tensor x = zeros({0, 5, 5});
  EXPECT_TRUE(same_values(sum_out(x, x, 0), zeros({5, 5})));
}

TEST(Out, AProductIntoAFactorGivesTheValue) {
  const QuietWarnings quiet;
  const auto factor = [](Dtype dtype, const OutCase& out_case, int i) {
    const Dims sizes = declared::sizes_of(*out_case.schema, i, {}, [](char letter) { return letter == 'j' ? 3 : 2; });
    return arange(numel_of(sizes)).reshape(sizes).to(dtype);
  };
  for_each_case("algorithm", factor, [](const OutCase& out_case, Dtype, const std::vector<Tensor>& in) {
    const Tensor want = out_case.call(in.data());
    for (int at = 0; at < out_case.arity(); ++at) {
      std::vector<Tensor> own;
      for (const Tensor& operand : in) own.push_back(operand.clone());
      Tensor out = own[static_cast<std::size_t>(at)];
      // As in PyTorch: dot's out= becomes 0-dim before multiplying, and mul refuses those of outer and ger.
      const std::string_view name = out_case.schema->name;
      if (want.dim() == 0 || name == "outer" || name == "ger") {
        EXPECT_NE(error_text([&] { out_case.call_out(out, own.data()); }), "no error") << out_case.name;
        continue;
      }
      out_case.call_out(out, own.data());
      EXPECT_TRUE(same_values(out, want)) << out_case.name;
    }
  });
}

TEST(Out, ExportedMemoryNeverMoves) {
  const QuietWarnings quiet;
  for (const char* kind : {"map", "fold", "algorithm"}) {
    const auto square = [](Dtype dtype, const OutCase& out_case, int i) {
      const Dims sizes = declared::sizes_of(*out_case.schema, i, {3, 3}, [](char) { return 3; });
      return arange(1, numel_of(sizes) + 1).reshape(sizes).to(dtype);
    };
    for_each_case(kind, square, [](const OutCase& out_case, Dtype, const std::vector<Tensor>& in) {
      const Tensor want = out_case.call(in.data());
      if (want.numel() == 1) return;
      Tensor out = ones({1}, Options(want.dtype()));
      const void* memory = out.export_data();
      const std::string before = seen(out);
      EXPECT_EQ(error_text([&] { out_case.call_out(out, in.data()); }),
                "Trying to resize storage that is not resizable")
          << out_case.name;
      EXPECT_EQ(seen(out), before) << out_case.name;
      EXPECT_EQ(out.data_ptr(), memory) << out_case.name;
    });
  }
  Tensor x = zeros({3});
  x.select(0, 1).export_data();
  EXPECT_EQ(error_text([&] { x.resize_({10}); }), "Trying to resize storage that is not resizable");
  EXPECT_EQ(to_string(x), "tensor([0., 0., 0.])");
  x.resize_({2}).resize_({3});
  EXPECT_EQ(x.numel(), 3);
}

TEST(Out, DataOfATensorKeepsItsMemory) {
  Tensor x = zeros({3});
  x.requires_grad_();
  const Tensor data = x.variable_data();
  EXPECT_EQ(error_text([&] { x.detach().resize_({1 << 16}); }), "Trying to resize storage that is not resizable");
  EXPECT_EQ(data.data_ptr(), x.data_ptr());
}

/// As in PyTorch it is refused although its memory would be left.
TEST(Out, ComplexNumbersIntoOverlappingMemoryOfOtherSizes) {
  const Tensor re = arange(6.0).reshape({2, 3}).to(float32), im = ones({3});
  for (const auto write : {complex_out, polar_out}) {
    Tensor out = zeros({1}, complex64).expand({4});
    EXPECT_THROW(write(out, re, im), Error);
    EXPECT_EQ(out.sizes(), SizesView({4}));
  }
}
/// PyTorch looks at the memory before the dtype.
TEST(Out, PolygammaOfComplexNumbersOverItself) {
  Tensor expanded = zeros({1}, complex64).expand({4}), apart = zeros({4}, complex64);
  EXPECT_EQ(error_text([&] { expanded.polygamma_(1); }).substr(0, 21), "unsupported operation");
  EXPECT_EQ(error_text([&] { apart.polygamma_(1); }), "\"trigamma\" not implemented for 'ComplexFloat'");
}
/// A part that is broadcast is expanded, whichever it is.
TEST(Out, ComplexNumbersOfBroadcastParts) {
  const Tensor full = arange(6.0).reshape({2, 3}), row = arange(3.0), column = arange(2.0).reshape({2, 1});
  for (const Tensor& part : {row, column, arange(1.0)})
    for (const Tensor& number : {complex(full, part), complex(part, full)}) {
      const bool is_first = equal(real(number), full);
      EXPECT_TRUE(equal(is_first ? imag(number) : real(number), part.expand({2, 3})));
      EXPECT_TRUE(is_first || equal(imag(number), full));
    }
  EXPECT_TRUE(equal(real(complex(row, column)), row.expand({2, 3})));
  EXPECT_TRUE(equal(imag(complex(row, column)), column.expand({2, 3})));
}

TEST(Out, AZeroDivisorLeavesTheOutputAsItWas) {
  for (const char* rounding : {"floor", "trunc"}) {
    Tensor out = ones({1}, int64);
    EXPECT_EQ(error_text([&] { div_out(out, arange(3), tensor({1, 0, 2}), rounding); }), "ZeroDivisionError");
    EXPECT_EQ(to_string(out), "tensor([1])");
  }
}

}  // namespace
}  // namespace tenon
