// Where the time and the memory of a training's steps go, from the records of a job that was
// profiled (parameter `profile` of the probe training): operator by operator, what lies between,
// and what that says. Missing or corrupt fields have no value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "results/run/run_records.h"

namespace bench {

/// One operator of the model in one pass. Seconds are those of a typical step, mean over threads.
struct ProfileRow {
  std::string operation, module;
  std::string phase;  // "forward", "recompute", "backward"; "" for what is no operator
  std::string shape = {};
  double flops = kNoValue;  // of the GEMMs of one call
  double bytes = kNoValue;  // of one call: each tensor that it reads or writes, once
  double calls = kNoValue;  // of a thread in a step
  double seconds = kNoValue;
  double low = kNoValue;  // the lower quartile over the recorded steps
};

struct ProfileStep {
  double number = kNoValue;
  double seconds = kNoValue;
  bool recorded = false;
};

/// Between two things that a thread does.
struct ProfileGap {
  std::string after, before;
  double seconds = kNoValue;  // of a step
  double longest = kNoValue;
};

/// Tensors in memory when a pass needs most.
struct ProfileOwner {
  std::string owner, label;
  double tensors = kNoValue;
  double bytes = kNoValue;
};

struct ResidentMemory {
  double step = kNoValue;
  double bytes = kNoValue;
};

struct ProfileSpan {
  std::size_t step = 0;  // of StepProfile::steps
  int thread = 0;        // -1: the rank, outside the work of its threads
  std::string name, module, phase;
  double begin = kNoValue, seconds = kNoValue;  // since the step began
};

/// Recording a step against not recording it: its time relative to the others, minus 1.
struct ProfileOverhead {
  double share = kNoValue;
  double low = kNoValue, high = kNoValue;  // 95 % interval
};

/// Something that the profile shows.
struct ProfileFinding {
  std::string cause;  // of schemas/report_profile.json
  std::string text;
  double share = kNoValue;  // of the step; none for a leak
};

struct StepProfile {
  std::string run, job;
  std::string setup = {};  // "llm tiny f32"
  double threads = kNoValue;
  double step_seconds = kNoValue, unattributed = kNoValue, off_processor = kNoValue;
  double peak_flops = kNoValue;  // of the rank, a second
  std::string peak_source = {};
  std::vector<ProfileStep> steps = {};
  std::vector<ProfileRow> rows = {};        // operators, in the order of a step
  std::vector<ProfileRow> activities = {};  // everything else that takes time
  std::vector<ProfileGap> gaps = {};        // largest first
  std::vector<double> memory = {};          // of activations, by row
  std::vector<ProfileOwner> owners = {};    // largest first
  std::vector<ResidentMemory> resident = {};
  std::vector<ProfileSpan> spans = {};  // of one or two steps

  std::size_t recorded() const;
};

/// Of the jobs of a run that have one, in plan order.
std::vector<StepProfile> profiles_of(const RunRecords& run);

ProfileOverhead overhead_of(const StepProfile& profile);

/// Rows summed by operator and pass, then activities, then what is unattributed, largest first;
/// their seconds add up to step_seconds. Shape and module are empty, flops and bytes those of all
/// calls of a thread in a step.
std::vector<ProfileRow> by_operation(const StepProfile& profile);
/// Operators summed by module, in the order of the model.
std::vector<ProfileRow> by_module(const StepProfile& profile);
/// The operators that take most time, largest first; calls of equal work in one module together.
std::vector<ProfileRow> hottest(const StepProfile& profile, std::size_t most);

/// Growth of the process that goes on to the end of the run.
struct MemoryGrowth {
  double bytes = 0.0;
  double bytes_per_step = 0.0;
  double steps = 0.0;
};
/// From which a leak can be judged.
inline constexpr std::size_t kFewestReadings = 40;
/// A leak, or zeros: of these readings without the first quarter.
MemoryGrowth leak_of(const std::vector<ResidentMemory>& resident);

/// The largest share first, a leak last.
std::vector<ProfileFinding> findings_of(const StepProfile& profile);

}  // namespace bench
