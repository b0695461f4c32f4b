// Any arguments of `tenon explain`, separated by tabs: an exit code of 0 or 1 and output in the requested format, or an
// Error.
#include <nlohmann/json.hpp>

#include "fuzz/case.h"
// main.cpp prints errors, so its main is renamed and included.
#define main tenon_main
#include "cli/main.cpp"
#undef main

using namespace tenon;

namespace {

/// What a call prints.
template <class Call>
std::string printed_by(const Call& call) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* before = stdout;
  stdout = open_memstream(&text, &size);
  try {
    call();
  } catch (const Error&) {  // main prints it
  }
  std::fclose(stdout);
  stdout = before;
  std::string result(text, size);
  std::free(text);
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  stderr = std::fopen("/dev/null", "w");  // libFuzzer still uses the old one
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  cli::ExplainOptions options;
  options.json = bytes.flag();
  std::string text(bytes.rest());
  for (std::size_t end; (end = text.find('\t')) != std::string::npos; text.erase(0, end + 1))
    options.arguments.push_back(text.substr(0, end));
  options.arguments.push_back(text);
  const fuzz::Deadline deadline(50);
  const std::string page = printed_by([&] {
    const int code = cli::run_explain(options);
    CLAIM(code == 0 || code == cli::kFailedExit);
  });
  if (options.json && !page.empty()) CLAIM_OF(nlohmann::json::accept(page), page);
  return 0;
}
