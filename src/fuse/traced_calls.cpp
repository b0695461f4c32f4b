// The calls of a traced function: each becomes a step of the graph.
#include <bit>
#include <string_view>

#include "dispatch/algorithm.h"
#include "fuse/tracer.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tile/course.h"

namespace tenon::fusion {
namespace {

[[noreturn]] void fail_random(const DrawnBy& by) {
  fail(std::string(by.call) +
       "() draws random numbers, which would be the same in each call; draw them outside and pass "
       "them in");
}
[[noreturn]] void fail_out() { fail("out= can't be traced; return the result"); }

/// A copy in the same layout, gaps included: what a call writes in place may have views.
Tensor copy_of(const Tensor& tensor) {
  Tensor copy = empty_strided(tensor.sizes(), tensor.strides(), tensor.dtype());
  run_copy(copy, tensor);
  return copy;
}
std::string key_of_args(Op op, Args args, int count) {
  std::string key = key_of("map", static_cast<int>(op));
  for (int i = 0; i < count; ++i) {
    if (args[i]->is_tensor()) {
      key += " tensor";
      continue;
    }
    const Scalar number = args[i]->number();
    const Complex128 parts = number.as_complex();
    key += key_of("", static_cast<int>(number.kind()), number.as_int64(), std::bit_cast<int64_t>(parts.re),
                  std::bit_cast<int64_t>(parts.im));
  }
  return key;
}
std::vector<Tensor> tensors_of(Args args, int count) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor()) tensors.push_back(args[i]->tensor());
  return tensors;
}
/// The arguments of a call with other tensors in their places.
class OtherArgs {
 public:
  template <class TensorOf>
  OtherArgs(Args args, int count, const TensorOf& tensor_of) {
    values_.reserve(static_cast<std::size_t>(count));
    tensors_.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const bool is_tensor = args[i]->is_tensor();
      if (is_tensor) tensors_.push_back(tensor_of(args[i]->tensor()));
      values_.push_back(is_tensor ? Arg(tensors_.back()) : *args[i]);
      pointers_[i] = &values_.back();
    }
  }
  OtherArgs(const OtherArgs&) = delete;
  OtherArgs& operator=(const OtherArgs&) = delete;
  Args get() const { return pointers_; }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Arg> values_;
  const Arg* pointers_[kMaxArgs];
};

/// Copies of a call's arguments, whose tensors are replaced when the graph runs.
class KeptArgs {
 public:
  KeptArgs(Args args, int count) {
    for (int i = 0; i < count; ++i)
      values_.push_back(args[i]->is_tensor() ? Arg(0) : *args[i]), is_tensor_.push_back(args[i]->is_tensor());
  }
  template <class Call>
  auto with(const Tensor* operands, const Call& call) const {
    std::vector<Arg> values = values_;
    const Arg* pointers[kMaxArgs];
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_tensor_[i]) values[i] = Arg(*operands++);
      pointers[i] = &values[i];
    }
    return call(static_cast<Args>(pointers), static_cast<int>(values.size()));
  }

 private:
  std::vector<Arg> values_;
  std::vector<bool> is_tensor_;
};
}  // namespace

Tensor Tracer::trace_elementwise(Op op, Args args, int count) {
  if (!any_is_traced(args, count))
    return run_now(tensors_of(args, count), [&] { return tenon::elementwise(op, args, count); });
  GraphStep step{.name = row_of(op).name, .operands = ids_of(args, count)};
  const OtherArgs metas(args, count, [&](const Tensor& tensor) -> const Tensor& { return meta_of(tensor); });
  for (int i = 0; i < count; ++i)
    if (metas.get()[i]->is_tensor()) step.calls.input(metas.get()[i]->tensor());
  Tensor result;
  {
    const Pause pause;
    const NoGrad unrecorded;
    const Recording recording(step.calls);
    result = run_elementwise(op, metas.get(), count);
  }
  if (ids_.contains(result.impl()) || is_known_view(result)) return result;  // an op that gives its operand
  step.recorded = result;
  step.key = key_of_args(op, args, count);
  step.is_function = row_of(op).vectors;
  if (!step.is_recorded())
    step.run = [op, kept = KeptArgs(args, count)](const Tensor* operands) -> List<Tensor> {
      return {kept.with(operands, [op](Args real, int n) { return run_elementwise(op, real, n); })};
    };
  return with_history_of(add_one(std::move(step), std::move(result)), is_recorded(metas.get(), count),
                         [&](const WithHistory& table) { return table.elementwise(op, metas.get(), count); });
}
Tensor& Tracer::inplace(Op op, Tensor& self, Args args, int count) {
  if (!any_is_traced(args, count) && !self.is_meta() && !current->is_read(self)) {
    const Pause pause;
    elementwise_inplace(op, self, args, count);
    return self;
  }
  if (tenon::is_recorded(args, count)) fail(std::string(row_of(op).name) + "_() writes in place what has a gradient");
  current->adopt(self);
  GraphStep step{.name = row_of(op).name, .operands = current->ids_of(args, count)};
  const OtherArgs metas(args, count, [&](const Tensor& tensor) -> const Tensor& { return current->meta_of(tensor); });
  for (int i = 0; i < count; ++i)
    if (metas.get()[i]->is_tensor()) step.calls.input(metas.get()[i]->tensor());
  {
    const Pause pause;
    const NoGrad unrecorded;
    Tensor checked = self.is_meta() ? self : without_data(self);
    run_inplace(op, checked, metas.get(), count);  // all checks of an in-place call
    const Recording recording(step.calls);
    step.recorded = run_elementwise(op, metas.get(), count);
    if (step.recorded.dtype() != self.dtype())
      step.recorded = run_to(step.recorded, self.dtype(), MemoryFormat::preserve);
  }
  if (!step.is_recorded())
    step.run = [op, kept = KeptArgs(args, count), sizes = self.sizes().copy(), strides = self.strides().copy(),
                dtype = self.dtype()](const Tensor* operands) -> List<Tensor> {
      Tensor result = empty_strided(sizes, strides, dtype);
      run_copy(result, operands[0]);
      kept.with(operands, [&](Args real, int n) {
        const Arg first(result);
        const Arg* pointers[kMaxArgs] = {&first};
        std::copy(real + 1, real + n, pointers + 1);
        return run_inplace(op, result, pointers, n).dim();
      });
      return {result};
    };
  current->overwrite(self, std::move(step));
  return self;
}

/// Runs a call on tensors without data, as it is. What it would refuse of tensors with data is refused, also if nothing
/// reads its result.
template <class Call>
auto Tracer::run_plainly(const Call& call) {
  const Pause pause;
  const NoGrad unrecorded;
  try {
    call();
  } catch (const NotImplementedError&) {
    throw;  // it reads elements
  } catch (const Error&) {
    // The text is that of tensors with data.
  }
  const CourseRecord planned(false);
  return call();
}

Tensor Tracer::reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  if (!self.is_meta()) return run_now({self}, [&] { return run_reduce(op, self, dims, keepdim, dtype); });
  Tensor result = run_plainly([&] { return run_reduce(op, self, dims, keepdim, dtype); });
  GraphStep step{.name = row_of(op).name, .operands = {current->id_of(self)}};
  step.run = [op, kept = dims.copy(), keepdim, dtype](const Tensor* operands) -> List<Tensor> {
    return {run_reduce(op, operands[0], kept, keepdim, dtype)};
  };
  step.row_dims = reduced_mask(dims, self.dim());
  step.keeps_dims = keepdim;
  step.key = key_of_dims(key_of("reduce", static_cast<int>(op), keepdim, dtype ? static_cast<int>(*dtype) : -1),
                         *step.row_dims);
  const bool folds = op == Op::sum || op == Op::mean || op == Op::prod || op == Op::amax || op == Op::amin;
  if (folds && result.numel() > 0 && self.numel() > result.numel() && !is_complex(self.dtype()) &&
      self.dtype() != bool_)
    step.fold = {.op = op, .dtype = dtype};
  return current->with_history_of(
      current->add_one(std::move(step), std::move(result)), is_recorded(self),
      [&](const WithHistory& table) { return table.reduce(op, self, dims, keepdim, dtype); });
}

Tensor Tracer::clone(const Tensor& self, MemoryFormat format) {
  if (!self.is_meta()) return run_now({self}, [&] { return run_clone(self, format); });
  Tensor result = run_plainly([&] { return run_clone(self, format); });
  GraphStep step{.name = "clone", .operands = {current->id_of(self)}};
  step.run = [format](const Tensor* operands) -> List<Tensor> { return {run_clone(operands[0], format)}; };
  return current->with_history_of(current->add_one(std::move(step), std::move(result)), is_recorded(self),
                                  [&](const WithHistory& table) { return table.clone(self, format); });
}

Tensor Tracer::to(const Tensor& self, Dtype dtype, MemoryFormat format) {
  if (!self.is_meta()) return run_now({self}, [&] { return run_to(self, dtype, format); });
  GraphStep step{.name = "to", .operands = {current->id_of(self)}};
  step.calls.input(self);
  Tensor result;
  {
    const Pause pause;
    const NoGrad unrecorded;
    const Recording recording(step.calls);
    result = run_to(self, dtype, format);
  }
  step.recorded = result;
  step.key = key_of("to", static_cast<int>(dtype), static_cast<int>(format));
  return current->with_history_of(current->add_one(std::move(step), std::move(result)), is_recorded(self),
                                  [&](const WithHistory& table) { return table.to(self, dtype, format); });
}

void Tracer::copy(Tensor& self, const Tensor& src) {
  if (!self.is_meta() && !src.is_meta() && !current->is_read(self)) {
    const Pause pause;
    self.copy_(src);
    return;
  }
  const bool is_same = self.is_meta() && src.is_meta() && shares_memory(self, src) && has_layout_of(self, src);
  if (is_same) return;  // as in eager calls, also where elements share memory
  check_unrecorded("copy_", {self, src});
  // A conversion is an instruction; the copy itself is none if a Program can write to `self`.
  if (src.is_meta() && src.dtype() != self.dtype() && src.sizes() == self.sizes() && !is_complex(src.dtype()))
    return copy(self, to(src, self.dtype(), MemoryFormat::preserve));
  current->adopt(self);
  GraphStep step{.name = "copy", .operands = {current->id_of(src)}};
  {
    const Pause pause;
    const NoGrad unrecorded;
    run_copy(self.is_meta() ? self : without_data(self), current->meta_of(src));
  }
  step.run = [sizes = self.sizes().copy(), strides = self.strides().copy(),
              dtype = self.dtype()](const Tensor* operands) -> List<Tensor> {
    Tensor result = empty_strided(sizes, strides, dtype);
    run_copy(result, operands[0]);
    return {result};
  };
  current->overwrite(self, std::move(step));
}

void Tracer::fill(Tensor& self, const Tensor& value) {
  if (value.dim() > 0) fail("fill_() takes a 0-dim tensor");
  copy(self, value);
}

void Tracer::fill_number(Tensor& self, Scalar value) {
  if (!self.is_meta() && !current->is_read(self)) {
    const Pause pause;
    self.fill_(value);
    return;
  }
  current->adopt(self);
  {
    const Pause pause;
    const NoGrad unrecorded;
    run_fill(self.is_meta() ? self : without_data(self), value);
  }
  GraphStep step{.name = "fill"};
  step.run = [sizes = self.sizes().copy(), strides = self.strides().copy(), dtype = self.dtype(),
              value](const Tensor*) -> List<Tensor> {
    Tensor result = empty_strided(sizes, strides, dtype);
    run_fill(result, value);
    return {result};
  };
  current->overwrite(self, std::move(step));
}
namespace {

/// An indexed tensor with its tensors in a row: the view, then the indices that are given.
std::vector<Tensor> tensors_of(const Indexed& indexed) {
  std::vector<Tensor> tensors{indexed.view};
  for (const Tensor& index : indexed.tensors)
    if (index.defined()) tensors.push_back(index);
  return tensors;
}
Indexed with_tensors(const std::vector<bool>& given, const Tensor*& operands) {
  Indexed indexed{*operands++, std::vector<Tensor>(given.size())};
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i]) indexed.tensors[i] = *operands++;
  return indexed;
}
std::vector<bool> given_of(const Indexed& indexed) {
  std::vector<bool> given;
  for (const Tensor& index : indexed.tensors) given.push_back(index.defined());
  return given;
}
}  // namespace

Tensor Tracer::index(const Indexed& indexed) {
  const std::vector<Tensor> tensors = tensors_of(indexed);
  if (!any_is_traced(tensors)) return run_now(tensors, [&] { return run_index(indexed); });
  GraphStep step{.name = "index"};
  Indexed metas = indexed;
  for (const Tensor& tensor : tensors) step.operands.push_back(current->id_of(tensor));
  metas.view = current->meta_of(indexed.view);
  for (Tensor& index : metas.tensors)
    if (index.defined()) {
      if (is_mask(index)) fail("the size of a result that a mask selects depends on the mask's data; use where");
      index = current->meta_of(index);
    }
  step.run = [given = given_of(indexed)](const Tensor* operands) -> List<Tensor> {
    return {run_index(with_tensors(given, operands))};
  };
  Tensor result;
  {
    const Pause pause;
    const NoGrad unrecorded;
    result = run_index(metas);
  }
  const bool recorded = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return is_recorded(t); });
  return current->with_history_of(current->add_one(std::move(step), std::move(result)), recorded,
                                  [&](const WithHistory& table) { return table.index(metas); });
}

void Tracer::index_put(const Indexed& indexed, const Tensor& value, Put put) {
  std::vector<Tensor> tensors = tensors_of(indexed);
  tensors.push_back(value);
  if (!any_is_traced(tensors) && !current->is_read(indexed.view)) {
    const Pause pause;
    return run_index_put(indexed, value, put);
  }
  check_unrecorded("index_put_", tensors);
  current->adopt(indexed.view);
  GraphStep step{.name = "index_put"};
  for (const Tensor& tensor : tensors) step.operands.push_back(current->id_of(tensor));
  {
    const Pause pause;
    Indexed metas{current->meta_of(indexed.view), indexed.tensors};
    for (Tensor& index : metas.tensors)
      if (index.defined()) index = current->meta_of(index);
    run_index_put(metas, current->meta_of(value), put);
  }
  step.run = [given = given_of(indexed), put](const Tensor* operands) -> List<Tensor> {
    Indexed real = with_tensors(given, operands);
    real.view = copy_of(real.view);
    run_index_put(real, *operands, put);
    return {real.view};
  };
  current->overwrite(indexed.view, std::move(step));
}
namespace {

/// The values of a call with other tensors in their places.
template <class TensorOf>
std::vector<Value> with_other_tensors(const Schema& schema, const Value* values, const TensorOf& tensor_of) {
  std::vector<Value> all;
  all.reserve(static_cast<std::size_t>(schema.count));
  for (int i = 0; i < schema.count; ++i) {
    if (schema.parameters()[i].is_list()) {
      List<Tensor> tensors;
      for (const Tensor& tensor : values[i].tensors()) tensors.push_back(tensor_of(tensor));
      all.emplace_back(std::move(tensors));
    } else if (values[i].is_tensor() && values[i].tensor().defined()) {
      all.emplace_back(tensor_of(values[i].tensor()));
    } else {
      all.push_back(values[i]);
    }
  }
  return all;
}

std::vector<Tensor> tensors_of(const Schema& schema, const Value* values) {
  std::vector<Tensor> tensors;
  with_other_tensors(schema, values, [&](const Tensor& tensor) { return tensors.emplace_back(tensor); });
  return tensors;
}
}  // namespace

std::vector<Value> Tracer::begin_call(const Schema& schema, const Value* values, GraphStep& step) {
  step.name = schema.name;
  for (const Tensor& tensor : tensors_of(schema, values)) step.operands.push_back(id_of(tensor));
  return with_other_tensors(schema, values, [&](const Tensor& tensor) { return meta_of(tensor); });
}
namespace {

/// Which dims an op mixes that computes rows apart: a fold, or one of these, whose results have their operand's sizes.
void note_rows(const Schema& schema, const Value* values, GraphStep& step) {
  static constexpr std::string_view kOfRows[] = {"softmax", "log_softmax", "cumsum",       "cumprod",
                                                 "cummax",  "cummin",      "logcumsumexp", "sort"};
  const bool keeps_sizes = std::find(std::begin(kOfRows), std::end(kOfRows), schema.name) != std::end(kOfRows);
  const int dim = schema.place_of("dim"), keepdim = schema.place_of("keepdim");
  if (step.operands.size() != 1 || !values[0].is_tensor() || values[0].tensor().numel() == 0) return;
  const Tensor& self = values[0].tensor();
  const bool is_extreme = schema.count == 1 && (step.name == "max" || step.name == "min");
  if (is_extreme && self.numel() > 1 && self.dtype() != bool_) {
    step.row_dims = reduced_mask({}, self.dim());
    step.keeps_dims = false;
    step.fold = {.op = step.name == "max" ? Op::amax : Op::amin, .dtype = {}};
  }
  if ((!schema.is_fold() && !keeps_sizes) || dim < 0) return;
  const Dims mask = reduced_mask(values[dim].dims_arg().view(), self.dim());
  // Fewer elements than the correction give a warning.
  int64_t count = 1;
  for (int64_t i = 0; i < mask.size(); ++i) count *= mask[i] ? self.size(i) : 1;
  const int correction = schema.place_of("correction");
  if (correction >= 0 && values[correction].number(1).to<double>() >= static_cast<double>(count)) return;
  step.row_dims = mask;
  step.keeps_dims = keeps_sizes || (keepdim >= 0 && values[keepdim].boolean(false));
}
}  // namespace

List<Tensor> Tracer::call(Op op, const Value* values) {
  const Schema& schema = schema_of(op);
  const std::vector<Tensor> given = tensors_of(schema, values);
  if (!any_is_traced(given)) return run_now(given, [&] { return algorithm_of(op).run(values); });
  const bool is_recorded_now =
      std::any_of(given.begin(), given.end(), [](const Tensor& tensor) { return is_recorded(tensor); });
  if (is_recorded_now && !algorithm_of(op).has_derivative) {
    // The functions that it calls are traced with their history.
    List<Tensor> results = algorithm_of(op).run(values);
    if (std::all_of(results.begin(), results.end(), [](const Tensor& result) { return current->is_known(result); }))
      return results;
  }
  GraphStep step{.name = {}};
  const std::vector<Value> metas = current->begin_call(schema, values, step);
  List<Tensor> results = run_plainly([&] { return algorithm_of(op).run(metas.data()); });
  note_rows(schema, values, step);
  if (schema.count == 1) step.key = schema.block;
  step.run = [op, &schema, kept = metas](const Tensor* operands) {
    const std::vector<Value> real = with_other_tensors(schema, kept.data(), [&](const Tensor&) { return *operands++; });
    return algorithm_of(op).run(real.data());
  };
  for (Tensor& result : results)
    if (current->ids_.contains(result.impl())) result = result.view(result.sizes());  // an op that gives its operand
  current->add(std::move(step), results);
  if (!is_recorded_now || !algorithm_of(op).has_derivative) return results;
  List<Tensor> recorded;
  {
    const Pause pause;
    recorded = with_history_table.load(std::memory_order_acquire)->call(op, metas.data());
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const auto known = current->ids_.find(results[i].impl()); known != current->ids_.end())
      current->name(recorded[i], known->second);
  return recorded;
}

void Tracer::call_inplace(Op op, const Value* values) {
  const Schema& schema = schema_of(op);
  const std::vector<Tensor> tensors = tensors_of(schema, values);
  check_unrecorded(schema.name, tensors);
  const bool is_traced = any_is_traced(tensors) || current->is_read(tensors[0]);
  if (is_traced) current->adopt(tensors[0]);
  GraphStep step{.name = {}};
  std::vector<Value> metas;
  if (is_traced) metas = current->begin_call(schema, values, step);
  if (!is_traced) {
    const Pause pause;
    return algorithm_of(op).inplace(values);
  }
  run_plainly([&] { algorithm_of(op).inplace(metas.data()); });
  step.run = [op, &schema, kept = std::move(metas)](const Tensor* operands) -> List<Tensor> {
    std::vector<Value> real = with_other_tensors(schema, kept.data(), [&](const Tensor&) { return *operands++; });
    const Tensor result = copy_of(real[0].tensor());
    real[0] = result;
    algorithm_of(op).inplace(real.data());
    return {result};
  };
  current->overwrite(tensors[0], std::move(step));
}
namespace {

auto only(const Tensor& tensor) {
  return [&tensor] { return std::vector<Tensor>{tensor}; };
}
}  // namespace

const WithHistory traced_calls{
    .elementwise =
        [](Op op, Args args, int count) {
          return Tracer::as_op(
              row_of(op).name, [&] { return tensors_of(args, count); },
              [&] { return Tracer::elementwise(op, args, count); });
        },
    .inplace = [](Op op, Tensor& self, Args args, int count) -> Tensor& {
      return *Tracer::as_op(
          row_of(op).name, [&] { return tensors_of(args, count); },
          [&] { return &Tracer::inplace(op, self, args, count); });
    },
    .reduce =
        [](Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
          return Tracer::as_op(row_of(op).name, only(self),
                               [&] { return Tracer::reduce(op, self, dims, keepdim, dtype); });
        },
    .clone =
        [](const Tensor& self, MemoryFormat format) {
          return Tracer::as_op("clone", only(self), [&] { return Tracer::clone(self, format); });
        },
    .to =
        [](const Tensor& self, Dtype dtype, MemoryFormat format) {
          return Tracer::as_op("to", only(self), [&] { return Tracer::to(self, dtype, format); });
        },
    .copy =
        [](Tensor& self, const Tensor& src) {
          Tracer::as_op(
              "copy_",
              [&] {
                return std::vector<Tensor>{self, src};
              },
              [&] { Tracer::copy(self, src); });
        },
    .fill_number = [](Tensor& self,
                      Scalar value) { Tracer::as_op("fill_", only(self), [&] { Tracer::fill_number(self, value); }); },
    .fill =
        [](Tensor& self, const Tensor& value) {
          Tracer::as_op(
              "fill_",
              [&] {
                return std::vector<Tensor>{self, value};
              },
              [&] { Tracer::fill(self, value); });
        },
    .zero = [](Tensor& self) { Tracer::as_op("zero_", only(self), [&] { Tracer::fill_number(self, 0); }); },
    .draw = [](DrawnBy by, const Tensor&, Args, int) { fail_random(by); },
    .draw_inplace = [](DrawnBy by, Tensor&, const Arg*, const std::function<void()>&) { fail_random(by); },
    .index =
        [](const Indexed& indexed) {
          return Tracer::as_op(
              "index", [&] { return tensors_of(indexed); }, [&] { return Tracer::index(indexed); });
        },
    .index_put =
        [](const Indexed& indexed, const Tensor& value, Put put) {
          Tracer::as_op(
              "index_put_", [&] { return tensors_of(indexed); }, [&] { Tracer::index_put(indexed, value, put); });
        },
    .call =
        [](Op op, const Value* values) {
          const Schema& schema = schema_of(op);
          return Tracer::as_op(
              schema.name, [&] { return tensors_of(schema, values); }, [&] { return Tracer::call(op, values); });
        },
    .call_inplace =
        [](Op op, const Value* values) {
          const Schema& schema = schema_of(op);
          Tracer::as_op(
              schema.name, [&] { return tensors_of(schema, values); }, [&] { Tracer::call_inplace(op, values); });
        },
    .check_out = [](Op, const Tensor&, Args, int) { fail_out(); },
    .check_named_out = [](const char*, const Tensor&, Args, int) { fail_out(); },
    .check =
        [](Op, const Tensor* out, const Tensor*, Args, int) {
          if (out) fail_out();
        },
    .check_resizable = [](const Tensor&, SizesView) { fail("a tensor that is traced can't be resized"); },
    .note_made = Tracer::note_made,
};

}  // namespace tenon::fusion
