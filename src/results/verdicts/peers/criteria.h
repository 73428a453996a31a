// Criteria for a healthy host, learned from a fleet: the distribution shared by most of its hosts.
// Learning is refused for two kinds of hosts, or if most hosts disagree.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "core/units.h"

namespace bench {

// Similarity of the value distributions of two hosts, in location and scatter. From the validator
// of SuperBench (Xiong et al., ATC 2024), in a form that needs no upper limit of the values.

enum class CountedArea {
  both,   // any difference
  worse,  // only where the first is worse than the second
};

/// 1 - d(a, b) with d the area between the two distribution functions over the area below the
/// larger survival function, x >= 0: 1 for equal ones; about 1 - s for values that all differ by
/// the share s. Values must be sorted and not negative; 0 if a side is empty.
/// `better` says which direction `CountedArea::worse` is; Better::none counts as higher.
double similarity(std::span<const double> a, std::span<const double> b,
                  CountedArea side = CountedArea::both, Better better = Better::higher);

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

// Compares a value with learned criteria; shared by `report fleet` and `accept`.

struct GoldenTest {
  double threshold = 0.01;  // the practical one, a share
  double level = 0.004;     // false-alarm probability over `tests` healthy values
  std::size_t tests = 1;
};

/// Allowed loss against the centre of a criterion: the spread of the learned hosts, at least the
/// practical threshold. A share.
double golden_allowed(const Criterion& criterion, double threshold);

/// Whether the whole interval `loss` +- `half` (shares; NaN half for none) exceeds the allowed
/// loss, and the loss exceeds that of the worst of so many healthy hosts.
bool is_below_golden(const Criterion& criterion, const GoldenTest& test, double loss, double half);

}  // namespace bench
