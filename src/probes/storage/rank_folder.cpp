#include "probes/storage/rank_folder.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace bench::storage {

std::string RankFolder::make(Group& group, const std::filesystem::path& base,
                             const std::string& probe, double bytes, const std::string& what) {
  const std::string token = job_token(group);
  const auto obstacle = [&]() -> std::string {
    try {
      folder.emplace(base, fmt::format("benchctl-{}-{}-rank-{}", probe, token, group.rank()));
      file_system = file_system_of(path());
      pitfalls = pitfalls_of(file_system, stores_zeros_in_no_space(path()));
      return no_space(
          base, file_system, bytes * group.size() * kSpareRoom,
          fmt::format("{} of {} on {} ranks", what, format(Bytes{bytes}), group.size()));
    } catch (const Error& error) {
      return error.text();
    }
  };
  return agreed(group, obstacle());
}

}  // namespace bench::storage
