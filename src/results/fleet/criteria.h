// What a healthy host measures, learned from a fleet: the distribution that most of its hosts
// share. What a fleet cannot teach is refused: one of two kinds of hosts, or of mostly unlike ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"
#include "results/json_fields.h"

namespace bench {

/// Fewer hosts than this teach nothing.
inline constexpr std::size_t kFewestToLearn = 8;

/// Of the values of the hosts that were kept, pooled; in the base unit of the metric.
struct Criterion {
  double centre = kNoValue;            // median of the host that is most like all others
  std::vector<double> quantiles = {};  // at kCriterionQuantiles
  double alpha = kNoValue;             // hosts less alike than this to the centre were left out
  double run_noise = kNoValue;         // of a host's runs, relative; NaN where each has one
  double host_noise = kNoValue;        // of the hosts' medians, relative
  std::size_t hosts = 0;               // that were kept
  std::size_t left_out = 0;
};
inline constexpr double kCriterionQuantiles[] = {0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0};

struct LearnResult {
  std::optional<Criterion> criterion;
  std::string refusal;                // why there is none
  std::vector<std::size_t> left_out;  // indices of hosts unlike the centre
};

/// `runs`: of each host its run values, positive. `threshold`: the practical one, a share.
/// 1 the centre is the host with the largest sum of similarities (of at most 200 hosts, evenly by
/// their medians); 2 hosts less similar to it than alpha are left out; 3 again until nothing
/// changes. alpha is 1 - threshold, or the 1st percentile of the similarities of two runs of one
/// host where that is lower: a host must not be left out for what it does to itself. Refused are
/// fewer than kFewestToLearn hosts, fewer than 70 % of them kept, and two kinds of hosts.
LearnResult learn(std::span<const std::vector<double>> runs, double threshold);

struct TwoKinds {
  std::size_t low = 0, high = 0;  // how many hosts
  double low_centre = kNoValue, high_centre = kNoValue;
};
/// Whether the values are of two kinds: split in two so that squares about the means are least,
/// more than a tenth (and three) lie on each side, and the medians are more than `least` (a share)
/// and 4 + 800 / n^2 of the parts' robust sigmas apart.
std::optional<TwoKinds> two_kinds(std::vector<double> values, double least);

}  // namespace bench
