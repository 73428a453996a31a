// Reinforcement learning with verifiable rewards (GRPO): a twin of MLPerf's qwen35_397b_grpo. The
// policy is an llm, pretrained on imperfect demonstrations of string programs
// (sources/programs.h); rewards then teach it what the demonstrations did not show. Quality is the
// gap to the success of the best policy, in the probability to answer rightly; a perfect imitation
// of the demonstrations is the baseline.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "training/models/llm.h"
#include "training/sources/programs.h"
#include "training/workloads/llm.h"
#include "training/workloads/rollouts.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// "tiny", "small", "standard".
std::vector<std::string> grpo_presets();

/// How a preset is trained. A sample is a prompt with its group of answers.
struct GrpoSetting {
  LlmShape shape = {};  // vocabulary and sequence are those of the programs
  ProgramOptions programs = {};
  RolloutOptions rollouts = {};
  double clip = 0.2;
  LlmTraining base = {};  // of the base, by imitation
  Recipe recipe = {};
  AdamwOptions adamw = {};
};
/// Throws Error(input) for an unknown preset, listing the known ones.
GrpoSetting grpo_setting(const std::string& preset);

/// The seed draws training prompts and answers; base and evaluation prompts are the same for all
/// seeds. Throws Error(input) for files and their options.
std::unique_ptr<Workload> make_grpo_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data = {});
std::unique_ptr<Workload> make_grpo_workload_from(const std::string& preset,
                                                  const GrpoSetting& setting, std::uint64_t seed,
                                                  const DataChoice& data = {});

/// Pretrains the base to its horizon: the recipe has no target.
std::unique_ptr<Workload> make_grpo_base_workload(const std::string& preset);
std::unique_ptr<Workload> make_grpo_base_workload_from(const std::string& preset,
                                                       const GrpoSetting& setting);

}  // namespace bench::training
