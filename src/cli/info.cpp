// cli: `tenon info`.
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "tenon/instruction_set.h"
#include "tenon/storage.h"
#include "tenon/threads.h"
#include "tenon/version.h"

namespace tenon::cli {
namespace {

int64_t physical_memory() { return int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGE_SIZE)}; }
int64_t free_memory() { return int64_t{sysconf(_SC_AVPHYS_PAGES)} * int64_t{sysconf(_SC_PAGE_SIZE)}; }

void print_json() {
  const nlohmann::ordered_json json{{"version", TENON_VERSION},
                                    {"instruction_set", instruction_set()},
                                    {"compiled_instruction_sets", compiled_instruction_sets()},
                                    {"threads", get_num_threads()},
                                    {"memory_bytes", physical_memory()},
                                    {"free_memory_bytes", free_memory()},
                                    {"cache_cap_bytes", memory::cache_cap()}};
  std::printf("%s\n", json.dump(2).c_str());
}

void print_text() {
  const Painter paint = stdout_painter();
  const auto line = [&](const char* name, const std::string& value) {
    std::printf("%s  %s\n", paint(Colour::heading, pad_right(name, 16)).c_str(), value.c_str());
  };
  line("version", TENON_VERSION);
  line("instruction set", std::string(instruction_set()) + " (this build holds " + compiled_instruction_sets() + ")");
  line("threads", std::to_string(get_num_threads()));
  line("memory", bytes_text(static_cast<double>(physical_memory())) + ", " +
                     bytes_text(static_cast<double>(free_memory())) + " free; up to " +
                     bytes_text(static_cast<double>(memory::cache_cap())) + " kept for reuse");
}

}  // namespace

int run_info(const InfoOptions& options) {
  if (options.json)
    print_json();
  else
    print_text();
  return 0;
}

}  // namespace tenon::cli
