// Normalization of rows. PyTorch: `layer_norm_cpu`, `native_group_norm`, `rms_norm_composite`.
#include "dispatch/normalize.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/shape.h"
#include "tile/cast.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

// Elements of a thread's part: work that is smaller stays on the caller.
constexpr int64_t kPartElements = 1 << 14;
// Elements of 16-bit floats that are cast at once: they stay in the cache while they are read twice.
constexpr int64_t kTileElements = 1 << 11;
// Most rows whose gradients are added to one sum for each weight, in one chain of additions.
constexpr int64_t kSummedRows = 64;
// Shorter segments get a weight for each element: a loop for each of them would cost more. Longer ones do if many
// images share the weights.
constexpr int64_t kShortSegment = 16, kRatherShortSegment = 64, kManyRows = 4;

std::string text(int64_t number) { return std::to_string(number); }
Tensor wide(const Tensor& tensor) { return run_to(tensor, widened(tensor.dtype()), MemoryFormat::contiguous); }
/// As contiguous elements; undefined stays.
Tensor packed(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_contiguous()) return tensor;
  return run_clone(tensor, MemoryFormat::contiguous);
}
std::byte* data_of(const Tensor& tensor) {
  return tensor.defined() ? reinterpret_cast<std::byte*>(tensor.impl()->data()) : nullptr;
}

/// A contiguous tensor whose elements are read or written as `inside`.
struct Elements {
  std::byte* data;
  Dtype dtype, inside;

  explicit Elements(const Tensor& tensor)
      : data(data_of(tensor)), dtype(tensor.dtype()), inside(widened(tensor.dtype())) {}
  bool casts() const { return dtype != inside; }
  std::byte* at(int64_t first) const { return data + first * itemsize(dtype); }  // exact: inside the storage

  /// Elements from `first` on, which are cast to `scratch` if they are narrow.
  const std::byte* read(int64_t first, int64_t count, std::byte* scratch) const {
    if (!casts()) return at(first);
    cast_lanes(scratch, inside, at(first), dtype, count);
    return scratch;
  }
  /// Where to compute elements that write() then stores.
  std::byte* target(int64_t first, std::byte* scratch) const { return casts() ? scratch : at(first); }
  void write(int64_t first, int64_t count, const std::byte* scratch) const {
    if (casts()) cast_lanes(at(first), dtype, scratch, inside, count);
  }
};

void note(int64_t scratch_bytes) {
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "along", .stores = "in place", .scratch_bytes = scratch_bytes});
}

/// The largest power of 2 that divides `number` and is at most `limit`.
int64_t part_of(int64_t number, int64_t limit) {
  int64_t part = 1;
  while (part * 2 <= limit && number % (part * 2) == 0) part *= 2;
  return part;
}

/// Calls body(first row, number of rows, scratch) for tiles of rows; scratch holds `arrays` tiles of float32. A thread
/// takes whole blocks of rows, and no tile lies in two of them; 1: there are none.
/// One body for all, whatever it calls: the code around it is compiled once.
using TileBody = std::function<void(int64_t first, int64_t count, std::byte* scratch)>;
void for_tiles(const void* out, const RowsToNormalize& rows, int64_t arrays, int64_t block, const TileBody& body) {
  // exact: at most the number of elements, or few
  const int64_t length = std::max<int64_t>(rows.length, 1);
  const int64_t fitting = std::max<int64_t>(kTileElements / length, 1);
  const int64_t tile = block == 1 ? fitting : part_of(block, fitting);
  const int64_t unit = std::max(tile, block);
  const int64_t part_rows = std::max<int64_t>(kPartElements / (length * unit), 1) * unit;
  const int64_t bytes = arrays * std::min(tile, rows.count) * rows.length * int64_t{sizeof(float)};
  note(bytes);
  run_or_plan(
      out, (rows.count + part_rows - 1) / part_rows, [&] { return Scratch(bytes); },
      [&](Scratch& scratch, int64_t part) {
        check_interrupt();
        const int64_t end = std::min(rows.count, (part + 1) * part_rows);
        for (int64_t row = part * part_rows; row < end; row += tile)
          body(row, std::min(tile, end - row), scratch.data());
      });
}

const NormalizeKernels& kernel_for(Dtype inside) { return kernels().normalize[static_cast<std::size_t>(inside)]; }

/// The weights of the channels as the kernel reads them.
Tensor weights_for(const Tensor& given, const RowsToNormalize& rows, bool repeats) {
  if (!given.defined()) return given;
  const Tensor weight = wide(given.detach());
  if (!repeats) return packed(weight);
  return run_clone(weight.unsqueeze(-1).expand({weight.numel(), rows.segment}), MemoryFormat::contiguous);
}

Tensor normalized(const Tensor& self, const Tensor& weight, const Tensor& bias, RowsToNormalize rows) {
  Tensor result = new_tensor(self.sizes(), self.dtype(), self.device());
  if (!is_computed(self) || self.numel() == 0) return result;
  const bool has_weights = weight.defined() || bias.defined();
  const int64_t longest = rows.count >= kManyRows * rows.groups ? kRatherShortSegment : kShortSegment;
  const bool repeats = has_weights && rows.segment > 1 && rows.segment < longest;
  if (!has_weights) rows.groups = 1;
  const Tensor weights = weights_for(weight, rows, repeats), biases = weights_for(bias, rows, repeats);
  if (repeats || !has_weights) rows.spread_weights();
  rows.weight = data_of(weights);
  rows.bias = data_of(biases);
  const Tensor input = packed(self.detach());
  const Elements from(input), to(result);
  const auto run_rows = kernel_for(from.inside).rows;
  for_tiles(to.data, rows, from.casts() ? 1 : 0, 1, [&](int64_t row, int64_t count, std::byte* scratch) {
    const int64_t start = row * rows.length, n = count * rows.length;  // exact: inside the storages
    const std::byte* const source = from.read(start, n, scratch);
    run_rows(to.target(start, scratch), source, row, count, rows);
    to.write(start, n, scratch);
  });
  return result;
}

/// Whether parameters are of float32 with an input of 16-bit floats. The errors of others.
bool is_mixed(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor& first = weight.defined() ? weight : bias;
  if (!first.defined() || first.dtype() == input.dtype()) return false;
  for (const Tensor* parameter : {&weight, &bias})
    if (parameter->defined() && parameter->dtype() != float32)
      throw Error("mixed dtype (CPU): expect parameter to have scalar type of Float");
  if (widened(input.dtype()) == input.dtype()) throw Error("mixed dtype (CPU): all inputs must share same datatype.");
  return true;
}
void check_parameter_dtypes(const Tensor& input, const Tensor& weight, const Tensor& bias, Op op) {
  check_has_code(row_of(op), input.dtype());
  const Dtype expected = is_mixed(input, weight, bias) ? float32 : input.dtype();
  for (const Tensor* parameter : {&weight, &bias})
    if (parameter->defined() && parameter->dtype() != expected)
      throw Error(std::string("expected scalar type ") + scalar_type_name(expected) + " but found " +
                  scalar_type_name(parameter->dtype()));
}

void check_parameter_shape(const char* name, const Tensor& parameter, SizesView shape) {
  if (parameter.defined() && parameter.sizes() != shape)
    throw Error(std::string("Expected ") + name + " to be of same shape as normalized_shape, but got " + name +
                " of shape " + to_string(parameter.sizes()) + " and normalized_shape = " + to_string(shape));
}
/// `separator`: of rms_norm, PyTorch's text lacks it.
void check_normalized_shape(const Tensor& input, SizesView shape, const Tensor& weight, const Tensor& bias,
                            const char* separator) {
  if (shape.empty())
    throw Error(
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
        "normalized_shape = []");
  check_parameter_shape("weight", weight, shape);
  check_parameter_shape("bias", bias, shape);
  const int64_t leading = input.dim() - shape.size();
  if (leading < 0 && separator[0] == '\0')
    throw ValueError("Input tensor must have at least " + text(shape.size()) + " dimensions, but got " +
                     text(input.dim()));
  if (leading >= 0 && SizesView(input.sizes().data() + leading, shape.size()) == shape) return;
  const std::string list = to_string(shape);
  throw Error("Given normalized_shape=" + list + ", expected input with shape [*" + separator + list.substr(1) +
              ", but got input of size" + to_string(input.sizes()));
}

}  // namespace

RowsToNormalize rows_of_layers(SizesView sizes, SizesView normalized_shape, double eps) {
  RowsToNormalize rows;
  rows.eps = eps;
  rows.length = rows.count = 1;
  // exact: parts of the number of elements
  for (const int64_t size : normalized_shape) rows.length *= size;
  rows.own = rows.length;
  for (int64_t dim = 0; dim < sizes.size() - normalized_shape.size(); ++dim) rows.count *= sizes[dim];
  return rows;
}

RowsToNormalize rows_of_groups(SizesView sizes, int64_t num_groups, double eps) {
  RowsToNormalize rows;
  rows.eps = eps;
  rows.groups = num_groups;
  // exact: parts of the number of elements
  for (int64_t dim = 2; dim < sizes.size(); ++dim) rows.segment *= sizes[dim];
  rows.own = sizes[1] / num_groups;
  rows.length = rows.own * rows.segment;
  rows.count = sizes[0] * num_groups;
  return rows;
}

// --- The ops

Tensor plain::layer_norm(const Tensor& input, SizesView normalized_shape, const Tensor& weight, const Tensor& bias,
                         double eps) {
  if (is_computed(input)) is_mixed(input, weight, bias);
  check_normalized_shape(input, normalized_shape, weight, bias, ", ");
  if (is_computed(input)) check_parameter_dtypes(input, weight, bias, Op::layer_norm);
  return normalized(input, weight, bias, rows_of_layers(input.sizes(), normalized_shape, eps));
}

Tensor plain::group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                         double eps) {
  input.size(0);  // the error of a dim out of range
  const int64_t channels = input.size(1);
  if (num_groups <= 0) throw Error("Expected num groups to be greater than 0, got " + text(num_groups));
  if (channels % num_groups != 0)
    throw Error("Expected number of channels in input to be divisible by num_groups, but got input of shape " +
                to_string(input.sizes()) + " and num_groups=" + text(num_groups));
  const auto check = [&](const char* name, const Tensor& parameter) {
    if (!parameter.defined() || (parameter.dim() == 1 && parameter.numel() == channels)) return;
    // PyTorch says the weight's shape of both.
    throw Error(std::string("Expected ") + name +
                " to be a vector of size equal to the number of channels in input, but got " + name + " of shape " +
                (weight.defined() ? to_string(weight.sizes()) : "[0]") + " and input of shape " +
                to_string(input.sizes()));
  };
  check("weight", weight);
  check("bias", bias);
  if (is_computed(input)) {
    is_mixed(input, weight, bias);
    check_parameter_dtypes(input, weight, bias, Op::group_norm);
  }
  const Tensor result = normalized(input, weight, bias, rows_of_groups(input.sizes(), num_groups, eps));
  const MemoryFormat format = format_of(input.sizes(), input.strides());
  return format == MemoryFormat::contiguous ? result : run_clone(result, format);
}

namespace {

double smallest_step(Dtype dtype) {
  return dtype == float64 || dtype == complex128 ? std::numeric_limits<double>::epsilon()
                                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// By ops that are recorded, as PyTorch records it.
Tensor rms_norm_by_ops(const Tensor& input, int64_t dims, const Tensor& weight, double eps) {
  Dims last;
  for (int64_t dim = -dims; dim < 0; ++dim) last.push_back(dim);
  const Tensor elements = input.to(widened(input.dtype()));
  const Tensor squares = tenon::pow(elements, 2).mean(SizesView(last), true);
  Tensor result = tenon::mul(elements, tenon::rsqrt(squares + eps));
  if (weight.defined()) result = result * weight;
  result = result.to(input.dtype());
  return format_of(input.sizes(), input.strides()) == MemoryFormat::contiguous ? result.contiguous() : result;
}

}  // namespace

Tensor plain::rms_norm(const Tensor& input, SizesView normalized_shape, const Tensor& weight,
                       std::optional<double> eps) {
  check_normalized_shape(input, normalized_shape, weight, {}, "");

  if (weight.defined() && weight.dtype() != input.dtype() && !is_complex(input.dtype()))
    warn("UserWarning", std::string("Mismatch dtype between input and weight: input dtype = ") +
                            cpp_type_name(input.dtype()) + ", weight dtype = " + cpp_type_name(weight.dtype()) +
                            ", Cannot dispatch to fused implementation.");
  if (is_computed(input)) check_has_code(row_of(Op::rms_norm), input.dtype());
  const double added = eps.value_or(smallest_step(input.dtype()));
  const bool is_plain = !is_recorded(input) && !(weight.defined() && is_recorded(weight));
  const bool is_float = (kFloats & set_of(input.dtype())) != 0 && !(weight.defined() && is_complex(weight.dtype()));
  const PolicyExemption exempt;
  // Channels last stay so, and so do strides of dims with one element.
  const bool is_row_major = input.strides() == contiguous_strides(input.sizes()) ||
                            (format_of(input.sizes(), input.strides()) == MemoryFormat::contiguous &&
                             std::all_of(input.sizes().begin(), input.sizes().end(), [](int64_t n) { return n > 1; }));
  if (!is_plain || !is_float || !is_row_major || input.numel() == 0)
    return rms_norm_by_ops(input, normalized_shape.size(), weight, added);
  RowsToNormalize rows = rows_of_layers(input.sizes(), normalized_shape, added);
  rows.keeps_mean = true;
  const Tensor weights = weight.defined() ? weight.detach().to(widened(input.dtype())) : weight;
  return normalized(input, weights, {}, rows);
}

// --- Gradients

bool has_gradient_kernel(Dtype dtype) noexcept { return kernel_for(widened(dtype)).gradient != nullptr; }

namespace {

/// Sums for each weight: those of blocks of rows, which are added to one chain, or of each row with segments.
struct SumsOfBlocks {
  int64_t rows = 0, weights = 0;  // of a block; rows 0: no sums
  bool adds = false;
  Tensor plain, products;

  SumsOfBlocks() = default;
  SumsOfBlocks(const RowsToNormalize& given, const Tensor& input)
      // exact: at most the number of elements
      : rows(given.segment > 1 ? given.groups : rows_of_block(given.length) * given.groups),
        weights(given.weights()),
        adds(given.segment == 1) {
    const Dims sizes{(given.count + rows - 1) / rows, weights};
    plain = new_tensor(sizes, float32, input.device());
    products = new_tensor(sizes, float32, input.device());
  }
  /// Those of `count` rows from number `row` on; a block is cleared when it begins.
  WeightSums at(int64_t row, const RowsToNormalize& given) const {
    if (rows == 0) return {};
    const int64_t own = given.own, place = adds ? row / rows * weights : row * own;
    auto* const sums = reinterpret_cast<float*>(plain.impl()->data()) + place;
    auto* const more = reinterpret_cast<float*>(products.impl()->data()) + place;
    if (adds && row % rows == 0) {
      std::fill_n(sums, weights, 0.0f);
      std::fill_n(more, weights, 0.0f);
    }
    return {sums, more};
  }

 private:
  /// A power of 2. Fewer long rows: threads divide blocks.
  static int64_t rows_of_block(int64_t length) {
    return static_cast<int64_t>(
        std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>((1 << 17) / length, 16, kSummedRows))));
  }
};

/// The sums of all blocks. Each of the `given` weights has one, or one for each of `repeats` elements.
Tensor of_blocks(const Tensor& sums, int64_t repeats) {
  if (repeats == 1) return tenon::sum(sums, 0);
  return tenon::sum(sums.view({sums.size(0), sums.size(1) / repeats, repeats}), {0, 2});
}

}  // namespace

NormalizedGradients normalized_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                         const RowsToNormalize& given, bool wants_elements, bool wants_sums) {
  RowsToNormalize rows = given;
  const bool repeats = (weight.defined() || wants_sums) && rows.segment > 1 && rows.segment < kShortSegment;
  const Tensor weights = weights_for(weight, rows, repeats);
  if (repeats) rows.spread_weights();
  rows.weight = data_of(weights);
  const Tensor slopes = packed(grad.detach()), elements = packed(input.detach());
  NormalizedGradients result;
  if (wants_elements) result.elements = new_tensor(input.sizes(), input.dtype(), input.device());
  const SumsOfBlocks sums = wants_sums ? SumsOfBlocks(rows, input) : SumsOfBlocks();
  const Elements slope(slopes), from(elements), to(wants_elements ? result.elements : elements);
  const auto run_rows = kernel_for(from.inside).gradient;
  const void* const written = wants_elements ? to.data : data_of(sums.plain);
  for_tiles(written, rows, from.casts() ? 2 : 0, sums.adds ? sums.rows : 1,
            [&](int64_t row, int64_t count, std::byte* scratch) {
              const int64_t start = row * rows.length, n = count * rows.length;  // exact: inside the storages
              std::byte* const second = scratch + (from.casts() ? n * int64_t{sizeof(float)} : 0);
              const std::byte *const read = slope.read(start, n, scratch), *const source = from.read(start, n, second);
              run_rows(wants_elements ? to.target(start, scratch) : nullptr, read, source, row, count, rows,
                       sums.at(row, rows));
              if (wants_elements) to.write(start, n, scratch);
            });
  if (!wants_sums) return result;
  result.weight = of_blocks(sums.products, repeats ? given.segment : 1);
  result.bias = of_blocks(sums.plain, repeats ? given.segment : 1);
  return result;
}

}  // namespace tenon
