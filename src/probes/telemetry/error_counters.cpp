#include "probes/telemetry/error_counters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/fields.h"
#include "probes/telemetry/summary.h"

namespace bench {
namespace {

constexpr double kIdleBytes = 1 << 20;  // on a path that a job did not use: keep-alives

constexpr std::array<std::string_view, 6> kSources = {"host.infiniband", "host.network",
                                                      "host.ethernet",   "host.memory_errors",
                                                      "host.pcie",       "host.cpu_errors"};

bool counts_errors(std::string_view source) {
  return source.ends_with(".health") || source.ends_with(".traffic") ||
         std::ranges::find(kSources, source) != kSources.end();
}

double last_known(const std::vector<double>& values) {
  const auto known = std::find_if(values.rbegin(), values.rend(),
                                  [](double value) { return std::isfinite(value); });
  return known == values.rend() ? std::nan("") : *known;
}

void add_counter(const Recording& recording, std::size_t i, Json& totals) {
  const CounterColumn& column = recording.columns[i];
  double sum = 0.0;
  std::size_t known = 0, broken = 0;
  for (const double grown : growth(column, recording.values[i])) {
    std::isfinite(grown) ? ++known : ++broken;
    if (std::isfinite(grown)) sum += grown;
  }
  totals["counters"][recording.source][column.name] = known > 0 ? number_or_null(sum) : Json();
  if (broken > 0) totals["broken"][recording.source][column.name] = broken;
}

}  // namespace

CounterSources error_sources(CounterSources all) {
  std::erase_if(all, [](const auto& source) { return !counts_errors(source->name()); });
  return all;
}

Json counter_totals(const std::vector<Recording>& recordings, double seconds) {
  Json totals = {{"seconds", seconds},
                 {"counters", Json::object()},
                 {"gauges", Json::object()},
                 {"broken", Json::object()}};
  for (const Recording& recording : recordings) {
    if (!counts_errors(recording.source)) continue;
    for (std::size_t i = 0; i < recording.columns.size(); ++i) {
      if (recording.columns[i].kind == CounterColumn::counter)
        add_counter(recording, i, totals);
      else if (const double last = last_known(recording.values[i]); std::isfinite(last))
        totals["gauges"][recording.source][recording.columns[i].name] = last;
    }
  }
  return totals;
}

void drop_idle(Json& totals) {
  for (const char* kind : {"counters", "gauges"}) {
    Json kept = Json::object();
    for (const auto& [source, columns] : totals[kind].items())
      for (const auto& [name, value] : columns.items()) {
        const double least = std::string_view(name).ends_with("_bytes") ? kIdleBytes : 0.0;
        if (!value.is_number() || value.get<double>() > least) kept[source][name] = value;
      }
    totals[kind] = std::move(kept);
  }
}

}  // namespace bench
