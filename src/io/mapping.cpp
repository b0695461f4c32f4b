#include "io/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "io/fail.h"

namespace tenon::io {
namespace {

/// An entry that the signal handler searches; it may neither allocate nor lock. `begin` is written last and cleared
/// first.
struct Slot {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> lost{false};
  std::string path;  // not used by the handler
};
constexpr int kSlots = 1024;  // further mapped files are not protected
std::array<Slot, kSlots> slots;
ForkMutex slots_mutex;  // held while mapping and unmapping
std::atomic<bool> any_lost{false};
std::atomic<LossHook> loss_hook{nullptr};
struct sigaction previous_action = {};

/// Maps zeros from the lost page to the end of the mapping: a file that became shorter has nothing behind its new end.
bool fill_with_zeros(uintptr_t address, uintptr_t end) noexcept {
  const uintptr_t page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t page = address / page_bytes * page_bytes;
  // The signal gives an address as an integer. NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* zeros = mmap(reinterpret_cast<void*>(page), end - page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return zeros != MAP_FAILED;
}

bool is_ours(uintptr_t address) noexcept {
  for (Slot& slot : slots) {
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire), end = slot.end.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address >= end) continue;
    if (!fill_with_zeros(address, end)) return false;
    slot.lost.store(true);
    any_lost.store(true);
    return true;
  }
  return false;
}

void on_lost_page(int number, siginfo_t* info, void* context) {
  const int code = errno;
  const bool sent = info->si_code <= 0;  // sent by a process, not raised by an access
  if (!sent && is_ours(reinterpret_cast<uintptr_t>(info->si_addr))) {
    if (const LossHook hook = loss_hook.load()) hook();
    errno = code;
    return;
  }
  if (previous_action.sa_flags & SA_SIGINFO) return previous_action.sa_sigaction(number, info, context);
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN)
    return previous_action.sa_handler(number);
  if (sent && previous_action.sa_handler == SIG_IGN) return;
  sigaction(number, &previous_action, nullptr);  // the access is repeated and ends the program
  if (sent) raise(number);
}

void watch_once() {
  static bool is_watched = false;
  const std::lock_guard lock(slots_mutex);
  if (is_watched) return;
  struct sigaction action = {};
  action.sa_sigaction = on_lost_page;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  is_watched = sigaction(SIGBUS, &action, &previous_action) == 0;
}

int watch(const std::string& path, const std::byte* data, std::size_t nbytes) {
  const uintptr_t page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::lock_guard lock(slots_mutex);
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    if (slot.begin.load(std::memory_order_relaxed) != 0 || slot.lost.load()) continue;  // in use, or not yet reported
    slot.path = path;
    slot.lost.store(false);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
    slot.end.store((begin + nbytes + page_bytes - 1) / page_bytes * page_bytes, std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_release);
    return i;
  }
  return -1;
}

}  // namespace

Mapping::Mapping(const std::string& path, int descriptor, std::size_t nbytes, int protection, int flags)
    : nbytes_(nbytes) {
  watch_once();
  void* data = mmap(nullptr, nbytes, protection, flags, descriptor, 0);
  if (data == MAP_FAILED) fail_system(path, "cannot be mapped");
  data_ = static_cast<std::byte*>(data);
  slot_ = watch(path, data_, nbytes);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(nbytes_, other.nbytes_);
  std::swap(slot_, other.slot_);
  return *this;
}

void Mapping::unmap() noexcept {
  // A lost mapping keeps its slot's path until it is reported; its addresses may be reused.
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].begin.store(0);
  if (data_) munmap(data_, nbytes_);
  data_ = nullptr;
  slot_ = -1;
}

void check_lost_mappings() {
  if (!any_lost.load(std::memory_order_relaxed)) return;
  any_lost.store(false);
  std::string path;
  {
    const std::lock_guard lock(slots_mutex);
    for (Slot& slot : slots)
      if (slot.lost.exchange(false)) path = slot.path;
  }
  fail_file(path, "has become shorter while it was mapped, or its disk failed; results that read it are wrong");
}

void set_loss_hook(LossHook hook) noexcept { loss_hook.store(hook); }

}  // namespace tenon::io
