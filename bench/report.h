// bench: takes results; gives the table on the screen and the JSON file.
#pragma once
#include <string>
#include <vector>

#include "measure.h"

namespace bench {

void print_heading(bool with_torch);
/// One line, as soon as it is known.
void print_result(const Result& result);
void print_summary(const std::vector<Result>& results);
/// Of those with a target for the ratio: its geometric mean, and the worst ones.
void print_spread(std::vector<Result> results);
/// The ratios as a Markdown table, a line an operation, a column a level: what docs/benchmarks.md shows.
void print_ratios(const std::vector<Result>& results);
void write_json(const std::string& path, const std::vector<Result>& results);

}  // namespace bench
