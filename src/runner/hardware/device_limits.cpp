#include "runner/hardware/device_limits.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "runner/hardware/hardware_limits.h"
#include "runner/hardware/plausibility.h"

namespace bench {
namespace {

/// Whether all parameters that both state are equal.
bool agree(const Json& a, const Json& b) {
  for (const auto& [name, value] : a.items())
    if (b.contains(name) && b[name] != value) return false;
  return true;
}

/// "kernel copy ": the reported parameters that `stated` lacks.
std::string left_open(const Json& reported, const Json& stated) {
  std::string text;
  for (const auto& [name, value] : reported.items())
    if (!stated.contains(name)) text += name + " " + text_of(value) + " ";
  return text;
}

}  // namespace

std::string reached_by_others(const HardwareEntry& entry, const std::string& metric,
                              const Json& params) {
  std::map<std::string, const ReportedValue*> greatest;
  for (const ReportedValue& one : entry.reported) {
    const bool counts = one.metric == metric && one.kind == "measured" && one.doubt.empty();
    if (!counts || !agree(one.params, params)) continue;
    const ReportedValue*& known = greatest[left_open(one.params, params)];
    if (known == nullptr || one.value > known->value) known = &one;
  }
  std::vector<std::string> words;
  for (const auto& [what, one] : greatest)
    words.push_back(fmt::format(
        "{}{} ({})", what, format(one->value, unit_of({one->metric, one->params})), one->source));
  return words.empty() ? "" : "others reached " + join(words, ", ");
}

namespace {

std::optional<double> number(const Json& facts, const char* key) {
  const auto found = facts.find(key);
  if (found == facts.end() || !found->is_number() || !(found->get<double>() > 0.0)) return {};
  return found->get<double>();
}

std::optional<int> whole_number(const Json& facts, const char* key) {
  constexpr double kMost = 1e9;
  const auto value = number(facts, key);
  return value && *value <= kMost ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

/// A number of links; 0 means that there is none.
std::optional<int> count(const Json& facts, const char* key) {
  constexpr double kMost = 1e6;
  const auto found = facts.find(key);
  if (found == facts.end() || !found->is_number()) return {};
  const double value = found->get<double>();
  return value >= 0.0 && value <= kMost ? std::optional(static_cast<int>(value)) : std::nullopt;
}

/// Collects the limits of one job.
class Collector {
 public:
  Collector(const HardwareEntry& entry, const DeviceFacts& facts, const Job& job)
      : entry_(entry), facts_(facts), job_(job) {}

  /// One limit for each value of a list among the job's parameters.
  void each(const char* list, const char* param, const std::string& metric,
            const Json& path = Json::object()) {
    const auto values = job_.params->find(list);
    if (values == job_.params->end() || !values->is_array()) return;
    for (const Json& value : *values) {
      Json params = path;
      params[param] = value;
      add(metric, metric, params, {{param, value}});
    }
  }

  /// Adds the catalogue's limit of `limited` as a limit of `metric`, for the series that have the
  /// parameters `applies`.
  void add(const std::string& limited, const std::string& metric, const Json& params,
           const Json& applies) {
    const std::string name = job_.probe + "." + limited;
    auto limit = hardware_limit(entry_, facts_, name, params);
    if (!limit) return;
    const std::string others = reached_by_others(entry_, name, params);
    if (!others.empty()) limit->source += "; " + others;
    limits_.push_back({metric, applies, *limit});
  }

  std::vector<KnownLimit> take() { return std::move(limits_); }

 private:
  const HardwareEntry& entry_;
  const DeviceFacts& facts_;
  const Job& job_;
  std::vector<KnownLimit> limits_;
};

}  // namespace

DeviceFacts device_facts_from(const Json& facts) {
  DeviceFacts device;
  if (!facts.is_object()) return device;
  device.name = text_field(facts, "name");
  device.memory_bytes = number(facts, "memory_bytes");
  device.multiprocessors = whole_number(facts, "multiprocessors");
  device.clock_hz = number(facts, "clock_hz");
  device.memory_clock_hz = number(facts, "memory_clock_hz");
  device.memory_bus_bits = whole_number(facts, "memory_bus_bits");
  device.pcie_generation = whole_number(facts, "pcie_generation");
  device.pcie_lanes = whole_number(facts, "pcie_lanes");
  device.pcie_generation_now = whole_number(facts, "pcie_generation_now");
  device.pcie_slowest = text_field(facts, "pcie_slowest");
  device.links = count(facts, "nvlinks");
  device.c2c_links = count(facts, "c2c_links");
  device.c2c_bytes_per_second = number(facts, "c2c_bytes_per_second");
  return device;
}

std::vector<KnownLimit> device_limits(const HardwareCatalogue& catalogue, const DeviceFacts& facts,
                                      const Job& job) {
  const HardwareMatch match = catalogue.match(facts);
  if (match.entry == nullptr) return {};
  Collector limits(*match.entry, facts, job);
  limits.each("dtypes", "dtype", "throughput");
  limits.each("routes", "route", "bandwidth");
  // What fits a cache is not bounded by the memory.
  for (const char* metric : {"bandwidth", "traffic"})
    limits.add("bandwidth", metric, Json::object(), {{"level", "memory"}});
  const Json path = {{"ranks", job.ranks}, {"nodes", job.hosts.size()}};
  for (const char* metric : {"busbw", "algbw"}) limits.each("ops", "op", metric, path);
  return limits.take();
}

}  // namespace bench
