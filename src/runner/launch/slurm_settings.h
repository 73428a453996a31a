// What a site says about running under Slurm: "slurm" in a hosts file (schemas/hosts.json).
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

struct SlurmSettings {
  // Of the allocation that benchctl makes; "" leaves each to Slurm.
  std::string partition;
  std::string account;
  std::string reservation;
  std::string time_limit;  // as Slurm writes it: "30", "2:00:00", "1-12"
  bool exclusive = true;
  int wait_s = 300;                          // for the allocation
  std::vector<std::string> allocation_args;  // further words of salloc
  // Of every step.
  std::string gres;  // of the allocation too
  std::string mpi = "pmix";
  std::string container_image;  // pyxis
  std::vector<std::string> container_mounts;
  std::vector<std::string> args;  // further words of srun
  bool operator==(const SlurmSettings&) const = default;
};

/// `checked`: by the schema, which fills in defaults. Throws Error(input), beginning with `where`,
/// for an option in args that benchctl sets itself.
SlurmSettings slurm_settings_from_json(const Json& checked, const std::string& where);
Json to_json(const SlurmSettings& settings);

}  // namespace bench
