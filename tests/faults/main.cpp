// Makes every allocation of every call fail in turn. After each failure: an out-of-memory exception or the right
// result; operands unchanged; no leak; and the same call gives the right result.
//
//   tenon_faults [--quick] [--filter TEXT] [--without TEXT] [--threads N] [--jobs N] [--list]
//
// Ends with "N passed, N failed". Cases run in child processes: a crash or an endless wait is a failure of one case.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <sstream>

#include "faults.h"

namespace tenon::faults {
namespace {

struct Options {
  bool quick = false, list = false;
  std::string filter, without;
  bool picks(const Case& tried) const { return picks(tried.name) && !(quick && tried.is_repeated); }
  bool picks(const std::string& name) const {
    return name.find(filter) != std::string::npos && (without.empty() || name.find(without) == std::string::npos);
  }
  int threads = 1, jobs = 2;
};

/// How many allocations fail in a row. After a single failure the library can often free its cache and succeed.
struct Mode {
  const char* name;
  int64_t count;
};
constexpr Mode kModes[] = {{"once", 1}, {"twice", 2}, {"from then on", INT64_MAX}};
constexpr Mode kQuickModes[] = {{"twice", 2}};  // the smallest number from which the library cannot recover

constexpr int64_t kMostAllocations = 20000;
constexpr unsigned kSecondsPerCase = 120;

/// A child's progress, which the parent reads after the child has ended.
struct Progress {
  std::size_t next;
  int64_t allocation;
  char mode[16];
  int64_t passed, failed, injections;
};

/// In eight chains of a sum that vectors compute fast: most of the test's time is spent here.
uint64_t hash_of(const void* data, int64_t nbytes) {
  constexpr int64_t kChains = 8, kStep = 8 * kChains;
  const auto mixed = [](uint64_t hash, uint64_t word) { return (hash << 5) - hash + word; };
  const unsigned char* bytes = static_cast<const unsigned char*>(data);
  uint64_t chains[kChains] = {}, words[kChains];
  for (; nbytes >= kStep; nbytes -= kStep, bytes += kStep) {
    std::memcpy(words, bytes, kStep);
    for (int64_t i = 0; i < kChains; ++i) chains[i] = mixed(chains[i], words[i]);
  }
  uint64_t hash = 0;
  for (const uint64_t chain : chains) hash = mixed(hash, chain ^ chain >> 29);
  for (; nbytes > 0; --nbytes, ++bytes) hash = mixed(hash, *bytes);
  return hash;
}

std::string elements_of(const Tensor& tensor) {
  if (tensor.is_meta()) return "meta";
  const Tensor plain = tensor.detach().contiguous();
  return std::to_string(hash_of(plain.data_ptr(), plain.nbytes()));
}

/// A text with all properties of a tensor.
std::string seen(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  std::string text = to_string(tensor.sizes()) + to_string(tensor.strides()) + "+" +
                     std::to_string(tensor.storage_offset()) + " " + scalar_type_name(tensor.dtype()) + " " +
                     elements_of(tensor);
  if (!tensor.is_inference()) text += " version " + std::to_string(tensor.version());
  if (tensor.requires_grad()) text += " requires grad";
  if (tensor.retains_grad()) text += " retains grad";
  const autograd::Node node = tensor.grad_fn();
  if (node.defined()) text += " " + node.name() + " " + std::to_string(tensor.output_nr());
  const Tensor grad = tensor.is_leaf() || tensor.retains_grad() ? tensor.grad() : Tensor();
  if (grad.defined()) text += " grad " + seen(grad);
  return text;
}
std::string seen(const Tensors& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) text += seen(tensor) + "\n";
  return text;
}

std::string seen(const Results& results) { return seen(results.tensor) + "\n" + seen(results.tensors) + results.text; }

/// The result of a call, or the text of its error.
struct Outcome {
  enum Kind { value, error, no_memory } kind = value;
  std::string text;
};

Outcome outcome_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const OutOfMemoryError& error) {
    return {Outcome::no_memory, error.what()};
  } catch (const std::bad_alloc&) {
    return {Outcome::no_memory, "std::bad_alloc"};
  } catch (const Error& error) {
    return {Outcome::error, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::error, std::string("no error of the library: ") + error.what()};
  }
}
Outcome outcome_of(const Results& results, const Tensors& operands) {
  return {Outcome::value, seen(results) + "\n" + seen(operands)};
}

Outcome call(const Case& tried, Tensors& operands) {
  Results results;
  try {
    results = tried.call(operands);
  } catch (...) {
    return outcome_of(std::current_exception());
  }
  return outcome_of(results, operands);
}

/// The same with failing allocations. The outcome is described after the failures have ended.
Outcome call_failing(const Case& tried, Tensors& operands, int64_t first, int64_t count, int64_t& used) {
  Results results;
  std::exception_ptr thrown;
  fail_allocations(first, count);
  try {
    results = tried.call(operands);
    used = stop_failing();
  } catch (...) {
    used = stop_failing();
    thrown = std::current_exception();
  }
  return thrown ? outcome_of(thrown) : outcome_of(results, operands);
}

/// The lines that differ between two descriptions.
std::string difference(const std::string& want, const std::string& got) {
  std::istringstream wants(want), gots(got);
  std::string text, a, b;
  for (bool more_a = true, more_b = true; more_a || more_b;) {
    more_a = more_a && std::getline(wants, a);
    more_b = more_b && std::getline(gots, b);
    if (more_a && more_b && a == b) continue;
    if (more_a) text += "  wanted " + a + "\n";
    if (more_b) text += "  got    " + b + "\n";
  }
  return text;
}

/// The memory in use when no tensor exists.
struct Held {
  int64_t blocks, bytes;
};
Held held() {
  memory::trim();
  return {live_blocks(), memory::statistics().in_use};
}

class Trial {
 public:
  Trial(const Case& tried, Progress& progress) : case_(tried), progress_(progress) {}

  /// The first error found; empty if there is none.
  /// `quick`: of calls with many allocations, some.
  std::string run(const Mode* modes, std::size_t count, bool quick) {
    for (int turn = 0; turn < 2; ++turn) {  // the first turn makes everything that is made only once
      Tensors operands = case_.make();
      plain_ = call(case_, operands);
    }
    for (std::size_t mode = 0; mode < count; ++mode) {
      std::snprintf(progress_.mode, sizeof progress_.mode, "%s", modes[mode].name);
      for (progress_.allocation = 0; progress_.allocation < kMostAllocations;
           progress_.allocation += 1 + (quick ? progress_.allocation / 8 : 0)) {
        int64_t used = 0;
        const std::string wrong = try_one(modes[mode].count, used);
        if (!wrong.empty()) return wrong;
        if (used <= progress_.allocation) break;
      }
    }
    return {};
  }

 private:
  std::string try_one(int64_t count, int64_t& used) {
    // A thread's first exception and a stream's first use allocate memory once. Only repeated growth is a leak.
    std::string wrong;
    for (int again = 0; again < 5; ++again) {
      const Held before = held();
      wrong = try_once(count, used);
      const Held after = held();
      if (!wrong.empty() || (after.blocks <= before.blocks && after.bytes == before.bytes)) return wrong;
      wrong = "leaks " + std::to_string(after.blocks - before.blocks) + " blocks, " +
              std::to_string(after.bytes - before.bytes) + " bytes of tensors";
    }
    return wrong;
  }

  std::string try_once(int64_t count, int64_t& used) {
    ++progress_.injections;
    Tensors operands = case_.make();
    const std::string before = seen(operands);
    memory::trim();
    const Outcome outcome = call_failing(case_, operands, progress_.allocation, count, used);
    if (outcome.kind != Outcome::no_memory) {
      if (outcome.kind == plain_.kind && outcome.text == plain_.text) return {};
      return "goes on wrongly:\n" + difference(plain_.text, outcome.text);
    }
    const std::string after = seen(operands);
    if (after != before) return "changes its operands:\n" + difference(before, after);
    const Outcome again = call(case_, operands);
    if (again.kind == plain_.kind && again.text == plain_.text) return {};
    return "is wrong when called again:\n" + difference(plain_.text, again.text);
  }

  const Case& case_;
  Progress& progress_;
  Outcome plain_;
};

void report(const Case& tried, const Progress& progress, const std::string& wrong) {
  std::printf("FAILED %s, allocation %lld fails %s: %s\n", tried.name.c_str(),
              static_cast<long long>(progress.allocation), progress.mode, wrong.c_str());
  std::fflush(stdout);
}

/// Runs the cases from `progress.next` on.
[[noreturn]] void run_child(const std::vector<const Case*>& cases, Progress& progress, const Options& options) {
  set_num_threads(options.threads);
  for (; progress.next < cases.size(); ++progress.next) {
    alarm(kSecondsPerCase);
    const Case& tried = *cases[progress.next];
    std::string wrong;
    try {
      Trial trial(tried, progress);
      wrong = options.quick ? trial.run(kQuickModes, std::size(kQuickModes), true)
                            : trial.run(kModes, std::size(kModes), false);
    } catch (const std::exception& error) {
      wrong = std::string("the test itself failed: ") + error.what();
    }
    if (wrong.empty()) {
      ++progress.passed;
    } else {
      ++progress.failed;
      report(tried, progress, wrong);
    }
  }
  std::fflush(stdout);
  _exit(0);
}

/// Runs children one after the other. If one dies, the next continues after the case that killed it.
void run_cases(const std::vector<const Case*>& cases, Progress& progress, const Options& options) {
  while (progress.next < cases.size()) {
    const pid_t child = fork();
    if (child == 0) run_child(cases, progress, options);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) std::abort();
    if (progress.next >= cases.size()) break;
    ++progress.failed;
    const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    report(*cases[progress.next], progress,
           hangs ? "never ends" : "dies of signal " + std::to_string(WIFSIGNALED(status) ? WTERMSIG(status) : 0));
    ++progress.next;
  }
}

/// Whether the check holds.
bool holds(const Check& check) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsPerCase);
    const std::string wrong = check.run();
    if (!wrong.empty()) std::printf("FAILED %s: %s\n", check.name.c_str(), wrong.c_str());
    std::fflush(stdout);
    _exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) std::abort();
  if (WIFSIGNALED(status)) std::printf("FAILED %s: dies of signal %d\n", check.name.c_str(), WTERMSIG(status));
  return status == 0;
}

Progress* shared_progress(int jobs) {
  void* memory = mmap(nullptr, static_cast<std::size_t>(jobs) * sizeof(Progress), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<Progress*>(memory);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_table_cases(cases);
  add_tensor_cases(cases);
  add_autograd_cases(cases);
  return cases;
}

int run(const Options& options) {
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  const std::vector<Case> cases = all_cases();
  std::vector<std::vector<const Case*>> shares(static_cast<std::size_t>(options.jobs));
  std::size_t chosen = 0;
  for (const Case& tried : cases) {
    if (!options.picks(tried)) continue;
    if (options.list) std::printf("%s\n", tried.name.c_str());
    shares[chosen++ % shares.size()].push_back(&tried);
  }
  std::vector<Check> checks;
  add_thread_checks(checks);
  int64_t passed = 0, failed = 0, injections = 0;
  for (const Check& check : checks) {
    if (!options.picks(check.name)) continue;
    if (options.list)
      std::printf("%s\n", check.name.c_str());
    else
      ++(holds(check) ? passed : failed);
  }
  if (options.list) return 0;
  const int64_t wanted = passed + failed + static_cast<int64_t>(chosen);
  std::fflush(stdout);
  Progress* progress = shared_progress(options.jobs);
  std::vector<pid_t> jobs;
  for (std::size_t job = 0; job < shares.size(); ++job) {
    jobs.push_back(fork());
    if (jobs.back() != 0) continue;
    run_cases(shares[job], progress[job], options);
    _exit(0);
  }
  for (const pid_t job : jobs) waitpid(job, nullptr, 0);
  for (std::size_t job = 0; job < shares.size(); ++job) {
    passed += progress[job].passed;
    failed += progress[job].failed;
    injections += progress[job].injections;
  }
  std::printf("%lld failures injected\n%lld passed, %lld failed\n", static_cast<long long>(injections),
              static_cast<long long>(passed), static_cast<long long>(failed));
  return failed == 0 && passed == wanted && passed > 0 ? 0 : 1;
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&] { return i + 1 < count ? words[++i] : ""; };
    if (word == "--quick") {
      options.quick = true;
    } else if (word == "--list") {
      options.list = true;
    } else if (word == "--filter") {
      options.filter = value();
    } else if (word == "--without") {
      options.without = value();
    } else if (word == "--threads") {
      options.threads = std::atoi(value());
    } else if (word == "--jobs") {
      options.jobs = std::atoi(value());
    } else {
      std::fprintf(stderr,
                   "tenon_faults [--quick] [--filter TEXT] [--without TEXT] [--threads N] [--jobs N] [--list]\n");
      std::exit(2);
    }
  }
  return options;
}

}  // namespace
}  // namespace tenon::faults

int main(int count, char** words) { return tenon::faults::run(tenon::faults::parse(count, words)); }
