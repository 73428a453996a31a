// Slurm settings: "slurm" in a hosts file (schemas/hosts.json).
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

struct SlurmSettings {
  // For allocations made by benchctl; "" for Slurm's default.
  std::string partition;
  std::string account;
  std::string reservation;
  std::string time_limit;  // in Slurm's format: "30", "2:00:00", "1-12"
  bool exclusive = true;
  int wait_s = 300;                          // for the allocation
  std::vector<std::string> allocation_args;  // further arguments of salloc
  // For every step.
  std::string gres;  // also for the allocation
  std::string mpi = "pmix";
  std::string container_image;  // pyxis
  std::vector<std::string> container_mounts;
  std::vector<std::string> args;  // further arguments of srun
  bool operator==(const SlurmSettings&) const = default;
};

/// `checked`: validated by the schema, with defaults filled in. Throws Error(input), prefixed with
/// `where`, for an option in args that benchctl sets itself.
SlurmSettings slurm_settings_from_json(const Json& checked, const std::string& where);
Json to_json(const SlurmSettings& settings);

}  // namespace bench
