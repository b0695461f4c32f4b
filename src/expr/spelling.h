// expr: suggestions for misspelt names. Takes names; gives the most similar one.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::expr {

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one name into the other.
inline int spelling_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t k = 0; k <= b.size(); ++k) {
      int& least = table[i][k];
      if (i == 0 || k == 0) {
        least = static_cast<int>(i + k);
        continue;
      }
      const int replaced = table[i - 1][k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1);
      least = std::min({replaced, table[i][k - 1] + 1, table[i - 1][k] + 1});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        least = std::min(least, table[i - 2][k - 2] + 1);
    }
  return table[a.size()][b.size()];
}

/// The most similar candidate, at most three changes and half of the name's length away; "" if there is none.
template <class Names>
std::string nearest_name(std::string_view name, const Names& candidates) {
  std::string nearest;
  int least = static_cast<int>(std::min<std::size_t>(name.size() / 2, 3));
  if (name.size() < 2 || name.size() > 40) return nearest;
  for (const auto& candidate : candidates) {
    const int distance = spelling_distance(name, candidate);
    if (distance > least || (distance == least && !nearest.empty())) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace tenon::expr
