#include "draw.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>

#include "../measure.h"
#include "call.h"
#include "nested_loops.h"
#include "plain_loops.h"

namespace bench {
namespace {

/// Memory, and the view of it that is an operand.
struct Layout {
  Dims sizes;  // of the memory; none: no such operand
  Dtype dtype = Dtype::float32;
  Dims order = {};     // the memory's dims in the order of the view's; none: as they are
  int64_t cut = 0;     // elements at the end of each row that the view leaves out
  int64_t step = 1;    // from one element of a row to the view's next
  Dims repeated = {};  // sizes of the view where dims of size 1 are expanded; none: as they are

  bool is_there() const { return sizes.size() > 0; }
  int64_t nbytes() const { return is_there() ? tenon::numel_of(sizes) * tenon::itemsize(dtype) : 0; }
  /// Of the view.
  Dims view_sizes() const {
    Dims cropped = sizes, result;
    cropped[sizes.size() - 1] = (sizes.back() - cut + step - 1) / step;
    if (!repeated.empty()) return repeated;
    if (order.empty()) return cropped;
    for (const int64_t dim : order) result.push_back(cropped[dim]);
    return result;
  }
  std::string text() const {
    const auto list = [](const Dims& dims) {
      std::string joined;
      for (const int64_t dim : dims) joined += (joined.empty() ? "" : ",") + std::to_string(dim);
      return joined;
    };
    std::string result = std::string(tenon::dtype_name(dtype)) + "[" + list(sizes) + "]";
    if (cut > 0) result += "[..,:-" + std::to_string(cut) + "]";
    if (step > 1) result += "[..,::" + std::to_string(step) + "]";
    if (!order.empty()) result += ".permute(" + list(order) + ")";
    if (!repeated.empty()) result += ".expand(" + list(repeated) + ")";
    return result;
  }
};

template <class Library>
typename Library::Tensor make_operand(const Layout& layout) {
  if (!layout.is_there()) return {};
  typename Library::Tensor tensor = Library::random(layout.sizes, layout.dtype);
  const int64_t last = layout.sizes.size() - 1, length = layout.sizes[last];
  if (layout.cut > 0) tensor = tensor.narrow(last, 0, length - layout.cut);
  if (layout.step > 1) tensor = tensor.slice(last, 0, length - layout.cut, layout.step);
  if (!layout.repeated.empty()) tensor = tensor.expand(Library::sizes(layout.repeated));
  return layout.order.empty() ? tensor : tensor.permute(Library::sizes(layout.order));
}

/// An op over operands of either library.
struct Run {
  Call call;
  int64_t dim;  // of argmax, cumsum and cat

  template <class Library>
  void operator()(Operands<Library>& x) const {
    switch (call) {
      case Call::add:
        return void(add_out(x.out, x.a, x.b));
      case Call::mul:
        return void(mul_out(x.out, x.a, x.b));
      case Call::maximum:
        return void(maximum_out(x.out, x.a, x.b));
      case Call::lt:
        return void(lt_out(x.out, x.a, x.b));
      case Call::eq:
        return void(eq_out(x.out, x.a, x.b));
      case Call::where:
        return void(where_out(x.out, x.c, x.a, x.b));
      case Call::copy:
        return void(x.out.copy_(x.a));
      case Call::sum:
        return void(sum(x.a, x.dims));
      case Call::mean:
        return void(mean(x.a, x.dims));
      case Call::amax:
        return void(amax(x.a, x.dims));
      case Call::norm:
        return void(linalg_vector_norm(x.a, 2, x.dims));
      case Call::argmax:
        return void(argmax(x.a, dim));
      case Call::var:
        return void(var(x.a, x.dims, true));
      case Call::cumsum:
        return void(cumsum_out(x.out, x.a, dim));
      case Call::matmul:
        return x.out.defined() ? void(matmul_out(x.out, x.a, x.b)) : void(matmul(x.a, x.b));
      case Call::cat:
        return void(cat_out(x.out, {x.a, x.b, x.c}, dim));
      case Call::exp:
        return void(exp_out(x.out, x.a));
    }
  }
};

/// A call with its operands.
struct Recipe {
  Call call;
  Layout out = {}, a = {}, b = {}, c = {};
  Dims dims = {};  // that are reduced
  int64_t dim = 0;
  int64_t inner = 1;
  int64_t multiplications = 0;
};

constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16};
constexpr Dtype kIntegers[] = {Dtype::int32, Dtype::int64, Dtype::int16, Dtype::uint8, Dtype::int8};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }
  /// Small numbers as often as large ones.
  int64_t scaled(int64_t least, int64_t most) {
    const double low = std::log(static_cast<double>(least)), high = std::log(static_cast<double>(most) + 1);
    const double at = low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
    return std::clamp(static_cast<int64_t>(std::exp(at)), least, most);
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }
  template <class T, std::size_t N>
  T pick(const T (&from)[N]) {
    return from[between(0, static_cast<int64_t>(N) - 1)];
  }
  /// Half of them float32.
  Dtype dtype() { return one_in(2) ? Dtype::float32 : one_in(2) ? pick(kFloats) : pick(kIntegers); }
  Dtype floating() { return one_in(2) ? Dtype::float32 : pick(kFloats); }
  /// Bytes of all operands: in the first, second or last cache, or in memory.
  int64_t footprint() {
    constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB;
    const int64_t levels[][2] = {
        {4 * kKiB, 24 * kKiB}, {64 * kKiB, 512 * kKiB}, {2 * kMiB, 12 * kMiB}, {48 * kMiB, 80 * kMiB}};
    const auto& level = levels[between(0, 3)];
    return scaled(level[0], level[1]);
  }
  /// Elements of an operand that is there `operands` times.
  int64_t elements(Dtype dtype, int64_t operands) { return footprint() / (operands * tenon::itemsize(dtype)); }

 private:
  std::mt19937_64 random_;
};

Layout of(Dims sizes, Dtype dtype) { return {.sizes = std::move(sizes), .dtype = dtype}; }

Call binary_call(Draw& draw) {
  const Call calls[] = {Call::add, Call::mul, Call::maximum};
  return draw.pick(calls);
}

/// The recipe with an output of the result's shape.
Recipe with_out(Recipe recipe) {
  Dims sizes = recipe.a.view_sizes();
  for (const Layout* operand : {&recipe.b, &recipe.c})
    if (operand->is_there()) sizes = tenon::infer_size(sizes, operand->view_sizes());
  const bool compares = recipe.call == Call::lt || recipe.call == Call::eq;
  const Dtype common = recipe.b.is_there() ? tenon::promote_types(recipe.a.dtype, recipe.b.dtype) : recipe.a.dtype;
  recipe.out = of(sizes, compares ? Dtype::bool_ : common);
  return recipe;
}

/// [N, k] and one of: the same, a row, a column.
Recipe matrix(Draw& draw, Call call, Dtype a, Dtype b, int64_t kind) {
  const int64_t k = draw.scaled(2, 4096), n = std::max<int64_t>(1, draw.elements(a, 3) / k);
  const Dims others[] = {{n, k}, {k}, {n, 1}};
  return with_out({.call = call, .a = of({n, k}, a), .b = of(others[kind], b), .inner = k});
}

Recipe equal(Draw& draw) {
  const Dtype dtype = draw.dtype();
  return matrix(draw, binary_call(draw), dtype, dtype, 0);
}
Recipe rows(Draw& draw) {
  const Dtype dtype = draw.dtype();
  return matrix(draw, binary_call(draw), dtype, dtype, 1);
}
Recipe columns(Draw& draw) {
  const Dtype dtype = draw.dtype();
  return matrix(draw, binary_call(draw), dtype, dtype, 2);
}
Recipe mixed(Draw& draw) {
  const Dtype a = draw.dtype();
  Dtype b = draw.dtype();
  while (b == a) b = draw.dtype();
  return matrix(draw, binary_call(draw), a, b, draw.between(0, 2));
}
Recipe comparisons(Draw& draw) {
  const Dtype dtype = draw.dtype();
  return matrix(draw, draw.one_in(2) ? Call::lt : Call::eq, dtype, dtype, draw.between(0, 2));
}
Recipe choices(Draw& draw) {
  Recipe recipe = matrix(draw, Call::where, Dtype::float32, Dtype::float32, draw.between(0, 2));
  const Dims full = recipe.a.sizes, conditions[] = {full, {full[1]}, {full[0], 1}};
  recipe.c = of(draw.pick(conditions), Dtype::bool_);
  const Dtype dtype = draw.dtype();
  recipe.a.dtype = recipe.b.dtype = recipe.out.dtype = dtype;
  return recipe;
}
Recipe gaps(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.scaled(2, 1024), cut = draw.between(1, std::max<int64_t>(1, k / 4));
  const int64_t n = std::max<int64_t>(1, draw.elements(dtype, 3) / k);
  const Layout cropped{.sizes = {n, k + cut}, .dtype = dtype, .cut = cut};
  const Layout others[] = {cropped, of({n, k}, dtype), of({k}, dtype)};
  Recipe recipe = with_out({.call = binary_call(draw), .a = cropped, .b = draw.pick(others), .inner = k});
  if (draw.one_in(3)) recipe.out = cropped;
  return recipe;
}
Recipe steps(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.scaled(2, 1024), step = draw.between(2, 4);
  const int64_t n = std::max<int64_t>(1, draw.elements(dtype, 4) / k);
  const Layout strided{.sizes = {n, k * step}, .dtype = dtype, .step = step};
  const Layout cropped{.sizes = {n, k + 1}, .dtype = dtype, .cut = 1};
  const Layout others[] = {strided, cropped, of({n, k}, dtype), of({k}, dtype), of({n, 1}, dtype)};
  Recipe recipe = with_out({.call = binary_call(draw), .a = strided, .b = draw.pick(others), .inner = k});
  if (!draw.one_in(3)) return recipe;
  recipe.out = draw.one_in(2) ? strided : cropped;
  if (draw.one_in(2)) recipe.a = others[draw.between(1, 2)];
  return recipe;
}
Recipe transposed(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.scaled(2, 2048), n = std::max<int64_t>(1, draw.elements(dtype, 3) / k);
  return with_out({.call = binary_call(draw),
                   .a = of({n, k}, dtype),
                   .b = {.sizes = {k, n}, .dtype = dtype, .order = {1, 0}},
                   .inner = k});
}

/// Sizes of a tensor with about so many elements.
Dims split(Draw& draw, int64_t elements, int64_t ndim) {
  Dims sizes(ndim, 1);
  int64_t left = std::max<int64_t>(1, elements);
  for (int64_t dim = 0; dim + 1 < ndim; ++dim) {
    const double even = std::pow(static_cast<double>(left), 1.0 / static_cast<double>(ndim - dim));
    sizes[dim] = draw.scaled(2, std::max<int64_t>(2, static_cast<int64_t>(even * even)));
    left = std::max<int64_t>(1, left / sizes[dim]);
  }
  sizes[ndim - 1] = left;
  for (int64_t dim = ndim - 1; dim > 0; --dim) std::swap(sizes[dim], sizes[draw.between(0, dim)]);
  return sizes;
}
Dims shuffled(Draw& draw, int64_t ndim) {
  Dims order;
  for (int64_t dim = 0; dim < ndim; ++dim) order.push_back(dim);
  for (int64_t dim = ndim - 1; dim > 0; --dim) std::swap(order[dim], order[draw.between(0, dim)]);
  return order;
}
/// A layout whose view by `order` has these sizes.
Layout permuted(const Dims& sizes, Dtype dtype, const Dims& order) {
  Dims memory(sizes.size(), 0);
  for (int64_t dim = 0; dim < sizes.size(); ++dim) memory[order[dim]] = sizes[dim];
  return {.sizes = memory, .dtype = dtype, .order = order};
}

Recipe permutations(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t ndim = draw.between(3, 4);
  const Dims sizes = split(draw, draw.elements(dtype, 3), ndim);
  return with_out({.call = binary_call(draw),
                   .a = of(sizes, dtype),
                   .b = permuted(sizes, dtype, shuffled(draw, ndim)),
                   .inner = sizes.back()});
}
/// Either operand has size 1 in some dims.
Recipe both_sides(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t ndim = draw.between(3, 7);
  const Dims sizes = split(draw, draw.elements(dtype, 1), ndim);
  Dims a = sizes, b = sizes;
  for (int64_t dim = 0; dim < ndim; ++dim)
    if (!draw.one_in(2)) (draw.one_in(2) ? a : b)[dim] = 1;
  return with_out({.call = binary_call(draw), .a = of(a, dtype), .b = of(b, dtype), .inner = sizes.back()});
}
Recipe copies(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t ndim = draw.between(2, 4);
  const Dims sizes = split(draw, draw.elements(dtype, 2), ndim);
  Recipe recipe{.call = Call::copy, .out = of(sizes, dtype), .inner = sizes.back()};
  recipe.a = draw.one_in(3) ? of({sizes.back()}, dtype) : permuted(sizes, dtype, shuffled(draw, ndim));
  return recipe;
}
Recipe casts(Draw& draw) {
  const Dtype from = draw.dtype();
  Dtype to = draw.dtype();
  while (to == from) to = draw.dtype();
  const int64_t k = draw.scaled(2, 4096), n = std::max<int64_t>(1, draw.elements(from, 2) / k);
  return {.call = Call::copy, .out = of({n, k}, to), .a = of({n, k}, from), .inner = k};
}
Recipe joins(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.scaled(2, 1024), n = std::max<int64_t>(3, draw.elements(dtype, 2) / k);
  const int64_t dim = draw.between(0, 1), first = dim == 0 ? n / 3 : std::max<int64_t>(1, k / 3);
  const auto part = [&](int64_t size) { return of(dim == 0 ? Dims{size, k} : Dims{n, size}, dtype); };
  const int64_t rest = draw.scaled(1, 2 * first), whole = 2 * first + rest;
  return {.call = Call::cat,
          .out = part(whole),
          .a = part(first),
          .b = part(rest),
          .c = part(first),
          .dim = dim,
          .inner = k};
}
Recipe scans(Draw& draw) {
  const Dtype dtype = draw.floating();
  const int64_t k = draw.scaled(2, 4096), n = std::max<int64_t>(1, draw.elements(dtype, 2) / k);
  return {
      .call = Call::cumsum, .out = of({n, k}, dtype), .a = of({n, k}, dtype), .dim = draw.between(0, 1), .inner = k};
}
Recipe functions(Draw& draw) {
  const Dtype dtype = draw.floating();
  const int64_t k = draw.scaled(2, 4096), n = std::max<int64_t>(1, draw.elements(dtype, 2) / k);
  return with_out({.call = Call::exp, .a = of({n, k}, dtype), .inner = k});
}

Recipe reduction(Draw& draw, Dims sizes, Dims dims, Dtype dtype, int64_t inner) {
  const Call any[] = {Call::sum, Call::amax, Call::argmax},
             floating[] = {Call::sum, Call::mean, Call::amax, Call::argmax, Call::var};
  Recipe recipe{.call = tenon::is_floating_point(dtype) ? draw.pick(floating) : draw.pick(any),
                .a = of(std::move(sizes), dtype)};
  if (recipe.call == Call::argmax && dims.size() > 1) recipe.call = Call::sum;
  int64_t reduced = 1;
  for (const int64_t dim : dims) reduced *= recipe.a.sizes[dim];
  if (recipe.call == Call::var && reduced == 1) recipe.call = Call::sum;  // would warn in every call
  recipe.dim = dims[0];
  recipe.dims = std::move(dims);
  recipe.inner = inner;
  return recipe;
}
Recipe inner_reductions(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.one_in(4) ? draw.scaled(300, 8192) : draw.scaled(2, 300);
  return reduction(draw, {std::max<int64_t>(1, draw.elements(dtype, 1) / k), k}, {1}, dtype, k);
}
Recipe outer_reductions(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.one_in(4) ? draw.scaled(300, 8192) : draw.scaled(2, 300);
  const int64_t n = std::max<int64_t>(1, draw.elements(dtype, 1) / k);
  const Dims shapes[] = {{k, n}, {n, k}};
  return reduction(draw, draw.pick(shapes), {0}, dtype, k);
}
Recipe middle_reductions(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const Dims sizes = split(draw, draw.elements(dtype, 1), 3);
  return reduction(draw, sizes, {1}, dtype, sizes[1]);
}
Recipe several_reductions(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const Dims sizes = split(draw, draw.elements(dtype, 1), 4);
  const Dims dims[] = {{0, 2, 3}, {1, 3}, {0, 2}, {1, 2}, {0, 1}};
  return reduction(draw, sizes, draw.pick(dims), dtype, sizes.back());
}

/// Elements that are repeated along one dim or two, and others beside them, or reduced.
Recipe repetitions(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const Dims sizes = split(draw, draw.elements(dtype, 2), 3);
  Layout repeated = of(sizes, dtype);
  repeated.repeated = sizes;
  for (int64_t i = draw.between(1, 2); i > 0; --i) repeated.sizes[draw.between(0, 2)] = 1;
  if (draw.one_in(2))
    return with_out({.call = binary_call(draw),
                     .a = repeated,
                     .b = draw.one_in(2) ? repeated : of({sizes[1], 1}, dtype),
                     .inner = sizes.back()});
  const Dims dims[] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}};
  Recipe recipe = reduction(draw, sizes, draw.pick(dims), dtype, sizes.back());
  recipe.a = repeated;
  return recipe;
}

/// Reductions of layouts that one meets less often; with `norm`.
Recipe drawn_reduction(Draw& draw, const Layout& a, int64_t inner) {
  const Dims sizes = a.view_sizes(), dims = shuffled(draw, sizes.size());
  Dims some;
  for (int64_t i = draw.between(1, std::max<int64_t>(1, sizes.size() - 1)); i > 0; --i) some.push_back(dims[i - 1]);
  Recipe recipe = reduction(draw, sizes, some, a.dtype, inner);
  if (tenon::is_floating_point(a.dtype) && recipe.call == Call::mean) recipe.call = Call::norm;
  recipe.a = a;
  return recipe;
}
Recipe permuted_reductions(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t ndim = draw.between(2, 4);
  const Dims sizes = split(draw, draw.elements(dtype, 1), ndim), order = shuffled(draw, ndim);
  const Layout layout = permuted(sizes, dtype, order);
  return drawn_reduction(draw, layout, layout.sizes.back());
}
/// Rows of 2 to 11 elements.
Recipe narrow_reductions(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.between(2, 11), n = std::max<int64_t>(1, draw.elements(dtype, 1) / k);
  Dims sizes = split(draw, n, draw.between(1, 3));
  sizes.push_back(k);
  return drawn_reduction(draw, of(sizes, dtype), k);
}
Recipe reductions_of_gaps(Draw& draw) {
  const Dtype dtype = draw.dtype();
  const int64_t k = draw.scaled(2, 1024), cut = draw.between(1, std::max<int64_t>(1, k / 4));
  Dims sizes = split(draw, draw.elements(dtype, 1) / (k + cut), draw.between(1, 2));
  sizes.push_back(k + cut);
  return drawn_reduction(draw, {.sizes = sizes, .dtype = dtype, .cut = cut}, k);
}

/// Rows and columns up to 1,024 each, or a vector, or batches of small matrices; either may be transposed.
Recipe products(Draw& draw) {
  const bool is_fast = !draw.one_in(5);
  const Dtype others[] = {Dtype::float64, Dtype::int64, Dtype::bfloat16};
  const Dtype dtype = is_fast ? Dtype::float32 : draw.pick(others);
  const int64_t most = dtype == Dtype::int64 ? 256 : 1024;
  const int64_t m = draw.scaled(1, most), k = draw.scaled(1, most), n = draw.scaled(1, most);
  const auto operand = [&](Dims sizes) -> Layout {
    if (sizes.size() != 2 || !draw.one_in(3)) return of(std::move(sizes), dtype);
    return {.sizes = {sizes[1], sizes[0]}, .dtype = dtype, .order = {1, 0}};
  };
  Recipe recipe{.call = Call::matmul, .inner = std::min({m, k, n}), .multiplications = m * k * n};
  const int64_t kind = draw.between(0, 5);
  if (kind == 0) {  // matrix @ vector
    recipe.out = of({m}, dtype), recipe.a = operand({m, k}), recipe.b = of({k}, dtype);
    recipe.multiplications = m * k;
  } else if (kind == 1) {  // vector @ matrix; out= would warn in every call, because PyTorch resizes it
    recipe.a = of({k}, dtype), recipe.b = operand({k, n});
    recipe.multiplications = n * k;
  } else if (kind == 2) {  // small matrices
    const int64_t batch = draw.scaled(2, 1024), r = draw.scaled(1, 32), s = draw.scaled(1, 32), t = draw.scaled(1, 32);
    recipe.out = of({batch, r, t}, dtype), recipe.a = of({batch, r, s}, dtype), recipe.b = of({batch, s, t}, dtype);
    recipe.multiplications = batch * r * s * t;
    recipe.inner = std::min({r, s, t});
  } else {
    recipe.out = of({m, n}, dtype), recipe.a = operand({m, k}), recipe.b = operand({k, n});
  }
  return recipe;
}

struct Family {
  const char* name;
  Recipe (*draw)(Draw&);
};
constexpr Family kFamilies[] = {{"equal", equal},
                                {"rows", rows},
                                {"columns", columns},
                                {"gaps", gaps},
                                {"steps", steps},
                                {"transposed", transposed},
                                {"permuted", permutations},
                                {"both sides", both_sides},
                                {"mixed dtypes", mixed},
                                {"casts", casts},
                                {"comparisons", comparisons},
                                {"where", choices},
                                {"functions", functions},
                                {"copies", copies},
                                {"cat", joins},
                                {"scans", scans},
                                {"inner reductions", inner_reductions},
                                {"outer reductions", outer_reductions},
                                {"middle reductions", middle_reductions},
                                {"several dims", several_reductions},
                                {"repeated", repetitions},
                                {"products", products}};
constexpr Family kReductions[] = {
    {"inner reductions", inner_reductions},       {"outer reductions", outer_reductions},
    {"middle reductions", middle_reductions},     {"several dims", several_reductions},
    {"permuted reductions", permuted_reductions}, {"narrow reductions", narrow_reductions},
    {"reductions of gaps", reductions_of_gaps}};

std::string name_of(const Family& family, const Recipe& recipe, int threads) {
  std::string name = std::string(family.name) + "/" + kCallNames[static_cast<int>(recipe.call)];
  for (const Layout* operand : {&recipe.a, &recipe.b, &recipe.c})
    if (operand->is_there()) name += " " + operand->text();
  if (!recipe.out.order.empty() || recipe.out.cut > 0 || recipe.out.step > 1) name += " out " + recipe.out.text();
  if (recipe.call == Call::copy) name += " to " + recipe.out.text();
  if (!recipe.dims.empty() || recipe.call == Call::cumsum || recipe.call == Call::cat) {
    name += " dim";
    for (const int64_t dim : recipe.dims) name += " " + std::to_string(dim);
    if (recipe.dims.empty()) name += " " + std::to_string(recipe.dim);
  }
  return name + (threads == 1 ? "" : ", all cores");
}

int64_t written_by(const Recipe& recipe) {
  if (recipe.out.is_there()) return recipe.out.nbytes();
  const Dims sizes = recipe.a.view_sizes();
  int64_t results = tenon::numel_of(sizes);
  for (const int64_t dim : recipe.dims) results /= std::max<int64_t>(1, sizes[dim]);
  const bool widens = recipe.call == Call::sum && tenon::is_integral(recipe.a.dtype);
  return results * tenon::itemsize(widens || recipe.call == Call::argmax ? Dtype::int64 : recipe.a.dtype);
}

/// A call of one element: what no call can do without.
Work smallest_call(bool allocates) {
  const Tenon::Tensor a = Tenon::random({1}, Dtype::float32), b = Tenon::random({1}, Dtype::float32);
  if (allocates)
    return [=](int64_t repeats) {
      for (int64_t i = 0; i < repeats; ++i) add(a, b);
    };
  return [=, out = Tenon::random({1}, Dtype::float32)](int64_t repeats) mutable {
    for (int64_t i = 0; i < repeats; ++i) add_out(out, a, b);
  };
}
/// The least arithmetic of the recipe's op in registers; none where it is an operation or two an element.
Work arithmetic_of(const Recipe& recipe, int threads) {
  const int64_t numel = tenon::numel_of(recipe.a.sizes);
  switch (recipe.call) {
    case Call::matmul:
      return plain_products(recipe.multiplications, recipe.a.dtype, threads);
    case Call::exp:  // range reduction, a polynomial, scaling
      return recipe.a.dtype == Dtype::float64 ? plain_products(18 * numel, Dtype::float64, threads)
                                              : plain_products(12 * numel, Dtype::float32, threads);
    case Call::var:  // sum, difference, square
      return plain_products(3 * numel, recipe.a.dtype, threads);
    case Call::argmax:  // compare, choose the value, choose the index
      return plain_products(3 * recipe.a.nbytes() / tenon::itemsize(Dtype::float32), Dtype::float32, threads);
    case Call::cumsum:
      return recipe.dim == 1 ? plain_scans(recipe.a.nbytes(), recipe.inner, recipe.a.dtype, threads) : Work{};
    default:
      return {};
  }
}
/// The faster of two.
Work faster(const Work& a, const Work& b, int threads) { return least_ns(a, threads) <= least_ns(b, threads) ? a : b; }
/// The plainest loop for the recipe's bytes or for its arithmetic, whichever takes longer.
Work plain_loop(const Recipe& recipe, int64_t reads, int64_t writes, int threads) {
  const Work moves = plain_moves(reads, writes, threads), arithmetic = arithmetic_of(recipe, threads);
  return arithmetic && least_ns(arithmetic, threads) > least_ns(moves, threads) ? arithmetic : moves;
}
/// The smallest call and the plainest loop, on as many threads as it is fastest on.
Work limit_of(const Recipe& recipe, int64_t reads, int64_t writes, int threads) {
  Work loop = plain_loop(recipe, reads, writes, threads);
  if (threads > 1) loop = faster(loop, plain_loop(recipe, reads, writes, 1), threads);
  return [loop, call = smallest_call(!recipe.out.is_there())](int64_t repeats) {
    call(repeats);
    loop(repeats);
  };
}

/// Whether nested loops may round in another order, or use another function than the op.
bool rounds_differently(Call call) { return call == Call::matmul || call == Call::exp || call == Call::cumsum; }
/// Whether results are equal but for the rounding of sums, whose terms may be as large as the largest result. Sums of
/// float16 that are about to overflow count as equal.
bool are_close(const Tenon::Tensor& a, const Tenon::Tensor& b) {
  constexpr double kLarge = 6e4;
  const bool is_half = itemsize(a.dtype()) == 2;
  const double error = is_half ? 0x1p-6 : 1e-3;  // bfloat16 has 8 bits
  const auto bounded = [&](const Tenon::Tensor& x) { return is_half ? clamp(x, -kLarge, kLarge) : x; };
  return allclose(bounded(a), bounded(b), error, error * amax(abs(bounded(b))).item().to<double>());
}
/// The nested loops for a recipe. Throws if they write anything else than the op does.
Work checked_loops(const Recipe& recipe, const std::string& name, Operands<Tenon> operands) {
  Work work = nested_loops(recipe.call, operands, recipe.dims, recipe.dim);
  if (!work || !operands.out.defined()) return work;
  work(1);
  const Tenon::Tensor written = operands.out.clone();
  Run{recipe.call, recipe.dim}(operands);
  const bool same = rounds_differently(recipe.call) ? are_close(written, operands.out)
                                                    : all(eq(written, operands.out)).item().to<bool>();
  if (!same) throw std::logic_error("nested loops differ from " + name);
  return work;
}

/// The dim along which threads share an elementwise call or a reduction: a long one, and none that is reduced where
/// there is another.
int64_t shared_dim(const Dims& sizes, const Dims& reduced) {
  int64_t best = -1;
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (std::find(reduced.begin(), reduced.end(), dim) == reduced.end() && (best < 0 || sizes[dim] > sizes[best]))
      best = dim;
  return best >= 0 && sizes[best] > 1 ? best : std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
}
/// A part of the operands of an elementwise call, a function or a reduction.
Operands<Tenon> part_of(const Operands<Tenon>& whole, const Dims& reduced, int64_t part, int64_t parts) {
  const Dims sizes = (whole.out.defined() ? whole.out : whole.a).sizes().copy();
  const int64_t dim = shared_dim(sizes, reduced), begin = sizes[dim] * part / parts;
  const int64_t length = sizes[dim] * (part + 1) / parts - begin;
  Operands<Tenon> own = whole;
  for (Tenon::Tensor* operand : {&own.out, &own.a, &own.b, &own.c})
    if (operand->defined()) *operand = operand->expand(sizes).narrow(dim, begin, length);
  return own;
}
/// The nested loops on as many threads as they are fastest on. Joins, products and running sums have one.
Work nested_of(const Recipe& recipe, const std::string& name, const Operands<Tenon>& operands, int threads) {
  Work alone = checked_loops(recipe, name, operands);
  const bool shares = recipe.call != Call::matmul && recipe.call != Call::cat && recipe.call != Call::cumsum;
  if (!alone || threads == 1 || !shares) return alone;
  std::vector<Work> parts;
  for (int part = 0; part < threads; ++part)
    parts.push_back(nested_loops(recipe.call, part_of(operands, recipe.dims, part, threads), recipe.dims, recipe.dim));
  return faster(alone, on_threads(std::move(parts)), threads);
}

Drawn drawn(const Family& family, const Recipe& recipe, int threads) {
  const int64_t reads = recipe.a.nbytes() + recipe.b.nbytes() + recipe.c.nbytes(), writes = written_by(recipe);
  const auto make = [recipe]<class Library>(Library) -> Operands<Library> {
    return {.out = make_operand<Library>(recipe.out),
            .a = make_operand<Library>(recipe.a),
            .b = make_operand<Library>(recipe.b),
            .c = make_operand<Library>(recipe.c),
            .dims = Library::dims(recipe.dims)};
  };
  Cases cases;
  const std::string name = name_of(family, recipe, threads);
  cases.add({.name = name, .ratio_target = 0, .bytes = reads + writes, .threads = threads}, make,
            Run{recipe.call, recipe.dim});
  Case made = cases.all()[0];
  const int used = thread_count(threads);
  made.limit = [=]() -> Work { return limit_of(recipe, reads, writes, used); };
  made.nested = [=]() -> Work { return nested_of(recipe, name, make(Tenon{}), used); };
  return {std::move(made), family.name, recipe.inner};
}

}  // namespace

std::vector<Drawn> draw_cases(uint64_t seed, int count, bool reductions) {
  Draw draw(seed);
  std::vector<Drawn> cases;
  const std::span<const Family> families = reductions ? std::span<const Family>(kReductions) : kFamilies;
  for (int i = 0; i < count; ++i) {
    const Family& family = families[static_cast<std::size_t>(i) % families.size()];
    const Recipe recipe = family.draw(draw);
    cases.push_back(drawn(family, recipe, !reductions && draw.one_in(4) ? 0 : 1));
  }
  return cases;
}

}  // namespace bench
