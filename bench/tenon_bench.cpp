// tenon_bench [--filter REGEX] [--rounds N] [--json FILE] [--ratios] [--ops] [--list]: every case on Tenon and, where
// it was found, on PyTorch; with --ops every declared op instead, with --dtype NAME those of maps that take it, with
// --rows N and --columns N on other sizes than [1024, 1024], with --factor NUMBER on operands times -1, 0 or nan.
// tenon_bench --benchmark_...: the same cases
// registered with Google Benchmark, one library after the other. Its runner finishes one benchmark before it starts the
// next: it cannot alternate two of them, and on a machine that others use, minutes apart, their ratio says little. The
// comparison has its own rounds for that reason.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cases.h"
#include "measure.h"
#include "op_calls.h"
#include "report.h"

namespace bench {
namespace {

struct Arguments {
  std::regex filter{""};
  int rounds = 11;
  std::string json;
  bool ratios = false;  // the table of docs/benchmarks.md, too
  bool ops = false;
  bool list = false;
  MapKind map;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--list") {
      arguments.list = true;
      continue;
    }
    if (word == "--ops") {
      arguments.ops = true;
      continue;
    }
    if (word == "--ratios") {
      arguments.ratios = true;
      continue;
    }
    constexpr std::string_view kWithValue[] = {"--filter", "--rounds",  "--json",  "--dtype",
                                               "--rows",   "--columns", "--factor"};
    if (i + 1 == words.size() || std::find(std::begin(kWithValue), std::end(kWithValue), word) == std::end(kWithValue))
      throw std::invalid_argument("unknown argument " + word +
                                  "; known: --filter REGEX --rounds N --json FILE --ratios --ops --dtype NAME "
                                  "--rows N --columns N --factor NUMBER --list");
    const std::string& value = words[++i];
    if (word == "--filter") arguments.filter = std::regex(value);
    if (word == "--rounds") arguments.rounds = std::stoi(value);
    if (word == "--json") arguments.json = value;
    if (word == "--dtype") arguments.map.dtype = tenon::dtype_from_name(value.c_str());
    if (word == "--rows") arguments.map.rows = std::stoll(value);
    if (word == "--columns") arguments.map.columns = std::stoll(value);
    if (word == "--factor") arguments.map.factor = std::stod(value);
  }
  if (arguments.rounds < 1) throw std::invalid_argument("--rounds needs a positive number");
  return arguments;
}

void compare(const Cases& cases, const Arguments& arguments) {
#ifdef TENON_BENCH_TORCH
  print_heading(true);
#else
  print_heading(false);
#endif
  std::vector<Result> results;
  for (const Case& c : cases.all()) {
    if (!std::regex_search(c.header.name, arguments.filter)) continue;
    results.push_back(measure(c, arguments.rounds));
    print_result(results.back());
  }
  print_summary(results);
  if (arguments.ops) print_spread(results);
  if (arguments.ratios) print_ratios(results);
  if (!arguments.json.empty()) write_json(arguments.json, results);
}

void list(const Cases& cases) {
  for (const Case& c : cases.all()) std::printf("%s\n", c.header.name.c_str());
}

void register_one(const std::string& name, const Header& header, const Prepare& prepare) {
  if (!prepare) return;
  benchmark::RegisterBenchmark(name.c_str(), [&header, prepare](benchmark::State& state) {
    const tenon::NoGrad unrecorded;
#ifdef TENON_BENCH_TORCH
    const c10::InferenceMode no_gradients;
#endif
    const Work work = prepare();
    const int64_t batch = header.bytes > 0 ? 1 : 1000;
    while (state.KeepRunningBatch(batch)) work(batch);
    state.SetBytesProcessed(state.iterations() * header.bytes);
  });
}

int run_google_benchmark(const Cases& cases, int count, char** words) {
  Tenon::set_num_threads(1);
#ifdef TENON_BENCH_TORCH
  Torch::set_num_threads(1);
#endif
  for (const Case& c : cases.all()) {
    if (c.header.threads != 1) continue;
    register_one("tenon/" + c.header.name, c.header, c.tenon);
    register_one("torch/" + c.header.name, c.header, c.torch);
  }
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

int run(int count, char** words) {
  Cases cases;
  add_tiny_cases(cases);
  add_large_cases(cases);
  add_reduce_cases(cases);
  add_grad_cases(cases);
  add_order_cases(cases);
  add_index_cases(cases);
  add_thread_cases(cases);
  add_fuse_cases(cases);
  for (int i = 1; i < count; ++i)
    if (std::strncmp(words[i], "--benchmark_", 12) == 0) return run_google_benchmark(cases, count, words);
  const Arguments arguments = parse({words + 1, words + count});
  Cases ops;
  add_op_cases(ops, arguments.map);
  if (arguments.list)
    list(cases), list(ops);
  else
    compare(arguments.ops ? ops : cases, arguments);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  try {
    return bench::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon_bench: %s\n", error.what());
    return 2;
  }
}
