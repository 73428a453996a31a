// A run as a Slurm batch job: the sbatch command and the script. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/hosts/slurm_settings.h"

namespace bench {

/// Allocation options for salloc and sbatch: --job-name, --nodes, --nodelist, and those in the
/// settings.
std::vector<std::string> allocation_options(const std::vector<std::string>& hosts,
                                            const SlurmSettings& settings, const std::string& name);

/// `log`: receives the script's output; "%" is doubled, because Slurm expands it.
std::vector<std::string> sbatch_command(const std::vector<std::string>& hosts,
                                        const SlurmSettings& settings, const std::string& name,
                                        const std::string& log, const std::string& script);

/// A script that execs this command, with quoted arguments.
std::string batch_script(const std::vector<std::string>& command);

/// Parses the job ID from `sbatch --parsable` output: "17", "17;cluster". Throws
/// Error(environment).
std::string submitted_job(std::string_view text);

}  // namespace bench
