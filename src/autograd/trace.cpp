#include "autograd/trace.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

#include "base/fork.h"
#include "dispatch/recorder.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "type/visit.h"

namespace tenon::autograd {
namespace {

/// Everything a trace depends on, as words that are compared one by one.
class Key {
 public:
  Key() = default;
  Key(const Derivative::OfArgument& derivative, const Given& given, const Descent& descent, Dtype dtype) {
    add(reinterpret_cast<int64_t>(derivative.formula));
    add(static_cast<int64_t>(dtype));
    add(static_cast<int64_t>(get_default_dtype()));
    add(descent.times);
    add(descent.narrow);
    add(descent.summed);
    add(given.gradient);
    for (const Term& value : given.values) add(value);
  }

  bool operator==(const Key& other) const noexcept {
    return words_.size() == other.words_.size() && std::equal(words_.begin(), words_.end(), other.words_.begin());
  }
  std::size_t hash() const noexcept {
    uint64_t hash = 0;
    for (const int64_t word : words_) hash = (std::rotl(hash, 5) ^ static_cast<uint64_t>(word)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(hash >> 32);
  }

 private:
  void add(int64_t word) { words_.push_back(word); }
  void add(SizesView sizes) {
    add(sizes.size());
    for (const int64_t size : sizes) add(size);
  }
  void add(const Term& value) {
    if (value.is_tensor()) {
      add(static_cast<int64_t>(value.tensor().dtype()));
      add(value.tensor().sizes());
      return add(value.tensor().strides());
    }
    add(-1);
    const Scalar number = value.number();
    const Complex128 parts = number.as_complex();
    add(static_cast<int64_t>(number.kind()));
    add(number.as_int64());
    add(std::bit_cast<int64_t>(parts.re));
    add(std::bit_cast<int64_t>(parts.im));
  }

  SmallVector<int64_t, 64> words_;
};

struct Entry {
  Key key;
  Trace trace;
};

/// The process's traces: a small hash table without chains.
class Traces {
 public:
  std::shared_ptr<const Entry> find(const Key& key) {
    std::shared_ptr<const Entry> entry;
    {
      const std::lock_guard own(lock_);
      entry = place_of(key);
    }
    return entry && entry->key == key ? entry : nullptr;
  }
  void keep(std::shared_ptr<const Entry> entry) {  // the former entry is destroyed after unlocking
    const std::lock_guard own(lock_);
    place_of(entry->key).swap(entry);
  }

 private:
  std::shared_ptr<const Entry>& place_of(const Key& key) { return places_[key.hash() % places_.size()]; }

  ForkSpinLock lock_;
  std::array<std::shared_ptr<const Entry>, 64> places_;
};

constinit Traces all_traces;

StridedView strided_view_of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides()}; }

/// A formula that is run on meta tensors.
struct Run {
  Recorder recorder;
  const Recording recording{recorder};
  Given given;
  std::vector<Tensor> inputs;
  Tensor result;

  Term input(const Term& value) {
    const Tensor& tensor = value.tensor();
    inputs.push_back(empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta)));
    recorder.input(inputs.back());
    return inputs.back();
  }
  Run(const Derivative::OfArgument& derivative, const Given& given_there, const Descent& descent) {
    given.gradient = input(given_there.gradient);
    for (int i = 0; i <= kResult; ++i)
      given.values[i] = given_there.values[i].is_tensor() ? input(given_there.values[i]) : given_there.values[i];
    result = derivative(given);
    if (covers(result, descent)) result = multiplied(result, descent);
  }
  /// False if a call cannot be an instruction, or the formula returns one of its operands.
  bool is_program(const Descent& descent) const {
    return covers(result, descent) && recorder.is_complete() &&
           recorder.find(result) >= static_cast<int>(inputs.size());
  }
};

void make_program(const Run& run, const Descent& descent, Dtype dtype, Trace& trace) {
  std::vector<const void*> numbers;
  const Dtype output = descent.sums ? widened(run.result.dtype()) : dtype;
  trace.program = run.recorder.program(run.recorder.find(run.result), output, numbers);
  for (const void* number : numbers) {
    trace.numbers.emplace_back();
    std::memcpy(trace.numbers.back().bytes, number, sizeof(Number));
  }
}

void make_plan(const Run& run, const Descent& descent, Trace& trace) {
  trace.sizes = descent.sums ? descent.summed : run.result.sizes().copy();
  trace.strides = descent.sums ? contiguous_strides(trace.sizes) : run.result.strides().copy();
  std::vector<StridedView> operands{{trace.sizes, trace.strides}};
  for (const Tensor& input : run.inputs) operands.push_back(strided_view_of(input));
  operands.resize(operands.size() + trace.numbers.size());
  const auto count = static_cast<int64_t>(operands.size());
  if (descent.sums)
    make_reduction_plan(descent.narrow, operands.data(), count, trace.plan);
  else
    tenon::make_plan(descent.narrow, operands.data(), count, trace.plan);
}

void fill(Trace& trace, const Derivative::OfArgument& derivative, const Given& given, const Descent& descent,
          Dtype dtype) {
  const Run run(derivative, given, descent);
  trace.is_program = run.is_program(descent);
  if (!trace.is_program) return;
  make_program(run, descent, dtype, trace);
  make_plan(run, descent, trace);
}

}  // namespace

int64_t size_at(SizesView sizes, int64_t ndim, int64_t dim) {
  const int64_t own = dim - (ndim - sizes.size());
  return own < 0 ? 1 : sizes[own];
}

Descent::Descent(SizesView shape, SizesView sizes, Dims narrow_shape)
    : narrow(std::move(narrow_shape)), summed(narrow) {
  for (int64_t dim = 0; dim < shape.size(); ++dim) {
    if (size_at(sizes, shape.size(), dim) != 1) continue;
    summed[dim] = 1;
    if (narrow[dim] == 1)
      times *= shape[dim];  // exact: at most the number of elements
    else
      sums = true;
  }
}

bool covers(const Tensor& gradient, const Descent& descent) {
  return gradient.defined() && gradient.sizes() == descent.narrow;
}

Tensor multiplied(const Tensor& value, const Descent& descent) {
  if (descent.times == 1) return value;
  const Tensor wide = descent.sums ? value.to(widened(value.dtype())) : value;
  return tenon::mul(wide, descent.times);
}

std::shared_ptr<const Trace> trace_of(const Derivative::OfArgument& derivative, const Given& given,
                                      const Descent& descent, Dtype dtype) {
  // A custom derivative may do something else in each call, so its trace is not reused.
  const Key key = derivative.custom ? Key() : Key(derivative, given, descent, dtype);
  if (!derivative.custom)
    if (const auto known = all_traces.find(key)) return {known, &known->trace};
  const auto entry = std::make_shared<Entry>(Entry{key, {}});
  fill(entry->trace, derivative, given, descent, dtype);
  if (!derivative.custom) all_traces.keep(entry);
  return {entry, &entry->trace};
}

}  // namespace tenon::autograd
