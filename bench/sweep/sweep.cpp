// tenon_sweep [SEED] [--reductions] [--cases N] [--rounds N] [--filter REGEX] [--json FILE]: random cases, or
// reductions alone, each beside PyTorch, where it was found, and beside the limit: the smallest call and the plainest
// loop for the same bytes. Prints a line a family and the worst cases with what the engine did. Ctrl-C ends it early;
// what was measured is printed.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <stdexcept>

#include "../measure.h"
#include "draw.h"
#include "tile/course.h"

namespace bench {
namespace {

constexpr std::size_t kWorst = 30;

volatile std::sig_atomic_t interrupted = 0;

struct Arguments {
  uint64_t seed = std::random_device()();
  int cases = 400, rounds = 5;
  bool reductions = false;
  std::regex filter{""};
  std::string json;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (i == 0 && !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      arguments.seed = std::stoull(word);
      continue;
    }
    if (word == "--reductions") {
      arguments.reductions = true;
      continue;
    }
    if (i + 1 == words.size() || (word != "--cases" && word != "--rounds" && word != "--filter" && word != "--json"))
      throw std::invalid_argument("unknown argument " + word +
                                  "; known: [SEED] --reductions --cases N --rounds N --filter REGEX --json FILE");
    const std::string& value = words[++i];
    if (word == "--cases") arguments.cases = std::stoi(value);
    if (word == "--rounds") arguments.rounds = std::stoi(value);
    if (word == "--filter") arguments.filter = std::regex(value);
    if (word == "--json") arguments.json = value;
  }
  if (arguments.rounds < 1 || arguments.cases < 1)
    throw std::invalid_argument("--cases and --rounds need a positive number");
  return arguments;
}

struct Measured {
  Drawn drawn;
  Result result;
  double ratio() const { return result.ratio.value_or(0); }
  double share() const { return result.share.value_or(0); }
  double nested() const { return result.nested.value_or(HUGE_VAL); }
  /// The time that a loop shows to be enough, as a part of the call's: of the plain loop, or of the nested ones where
  /// what they read and write takes longer.
  double shown() const { return std::min(1.0, std::max(share(), result.nested.value_or(0))); }
};

/// The value that a part of the sorted values is below.
double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}
double geometric_mean(const std::vector<double>& values) {
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return values.empty() ? 0 : std::exp(logarithms / static_cast<double>(values.size()));
}

void print_family(const std::string& name, const std::vector<const Measured*>& cases) {
  std::vector<double> ratios, shares, nests, shown;
  for (const Measured* one : cases) {
    shown.push_back(one->shown());
    if (one->result.ratio) ratios.push_back(one->ratio());
    shares.push_back(one->share());
    if (one->result.nested) nests.push_back(one->nested());
  }
  std::printf("%-20s %5zu   %7.2f %7.2f %7.2f   %7.2f %7.2f %7.2f   ", name.c_str(), cases.size(),
              geometric_mean(ratios), percentile(ratios, 0.1), percentile(ratios, 0), percentile(shares, 0.5),
              percentile(shares, 0.1), percentile(shares, 0));
  if (nests.empty())
    std::printf("%7s %7s %7s   ", "-", "-", "-");
  else
    std::printf("%7.2f %7.2f %7.2f   ", geometric_mean(nests), percentile(nests, 0.1), percentile(nests, 0));
  std::printf("%7.2f %7.2f %7.2f\n", percentile(shown, 0.5), percentile(shown, 0.1), percentile(shown, 0));
}

void print_families(const std::vector<Measured>& all) {
  std::map<std::string, std::vector<const Measured*>> families;
  std::vector<const Measured*> every;
  for (const Measured& one : all) {
    families[one.drawn.family].push_back(&one);
    every.push_back(&one);
  }
  std::printf("\n%-20s %5s   %23s   %23s   %23s   %23s\n", "", "", "PyTorch's time / ours", "share of the limit",
              "nested loops' / ours", "the nearer of these");
  std::printf("%-20s %5s   %7s %7s %7s   %7s %7s %7s   %7s %7s %7s   %7s %7s %7s\n", "family", "cases", "mean", "10 %",
              "worst", "median", "10 %", "worst", "mean", "10 %", "worst", "median", "10 %", "worst");
  for (const auto& [name, cases] : families) print_family(name, cases);
  print_family("all", every);
}

/// What the engine does in a call, its first run above all.
std::string courses_of(const Drawn& drawn) {
  const tenon::NoGrad unrecorded;
  set_num_threads(drawn.measured.header.threads);
  const Work work = drawn.measured.tenon();
  tenon::CourseRecord record;
  work(1);
  if (record.courses.empty()) return "its own loops";
  const tenon::Course& course = record.courses[0];
  std::string text = course.route;
  if (*course.stores) text += std::string(", stored ") + course.stores;
  if (!course.accesses.empty()) text += ", reads";
  for (const tenon::AccessPattern access : course.accesses) text += std::string(" ") + access_pattern_name(access);
  text += ", " + std::to_string(course.passes) + (course.passes == 1 ? " pass, " : " passes, ") +
          std::to_string(course.parts) + (course.parts == 1 ? " part" : " parts");
  const std::size_t others = record.courses.size() - 1;
  return others == 0 ? text : text + "; then " + std::to_string(others) + " more";
}

void print_worst(std::vector<Measured> all, const char* title, double (Measured::*badness)() const) {
  std::stable_sort(all.begin(), all.end(),
                   [&](const Measured& a, const Measured& b) { return (a.*badness)() < (b.*badness)(); });
  std::printf("\n%s\n%8s %7s %7s %11s  case\n", title, "PyTorch", "share", "nested", "ns");
  for (std::size_t i = 0; i < std::min(kWorst, all.size()); ++i)
    std::printf("%8.2f %7.2f %7.2f %11.0f  %s\n%38s%s\n", all[i].ratio(), all[i].share(), all[i].nested(),
                all[i].result.tenon_ns, all[i].drawn.measured.header.name.c_str(), "",
                courses_of(all[i].drawn).c_str());
}

void write_json(const std::string& path, uint64_t seed, const std::vector<Measured>& all) {
  nlohmann::json cases = nlohmann::json::array();
  for (const Measured& one : all) {
    nlohmann::json line = {
        {"case", one.drawn.measured.header.name},       {"family", one.drawn.family},      {"inner", one.drawn.inner},
        {"threads", one.drawn.measured.header.threads}, {"tenon_ns", one.result.tenon_ns}, {"share", one.share()}};
    if (one.result.ratio) line.update({{"torch_ns", *one.result.torch_ns}, {"ratio", one.ratio()}});
    if (one.result.nested) line["nested"] = one.nested();
    cases.push_back(std::move(line));
  }
  std::ofstream file(path);
  file << nlohmann::json{{"seed", seed}, {"cases", cases}}.dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(const Arguments& arguments) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::printf("seed %llu\n", static_cast<unsigned long long>(arguments.seed));
  std::vector<Measured> all;
  for (Drawn& drawn : draw_cases(arguments.seed, arguments.cases, arguments.reductions)) {
    if (interrupted) break;
    if (!std::regex_search(drawn.measured.header.name, arguments.filter)) continue;
    const Result result = measure(drawn.measured, arguments.rounds);
    all.push_back({std::move(drawn), result});
    const Measured& last = all.back();
    std::printf("%4zu %7.2f %7.2f %7.2f %11.0f  %s\n", all.size(), last.ratio(), last.share(), last.nested(),
                result.tenon_ns, last.drawn.measured.header.name.c_str());
    std::fflush(stdout);
  }
  print_families(all);
#ifdef TENON_BENCH_TORCH
  print_worst(all, "The worst beside PyTorch", &Measured::ratio);
#endif
  print_worst(all, "The worst beside the limit", &Measured::share);
  print_worst(all, "The worst beside the nearer of limit and nested loops", &Measured::shown);
  print_worst(all, "The worst beside nested loops", &Measured::nested);
  if (!arguments.json.empty()) write_json(arguments.json, arguments.seed, all);
  return interrupted ? 130 : 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  try {
    return bench::run(bench::parse({words + 1, words + count}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon_sweep: %s\n", error.what());
    return 2;
  }
}
