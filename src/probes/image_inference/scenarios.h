// MLPerf Inference's scenarios: when the queries of a load are made, and how long each one takes.
// Every query is of samples that lie ready in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/units.h"
#include "training/engine/worker_pool.h"

namespace bench {

/// What is asked; called by several threads at once, each with its own number.
struct ImageCalls {
  std::function<void(int thread, std::int64_t sample)> answer;  // timed
  std::function<void(int thread, std::int64_t sample)> check;   // of its answer, not timed
};

struct ScenarioLimits {
  Seconds time = {10.0};     // at least
  Seconds longest = {60.0};  // no query is made after it, whatever is missing
  std::int64_t samples = 1;  // are asked for in random order
  std::uint64_t seed = 1;
};

struct ScenarioResult {
  std::vector<double> latencies = {};  // s, in the order in which the queries were made
  // Of server: queries that waited longer than the bound in the end, and whether kServerShare of
  // all keep it; nothing if too few say so.
  std::int64_t unanswered = 0;
  std::optional<bool> kept = {};
};

/// One query of one sample after another, until there are `queries`.
ScenarioResult single_stream(const ImageCalls& calls, const ScenarioLimits& limits,
                             std::int64_t queries);

/// One query of kStreams samples after another, each answered by all threads together; of each
/// query and thread the last answer is checked.
ScenarioResult multi_stream(const ImageCalls& calls, const ScenarioLimits& limits,
                            std::int64_t queries, training::WorkerPool& threads);
inline constexpr std::int64_t kStreams = 8;

/// Queries of one sample that come at random times (a Poisson process), whether or not earlier ones
/// are answered: the first free thread takes the first one that waits. Latency counts from the time
/// when a query was due. Ends once MLPerf's early-stopping rule says whether kServerShare of the
/// queries keep `bound`. The rule is asked after the time, and whenever there are half as many
/// queries more: each time is a chance to err.
ScenarioResult server(const ImageCalls& calls, const ScenarioLimits& limits, double rate,
                      Seconds bound, training::WorkerPool& threads);
inline constexpr double kServerShare = 0.99;

}  // namespace bench
