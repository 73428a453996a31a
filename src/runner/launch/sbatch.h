// A run as a batch job of Slurm: the words of sbatch, and the script. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/launch/slurm_settings.h"

namespace bench {

/// What an allocation is asked for, whether salloc or sbatch asks: --job-name, --nodes, --nodelist,
/// and those of the settings that are of an allocation.
std::vector<std::string> allocation_words(const std::vector<std::string>& hosts,
                                          const SlurmSettings& settings, const std::string& name);

/// `log`: takes what the script prints; "%" in it is doubled, for Slurm puts numbers in its place.
std::vector<std::string> sbatch_words(const std::vector<std::string>& hosts,
                                      const SlurmSettings& settings, const std::string& name,
                                      const std::string& log, const std::string& script);

/// A script that becomes this command; its words are quoted.
std::string batch_script(const std::vector<std::string>& command);

/// The job's number of what `sbatch --parsable` prints: "17", "17;cluster". Throws
/// Error(environment) where there is none.
std::string submitted_job(std::string_view text);

}  // namespace bench
