// expr: what a misspelt name was meant to be. Takes names; gives the nearest.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::expr {

/// Insertions, deletions and replacements that turn one name into the other (Levenshtein's distance).
inline int spelling_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<int>(i);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const int replaced = diagonal + (a[i - 1] == b[k - 1] ? 0 : 1);
      diagonal = row[k];
      row[k] = std::min({replaced, row[k - 1] + 1, row[k] + 1});
    }
  }
  return row[b.size()];
}

/// The candidate at most half of the name and three changes away, or "" when none is.
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
