// fuse: functions of tensors as few passes over memory. A function is called once for each layout of its arguments, on
// tensors without data; elementwise ops of one shape become one pass, what is broadcast is computed at its own size,
// and passes over the same rows run block by block:
//
//   const auto normalize = tenon::fuse([](auto a, auto mean, auto deviation) { return (a - mean) / deviation; });
//   Tensor y = normalize(a, mean, deviation);
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon {

namespace fusion {
struct Prepared;
}

/// What a fused function keeps of its forward call for the derivative, besides its arguments; the rest is computed
/// again. `costly`: what takes a pass or more to compute: products, sorting, sums of many elements.
/// `nothing`: only the arguments, for the least memory. `everything` that the ops' derivatives read.
enum class Keep : uint8_t { costly, nothing, everything };

/// A function of tensors that is traced. The results are those of the function, bit for bit, but for sums over rows,
/// which may add in another order. What the function reads besides its arguments is read when it is traced, except the
/// elements of tensors that it computes with its arguments. Where an argument requires grad, the function is one node,
/// with a fused derivative, if it writes nothing, gives new tensors, and has no products of all elements. Otherwise, or
/// if it writes to an argument that shares memory with another tensor, it is called as it is. Calls from several
/// threads are safe if the function is.
class TENON_API Fused {
 public:
  using Function = std::function<List<Tensor>(const List<Tensor>& inputs)>;

  explicit Fused(Function function, Keep keep = Keep::costly);
  /// Throws what the function throws, with its arguments unchanged; Error for what cannot be traced (random numbers,
  /// out=, writes to views); NotImplementedError if the function reads elements.
  List<Tensor> operator()(const List<Tensor>& inputs) const;
  /// Traces the function for these inputs unless it has been. Gives the trace's number, which is above those of all
  /// earlier traces; 0 if the function will be called as it is.
  uint64_t prepare(const List<Tensor>& inputs) const;
  /// The number of passes over memory for these inputs: Programs of elementwise ops, calls of other ops, and what runs
  /// block by block. Views are none.
  int passes(const List<Tensor>& inputs) const;
  /// These passes as text: their ops, the bytes that they move, those that the ops would move one by one, and the
  /// scratch memory of a thread.
  std::string explain(const List<Tensor>& inputs) const;

 private:
  friend struct fusion::Prepared;  // for the library
  struct State;
  std::shared_ptr<State> state_;
};

/// A function of tensors with one result as passes over memory. `function` takes tensors and gives a tensor. Each
/// thread needs its own copy.
template <class Function>
auto fuse(Function function, Keep keep = Keep::costly) {
  return [fused = std::shared_ptr<Fused>(), function = std::move(function),
          keep](const auto&... tensors) mutable -> Tensor {
    if (!fused)
      fused = std::make_shared<Fused>(
          [function](const List<Tensor>& inputs) -> List<Tensor> {
            return [&]<std::size_t... I>(std::index_sequence<I...>)->List<Tensor> { return {function(inputs[I]...)}; }
            (std::make_index_sequence<sizeof...(tensors)>());
          },
          keep);
    return std::move((*fused)({Tensor(tensors)...})[0]);
  };
}

}  // namespace tenon
