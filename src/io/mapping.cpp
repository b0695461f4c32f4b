#include "io/mapping.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "io/fail.h"
#include "system/memory.h"

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

/// Maps zeros from the lost page to the end of the mapping: a file that became shorter has nothing behind its new end.
bool on_lost_page(uintptr_t address) noexcept {
  for (Slot& slot : slots) {
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire), end = slot.end.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address >= end) continue;
    if (!system::map_zeros(address, end)) return false;
    slot.lost.store(true);
    any_lost.store(true);
    if (const LossHook hook = loss_hook.load()) hook();
    return true;
  }
  return false;
}

void watch_once() {
  static bool is_watched = false;
  const std::lock_guard lock(slots_mutex);
  if (!is_watched) is_watched = system::watch_lost_pages(on_lost_page);
}

int watch(const std::string& path, const std::byte* data, int64_t nbytes) {
  const auto page_bytes = static_cast<uintptr_t>(system::page_bytes());
  const std::lock_guard lock(slots_mutex);
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    if (slot.begin.load(std::memory_order_relaxed) != 0 || slot.lost.load()) continue;  // in use, or not yet reported
    slot.path = path;
    slot.lost.store(false);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
    slot.end.store((begin + static_cast<uintptr_t>(nbytes) + page_bytes - 1) / page_bytes * page_bytes,
                   std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_release);
    return i;
  }
  return -1;
}

}  // namespace

Mapping::Mapping(const std::string& path, int descriptor, int64_t nbytes, system::Access access) : nbytes_(nbytes) {
  watch_once();
  void* data = system::map_file(descriptor, nbytes, access);
  if (!data) fail_system(path, "cannot be mapped");
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
  if (data_) system::unmap_file(data_, nbytes_);
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
