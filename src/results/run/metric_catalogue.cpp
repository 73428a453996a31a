#include "results/run/metric_catalogue.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/locations.h"
#include "core/names.h"
#include "core/order_statistics.h"

namespace bench {
namespace {

constexpr NameTable<Resource, 6> kResources{{{{Resource::compute, "compute"},
                                              {Resource::memory, "memory"},
                                              {Resource::links, "links"},
                                              {Resource::latency, "latency"},
                                              {Resource::workload, "workload"},
                                              {Resource::other, "other"}}}};

MetricDeclaration read_declaration(const Json& metric) {
  MetricDeclaration read;
  read.resource = kResources.value(metric.at("resource").get<std::string>(), "resource");
  read.exact = metric.value("exact", false);
  read.log_scale = !read.exact && metric.value("scale", "log") == "log";
  read.threshold = metric.value("threshold", read.exact ? 0.0 : read.threshold);
  read.noise_floor = metric.value("noise_floor", read.exact ? 0.0 : read.noise_floor);
  read.judged = metric.value("judged", true);
  read.peer_threshold = metric.value("peer_threshold", read.peer_threshold);
  return read;
}

MetricCatalogue read_catalogue() {
  MetricCatalogue catalogue;
  for (const auto& entry : std::filesystem::directory_iterator(data_root() / "schemas" / "probes"))
    if (entry.path().extension() == ".json")
      catalogue.add_probe(entry.path().stem().string(), read_json(entry.path()),
                          entry.path().string());
  return catalogue;
}

}  // namespace

std::string_view to_string(Resource resource) { return kResources.name(resource); }

void MetricCatalogue::add_probe(const std::string& probe, const Json& schema,
                                const std::string& origin) {
  if (!schema.contains("metrics")) return;
  std::vector<Resource> resources;
  for (const auto& [name, metric] : schema.at("metrics").items()) {
    if (!metric.is_object() || !metric.contains("resource") || !metric.at("resource").is_string())
      throw Error(ErrorKind::input, origin + ": metric '" + name + "' has no resource",
                  "declare one of compute, memory, links, latency, workload, other");
    MetricDeclaration read = read_declaration(metric);
    if (const std::string same = metric.value("same_as", ""); !same.empty()) {
      if (!schema.at("metrics").contains(same) || same == name)
        throw Error(ErrorKind::input,
                    origin + ": metric '" + name + "' is declared the same as '" + same +
                        "', which is no other metric of the probe",
                    "name another metric, or remove same_as");
      read.same_as = probe + "." + same;
    }
    metrics_[probe + "." + name] = read;
    resources.push_back(read.resource);
  }
  const bool equal = std::ranges::adjacent_find(resources, std::not_equal_to{}) == resources.end();
  if (!resources.empty()) probes_[probe] = equal ? resources.front() : Resource::other;
}

MetricDeclaration MetricCatalogue::find(const std::string& metric) const {
  if (const auto found = metrics_.find(metric); found != metrics_.end()) return found->second;
  MetricDeclaration undeclared;
  const auto probe = probes_.find(std::string_view(metric).substr(0, metric.find('.')));
  if (probe != probes_.end()) undeclared.resource = probe->second;
  return undeclared;
}

const MetricCatalogue& metric_catalogue() {
  static const MetricCatalogue catalogue = read_catalogue();
  return catalogue;
}

MetricDeclaration declaration(const std::string& metric) { return metric_catalogue().find(metric); }

std::optional<double> practical_threshold(const std::string& metric,
                                          const std::map<std::string, double>& changed) {
  if (const auto found = changed.find(metric); found != changed.end()) return found->second;
  const MetricDeclaration declared = declaration(metric);
  if (!declared.judged) return {};
  return declared.peer_threshold;
}

Resource resource_of(const std::string& metric) { return declaration(metric).resource; }

double combined(std::span<const double> repeats, Combine how) {
  switch (how) {
    case Combine::least:
      return quantile(repeats, 0.0);
    case Combine::greatest:
      return quantile(repeats, 1.0);
    case Combine::median:
      break;
  }
  return median(repeats);
}

}  // namespace bench
