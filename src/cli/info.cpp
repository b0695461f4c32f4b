// cli: `tenon info`.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "system/memory.h"
#include "tenon/instruction_set.h"
#include "tenon/storage.h"
#include "tenon/threads.h"
#include "tenon/version.h"

namespace tenon::cli {
namespace {

void print_json() {
  const nlohmann::ordered_json json{{"version", TENON_VERSION},
                                    {"instruction_set", instruction_set()},
                                    {"compiled_instruction_sets", compiled_instruction_sets()},
                                    {"threads", get_num_threads()},
                                    {"memory_bytes", system::memory_bytes()},
                                    {"free_memory_bytes", system::free_memory_bytes()},
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
  line("memory", bytes_text(static_cast<double>(system::memory_bytes())) + ", " +
                     bytes_text(static_cast<double>(system::free_memory_bytes())) + " free; up to " +
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
