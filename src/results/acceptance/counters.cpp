#include "results/acceptance/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

/// "mlx5_0.1" and "symbol_errors"; for a GPU the source names the device.
std::pair<std::string, std::string> split(const std::string& source, const std::string& column) {
  if (source.ends_with(".health")) return {source.substr(0, source.find('.')), column};
  const auto dot = column.rfind('.');
  if (dot == std::string::npos) return {"", column};
  return {column.substr(0, dot), column.substr(dot + 1)};
}

void fill_by_jobs(const Volumes& volumes, HostCounter& counter) {
  const auto volume = volumes.find(counter.device);
  if (counter.rule->counter != "pcie_replays" || volume == volumes.end()) return;
  counter.bytes = volume->second.least;
  counter.bits = volume->second.least * counter.rule->bits_per_byte;
  counter.most_bits = volume->second.most * counter.rule->bits_per_byte;
  counter.case_name = volume->second.case_name;
  counter.by_jobs = true;
}

}  // namespace

void CounterSums::add(const Json& facts, const std::string& job, const std::string& case_name) {
  if (const std::string problem = text_field(facts, "problem"); !problem.empty()) {
    problem_ = problem;
    return;
  }
  const double seconds = std::max(number_field(facts, "seconds", 0.0), 0.0);
  for (const auto& [source, columns] : object_field(facts, "counters").items())
    for (const auto& [column, value] : columns.items()) {
      Sum& sum = sources_[source][column];
      if (!value.is_number()) continue;  // listed among the broken
      const double grown = std::max(value.get<double>(), 0.0);
      sum.count += grown;
      ++sum.jobs;
      if (grown > sum.most) sum.most = grown, sum.job = job, sum.case_name = case_name;
    }
  for (const auto& [source, columns] : object_field(facts, "gauges").items())
    for (const auto& [column, value] : columns.items()) {
      if (!value.is_number()) continue;
      Sum& sum = sources_[source][column];
      sum.integral += value.get<double>() * seconds;
      if (value.get<double>() > sum.highest) sum.highest = value.get<double>(), sum.job = job;
      ++sum.jobs;
    }
  for (const auto& [source, columns] : object_field(facts, "broken").items())
    for (const auto& [column, times] : columns.items()) ++sources_[source][column].broken;
}

const CounterSums::Sum* CounterSums::find(const std::string& source,
                                          const std::string& column) const {
  const auto columns = sources_.find(source);
  if (columns == sources_.end()) return nullptr;
  const auto sum = columns->second.find(column);
  return sum == columns->second.end() ? nullptr : &sum->second;
}

void CounterSums::fill_bits(const std::string& source, HostCounter& counter) const {
  const CounterRule& rule = *counter.rule;
  const bool gpu = source.ends_with(".health");
  const std::string from = gpu                         ? counter.device + ".traffic"
                           : source == "host.ethernet" ? "host.network"
                                                       : source;
  const std::string prefix = gpu ? "" : counter.device + ".";
  double bytes = 0.0, most = -1.0;
  bool known = false;
  for (const std::string_view column : rule.bytes) {
    const Sum* sum = find(from, prefix + std::string(column));
    if (sum == nullptr || (sum->jobs == 0 && sum->broken > 0)) continue;
    known = true;
    bytes += sum->count;
    if (sum->most > most) most = sum->most, counter.case_name = sum->case_name;
  }
  if (!known) return;
  counter.bytes = bytes;
  counter.bits = counter.most_bits = bytes * rule.bits_per_byte;
  if (rule.link_rate.empty()) return;
  const Sum* rate = find(source, prefix + std::string(rule.link_rate));
  if (rate == nullptr || 8.0 * rate->integral <= counter.bits) return;
  counter.bits = counter.most_bits = 8.0 * rate->integral;
  counter.by_time = true;
}

std::string HostCounter::title() const {
  std::string text = fmt::format("{:.10g} {}", count, rule->counter);
  if (!device.empty()) text += " of " + device;
  if (by_time)
    return text + fmt::format(" over {:.3g} link bits while jobs ran, {} of them data", bits,
                              format(Bytes{bytes}));
  if (by_jobs) return text + " over at least " + format(Bytes{bytes}) + " copied by its jobs";
  return std::isfinite(bytes) ? text + " over " + format(Bytes{bytes}) : text;
}

std::vector<HostCounter> CounterSums::counters(const Volumes& volumes) const {
  std::vector<HostCounter> found;
  for (const auto& [source, columns] : sources_)
    for (const auto& [column, sum] : columns) {
      auto [device, name] = split(source, column);
      const CounterRule* rule = counter_rule(source, name);
      if (rule == nullptr) continue;
      HostCounter counter{std::move(device), rule, sum.count > 0.0 ? sum.count : sum.highest};
      counter.known = sum.jobs > 0;
      counter.broken = sum.broken;
      counter.job = sum.job;
      counter.case_name = sum.case_name;
      fill_bits(source, counter);
      if (!(counter.bytes > 0.0)) fill_by_jobs(volumes, counter);
      found.push_back(std::move(counter));
    }
  return found;
}

}  // namespace bench
