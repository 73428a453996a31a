#include "mlperf/score/run_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"
#include "mlperf/log/log.h"
#include "mlperf/submission/submission.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

constexpr double kMilliseconds = 1e3;  // a second
constexpr double kMinute = 60.0;       // seconds
// The rules for measurements: a reading a second or more, and at least a minute of them.
constexpr double kLongestGap = 1'500.0;  // milliseconds between readings, with some room for jitter
constexpr std::size_t kFewestReadings = 60;

double number_of(const LogEntry& entry) {
  return entry.value.is_number() ? entry.value.number() : std::numeric_limits<double>::quiet_NaN();
}

/// The readings of a node, in the order of their times, as the official summarizer takes them: a
/// reading counts after a start and before the first stop; the last start and stop bound the time.
struct NodePower {
  explicit NodePower(Log log) {
    std::ranges::stable_sort(log.entries, {}, &LogEntry::time_ms);
    for (const LogEntry& entry : log.entries) take(entry);
  }

  std::optional<double> start_ms = {}, stop_ms = {};
  double efficiency = 1.0;
  double watt_ms = 0.0;  // each power times the time since the reading before it
  double longest_gap_ms = 0.0;
  double last_ms = 0.0;
  std::size_t readings = 0;

 private:
  void take(const LogEntry& entry) {
    if (entry.key == "power_measurement_start")
      start_ms = last_ms = entry.time_ms;
    else if (entry.key == "power_measurement_stop")
      stop_ms = entry.time_ms;
    else if (entry.key == "conversion_eff")
      efficiency = number_of(entry);
    else if (entry.key == "power_reading" && start_ms && !stop_ms)
      add_reading(entry);
  }
  void add_reading(const LogEntry& entry) {
    const double gap = entry.time_ms - last_ms;
    watt_ms += number_of(entry) * gap;
    longest_gap_ms = std::max(longest_gap_ms, gap);
    last_ms = entry.time_ms;
    ++readings;
  }
};

class EnergyReader {
 public:
  explicit EnergyReader(double seconds) : seconds_(seconds) {}

  void add_node(const fs::path& path) {
    ++energy.nodes;
    const NodePower power(read_log(path));
    if (!power.start_ms) return refuse(path, "has no power_measurement_start");
    if (!power.stop_ms)
      note(path, "has no power_measurement_stop: the last reading is taken for it");
    const double measured_ms = power.stop_ms.value_or(power.last_ms) - *power.start_ms;
    if (!(measured_ms > 0.0)) return refuse(path, "has no reading after its start");
    if (!add(power.efficiency * power.watt_ms / measured_ms * seconds_))
      return refuse(path, "has a power_reading or conversion_eff that is no positive number");
    if (power.readings < kFewestReadings)
      note(path,
           fmt::format("has {} readings; the rules ask for {}", power.readings, kFewestReadings));
    if (power.longest_gap_ms > kLongestGap)
      note(path, fmt::format("has {:.1f} s between two readings; the rules ask for one a second",
                             power.longest_gap_ms / kMilliseconds));
  }

  /// A conversion_eff after the estimate is not read.
  void add_switch(const fs::path& path) {
    ++energy.switches;
    double efficiency = 1.0;
    for (const LogEntry& entry : read_log(path).entries) {
      if (entry.key == "conversion_eff") efficiency = number_of(entry);
      if (entry.key != "interconnect_power_est") continue;
      if (!add(efficiency * number_of(entry) * seconds_))
        refuse(path, "has an interconnect_power_est or conversion_eff that is no positive number");
      return;
    }
    note(path, "has no interconnect_power_est: counted as 0 W");
  }

  RunEnergy energy = {};

 private:
  /// False for what is no energy.
  bool add(double joules) {
    if (!std::isfinite(joules) || joules < 0.0) return false;
    energy.joules += joules;
    return true;
  }
  void note(const fs::path& path, const std::string& what) {
    energy.problems.push_back(
        printable((path.parent_path().filename() / path.filename()).string()) + " " + what);
  }
  void refuse(const fs::path& path, const std::string& what) {
    note(path, what);
    energy.joules = std::numeric_limits<double>::quiet_NaN();
  }

  double seconds_;
};

/// PREFIX*.txt in a folder, in natural order.
std::vector<fs::path> files_named(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error, broken_link;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().native();
    if (name.starts_with(prefix) && name.ends_with(".txt") && at->is_regular_file(broken_link))
      found.push_back(at->path());
  }
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return found;
}

}  // namespace

std::optional<RunEnergy> run_energy(const fs::path& result, double minutes) {
  const fs::path power = result.parent_path() / "power";
  std::error_code ignored;
  if (!fs::is_directory(power, ignored)) return {};
  EnergyReader reader(minutes * kMinute);
  const fs::path folder = power / result.stem();
  for (const fs::path& file : files_named(folder, "node_")) reader.add_node(file);
  for (const fs::path& file : files_named(folder, "sw_")) reader.add_switch(file);
  if (reader.energy.nodes == 0) {
    reader.energy.problems.push_back("power/" + printable(result.stem().string()) +
                                     " has no node_*.txt");
    reader.energy.joules = std::numeric_limits<double>::quiet_NaN();
  }
  return reader.energy;
}

}  // namespace bench::mlperf
