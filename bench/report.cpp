#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "levels.h"

namespace bench {
namespace {

// From this time on bandwidth says more than time.
constexpr double kBandwidthFromNs = 10'000;

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string speed(const Header& header, double ns, bool as_bandwidth) {
  if (as_bandwidth) return format("%.1f GB/s", static_cast<double>(header.bytes) / ns);
  return format(ns < 100 ? "%.1f ns" : "%.0f ns", ns);
}

std::string target(const Header& header) {
  std::string text = header.ratio_target > 0 ? format("%.1f", header.ratio_target) : "-";
  if (header.ns_target > 0) text += format(", %.0f ns", header.ns_target);
  return text;
}

void print_line(const std::string& name, const std::string& tenon, const std::string& torch, const std::string& ratio,
                const std::string& target, const char* mark) {
  std::printf("%-36s %12s %12s %7s %12s %s\n", name.c_str(), tenon.c_str(), torch.c_str(), ratio.c_str(),
              target.c_str(), mark);
  std::fflush(stdout);
}

}  // namespace

void print_heading(bool with_torch) {
  if (!with_torch) std::printf("Built without PyTorch: Tenon alone.\n");
  print_line("case", "Tenon", "PyTorch", "ratio", "target", "");
}

void print_result(const Result& result) {
  const Header& header = result.measured->header;
  const bool as_bandwidth = header.bytes > 0 && result.tenon_ns >= kBandwidthFromNs;
  const std::string mark =
      (result.missed() ? "MISSED " : "") + (result.share ? format("%.2f of the limit", *result.share) : "");
  print_line(header.name, speed(header, result.tenon_ns, as_bandwidth),
             result.torch_ns ? speed(header, *result.torch_ns, as_bandwidth) : "-",
             result.ratio ? format("%.2f", *result.ratio) : "-", target(header), mark.c_str());
}

void print_summary(const std::vector<Result>& results) {
  int missed = 0;
  for (const Result& result : results) missed += result.missed() ? 1 : 0;
  std::printf("%zu cases, %d missed their target\n", results.size(), missed);
}

void print_spread(std::vector<Result> results) {
  constexpr std::size_t kWorst = 10;
  constexpr double kMeanTarget = 2, kLeastTarget = 0.95;
  std::erase_if(results,
                [](const Result& result) { return !result.ratio || result.measured->header.ratio_target == 0; });
  if (results.empty()) return;
  std::sort(results.begin(), results.end(), [](const Result& a, const Result& b) { return *a.ratio < *b.ratio; });
  double logarithms = 0;
  std::size_t below = 0;
  for (const Result& result : results) logarithms += std::log(*result.ratio), below += *result.ratio < kLeastTarget;
  std::printf("elementwise: geometric mean of the ratios %.2f (target %.1f), %zu below %.2f\nthe worst:",
              std::exp(logarithms / static_cast<double>(results.size())), kMeanTarget, below, kLeastTarget);
  for (std::size_t i = 0; i < std::min(kWorst, results.size()); ++i)
    std::printf("%s %s %.2f", i ? "," : "", results[i].measured->header.name.c_str(), *results[i].ratio);
  std::printf("\n");
}

void print_ratios(const std::vector<Result>& results) {
  std::printf("\n| case | target |");
  for (const Level& level : kLevels) std::printf(" %s |", level.name);
  std::printf("\n|---|---|");
  for (std::size_t i = 0; i < std::size(kLevels); ++i) std::printf("---|");
  std::string row;
  for (const Result& result : results) {
    const std::string& name = result.measured->header.name;
    const std::size_t slash = name.rfind('/');
    const bool has_level = std::any_of(std::begin(kLevels), std::end(kLevels),
                                       [&](const Level& level) { return name.substr(slash + 1) == level.name; });
    if (!result.ratio || !has_level) continue;
    if (name.substr(0, slash) != row) {
      row = name.substr(0, slash);
      std::printf("\n| %s | %.1f |", row.c_str(), result.measured->header.ratio_target);
    }
    std::printf(result.missed() ? " *%.2f* |" : " %.2f |", *result.ratio);
  }
  std::printf("\n");
}

void write_json(const std::string& path, const std::vector<Result>& results) {
  nlohmann::json cases = nlohmann::json::array();
  for (const Result& result : results) {
    const Header& header = result.measured->header;
    nlohmann::json line = {
        {"case", header.name},       {"tenon_ns", result.tenon_ns},         {"bytes", header.bytes},
        {"threads", header.threads}, {"ratio_target", header.ratio_target}, {"missed", result.missed()}};
    if (header.ns_target > 0) line["ns_target"] = header.ns_target;
    if (result.ratio) line.update({{"torch_ns", *result.torch_ns}, {"ratio", *result.ratio}});
    cases.push_back(std::move(line));
  }
  std::ofstream file(path);
  file << nlohmann::json{{"cases", cases}}.dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error("bench: cannot write " + path);
}

}  // namespace bench
