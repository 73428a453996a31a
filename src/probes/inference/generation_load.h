// A load on a batcher of this process: requests that come at random times whether or not earlier
// ones are answered, or as many as it can take; what came of them as from a server.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/units.h"
#include "inference/batcher.h"
#include "probes/serving/request_maker.h"
#include "probes/serving/serving_load.h"

namespace bench {

/// The time by which a load goes.
struct LoadClock {
  std::function<Seconds()> now;
  std::function<void(Seconds until)> wait;

  static LoadClock steady();
};

struct GenerationLoad {
  double rate = 0.0;  // requests per second; 0: there are always some waiting (MLPerf's offline)
  Seconds ramp = {};  // before the measured time, under the same load
  Seconds duration = {10.0};
  Seconds drain = {30.0};  // after it, under the same load, until all measured requests have ended
  serving::TokenRange prompt = {128, 128}, output = {64, 64};
  std::int64_t shared_prefix = 0;  // tokens with which all prompts begin
  std::int64_t vocabulary = 0;
  std::int64_t waiting = 16;  // of rate 0: requests that wait at least
  std::uint64_t seed = 1;
  serving::LatencyBounds bounds = {};
  Seconds slice = {0.5};
  /// Prompts whose answers are known: one request in twenty is one of them and counts in no
  /// latency.
  std::vector<inference::TextRequest> known = {};
  std::vector<std::vector<std::int32_t>> known_answers = {};
};

/// Request number 0, 1, ... of a load, of random tokens.
inference::TextRequest generated_request(const GenerationLoad& load, std::uint64_t number);

struct GenerationResult {
  serving::ServingResult served;
  inference::Batcher::Counts counts;  // of the measured time
};

/// The batcher is cleared in the end. With rate 0 nothing is due: only rates and time between
/// tokens are known.
GenerationResult run_load(inference::Batcher& batcher, const GenerationLoad& load,
                          const LoadClock& clock);

}  // namespace bench
