#include "core/locations.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "core/error.h"

namespace bench {
namespace fs = std::filesystem;

fs::path program_path() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (failure)
    throw Error(ErrorKind::environment,
                "cannot find the path of this executable: " + failure.message(),
                "check that /proc is mounted");
  return self;
}

fs::path program_folder() { return program_path().parent_path(); }

fs::path data_root() {
  // Bundle of bin, share/benchctl of a prefix, or repository of build/bin.
  const fs::path program = program_folder();
  const std::array candidates = {program / "..", program / ".." / "share" / "benchctl",
                                 program / ".." / "..", program / ".." / ".." / ".."};
  for (const fs::path& candidate : candidates)
    if (is_trusted(candidate) && fs::exists(candidate / "schemas" / "record.json"))
      return fs::weakly_canonical(candidate);
  throw Error(ErrorKind::environment, "no schemas folder next to " + program.string(),
              "keep bin/ next to schemas/ and suites/, as in the source tree or the bundle");
}

fs::path schema_path(const std::string& name) { return data_root() / "schemas" / (name + ".json"); }

bool is_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
}

bool is_trusted(const fs::path& path) {
  struct stat file {
  }, program{};
  if (stat(path.c_str(), &file) != 0 || (file.st_mode & S_IWOTH) != 0) return false;
  const bool known = stat("/proc/self/exe", &program) == 0;
  return file.st_uid == 0 || file.st_uid == geteuid() || (known && file.st_uid == program.st_uid);
}

}  // namespace bench
