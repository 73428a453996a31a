// Values of one side of a comparison, grouped by comparable series.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/store/history.h"
#include "results/verdicts/compare/selector.h"

namespace bench {

// The results in a file that `benchctl export json` or `jsonl` wrote, one JSON object each.

/// Each has `run`. Throws Error(environment) for an unreadable file, Error(input) with file and
/// line for any other format.
std::vector<Json> exported_rows(const std::string& path);

/// The same for text in memory; `origin` names it in errors.
std::vector<Json> exported_rows_of(const std::string& text, const std::string& origin);

/// What must be equal for values to be compared: the key of a series without its host and the place
/// of its device.
struct MetricKey {
  std::string metric = {};
  std::string params = {};  // as text
  std::string device = {};  // host, cuda
  std::string over = {};
  int ranks = 1;
  Unit unit = Unit::count;
  Better better = Better::none;
  auto operator<=>(const MetricKey&) const = default;
};
MetricKey metric_key(const SeriesKey& key);

/// Who measured: a host, and which of its devices. What is the same unit on both sides can be
/// paired.
using UnitOfHost = std::pair<std::string, std::string>;

/// All run values of a metric, by who measured them, oldest first.
using ValuesOfUnits = std::map<UnitOfHost, std::vector<Point>>;
/// Whoever measured them.
std::vector<double> values_of(const ValuesOfUnits& units);

struct Side {
  std::string name = {};
  std::map<MetricKey, ValuesOfUnits> metrics = {};
  std::size_t runs = 0;
  std::map<std::int64_t, Json> configurations = {};  // those of the points
  std::optional<double> price = {};                  // dollars an hour of one device
};

/// From the database. `metrics`: names or prefixes; empty selects all. Throws Error(input) if
/// nothing is selected.
Side read_side(const Histories& histories, const Selector& selector,
               const std::vector<std::string>& metrics);

/// From an exported run. Throws Error(input) naming the file and the place in it.
Side read_file_side(const std::string& path, const std::vector<std::string>& metrics);

/// From result rows in memory. Throws Error(input) if none is usable.
Side side_of_rows(const std::vector<Json>& rows, const std::string& name,
                  const std::vector<std::string>& metrics);

/// Joins series that differ in these parameters only, so that one setting can be compared with
/// another. Throws Error(input) for a parameter that no series of any side has, and if a side has
/// several values of one for a metric: they would be mixed.
void ignore_parameters(std::vector<Side>& sides, const std::vector<std::string>& names);

/// The key without these parameters.
MetricKey without_parameters(MetricKey key, const std::vector<std::string>& names);

/// GPU or, without one, processor; "" if unknown. Several products are joined by " | ".
std::string hardware_of(const Json& configuration);
/// All products of a side.
std::set<std::string> hardware_of(const Side& side);

}  // namespace bench
