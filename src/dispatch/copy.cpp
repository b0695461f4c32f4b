// Copies, casts and fills: Programs that only cast.
#include <algorithm>
#include <bit>
#include <cstring>

#include "dispatch/differentiate.h"
#include "dispatch/fast_path.h"
#include "dispatch/prepared.h"
#include "dispatch/recorder.h"
#include "kernel/copy_run.h"
#include "plan/plan.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tenon/threads.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tensor/places.h"
#include "tile/cast.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon {
namespace {

StridedView strided_view_of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides()}; }

// Up to this size elements are copied one by one: a plan would cost more. No case of tenon_bench copies so few; the
// nearest is --filter '^large/copy row/L1'.
constexpr int64_t kFewElements = 64;

template <class T>
void copy_each(const Tensor& out, const Tensor& src) {
  T* to = reinterpret_cast<T*>(out.impl()->data());
  const T* from = reinterpret_cast<const T*>(src.impl()->data());
  Places places(src.sizes(), src.strides());
  for (int64_t i = 0, count = out.numel(); i < count; ++i, places.next()) to[i] = from[places.place()];
}

/// Notes a copy without a plan. Whether it is only planned.
bool is_only_planned(const Tensor& out, const Tensor& src, AccessPattern access) {
  if (!CourseRecord::now()) [[likely]]
    return false;
  Course course{.route = "few", .stores = "in place", .parts = 1};
  course.accesses.push_back(access);
  if (src.dtype() != out.dtype()) course.kernels.push_back({"cast", out.dtype()});
  note_course(std::move(course));
  return out.is_meta();
}

/// Copies few elements of one dtype into a dense tensor. False if the operands do not qualify.
bool copy_few(const Tensor& out, const Tensor& src) {
  if (out.numel() > kFewElements || out.dtype() != src.dtype() || !out.is_contiguous() || !(out.sizes() == src.sizes()))
    return false;
  if (is_only_planned(out, src, src.is_contiguous() ? AccessPattern::direct : AccessPattern::gather)) return true;
  switch (out.itemsize()) {
    case 1:
      copy_each<uint8_t>(out, src);
      return true;
    case 2:
      copy_each<uint16_t>(out, src);
      return true;
    case 4:
      copy_each<uint32_t>(out, src);
      return true;
    case 8:
      copy_each<uint64_t>(out, src);
      return true;
    default:
      copy_each<Complex128>(out, src);
      return true;
  }
}

/// Whether each step along a dim passes over all elements of the dims after it, so that no two are in one place.
bool is_nested(SizesView sizes, SizesView strides) {
  int64_t extent = 1;
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    if (sizes[dim] == 1) continue;
    if (strides[dim] < extent) return false;
    extent = (sizes[dim] - 1) * strides[dim] + extent;  // exact: inside the storage
  }
  return true;
}

/// What is moved at once of a tensor: rows of its last dim, or single elements.
struct Runs {
  int64_t numel, count;
  SizesView sizes;  // of the dims around them
};
Runs runs_of(const Tensor& tensor, bool in_rows) {
  const int64_t last = tensor.dim() - 1, numel = in_rows ? tensor.sizes()[last] : 1;
  return {numel, tensor.numel() / numel, {tensor.sizes().data(), in_rows ? last : last + 1}};
}
Places places_of(const Runs& runs, const Tensor& tensor) {
  return {runs.sizes, {tensor.strides().data(), runs.sizes.size()}};
}

/// Copies few rows or elements of one dtype that lie apart. False if the operands do not qualify. Bench: ./dev bench
/// --sweep, copies.
bool copy_few_runs(const Tensor& out, const Tensor& src) {
  constexpr int64_t kFewRuns = 16, kLongRunBytes = 4096;
  const int64_t last = out.dim() - 1;
  if (last < 0 || out.dtype() != src.dtype() || !(out.sizes() == src.sizes()) || CourseRecord::now()) return false;
  const Runs runs = runs_of(out, out.strides()[last] == 1 && src.strides()[last] == 1);
  const int64_t bytes = runs.numel * out.itemsize();  // exact: of the output
  if (runs.count > kFewRuns || bytes > kLongRunBytes || !is_nested(out.sizes(), out.strides())) return false;
  Places to = places_of(runs, out), from = places_of(runs, src);
  // exact: inside the storages
  for (int64_t run = 0; run < runs.count; ++run, to.next(), from.next())
    std::memcpy(out.impl()->data() + to.place() * out.itemsize(), src.impl()->data() + from.place() * out.itemsize(),
                static_cast<std::size_t>(bytes));
  return true;
}

/// Copies a small tensor of the same dtype into a dense one. False if the operands do not qualify. Bench: ./dev bench
/// --sweep, copies.
bool copy_small(const Tensor& out, const Tensor& src) {
  const TensorImpl &to = *out.impl(), &from = *src.impl();
  if (to.dtype != from.dtype || !to.contiguous || from.contiguous || to.numel > kSmallBytes / itemsize(to.dtype))
    return false;
  SmallBroadcast<1> broadcast;
  const StridedView view{from.sizes, from.strides};
  if (!broadcast.set(&view, itemsize(to.dtype), to.numel, false, ResultStrides::given) ||
      !(SizesView(to.sizes) == broadcast.shape()))
    return false;
  if (is_only_planned(out, src, AccessPattern::gather)) return true;
  broadcast.data[0] = from.data();
  run_small(broadcast, to.data());
  return true;
}

/// Copies a row that needs no plan, with its cast. False if the operands do not qualify. Bench: tenon_bench --filter
/// '^large/copy'.
bool copy_row(const Tensor& out, const Tensor& src) {
  const TensorImpl &to = *out.impl(), &from = *src.impl();
  if (!to.contiguous || !from.contiguous || to.numel > kFastNumel || !(to.sizes == from.sizes)) return false;
  if (is_only_planned(out, src, AccessPattern::direct)) return true;
  const int64_t nbytes = to.numel * itemsize(to.dtype);  // exact: of the output
  if (to.dtype == from.dtype && nbytes >= kFarCopyBytes)
    copy_far(to.data(), from.data(), nbytes);
  else
    cast_lanes(to.data(), to.dtype, from.data(), from.dtype, to.numel);
  return true;
}

/// Whether `small` has the last sizes of `large`, but for ones before them.
bool is_ending(SizesView small, SizesView large) {
  int64_t ones = 0;
  while (ones < small.size() && small[ones] == 1) ++ones;
  const int64_t count = small.size() - ones;
  return count <= large.size() && std::equal(small.begin() + ones, small.end(), large.end() - count);
}
/// Fills `nbytes` with what their first `filled` hold, which divide them.
void repeat_beginning(std::byte* to, int64_t filled, int64_t nbytes) {
  constexpr int64_t kPiece = 4096;  // is read again from the first cache
  int64_t piece = filled;
  for (; piece < kPiece && 2 * piece <= nbytes; piece *= 2) copy_run(to + piece, to, piece);
  for (filled = piece; filled < nbytes; filled += piece) copy_run(to + filled, to, std::min(piece, nbytes - filled));
}
/// Copies rows that are broadcast over the dims before theirs, with their cast, without a plan. False if the operands
/// do not qualify. Bench: ./dev bench --sweep, copies.
bool copy_rows(const Tensor& out, const Tensor& src) {
  const TensorImpl &to = *out.impl(), &from = *src.impl();
  if (!to.contiguous || !from.contiguous || to.numel > kSmallRowsNumel || !is_ending(from.sizes, to.sizes))
    return false;
  if (is_only_planned(out, src, from.numel == 1 ? AccessPattern::splat : AccessPattern::periodic)) return true;
  cast_lanes(to.data(), to.dtype, from.data(), from.dtype, from.numel);
  // exact: bytes of the output
  repeat_beginning(to.data(), from.numel * itemsize(to.dtype), to.numel * itemsize(to.dtype));
  return true;
}

/// Into how many equal neighbours each element of `src` is expanded, if these elements lie side by side: along the last
/// dims its stride is 0. Otherwise 1.
int64_t repetitions_in(const Tensor& src) {
  // exact: at most the number of elements, of which there are some
  int64_t dim = src.dim() - 1, times = 1, stride = 1;
  for (; dim >= 0 && (src.strides()[dim] == 0 || src.sizes()[dim] == 1); --dim) times *= src.sizes()[dim];
  for (; dim >= 0; --dim) {
    if (src.sizes()[dim] != 1 && src.strides()[dim] != stride) return 1;
    stride *= src.sizes()[dim];
  }
  return times;
}
/// Repeats elements without a plan, which would have a tile for each row. False if the operands do not qualify. Bench:
/// tenon_bench --ops --filter ops/expand_copy.
bool copy_repeated(const Tensor& out, const Tensor& src) {
  constexpr int64_t kPart = int64_t{1} << 15;
  constexpr int64_t kFewTimes = 12, kStreamedRun = 1536;  // beyond the caches plans stream such runs
  const int64_t numel = out.numel();
  if (out.dtype() != src.dtype() || !out.is_contiguous() || !(out.sizes() == src.sizes())) return false;
  const int64_t times = repetitions_in(src);
  if (times == 1 || times == numel) return false;
  // exact: bytes of the output
  const bool is_planned_well = times <= kFewTimes || times * out.itemsize() >= kStreamedRun;
  if (is_planned_well && outgrows_cache(out.nbytes(), out.nbytes() / times)) return false;
  if (is_only_planned(out, src, AccessPattern::repeated)) return true;
  const auto repeat = kernels().move[std::countr_zero(static_cast<uint64_t>(out.itemsize()))].repeat;
  const int64_t count = numel / times, each = std::max<int64_t>(kPart / times, 1), width = out.itemsize();
  std::byte* const to = out.impl()->data();
  const std::byte* const from = src.impl()->data();
  parallel_for((count + each - 1) / each, [&](int64_t part) {
    // exact: inside the storages
    const int64_t begin = part * each;
    repeat(to + begin * times * width, from + begin * width, times, std::min(each, count - begin));
  });
  return true;
}

PreparedKey key_of_copy(const Tensor& out, const Tensor& src, const Memory& memory) {
  PreparedKey key;
  key.add(static_cast<int64_t>(kNoOp) << 32 | get_num_threads());
  key.add(static_cast<int64_t>(memory.place(0)));
  key.add(*out.impl());
  key.add(*src.impl());
  return key;
}
void prepare_copy(const Tensor& out, const Tensor& src, const Memory& memory, Prepared& prepared) {
  const StridedView strided[] = {strided_view_of(out), strided_view_of(src)};
  const bool moves_straight = out.dtype() == src.dtype() && !outgrows_cache(out.nbytes(), src.nbytes());
  make_plan(out.sizes(), strided, 2, prepared.plan, 1,
            moves_straight ? FairRuns::of_copies(out.itemsize())
                           : FairRuns::of_calls(std::min(out.itemsize(), src.itemsize())));
  const int values = prepared.program.input(src.dtype());
  out.dtype() == src.dtype() ? prepared.program.copy(values) : prepared.program.cast(values, out.dtype());
  make_schedule(prepared.plan, prepared.program, memory, prepared.schedule);
}

/// The dtype whose elements have so many bytes, for copies.
Dtype dtype_of_width(int64_t bytes) {
  return bytes == 2 ? int16 : bytes == 4 ? int32 : bytes == 8 ? int64 : complex128;
}

/// Copies runs of a few elements, which follow each other in both tensors, as elements of a wider dtype. False if the
/// operands do not qualify. Bench: ./dev bench --sweep, copies.
bool copy_wide(const Tensor& out, const Tensor& src) {
  if (out.dtype() != src.dtype() || !out.is_contiguous() || !(out.sizes() == src.sizes())) return false;
  const int64_t width = out.itemsize();
  int64_t dims = src.dim(), run = 1;
  // exact: at most the number of elements, of which there are some
  for (; dims > 0 && (src.sizes()[dims - 1] == 1 || src.strides()[dims - 1] == run); --dims)
    run *= src.sizes()[dims - 1];
  if (run == 1 || dims == 0 || run > kMaxItemsize / width || !std::has_single_bit(static_cast<uint64_t>(run)))
    return false;
  void* const to = out.data_ptr();
  const void* const from = src.data_ptr();
  const auto places = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
  if (places % static_cast<uintptr_t>(run * width) != 0) return false;
  Dims sizes, strides;
  for (int64_t dim = 0; dim < dims; ++dim) {
    if (src.sizes()[dim] > 1 && src.strides()[dim] % run != 0) return false;
    sizes.push_back(src.sizes()[dim]);
    strides.push_back(src.strides()[dim] / run);
  }
  const Dims written = contiguous_strides(sizes);
  const StridedView strided[] = {{sizes, written}, {sizes, strides}};
  Plan plan;
  make_plan(sizes, strided, 2, plan, 1, FairRuns::of_calls(run * width));
  Program program;
  program.copy(program.input(dtype_of_width(run * width)));
  tenon::run(plan, program, &to, &from);
  return true;
}

/// out[...] = src[...], broadcast and cast. No checks.
void write_copy(const Tensor& out, const Tensor& src) {
  if (has_no_work(out.numel(), out.data_ptr()) || copy_few(out, src) || copy_row(out, src) || copy_rows(out, src) ||
      copy_repeated(out, src) || copy_small(out, src) || copy_few_runs(out, src) || copy_wide(out, src))
    return;
  void* const to = out.data_ptr();
  const void* const input = src.data_ptr();
  const Memory memory{.outs = &to};
  const PreparedCall prepared =
      PreparedCall::find(key_of_copy(out, src, memory), [&](Prepared& made) { prepare_copy(out, src, memory, made); });
  run(prepared->plan, prepared->program, prepared->schedule, &to, &input);
}

/// A view that has each address once: dims of stride 0 are cut to size 1.
Tensor distinct_places(const Tensor& self) {
  Dims sizes = self.sizes().copy();
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (self.strides()[dim] == 0 && sizes[dim] > 1) sizes[dim] = 1;
  return new_view(self, sizes, self.strides(), self.storage_offset());
}

/// Fills a small tensor, or few rows or elements that lie apart, without a plan. False if it needs one.
bool fill_few(const Tensor& self, const void* value) {
  if (self.is_meta() || self.numel() > kFastNumel || CourseRecord::now()) return false;
  const int64_t width = self.itemsize();
  const auto fill = kernels().move[std::countr_zero(static_cast<uint64_t>(width))].fill;
  std::byte* const to = self.impl()->data();
  if (self.is_contiguous()) return fill(to, value, self.numel()), true;
  const Runs runs = runs_of(self, self.strides()[self.dim() - 1] == 1);
  if (runs.count > kFewElements) return false;
  Places places = places_of(runs, self);
  // exact: inside the storage
  for (int64_t run = 0; run < runs.count; ++run, places.next()) fill(to + places.place() * width, value, runs.numel);
  return true;
}

/// Fills `self` with a number, which is cast as by a copy.
void write_number(const Tensor& self, const void* number, Dtype dtype) {
  Number converted;
  cast_lanes(converted.bytes, self.dtype(), number, dtype, 1);
  if (fill_few(self, converted.bytes)) return;
  Plan plan;
  const StridedView strided[] = {strided_view_of(self), {{}, {}}};
  make_plan(self.sizes(), strided, 2, plan);
  Program program;
  program.copy(program.input(self.dtype()));
  void* const to = self.data_ptr();
  const void* const value = converted.bytes;
  run(plan, program, &to, &value);
}

/// Whether a copy would write each element onto itself, also with overlapping elements.
bool is_same_data(const Tensor& self, const Tensor& src) {
  return self.impl()->storage && share_memory(self, src) && self.storage_offset() == src.storage_offset() &&
         self.dtype() == src.dtype() && self.device() == src.device() && self.sizes() == src.sizes() &&
         self.strides() == src.strides();
}

void copy_whole(const Tensor& self, const Tensor& src) {
  const Uninterrupted whole;
  write_copy(self, src);
  bump_version(self);
}

}  // namespace

void warn_of_lost_parts() { warn("UserWarning", "Casting complex values to real discards the imaginary part"); }

void run_copy(const Tensor& self, const Tensor& src) {
  check_unseen(self);
  if (self.is(src) || is_same_data(self, src)) return bump_version(self);
  if (src.is_meta() && !self.is_meta()) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
  check_no_internal_overlap(self);
  check_no_partial_overlap(self, src);
  if (!(self.sizes() == src.sizes())) check_inplace_shape(self.sizes(), infer_size(self.sizes(), src.sizes()));
  if (may_read_what_it_wrote(self, src)) return copy_whole(self, run_clone(src, MemoryFormat::preserve));
  copy_whole(self, src);
}

Tensor run_clone(const Tensor& self, MemoryFormat format) {
  Tensor result =
      format == MemoryFormat::contiguous
          ? new_tensor(self.sizes(), self.dtype(), self.device())
          : new_tensor(self.sizes(), strides_like(self.sizes(), self.strides(), format), self.dtype(), self.device());
  write_copy(result, self);
  return result;
}

Tensor run_to(const Tensor& self, Dtype wanted, MemoryFormat format) {
  Tensor result = new_tensor(self.sizes(), strides_like(self.sizes(), self.strides(), format), wanted, self.device());
  if (Recorder* recorder = self.is_meta() ? Recorder::current() : nullptr) recorder->add_cast(self, result);
  write_copy(result, self);
  return result;
}

Tensor& Tensor::copy_(const Tensor& src) {
  warn_of_lost_parts(src.dtype(), dtype(), numel());
  if (impl()->in_graph || src.impl()->in_graph) [[unlikely]]
    with_history().copy(*this, src);
  else
    run_copy(*this, src);
  return *this;
}

Tensor Tensor::clone(MemoryFormat format) const {
  return has_observer(*this) ? with_history().clone(*this, format) : run_clone(*this, format);
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::preserve) throw Error("preserve memory format is unsupported by the contiguous operator");
  if (is_contiguous(format)) return *this;
  return clone(format);
}

namespace {

Tensor reshape_strided(const Tensor& self, SizesView desired) {
  const Dims inferred = infer_view_sizes(desired, self.numel());
  if (Tensor view = reshaped_view(self, inferred); view.defined()) return view;
  // The result is not a view of the copy, because nothing else holds that.
  const Tensor copy = self.clone(MemoryFormat::contiguous);
  return recorded(copy, new_alias(copy, inferred, contiguous_strides(inferred), 0), {ViewKind::unsafe_view});
}

}  // namespace

Tensor Tensor::reshape(SizesView desired) const {
  return impl()->row_major ? view(desired) : reshape_strided(*this, desired);
}

Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const {
  const int64_t first = wrap_dim(start_dim, dim()), last = wrap_dim(end_dim, dim());
  if (first > last) throw Error("flatten() has invalid args: start_dim cannot come after end_dim");
  if (dim() == 0) return reshape({1});
  if (first == last) return *this;
  Dims flat;
  for (int64_t i = 0; i < first; ++i) flat.push_back(sizes()[i]);
  flat.push_back(checked_numel(SizesView(sizes().data() + first, last - first + 1)));
  for (int64_t i = last + 1; i < dim(); ++i) flat.push_back(sizes()[i]);
  return reshape(flat);
}

Tensor Tensor::to(Dtype wanted, bool copy, MemoryFormat format) const {
  const bool fits = dtype() == wanted && (format == MemoryFormat::preserve || format_of(sizes(), strides()) == format);
  if (fits && !copy) return *this;
  warn_of_lost_parts(dtype(), wanted, is_meta() ? 0 : numel());
  return has_observer(*this) ? with_history().to(*this, wanted, format) : run_to(*this, wanted, format);
}

Tensor Tensor::to(Device wanted) const {
  if (device() == wanted || (wanted == Device::cpu && stands_for_data(*this))) return *this;
  if (is_meta()) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
  return new_tensor(sizes(), dense_strides_like(sizes(), strides()), dtype(), wanted);
}

void copy_without_memory(const Tensor& self, const Tensor& src) noexcept {
  const auto cast = kernels().cast[static_cast<int>(src.dtype())][static_cast<int>(self.dtype())];
  auto* to = static_cast<std::byte*>(self.impl()->data());
  const auto* from = static_cast<const std::byte*>(src.impl()->data());
  for (int64_t i = 0; i < self.numel() && !self.is_meta(); ++i) {
    int64_t rest = i, written = 0, read = 0;
    // exact: offsets of elements
    for (int64_t dim = self.dim() - 1; dim >= 0; --dim) {
      const int64_t at = rest % self.sizes()[dim];
      rest /= self.sizes()[dim];
      written += at * self.strides()[dim];
      read += at * src.strides()[dim];
    }
    const Lanes lanes{from + read * src.itemsize(), src.itemsize()};
    cast(to + written * self.itemsize(), &lanes, 1);
  }
  bump_version(self);
}

void run_fill(const Tensor& self, Scalar value) {
  write_fill(self, value);
  bump_version(self);
}

void check_fill(Scalar value, Dtype dtype, int64_t numel) {
  // For a single 16-bit float, PyTorch's error names the dtype that it converts from.
  if (numel == 1 && value.is_complex() && widened(dtype) != dtype) static_cast<void>(value.to<double>());
  // A single 16-bit float becomes infinite on overflow; for several elements it is an error.
  if (widened(dtype) == dtype || numel != 1) check_fits(value, dtype);
}

void write_fill(const Tensor& self, Scalar value) {
  check_fill(value, self.dtype(), self.numel());
  if (!has_no_work(self.numel(), self.data_ptr())) {
    Number number;
    const Dtype dtype = dtype_of_number(value);
    store_number(value, dtype, number.bytes);
    const Tensor places = self.is_contiguous() ? self : distinct_places(self);
    const Uninterrupted whole;
    write_number(places, number.bytes, dtype);
  }
}

Tensor& Tensor::fill_(Scalar value) {
  if (impl()->in_graph) [[unlikely]]
    with_history().fill_number(*this, value);
  else
    run_fill(*this, value);
  return *this;
}

void run_fill(const Tensor& self, const Tensor& value) {
  if (value.dim() != 0)
    throw Error("fill_ only supports 0-dimension value tensor but got tensor with " + std::to_string(value.dim()) +
                " dimensions.");
  warn_of_lost_parts(value.dtype(), self.dtype(), self.numel());
  const bool shares = share_memory(value, self);
  run_copy(self, shares ? run_clone(value, MemoryFormat::preserve) : value);
}

Tensor& Tensor::fill_(const Tensor& value) {
  if (impl()->in_graph || value.impl()->in_graph) [[unlikely]]
    with_history().fill(*this, value);
  else
    run_fill(*this, value);
  return *this;
}

Tensor& Tensor::zero_() {
  if (impl()->in_graph) [[unlikely]]
    with_history().zero(*this);
  else
    run_fill(*this, 0);
  return *this;
}

Tensor& Tensor::resize_(SizesView wanted) {
  if (impl()->in_graph) check_resizable(*this, wanted);
  for (int64_t size : wanted)
    if (size < 0) throw Error("numel: integer multiplication overflow");
  checked_numel(wanted);
  if (sizes() == wanted) return *this;
  set_sizes_and_strides(*this, wanted, contiguous_strides(wanted));
  bump_version(*this);
  return *this;
}

Scalar Tensor::item() const {
  if (numel() != 1) throw Error("a Tensor with " + std::to_string(numel()) + " elements cannot be converted to Scalar");
  if (is_meta()) throw Error("Tensor.item() cannot be called on meta tensors");
  if (dtype() == bool_) return Scalar(*static_cast<const uint8_t*>(data_ptr()) != 0);
  return visit_dtype(dtype(), [&]<class T>() { return to_scalar(*data<T>()); });
}

Tensor Tensor::sum_to_size(SizesView wanted) const {
  if (wanted.empty() && is_expandable_to(wanted, sizes())) return sum();
  if (sizes() == wanted) return *this;
  const Dims dims = sum_to_dims(sizes(), wanted);
  const Tensor summed = dims.empty() ? *this : sum(DimsArg(SizesView(dims)), true);
  return wanted.size() < dim() ? summed.view(wanted) : summed;
}

}  // namespace tenon
