// What a loop does with a batch: sleeps, or computes on the device.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/units.h"
#include "devices/copies.h"
#include "probes/state.h"

namespace bench::data {

// What an accelerator does with a batch, or what stands for it.

/// Does one step's work; when it returns, the step is done.
using Step = std::function<void()>;

/// Sleeps until so long after it was called, by an absolute time: what the kernel sleeps too long
/// in one step is told, and does not add up. No step at all for 0.
Step sleeping_step(Seconds length);

}  // namespace bench::data

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
