#include <dlfcn.h>

#include <atomic>
#include <string>

#include "extension/extension.h"
#include "tenon/error.h"

namespace tenon {
namespace {

constexpr const char* kName = "libtenon_extension.so";

/// The folder of the library, or the program, that holds this code, with a slash; empty if it is not known.
std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

/// Null if there is none.
const Extension* open() {
  void* library = dlopen((own_folder() + kName).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  const auto get = reinterpret_cast<const Extension* (*)()>(dlsym(library, "tenon_extension"));
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
    throw NotImplementedError(std::string(what) + " needs " + kName + ", which is not beside the library of Tenon");
  return *found;
}

}  // namespace tenon
