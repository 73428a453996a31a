// The series of loads on a batcher: as many requests as it can take, then shares of that rate until
// the bounds on latency are missed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/inference/generation_load.h"
#include "probes/state.h"

namespace bench {

class LoadSeries {
 public:
  /// By the parameters of the job. Throws Error(input) for lengths that do not fit into the shape's
  /// positions, or each other.
  LoadSeries(State& state, const training::LlmShape& shape);

  bool any() const { return !shares_.empty(); }
  /// Positions of the longest request.
  std::int64_t longest() const { return load_.prompt.high + load_.output.high; }
  void measure(inference::Decoder& decoder, inference::PagedCache& cache,
               inference::Batching batching, Json params);
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void know_answers(inference::Decoder& decoder, inference::PagedCache& cache);
  GenerationResult measure_load(inference::Decoder& decoder, inference::PagedCache& cache,
                                inference::Batching batching, double rate, const Json& params);
  void write(const GenerationResult& result, const Json& params, const Conditions& conditions);
  void write_quantiles(const std::string& metric, Json params, const serving::ServingResult& all,
                       const storage::LatencyHistogram& latency, const Conditions& conditions);

  State& state_;
  std::vector<double> shares_;
  std::int64_t most_sequences_;
  GenerationLoad load_ = {};
  std::vector<std::string> warnings_ = {};
};

/// The shortest and the longest of a parameter. Throws Error(input) if they are the wrong way
/// round.
serving::TokenRange length_range(const State& state, const std::string& name);

}  // namespace bench
