// Where the time and the memory of training steps go, operator by operator, on one rank. Of the
// sampled steps every other one is recorded, so that the run itself shows what recording costs. A
// typical step is the mean of the half of the recorded steps that are nearest to the median.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/units.h"
#include "training/engine/plan.h"
#include "training/engine/timeline.h"

namespace bench::training {

/// One action of the plan, in all micro-batches that a thread has in a step.
struct ProfiledOperation {
  std::string operation = {};  // the operator's name
  std::string module = {};  // the part of the model: the name of its parameters, less the last word
  Phase phase = Phase::forward;
  std::string shape = {};  // of the operator's output
  double flops = 0.0;      // of the GEMMs of one call
  double bytes = 0.0;      // of all tensors that one call reads or writes, each counted once
  int calls = 0;           // of a thread in a step
  double seconds = 0.0;    // of a typical step: mean over threads
  double low = 0.0;        // the lower quartile over the recorded steps: what is always lost
};

/// Seconds of a typical step that something other than an operation takes: mean over threads.
struct ProfiledActivity {
  std::string activity = {};
  double seconds = 0.0;
};

/// Time between two spans of one thread in which nothing is recorded.
struct ProfiledGap {
  std::string after = {}, before = {};
  double seconds = 0.0;  // of a typical step: mean over threads
  double longest = 0.0;  // a single one, in any recorded step
};

/// Buffers of one kind of tensor that are in use when a pass needs most memory.
struct ProfiledOwner {
  std::string owner = {};  // "attention", "gradient of linear"
  std::string label = {};  // of the plan
  int tensors = 0;
  std::int64_t bytes = 0;
};

struct ProfiledSpan {
  int step = 0;    // index of StepProfile::steps
  int thread = 0;  // -1: the rank's first thread, outside the work of the threads
  int row = 0;     // of StepProfile::operations; below 0: -1 - activity
  double begin = 0.0, seconds = 0.0;  // since the step began
};

struct StepProfile {
  struct Step {
    std::int64_t number = 0;
    double seconds = 0.0;
    bool recorded = false;
  };
  struct Resident {
    std::int64_t step = 0;
    std::int64_t bytes = 0;  // of the process, without files that it maps and this profile
  };

  int threads = 0;
  int micro_batches = 0;                           // of a thread in a step
  std::vector<Step> steps = {};                    // the sampled ones
  std::vector<ProfiledOperation> operations = {};  // by action of the plan
  std::vector<ProfiledActivity> activities = {};
  std::vector<ProfiledGap> gaps = {};  // the largest, largest first
  /// Of a typical step: the whole, what no span covers (gaps included), and how long threads that
  /// had work were without a processor. Operations, activities and `unattributed` add up to it.
  double step_seconds = 0.0, unattributed = 0.0, off_processor = 0.0;
  std::vector<std::int64_t> memory = {};   // of a thread's activations in use, by action
  std::vector<ProfiledOwner> owners = {};  // largest first
  std::vector<Resident> resident = {};     // after steps
  std::vector<ProfiledSpan> spans = {};    // of the typical and of the slowest recorded step
};

class StepProfiler {
 public:
  /// `plan` must outlive it; `micro_batches` of each of `threads`.
  StepProfiler(const Plan& plan, int threads, int micro_batches);

  /// Where to record the step that begins, or null if it is not to be recorded.
  StepTimelines* begin_step(std::int64_t number);
  /// The step has ended; it took from `begin` to `end`.
  void end_step(Seconds begin, Seconds end);

  StepProfile finish() const;

 private:
  using Rows = std::pair<std::size_t, std::size_t>;  // before and after
  struct Gap {
    double seconds = 0.0, longest = 0.0;
  };
  struct RecordedStep {
    std::int64_t number = 0;
    Seconds begin, end;
    double unattributed = 0.0, off_processor = 0.0;
    std::vector<float> rows = {};  // seconds, by action, then by activity
    std::map<Rows, Gap> gaps = {};
    StepTimelines timelines = {};  // the first spans of each thread

    Seconds seconds() const { return end - begin; }
  };

  bool is_sampled() const;
  std::size_t row_of(const TimelineSpan& span) const;
  void account(RecordedStep& step);
  void account_lane(const Timeline& lane, RecordedStep& step);
  void keep(RecordedStep step);
  void note_resident_memory();
  std::string words_of(std::size_t row) const;
  std::vector<std::size_t> typical_steps() const;
  double mean_of_row(std::size_t row, const std::vector<std::size_t>& steps) const;
  double low_of_row(std::size_t row) const;
  void add_times(StepProfile& profile) const;
  std::vector<ProfiledGap> largest_gaps() const;
  void add_memory(StepProfile& profile) const;
  void add_spans(StepProfile& profile) const;

  const Plan& plan_;
  int threads_;
  int micro_batches_;
  std::vector<std::string> modules_ = {};  // by node
  std::int64_t seen_ = 0;                  // steps
  std::int64_t number_ = 0;
  bool recording_ = false;
  StepTimelines now_ = {};
  std::vector<StepProfile::Step> steps_ = {};
  std::vector<RecordedStep> recorded_ = {};
  std::vector<std::size_t> with_timelines_ = {};  // of recorded_
  std::size_t slowest_ = 0;                       // of recorded_
  std::int64_t kept_bytes_ = 0;                   // of recorded_ and now_
  std::int64_t resident_every_ = 1;
  std::vector<StepProfile::Resident> resident_ = {};
};

}  // namespace bench::training
