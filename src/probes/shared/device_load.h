// Loads whose result can be checked at any time: burn repeats them for minutes, concurrency runs
// them on several ranks at once.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/dtype.h"
#include "devices/gemm.h"
#include "probes/state.h"

namespace bench {

/// The functions own what they use.
struct DeviceLoad {
  std::string metric;   // "gemm_rate", "memory_rate", "copy_rate"
  double amount = 0.0;  // operations or bytes of one call
  Work work;
  std::function<Check()> verify;
  std::function<Check()> quick_check = {};  // between two samples; empty: too slow for that
  std::function<std::optional<Hertz>()> clock = {};  // empty: the device's own
};

/// A load, or why this device does not support it.
struct LoadOffer {
  std::optional<DeviceLoad> load;
  std::string reason;
};

/// GEMMs whose result must equal the first one, which is verified, bit for bit.
LoadOffer gemm_load(State& state, Dtype dtype, const GemmShape& shape, int threads);

/// "gemm", "memory" (a triad) or "copy" (to the device and back at once), with the job's parameters
/// dtype, shape, size_bytes and threads.
LoadOffer named_load(State& state, const std::string& name);

}  // namespace bench
