#include "core/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "core/descriptor.h"
#include "core/error.h"

namespace bench {

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code ignored;  // if the folder cannot be made, opening the file reports it
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out) throw_errno("write " + path.string(), "choose another path");
}

void replace_file(const std::filesystem::path& path, const std::string& text, mode_t mode) {
  // Not the extension of the file: node_exporter reads every *.prom in its folder.
  std::string temporary = path.string() + ".XXXXXX";
  const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) throw_errno("create a temporary file next to " + path.string());
  if (write_all(file.get(), text) && fchmod(file.get(), mode) == 0 && fsync(file.get()) == 0 &&
      std::rename(temporary.c_str(), path.c_str()) == 0)
    return;
  const int reason = errno;
  unlink(temporary.c_str());
  errno = reason;
  throw_errno("write " + path.string());
}

}  // namespace bench
