#include "expr/session.h"

#include <algorithm>
#include <utility>

#include "expr/evaluate.h"

namespace tenon::expr {
namespace {

/// Whether two trees are computed in the same blocks.
bool go_together(const Tree& a, const Tree& b) {
  return a->sizes() == b->sizes() && a->meta.itemsize() == b->meta.itemsize();
}

}  // namespace

const Value* Session::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

const Ast& Session::formula(const std::string& key, const std::string& text, const Ast& around, Span span) {
  const auto [place, is_new] = formulas_.try_emplace(key);
  if (is_new) {
    place->second = parse(text);
    place->second.text = around.text;
    // Errors in a formula point at its call, which is all that users see.
    for (Node& node : place->second.nodes) node.span = span;
  }
  return place->second;
}

void Session::defer(const std::string& key, Reduction reduction, Span span, std::string label) {
  const auto is_known = [&](const Deferred& other) { return other.key == key; };
  if (std::none_of(waiting_.begin(), waiting_.end(), is_known))
    waiting_.push_back({key, std::move(reduction), span, std::move(label)});
}

void Session::compute() {
  std::vector<Deferred> waiting = std::exchange(waiting_, {});
  while (!waiting.empty()) {
    const Tree first = waiting[0].reduction.tree;
    const auto rest = std::stable_partition(
        waiting.begin(), waiting.end(), [&](const Deferred& each) { return go_together(each.reduction.tree, first); });
    std::vector<Deferred> group(std::make_move_iterator(waiting.begin()), std::make_move_iterator(rest));
    waiting.erase(waiting.begin(), rest);
    compute(group);
  }
}

void Session::compute(std::vector<Deferred>& group) {
  std::vector<Reduction> reductions;
  reductions.reserve(group.size());
  for (const Deferred& each : group) reductions.push_back(each.reduction);
  const List<Tensor> results = at(group[0].span, [&] { return evaluate_reductions(reductions, progress_); });
  traffic_.begin_pass();
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Deferred& each = group[i];
    keep(each.key, leaf(results[i], each.span, each.label));
    add({.tree = each.reduction.tree,
         .reduction = each.reduction.function,
         .values = each.reduction.values,
         .results = {results[i]},
         .span = each.span});
  }
}

void Session::compute(const Trees& trees, std::vector<Tensor>& outs) {
  std::vector<bool> is_done(trees.size(), false);
  for (std::size_t first = 0; first < trees.size(); ++first) {
    if (is_done[first]) continue;
    Trees group;
    std::vector<Tensor> into;
    traffic_.begin_pass();
    for (std::size_t i = first; i < trees.size(); ++i) {
      if (is_done[i] || !go_together(trees[i], trees[first])) continue;
      is_done[i] = true;
      group.push_back(trees[i]);
      into.push_back(outs[i]);
      add({.tree = trees[i], .results = {outs[i]}, .span = trees[i]->span});
    }
    evaluate_elementwise(group, into, progress_);
  }
}

void Session::note(Step step) {
  const bool is_view = step.tree && step.tree->is_leaf() && !step.reduction;
  if (is_view) {
    if (steps_) steps_->list.push_back(std::move(step));
    return;
  }
  traffic_.begin_pass();
  add(std::move(step));
}

void Session::add(Step step) {
  step.pass = traffic_.passes;
  traffic_.add(step);
  if (steps_) steps_->list.push_back(std::move(step));
}

}  // namespace tenon::expr
