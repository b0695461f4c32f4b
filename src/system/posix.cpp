// What Linux, macOS and other POSIX systems share. What only Linux has is in linux.cpp, what the others have in its
// place in other_posix.cpp.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "system/file.h"
#include "system/functions.h"
#include "system/library.h"
#include "system/mapping.h"
#include "system/memory.h"
#include "system/program.h"
#include "system/threads.h"

namespace tenon::system {

// --- memory.h -----------------------------------------------------------------------------------------------------

void* take_aligned(int64_t alignment, int64_t nbytes) noexcept {
  void* memory = nullptr;
  const int failed = posix_memalign(&memory, static_cast<std::size_t>(alignment), static_cast<std::size_t>(nbytes));
  return failed == 0 ? memory : nullptr;
}
void free_aligned(void* memory) noexcept { std::free(memory); }
int64_t page_bytes() noexcept { return sysconf(_SC_PAGESIZE); }
int64_t memory_bytes() noexcept { return sysconf(_SC_PHYS_PAGES) * page_bytes(); }

// --- mapping.h ----------------------------------------------------------------------------------------------------

namespace {

bool (*on_lost_page)(uintptr_t) = nullptr;
struct sigaction previous_action = {};

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int code = errno;
  const bool sent = info->si_code <= 0;  // sent by a process, not raised by an access
  if (!sent && on_lost_page(reinterpret_cast<uintptr_t>(info->si_addr))) {
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

}  // namespace

void* map_file(int descriptor, int64_t nbytes, Access access) noexcept {
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  const int flags = access == Access::shared_write ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
  void* memory = mmap(nullptr, static_cast<std::size_t>(nbytes), protection, flags, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
void unmap_file(void* memory, int64_t nbytes) noexcept { munmap(memory, static_cast<std::size_t>(nbytes)); }

bool watch_lost_pages(bool (*on_lost)(uintptr_t)) noexcept {
  on_lost_page = on_lost;
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, &action, &previous_action) == 0;
}

bool map_zeros(uintptr_t address, uintptr_t end) noexcept {
  const auto page = static_cast<uintptr_t>(page_bytes());
  const uintptr_t begin = address / page * page;
  // The signal gives an address as an integer. NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* zeros = mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return zeros != MAP_FAILED;
}

// --- file.h -------------------------------------------------------------------------------------------------------

namespace {

FileStatus status_from(const struct stat& status) noexcept {
  const FileKind kind = S_ISREG(status.st_mode)    ? FileKind::regular
                        : S_ISDIR(status.st_mode)  ? FileKind::folder
                        : S_ISFIFO(status.st_mode) ? FileKind::named_pipe
                                                   : FileKind::other;
  return {kind, int64_t{status.st_size}, status.st_mode & 0777, status.st_uid, status.st_gid};
}

void wait_for(int descriptor, short events, int milliseconds) noexcept {
  struct pollfd waiting = {descriptor, events, 0};
  poll(&waiting, 1, milliseconds);
}

}  // namespace

std::optional<FileStatus> status_of(const std::string& path) noexcept {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status_from(status);
}
std::optional<FileStatus> status_of(int descriptor) noexcept {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return status_from(status);
}

int open_to_read(const std::string& path) noexcept {
  // Without O_NONBLOCK, opening a named pipe would wait for its writer and could not be interrupted.
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}
int open_to_write(const std::string& path) noexcept {
  // With O_NONBLOCK, opening a pipe without a reader fails instead of waiting without interrupts.
  return open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}
int create_file(const std::string& path, bool is_private) noexcept {
  return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, is_private ? 0600 : 0666);
}
int duplicate(int descriptor) noexcept { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }
bool close_file(int descriptor) noexcept { return close(descriptor) == 0; }

int64_t read_some(int descriptor, void* bytes, std::size_t count) noexcept { return read(descriptor, bytes, count); }
int64_t write_some(int descriptor, const void* bytes, std::size_t count) noexcept {
  return write(descriptor, bytes, count);
}
void wait_to_read(int descriptor, int milliseconds) noexcept { wait_for(descriptor, POLLIN, milliseconds); }
void wait_to_write(int descriptor, int milliseconds) noexcept { wait_for(descriptor, POLLOUT, milliseconds); }

bool may_write(const std::string& path) noexcept { return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }
bool take_over(const FileStatus& old, int descriptor) noexcept {
  const std::optional<FileStatus> made = status_of(descriptor);
  if (!made) return false;
  mode_t mode = static_cast<mode_t>(old.mode);
  const bool same_owner = old.user == made->user && old.group == made->group;
  if (!same_owner && fchown(descriptor, old.user, old.group) != 0)
    mode &= 0707;  // the group differs, so it gets no rights
  return fchmod(descriptor, mode) == 0;
}
bool replace_file(const std::string& from, const std::string& to) noexcept {
  return std::rename(from.c_str(), to.c_str()) == 0;
}
void remove_file(const char* path) noexcept { unlink(path); }

// --- threads.h ----------------------------------------------------------------------------------------------------

void yield_core() noexcept { sched_yield(); }

BlockedSignals::BlockedSignals() noexcept {
  static_assert(sizeof(sigset_t) <= sizeof previous_ && alignof(sigset_t) <= 8);
  sigset_t signals;
  sigfillset(&signals);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&signals, own);
  pthread_sigmask(SIG_BLOCK, &signals, new (previous_) sigset_t);
}
BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, std::launder(reinterpret_cast<sigset_t*>(previous_)), nullptr);
}

ThreadExit::ThreadExit(void (*close)(void*)) noexcept {
  pthread_key_t key = 0;
  is_made_ = pthread_key_create(&key, close) == 0;
  key_ = key;
}
bool ThreadExit::set(void* value) const noexcept {
  return is_made_ && pthread_setspecific(static_cast<pthread_key_t>(key_), value) == 0;
}

void at_fork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept { pthread_atfork(prepare, parent, child); }

// --- functions.h --------------------------------------------------------------------------------------------------

float log_gamma(float x) noexcept {
  int sign = 0;
  return lgammaf_r(x, &sign);
}
double log_gamma(double x) noexcept {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// --- library.h ----------------------------------------------------------------------------------------------------

std::string folder_of_code(const void* code) {
  Dl_info info;
  if (dladdr(code, &info) == 0 || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}
void* open_library(const std::string& path) noexcept { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
void* find_symbol(void* library, const char* name) noexcept { return dlsym(library, name); }

// --- program.h ----------------------------------------------------------------------------------------------------

namespace {

bool is_ignored(int number) {
  struct sigaction before = {};
  return sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}
void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

std::vector<std::string> arguments(int argc, char** argv) { return {argv + (argc > 0 ? 1 : 0), argv + argc}; }

void prepare_standard_streams() noexcept {
  for (int number = 0; number < 3; ++number)
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}
bool is_terminal(int stream) noexcept { return isatty(stream) != 0; }

void watch_stop(void (*on_stop)(int)) noexcept {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM})
    if (!is_ignored(number)) handle(number, on_stop);
  handle(SIGXFSZ, SIG_IGN);  // at the file size limit, write() then fails instead
}
void end_now(int code) noexcept { _exit(code); }

}  // namespace tenon::system
