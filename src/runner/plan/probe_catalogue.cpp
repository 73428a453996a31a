#include "runner/plan/probe_catalogue.h"

#include <algorithm>

#include "core/error.h"

namespace bench {
namespace {

CeilingRule ceiling_rule(const Json& limit) {
  const auto metric = limit.at("metric").get<std::string>();
  const auto dot = metric.find('.');
  if (dot == std::string::npos)
    throw Error(ErrorKind::input, "limit '" + metric + "' has no probe name",
                "write it as probe.metric");
  return {metric.substr(0, dot), metric.substr(dot + 1),
          limit.value("where", std::map<std::string, std::string>()),
          limit.value("per_rank", false)};
}

ProbeMetric probe_metric(const std::string& name, const Json& json) {
  ProbeMetric metric;
  metric.name = name;
  metric.unit = unit_from(json.at("unit").get<std::string>());
  metric.better = better_from(json.at("better").get<std::string>());
  metric.exact = json.value("exact", false);
  metric.description = json.value("description", "");
  if (json.contains("limit")) metric.ceiling = ceiling_rule(json["limit"]);
  return metric;
}

}  // namespace

ProbeEntry probe_entry(const Json& schema, const std::string& origin) {
  try {
    ProbeEntry entry{schema.at("title"),
                     schema.at("description"),
                     schema.at("devices"),
                     {},
                     Schema(schema, origin)};
    for (const auto& [name, metric] : schema.at("metrics").items())
      entry.metrics.push_back(probe_metric(name, metric));
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, parameter] : properties.items())
      if (parameter.is_object() && parameter.value("process", false))
        entry.process_params.push_back(name);
    entry.environment = schema.value("environment", entry.environment);
    return entry;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::input, origin + ": not a probe schema: " + error.what(),
                "required keys: title, description, devices, metrics, properties");
  } catch (const Error& error) {
    throw Error(error.kind(), origin + ": " + error.what(), error.hint());
  }
}

ProbeCatalogue ProbeCatalogue::load(const std::filesystem::path& folder) {
  std::vector<ProbeEntry> entries;
  std::error_code failure;
  for (const auto& file : std::filesystem::directory_iterator(folder, failure))
    if (file.path().extension() == ".json")
      entries.push_back(probe_entry(read_json(file.path()), file.path().string()));
  if (failure)
    throw Error(ErrorKind::environment,
                "cannot read the probes in " + folder.string() + ": " + failure.message());
  return ProbeCatalogue(std::move(entries));
}

ProbeCatalogue::ProbeCatalogue(std::vector<ProbeEntry> entries) : entries_(std::move(entries)) {
  std::ranges::sort(entries_, {}, &ProbeEntry::name);
}

std::vector<std::string> ProbeCatalogue::metric_names() const {
  std::vector<std::string> names;
  for (const ProbeEntry& probe : entries_)
    for (const ProbeMetric& metric : probe.metrics) names.push_back(probe.name + "." + metric.name);
  return names;
}

std::vector<std::string> ProbeCatalogue::names() const {
  std::vector<std::string> names;
  for (const ProbeEntry& entry : entries_) names.push_back(entry.name);
  return names;
}

const ProbeEntry* ProbeCatalogue::find(const std::string& name) const {
  const auto found = std::ranges::find(entries_, name, &ProbeEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace bench
