// Equal trainings on several batch sizes (`benchctl train --batches`): what a larger batch brings
// in throughput, and what it costs in memory and in quality after as many samples.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json_fields.h"

namespace bench {

struct TrainingGroup;

struct BatchPoint {
  std::int64_t batch = 0;        // samples of a step, over all ranks
  std::int64_t micro_batch = 0;  // that a lane does at once; 0: unknown
  std::size_t group = 0;         // index in TrainingReport::groups
  double items_per_second = kNoValue, low = kNoValue, high = kNoValue;  // as the group's
  double memory = kNoValue;                                             // bytes of a rank
  double gap = kNoValue;      // after `samples`, median over seeds
  double samples = kNoValue;  // trained on: those of the ladder, in whole steps
  std::string reason = {};    // why there is no rate: out of memory
};

struct BatchLadder {
  std::int64_t samples = 0;             // that each batch trained on
  std::vector<BatchPoint> points = {};  // by batch
  std::optional<std::size_t> fastest = {};
  /// The smallest batch whose rate is within 5 % of the highest: larger ones cost memory and
  /// quality for little.
  std::optional<std::size_t> enough = {};
};

/// Ladders among the groups with a sample budget, each with two batch sizes or more.
std::vector<BatchLadder> batch_ladders_of(std::span<const TrainingGroup> groups);

/// Whether another batch of the group's ladder could be timed: that this one does not fit is then
/// an answer.
bool fits_elsewhere(std::span<const BatchLadder> ladders, std::size_t group);

/// "batch 64 is the fastest of 4; batch 32 comes within 5 % of it".
std::string ladder_words(const BatchLadder& ladder);

}  // namespace bench
