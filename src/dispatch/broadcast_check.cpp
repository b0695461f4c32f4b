#include "dispatch/broadcast_check.h"

#include <algorithm>
#include <cstdio>

#include "tenon/policy.h"

namespace tenon {
namespace {

/// The last dim in which two of the shapes differ, counted from the right; 0: none. `longest`: the most dims of a
/// shape.
int64_t failing_dim(const SizesView* shapes, int64_t count, int64_t longest) {
  for (int64_t back = 1; back <= longest; ++back) {
    int64_t size = 1;
    for (int64_t i = 0; i < count; ++i) {
      if (back > shapes[i].size()) continue;
      const int64_t other = shapes[i][shapes[i].size() - back];
      if (!sizes_broadcast(size, other)) return back;
      size = broadcast_size(size, other);
    }
  }
  return 0;
}

std::string padded(const std::string& text, std::size_t width) {
  std::string result(width - text.size(), ' ');
  return result += text;
}

/// Suggests a change that makes the shapes broadcast, if a common mistake fits.
std::string suggestion(const SizesView* shapes, int64_t count) {
  if (count != 2) return {};
  for (const int64_t turn : {0, 1}) {
    const SizesView longer = shapes[turn], shorter = shapes[1 - turn];
    const char* name = turn == 0 ? "b" : "a";
    Dims appended = shorter.copy();
    for (int64_t added = 1; shorter.size() + added <= longer.size(); ++added) {
      appended.push_back(1);
      if (is_broadcastable(longer, appended))
        return std::string("it would work with ") + name + ".reshape(" + to_string(appended) + ")";
    }
    if (shorter.size() == 2 && longer.size() >= 2) {
      const Dims swapped{shorter[1], shorter[0]};
      if (is_broadcastable(longer, swapped)) return std::string("it would work with ") + name + ".t()";
    }
  }
  return {};
}

/// A double, because an expanded or meta tensor may have more bytes than an int64 holds.
double bytes_of(const Tensor& tensor) {
  return static_cast<double>(tensor.numel()) * static_cast<double>(tensor.itemsize());
}
std::string whole(double number) {
  char text[400];  // the largest double has 309 digits
  std::snprintf(text, sizeof(text), "%.0f", number);
  return text;
}

}  // namespace

std::string aligned_shapes(const char* name, const SizesView* shapes, int64_t count) {
  int64_t longest = 0;
  std::size_t width = 1;
  for (int64_t i = 0; i < count; ++i) {
    longest = std::max(longest, shapes[i].size());
    for (int64_t size : shapes[i]) width = std::max(width, std::to_string(size).size());
  }
  const int64_t failing = failing_dim(shapes, count, longest);
  std::string text = std::string(name) + ": shapes aligned at the right";
  for (int64_t i = 0; i < count; ++i) {
    text.append("\n  ").append(1, static_cast<char>('a' + i)).append(" ");
    for (int64_t back = longest; back >= 1; --back) {
      const bool present = back <= shapes[i].size();
      text += ' ';
      text += padded(present ? std::to_string(shapes[i][shapes[i].size() - back]) : "", width);
    }
  }
  if (failing == 0) return text;
  text += "\n    ";
  for (int64_t back = longest; back >= failing; --back) text.append(" ").append(width, back == failing ? '^' : ' ');
  return text;
}

Dims BroadcastCheck::shape(const char* name) {
  Dims shape = count_ > 0 ? operands_[0]->sizes().copy() : Dims{};
  bool differ = false;
  for (int i = 1; i < count_; ++i) {
    const SizesView other = operands_[i]->sizes();
    if (SizesView(shape) == other) continue;
    differ = true;
    if (takes_pointwise() && !is_broadcastable(shape, other)) {
      pointwise_ = true;
      warn("UserWarning",
           inplace_ ? "other is not broadcastable to self, but they have the same number of elements.  Falling back to "
                      "deprecated pointwise behavior."
                    : "self and other not broadcastable, but have the same number of elements.  Falling back to "
                      "deprecated pointwise behavior.",
           to_string(operands_[0]->sizes()) + " and " + to_string(other));
      return operands_[0]->sizes().copy();
    }
    try {
      broadcast_into(shape, other);
    } catch (const Error& error) {
      fail(error, name);
    }
  }
  if (differ && !is_silent()) judge(shape, name);
  return shape;
}

void BroadcastCheck::fail(Error error, const char* name) const {
  SizesView shapes[kMaxArgs];
  for (int i = 0; i < count_; ++i) shapes[i] = operands_[i]->sizes();
  error.add_note(aligned_shapes(name, shapes, count_));
  const std::string hint = suggestion(shapes, count_);
  if (!hint.empty()) error.add_note(hint);
  throw error;
}

bool BroadcastCheck::takes_pointwise() const {
  if (!settings().pointwise_1d || settings().exempt > 0) return false;
  for (int i = 1; i < count_; ++i)
    if (operands_[i]->numel() != operands_[0]->numel()) return false;
  return true;
}

void BroadcastCheck::judge(const Dims& shape, const char* name) const {
  const Settings& set = settings();
  if (set.exempt > 0) return;
  SizesView shapes[kMaxArgs];
  bool equal_numel = true, gains_rank = false, has_result_shape = false;
  for (int i = 0; i < count_; ++i) {
    shapes[i] = operands_[i]->sizes();
    equal_numel = equal_numel && operands_[i]->numel() == operands_[0]->numel();
    gains_rank = gains_rank || (operands_[i]->dim() > 0 && operands_[i]->dim() < shape.size());
    has_result_shape = has_result_shape || shapes[i] == SizesView(shape);
  }
  const std::string note = aligned_shapes(name, shapes, count_);
  if (set.broadcast_warning && equal_numel)
    warn("UserWarning",
         "self and other do not have the same shape, but are broadcastable, and have the same number of elements.\n"
         "Changing behavior in a backwards incompatible manner to broadcasting rather than viewing as 1-dimensional.",
         note);
  const auto apply = [&](Policy policy, const std::string& text) {
    if (policy == Policy::allow) return;
    if (policy == Policy::warn) return warn("UserWarning", text, note);
    Error error(text);
    error.add_note(note);
    throw error;
  };
  if (gains_rank)
    apply(set.policy.rank, std::string(name) + ": broadcasting to " + to_string(shape) +
                               " gives an operand new leading dimensions, which broadcast_policy(rank) does not allow");
  if (!has_result_shape)
    apply(set.policy.outer, std::string(name) + ": broadcasting to " + to_string(shape) +
                                ", which is the shape of no operand, and which broadcast_policy(outer) does not allow");
}

void BroadcastCheck::judge_size(SizesView shape, int64_t itemsize) const {
  const Settings& set = settings();
  if (set.policy.blow_up <= 0 || set.exempt > 0) return;
  double operands = 0, result = static_cast<double>(itemsize);
  for (int i = 0; i < count_; ++i) operands += bytes_of(*operands_[i]);
  for (int64_t size : shape) result *= static_cast<double>(size);
  if (result <= set.policy.blow_up * operands) return;
  throw Error("broadcasting to " + to_string(shape) + " makes a result of " + whole(result) +
              " bytes from operands of " + whole(operands) + ", more than broadcast_policy(blow_up) allows");
}

PolicyExemption::PolicyExemption() noexcept { ++settings().exempt; }
PolicyExemption::~PolicyExemption() { --settings().exempt; }

}  // namespace tenon
