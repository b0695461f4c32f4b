// Losses: elements by formulas or by public functions, then a mean or a sum; all are differentiated through these.
// PyTorch: torch/nn/functional.py and `mse_loss`, `cross_entropy_loss`, ... in its C++ library.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numbers>

#include "base/checked.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

enum class Reduction : uint8_t { none, mean, sum };

Reduction reduction_of(const char* word) {
  if (std::strcmp(word, "none") == 0) return Reduction::none;
  if (std::strcmp(word, "mean") == 0) return Reduction::mean;
  if (std::strcmp(word, "sum") == 0) return Reduction::sum;
  throw ValueError(std::string(word) + " is not a valid value for reduction");
}
Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::mean) return tenon::mean(loss);
  return reduction == Reduction::sum ? tenon::sum(loss) : loss;
}

/// Of a loss that is recorded as one node.
Tensor unrecorded(const Tensor& operand) { return operand.impl()->in_graph ? operand.detach() : operand; }

Tensor elements(Op op, const Tensor& a, const Tensor& b) {
  const Arg first(a), second(b);
  const Arg* const args[] = {&first, &second};
  return elementwise(op, args, 2);
}
/// What a number becomes as float32, unless the operands are float64.
double as_float32(double number, const Tensor& a, const Tensor& b) {
  if (a.dtype() == float64 || b.dtype() == float64) return number;
  return std::abs(number) > std::numeric_limits<float>::max() ? std::copysign(kInfinity, number) : number;
}
Tensor elements(Op op, const Tensor& a, const Tensor& b, double number) {
  const Arg first(a), second(b), factor(as_float32(number, a, b));
  const Arg* const args[] = {&first, &second, &factor};
  return elementwise(op, args, 3);
}

void check_weights(const Tensor& self, const Tensor& weight) {
  if (!(weight.sizes() == self.sizes())) throw ValueError("Weights and input must have the same size.");
}
Reduction weighted_reduction_of(const char* word) {
  try {
    return reduction_of(word);
  } catch (const ValueError&) {
    throw ValueError(std::string("Invalid reduction mode: ") + word + ". Expected one of 'none', 'mean', 'sum'.");
  }
}
/// The weighted elements, their sum, or their sum over that of the weights.
Tensor weighted(const Tensor& loss, const Tensor& weight, const char* word) {
  const Reduction reduction = weighted_reduction_of(word);
  const Tensor each = loss * weight;
  if (reduction == Reduction::none) return each;
  return reduction == Reduction::sum ? tenon::sum(each) : tenon::sum(each) / tenon::sum(weight);
}

std::string text(SizesView sizes) { return "torch.Size(" + to_string(sizes) + ")"; }

bool is_computed_now(const Tensor& self) { return !self.is_meta(); }

/// PyTorch has no derivative by some operands.
void check_constant(const char* op, const char* name, const Tensor& operand) {
  if (!operand.defined() || !is_recorded(operand)) return;
  throw Error(std::string("The function '") + op + "' is not differentiable with respect to argument '" + name +
              "'. This input cannot have requires_grad True.");
}

}  // namespace

// --- Differences of two tensors

namespace {

/// PyTorch broadcasts first, so sizes that do not fit are the first error.
void check_sizes(const Tensor& input, const Tensor& target) { infer_size(input.sizes(), target.sizes()); }
/// A tensor without dims as one with dims, which has a say in the common dtype.
Tensor broadcast_beside(const Tensor& self, const Tensor& other) {
  const bool has_say = self.dim() > 0 || other.dim() == 0 || self.dtype() == other.dtype();
  return has_say ? self : self.expand(other.sizes());
}

}  // namespace

Tensor plain::mse_loss(const Tensor& input, const Tensor& wanted, const char* reduction, const Tensor& weight) {
  check_sizes(input, wanted);
  const Tensor self = broadcast_beside(input, wanted), target = broadcast_beside(wanted, input);
  if (!weight.defined()) {
    const Reduction how = reduction_of(reduction);
    return reduced(elements(Op::squared_error, unrecorded(self), unrecorded(target)), how);
  }
  check_weights(self, weight);
  return weighted(tenon::square(tenon::sub(self, target)), weight, reduction);
}

Tensor plain::l1_loss(const Tensor& input, const Tensor& wanted, const char* reduction, const Tensor& weight) {
  check_sizes(input, wanted);
  const Tensor self = broadcast_beside(input, wanted), target = broadcast_beside(wanted, input);
  if (!weight.defined()) {
    const Reduction how = reduction_of(reduction);
    return reduced(tenon::abs(tenon::sub(self, target)), how);
  }
  check_weights(self, weight);
  return weighted(tenon::abs(tenon::sub(self, target)), weight, reduction);
}

Tensor plain::smooth_l1_loss(const Tensor& input, const Tensor& wanted, const char* reduction, double beta) {
  check_sizes(input, wanted);
  const Tensor self = broadcast_beside(input, wanted), target = broadcast_beside(wanted, input);
  const Reduction how = reduction_of(reduction);
  if (!(beta >= 0)) throw Error("smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) return plain::l1_loss(self, target, reduction, {});
  return reduced(elements(Op::smooth_l1_error, unrecorded(self), unrecorded(target), beta), how);
}

Tensor plain::huber_loss(const Tensor& input, const Tensor& wanted, const char* reduction, double delta,
                         const Tensor& weight) {
  check_sizes(input, wanted);
  const Tensor self = broadcast_beside(input, wanted), target = broadcast_beside(wanted, input);
  Reduction how = Reduction::none;
  if (weight.defined())
    check_weights(self, weight);
  else
    how = reduction_of(reduction);  // a wrong word is an error before a wrong delta or dtype
  if (!(delta > 0)) throw Error("huber_loss does not support non-positive values for delta.");
  check_can_cast(result_type(Arg(self), Arg(target)), self.dtype());
  if (!weight.defined()) {
    const Tensor each = elements(Op::huber_error, unrecorded(self), unrecorded(target), delta).to(self.dtype());
    return reduced(each, how);
  }
  const Tensor each = elements(Op::huber_error, self, target, delta).to(self.dtype());
  return reduced(each * weight, weighted_reduction_of(reduction));
}

// --- Probabilities of two classes

namespace {

void check_between_0_and_1(const char* name, const Tensor& probabilities) {
  if (probabilities.numel() == 0 || !is_computed_now(probabilities)) return;
  const Tensor all = probabilities.detach();
  const double lowest = tenon::amin(all).item().as_double(), highest = tenon::amax(all).item().as_double();
  if (!(lowest >= 0 && highest <= 1))  // also of NaN
    throw Error(std::string("all elements of ") + name + " should be between 0 and 1");
}

void check_same_dtype(Dtype wanted, Dtype got) {
  if (wanted == got) return;
  throw Error(std::string("Found dtype ") + scalar_type_name(got) + " but expected " + scalar_type_name(wanted));
}

}  // namespace

Tensor plain::binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                                   const char* reduction) {
  const Reduction how = reduction_of(reduction);
  if (!(target.sizes() == self.sizes()))
    throw ValueError("Using a target size (" + text(target.sizes()) + ") that is different to the input size (" +
                     text(self.sizes()) + ") is deprecated. Please ensure they have the same size.");
  check_constant("binary_cross_entropy", "weight", weight);
  check_same_dtype(self.dtype(), target.dtype());
  if (is_computed_now(self)) check_has_code(row_of(Op::binary_cross_entropy_element), self.dtype());
  check_between_0_and_1("input", self);
  check_between_0_and_1("target", target);
  Tensor loss = elements(Op::binary_cross_entropy_element, unrecorded(self), unrecorded(target));
  if (weight.defined()) loss.mul_(weight);
  return reduced(loss, how);
}

Tensor plain::binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight,
                                               const char* reduction, const Tensor& pos_weight) {
  const Reduction how = reduction_of(reduction);
  if (!(target.sizes() == self.sizes()))
    throw ValueError("Target size (" + text(target.sizes()) + ") must be the same as input size (" +
                     text(self.sizes()) + ")");
  check_constant("binary_cross_entropy_with_logits", "weight", weight);
  check_constant("binary_cross_entropy_with_logits", "pos_weight", pos_weight);
  if (is_computed_now(self)) check_has_code(row_of(Op::logits_cross_entropy), self.dtype());
  if (target.dtype() == bool_) tenon::sub(ones_like(target), target);  // throws: PyTorch's first step
  Tensor loss;
  // PyTorch's result lies like `target`; the logarithm is rounded to the dtype of `self`, 16-bit floats after each
  // step.
  const bool is_one_dtype = self.dtype() == target.dtype() && itemsize(self.dtype()) > 2;
  const bool is_fused = is_one_dtype && is_floating_point(target.dtype()) && self.strides() == target.strides();
  if (pos_weight.defined() || !is_fused) {
    // In place, as in PyTorch: operands that would change the sizes or the dtype are refused.
    Tensor logarithm = tenon::logsigmoid(self);
    if (pos_weight.defined()) logarithm.mul_((pos_weight - 1) * target + 1);
    loss = 1 - target;
    loss.mul_(self).sub_(logarithm);
  } else {
    loss = elements(Op::logits_cross_entropy, unrecorded(self), unrecorded(target)).to(target.dtype());
  }
  if (weight.defined()) loss.mul_(weight);
  // One node in PyTorch, which refuses complex results.
  if (!pos_weight.defined() && is_complex(loss.dtype()) && (is_recorded(self) || is_recorded(target)))
    throw Error(
        "binary_cross_entropy_with_logits does not support automatic differentiation for outputs with complex dtype.");
  return reduced(loss, how);
}

// --- Probabilities of many classes

Tensor plain::kl_div(const Tensor& self, const Tensor& target, const char* reduction, bool log_target) {
  const bool by_batch = std::strcmp(reduction, "batchmean") == 0;
  const Reduction how = by_batch ? Reduction::sum : reduction_of(reduction);
  if (is_complex(self.dtype()) || is_complex(target.dtype())) throw Error("kl_div: Complex inputs not supported.");
  if (!is_floating_point(self.dtype()) || !is_floating_point(target.dtype()))
    throw Error("kl_div: Integral inputs not supported.");
  Tensor loss;
  if (log_target) {
    loss = tenon::exp(target) * (target - self);
  } else {
    const Arg probabilities(target);
    const Arg* const args[] = {&probabilities};
    loss = elementwise(Op::times_own_logarithm, args, 1) - target * self;
  }
  const Tensor result = reduced(loss, how);
  return by_batch && self.dim() > 0 ? result / self.size(0) : result;
}

namespace {

int64_t class_dim(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }

/// The sizes of the targets of `self`: without its classes.
Dims target_sizes(const Tensor& self) {
  Dims sizes;
  for (int64_t dim = 0; dim < self.dim(); ++dim)
    if (dim != class_dim(self)) sizes.push_back(self.size(dim));
  return sizes;
}

void check_classes_sizes(const Tensor& self, const Tensor& target) {
  if (self.dim() < 1) throw ValueError("Expected 1 or more dimensions (got 0)");
  if (self.dim() == 1 && target.dim() == 1 && target.size(0) != 1)
    throw ValueError("For 1D input, 1D target must have size 1, but got target size: " +
                     std::to_string(target.size(0)));
  const int64_t places = target.dim() == 0 ? 0 : target.size(0);
  if (self.dim() != 1 && self.size(0) != places)
    throw ValueError("Expected input batch_size (" + std::to_string(self.size(0)) + ") to match target batch_size (" +
                     std::to_string(places) + ").");
  if (self.dim() <= 2) {
    if (target.dim() > 1) throw Error("0D or 1D target tensor expected, multi-target not supported");
    if (self.dim() == 2 && target.dim() == 0)
      throw Error("size mismatch (got input: " + to_string(self.sizes()) + ", target: " + to_string(target.sizes()) +
                  ")");
    return;
  }
  if (self.dim() == 4 && target.dim() != 3)
    throw Error("only batches of spatial targets supported (3D tensors) but got targets of dimension: " +
                std::to_string(target.dim()));
  const Dims wanted = target_sizes(self);
  if (target.sizes() == wanted) return;
  if (self.dim() == 4)
    throw Error("size mismatch (got input: " + to_string(self.sizes()) + " , target: " + to_string(target.sizes()));
  throw Error("Expected target size " + to_string(wanted) + ", got " + to_string(target.sizes()));
}

void check_class_weights(const Tensor& self, const Tensor& weight) {
  if (!weight.defined()) return;
  const int64_t classes = self.size(class_dim(self));
  if (self.dim() > 2) {  // weights of any shape
    if (weight.numel() != classes) throw Error("weight tensor should be defined either for all or no classes");
    return;
  }
  if (weight.dim() != 1 || weight.numel() != classes)
    throw Error("weight tensor should be defined either for all " + std::to_string(classes) +
                " classes or no classes but got weight tensor of shape: " + to_string(weight.sizes()));
}
void check_target_dtype(const Tensor& target) {
  if (target.dtype() == int64 || target.dtype() == uint8) return;
  throw Error(std::string("expected target dtype to be Long or Byte, but got ") + scalar_type_name(target.dtype()));
}
void check_scalar_type(Dtype wanted, Dtype got) {
  if (wanted == got) return;
  throw Error(std::string("expected scalar type ") + scalar_type_name(wanted) + " but found " + scalar_type_name(got));
}
void check_class_dtypes(const Tensor& self, const Tensor& target, const Tensor& weight, Reduction reduction) {
  const bool is_image = self.dim() > 2;
  if (is_image && is_computed_now(self) && !is_floating_point(self.dtype()))
    fail_no_code("nll_loss2d_forward_out_frame", self.dtype());
  if (is_computed_now(self)) check_has_code(row_of(Op::nll_loss), self.dtype());
  if (weight.defined()) check_scalar_type(self.dtype(), weight.dtype());
  const bool is_read = is_computed_now(self) && (target.numel() > 0 || reduction == Reduction::none);
  if (is_image && is_read) check_scalar_type(int64, target.dtype());
}

void check_classes(const Tensor& target, const Tensor& is_ignored, int64_t classes) {
  if (!is_computed_now(target) || target.numel() == 0) return;
  const Tensor is_outside = ((target < 0) | (target >= classes)) & ~is_ignored;
  if (!tenon::any(is_outside).item().as_bool()) return;
  const int64_t first = target.masked_select(is_outside).select(0, 0).item().as_int64();
  throw IndexError("Target " + std::to_string(first) + " is out of bounds.");
}

/// What target says of each place, and which places do not count.
struct Classes {
  Tensor target;      // int64, with a class for each place
  Tensor is_ignored;  // bool
};
Classes classes_of(const Tensor& self, const Tensor& target, int64_t ignore_index) {
  const Tensor wide = target.detach().to(int64);
  const Tensor is_ignored = wide == ignore_index;
  check_classes(wide, is_ignored, self.size(class_dim(self)));
  return {tenon::where(is_ignored, 0, wide), is_ignored};
}

/// Calls write(row, class) for each row that is not ignored and write(row, -1) for the others. Returns the number of
/// the former. Throws for the first class that there is not.
template <class Write>
int64_t for_each_row(const Tensor& target, int64_t classes, int64_t ignore_index, const Write& write) {
  constexpr int64_t kPart = int64_t{1} << 14;
  const int64_t rows = target.numel(), step = target.stride(0);
  const int64_t* const wanted = target.data<int64_t>();
  std::atomic<int64_t> counted{0}, outside{rows};
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "rows of classes", .stores = "in place"});
  // exact: inside the storage
  parallel_for((rows + kPart - 1) / kPart, [&](int64_t part) {
    int64_t count = 0;
    for (int64_t row = part * kPart, end = std::min(row + kPart, rows); row < end; ++row) {
      const int64_t place = wanted[row * step];
      const bool is_ignored = place == ignore_index;
      if (!is_ignored && (place < 0 || place >= classes)) {
        for (int64_t first = outside; row < first && !outside.compare_exchange_weak(first, row);) continue;
        return;
      }
      write(row, is_ignored ? -1 : place);
      count += is_ignored ? 0 : 1;
    }
    counted += count;
  });
  if (outside < rows) throw IndexError("Target " + std::to_string(wanted[outside * step]) + " is out of bounds.");
  return counted;
}
/// The losses of a matrix's rows, 0 of those that are ignored, and what their sum is divided by for the mean.
struct RowLosses {
  Tensor loss, weights;  // weights: of the rows' classes, if classes have weights
  int64_t counted;       // rows that are not ignored
};
template <class T>
RowLosses losses_of_rows(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t ignore_index) {
  const int64_t row_step = self.stride(0), step = self.stride(1);
  const Tensor loss = new_tensor(target.sizes(), self.dtype(), self.device());
  T* const to = loss.data<T>();
  const T* const from = self.data<T>();
  // exact: inside the storages
  if (!weight.defined()) {
    const int64_t counted = for_each_row(target, self.size(1), ignore_index, [=](int64_t row, int64_t place) {
      to[row] = place < 0 ? T{0} : -from[row * row_step + place * step];
    });
    return {loss, {}, counted};
  }
  const Tensor weights = new_tensor(target.sizes(), self.dtype(), self.device());
  T* const own = weights.data<T>();
  const T* const of_class = weight.data<T>();
  const int64_t weight_step = weight.stride(0);
  const int64_t counted = for_each_row(target, self.size(1), ignore_index, [=](int64_t row, int64_t place) {
    own[row] = place < 0 ? T{0} : of_class[place * weight_step];
    to[row] = place < 0 ? T{0} : -(from[row * row_step + place * step] * own[row]);
  });
  return {loss, weights, counted};
}
/// The same as nll_of_batch, in one pass. Bench: tenon_bench --ops --filter ops/nll_loss.
Tensor nll_of_matrix(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                     Reduction reduction) {
  const Tensor wide = target.detach().to(int64);
  const RowLosses rows = self.dtype() == float32 ? losses_of_rows<float>(self, wide, weight, ignore_index)
                                                 : losses_of_rows<double>(self, wide, weight, ignore_index);
  if (reduction != Reduction::mean) return reduced(rows.loss, reduction);
  if (weight.defined()) return tenon::sum(rows.loss) / tenon::sum(rows.weights);
  return tenon::sum(rows.loss) / static_cast<double>(rows.counted);
}

/// Of a batch: `self` has at least two dims.
Tensor nll_of_batch(const Tensor& self, const Classes& classes, const Tensor& weight, Reduction reduction) {
  const Tensor picked = self.gather(1, classes.target.unsqueeze(1)).squeeze(1);
  if (!weight.defined()) {
    const Tensor loss = tenon::where(classes.is_ignored, 0, -picked);
    if (reduction != Reduction::mean) return reduced(loss, reduction);
    const int64_t ignored = self.is_meta() ? 0 : tenon::sum(classes.is_ignored).item().as_int64();
    return tenon::sum(loss) / static_cast<double>(loss.numel() - ignored);
  }
  const Tensor own = weight.index_select(0, classes.target.reshape({-1})).reshape(classes.target.sizes());
  const Tensor counted = tenon::where(classes.is_ignored, 0, own);
  const Tensor loss = tenon::where(classes.is_ignored, 0, -(picked * own));
  if (reduction != Reduction::mean) return reduced(loss, reduction);
  return tenon::sum(loss) / tenon::sum(counted);
}

}  // namespace

Tensor plain::nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                       const char* reduction) {
  const Reduction how = reduction_of(reduction);
  if (target.device() != self.device()) fail_device(self.device(), target.device());
  check_classes_sizes(self, target);
  check_constant(self.dim() > 2 ? "nll_loss2d_forward" : "nll_loss_forward", "weight", weight);
  check_target_dtype(target);
  check_class_weights(self, weight);
  check_class_dtypes(self, target, weight, how);
  const PolicyExemption exempt;
  if (self.dim() > 2) {
    const Tensor weights = weight.defined() ? weight.reshape({-1}) : weight;
    return nll_of_batch(self, classes_of(self, target, ignore_index), weights, how);
  }
  const Tensor all = unrecorded(self);
  const bool is_wide = self.dtype() == float32 || self.dtype() == float64;
  if (self.dim() == 2 && is_wide && !self.is_meta() && !target.is_meta() && (!weight.defined() || !weight.is_meta()))
    return nll_of_matrix(all, target, weight.defined() ? weight.detach() : weight, ignore_index, how);
  if (self.dim() == 2) return nll_of_batch(all, classes_of(self, target, ignore_index), weight, how);
  const Tensor one = all.unsqueeze(0);
  const Tensor loss = nll_of_batch(one, classes_of(one, target.reshape({1}), ignore_index), weight, how);
  return how == Reduction::none ? loss.squeeze(0) : loss;
}

namespace {

void check_smoothing(double label_smoothing) {
  if (label_smoothing <= 1) return;
  char number[32];
  std::snprintf(number, sizeof number, "%g", label_smoothing);
  throw Error(std::string("label_smoothing must be between 0.0 and 1.0. Got: ") + number);
}

/// The weights of the classes in a shape that broadcasts with `self`.
Tensor along_classes(const Tensor& self, const Tensor& weight) {
  Dims sizes;
  for (int64_t dim = 0; dim < self.dim(); ++dim) sizes.push_back(dim == class_dim(self) ? weight.numel() : 1);
  return weight.reshape(sizes);
}

Tensor entropy_of_probabilities(const Tensor& self, const Tensor& given, const Tensor& weight, Reduction reduction,
                                double label_smoothing) {
  const int64_t dim = class_dim(self), classes = self.size(dim);
  if (weight.defined() && (weight.dim() != 1 || weight.numel() != classes))
    throw Error("cross_entropy: weight tensor should be defined either for all " + std::to_string(classes) +
                " classes or no classes but got weight tensor of shape: " + to_string(weight.sizes()));
  const Tensor logarithms = tenon::log_softmax(self, dim);
  Tensor target = given;
  if (label_smoothing > 0) {
    check_smoothing(label_smoothing);
    target = given * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes);
  }
  const Tensor products = logarithms * target;
  const Tensor each = weight.defined() ? products * along_classes(self, weight) : products;
  if (reduction == Reduction::none) return -tenon::sum(each, dim);
  const Tensor sum = -tenon::sum(each);
  if (reduction == Reduction::sum) return sum;
  // Without elements there is no number of places to divide by.
  const int64_t rows = self.numel() == 0 ? 0 : self.numel() / classes;
  const auto places = static_cast<double>(rows);
  return sum / places;
}

/// The loss if every class had the same probability.
Tensor smooth_loss(const Tensor& logarithms, const Classes& classes, const Tensor& weight, Reduction reduction) {
  const int64_t dim = class_dim(logarithms);
  const Tensor each = -tenon::sum(weight.defined() ? logarithms * along_classes(logarithms, weight) : logarithms, dim);
  const Tensor loss = tenon::where(classes.is_ignored, 0, each);
  if (reduction != Reduction::mean) return reduced(loss, reduction);
  if (!weight.defined()) return tenon::sum(loss) / tenon::sum(~classes.is_ignored);
  const Tensor own = weight.index_select(0, classes.target.reshape({-1})).reshape(classes.target.sizes());
  return tenon::sum(loss) / tenon::sum(tenon::where(classes.is_ignored, 0, own));
}

}  // namespace

Tensor plain::cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                            const char* reduction, double label_smoothing) {
  const Reduction how = reduction_of(reduction);
  const PolicyExemption exempt;
  if (self.sizes() == target.sizes()) {
    if (!is_floating_point(target.dtype()))
      throw Error(std::string("Expected floating point type for target with class probabilities, got ") +
                  scalar_type_name(target.dtype()));
    if (ignore_index >= 0) throw Error("ignore_index is not supported for floating point target");
    return entropy_of_probabilities(self, target, weight, how, label_smoothing);
  }
  if (label_smoothing > 0) check_smoothing(label_smoothing);
  if (self.dim() == 0) wrap_dim(1, 0);  // throws
  const Tensor logarithms = tenon::log_softmax(self, class_dim(self));
  const Tensor loss = tenon::nll_loss(logarithms, target, weight, ignore_index, reduction);
  if (!(label_smoothing > 0)) return loss;
  const Classes classes = classes_of(self, self.dim() == 1 ? target.reshape({}) : target, ignore_index);
  const bool gathers = weight.defined() && how == Reduction::mean && target.dtype() == uint8 && !self.is_meta();
  if (gathers && tenon::any(~classes.is_ignored).item<bool>())
    throw Error("gather(): Expected dtype int32/int64 for index");  // only by PyTorch's mean of smoothed losses
  const double share = label_smoothing / static_cast<double>(self.size(class_dim(self)));
  return loss * (1 - label_smoothing) + smooth_loss(logarithms, classes, weight, how) * share;
}

// --- Other distributions

namespace {

void check_not_negative(const Arg& var) {
  const bool is_negative = var.is_tensor() ? is_computed_now(var.tensor()) &&
                                                 tenon::any(tenon::lt(var.tensor().detach(), 0)).item().as_bool()
                                           : var.number().as_double() < 0;
  if (is_negative) throw ValueError("var has negative entry/entries");
}

/// `var` in a shape that broadcasts to `self`: one variance for each element, or for each row.
Tensor variances_of(const Tensor& self, const Tensor& var) {
  if (var.sizes() == self.sizes()) return var;
  const SizesView rows(self.sizes().data(), std::max<int64_t>(self.dim() - 1, 0));
  if (self.dim() > 0 && var.sizes() == rows) return var.unsqueeze(-1);
  Checked others(0);  // PyTorch adds the sizes of what differs: one dim of size 1
  if (var.dim() == self.dim())
    for (int64_t dim = 0; dim < self.dim(); ++dim)
      if (var.size(dim) != self.size(dim)) others = others + var.size(dim);
  if (!others.is(1)) throw ValueError("var is of incorrect size");
  return var;
}

}  // namespace

Tensor plain::gaussian_nll_loss(const Tensor& self, const Tensor& target, const Arg& var, bool full, double eps,
                                const char* reduction) {
  check_not_negative(var);
  const Tensor given = var.is_tensor() ? var.tensor() : ones_like(self) * var.number();
  const Tensor variances = variances_of(self, given).clone();
  if (std::strcmp(reduction, "none") != 0 && std::strcmp(reduction, "mean") != 0 && std::strcmp(reduction, "sum") != 0)
    throw ValueError(std::string(reduction) + " is not valid");
  // Not recorded: the gradient of a variance below eps is not 0.
  Tensor numbers = variances.detach();
  numbers.clamp_(eps, {});
  const Tensor error = tenon::square(self - target);
  Tensor loss = (tenon::log(variances) + error / variances) * 0.5;
  if (full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduced(loss, reduction_of(reduction));
}

Tensor plain::poisson_nll_loss(const Tensor& self, const Tensor& target, bool log_input, bool full, double eps,
                               const char* reduction) {
  const Reduction how = reduction_of(reduction);
  Tensor loss = log_input ? tenon::exp(self) - target * self : self - target * tenon::log(self + eps);
  if (full) {
    const Tensor stirling = target * tenon::log(target) - target + 0.5 * tenon::log(target * (2 * std::numbers::pi));
    loss.add_(tenon::where(target <= 1, 0, stirling));
  }
  return reduced(loss, how);
}

// --- Margins

Tensor plain::hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, const char* reduction) {
  const Reduction how = reduction_of(reduction);
  const Tensor apart = tenon::clamp(full_like(self, margin) - self, 0, {});
  return reduced(tenon::where(target != 1, apart, 0) + tenon::where(target != -1, self, 0), how);
}

Tensor plain::margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                                  const char* reduction) {
  const Reduction how = reduction_of(reduction);
  if (input1.dim() != input2.dim() || input1.dim() != target.dim())
    throw Error("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: " +
                text(input1.sizes()) + ", input2: " + text(input2.sizes()) + ", target: " + text(target.sizes()) + " ");
  const Tensor apart = input1 - input2;  // first, for of two refusals PyTorch's is this one
  return reduced(tenon::clamp_min(-target * apart + margin, 0), how);
}

Tensor plain::soft_margin_loss(const Tensor& self, const Tensor& target, const char* reduction) {
  const Reduction how = reduction_of(reduction);
  check_constant("soft_margin_loss", "target", target);
  Tensor product = -unrecorded(self);
  const Dims shape = infer_size(self.sizes(), target.sizes());
  if (!(self.sizes() == shape))
    throw Error("output with shape " + to_string(self.sizes()) + " doesn't match the broadcast shape " +
                to_string(shape));
  product.mul_(target);
  if (!is_inexact(self.dtype())) fail_cast(get_default_dtype(), self.dtype());
  return reduced(tenon::log1p(tenon::exp(product)), how);
}

Tensor plain::cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                                    const char* reduction) {
  const Reduction how = reduction_of(reduction);
  const int64_t dim = target.dim();
  if (dim > 1) throw Error("0D or 1D target tensor expected, multi-target not supported");
  if (input1.dim() != dim + 1 || input2.dim() != dim + 1)
    throw Error((dim == 1 ? std::string("1D target tensor expects 2D input tensors, but found inputs with sizes ")
                          : std::string("0D target tensor expects 1D input tensors, but found inputs with sizes ")) +
                to_string(input1.sizes()) + " and " + to_string(input2.sizes()) + ".");
  constexpr double kTiny = 1e-12;
  const auto squares = [&](const Tensor& input) { return tenon::sum(input * input, dim) + kTiny; };
  const Tensor products = tenon::sum(input1 * input2, dim);
  const Tensor cosine = products / tenon::sqrt(squares(input1) * squares(input2));
  const Tensor apart = tenon::clamp(cosine - margin, 0, {});
  return reduced(tenon::where(target == 1, 1 - cosine, 0) + tenon::where(target == -1, apart, 0), how);
}

}  // namespace tenon
