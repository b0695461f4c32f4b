// fuse: the derivative of a fused function. Takes the function and the layouts of arguments that require grad; gives
// the node of a call, whose backward is a fused function, too.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tenon/fuse.h"

namespace tenon::fusion {

/// Functions of the arguments and of the results' gradients, one for each choice of results that have a gradient.
class Backward {
 public:
  /// Null if the function has to be called as it is.
  static std::shared_ptr<const Backward> make(const Fused::Function& function, const List<Tensor>& inputs);

  /// Calls the fused function as one node of the graph.
  static List<Tensor> call(std::shared_ptr<const Backward> backward, const Fused& fused, const List<Tensor>& inputs);

  /// The gradients of the arguments from those of some results; undefined: none.
  List<Tensor> gradients(List<Tensor> arguments, const List<Tensor>& of_results) const;

 private:
  explicit Backward(Fused::Function function) : function_(std::move(function)) {}
  const Fused& of(const std::vector<bool>& results) const;
  /// Traces the derivative for the usual layouts of gradients.
  void prepare(const std::vector<bool>& of_results, const List<Tensor>& inputs, const List<Tensor>& results) const;

  Fused::Function function_;
  std::vector<bool> wanted_;       // of each argument: its gradient
  std::vector<bool> is_recorded_;  // of each result
  std::vector<Dims> strides_;      // of each result
  mutable std::mutex lock_;
  mutable std::map<std::vector<bool>, Fused> functions_;
};

}  // namespace tenon::fusion
