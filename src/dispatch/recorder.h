// dispatch: takes ops called on meta tensors; gives the one Program that computes them all. While a Recording lives,
// its thread's elementwise ops on meta tensors are written down beside being checked.
#pragma once
#include <vector>

#include "tenon/tensor.h"
#include "tile/program.h"

namespace tenon {

class Recorder {
 public:
  /// What an instruction reads: a value by its number, or a number with its bytes, and the casts on the way.
  struct Argument {
    int value = -1;  // -1: a number
    Dtype through;   // cast to first
    Dtype wanted;    // read in
    alignas(kMaxItemsize) std::byte number[kMaxItemsize];
  };
  struct Call {
    Op op;
    int count;  // of arguments; 0: a conversion of the first
    Argument arguments[kMaxArgs];
    Dtype compute, given, result;
    int value;  // it defines
  };

  /// The recorder of this thread; null when there is none.
  static Recorder* current() noexcept;

  /// Declares an input: the next load of the Program.
  void input(const Tensor& meta) {
    define(meta);
    inputs_ = static_cast<int>(values_.size());
  }
  /// The number of a value; -1 for a tensor that is no input and no result.
  int find(const Tensor& meta) const;
  /// Writes down a call and the value it defines. A call whose operands are unknown, or which has to look at its data
  /// first (`fits` false), spoils the record.
  void add(const Call& call, const Tensor& result, bool fits);
  /// Writes down a conversion.
  void add_cast(const Tensor& from, const Tensor& result);
  /// Writes down what another one holds, whose inputs are the values `inputs` here. Gives the number of its value
  /// `result`; -1 where it has none.
  int append(const Recorder& part, const std::vector<int>& inputs, const Tensor& result);

  /// How many were written down.
  int calls() const noexcept { return static_cast<int>(calls_.size()); }
  /// Whether everything that was called can be one Program; thousands of calls are too many.
  bool is_complete() const noexcept { return complete_; }
  /// The Program: loads the inputs, then the numbers (whose bytes come in `numbers`), and gives the value `result` as
  /// `output`.
  Program program(int result, Dtype output, std::vector<const void*>& numbers) const;

 private:
  int define(const Tensor& meta);

  std::vector<Tensor> values_;  // kept, so that no other tensor takes their place
  std::vector<Call> calls_;
  int inputs_ = 0;
  bool complete_ = true;
};

/// While it lives, its thread's calls go to the recorder.
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
