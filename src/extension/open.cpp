#include <atomic>
#include <string>

#include "extension/extension.h"
#include "system/library.h"
#include "tenon/error.h"

namespace tenon {
namespace {

std::string name() { return std::string("libtenon_extension") + system::kLibrarySuffix; }

/// Null if there is none.
const Extension* open() {
  const std::string folder = system::folder_of_code(reinterpret_cast<const void*>(&name));
  void* library = system::open_library(folder + name());
  if (!library) library = system::open_library(name());
  if (!library) return nullptr;
  const auto get = reinterpret_cast<const Extension* (*)()>(system::find_symbol(library, "tenon_extension"));
  const Extension* const found = get ? get() : nullptr;
  return found && found->version == Extension::kVersion ? found : nullptr;
}

}  // namespace

const Extension& extension(const char* what) {
  static std::atomic<const Extension*> opened{nullptr};
  const Extension* found = opened.load(std::memory_order_acquire);
  if (!found) {
    found = open();  // by two threads at once it is the same; what fails, as without memory, may succeed later
    opened.store(found, std::memory_order_release);
  }
  if (!found)
    throw NotImplementedError(std::string(what) + " needs " + name() + ", which is not beside the library of Tenon");
  return *found;
}

}  // namespace tenon
