// hstack, vstack and their relatives, block_diag, cartesian_prod, combinations: what joins tensors by other ops.
// Checks, their order and texts are PyTorch's (aten/src/ATen/native/TensorShape.cpp, TensorTransformations.cpp,
// Itertools.cpp).
#include <algorithm>
#include <string>
#include <vector>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tile/pool.h"

namespace tenon {

// --- hstack and relatives: cat of tensors with more dims

Tensor plain::atleast_1d(const Tensor& self) { return self.dim() == 0 ? self.reshape({1}) : self; }
Tensor plain::atleast_2d(const Tensor& self) {
  return self.dim() == 0 ? self.reshape({1, 1}) : self.dim() == 1 ? self.unsqueeze(0) : self;
}
Tensor plain::atleast_3d(const Tensor& self) {
  if (self.dim() == 0) return self.reshape({1, 1, 1});
  if (self.dim() == 1) return self.unsqueeze(0).unsqueeze(-1);
  return self.dim() == 2 ? self.unsqueeze(-1) : self;
}

namespace {

template <class Change>
List<Tensor> each(const List<Tensor>& tensors, const Change& change) {
  List<Tensor> changed;
  changed.reserve(tensors.size());
  for (const Tensor& tensor : tensors) changed.push_back(change(tensor));
  return changed;
}

/// The tensors that an op joins, and along which dim.
struct Stacked {
  List<Tensor> tensors;
  int64_t dim;
};
void check_any(const char* op, const List<Tensor>& tensors) {
  if (tensors.empty()) throw Error(std::string(op) + " expects a non-empty TensorList");
}
Stacked beside(const List<Tensor>& tensors) {
  check_any("hstack", tensors);
  Stacked all{each(tensors, plain::atleast_1d), 1};
  if (all.tensors[0].dim() == 1) all.dim = 0;
  return all;
}
Stacked below(const List<Tensor>& tensors) {
  check_any("vstack", tensors);
  return {each(tensors, plain::atleast_2d), 0};
}
Stacked behind(const List<Tensor>& tensors) {
  check_any("dstack", tensors);
  return {each(tensors, plain::atleast_3d), 2};
}
Stacked as_columns_beside(const List<Tensor>& tensors) {
  check_any("column_stack", tensors);
  return beside(each(tensors, [](const Tensor& tensor) {
    return tensor.dim() <= 1 ? tensor.reshape({tensor.numel(), 1}) : tensor;
  }));
}
Tensor joined(const Stacked& all) { return tenon::cat(all.tensors, all.dim); }
Tensor& joined_into(Tensor& out, const Stacked& all) { return tenon::cat_out(out, all.tensors, all.dim); }

}  // namespace

List<Tensor> plain::atleast_1d_all(const List<Tensor>& tensors) { return each(tensors, plain::atleast_1d); }
List<Tensor> plain::atleast_2d_all(const List<Tensor>& tensors) { return each(tensors, plain::atleast_2d); }
List<Tensor> plain::atleast_3d_all(const List<Tensor>& tensors) { return each(tensors, plain::atleast_3d); }

Tensor plain::hstack(const List<Tensor>& tensors) { return joined(beside(tensors)); }
Tensor& plain::hstack_out(Tensor& out, const List<Tensor>& tensors) { return joined_into(out, beside(tensors)); }
Tensor plain::vstack(const List<Tensor>& tensors) { return joined(below(tensors)); }
Tensor& plain::vstack_out(Tensor& out, const List<Tensor>& tensors) { return joined_into(out, below(tensors)); }
Tensor plain::dstack(const List<Tensor>& tensors) { return joined(behind(tensors)); }
Tensor& plain::dstack_out(Tensor& out, const List<Tensor>& tensors) { return joined_into(out, behind(tensors)); }
Tensor plain::column_stack(const List<Tensor>& tensors) { return joined(as_columns_beside(tensors)); }
Tensor& plain::column_stack_out(Tensor& out, const List<Tensor>& tensors) {
  return joined_into(out, as_columns_beside(tensors));
}

// --- block_diag, cartesian_prod, combinations

namespace {

Dtype common_dtype(const List<Tensor>& tensors) {
  std::vector<TypedOperand> operands;
  for (const Tensor& tensor : tensors) operands.push_back(typed(Arg(tensor)));
  return result_type(operands.data(), static_cast<int64_t>(operands.size()));
}

void check_blocks(const List<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].device() != tensors[0].device())
      throw Error(std::string("torch.block_diag: input tensors must all be on the same device. Input 0 is on device ") +
                  device_name(tensors[0].device()) + " and input " + std::to_string(i) + " is on device " +
                  device_name(tensors[i].device()));
    if (tensors[i].dim() > 2)
      throw Error("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input " + std::to_string(i) +
                  " has " + std::to_string(tensors[i].dim()) + " dimensions");
  }
}

void check_vector(const Tensor& tensor) {
  if (tensor.dim() != 1) throw Error("Expect a 1D vector, but got shape " + to_string(tensor.sizes()));
}

}  // namespace

Tensor plain::block_diag(const List<Tensor>& tensors) {
  if (tensors.empty()) return new_tensor({1, 0}, get_default_dtype());
  const Dtype dtype = common_dtype(tensors);
  check_blocks(tensors);
  List<Tensor> blocks;
  Checked rows = 0, columns = 0;
  for (const Tensor& tensor : tensors) {
    const Tensor source = tensor.detach();
    blocks.push_back(plain::atleast_2d(source));
    rows += blocks[blocks.size() - 1].size(0);
    columns += blocks[blocks.size() - 1].size(1);
  }
  const char* const too_large = "numel: integer multiplication overflow";
  const Tensor result =
      zeros({rows.or_throw(too_large), columns.or_throw(too_large)}, Options(dtype, tensors[0].device()));
  int64_t row = 0, column = 0;
  // exact: parts of the result
  for (const Tensor& block : blocks) {
    run_copy(result.narrow(0, row, block.size(0)).narrow(1, column, block.size(1)), block);
    row += block.size(0);
    column += block.size(1);
  }
  forget_writes(result);
  return result;
}

Tensor plain::cartesian_prod(const List<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) check_vector(tensor);
  if (tensors.size() == 1) return tensors[0];
  return tenon::stack(each(tenon::meshgrid(tensors, "ij"), [](const Tensor& grid) { return grid.flatten(); }), 1);
}

Tensor plain::combinations(const Tensor& self, int64_t r, bool with_replacement) {
  check_vector(self);
  if (r < 0) throw Error("Expect a non-negative number, but got " + std::to_string(r));
  if (r == 0) return new_tensor({0}, self.dtype(), self.device());
  const auto count = static_cast<std::size_t>(r);
  List<Tensor> vectors(count), ranges(count);
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i] = self;
    ranges[i] = arange(self.numel(), Options(int64, self.device()));
  }
  const List<Tensor> grids = tenon::meshgrid(vectors, "ij"), places = tenon::meshgrid(ranges, "ij");
  Tensor mask = ones(grids[0].sizes(), Options(bool_, self.device()));
  for (std::size_t i = 0; i + 1 < count; ++i)
    mask = tenon::logical_and(
        mask, with_replacement ? tenon::le(places[i], places[i + 1]) : tenon::lt(places[i], places[i + 1]));
  return tenon::stack(each(grids, [&](const Tensor& grid) { return grid.masked_select(mask); }), 1);
}

// --- vander

namespace {

/// The dtype in which PyTorch multiplies.
Dtype widest(Dtype dtype) {
  if (is_complex(dtype)) return complex128;
  return dtype == float32 || dtype == float64 ? float64 : is_floating_point(dtype) ? float32 : int64;
}

/// The powers of eight numbers at once: a product waits for the one before. Bench: tenon_bench --ops --filter
/// ops/vander.
template <class To, class Wide>
void write_powers(To* to, const Wide* factors, int64_t rows, int64_t columns, bool increasing) {
  constexpr int64_t kTogether = 8;
  for (int64_t row = 0; row < rows; row += kTogether) {
    check_interrupt();
    const int64_t count = std::min(kTogether, rows - row);
    Wide powers[kTogether], own[kTogether];
    for (int64_t i = 0; i < count; ++i) powers[i] = 1, own[i] = factors[row + i];
    for (int64_t column = 0; column < columns; ++column) {
      // exact: inside the result
      To* const at = to + row * columns + (increasing ? column : columns - 1 - column);
      for (int64_t i = 0; i < count; ++i) {
        at[i * columns] = static_cast<To>(powers[i]);
        powers[i] *= own[i];
      }
    }
  }
}

}  // namespace

Tensor plain::vander(const Tensor& x, std::optional<int64_t> count, bool increasing) {
  if (x.dim() != 1) throw Error("x must be a one-dimensional tensor.");
  if (count && *count < 0) throw Error("N must be non-negative.");
  const int64_t columns = count.value_or(x.size(0));
  const Dtype dtype = promote_types(x.dtype(), int64);
  if (columns == 0) return new_tensor({x.size(0), 0}, dtype, x.device());
  const Tensor factor = x.to(widest(dtype));
  if (!x.is_meta() && !is_recorded(x) && (dtype == float32 || dtype == float64 || dtype == int64)) {
    const Tensor result = new_tensor({x.size(0), columns}, dtype, x.device()), wide = factor.contiguous();
    const int64_t rows = x.size(0);
    if (dtype == float32)
      write_powers(result.data<float>(), wide.data<double>(), rows, columns, increasing);
    else if (dtype == float64)
      write_powers(result.data<double>(), wide.data<double>(), rows, columns, increasing);
    else  // unsigned: products wrap
      write_powers(static_cast<uint64_t*>(result.data_ptr()), static_cast<const uint64_t*>(wide.data_ptr()), rows,
                   columns, increasing);
    return result;
  }
  List<Tensor> powers;
  powers.reserve(static_cast<std::size_t>(columns));  // too many are an error now
  powers.push_back(ones(x.sizes(), Options(factor.dtype(), x.device())));
  for (int64_t i = 1; i < columns; ++i) powers.push_back(i == 1 ? factor : powers[powers.size() - 1] * factor);
  const Tensor result = tenon::stack(powers, 1).to(dtype);
  return increasing ? result : result.flip({1});
}

}  // namespace tenon
