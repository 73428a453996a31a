#include "results/reports/telemetry_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostLines = 6;
constexpr double kNotableSteal = 0.005;
constexpr double kNotableWait = 0.01;
constexpr double kNotableIdle = 0.05;

constexpr std::array<std::pair<const char*, const char*>, 9> kReasons{
    {{"sw_power_cap", "power cap"},
     {"sw_thermal", "thermal slowdown"},
     {"hw_thermal", "hardware thermal slowdown"},
     {"hw_slowdown", "hardware slowdown"},
     {"hw_power_brake", "power brake"},
     {"sync_boost", "sync boost"},
     {"application_clocks", "application clocks"},
     {"display_clocks", "display clocks"},
     {"idle", "idle"}}};
/// Those that are no part of normal work.
const std::set<std::string> kTroubles = {"sw_thermal", "hw_thermal", "hw_slowdown",
                                         "hw_power_brake"};

std::string per_cent(double share) {
  return share > 0.0 && share < 0.005 ? "less than 1 %" : fmt::format("{:.0f} %", 100.0 * share);
}

std::string joules(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.4g} MJ", value / 1e6);
  return size >= 1e3 ? fmt::format("{:.4g} kJ", value / 1e3) : fmt::format("{:.4g} J", value);
}

/// Puts several into one: extremes of all, means weighted by the time they stand for.
class Merged {
 public:
  void add(const SeriesTelemetry& one) {
    const double weight = one.seconds > 0.0 ? one.seconds : 0.0;
    busy_.add(one.cpu_busy_share, weight);
    steal_.add(one.cpu_steal_share, weight);
    wait_.add(one.cpu_iowait_share, weight);
    watts_.add(one.cpu_power_w, weight);
    for (const GpuTelemetry& gpu : one.gpus) add(gpu, weight);
  }
  bool troubled() const {
    return std::any_of(reasons_.begin(), reasons_.end(), [](const auto& reason) {
      return kTroubles.contains(reason.first) && reason.second > 0.0;
    });
  }
  std::string text() const {
    std::vector<std::string> parts = {cpu_text(), gpu_text()};
    std::erase(parts, "");
    return join(parts, "; ");
  }

 private:
  /// A mean, and the extremes where they are known.
  struct Range {
    double sum = 0.0, weight = 0.0, min = kNoValue, max = kNoValue;
    void add(double mean, double times) {
      if (!std::isfinite(mean) || !(times > 0.0)) return;
      sum += mean * times;
      weight += times;
      min = std::fmin(min, mean);
      max = std::fmax(max, mean);
    }
    void add(const Spread& spread, double times) {
      add(spread.mean, times);
      min = std::fmin(min, spread.min);
      max = std::fmax(max, spread.max);
    }
    bool known() const { return weight > 0.0; }
    double mean() const { return sum / weight; }
  };

  void add(const GpuTelemetry& gpu, double weight) {
    gpus_.insert(gpu.gpu);
    clock_.add(gpu.sm_clock_hz, weight);
    power_.add(gpu.power_w, weight);
    limits_.add(gpu.power_limit_w, 1.0);
    hottest_ = std::fmax(hottest_, gpu.temperature_c);
    if (std::isfinite(gpu.energy_j)) energy_ += gpu.energy_j;
    for (const auto& [reason, share] : gpu.reasons)
      reasons_[reason] = std::max(reasons_[reason], share);
  }

  std::string cpu_text() const {
    std::vector<std::string> parts;
    if (busy_.known()) parts.push_back(per_cent(busy_.mean()) + " busy");
    if (steal_.max >= kNotableSteal) parts.push_back(per_cent(steal_.mean()) + " stolen");
    if (wait_.max >= kNotableWait) parts.push_back(per_cent(wait_.mean()) + " waiting for I/O");
    if (watts_.known()) parts.push_back(fmt::format("{:.0f} W", watts_.mean()));
    return parts.empty() ? "" : "CPU " + join(parts, ", ");
  }

  std::string clock_text() const {
    const std::string low = format(clock_.min, Unit::hertz), high = format(clock_.max, Unit::hertz);
    if (low == high) return "SM clock " + low;
    return fmt::format("SM clock {} to {}, mean {}", low, high, format(clock_.mean(), Unit::hertz));
  }

  std::string power_text() const {
    std::string text =
        fmt::format("{:.0f} W on average, {:.0f} W at most", power_.mean(), power_.max);
    if (limits_.known() && limits_.min == limits_.max)
      text += fmt::format(" of {:.0f} W allowed", limits_.max);
    return text;
  }

  std::string gpu_text() const {
    if (gpus_.empty()) return "";
    std::vector<std::string> parts;
    if (clock_.known()) parts.push_back(clock_text());
    if (power_.known()) parts.push_back(power_text());
    if (std::isfinite(hottest_)) parts.push_back(fmt::format("{:.0f} C", hottest_));
    if (energy_ > 0.0) parts.push_back(joules(energy_));
    for (const auto& [reason, words] : kReasons) {
      const auto found = reasons_.find(reason);
      if (found == reasons_.end()) continue;
      if (std::string(reason) == "idle" && found->second < kNotableIdle) continue;
      parts.push_back(fmt::format("{} {} of the time", words, per_cent(found->second)));
    }
    const std::string who = gpus_.size() == 1 ? fmt::format("GPU {}", *gpus_.begin())
                                              : fmt::format("{} GPUs", gpus_.size());
    return parts.empty() ? "" : who + " " + join(parts, ", ");
  }

  Range busy_, steal_, wait_, watts_, clock_, power_, limits_;
  double hottest_ = kNoValue;
  double energy_ = 0.0;
  std::set<int> gpus_;
  std::map<std::string, double> reasons_;  // of several the largest share
};

/// One row for each stretch of time: metrics of one series share theirs.
Rows stretches(const Rows& rows) {
  Rows kept;
  std::set<std::string> seen;
  for (const Result* row : rows) {
    if (!row->telemetry) continue;
    const Series& series = row->series;
    const std::string params = row->telemetry->phase == "job" ? "" : dump(series.params);
    if (seen.insert(series.job + "\n" + params).second) kept.push_back(row);
  }
  return kept;
}

/// The parameters in which this row differs from the others.
Json own_params(const Dimensions& dims, std::size_t row) {
  Json own = Json::object();
  for (const std::string& name : dims.varying)
    if (dims.of_row[row].contains(name)) own[name] = dims.of_row[row][name];
  return own;
}

std::string line(const std::string& whose, const Merged& merged, std::size_t indent,
                 const TextStyle& style) {
  const std::string what = merged.text();
  if (what.empty()) return "";
  return std::string(indent, ' ') +
         paint(wrap("telemetry" + whose + ": " + what, indent, indent + 2, style),
               merged.troubled() ? Paint::yellow : Paint::dim, style) +
         "\n";
}

}  // namespace

std::string telemetry_text(const Rows& rows, std::size_t indent, const TextStyle& style) {
  const Rows kept = stretches(rows);
  if (kept.empty()) return "";
  std::string text;
  if (kept.size() > kMostLines) {
    Merged all;
    for (const Result* row : kept) all.add(*row->telemetry);
    return line(fmt::format(" of {} series", kept.size()), all, indent, style);
  }
  const Dimensions dims = dimensions(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    Merged one;
    one.add(*kept[i]->telemetry);
    const bool whole = kept[i]->telemetry->phase == "job";
    const std::string which = whole ? "the whole job" : dimension_list(own_params(dims, i));
    text += line(which.empty() ? "" : " of " + which, one, indent, style);
  }
  return text;
}

}  // namespace bench
