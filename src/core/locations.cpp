#include "core/locations.h"

#include <array>

#include "core/error.h"

namespace bench {
namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (failure)
    throw Error(ErrorKind::environment,
                "cannot find the path of this executable: " + failure.message(),
                "check that /proc is mounted");
  return self.parent_path();
}

fs::path data_root() {
  // Repository of build/bin, bundle of bin, or share/benchctl of a prefix.
  const fs::path program = program_folder();
  const std::array candidates = {program / "..", program / ".." / "..",
                                 program / ".." / "share" / "benchctl",
                                 program / ".." / ".." / ".."};
  for (const fs::path& candidate : candidates)
    if (fs::exists(candidate / "schemas" / "record.json")) return fs::weakly_canonical(candidate);
  throw Error(ErrorKind::environment, "no schemas folder next to " + program.string(),
              "keep bin/ next to schemas/ and suites/, as in the source tree or the bundle");
}

fs::path schema_path(const std::string& name) { return data_root() / "schemas" / (name + ".json"); }

}  // namespace bench
