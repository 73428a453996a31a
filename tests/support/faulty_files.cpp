// Preloaded into a program, counts its file operations, logs them, and lets one fail. Environment:
//   FAULTY_FILES_PROGRAM  only in the program of this name; others run as they are
//   FAULTY_FILES_LOG      append a line of JSON per operation to this file
//   FAULTY_FILES_AT       the number of the operation that fails; 1 is the first
//   FAULTY_FILES_ERRNO    with this number
//   FAULTY_FILES_LATER    if set, all later operations of the same name fail too, as on a full disk
// Forked children are left alone. Operations on stderr do not count: errors are reported there.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kHighDescriptor = 700;  // out of the way of the program's own

struct Setup {
  pid_t program = 0;  // 0: inactive
  long at = 0;
  int error = 0;
  bool later = false;
  int log = -1;
};

Setup g_setup;
std::atomic<long> g_count{0};
std::atomic<bool> g_failed{false};
char g_failed_name[32] = "";

const char* text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

int opened_high(const char* path) {
  const long low = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (low < 0) return -1;
  const long high = syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, kHighDescriptor);
  syscall(SYS_close, low);
  return static_cast<int>(high);
}

__attribute__((constructor)) void begin() {
  if (std::strcmp(text_of("FAULTY_FILES_PROGRAM"), program_invocation_short_name) != 0) return;
  g_setup.at = std::atol(text_of("FAULTY_FILES_AT"));
  g_setup.error = std::atoi(text_of("FAULTY_FILES_ERRNO"));
  g_setup.later = *text_of("FAULTY_FILES_LATER") != '\0';
  if (*text_of("FAULTY_FILES_LOG") != '\0') g_setup.log = opened_high(text_of("FAULTY_FILES_LOG"));
  g_setup.program = static_cast<pid_t>(syscall(SYS_getpid));
}

std::string quoted(const char* text) {
  std::string json = "\"";
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') json += '\\';
    if (static_cast<unsigned char>(*text) >= ' ') json += *text;
  }
  return json + "\"";
}

std::string path_of(int file) {
  char path[4096] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), path, sizeof path - 1);
  return path;
}

std::string hexadecimal(const void* bytes, std::size_t size) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
    text.append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
  }
  return text;
}

struct Operation {
  const char* name;
  const char* path = "";
  int file = -1;
  std::string more = {};  // further members of the log's object
};

/// Counts and logs an operation; true with errno set if it has to fail.
bool fails(const Operation& operation) {
  if (g_setup.program == 0 || g_setup.program != static_cast<pid_t>(syscall(SYS_getpid)))
    return false;
  if (operation.file == STDERR_FILENO) return false;
  const int before = errno;
  const long number = ++g_count;
  if (g_setup.log >= 0) {
    const std::string path = operation.file >= 0 ? path_of(operation.file) : operation.path;
    const std::string line = "{\"n\": " + std::to_string(number) + ", \"op\": \"" + operation.name +
                             "\", \"path\": " + quoted(path.c_str()) + operation.more + "}\n";
    syscall(SYS_write, g_setup.log, line.data(), line.size());
  }
  const bool again = g_setup.later && g_failed && std::strcmp(g_failed_name, operation.name) == 0;
  if (number == g_setup.at) {
    std::snprintf(g_failed_name, sizeof g_failed_name, "%s", operation.name);
    g_failed = true;
  }
  errno = number == g_setup.at || again ? g_setup.error : before;
  return number == g_setup.at || again;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string flags_member(int flags) { return ", \"flags\": " + std::to_string(flags); }

std::string data_member(const void* bytes, std::size_t size) {
  return g_setup.log < 0 ? "" : ", \"data\": \"" + hexadecimal(bytes, size) + "\"";
}

std::string target_member(const char* path) {
  return g_setup.log < 0 ? "" : ", \"to\": " + quoted(path);
}

bool open_fails(const char* path, int flags) {
  return fails({.name = "open", .path = path, .more = flags_member(flags)});
}

mode_t mode_from(int flags, va_list list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}

int open_at(int folder, const char* path, int flags, mode_t mode) {
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

}  // namespace

#define FAULTY_OPEN(name)                                                       \
  int name(const char* path, int flags, ...) {                                  \
    va_list list;                                                               \
    va_start(list, flags);                                                      \
    const mode_t mode = mode_from(flags, list);                                 \
    va_end(list);                                                               \
    return open_fails(path, flags) ? -1 : open_at(AT_FDCWD, path, flags, mode); \
  }
#define FAULTY_OPENAT(name)                                                   \
  int name(int folder, const char* path, int flags, ...) {                    \
    va_list list;                                                             \
    va_start(list, flags);                                                    \
    const mode_t mode = mode_from(flags, list);                               \
    va_end(list);                                                             \
    return open_fails(path, flags) ? -1 : open_at(folder, path, flags, mode); \
  }

extern "C" {

FAULTY_OPEN(open)
FAULTY_OPEN(open64)
FAULTY_OPENAT(openat)
FAULTY_OPENAT(openat64)
int __open_2(const char* path, int flags) {
  return open_fails(path, flags) ? -1 : open_at(AT_FDCWD, path, flags, 0);
}
int __open64_2(const char* path, int flags) { return __open_2(path, flags); }

int mkostemp(char* path, int flags) {
  if (open_fails(path, flags | O_CREAT | O_EXCL)) return -1;
  return real<int(char*, int)>("mkostemp")(path, flags);
}
int mkostemp64(char* path, int flags) { return mkostemp(path, flags); }

ssize_t read(int file, void* bytes, size_t size) {
  return fails({.name = "read", .file = file}) ? -1 : syscall(SYS_read, file, bytes, size);
}
ssize_t __read_chk(int file, void* bytes, size_t size, size_t) { return read(file, bytes, size); }
ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  return fails({.name = "read", .file = file}) ? -1 : syscall(SYS_pread64, file, bytes, size, at);
}
ssize_t pread64(int file, void* bytes, size_t size, off64_t at) {
  return pread(file, bytes, size, at);
}
ssize_t __pread_chk(int file, void* bytes, size_t size, off_t at, size_t) {
  return pread(file, bytes, size, at);
}
ssize_t __pread64_chk(int file, void* bytes, size_t size, off64_t at, size_t) {
  return pread(file, bytes, size, at);
}

ssize_t write(int file, const void* bytes, size_t size) {
  if (fails({.name = "write", .file = file, .more = data_member(bytes, size)})) return -1;
  return syscall(SYS_write, file, bytes, size);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  if (fails({.name = "write", .file = file})) return -1;
  return syscall(SYS_pwrite64, file, bytes, size, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  return pwrite(file, bytes, size, at);
}
ssize_t writev(int file, const iovec* parts, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  if (fails({.name = "write", .file = file, .more = data_member(bytes.data(), bytes.size())}))
    return -1;
  return syscall(SYS_writev, file, parts, count);
}

int fsync(int file) {
  return fails({.name = "fsync", .file = file}) ? -1 : static_cast<int>(syscall(SYS_fsync, file));
}
int fdatasync(int file) {
  return fails({.name = "fsync", .file = file}) ? -1
                                                : static_cast<int>(syscall(SYS_fdatasync, file));
}
int ftruncate(int file, off_t size) {
  const std::string more = ", \"size\": " + std::to_string(size);
  if (fails({.name = "ftruncate", .file = file, .more = more})) return -1;
  return static_cast<int>(syscall(SYS_ftruncate, file, size));
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int rename(const char* from, const char* to) noexcept {
  if (fails({.name = "rename", .path = from, .more = target_member(to)})) return -1;
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int mkdir(const char* path, mode_t mode) noexcept {
  if (fails({.name = "mkdir", .path = path})) return -1;
  return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
char* mkdtemp(char* path) noexcept {
  if (fails({.name = "mkdir", .path = path})) return nullptr;
  return real<char*(char*)>("mkdtemp")(path);
}
int unlink(const char* path) noexcept {
  if (fails({.name = "unlink", .path = path})) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (fails({.name = "mmap", .file = file})) return MAP_FAILED;
  return real<void*(void*, size_t, int, int, int, off_t)>("mmap")(at, size, protection, flags, file,
                                                                  offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  return mmap(at, size, protection, flags, file, offset);
}

pid_t fork() noexcept { return fails({.name = "fork"}) ? -1 : real<pid_t()>("fork")(); }
// A wrapper cannot return from a vfork's child; a copy does the same more slowly.
pid_t vfork() noexcept { return fork(); }

int pipe2(int* ends, int flags) noexcept {
  return fails({.name = "pipe"}) ? -1 : static_cast<int>(syscall(SYS_pipe2, ends, flags));
}
int pipe(int* ends) noexcept { return pipe2(ends, 0); }

}  // extern "C"
