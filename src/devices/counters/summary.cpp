#include "devices/counters/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "core/fields.h"

namespace bench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Weighted mean, minimum and maximum.
class Spread {
 public:
  void add(double value, double weight) {
    if (!std::isfinite(value) || !(weight > 0.0)) return;
    ++count_;
    sum_ += value * weight;
    weight_ += weight;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  bool empty() const { return count_ == 0; }
  double sum() const { return empty() ? kNan : sum_; }
  Json json() const {
    const auto known = [&](double value) { return empty() ? Json() : number_or_null(value); };
    return {{"n", count_},
            {"min", known(least_)},
            {"mean", known(sum_ / weight_)},
            {"max", known(most_)}};
  }

 private:
  std::size_t count_ = 0;
  double sum_ = 0.0, weight_ = 0.0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

bool inside(double time, const std::vector<PhaseSpan>& spans) {
  return std::any_of(spans.begin(), spans.end(), [time](const PhaseSpan& span) {
    return span.begin <= time && time <= span.end;
  });
}

/// Overlap of begin..end with the spans, which do not overlap each other.
double common(double begin, double end, const std::vector<PhaseSpan>& spans) {
  double seconds = 0.0;
  for (const PhaseSpan& span : spans)
    seconds += std::max(0.0, std::min(end, span.end) - std::max(begin, span.begin));
  return seconds;
}

/// Watts over time, by the trapezoidal rule.
double integral(const std::vector<double>& times, const std::vector<double>& values,
                const std::vector<PhaseSpan>& spans) {
  Spread spread;
  for (std::size_t i = 1; i < times.size(); ++i)
    spread.add(0.5 * (values[i - 1] + values[i]), common(times[i - 1], times[i], spans));
  return spread.sum();
}

/// Share of the readings inside with each bit set; unset bits are omitted.
Json summarise_bits(const Recording& recording, std::size_t column,
                    const std::vector<PhaseSpan>& spans) {
  const std::vector<std::string>& names = recording.columns[column].bits;
  std::vector<std::size_t> set(names.size(), 0);
  std::size_t count = 0;
  for (std::size_t i = 0; i < recording.times.size(); ++i) {
    const double value = recording.values[column][i];
    // Doubles are exact integers only up to here.
    if (!(value >= 0.0 && value < 9e15) || !inside(recording.times[i], spans)) continue;
    ++count;
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t bit = 0; bit < names.size() && bit < 53; ++bit) set[bit] += (bits >> bit) & 1;
  }
  Json shares = Json::object();
  for (std::size_t bit = 0; bit < names.size(); ++bit)
    if (set[bit] > 0) shares[names[bit]] = double(set[bit]) / double(count);
  return {{"n", count}, {"shares", count == 0 ? Json() : shares}};
}

Json summarise_gauge(const Recording& recording, std::size_t column,
                     const std::vector<PhaseSpan>& spans) {
  if (!recording.columns[column].bits.empty()) return summarise_bits(recording, column, spans);
  Spread spread;
  const std::vector<double>& values = recording.values[column];
  for (std::size_t i = 0; i < values.size(); ++i)
    if (inside(recording.times[i], spans)) spread.add(values[i], 1.0);
  Json json = spread.json();
  if (recording.columns[column].unit == "watt")
    json["energy_j"] = number_or_null(integral(recording.times, values, spans));
  return json;
}

Json summarise_counter(const Recording& recording, std::size_t column,
                       const std::vector<PhaseSpan>& spans) {
  Spread rates;
  double total = 0.0;
  const std::vector<double> grown = growth(recording.columns[column], recording.values[column]);
  for (std::size_t i = 0; i < grown.size(); ++i) {
    const double begin = recording.times[i], end = recording.times[i + 1];
    const double seconds = common(begin, end, spans);
    rates.add(grown[i] / (end - begin), seconds);
    // The share is exactly 1 inside, so that counts stay integers.
    if (std::isfinite(grown[i]) && seconds > 0.0) total += grown[i] * (seconds / (end - begin));
  }
  Json json = rates.json();
  json["total"] = rates.empty() ? Json() : number_or_null(total);
  return json;
}

std::string key_of(const PhaseSpan& span) { return span.phase + dump(span.params); }

}  // namespace

std::vector<double> growth(const CounterColumn& column, const std::vector<double>& values) {
  std::vector<double> grown;
  for (std::size_t i = 1; i < values.size(); ++i) {
    double change = values[i] - values[i - 1];
    // A drop by more than half of the range is an overflow, otherwise a reset.
    if (change < 0.0 && change + column.wraps_at >= 0.0 && change < -0.5 * column.wraps_at)
      change += column.wraps_at;
    grown.push_back(change < 0.0 ? kNan : change);
  }
  return grown;
}

Json summarise(const Recording& recording, const std::vector<PhaseSpan>& spans) {
  Json columns = Json::object();
  for (std::size_t i = 0; i < recording.columns.size(); ++i) {
    const CounterColumn& column = recording.columns[i];
    const bool counts = column.kind == CounterColumn::counter;
    Json json =
        counts ? summarise_counter(recording, i, spans) : summarise_gauge(recording, i, spans);
    json["unit"] = counts ? column.unit + "_per_second" : column.unit;
    columns[column.name] = std::move(json);
  }
  return columns;
}

Json summarise_phases(const std::vector<Recording>& recordings, const std::vector<PhaseSpan>& spans,
                      std::size_t most) {
  std::vector<std::vector<PhaseSpan>> groups;
  std::map<std::string, std::size_t> place;
  for (const PhaseSpan& span : spans) {
    const auto [found, is_new] = place.emplace(key_of(span), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(span);
  }
  groups.resize(std::min(groups.size(), most));
  Json phases = Json::array();
  for (const auto& group : groups) {
    double seconds = 0.0;
    for (const PhaseSpan& span : group) seconds += span.end - span.begin;
    Json sources = Json::object();
    for (const Recording& recording : recordings)
      sources[recording.source] = summarise(recording, group);
    phases.push_back({{"phase", group.front().phase},
                      {"params", group.front().params},
                      {"seconds", seconds},
                      {"sources", std::move(sources)}});
  }
  return phases;
}

}  // namespace bench
