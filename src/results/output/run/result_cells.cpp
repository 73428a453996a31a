#include "results/output/run/result_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

constexpr double kDisturbedShare = 0.5;
constexpr double kNotableShift = 0.02;
constexpr double kLowCpuShare = 0.9;
constexpr double kNotableOthers = 0.1;  // the sampler's threshold for a clean sample
constexpr double kSameClock = 0.002;    // what clocks are printed with
constexpr std::size_t kListedLimits = 3;

/// Number and prefixed unit of "113.2 GFLOP/s".
std::pair<std::string, std::string> split_unit(const std::string& text) {
  const auto space = text.rfind(' ');
  if (space == std::string::npos) return {text, ""};
  return {text.substr(0, space), text.substr(space + 1)};
}

std::string without_unit_of(const std::string& text, const std::string& model) {
  const auto [number, unit] = split_unit(text);
  return unit == split_unit(model).second ? number : text;
}

}  // namespace

std::string short_metric(const Series& series) {
  const std::string own = series.probe + ".";
  return !series.probe.empty() && series.metric.starts_with(own) ? series.metric.substr(own.size())
                                                                 : series.metric;
}

std::string interval_text(const Series& series) {
  if (!std::isfinite(series.low) || !std::isfinite(series.high)) return "";
  const std::string model = format(series.median, series.unit);
  return fmt::format("[{}, {}]", without_unit_of(format(series.low, series.unit), model),
                     without_unit_of(format(series.high, series.unit), model));
}

std::string half_width_text(const Series& series) {
  const double half = std::max(series.high - series.median, series.median - series.low);
  const double relative = half / std::abs(series.median);
  return std::isfinite(relative) ? fmt::format("{:.1f} %", 100.0 * relative) : "";
}

std::string limit_text(const Series& series) {
  const bool wanted = series.outcome == Status::ok && series.better != Better::none;
  if (!series.limit) return wanted ? "none known" : "";
  return fmt::format("{} {}", format(series.limit->value, series.unit),
                     to_string(series.limit->kind));
}

std::string of_limit_text(const Series& series) {
  return std::isfinite(series.of_limit) ? format(series.of_limit, Unit::ratio) : "";
}

std::string at_clock_text(const Series& series) {
  const double ratio = series.of_limit_at_clock / series.of_limit;
  const bool other = std::abs(ratio - 1.0) > kSameClock;  // false for NaN
  return other ? format(series.of_limit_at_clock, Unit::ratio) : "";
}

DocumentCell median_cell(const Series& series) {
  DocumentCell cell = numeric(series.median, format(series.median, series.unit));
  cell.tone = Tone::strong;
  return cell;
}

DocumentCell outcome_cell(const Result& result) {
  const auto cell = [](auto word) {
    return DocumentCell{.text = std::string(to_string(word)), .tone = tone_of(word)};
  };
  if (result.series.outcome != Status::ok) return cell(result.series.outcome);
  return result.verdict ? cell(*result.verdict) : DocumentCell{};
}

DocumentCell Footnotes::clean_cell(const Series& series) {
  if (series.n == 0) return {};
  note_quality(series.quality);
  const double share = clean_share(series);
  const double shift = filter_effect(series);
  DocumentCell cell{fmt::format("{:.0f} %", std::floor(100.0 * share)), share};
  if (share < kDisturbedShare) {
    disturbed_ = true;
    samples_ += series.n;
    for (const auto& [flag, count] : series.flags) flags_[flag] += count;
    cell.text += "*";
  }
  if (std::abs(shift) > kNotableShift) {
    if (!shifted_ || std::abs(shift) > std::abs(largest_shift_)) {
      largest_shift_ = shift;
      shifted_from_ = series.unfiltered_median;
      shifted_unit_ = series.unit;
    }
    shifted_ = true;
    cell.text += "^";
  }
  if (cell.text.back() != '%') cell.tone = Tone::unsure;
  return cell;
}

void Footnotes::note_clock(const Series& series) {
  if (at_clock_text(series).empty()) return;
  least_clock_ = std::min(least_clock_, *series.quality.clock_hz);
  most_clock_ = std::max(most_clock_, *series.quality.clock_hz);
}

void Footnotes::note_limit(const Series& series) {
  note_clock(series);
  if (!series.limit || series.limit->source.empty()) return;
  const double value = series.limit->value;
  const std::string origin =
      fmt::format("{}: {}", to_string(series.limit->kind), series.limit->source);
  LimitRange& range =
      limits_.try_emplace(origin, LimitRange{value, value, series.unit}).first->second;
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

void Footnotes::note_quality(const Quality& quality) {
  steal_ = std::max(steal_, quality.steal_share.value_or(0.0));
  throttled_s_ = std::max(throttled_s_, quality.throttled_s.value_or(0.0));
  others_share_ = std::max(others_share_, quality.others_share.value_or(0.0));
  cpu_share_ = std::min(cpu_share_, quality.cpu_share.value_or(1.0));
}

Lines Footnotes::lines() const {
  Lines list;
  const auto add = [&](const std::string& note, Tone tone) { list.lines.push_back({note, tone}); };
  if (disturbed_) {
    std::vector<std::string> why;
    for (const auto& [flag, count] : flags_) why.push_back(fmt::format("{} {}", flag, count));
    add(fmt::format("* fewer than half of the samples are clean{}",
                    why.empty() ? "" : fmt::format(" (of {}: {})", samples_, join(why, ", "))),
        Tone::unsure);
  }
  if (shifted_)
    add(fmt::format("^ median of all samples differs by more than 2 % from that of the clean "
                    "samples (up to {:+.1f} %: {})",
                    100.0 * largest_shift_, format(shifted_from_, shifted_unit_)),
        Tone::unsure);
  if (steal_ >= kNotableSteal)
    add(fmt::format("steal: the hypervisor took up to {} of the CPU time",
                    format(steal_, Unit::ratio)),
        Tone::unsure);
  if (others_share_ >= kNotableOthers)
    add(fmt::format("crowded: other processes used up to {} of the host's CPU time",
                    format(others_share_, Unit::ratio)),
        Tone::unsure);
  if (throttled_s_ > 0.0)
    add(fmt::format("throttled: the cgroup CPU quota throttled the benchmark for up to {}",
                    format(Seconds{throttled_s_})),
        Tone::unsure);
  if (cpu_share_ < kLowCpuShare)
    add(fmt::format("CPU share: benchmark threads were on a CPU only {} of the time",
                    format(cpu_share_, Unit::ratio)),
        Tone::unsure);
  if (most_clock_ > 0.0) {
    const std::string low = format(least_clock_, Unit::hertz);
    const std::string high = format(most_clock_, Unit::hertz);
    add(fmt::format("at clock: share of the limit at the actual clock, {}",
                    low == high ? low : low + " to " + high),
        Tone::faint);
  }
  std::size_t listed = 0;
  for (const auto& [origin, range] : limits_) {
    if (++listed > kListedLimits) break;
    const std::string low = format(range.low, range.unit);
    const std::string high = format(range.high, range.unit);
    add(fmt::format("limit {}, {}", low == high ? low : low + " to " + high, origin), Tone::faint);
  }
  if (limits_.size() > kListedLimits)
    add(fmt::format("and {} more limits", limits_.size() - kListedLimits), Tone::faint);
  return list;
}

}  // namespace bench
