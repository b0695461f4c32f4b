// fuse: the derivative of a fused function. Takes the function and the layouts of arguments that require grad; gives
// the node of a call. The function and its derivative are traced as one; then what the forward call keeps divides the
// trace into two.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fuse/graph.h"

namespace tenon::fusion {

/// Functions of the arguments and of the results' gradients, one for each choice of results that have a gradient.
class Backward {
 public:
  /// Null if the function has to be called as it is.
  static std::shared_ptr<const Backward> make(const Fused::Function& function, const List<Tensor>& inputs, Keep keep);

  /// Whether `call` computes the function.
  bool can_run(const List<Tensor>& inputs) const;
  /// Calls the fused function as one node of the graph.
  static List<Tensor> call(std::shared_ptr<const Backward> backward, const List<Tensor>& inputs);

  /// The gradients of the arguments from those of some results; undefined: none. `saved`: the arguments, then what was
  /// kept.
  List<Tensor> gradients(const List<Tensor>& saved, const List<Tensor>& of_results) const;

 private:
  /// The gradient of a result.
  enum class Given : uint8_t { none, dense, constant };

  Backward(Fused::Function function, Keep keep) : function_(std::move(function)), keep_(keep) {}
  /// Chooses what is kept.
  void make_forward(const List<Tensor>& inputs);
  /// Traces the derivative for the usual layouts of gradients.
  void prepare(const std::vector<bool>& of_results) const;
  std::shared_ptr<const Graph> graph_of(const std::vector<Given>& given) const;
  /// The derivative in a trace of function and derivative, of so many inputs.
  std::shared_ptr<const Graph> derivative_in(GraphTrace whole, int inputs) const;
  GraphTrace trace(const std::vector<Given>& given) const;
  /// The derivative as a function of the arguments, which has derivatives itself.
  const Fused& of(const std::vector<bool>& results) const;
  List<Tensor> differentiable_gradients(const List<Tensor>& saved, const List<Tensor>& of_results) const;

  Fused::Function function_;
  Keep keep_;
  std::vector<bool> wanted_;              // of each argument: its gradient
  std::vector<bool> is_recorded_;         // of each result
  List<Tensor> arguments_;                // without data
  List<Tensor> results_;                  // likewise
  std::shared_ptr<const Graph> forward_;  // computes the results, and what is kept
  std::vector<int> kept_;                 // values, counted from the first that is no argument or gradient
  List<Tensor> kept_layouts_;             // without data
  int forward_steps_ = 0;
  mutable std::mutex lock_;
  mutable std::map<std::vector<Given>, std::shared_ptr<const Graph>> graphs_;
  mutable std::map<std::vector<bool>, Fused> functions_;
};

}  // namespace tenon::fusion
