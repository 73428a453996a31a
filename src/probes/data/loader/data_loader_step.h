// The steps of a loop: they sleep, or compute on the device.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/units.h"
#include "devices/copies.h"
#include "probes/state.h"

namespace bench::data {

/// Runs one step and returns when it is done.
using Step = std::function<void()>;

/// Sleeps for `length` with an absolute deadline, so that late wake-ups are measured but do not add
/// up. Does nothing for 0.
Step sleeping_step(Seconds length);

struct LoopStep {
  Seconds length = {};  // nominal; for GEMMs as measured before
  Step step = [] {};
  std::function<Check()> verify = {};  // empty: nothing to verify
  Uploads* uploads = nullptr;          // copies batches to the device; see LoopOptions
  bool overlapped = true;
};

/// A step, or why this device does not support it.
struct StepOffer {
  std::optional<LoopStep> step = {};
  std::string reason = {};
};

/// By the job's parameter `step`: "sleep", or "gemm": as many GEMMs of 512 x 512 in f32 as fill
/// `seconds`, on one core of a host or on a GPU.
StepOffer make_step(State& state, Seconds seconds);

}  // namespace bench::data
