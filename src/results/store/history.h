// Histories of all metrics: for each series one value per run, oldest first, streamed from the
// database. Comparisons, nightly checks, scaling fits and fleet reports all read through here, so
// they agree on what a series is and which runs count.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/units.h"
#include "results/run/metric_catalogue.h"
#include "results/store/configuration.h"
#include "results/store/store.h"

namespace bench {

/// Identity of comparable values: series with the same key have the same settings.
struct SeriesKey {
  std::int64_t id = 0;      // in this database; a rebuild may give another
  std::string metric = {};  // with the probe's name
  /// Axes of the case and parameters that vary within the job; `rank` if each rank has its own
  /// value, `hosts` (their number) if several; settings that differ between jobs of the run. Keys
  /// are sorted.
  Json params = Json::object();
  std::string host = {};    // "" where several hosts made one value
  std::string device = {};  // "host", "cuda", "cuda:3"
  int ranks = 1;
  Unit unit = Unit::count;
  Better better = Better::none;
  std::string over = "rank";  // as in a record: rank, max, mean
};

/// "cuda" of "cuda:3".
std::string kind_of_device(const std::string& device);

/// Value of one run, in the base unit; NaN if unknown.
struct Point {
  std::int64_t run = 0;      // the run's place in time among all runs of the database, from 1
  std::int64_t time_ns = 0;  // when the run began
  double value = kNoValue;   // repeats inside the run combined (MetricDeclaration::repeats)
  double low = kNoValue;     // its 95 % interval, by the samples of this run alone
  double high = kNoValue;
  std::int64_t configuration = 0;
  double of_limit = kNoValue;
  double clock_hz = kNoValue;  // of the device in use
  double power_w = kNoValue;   // mean, of all devices in use; of a CPU job its packages'
};

struct SeriesHistory {
  SeriesKey key = {};
  std::vector<Point> points = {};  // oldest first
};

/// Which series, and which of their points. Empty lists select everything.
struct Selection {
  std::vector<std::string> metrics = {};                 // a name or its beginning
  std::vector<std::string> hosts = {};                   // whole names
  std::vector<std::string> devices = {};                 // whole names
  std::vector<std::string> runs = {};                    // an id or its beginning
  std::map<std::string, std::string> labels = {};        // all of them
  std::optional<std::int64_t> from_ns = {}, to_ns = {};  // start of the run; to is exclusive
  std::size_t most_points = 0;                           // the newest of each series; 0: all
};

/// Whether the metric begins with one of these names; true if there are none.
bool is_selected(const std::string& metric, const std::vector<std::string>& names);

/// Only ok values with a clean sample, of runs that were not discarded.
class Histories {
 public:
  /// The store must outlive it. Sees the runs that exist at construction. Throws Error as the store
  /// does.
  explicit Histories(const Store& store);
  ~Histories();

  /// Series with a selected point, ordered by metric, params (as text), device, host, ranks.
  void each(const Selection& selection,
            const std::function<void(const SeriesHistory&)>& take) const;

  /// The runs that a selection takes, oldest first, whatever they measured.
  std::vector<std::int64_t> runs(const Selection& selection) const;
  /// Throws Error(input) for an unknown number.
  RunRow run(std::int64_t number) const;
  /// An empty object if there is none.
  Json configuration(std::int64_t id) const;

 private:
  struct Runs;
  std::vector<char> chosen(const Selection& selection) const;
  void each_series(const Selection& selection, const std::vector<char>& chosen,
                   const std::function<void(const SeriesHistory&)>& take) const;
  void each_of_few_runs(const Selection& selection, const std::vector<char>& chosen,
                        const std::function<void(const SeriesHistory&)>& take) const;

  const Store& store_;
  std::unique_ptr<Runs> runs_;
};

}  // namespace bench
