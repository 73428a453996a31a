#include "results/output/run/telemetry_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "core/text.h"
#include "results/output/run/result_cells.h"

namespace bench {
namespace {

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
constexpr std::array<std::pair<const char*, const char*>, 7> kErrors{
    {{"ecc_uncorrected", "uncorrected memory errors"},
     {"ecc_corrected", "corrected memory errors"},
     {"remapped_rows_uncorrected", "memory rows remapped"},
     {"pcie_replays", "PCIe replays"},
     {"nvlink_crc_flit_errors", "NVLink CRC errors"},
     {"nvlink_replay_errors", "NVLink replays"},
     {"nvlink_recovery_errors", "NVLink recoveries"}}};
/// Reasons and errors that are not part of normal operation. An occasional corrected memory error
/// is.
const std::set<std::string> kTroubles = {"sw_thermal",           "hw_thermal",
                                         "hw_slowdown",          "hw_power_brake",
                                         "ecc_uncorrected",      "remapped_rows_uncorrected",
                                         "pcie_replays",         "nvlink_crc_flit_errors",
                                         "nvlink_replay_errors", "nvlink_recovery_errors"};

std::string per_cent(double share) {
  return share > 0.0 && share < 0.005 ? "less than 1 %" : fmt::format("{:.0f} %", 100.0 * share);
}

std::string joules(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.4g} MJ", value / 1e6);
  return size >= 1e3 ? fmt::format("{:.4g} kJ", value / 1e3) : fmt::format("{:.4g} J", value);
}

}  // namespace

void MergedTelemetry::Range::add(double mean, double weight) {
  if (!std::isfinite(mean) || !(weight > 0.0)) return;
  sum_ += mean * weight;
  weight_ += weight;
  min_ = std::fmin(min_, mean);
  max_ = std::fmax(max_, mean);
}

void MergedTelemetry::Range::add(const Spread& spread, double weight) {
  add(spread.mean, weight);
  min_ = std::fmin(min_, spread.min);
  max_ = std::fmax(max_, spread.max);
}

void MergedTelemetry::add(const SeriesTelemetry& one) {
  const double weight = one.seconds > 0.0 ? one.seconds : 0.0;
  busy_.add(one.cpu_busy_share, weight);
  steal_.add(one.cpu_steal_share, weight);
  wait_.add(one.cpu_iowait_share, weight);
  watts_.add(one.cpu_power_w, weight);
  for (const GpuTelemetry& gpu : one.gpus) add(gpu, weight);
}

void MergedTelemetry::add(const GpuTelemetry& gpu, double weight) {
  gpus_.insert(gpu.gpu);
  clock_.add(gpu.sm_clock_hz, weight);
  power_.add(gpu.power_w, weight);
  limits_.add(gpu.power_limit_w, 1.0);
  hottest_ = std::fmax(hottest_, gpu.temperature_c);
  if (std::isfinite(gpu.energy_j)) energy_ += gpu.energy_j;
  for (const auto& [reason, share] : gpu.reasons)
    reasons_[reason] = std::max(reasons_[reason], share);
  for (const auto& [error, count] : gpu.errors) errors_[error] = std::max(errors_[error], count);
}

bool MergedTelemetry::troubled() const {
  const auto is_trouble = [](const auto& one) {
    return kTroubles.contains(one.first) && one.second > 0.0;
  };
  return std::any_of(reasons_.begin(), reasons_.end(), is_trouble) ||
         std::any_of(errors_.begin(), errors_.end(), is_trouble);
}

std::string MergedTelemetry::cpu_text() const {
  std::vector<std::string> parts;
  if (busy_.known()) parts.push_back(per_cent(busy_.mean()) + " busy");
  if (steal_.max() >= kNotableSteal) parts.push_back(per_cent(steal_.mean()) + " steal");
  if (wait_.max() >= kNotableWait) parts.push_back(per_cent(wait_.mean()) + " iowait");
  if (watts_.known()) parts.push_back(fmt::format("{:.0f} W", watts_.mean()));
  return parts.empty() ? "" : "CPU " + join(parts, ", ");
}

std::string MergedTelemetry::clock_text() const {
  const std::string low = format(clock_.min(), Unit::hertz),
                    high = format(clock_.max(), Unit::hertz);
  if (low == high) return "SM clock " + low;
  return fmt::format("SM clock {} to {}, mean {}", low, high, format(clock_.mean(), Unit::hertz));
}

std::string MergedTelemetry::power_text() const {
  std::string text = fmt::format("{:.0f} W mean, {:.0f} W max", power_.mean(), power_.max());
  if (limits_.known() && limits_.min() == limits_.max())
    text += fmt::format(" (limit {:.0f} W)", limits_.max());
  return text;
}

std::string MergedTelemetry::gpu_text() const {
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
  for (const auto& [error, words] : kErrors)
    if (const auto found = errors_.find(error); found != errors_.end())
      parts.push_back(fmt::format("{:.0f} {} in this job", found->second, words));
  const std::string who = gpus_.size() == 1 ? fmt::format("GPU {}", *gpus_.begin())
                                            : fmt::format("{} GPUs", gpus_.size());
  return parts.empty() ? "" : who + " " + join(parts, ", ");
}

std::string MergedTelemetry::text() const {
  std::vector<std::string> parts = {cpu_text(), gpu_text()};
  std::erase(parts, "");
  return join(parts, "; ");
}

namespace {

constexpr std::size_t kMostLines = 6;

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

/// Labels that distinguish the rows with as few parameters as possible.
std::vector<std::string> labels(const Rows& rows) {
  const Dimensions dims = dimensions(rows);
  std::vector<Json> own(rows.size(), Json::object());
  std::vector<std::string> texts(rows.size());
  for (const std::string& name : dims.varying) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (dims.of_row[i].contains(name)) own[i][name] = dims.of_row[i][name];
      texts[i] = dimension_list(own[i]);
    }
    if (std::set<std::string>(texts.begin(), texts.end()).size() == rows.size()) break;
  }
  return texts;
}

void add_line(Lines& list, const std::string& whose, const MergedTelemetry& merged) {
  if (const std::string what = merged.text(); !what.empty())
    list.lines.push_back(
        {"telemetry" + whose + ": " + what, merged.troubled() ? Tone::unsure : Tone::faint});
}

}  // namespace

Lines telemetry_lines(const Rows& rows) {
  const Rows kept = stretches(rows);
  Lines list;
  if (kept.size() > kMostLines) {
    MergedTelemetry all;
    for (const Result* row : kept) all.add(*row->telemetry);
    add_line(list, fmt::format(" of {} series", kept.size()), all);
    return list;
  }
  const std::vector<std::string> names = kept.empty() ? std::vector<std::string>{} : labels(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    MergedTelemetry one;
    one.add(*kept[i]->telemetry);
    const bool whole = kept[i]->telemetry->phase == "job";
    const std::string which = whole ? "the whole job" : names[i];
    add_line(list, which.empty() ? "" : " of " + which, one);
  }
  return list;
}

}  // namespace bench
