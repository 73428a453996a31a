#include "runner/hosts/slurm_settings.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/text.h"

namespace bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SlurmSettings, partition, account, reservation, time_limit,
                                   exclusive, wait_s, allocation_args, gres, mpi, container_image,
                                   container_mounts, args)

namespace {

/// Options that benchctl sets itself, or that would break the pipes to the ranks.
constexpr std::string_view kOurs =
    "account array bcast chdir container-image container-mounts cpu-bind distribution error "
    "exclusive export export-file gres help immediate input job-name jobid kill-on-bad-exit label "
    "mpi multi-prog no-kill no-shell nodefile nodelist nodes ntasks ntasks-per-node output "
    "overcommit overlap parsable partition pty reservation test-only time unbuffered usage version "
    "wait wrap";
/// The beginning of one of ours, and an option of Slurm itself.
constexpr std::string_view kNotAbbreviated = "container";

/// Slurm's getopt_long() takes any unambiguous beginning of a name: --ntas is --ntasks.
bool is_ours(const std::string& name) {
  return name != kNotAbbreviated &&
         std::ranges::any_of(words_of(kOurs),
                             [&](std::string_view ours) { return ours.starts_with(name); });
}

void refuse_ours(const Json& args, const std::string& where) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& word = args[i].get_ref<const std::string&>();
    const std::string name = word.substr(2, word.find('=') - 2);
    if (is_ours(name))
      throw Error(ErrorKind::input,
                  where + "/" + std::to_string(i) + ": --" + name +
                      " is set by benchctl, or abbreviates an option that is",
                  "use the matching setting in \"slurm\", the host list or the suite");
  }
}

}  // namespace

SlurmSettings slurm_settings_from_json(const Json& checked, const std::string& where) {
  for (const char* list : {"args", "allocation_args"})
    refuse_ours(checked.at(list), where + "/" + list);
  return checked.get<SlurmSettings>();
}

Json to_json(const SlurmSettings& settings) { return settings; }

}  // namespace bench
