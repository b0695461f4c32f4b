#include "io/entries.h"

#include <algorithm>

#include "io/fail.h"
#include "io/npz.h"
#include "io/safetensors.h"

namespace tenon::io {
namespace {

std::size_t end_of_path(const std::string& name, const std::string& ending) noexcept {
  for (std::size_t at = name.find(ending, 1); at != std::string::npos; at = name.find(ending, at + 1)) {
    const std::size_t end = at + ending.size();
    if (end == name.size() || name[end] == ':') return end;
  }
  return std::string::npos;
}

}  // namespace

bool has_entries(const std::string& name, const std::string& ending) noexcept {
  return !name.empty() && end_of_path(name, ending) != std::string::npos;
}
bool has_entries(const std::string& name) noexcept {
  return has_entries(name, kSafetensors) || has_entries(name, kNpz);
}

EntryName split_entry(const std::string& name, const std::string& ending) {
  const std::size_t end = end_of_path(name, ending);
  return {name.substr(0, end), end < name.size() ? name.substr(end + 1) : ""};
}
EntryName split_entry(const std::string& name) {
  return split_entry(name, has_entries(name, kSafetensors) ? kSafetensors : kNpz);
}

std::unique_ptr<EntriesWriter> new_entries(const std::string& path, const std::vector<NewEntry>& entries) {
  check_new_entries(path, entries);
  if (has_entries(path, kSafetensors)) return std::make_unique<SafetensorsWriter>(path, entries);
  return std::make_unique<NpzWriter>(path, entries);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost) text += ", ...";
  return text.empty() ? "" : "; it holds " + text;
}

std::size_t find_entry(const EntryName& name, const std::vector<std::string>& names) {
  if (name.entry.empty()) {
    if (names.size() == 1) return 0;
    fail_file(name.path, "holds " + std::to_string(names.size()) + " tensors; name one, as in " + name.path + ":" +
                             (names.empty() ? "NAME" : names[0]) + listed(names));
  }
  const auto found = std::find(names.begin(), names.end(), name.entry);
  if (found == names.end()) fail_file(name.path, "has no tensor '" + name.entry + "'" + listed(names));
  return static_cast<std::size_t>(found - names.begin());
}

void check_new_entries(const std::string& path, const std::vector<NewEntry>& entries) {
  if (is_stream(path)) fail_file(path, "cannot be written: a file of several tensors is no pipe and no device");
  for (auto entry = entries.begin(); entry != entries.end(); ++entry)
    if (std::any_of(entries.begin(), entry, [&](const NewEntry& other) { return other.name == entry->name; }))
      throw Error("the tensor '" + entry->name + "' is written to " + path + " twice");
}

}  // namespace tenon::io
