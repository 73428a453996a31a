// Several runs in order, each a step from the previous one (baseline, +bf16, +8 workers): gain of
// each step and cumulative gain.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/side.h"

namespace bench {

// What an hour of one device (on CPUs: host) costs, by product.

/// Dollars an hour by parts of a product's name, as `hardware:` takes them: "h100-sxm".
using Prices = std::map<std::string, double>;

/// The price of the longest name of which `matches` is true.
std::optional<double> price_of(const Prices& prices,
                               const std::function<bool(const std::string&)>& matches);

/// Sets each side's price from its product name; the longest matching name wins. No price for a
/// side with differently priced or unknown products, nor for two sides with the same product, where
/// work per dollar adds nothing.
void set_prices(std::vector<Side>& sides, const Prices& prices);

/// B over A in work: above one is faster.
struct SpeedUp {
  double ratio = kNoValue, low = kNoValue, high = kNoValue;
  ChangeVerdict verdict = ChangeVerdict::inconclusive;
  std::string why = {};
};

struct LadderStep {
  std::string name = {};
  double value = kNoValue;
  int ranks = 0;                             // 0: they differ within the step
  SpeedUp individual = {}, cumulative = {};  // the first step has none
  double price = kNoValue;                   // dollars an hour of one device
  double time_s = kNoValue;         // to the target, where that is the metric; else relative: none
  double cost = kNoValue;           // dollars of one run, where prices and a time are known
  double relative_cost = kNoValue;  // devices x time, of the first step's
  std::vector<FactChange> changed = {};  // settings and software, against the step before
};

struct LadderMetric {
  MetricKey key = {};  // ranks are 0
  Json params = Json::object();
  std::vector<LadderStep> steps = {};
};

struct Ladder {
  std::vector<LadderMetric> metrics = {};  // that every step has
  std::vector<std::string> warnings = {};
  /// 1: a step made something slower; 3: no common metric; else 0.
  ExitCode exit_code() const;
};

/// Metrics of workloads are followed across rank counts, as their values are totals over ranks.
Ladder make_ladder(const std::vector<Side>& sides, const CompareOptions& options);

}  // namespace bench
