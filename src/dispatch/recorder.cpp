#include "dispatch/recorder.h"

#include <algorithm>

namespace tenon {
namespace {

// A call needs up to fourteen registers, and register numbers have 16 bits.
constexpr std::size_t kMaxCalls = 2048;

thread_local Recorder* current = nullptr;

}  // namespace

Recording::Recording(Recorder& recorder) : previous_(current) { current = &recorder; }
Recording::~Recording() { current = previous_; }
Recorder* Recorder::current() noexcept { return tenon::current; }

int Recorder::define(const Tensor& meta) {
  values_.push_back(meta);
  return static_cast<int>(values_.size()) - 1;
}

int Recorder::find(const Tensor& meta) const {
  for (std::size_t i = values_.size(); i-- > 0;)
    if (values_[i].is(meta)) return static_cast<int>(i);
  return -1;
}

void Recorder::add(const Call& call, const Tensor& result, bool fits) {
  complete_ = complete_ && fits && calls_.size() < kMaxCalls;
  calls_.push_back(call);
  calls_.back().value = define(result);
}

void Recorder::add_cast(const Tensor& from, const Tensor& result) {
  Call call{};
  call.arguments[0].value = find(from);
  call.result = result.dtype();
  add(call, result, call.arguments[0].value >= 0);
}

int Recorder::append(const Recorder& part, const std::vector<int>& inputs, const Tensor& result) {
  const int shift = static_cast<int>(values_.size()) - part.inputs_;  // of the values that its calls define
  const auto here = [&](int value) {
    if (value < 0) return value;
    return value < part.inputs_ ? inputs[static_cast<std::size_t>(value)] : value + shift;
  };
  complete_ = complete_ && part.complete_ && std::find(inputs.begin(), inputs.end(), -1) == inputs.end();
  for (Call call : part.calls_) {
    const Tensor& value = part.values_[static_cast<std::size_t>(call.value)];
    for (Argument& argument : call.arguments) argument.value = here(argument.value);
    add(call, value, true);
  }
  return here(part.find(result));
}

std::vector<const Recorder::Call*> Recorder::calls_for(const std::vector<int>& results) const {
  std::vector<bool> is_read(values_.size(), false);
  for (const int result : results) is_read[static_cast<std::size_t>(result)] = true;
  std::vector<const Call*> read;
  std::for_each(calls_.rbegin(), calls_.rend(), [&](const Call& call) {
    if (!is_read[static_cast<std::size_t>(call.value)]) return;
    read.push_back(&call);
    for (int i = 0; i < std::max(call.count, 1); ++i)
      if (const int value = call.arguments[i].value; value >= 0) is_read[static_cast<std::size_t>(value)] = true;
  });
  std::reverse(read.begin(), read.end());
  return read;
}

Program Recorder::program(int result, Dtype output, std::vector<const void*>& numbers) const {
  std::vector<int> registers;
  Program program = program_of({result}, registers, numbers);
  program.finish(program.cast(registers[static_cast<std::size_t>(result)], output));
  return program;
}

Program Recorder::program(const std::vector<int>& results, std::vector<const void*>& numbers) const {
  std::vector<int> registers;
  Program program = program_of(results, registers, numbers);
  program.finish(registers[static_cast<std::size_t>(results[0])]);
  for (std::size_t i = 1; i < results.size(); ++i) program.add_result(registers[static_cast<std::size_t>(results[i])]);
  return program;
}

Program Recorder::program_of(const std::vector<int>& results, std::vector<int>& registers,
                             std::vector<const void*>& numbers) const {
  const std::vector<const Call*> calls = calls_for(results);
  Program program;
  registers.assign(values_.size(), -1);
  for (int i = 0; i < inputs_; ++i)
    registers[static_cast<std::size_t>(i)] = program.input(values_[static_cast<std::size_t>(i)].dtype());
  std::vector<int> number_registers;
  for (const Call* call : calls) {
    for (int i = 0; i < call->count; ++i) {
      if (call->arguments[i].value >= 0) continue;
      number_registers.push_back(program.input(call->arguments[i].wanted));
      numbers.push_back(call->arguments[i].number);
    }
  }
  std::size_t next_number = 0;
  for (const Call* each : calls) {
    const Call& call = *each;
    const auto reg = [&](int i) {
      const Argument& argument = call.arguments[i];
      if (argument.value < 0) return number_registers[next_number++];
      const int from = registers[static_cast<std::size_t>(argument.value)];
      return call.count == 0 ? from : program.cast(program.cast(from, argument.through), argument.wanted);
    };
    int regs[kMaxArgs] = {};
    for (int i = 0; i < std::max(call.count, 1); ++i) regs[i] = reg(i);
    const int computed = call.count == 0 ? regs[0] : program.op(call.op, call.compute, call.given, call.count, regs);
    registers[static_cast<std::size_t>(call.value)] = program.cast(computed, call.result);
  }
  return program;
}

}  // namespace tenon
