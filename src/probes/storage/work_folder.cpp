#include "probes/storage/work_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/json.h"
#include "core/private_folder.h"
#include "core/system_files.h"
#include "core/text.h"
#include "core/time.h"

namespace bench::storage {

std::string this_host() { return host_name(); }

int ranks_on_this_host(Group& group) {
  const std::string own = this_host();
  const auto all = group.gather(own);
  const Json hosts = parse_json(broadcast_text(group, dump(all)), "the hosts of the ranks");
  return static_cast<int>(std::ranges::count(hosts, Json(own)));
}

WorkFolder::WorkFolder(const std::filesystem::path& base, const std::string& name)
    : path_(base / name) {
  std::error_code failure;
  std::filesystem::create_directories(base, failure);
  if (failure)
    throw Error(ErrorKind::environment,
                "create the folder " + path_.string() + ": " + failure.message(),
                "set 'path' to a writable folder");
  make_own_folder(path_);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string job_token(Group& group) { return broadcast_text(group, std::to_string(now_ns())); }

std::string no_space(const std::filesystem::path& base, const FileSystemFacts& facts, double needed,
                     const std::string& what) {
  const auto free_bytes = static_cast<double>(facts.free_bytes);
  if (free_bytes >= needed) return "";
  return fmt::format("{} has {} free, {} need {}", base.string(), format(Bytes{free_bytes}), what,
                     format(Bytes{needed}));
}

std::filesystem::path folder_or_default(const std::string& given) {
  if (!given.empty()) return given;
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/var/tmp";
}

}  // namespace bench::storage
