// einsum: sums of products by Einstein's convention. PyTorch: `einsum` and `sumproduct_pair` in Linear.cpp.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tenon/ops.h"
#include "tenon/shape.h"

namespace tenon {
namespace {

std::string text(std::size_t number) { return std::to_string(number); }

constexpr int kLetters = 52;       // labels of letters; those of the ellipsis follow
constexpr int kEllipsis = 1 << 8;  // stands for several labels
using Labels = std::vector<int>;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int label_of(char c) { return c >= 'a' ? c - 'a' + 26 : c - 'A'; }
char letter_of(int label) { return static_cast<char>(label >= 26 ? label - 26 + 'a' : label + 'A'); }

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// What the equation says.
struct Equation {
  std::vector<Labels> operands;
  Labels output;
  bool has_output = false;
};

class Parser {
 public:
  Parser(std::string_view equation, std::size_t count) : count_(count) {
    const std::size_t arrow = equation.find("->");
    parsed_.has_output = arrow != std::string_view::npos;
    const std::string_view left = equation.substr(0, arrow);
    parse_operands(left);
    if (parsed_.has_output) parse_output(equation.substr(arrow + 2), left.size() + 2);
  }
  const Equation& result() const { return parsed_; }

 private:
  /// An ellipsis at `i`, which then is its last point.
  static bool ends_ellipsis(std::string_view side, std::size_t& i) {
    const bool whole = i + 2 < side.size() && side[i + 1] == '.' && side[i + 2] == '.';
    if (whole) i += 2;
    return whole;
  }
  [[noreturn]] static void fail_subscript(std::size_t at) {
    throw Error("einsum(): invalid subscript given at index " + text(at) +
                " in the equation string, subscripts must be in [a-zA-Z]");
  }
  void parse_operands(std::string_view side) {
    parsed_.operands.resize(1);
    for (std::size_t i = 0; i < side.size(); ++i) {
      Labels& labels = parsed_.operands.back();
      const std::string number = text(parsed_.operands.size() - 1);
      if (side[i] == ' ') continue;
      if (side[i] == ',') {
        if (parsed_.operands.size() == count_)
          throw Error("einsum(): fewer operands were provided than specified in the equation");
        parsed_.operands.emplace_back();
      } else if (side[i] == '.') {
        if (has(labels, kEllipsis))
          throw Error("einsum(): found '.' for operand " + number + " for which an ellipsis was already found");
        if (!ends_ellipsis(side, i))
          throw Error("einsum(): found '.' for operand " + number + " that is not part of any ellipsis");
        labels.push_back(kEllipsis);
      } else {
        if (!is_letter(side[i])) fail_subscript(i);
        labels.push_back(label_of(side[i]));
      }
    }
    if (parsed_.operands.size() != count_)
      throw Error("einsum(): more operands were provided than specified in the equation");
  }
  void parse_output(std::string_view side, std::size_t start) {
    for (std::size_t i = 0; i < side.size(); ++i) {
      if (side[i] == ' ') continue;
      if (side[i] == '.') {
        if (has(parsed_.output, kEllipsis))
          throw Error("einsum(): found '.' for output but an ellipsis (...) was already found");
        if (!ends_ellipsis(side, i))
          throw Error("einsum(): found '.' for output that is not part of any ellipsis (...)");
        parsed_.output.push_back(kEllipsis);
        continue;
      }
      if (!is_letter(side[i])) fail_subscript(start + i);
      const int label = label_of(side[i]);
      if (has(parsed_.output, label))
        throw Error(std::string("einsum(): output subscript ") + side[i] + " appears more than once in the output");
      const auto uses = [label](const Labels& labels) { return has(labels, label); };
      if (std::none_of(parsed_.operands.begin(), parsed_.operands.end(), uses))
        throw Error(std::string("einsum(): output subscript ") + side[i] +
                    " does not appear in the equation for any input operand");
      parsed_.output.push_back(label);
    }
  }

  std::size_t count_;
  Equation parsed_;
};

/// A tensor with a label for each dim.
struct Term {
  Tensor tensor;
  Labels labels;

  int64_t dim_of(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : at - labels.begin();
  }
  int64_t size_of(int label) const {
    const int64_t dim = dim_of(label);
    return dim < 0 ? 1 : tensor.size(dim);
  }
  void sum(int label) {
    const int64_t dim = dim_of(label);
    tensor = tensor.sum(dim);
    labels.erase(labels.begin() + dim);
  }
  /// The sum over a label of a term of several. One element stays as it is, with its dtype, as in PyTorch.
  void reduce(int label) {
    const int64_t dim = dim_of(label);
    if (tensor.size(dim) != 1) return sum(label);
    tensor = tensor.squeeze(dim);
    labels.erase(labels.begin() + dim);
  }
  /// Two dims with one label: the diagonal.
  void join_repeated(std::size_t number) {
    for (std::size_t dim = 0; dim < labels.size();) {
      const auto again = std::find(labels.begin() + static_cast<std::ptrdiff_t>(dim) + 1, labels.end(), labels[dim]);
      if (again == labels.end()) {
        ++dim;
        continue;
      }
      const auto other = again - labels.begin();
      const int64_t size = tensor.size(static_cast<int64_t>(dim)), other_size = tensor.size(other);
      if (size != other_size)
        throw Error(std::string("einsum(): subscript ") + letter_of(labels[dim]) + " is repeated for operand " +
                    text(number) + " but the sizes don't match, " + std::to_string(other_size) +
                    " != " + std::to_string(size));
      tensor = tensor.diagonal(0, static_cast<int64_t>(dim), other).movedim(-1, static_cast<int64_t>(dim));
      labels.erase(again);
    }
  }
  /// The dims in this order; a dim that it lacks has size 1.
  Tensor ordered(const Labels& order) const {
    Tensor result = tensor;
    Dims dims;
    int64_t added = tensor.dim();
    for (int label : order) {
      const int64_t dim = dim_of(label);
      if (dim < 0) result = result.unsqueeze(-1);
      dims.push_back(dim < 0 ? added++ : dim);
    }
    return result.permute(dims);
  }
};

int64_t product_of(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;  // exact: at most the number of elements
  return product;
}

/// The product of two terms, summed over the labels that `keeps` refuses. Without a sum its dims are in the output's
/// order.
template <class Keeps>
Term product(Term a, Term b, const Labels& output, const Keeps& keeps) {
  // Labels of one operand, and those of which one operand has only one element.
  for (Term* term : {&a, &b}) {
    const Term& other = term == &a ? b : a;
    for (int label : Labels(term->labels))
      if (!keeps(label) && other.size_of(label) == 1) term->reduce(label);
  }
  Labels batch, left, right, depth;
  for (int label : a.labels) {
    if (b.dim_of(label) < 0 && keeps(label)) left.push_back(label);
    if (b.dim_of(label) < 0 && !keeps(label)) a.reduce(label);
    if (b.dim_of(label) >= 0) (keeps(label) ? batch : depth).push_back(label);
  }
  for (int label : Labels(b.labels)) {
    if (a.dim_of(label) >= 0) continue;
    if (keeps(label))
      right.push_back(label);
    else
      b.reduce(label);
  }
  const auto sizes_of = [&](const Labels& labels) {
    std::vector<int64_t> sizes;
    for (int label : labels)
      sizes.push_back(std::max(a.size_of(label) == 1 ? b.size_of(label) : a.size_of(label), int64_t{0}));
    return sizes;
  };
  const auto batch_sizes = sizes_of(batch), left_sizes = sizes_of(left), right_sizes = sizes_of(right),
             depth_sizes = sizes_of(depth);
  const int64_t count = product_of(batch_sizes), rows = product_of(left_sizes), columns = product_of(right_sizes),
                inner = product_of(depth_sizes);
  if (depth.empty()) {  // nothing is summed, and any dtypes are multiplied
    Labels all;
    for (int label : output)
      if (a.dim_of(label) >= 0 || b.dim_of(label) >= 0) all.push_back(label);
    for (const Labels& labels : {batch, left, right})
      for (int label : labels)
        if (!has(all, label)) all.push_back(label);
    return {a.ordered(all) * b.ordered(all), all};
  }
  const auto as_batch = [&](const Term& term, const Labels& second, const Labels& third, int64_t height,
                            int64_t width) {
    Labels order = batch;
    order.insert(order.end(), second.begin(), second.end());
    order.insert(order.end(), third.begin(), third.end());
    Dims sizes;
    for (int64_t size : sizes_of(order)) sizes.push_back(size);
    return term.ordered(order).expand(sizes).reshape({count, height, width});
  };
  Dims sizes;
  Labels labels;
  const auto add = [&](const Labels& part, const std::vector<int64_t>& part_sizes) {
    labels.insert(labels.end(), part.begin(), part.end());
    for (int64_t size : part_sizes) sizes.push_back(size);
  };
  add(batch, batch_sizes);
  add(left, left_sizes);
  add(right, right_sizes);
  return {tenon::bmm(as_batch(a, left, depth, rows, inner), as_batch(b, depth, right, inner, columns)).reshape(sizes),
          labels};
}

class Sum {
 public:
  Sum(const Equation& equation, const List<Tensor>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) measure(equation.operands[i], tensors[i], i);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      terms_.push_back({tensors[i], spelled(equation.operands[i], tensors[i].dim())});
      terms_.back().join_repeated(i);
    }
    check_sizes();
    output_ = equation.has_output ? spelled(equation.output, ellipsis_ + count_letters(equation.output))
                                  : implied_output(equation);
  }

  Tensor result() {
    bool is_new = terms_.size() > 1;  // not the operand or a view of it
    while (terms_.size() > 1) multiply_cheapest();
    Term term = terms_[0];
    for (int label : Labels(term.labels)) {
      if (has(output_, label)) continue;
      term.sum(label);
      is_new = true;
    }
    return is_new && term.labels == output_ ? term.tensor : term.ordered(output_);
  }

 private:
  static int64_t count_letters(const Labels& labels) {
    return std::count_if(labels.begin(), labels.end(), [](int label) { return label != kEllipsis; });
  }
  /// Checks the number of labels, and finds the dims of the longest ellipsis.
  void measure(const Labels& labels, const Tensor& tensor, std::size_t number) {
    const bool open = has(labels, kEllipsis);
    const int64_t letters = count_letters(labels);
    if (open ? letters > tensor.dim() : letters != tensor.dim())
      throw Error("einsum(): the number of subscripts in the equation (" + std::to_string(letters) +
                  (open ? ") is more than the number of dimensions (" : ") does not match the number of dimensions (") +
                  std::to_string(tensor.dim()) + ") for operand " + text(number) +
                  (open ? "" : " and no ellipsis was given"));
    if (open) ellipsis_ = std::max(ellipsis_, tensor.dim() - letters);
  }
  /// With a label for each of the dims of the ellipsis, which are aligned at the right.
  Labels spelled(const Labels& labels, int64_t ndim) const {
    Labels result;
    for (int label : labels) {
      if (label != kEllipsis) {
        result.push_back(label);
        continue;
      }
      const int64_t count = ndim - count_letters(labels);
      for (int64_t i = ellipsis_ - count; i < ellipsis_; ++i) result.push_back(kLetters + static_cast<int>(i));
    }
    return result;
  }
  /// The dims of the ellipsis, and the letters that occur once, in their order.
  Labels implied_output(const Equation& equation) const {
    Labels result = spelled({kEllipsis}, ellipsis_);
    for (int label = 0; label < kLetters; ++label) {
      int64_t count = 0;
      for (const Labels& labels : equation.operands) count += std::count(labels.begin(), labels.end(), label);
      if (count == 1) result.push_back(label);
    }
    return result;
  }
  void check_sizes() const {
    for (std::size_t i = 0; i < terms_.size(); ++i)
      for (int label : terms_[i].labels)
        for (std::size_t before = 0; before < i; ++before) check_size(label, i, terms_[before].size_of(label));
  }
  void check_size(int label, std::size_t number, int64_t seen) const {
    const int64_t size = terms_[number].size_of(label);
    if (size == seen || size == 1 || seen == 1) return;
    if (label < kLetters)
      throw Error(std::string("einsum(): subscript ") + letter_of(label) + " has size " + std::to_string(size) +
                  " for operand " + text(number) + " which does not broadcast with previously seen size " +
                  std::to_string(seen));
    throw Error("einsum(): dimension " + std::to_string(label - kLetters) + " covered by ellipsis in operand " +
                text(number) + "has size " + std::to_string(size) +
                " which does not broadcast with previously seen ellipsis with size " + std::to_string(seen) +
                " for the respective dimension");
  }

  static double cost(const Term& a, const Term& b) {
    double product = 1;
    for (int label : a.labels) product *= static_cast<double>(std::max(a.size_of(label), b.size_of(label)));
    for (int label : b.labels)
      if (a.dim_of(label) < 0) product *= static_cast<double>(b.size_of(label));
    return product;
  }
  /// Of all pairs the one with the fewest multiplications; its product takes the place of the first.
  void multiply_cheapest() {
    std::size_t first = 0, second = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < terms_.size(); ++i)
      for (std::size_t k = i + 1; k < terms_.size(); ++k)
        if (const double number = cost(terms_[i], terms_[k]); number < least) {
          least = number;
          first = i;
          second = k;
        }
    const auto keeps = [&](int label) {
      if (has(output_, label)) return true;
      for (std::size_t i = 0; i < terms_.size(); ++i)
        if (i != first && i != second && terms_[i].dim_of(label) >= 0) return true;
      return false;
    };
    terms_[first] = product(terms_[first], terms_[second], output_, keeps);
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(second));
  }

  std::vector<Term> terms_;
  Labels output_;
  int64_t ellipsis_ = 0;
};

}  // namespace

Tensor plain::einsum(const List<Tensor>& tensors, const char* equation) {
  if (tensors.empty()) throw Error("einsum(): must provide at least one operand");
  return Sum(Parser(equation, tensors.size()).result(), tensors).result();
}

}  // namespace tenon
