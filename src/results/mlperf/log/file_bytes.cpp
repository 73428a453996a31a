#include "results/mlperf/log/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kPagedInAtOnce = std::size_t{64} << 20;

FileBytes owned(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, owner};
}

FileBytes mapped(const Descriptor& file, std::size_t size, const std::string& name) {
  const int paging = size <= kPagedInAtOnce ? MAP_POPULATE : 0;
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | paging, file.get(), 0);
  if (memory == MAP_FAILED) throw_errno("map " + name + " into memory");
  return {{static_cast<const char*>(memory), size},
          std::shared_ptr<const void>(
              memory, [size](const void* what) { ::munmap(const_cast<void*>(what), size); })};
}

FileBytes read_to_end(const Descriptor& file, const std::string& name) {
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got == 0) return owned(std::move(text));
    if (got > 0)
      text.append(block, 0, static_cast<std::size_t>(got));
    else if (errno != EINTR)
      throw_errno("read " + name);
  }
}

}  // namespace

FileBytes bytes_of_file(const std::filesystem::path& path) {
  const std::string name = printable(path.string());
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) throw_errno("open " + name);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("stat " + name);
  if (S_ISDIR(status.st_mode))
    throw Error(ErrorKind::input, name + " is a folder, not a log", "pass a file in it");
  const bool has_size = S_ISREG(status.st_mode) && status.st_size > 0;  // sizes in /proc are 0
  return has_size ? mapped(file, static_cast<std::size_t>(status.st_size), name)
                  : read_to_end(file, name);
}

FileBytes bytes_of_text(std::string_view text) { return owned(std::string(text)); }

}  // namespace bench::mlperf
