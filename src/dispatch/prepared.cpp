#include "dispatch/prepared.h"

#include <pthread.h>

#include <new>

#include "base/fork.h"

namespace tenon {

/// The entries of one thread: a key has one place.
struct PreparedCall::Entries {
  static constexpr int kBits = 6;
  Entry all[1 << kBits];

  /// This thread's; null without memory for them. Not a thread_local with a destructor: without memory to register it
  /// the process would abort.
  static Entries* of_thread() noexcept {
    constinit thread_local Entries* entries [[gnu::tls_model("initial-exec")]] = nullptr;
    if (!entries) [[unlikely]]
      entries = open(&entries);
    return entries;
  }

 private:
  /// Calls `close` when a thread ends. Null: the process has no more keys.
  static const pthread_key_t* exit_key() noexcept {
    static pthread_key_t key;
    static const bool is_made = pthread_key_create(&key, close) == 0;
    return is_made ? &key : nullptr;
  }
  static Entries* open(Entries** slot) noexcept {
    const pthread_key_t* key = exit_key();
    Entries* made = key ? new (std::nothrow) Entries : nullptr;
    if (!made || pthread_setspecific(*key, slot) == 0) return made;
    delete made;
    return nullptr;
  }
  static void close(void* slot) noexcept { delete std::exchange(*static_cast<Entries**>(slot), nullptr); }
  static const AtLoad key_at_load;
};
const AtLoad PreparedCall::Entries::key_at_load(exit_key);

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
