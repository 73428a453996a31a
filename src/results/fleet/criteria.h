// Criteria for a healthy host, learned from a fleet: the distribution shared by most of its hosts.
// Learning is refused for two kinds of hosts, or if most hosts disagree.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"
#include "results/json_fields.h"

namespace bench {

/// Minimum number of hosts to learn from.
inline constexpr std::size_t kFewestToLearn = 8;

/// From the pooled values of the kept hosts, in the base unit of the metric.
struct Criterion {
  double centre = kNoValue;            // median of the host most similar to all others
  std::vector<double> quantiles = {};  // at kCriterionQuantiles
  double alpha = kNoValue;             // hosts less similar to the centre were left out
  double run_noise = kNoValue;         // run-to-run, relative; NaN with one run per host
  double host_noise = kNoValue;        // between host medians, relative
  std::size_t hosts = 0;               // kept hosts
  std::size_t excluded = 0;
};
inline constexpr double kCriterionQuantiles[] = {0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0};

struct LearnResult {
  std::optional<Criterion> criterion;
  std::string refusal;                // why there is no criterion
  std::vector<std::size_t> excluded;  // indices of dissimilar hosts
};

/// `runs`: positive run values per host. `threshold`: the practical one, a share.
/// 1 the centre is the host with the largest sum of similarities (of at most 200 hosts, evenly by
/// their medians); 2 hosts less similar to it than alpha are left out; 3 again until nothing
/// changes. alpha is 1 - threshold, or the 1st percentile of the similarities between runs of one
/// host if lower, so that run-to-run noise excludes no host. Refused:
/// fewer than kFewestToLearn hosts, fewer than 70 % of them kept, and two kinds of hosts.
LearnResult learn(std::span<const std::vector<double>> runs, double threshold);

struct TwoKinds {
  std::size_t low = 0, high = 0;  // number of hosts
  double low_centre = kNoValue, high_centre = kNoValue;
};
/// Tests for two kinds of hosts: in the least-squares split, each side holds more than a tenth (and
/// three) of the values, and the medians differ by more than `least` (a share) and 4 + 800 / n^2
/// robust sigmas.
std::optional<TwoKinds> two_kinds(std::vector<double> values, double least);

}  // namespace bench
