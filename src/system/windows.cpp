// Windows 10 and later.
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#define _CRT_RAND_S  // rand_s
#include <windows.h>
// The other headers of the system need it.
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <shellapi.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "system/file.h"
#include "system/functions.h"
#include "system/library.h"
#include "system/mapping.h"
#include "system/memory.h"
#include "system/processor.h"
#include "system/program.h"
#include "system/threads.h"

namespace tenon::system {
namespace {

/// Without memory it is empty, which is no file's name.
std::wstring wide(const std::string& text) noexcept try {
  const int size = static_cast<int>(text.size());
  std::wstring result(static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0)), L' ');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), size, result.data(), static_cast<int>(result.size()));
  return result;
} catch (const std::bad_alloc&) {
  return {};
}
std::string narrow(const wchar_t* text) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);  // with the NUL
  std::string result(static_cast<std::size_t>(std::max(size, 1)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, -1, result.data(), size, nullptr, nullptr);
  result.pop_back();
  return result;
}

/// Sets errno by the last error of the system.
void note_error() noexcept {
  switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      errno = ENOENT;
      break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      errno = ENOSPC;
      break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
      errno = ENOMEM;
      break;
    default:
      errno = EACCES;
  }
}

HANDLE handle_of(int descriptor) noexcept { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }

}  // namespace

// --- memory.h -----------------------------------------------------------------------------------------------------

void* take_aligned(int64_t alignment, int64_t nbytes) noexcept {
  return _aligned_malloc(static_cast<std::size_t>(nbytes), static_cast<std::size_t>(alignment));
}
void free_aligned(void* memory) noexcept { _aligned_free(memory); }
/// Large pages need a right that ordinary users have not.
void prefer_huge_pages(void*, int64_t) noexcept {}

int64_t page_bytes() noexcept {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

namespace {

MEMORYSTATUSEX memory_status() noexcept {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  GlobalMemoryStatusEx(&status);
  return status;
}

}  // namespace

int64_t memory_bytes() noexcept { return static_cast<int64_t>(memory_status().ullTotalPhys); }
int64_t free_memory_bytes() noexcept { return static_cast<int64_t>(memory_status().ullAvailPhys); }
/// Pages that are not locked leave the working set, which is no error; they stay in the system's cache of files.
void give_back(uintptr_t begin, uintptr_t end) noexcept { VirtualUnlock(reinterpret_cast<void*>(begin), end - begin); }

// --- mapping.h ----------------------------------------------------------------------------------------------------

void* map_file(int descriptor, int64_t nbytes, Access access) noexcept {
  const bool is_shared = access == Access::shared_write;
  const HANDLE section =
      CreateFileMappingW(handle_of(descriptor), nullptr, is_shared ? PAGE_READWRITE : PAGE_READONLY, 0, 0, nullptr);
  if (!section) return note_error(), nullptr;
  const DWORD wanted = is_shared                ? FILE_MAP_READ | FILE_MAP_WRITE
                       : access == Access::read ? FILE_MAP_READ
                                                : FILE_MAP_COPY;
  void* const memory = MapViewOfFile(section, wanted, 0, 0, static_cast<std::size_t>(nbytes));
  if (!memory) note_error();
  CloseHandle(section);  // the view keeps it open
  return memory;
}
void unmap_file(void* memory, int64_t) noexcept { UnmapViewOfFile(memory); }

bool watch_lost_pages(bool (*)(uintptr_t)) noexcept { return true; }
bool map_zeros(uintptr_t, uintptr_t) noexcept { return false; }

// --- file.h -------------------------------------------------------------------------------------------------------

namespace {

FileStatus status_from(const struct _stat64& status) noexcept {
  const int kind = status.st_mode & _S_IFMT;
  return {.kind = kind == _S_IFREG   ? FileKind::regular
                  : kind == _S_IFDIR ? FileKind::folder
                                     : FileKind::other,
          .nbytes = status.st_size};
}

unsigned count_of(std::size_t bytes) noexcept { return static_cast<unsigned>(std::min<std::size_t>(bytes, INT_MAX)); }

}  // namespace

std::optional<FileStatus> status_of(const std::string& path) noexcept {
  struct _stat64 status = {};
  if (_wstat64(wide(path).c_str(), &status) != 0) return std::nullopt;
  return status_from(status);
}
std::optional<FileStatus> status_of(int descriptor) noexcept {
  struct _stat64 status = {};
  if (_fstat64(descriptor, &status) != 0) return std::nullopt;
  return status_from(status);
}

int open_to_read(const std::string& path) noexcept {
  return _wopen(wide(path).c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}
int open_to_write(const std::string& path) noexcept {
  return _wopen(wide(path).c_str(), _O_WRONLY | _O_BINARY | _O_NOINHERIT);
}
/// Rights come from the folder.
int create_file(const std::string& path, bool) noexcept {
  return _wopen(wide(path).c_str(), _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}
int duplicate(int descriptor) noexcept {
  const int made = _dup(descriptor);
  if (made >= 0) _setmode(made, _O_BINARY);
  return made;
}
bool close_file(int descriptor) noexcept { return _close(descriptor) == 0; }

int64_t read_some(int descriptor, void* bytes, std::size_t count) noexcept {
  return _read(descriptor, bytes, count_of(count));
}
int64_t write_some(int descriptor, const void* bytes, std::size_t count) noexcept {
  return _write(descriptor, bytes, count_of(count));
}
/// Reading and writing wait themselves.
void wait_to_read(int, int milliseconds) noexcept { Sleep(static_cast<DWORD>(milliseconds)); }
void wait_to_write(int, int milliseconds) noexcept { Sleep(static_cast<DWORD>(milliseconds)); }

bool reserve(int descriptor, int64_t nbytes) noexcept {
  errno = _chsize_s(descriptor, nbytes);
  return errno == 0;
}
bool may_write(const std::string& path) noexcept {
  constexpr int kWrite = 2;
  return _waccess(wide(path).c_str(), kWrite) == 0;
}
bool take_over(const FileStatus&, int) noexcept { return true; }
bool replace_file(const std::string& from, const std::string& to) noexcept {
  if (MoveFileExW(wide(from).c_str(), wide(to).c_str(), MOVEFILE_REPLACE_EXISTING)) return true;
  note_error();
  return false;
}
void remove_file(const char* path) noexcept {
  constexpr int kLongest = 32768;  // in UTF-16, with the NUL
  wchar_t name[kLongest];
  if (MultiByteToWideChar(CP_UTF8, 0, path, -1, name, kLongest) > 0) _wunlink(name);
}

bool is_opaque_link(const std::string&) noexcept { return false; }
uint64_t random_bits() noexcept {
  unsigned high = 0, low = 0;
  rand_s(&high);
  rand_s(&low);
  return uint64_t{high} << 32 | low;
}

// --- threads.h ----------------------------------------------------------------------------------------------------

int current_core() noexcept { return static_cast<int>(GetCurrentProcessorNumber()); }
/// Windows itself moves a thread that has been woken to an idle core.
void leave_core(int) noexcept {}
void yield_core() noexcept { SwitchToThread(); }
int64_t coarse_milliseconds() noexcept { return static_cast<int64_t>(GetTickCount64()); }

BlockedSignals::BlockedSignals() noexcept = default;
BlockedSignals::~BlockedSignals() = default;

ThreadExit::ThreadExit(void (*close)(void*)) noexcept
    : key_(FlsAlloc(close)), is_made_(static_cast<DWORD>(key_) != FLS_OUT_OF_INDEXES) {}
bool ThreadExit::set(void* value) const noexcept {
  return is_made_ && FlsSetValue(static_cast<DWORD>(key_), value) != 0;
}

void at_fork(void (*)(), void (*)(), void (*)()) noexcept {}

// --- processor.h --------------------------------------------------------------------------------------------------

int64_t last_cache_bytes() noexcept try {
  DWORD nbytes = 0;
  GetLogicalProcessorInformationEx(RelationCache, nullptr, &nbytes);
  std::string memory(nbytes, '\0');
  const auto entry_at = [&](std::size_t place) {
    return reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(memory.data() + place);
  };
  if (nbytes == 0 || !GetLogicalProcessorInformationEx(RelationCache, entry_at(0), &nbytes)) return 0;
  int64_t found = 0;
  int level = 1;  // that of each core's first cache does not count
  for (std::size_t place = 0; place < nbytes; place += entry_at(place)->Size) {
    const CACHE_RELATIONSHIP& cache = entry_at(place)->Cache;
    if (cache.Level <= level) continue;
    level = cache.Level;
    found = cache.CacheSize;
  }
  return found;
} catch (const std::bad_alloc&) {
  return 0;
}
/// The kernels for them are not compiled: GCC's intrinsics need a long of 64 bits.
bool permit_matrix_registers() noexcept { return false; }

// --- functions.h --------------------------------------------------------------------------------------------------

// No sign is written.
float log_gamma(float x) noexcept { return std::lgamma(x); }
double log_gamma(double x) noexcept { return std::lgamma(x); }

// --- library.h ----------------------------------------------------------------------------------------------------

const char* const kLibrarySuffix = ".dll";

std::string folder_of_code(const void* code) {
  HMODULE library = nullptr;
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (!GetModuleHandleExW(kFlags, static_cast<const wchar_t*>(code), &library)) return {};
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(library, path.data(), static_cast<DWORD>(path.size())));
  const std::string text = narrow(path.c_str());
  return text.substr(0, text.find_last_of("\\/") + 1);
}
void* open_library(const std::string& path) noexcept { return LoadLibraryW(wide(path).c_str()); }
void* find_symbol(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

// --- program.h ----------------------------------------------------------------------------------------------------

std::vector<std::string> arguments(int, char**) {
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> result;
  for (int i = 1; i < count; ++i) result.push_back(narrow(words[i]));
  LocalFree(words);
  return result;
}

void prepare_standard_streams() noexcept {
  for (int number = 0; number < 3; ++number) {
    if (_get_osfhandle(number) == -1) _wopen(L"NUL", number == 0 ? _O_WRONLY : _O_RDONLY);
    _setmode(number, _O_BINARY);
  }
  SetConsoleOutputCP(CP_UTF8);
}
bool is_terminal(int stream) noexcept {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(stream), &mode) &&
         (stream == 0 || SetConsoleMode(handle_of(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING));
}

namespace {

void (*stop_handler)(int) = nullptr;

BOOL WINAPI on_console_event(DWORD event) {
  stop_handler(event == CTRL_C_EVENT ? SIGINT : SIGTERM);
  return TRUE;
}

}  // namespace

void watch_stop(void (*on_stop)(int)) noexcept {
  stop_handler = on_stop;
  SetConsoleCtrlHandler(on_console_event, TRUE);
}
void end_now(int code) noexcept { _exit(code); }

}  // namespace tenon::system
