// expr: the work of an evaluation in numbers. Takes its steps; gives passes over tensors and bytes. Never computes.
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::expr {

struct Step;
struct TreeNode;

/// Can hold the sum of any operands' bytes.
__extension__ using ByteSum = unsigned __int128;

struct Traffic {
  int64_t passes = 0;      // over the sizes of some result or operand; a view needs none
  ByteSum bytes = 0;       // that are read and written; what several results of one pass read counts once
  ByteSum op_by_op = 0;    // that would be read and written if each op wrote its result to memory
  int64_t most_bytes = 0;  // of the largest result

  /// Steps added from now on belong to a new pass.
  void begin_pass();
  void add(const Step& step);
  /// A pass that copies elements.
  void add_copy(const Tensor& copy);

 private:
  void read(const Tensor& tensor);
  void visit(const TreeNode& node);

  std::vector<Tensor> read_;  // in this pass
  std::set<const TreeNode*> visited_;
};

}  // namespace tenon::expr
