// dispatch: takes ops called on meta tensors; gives one Program that computes them all. While a Recording lives,
// elementwise ops of its thread on meta tensors are checked as usual, and added to its Recorder.
#pragma once
#include <vector>

#include "tenon/tensor.h"
#include "tile/program.h"

namespace tenon {

class Recorder {
 public:
  /// An argument of an instruction: a value or a number, and how it is cast.
  struct Argument {
    int value = -1;  // -1: a number
    Dtype through;   // is cast to this dtype first
    Dtype wanted;    // then to this one, which the kernel reads
    alignas(kMaxItemsize) std::byte number[kMaxItemsize];
  };
  struct Call {
    Op op;
    int count;  // number of arguments; 0: a conversion of the first
    Argument arguments[kMaxArgs];
    Dtype compute, given, result;
    int value;  // the value that it defines
  };

  /// The recorder of this thread; null if there is none.
  static Recorder* current() noexcept;

  /// Declares the Program's next input.
  void input(const Tensor& meta) {
    define(meta);
    inputs_ = static_cast<int>(values_.size());
  }
  /// The number of a value; -1 if the tensor is neither an input nor a result.
  int find(const Tensor& meta) const;
  /// Adds a call and the value that it defines. If an operand is unknown, or the call has to look at its data first
  /// (`fits` is false), the Program is incomplete from now on.
  void add(const Call& call, const Tensor& result, bool fits);
  /// Adds a conversion.
  void add_cast(const Tensor& from, const Tensor& result);
  /// Adds all calls of another recorder, whose inputs are the values `inputs` of this one. Returns the number of
  /// `result`; -1 if the other has no such value.
  int append(const Recorder& part, const std::vector<int>& inputs, const Tensor& result);

  /// The number of calls.
  int calls() const noexcept { return static_cast<int>(calls_.size()); }
  /// Whether all calls fit in one Program. Not with thousands of calls.
  bool is_complete() const noexcept { return complete_; }
  /// The Program that computes value `result`, cast to `output`. Its inputs are the declared ones, then the numbers,
  /// whose addresses are added to `numbers`.
  Program program(int result, Dtype output, std::vector<const void*>& numbers) const;
  /// The Program that computes several values, each in its own dtype.
  Program program(const std::vector<int>& results, std::vector<const void*>& numbers) const;

 private:
  int define(const Tensor& meta);
  /// The calls that compute these values, in their order: a call of an op with several results records each.
  std::vector<const Call*> calls_for(const std::vector<int>& results) const;
  /// The Program of those calls, and the register of each value.
  Program program_of(const std::vector<int>& results, std::vector<int>& registers,
                     std::vector<const void*>& numbers) const;

  std::vector<Tensor> values_;  // kept alive, so that no other tensor gets their address
  std::vector<Call> calls_;
  int inputs_ = 0;
  bool complete_ = true;
};

/// While it lives, its thread's calls are added to the recorder.
class Recording {
 public:
  explicit Recording(Recorder& recorder);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Recorder* previous_;
};

}  // namespace tenon
