#include "runner/hosts/slurm_settings.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace bench {
namespace {

/// Options that benchctl sets itself, or that would break the pipes to the ranks.
constexpr std::array kOurs = {"account",
                              "bcast",
                              "chdir",
                              "cpu-bind",
                              "container-image",
                              "distribution",
                              "error",
                              "exclusive",
                              "export",
                              "export-file",
                              "gres",
                              "help",
                              "immediate",
                              "input",
                              "jobid",
                              "job-name",
                              "label",
                              "mpi",
                              "multi-prog",
                              "container-mounts",
                              "kill-on-bad-exit",
                              "no-kill",
                              "no-shell",
                              "nodelist",
                              "nodes",
                              "ntasks",
                              "ntasks-per-node",
                              "output",
                              "overcommit",
                              "overlap",
                              "partition",
                              "pty",
                              "reservation",
                              "test-only",
                              "time",
                              "unbuffered",
                              "usage",
                              "version",
                              "wait"};

void refuse_ours(const Json& args, const std::string& where) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto& word = args[i].get_ref<const std::string&>();
    const std::string name = word.substr(2, word.find('=') - 2);
    if (std::ranges::find(kOurs, name) != kOurs.end())
      throw Error(ErrorKind::input,
                  where + "/" + std::to_string(i) + ": --" + name + " is set by benchctl",
                  "use the matching setting in \"slurm\", the host list or the suite");
  }
}

}  // namespace

SlurmSettings slurm_settings_from_json(const Json& checked, const std::string& where) {
  for (const char* list : {"args", "allocation_args"})
    refuse_ours(checked.at(list), where + "/" + list);
  SlurmSettings settings;
  settings.partition = checked.at("partition");
  settings.account = checked.at("account");
  settings.reservation = checked.at("reservation");
  settings.time_limit = checked.at("time_limit");
  settings.exclusive = checked.at("exclusive");
  settings.wait_s = checked.at("wait_s");
  settings.allocation_args = checked.at("allocation_args").get<std::vector<std::string>>();
  settings.gres = checked.at("gres");
  settings.mpi = checked.at("mpi");
  settings.container_image = checked.at("container_image");
  settings.container_mounts = checked.at("container_mounts").get<std::vector<std::string>>();
  settings.args = checked.at("args").get<std::vector<std::string>>();
  return settings;
}

Json to_json(const SlurmSettings& settings) {
  return {{"partition", settings.partition},
          {"account", settings.account},
          {"reservation", settings.reservation},
          {"time_limit", settings.time_limit},
          {"exclusive", settings.exclusive},
          {"wait_s", settings.wait_s},
          {"allocation_args", settings.allocation_args},
          {"gres", settings.gres},
          {"mpi", settings.mpi},
          {"container_image", settings.container_image},
          {"container_mounts", settings.container_mounts},
          {"args", settings.args}};
}

}  // namespace bench
