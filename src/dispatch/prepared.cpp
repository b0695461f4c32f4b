#include "dispatch/prepared.h"

#include <new>

#include "base/fork.h"
#include "system/threads.h"

namespace tenon {

/// The entries of one thread: a key has one place.
struct PreparedCall::Entries {
  static constexpr int kBits = 6;
  Entry all[1 << kBits];

  /// This thread's; null without memory for them. Not a thread_local with a destructor: without memory to register it
  /// the process would abort.
  static Entries* of_thread() noexcept {
    if (!own_) [[unlikely]]
      own_ = open();
    return own_;
  }

 private:
  static const system::ThreadExit& at_exit() noexcept {
    static const system::ThreadExit exit(close);
    return exit;
  }
  static Entries* open() noexcept {
    Entries* const made = new (std::nothrow) Entries;
    if (!made || at_exit().set(made)) return made;
    delete made;
    return nullptr;
  }
  static void close(void* entries) noexcept {
    own_ = nullptr;
    delete static_cast<Entries*>(entries);
  }

  static constinit thread_local Entries* own_ [[gnu::tls_model("initial-exec")]];
  static const AtLoad exit_at_load;
};
// GCC forgets the declaration's attribute at a definition without it.
constinit thread_local PreparedCall::Entries* PreparedCall::Entries::own_ [[gnu::tls_model("initial-exec")]] = nullptr;
const AtLoad PreparedCall::Entries::exit_at_load(at_exit);

PreparedCall::Entry& PreparedCall::take(const PreparedKey& key) {
  Entries* entries = key.is_whole() ? Entries::of_thread() : nullptr;
  Entry* entry = entries ? &entries->all[key.hash(Entries::kBits)] : nullptr;
  // A call that an interrupt or a cast makes meanwhile finds the entry in use.
  if (!entry || entry->is_used) return *new Entry;
  entry->is_kept = entry->is_used = true;
  return *entry;
}

void PreparedCall::release() noexcept {
  if (entry_->is_kept)
    entry_->is_used = false;
  else
    delete entry_;
}

}  // namespace tenon
