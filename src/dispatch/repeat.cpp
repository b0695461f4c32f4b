// repeat, tile, repeat_interleave, rot90 and other orders of elements, pad. Checks, their order and texts are PyTorch's
// (aten/src/ATen/native/TensorShape.cpp, Repeat.cpp, PadNd.cpp, ReflectionPad.cpp, ReplicationPadding.cpp).
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/padding.h"
#include "dispatch/plain.h"
#include "kernel/copy_run.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tile/pool.h"

namespace tenon {

// --- repeat, tile

namespace {

/// `sizes` with 1 in front, up to as many as there are `others`.
Dims lengthened(SizesView sizes, int64_t count) {
  Dims longer(std::max<int64_t>(count - sizes.size(), 0), 1);
  for (int64_t size : sizes) longer.push_back(size);
  return longer;
}

}  // namespace

Tensor plain::repeat(const Tensor& self, SizesView repeats) {
  if (repeats.size() < self.dim())
    throw Error("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  const Dims sizes = lengthened(self.sizes(), repeats.size());
  Dims repeated, apart, once;  // `apart` has two dims for each: the repeats and the elements
  for (int64_t i = 0; i < sizes.size(); ++i) {
    repeated.push_back((Checked(sizes[i]) * repeats[i]).or_throw("numel: integer multiplication overflow"));
    for (int64_t size : {repeats[i], sizes[i]}) apart.push_back(size);
    for (int64_t size : {int64_t{1}, sizes[i]}) once.push_back(size);
  }
  const Tensor result = new_tensor(repeated, self.dtype(), self.device());
  if (!is_computed(result) || result.numel() == 0) return result;
  const Tensor source = self.detach().expand(sizes);
  Dims strides;
  for (int64_t i = 0; i < sizes.size(); ++i)
    for (int64_t stride : {int64_t{0}, source.strides()[i]}) strides.push_back(stride);
  run_copy(result.view(apart), new_view(source, apart, strides, source.storage_offset()));
  forget_writes(result);
  return result;
}

Tensor plain::tile(const Tensor& self, SizesView dims) { return self.repeat(lengthened(dims, self.dim())); }

// --- repeat_interleave

namespace {

void check_counts(const Tensor& repeats) {
  if (repeats.dtype() != int64 && repeats.dtype() != int32) fail_no_code("repeat_interleave_cpu", repeats.dtype());
  if (repeats.dim() != 1) throw Error("repeat_interleave only accept 1D vector as repeat");
}

/// How often each element is repeated, in all. With `given`, PyTorch first checks that it is that number.
int64_t sum_of_counts(const Tensor& counts, std::optional<int64_t> given) {
  const int64_t* const data = counts.data<int64_t>();
  Checked sum = 0;
  int64_t signs = 0;
  for (int64_t i = 0; i < counts.numel(); ++i) {
    sum += data[i];
    signs |= data[i];
  }
  if (given) {
    check_not_negative(SizesView({*given}));
    if (!sum.fits() || sum.value_or(0) != *given) throw Error("allocated size does not match required size");
  }
  if (signs < 0) throw Error("repeats can not be negative");
  return sum.or_throw("numel: integer multiplication overflow");
}

}  // namespace

Tensor plain::repeat_interleave_places(const Tensor& repeats, std::optional<int64_t> output_size) {
  check_counts(repeats);
  if (repeats.numel() == 0) return new_tensor(repeats.sizes(), repeats.dtype(), repeats.device());
  check_readable(repeats);
  const Tensor counts = run_to(repeats, int64, MemoryFormat::contiguous);
  const Tensor places = new_tensor({sum_of_counts(counts, output_size)}, int64);
  const int64_t* const each = counts.data<int64_t>();
  int64_t *to = places.data<int64_t>(), *const end = to + places.numel();  // exact: inside the storage
  for (int64_t i = 0; i < counts.numel(); ++i) {
    // Most counts are small: four places are written whatever the count is, so that no branch depends on it.
    if (each[i] <= 4 && end - to >= 4) {
      for (int64_t k = 0; k < 4; ++k) to[k] = i;
      to += each[i];
    } else {
      to = std::fill_n(to, each[i], i);
    }
  }
  return repeats.dtype() == int64 ? places : run_to(places, repeats.dtype(), MemoryFormat::preserve);
}

Tensor plain::repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                                std::optional<int64_t> output_size) {
  const Tensor input = dim ? self : self.flatten();
  const int64_t along = dim.value_or(0);
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    counts = repeats.reshape({1}).expand({input.size(along)});
  } else if (repeats.dim() == 1) {
    if (repeats.size(0) != input.size(along))
      throw Error("repeats must have the same size as input along dim, but got repeats.size(0) = " +
                  std::to_string(repeats.size(0)) + " and input.size(" + std::to_string(along) +
                  ") = " + std::to_string(input.size(along)));
  } else {
    throw Error("repeats must be 0-dim or 1-dim tensor");
  }
  return input.index_select(along, plain::repeat_interleave_places(counts, output_size));
}

Tensor plain::repeat_interleave_number(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                                       std::optional<int64_t> output_size) {
  const Tensor input = dim ? self : self.flatten();
  const int64_t along = wrap_dim(dim.value_or(0), self.dim());
  if (repeats < 0) throw Error("Repeats must be non-negative");
  const Tensor column = input.unsqueeze(along + 1);
  Dims sizes = column.sizes().copy();
  sizes[along + 1] = repeats;
  const Tensor expanded = column.expand(sizes);
  const int64_t count = (Checked(repeats) * sizes[along]).or_throw("numel: integer multiplication overflow");
  if (output_size && *output_size != count)
    throw Error("repeat_interleave: Invalid output_size, expected " + std::to_string(count) + " but got " +
                std::to_string(*output_size));
  return expanded.clone(MemoryFormat::contiguous).flatten(along, along + 1);
}

// --- Other orders

Tensor plain::fliplr(const Tensor& self) {
  if (self.dim() < 2) throw Error("Input must be >= 2-d.");
  return self.flip({1});
}
Tensor plain::flipud(const Tensor& self) {
  if (self.dim() < 1) throw Error("Input must be >= 1-d.");
  return self.flip({0});
}

namespace {

void check_plane(const Tensor& self, SizesView dims) {
  const int64_t ndim = self.dim();
  if (dims.size() != 2) throw Error("expected total rotation dims == 2, but got dims = " + std::to_string(dims.size()));
  if (ndim < 2) throw Error("expected total dims >= 2, but got total dims = " + std::to_string(ndim));
  const int64_t from = wrap_dim(dims[0], ndim), to = wrap_dim(dims[1], ndim);
  if (from == to)
    throw Error("expected rotation dims to be different, but got dim0 = " + std::to_string(dims[0]) +
                " and dim1 = " + std::to_string(dims[1]));
}

}  // namespace

Tensor plain::rot90(const Tensor& self, int64_t k, const DimsArg& dims_arg) {
  constexpr int64_t kPlane[] = {0, 1};
  const SizesView dims = dims_arg.view().data() ? dims_arg.view() : SizesView(kPlane, 2);
  check_plane(self, dims);
  const Tensor source = self.detach();
  const auto turned = [&](int64_t flipped) {
    const Tensor result = source.flip({flipped}), view = result.transpose(dims[0], dims[1]);
    set_sizes_and_strides(result, view.sizes().copy(), view.strides().copy());
    return result;
  };
  const int64_t turns = ((k % 4) + 4) % 4;
  if (turns == 1) return turned(dims[1]);
  if (turns == 2) return source.flip(dims);
  if (turns == 3) return turned(dims[0]);
  return run_clone(source, MemoryFormat::contiguous);
}

// --- Images

namespace {

void check_images(const Tensor& self, const char* op, const char* factor, int64_t given) {
  if (self.dim() < 3)
    throw Error(std::string(op) + " expects input to have at least 3 dimensions, but got input with " +
                std::to_string(self.dim()) + " dimension(s)");
  if (given <= 0) throw Error(std::string(op) + " expects a positive " + factor + ", but got " + std::to_string(given));
}
void check_images_code(const Tensor& self, Op op) {
  if (!is_computed(self)) return;
  if (format_of(self.sizes(), self.strides()) == MemoryFormat::channels_last_3d)
    throw Error("Unsupported memory format. Supports only ChannelsLast, Contiguous");
  check_has_code(row_of(op), self.dtype());
}
void check_side(const Tensor& self, const char* side, int64_t dim, int64_t factor) {
  if (self.size(dim) % factor == 0) return;
  throw Error(std::string("pixel_unshuffle expects ") + side + " to be divisible by downscale_factor, but input.size(" +
              std::to_string(dim) + ")=" + std::to_string(self.size(dim)) + " is not divisible by " +
              std::to_string(factor));
}

/// The last three dims as `between`, which are then permuted, and joined to `sizes`.
Tensor shuffled(const Tensor& self, std::initializer_list<int64_t> between, std::initializer_list<int64_t> order,
                std::initializer_list<int64_t> sizes) {
  const int64_t leading = self.dim() - 3;
  Dims apart, permuted, joined;
  for (int64_t dim = 0; dim < leading; ++dim) {
    apart.push_back(self.sizes()[dim]);
    permuted.push_back(dim);
    joined.push_back(self.sizes()[dim]);
  }
  for (int64_t size : between) apart.push_back(size);
  for (int64_t dim : order) permuted.push_back(leading + dim);
  for (int64_t size : sizes) joined.push_back(size);
  const Tensor dense = self.detach().contiguous();
  const Tensor result = run_clone(dense.view(apart).permute(permuted), MemoryFormat::contiguous);
  const MemoryFormat format = format_of(self.sizes(), self.strides());
  set_sizes_and_strides(result, joined, contiguous_strides(joined));
  return format == MemoryFormat::contiguous ? result : run_clone(result, format);
}

}  // namespace

Tensor plain::pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  check_images(self, "pixel_shuffle", "upscale_factor", upscale_factor);
  const int64_t channels = self.size(-3), r = upscale_factor;
  const int64_t square =
      (Checked(r) * r).or_else([] { throw Error("upscale factor is too large, (upscale_factor)^2 overflowed"); });
  if (channels % square != 0)
    throw Error(
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
        "input.size(-3)=" +
        std::to_string(channels) + " is not divisible by " + std::to_string(square));
  if (self.numel() > 0) check_images_code(self, Op::pixel_shuffle);
  const int64_t height = self.size(-2), width = self.size(-1), fewer = channels / square;
  const auto times = [r](int64_t size) {
    return (Checked(size) * r).or_throw("numel: integer multiplication overflow");
  };
  return shuffled(self, {fewer, r, r, height, width}, {0, 3, 1, 4, 2}, {fewer, times(height), times(width)});
}

Tensor plain::pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  check_images(self, "pixel_unshuffle", "downscale_factor", downscale_factor);
  const int64_t r = downscale_factor, channels = self.size(-3);
  check_side(self, "height", -2, r);
  check_side(self, "width", -1, r);
  if (self.numel() == 0) return run_clone(self, MemoryFormat::preserve);  // as in PyTorch
  check_images_code(self, Op::pixel_unshuffle);
  const int64_t height = self.size(-2) / r, width = self.size(-1) / r;
  const int64_t more = (Checked(r) * r * channels).or_throw("numel: integer multiplication overflow");
  return shuffled(self, {channels, height, r, width, r}, {0, 2, 4, 1, 3}, {more, height, width});
}

Tensor plain::channel_shuffle(const Tensor& self, int64_t groups) {
  if (self.dim() <= 2)
    throw Error("channel_shuffle expects input with > 2 dims, but got input with sizes " + to_string(self.sizes()));
  const int64_t channels = self.size(1);
  if (groups <= 0)
    throw Error("Number of groups to divide channels in must be positive. Value of groups:" + std::to_string(groups));
  if (channels % groups != 0)
    throw Error("Number of channels must be divisible by groups. Got " + std::to_string(channels) + " channels and " +
                std::to_string(groups) + " groups.");
  const Tensor source = self.detach();
  if (self.numel() == 0) return source;
  const MemoryFormat format = format_of(self.sizes(), self.strides());
  if (is_computed(self) && is_wide_unsigned(self.dtype()))
    fail_no_code(format == MemoryFormat::contiguous ? "channel_shuffle" : "channel_shuffle_cl", self.dtype());
  const Tensor shuffled =
      run_clone(source.unflatten(1, {groups, channels / groups}).transpose(1, 2), MemoryFormat::contiguous);
  set_sizes_and_strides(shuffled, self.sizes(), contiguous_strides(self.sizes()));
  return format == MemoryFormat::contiguous ? shuffled : run_clone(shuffled, format);
}

Tensor plain::one_hot(const Tensor& self, int64_t num_classes) {
  if (self.dtype() != int64) throw Error("one_hot is only applicable to index tensor of type LongTensor.");
  Dims sizes = self.sizes().copy();
  if (self.numel() == 0) {
    if (num_classes <= 0) throw Error("Can not infer total number of classes from empty tensor.");
    sizes.push_back(num_classes);
    return new_tensor(sizes, int64, self.device());
  }
  check_readable(self);
  const int64_t least = self.amin().item<int64_t>(), most = self.amax().item<int64_t>();
  if (least < 0) throw Error("Class values must be non-negative.");
  if (num_classes == -1)
    num_classes = (Checked(most) + 1).or_throw("numel: integer multiplication overflow");
  else if (num_classes <= most)
    throw Error("Class values must be smaller than num_classes.");
  sizes.push_back(num_classes);
  Tensor result = zeros(sizes, int64);
  result.scatter_(-1, self.unsqueeze(-1), 1);
  forget_writes(result);
  return result;
}

// --- pad

Tensor padded_places(int64_t size, int64_t before, int64_t after, Border border, Device device) {
  const int64_t count = numel_from(Checked(size) + before + after);
  // Places count from the dim's first element on, so those of the border may be negative.
  const int64_t first = numel_from(Checked(0) - before), end = numel_from(Checked(size) + after);
  const Tensor places = new_tensor({count}, int64, device);
  if (places.is_meta()) return places;
  int64_t* const to = places.data<int64_t>();
  // exact: `count`, which is end - first, is not negative; `kept` is at most `count`, which fits in memory
  const int64_t cut = std::max<int64_t>(first, 0), kept = std::max<int64_t>(std::min(size, end) - cut, 1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = first + i;  // less than `end`; for Border::reflect the border is smaller than the dim
    if (border == Border::replicate)
      to[i] = std::clamp<int64_t>(place, 0, size - 1);
    else if (border == Border::reflect)
      to[i] = place < 0 ? -place : place < size ? place : size - 1 - (place - (size - 1));
    else
      to[i] = std::min(cut + (((place - cut) % kept) + kept) % kept, size - 1);
  }
  return places;
}

namespace {

/// Cuts off what is negative in `pad`.
Tensor narrowed(Tensor self, SizesView pad) {
  for (int64_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = self.dim() - 1 - i;
    // exact: of different signs; the caller has checked that -pad[i] fits
    if (pad[2 * i] < 0) self = self.narrow(dim, -pad[2 * i], self.size(dim) + pad[2 * i]);
    if (pad[2 * i + 1] < 0) self = self.narrow(dim, 0, self.size(dim) + pad[2 * i + 1]);
  }
  return self;
}

Dims padded_sizes(const Tensor& self, SizesView pad) {
  Dims sizes = self.sizes().copy();
  for (int64_t i = pad.size() / 2 - 1; i >= 0; --i) {
    const int64_t dim = self.dim() - 1 - i;
    const int64_t size =
        (Checked(sizes[dim]) + pad[2 * i] + pad[2 * i + 1]).or_throw("numel: integer multiplication overflow");
    if (size < 0)
      throw Error("The input size " + std::to_string(sizes[dim]) + ", plus negative padding " +
                  std::to_string(pad[2 * i]) + " and " + std::to_string(pad[2 * i + 1]) +
                  " resulted in a negative output size, which is invalid. Check dimension " + std::to_string(dim) +
                  " of your input.");
    sizes[dim] = size;
  }
  return sizes;
}

// Where a result has so many bytes for each border, and its padded rows have so many, borders are filled one by one.
// Bench: tenon_bench --ops --filter constant_pad_nd, and bytes in 100 to 1000 rows of 100 to 2000.
constexpr int64_t kBytesOfBorder = 32 << 10, kBytesOfRow = 128;

bool fills_borders(const Tensor& result, SizesView pad) {
  const int64_t borders = std::count_if(pad.begin(), pad.end(), [](int64_t count) { return count > 0; });
  const bool is_row_padded = pad[0] > 0 || pad[1] > 0;
  // exact: inside the storage
  const int64_t row = result.stride(-1) == 1 ? result.size(-1) * result.itemsize() : 0;
  return result.nbytes() / kBytesOfBorder >= borders && (!is_row_padded || row >= kBytesOfRow);
}
/// Fills what lies around the inner elements: each dim's borders where the dims before it have inner elements.
void fill_borders(Tensor left, SizesView pad, Scalar value) {
  for (int64_t i = pad.size() / 2 - 1; i >= 0; --i) {
    const int64_t dim = left.dim() - 1 - i, before = std::max<int64_t>(pad[2 * i], 0);
    const int64_t after = std::max<int64_t>(pad[2 * i + 1], 0),
                  inner = left.size(dim) - before - after;  // exact: parts
    if (before > 0) left.narrow(dim, 0, before).fill_(value);
    if (after > 0) left.narrow(dim, before + inner, after).fill_(value);
    left = left.narrow(dim, before, inner);
  }
}

}  // namespace

Tensor plain::constant_pad_nd(const Tensor& self, SizesView pad, Scalar value) {
  if (pad.size() % 2 != 0)
    throw Error("Length of pad must be even but instead it equals " + std::to_string(pad.size()));
  if (pad.size() / 2 > self.dim())
    throw Error("Length of pad should be no more than twice the number of dimensions of the input. Pad length is " +
                std::to_string(pad.size()) + "while the input has " + std::to_string(self.dim()) + "dimensions.");
  for (int64_t count : pad) static_cast<void>((Checked(0) - count).or_throw("numel: integer multiplication overflow"));
  const Tensor inside = narrowed(self.detach(), pad);
  if (std::all_of(pad.begin(), pad.end(), [](int64_t count) { return count <= 0; }))
    return run_clone(inside, MemoryFormat::preserve);
  const Dims sizes = padded_sizes(self, pad);
  const MemoryFormat format = format_of(self.sizes(), self.strides());
  Tensor result = new_tensor(sizes, format_strides(sizes, format), self.dtype(), self.device());
  if (!is_computed(result)) return result;
  fills_borders(result, pad) ? fill_borders(result, pad, value) : static_cast<void>(result.fill_(value));
  Dims negated = pad.copy();
  for (int64_t& count : negated) count = std::min<int64_t>(-count, 0);
  run_copy(narrowed(result, negated), inside);
  forget_writes(result);
  return result;
}

namespace {

void check_padded(const Tensor& self, SizesView padding, int64_t count, Border border) {
  if (padding.size() != 2 * count)
    throw Error("padding size is expected to be " + std::to_string(2 * count) +
                (border == Border::reflect ? ", but got: " + std::to_string(padding.size()) : ""));
  const bool is_batch = self.dim() == count + 2;
  bool is_valid = is_batch || self.dim() == count + 1;
  for (int64_t dim = is_batch ? 1 : 0; dim < self.dim(); ++dim) is_valid = is_valid && self.sizes()[dim] != 0;
  if (!is_valid)
    throw Error("Expected " + std::to_string(count + 1) + "D or " + std::to_string(count + 2) +
                "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: " +
                to_string(self.sizes()));
}

void check_reflected(const Tensor& self, SizesView padding) {
  for (int64_t i = 0; i < padding.size() / 2; ++i) {
    const int64_t dim = self.dim() - 1 - i;
    if (padding[2 * i] >= self.size(dim) || padding[2 * i + 1] >= self.size(dim))
      throw Error("Argument #" + std::to_string(4 + 2 * i) +
                  ": Padding size should be less than the corresponding input dimension, but got: padding (" +
                  std::to_string(padding[2 * i]) + ", " + std::to_string(padding[2 * i + 1]) + ") at dimension " +
                  std::to_string(dim) + " of input " + to_string(self.sizes()));
  }
}

/// PyTorch's text for a dim that nothing is left of: "input (H: 2, W: 3) is too small. Calculated output H: 0 W: 1".
void check_large_enough(const Tensor& self, SizesView padding, Border border) {
  constexpr const char* kNames[] = {"W", "H", "D"};
  const int64_t count = padding.size() / 2;
  std::string inside, outside;
  bool is_any = false;
  for (int64_t i = count - 1; i >= 0; --i) {
    const int64_t size = self.size(-1 - i);
    const int64_t padded =
        (Checked(size) + padding[2 * i] + padding[2 * i + 1]).or_throw("numel: integer multiplication overflow");
    is_any = is_any || padded >= 1;
    const std::string name = kNames[i];
    inside += (inside.empty() ? "" : i == 1 && count == 3 ? " " : ", ") + name + ": " + std::to_string(size);
    outside += " " + name + ": " + std::to_string(padded);
  }
  const char* const end = border == Border::replicate && count == 2 ? " " : "";  // as PyTorch has it
  if (!is_any) throw Error("input (" + inside + end + ") is too small. Calculated output" + outside);
}

/// Throws if a dim gets a negative size.
void check_padded_sizes(const Tensor& self, SizesView padding, int64_t count, Border border) {
  Dims sizes = self.sizes().copy();
  bool is_negative = false;
  for (int64_t i = 0; i < count; ++i) {
    int64_t& size = sizes[self.dim() - 1 - i];
    size = size + padding[2 * i] + padding[2 * i + 1];  // exact: check_large_enough, in the same order
    is_negative = is_negative || size < 0;
  }
  if (is_negative && border == Border::reflect && count == 2) throw Error("numel: integer multiplication overflow");
  check_not_negative(sizes);
}

Tensor selected(Tensor self, SizesView padding, Border border) {
  for (int64_t i = 0; i < padding.size() / 2; ++i) {
    const int64_t dim = self.dim() - 1 - i;
    if (padding[2 * i] == 0 && padding[2 * i + 1] == 0) continue;
    const Tensor places = padded_places(self.size(dim), padding[2 * i], padding[2 * i + 1], border, self.device());
    self = self.index_select(dim, places);
  }
  return self;
}

/// Not where the calls are recorded, nor where nothing is added.
bool is_in_one_pass(const Tensor& self, SizesView padding) {
  return is_computed(self) && !is_recorded(self) && self.numel() > 0 &&
         std::any_of(padding.begin(), padding.end(), [](int64_t count) { return count != 0; });
}

/// The rows of a padded tensor: the last dim's elements.
struct PaddedRows {
  const int64_t* places;  // in a row of the source
  int64_t begin, kept;    // the elements from `begin` on lie side by side in the source
  int64_t size;           // of a row of the source
  int64_t padded;         // of the result
};
template <class T>
void write_padded(void* out, const void* source, const PaddedRows& rows) {
  T* const to = static_cast<T*>(out);
  const T* const from = static_cast<const T*>(source);
  for (int64_t i = 0; i < rows.begin; ++i) to[i] = from[rows.places[i]];
  if (rows.kept > 0)
    copy_run(to + rows.begin, from + rows.places[rows.begin], rows.kept * int64_t{sizeof(T)});  // exact: of a row
  for (int64_t i = rows.begin + rows.kept; i < rows.padded; ++i) to[i] = from[rows.places[i]];
}
constexpr auto padded_writer(int64_t width) {
  return width == 1   ? &write_padded<uint8_t>
         : width == 2 ? &write_padded<uint16_t>
         : width == 4 ? &write_padded<uint32_t>
         : width == 8 ? &write_padded<uint64_t>
                      : &write_padded<Complex128>;
}

/// The same as `selected` in one pass over the result's rows. Bench: tenon_bench --ops --filter pad.
Tensor padded_at_once(const Tensor& self, SizesView padding, Border border) {
  constexpr int64_t kPartElements = 1 << 15;
  const int64_t count = padding.size() / 2, ndim = self.dim();
  Dims sizes = self.sizes().copy();
  std::vector<Tensor> places_of;  // of the last dim first
  for (int64_t i = 0; i < count; ++i) {
    const int64_t dim = ndim - 1 - i;
    places_of.push_back(padded_places(self.size(dim), padding[2 * i], padding[2 * i + 1], border, Device::cpu));
    sizes[dim] = places_of.back().numel();
  }
  const Tensor result = new_tensor(sizes, self.dtype(), self.device());
  if (result.numel() == 0) return result;
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = "rows copied", .stores = "in place"});
  const int64_t all = result.numel() / sizes[ndim - 1], each = std::max<int64_t>(kPartElements / sizes[ndim - 1], 1);
  if (result.is_meta()) {
    note_parts((all + each - 1) / each, threads_for((all + each - 1) / each));  // exact: of the result's elements
    return result;
  }
  const Tensor source = self.contiguous(), &places = places_of[0];
  // For each row of the padded dims before the last, the row of the source.
  // exact: at most the number of elements
  std::vector<int64_t> source_rows{0};
  for (int64_t i = count - 1; i > 0; --i) {
    const int64_t size = self.size(ndim - 1 - i), padded = sizes[ndim - 1 - i];
    const int64_t* const own = places_of[static_cast<std::size_t>(i)].data<int64_t>();
    std::vector<int64_t> rows;
    rows.reserve(source_rows.size() * static_cast<std::size_t>(padded));
    for (const int64_t before : source_rows)
      for (int64_t k = 0; k < padded; ++k) rows.push_back(before * size + own[k]);
    source_rows = std::move(rows);
  }

  // One side may cut off more than there is, and with it elements that the other side adds.
  const int64_t cut = std::max<int64_t>(-padding[0], 0) + std::max<int64_t>(-padding[1], 0);
  const int64_t padded = places.numel(), before = std::min(std::max<int64_t>(padding[0], 0), padded);
  const int64_t kept = std::min(std::max<int64_t>(self.size(-1) - cut, 0), padded - before);
  const PaddedRows rows{places.data<int64_t>(), before, kept, self.size(-1), padded};
  const int64_t width = self.itemsize();
  const auto planes_row = static_cast<int64_t>(source_rows.size());
  // exact: inside the storages
  int64_t plane = rows.size;  // elements of the source
  for (int64_t i = 1; i < count; ++i) plane *= self.size(ndim - 1 - i);
  const auto write = padded_writer(width);
  std::byte* const to = static_cast<std::byte*>(result.data_ptr());
  const std::byte* const from = static_cast<const std::byte*>(source.data_ptr());
  // exact: as before
  parallel_for((all + each - 1) / each, [&](int64_t part) {
    const int64_t begin = part * each, end = std::min(begin + each, all);
    int64_t outer = begin / planes_row, row = begin % planes_row;
    for (int64_t i = begin; i < end; ++i) {
      write(to + i * rows.padded * width, from + (outer * plane + source_rows[row] * rows.size) * width, rows);
      if (++row == planes_row) row = 0, ++outer;
    }
  });
  return result;
}

Tensor padded_by_border(Op op, const Tensor& self, SizesView padding, int64_t count, Border border) {
  check_padded(self, padding, count, border);
  if (border == Border::reflect) check_reflected(self, padding);
  check_large_enough(self, padding, border);
  check_padded_sizes(self, padding, count, border);
  const bool is_batch = self.dim() == count + 2;
  const MemoryFormat format = count > 1 ? format_of(self.sizes(), self.strides()) : MemoryFormat::contiguous;
  const Row& row = row_of(op);
  const bool is_images_last = is_batch && self.numel() > 0 && format != MemoryFormat::contiguous;
  if (is_computed(self) && (row.dtypes & set_of(self.dtype())) == 0)
    fail_no_code((row.kernel_name + std::string(is_images_last ? "_channels_last" : "")).c_str(), self.dtype());
  const Tensor source = self.detach();
  const Tensor result =
      is_in_one_pass(source, padding) ? padded_at_once(source, padding, border) : selected(source, padding, border);
  return result.is(source) || format != MemoryFormat::contiguous ? run_clone(result, format) : result;
}

}  // namespace

Tensor plain::reflection_pad1d(const Tensor& self, SizesView padding) {
  return padded_by_border(Op::reflection_pad1d, self, padding, 1, Border::reflect);
}
Tensor plain::reflection_pad2d(const Tensor& self, SizesView padding) {
  return padded_by_border(Op::reflection_pad2d, self, padding, 2, Border::reflect);
}
Tensor plain::reflection_pad3d(const Tensor& self, SizesView padding) {
  return padded_by_border(Op::reflection_pad3d, self, padding, 3, Border::reflect);
}
Tensor plain::replication_pad1d(const Tensor& self, SizesView padding) {
  return padded_by_border(Op::replication_pad1d, self, padding, 1, Border::replicate);
}
Tensor plain::replication_pad2d(const Tensor& self, SizesView padding) {
  return padded_by_border(Op::replication_pad2d, self, padding, 2, Border::replicate);
}
Tensor plain::replication_pad3d(const Tensor& self, SizesView padding) {
  return padded_by_border(Op::replication_pad3d, self, padding, 3, Border::replicate);
}

namespace {

Tensor padded_circularly(const Tensor& self, SizesView padding) {
  for (int64_t i = padding.size() / 2 - 1; i >= 0; --i) {
    const int64_t size = self.size(-1 - i), before = padding[2 * i], after = padding[2 * i + 1];
    if (before > size || after > size) throw Error("Padding value causes wrapping around more than once.");
    if ((Checked(size) + before + after).value_or(-1) < 0)
      throw Error("Negative padding value is resulting in an empty dimension");
  }
  if (is_in_one_pass(self, padding)) return padded_at_once(self, padding, Border::circular);
  const Tensor result = selected(self, padding, Border::circular);
  return result.is(self) ? self.clone(MemoryFormat::contiguous) : result;
}

}  // namespace

Tensor plain::pad(const Tensor& self, SizesView pad, const char* mode, std::optional<double> value) {
  const std::string_view name = mode;
  if (name != "constant" && name != "reflect" && name != "replicate" && name != "circular")
    throw NotImplementedError("Unrecognised padding mode " + std::string(name));
  if (pad.size() % 2 != 0) throw Error("Padding length must be divisible by 2");
  if (pad.size() > 2 * self.dim())
    throw Error("Padding length should be less than or equal to two times the input dimension but got padding length " +
                std::to_string(pad.size()) + " and input of dimension " + std::to_string(self.dim()));
  if (name == "constant") return tenon::constant_pad_nd(self, pad, value.value_or(0));
  if (value && *value != 0) throw Error("Padding mode \"" + std::string(name) + "\" doesn't take in value argument");
  const int64_t count = pad.size() / 2;
  if (count < 1 || count > 3 || (self.dim() != count + 1 && self.dim() != count + 2))
    throw NotImplementedError(
        "Padding size " + std::to_string(pad.size()) + " is not supported for " + std::to_string(self.dim()) +
        "D input tensor.\nSupported combinations for non-constant padding:\n  - 2D or 3D input: "
        "padding size = 2 (pads last dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 "
        "dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)");
  if (name == "circular") return padded_circularly(self, pad);
  if (name == "reflect")
    return count == 1   ? tenon::reflection_pad1d(self, pad)
           : count == 2 ? tenon::reflection_pad2d(self, pad)
                        : tenon::reflection_pad3d(self, pad);
  return count == 1   ? tenon::replication_pad1d(self, pad)
         : count == 2 ? tenon::replication_pad2d(self, pad)
                      : tenon::replication_pad3d(self, pad);
}

}  // namespace tenon
