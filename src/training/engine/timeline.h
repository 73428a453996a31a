// What one thread of a rank did in a step, for a profile: operations of the plan and what comes
// between them. Recording costs two readings of the clock per operation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "devices/host_clock.h"

namespace bench::training {

enum class Activity : std::uint8_t {
  operation,     // an action of the plan
  data,          // writing the inputs of a micro-batch
  transfer,      // of inputs to a device
  losses,        // adding up the losses of a micro-batch
  tables,        // rows, gradients and updates of embedding tables
  messages,      // to and from other stages of a pipeline
  lane_sum,      // summing the gradients of the threads
  lane_wait,     // for other threads
  rank_wait,     // for other ranks, and agreeing with them on the loss
  exchange,      // of gradients and parameters with other ranks
  norm,          // of the gradient
  update,        // of the parameters
  offload_wait,  // of updates, for optimizer state in a file
  rollouts       // generating answers to train on
};
constexpr std::size_t kActivities = 14;
std::string_view to_string(Activity activity);

struct TimelineSpan {
  Activity activity = Activity::operation;
  int action = -1;  // of the plan, for an operation
  Seconds begin, end;

  Seconds length() const { return end - begin; }
};

/// The spans of one thread, in order and without overlap.
class Timeline {
 public:
  void clear() {
    spans_.clear();
    running_ = {};
  }
  void add(Activity activity, Seconds begin, Seconds end, int action = -1) {
    spans_.push_back({activity, action, begin, end});
  }
  const std::vector<TimelineSpan>& spans() const { return spans_; }
  /// For how long, and how much of it on a processor, the thread worked on its micro-batches.
  struct Running {
    Seconds wall, processor;
  };
  const Running& running() const { return running_; }
  void add_running(Seconds wall, Seconds processor) {
    running_.wall += wall;
    running_.processor += processor;
  }

 private:
  std::vector<TimelineSpan> spans_ = {};
  Running running_ = {};
};

/// A span from here to the end of the scope, if there is a timeline.
class TimelineScope {
 public:
  TimelineScope(Timeline* timeline, Activity activity)
      : timeline_(timeline), activity_(activity), begin_(timeline ? steady_now() : Seconds{}) {}
  ~TimelineScope() {
    if (timeline_ != nullptr) timeline_->add(activity_, begin_, steady_now());
  }
  TimelineScope(const TimelineScope&) = delete;
  TimelineScope& operator=(const TimelineScope&) = delete;

 private:
  Timeline* timeline_;
  Activity activity_;
  Seconds begin_;
};

/// Of one step: of the threads that compute, and of the rank's first thread outside their work.
struct StepTimelines {
  std::vector<Timeline> lanes = {};
  Timeline rank = {};

  void clear() {
    for (Timeline& lane : lanes) lane.clear();
    rank.clear();
  }
};

}  // namespace bench::training
