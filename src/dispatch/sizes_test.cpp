// For any sizes, strides, offsets and indices: the layout is exact and inside its storage, or there is an Error. The
// expected layouts are computed in 128 bits. Ops come from the table, so new ones are included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "declared.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/schema.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;
constexpr int64_t kHostile[] = {0,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                5,
                                64,
                                (int64_t{1} << 31) - 1,
                                int64_t{1} << 31,
                                int64_t{1} << 32,
                                (int64_t{1} << 32) + 1,
                                int64_t{1} << 40,
                                int64_t{1} << 58,
                                int64_t{1} << 61,
                                (int64_t{1} << 61) + (int64_t{1} << 20),
                                int64_t{1} << 62,
                                (int64_t{1} << 62) + 1,
                                kMax - 1,
                                kMax,
                                kMin,
                                kMin + 1,
                                -(int64_t{1} << 62)};

/// A layout in 128 bits.
struct Layout {
  std::vector<Wide> sizes, strides;
  Wide offset = 0;

  Layout() = default;
  explicit Layout(const Tensor& tensor)
      : sizes(tensor.sizes().begin(), tensor.sizes().end()),
        strides(tensor.strides().begin(), tensor.strides().end()),
        offset(tensor.storage_offset()) {}
  void erase(int64_t dim) {
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
  }
  void insert(int64_t dim, Wide size, Wide stride) {
    sizes.insert(sizes.begin() + dim, size);
    strides.insert(strides.begin() + dim, stride);
  }
  bool operator==(const Layout&) const = default;
};

std::string described(const Tensor& tensor) {
  return to_string(tensor.sizes()) + " " + to_string(tensor.strides()) + " " + std::to_string(tensor.storage_offset()) +
         (tensor.is_meta() ? " meta" : "");
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t count) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(count)); }
  bool chance(int percent) { return below(100) < percent; }
  int64_t number() { return chance(45) ? kHostile[below(std::size(kHostile))] : below(8) - 3; }
  int64_t not_negative() {
    const int64_t drawn = number();
    return drawn < 0 ? -(drawn + 1) : drawn;
  }
  Dims numbers(int64_t count) {
    Dims drawn(count);
    for (int64_t& value : drawn) value = number();
    return drawn;
  }
  Dims sizes(int64_t count) {
    Dims drawn(count);
    for (int64_t& value : drawn) value = chance(70) ? below(4) : not_negative();
    return drawn;
  }

  Tensor tensor() {
    const int64_t ndim = below(4);
    Dims some = sizes(ndim), strides(ndim);
    for (int64_t& stride : strides) stride = not_negative();
    switch (below(5)) {
      case 0:
        return empty({2, 3, 4});
      case 1:
        return empty({1}).expand(some);
      case 2:
        some.insert(below(ndim + 1), 0);
        strides.insert(0, not_negative());
        return empty_strided(some, strides);
      case 3:
        return empty_strided(some, strides, {uint8, Device::meta});
      default:
        return empty({24}).as_strided(some, strides, not_negative());
    }
  }

 private:
  std::mt19937_64 engine_;
};

/// Checks a tensor: exact products, and every element inside the storage.
void check_sound(const Tensor& tensor, const std::string& how) {
  const Layout layout(tensor);
  Wide numel = 1, first = layout.offset, last = layout.offset;
  bool huge = false, zero = false;
  for (std::size_t dim = 0; dim < layout.sizes.size(); ++dim) {
    const Wide size = layout.sizes[dim], stride = layout.strides[dim];
    zero |= size == 0;
    if (!huge) numel *= size;
    huge |= numel > kMax;
    (stride < 0 ? first : last) += (size - 1) * stride;
  }
  if (zero) {
    EXPECT_EQ(tensor.numel(), 0) << how;
    return;
  }
  EXPECT_FALSE(huge) << how;
  EXPECT_TRUE(tensor.numel() == numel) << how;
  EXPECT_EQ(tensor.is_contiguous(), is_contiguous(tensor.sizes(), tensor.strides())) << how;
  if (tensor.is_meta()) return;
  EXPECT_TRUE(first >= 0) << how;
  EXPECT_TRUE((last + 1) * tensor.itemsize() <= tensor.impl()->storage->nbytes)
      << how << ": outside of " << tensor.impl()->storage->nbytes << " bytes";
}

struct Attempt {
  std::string name;
  std::function<Tensor()> run;
  std::function<Layout()> wanted;  // the expected layout on success; empty if there is no simple rule
};

Layout sliced(const Tensor& x, int64_t dim, Wide first, Wide count, Wide step) {
  Layout layout(x);
  const std::size_t at = static_cast<std::size_t>(dim);
  layout.offset += first * layout.strides[at];
  layout.sizes[at] = count;
  layout.strides[at] *= step;
  return layout;
}

/// A drawn view of `x`.
Attempt draw_view(Draw& draw, const Tensor& x) {
  const int64_t ndim = x.dim(), dim = ndim > 0 ? draw.below(ndim) : 0, size = ndim > 0 ? x.size(dim) : 0;
  const int64_t a = draw.number(), b = draw.number(), c = draw.number();
  const Dims list = draw.sizes(draw.below(4)), numbers = draw.numbers(draw.below(4));
  switch (draw.below(16)) {
    case 0:
      return {"select", [=] { return x.select(dim, a); },
              [=] {
                Layout layout = sliced(x, dim, a < 0 ? Wide{a} + size : a, 1, 1);
                layout.erase(dim);
                return layout;
              }};
    case 1:
      return {"narrow", [=] { return x.narrow(dim, a, b); },
              [=] { return sliced(x, dim, a < 0 ? Wide{a} + size : a, b, 1); }};
    case 2:
      return {"slice", [=] { return x.slice(dim, a, b, c); },
              [=] {
                const auto clamped = [&](Wide bound) {
                  return std::clamp<Wide>(bound < 0 ? bound + size : bound, 0, std::max<Wide>(size, 0));
                };
                const Wide first = clamped(a), last = std::max(first, clamped(b));
                return sliced(x, dim, first, (last - first + c - 1) / c, c);
              }};
    case 3:
      return {"unsqueeze", [=] { return x.unsqueeze(dim); },
              [=] {
                Layout layout(x);
                layout.insert(dim, 1,
                              ndim > 0 ? layout.sizes[static_cast<std::size_t>(dim)] *
                                             layout.strides[static_cast<std::size_t>(dim)]
                                       : 1);
                return layout;
              }};
    case 4:
      return {"as_strided", [=] { return x.as_strided(list, numbers, c); },
              [=] {
                Layout layout;
                layout.sizes.assign(list.begin(), list.end());
                layout.strides.assign(numbers.begin(), numbers.end());
                layout.offset = c;
                return layout;
              }};
    case 5:
      return {"transpose", [=] { return x.transpose(dim, 0); },
              [=] {
                Layout layout(x);
                if (ndim == 0) return layout;
                std::swap(layout.sizes[0], layout.sizes[static_cast<std::size_t>(dim)]);
                std::swap(layout.strides[0], layout.strides[static_cast<std::size_t>(dim)]);
                return layout;
              }};
    case 6:
      return {"diagonal", [=] { return x.diagonal(a, 0, 1); },
              [=] {
                Layout layout(x);
                const Wide rows = std::max<Wide>(layout.sizes[0], 0), columns = std::max<Wide>(layout.sizes[1], 0);
                const Wide right = std::max<Wide>(a, 0), below = std::max<Wide>(-Wide{a}, 0);
                const Wide length = std::max<Wide>(std::min(rows - below, columns - right), 0);
                if (length > 0) layout.offset += right * layout.strides[1] + below * layout.strides[0];
                const Wide stride = layout.strides[0] + layout.strides[1];
                layout.erase(1);
                layout.erase(0);
                layout.insert(ndim - 2, length, stride);
                return layout;
              }};
    case 7:
      return {"index", [=] { return x.index({a, Slice(b, c, 2)}); }, {}};
    case 8:
      return {"expand", [=] { return x.expand(numbers); }, {}};
    case 9:
      return {"view", [=] { return x.view(numbers); }, {}};
    case 10:
      return {"reshape", [=] { return x.numel() < 4096 ? x.reshape(list) : x; }, {}};
    case 11:
      return {"unflatten", [=] { return x.unflatten(dim, numbers); }, {}};
    case 12:
      return {"flatten", [=] { return x.numel() < 4096 ? x.flatten(0, dim) : x; }, {}};
    case 13:
      return {"squeeze", [=] { return x.squeeze(); }, {}};
    case 14:
      return {"movedim", [=] { return x.movedim(a, b); }, {}};
    default:
      return {"permute", [=] { return x.permute(numbers); }, {}};
  }
}

/// A random op with `out=`, over a small operand.
void write_drawn_op(Draw& draw, Tensor& out) {
  // No uninitialized memory: polynomials compute for as long as their degree says.
  const Tensor x = ones(draw.sizes(draw.below(3)).size() > 1 ? SizesView({2, 3}) : SizesView({3})), y = ones({3});
  const auto at = static_cast<std::size_t>(draw.below(static_cast<int64_t>(schemas().size())));
  const Schema& schema = schemas()[at];
  if (!schema.out) return;
  std::vector<Value> values(static_cast<std::size_t>(schema.count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& parameter = schema.parameters()[i];
    const std::string_view name = parameter.name;
    if (name == "condition")
      values[i] = empty({3}, bool_);
    else if (parameter.is_operand() && *schema.shapes)
      values[i] = empty(declared::sizes_of(schema, declared::operand_number(schema, static_cast<int>(i)), {}));
    else if (name == "dim")
      values[i] = Dims{0};
    else if (name == "min")
      values[i] = 0.0;
    else if (parameter.is_list())
      values[i] = List<Tensor>{x, x};
    else if (parameter.is_operand() && !parameter.fallback)
      values[i] = i == 0 ? x : y;
    else if (!parameter.fallback)
      values[i] = float32;
  }
  std::vector<Tensor> outs(static_cast<std::size_t>(schema.results), empty({0}, int64));
  outs[0] = out;
  schema.out(values.data(), outs.data());
}

/// Whether so many elements are possible, but slow.
bool is_costly(Wide count) { return count > 4096 && count < Wide{1} << 57; }

/// Reads or resizes a tensor with few elements.
void use(Draw& draw, Tensor& x) {
  if (is_costly(x.storage_offset())) return;
  switch (draw.below(6)) {
    case 0: {
      const Dims sizes = draw.numbers(draw.below(3));
      if (is_costly(std::accumulate(sizes.begin(), sizes.end(), Wide{1}, std::multiplies<Wide>()))) return;
      x.resize_(sizes);
      EXPECT_TRUE(x.sizes() == SizesView(sizes));
      if (x.numel() < 4096) x.fill_(1);
      break;
    }
    case 1:
      write_drawn_op(draw, x);
      break;
    case 2:
      if (x.numel() < 4096) check_sound(x.clone(), "clone of " + described(x));
      break;
    case 3:
      if (x.numel() < 4096) check_sound(x.add(1), "sum with " + described(x));
      break;
    case 4:
      if (x.numel() > 0 && x.numel() < 4096) check_sound(x.sum(draw.below(3)), "sum of " + described(x));
      break;
    default:
      if (x.numel() < 4096) to_string(x);
  }
}

/// Returns whether the call succeeded.
template <class Call>
bool attempt(const Call& call) {
  try {
    call();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void run_case(uint64_t seed, int64_t& succeeded, int64_t& refused) {
  Draw draw(seed);
  Tensor x;
  if (!attempt([&] { x = draw.tensor(); })) return;
  for (int step = 0; step < 3; ++step) {
    const std::string before = described(x);
    check_sound(x, before + ", seed " + std::to_string(seed));
    const Attempt view = draw_view(draw, x);
    const std::string how = view.name + " of " + before + ", seed " + std::to_string(seed);
    Tensor result;
    if (!attempt([&] { result = view.run(); })) {
      EXPECT_EQ(described(x), before) << how;
      ++refused;
      continue;
    }
    ++succeeded;
    check_sound(result, how + " gives " + described(result));
    if (view.wanted) {
      EXPECT_TRUE(Layout(result) == view.wanted()) << how << " gives " << described(result);
    }
    x = result;
    const Tensor owner = x;  // a resize changes the tensor, not its handle
    if (x.numel() < 4096) attempt([&] { use(draw, x); });
    check_sound(x, "after use: " + how + ", now " + described(x));
  }
}

TEST(HostileSizes, LayoutsAreExactOrRefused) {
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  int64_t succeeded = 0, refused = 0;
  const char* cases = std::getenv("TENON_HOSTILE_CASES");
  const uint64_t count = cases ? std::strtoull(cases, nullptr, 10) : 100000 / kSampled;
  const char* start = std::getenv("TENON_HOSTILE_SEED");
  const uint64_t first = start ? std::strtoull(start, nullptr, 10) : 0;
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) run_case(seed, succeeded, refused);
  set_warning_handler(nullptr);
  EXPECT_GT(succeeded, refused / 10);
}

}  // namespace
}  // namespace tenon
