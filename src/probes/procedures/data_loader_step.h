// What a loop does with a batch: sleeps, or computes on the device.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "probes/data/loader/steps.h"
#include "probes/device/copies.h"
#include "probes/state.h"

namespace bench {

struct LoopStep {
  Seconds length = {};  // as it should be; of products, as they took before
  data::Step step = [] {};
  std::function<Check()> verify = {};  // empty: there is nothing to verify
  Uploads* uploads = nullptr;          // takes batches to the device; see data::LoopOptions
  bool overlapped = true;
};

/// A step, or why this device cannot have it.
struct StepOffer {
  std::optional<LoopStep> step = {};
  std::string reason = {};
};

/// By the job's parameter `step`: "sleep", or "gemm": as many products of 512 x 512 in f32 as fill
/// `seconds`, on one core of a host or on a GPU.
StepOffer make_step(State& state, Seconds seconds);

}  // namespace bench
