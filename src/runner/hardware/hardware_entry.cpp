#include "runner/hardware/hardware_entry.h"

#include <algorithm>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"

namespace bench {
namespace {

template <class T>
std::optional<T> maybe(const Json& json, const char* key) {
  if (!json.contains(key)) return {};
  return json[key].get<T>();
}

HardwarePeak peak_from(const Json& json) {
  return {json.at("dtypes"),
          json.at("pipe"),
          json.at("operations_per_second"),
          maybe<double>(json, "operations_per_cycle"),
          maybe<double>(json, "clock_hz"),
          json.at("source")};
}

HardwareMemory memory_from(const Json& json) {
  return {json.at("kind"),
          json.at("bytes"),
          maybe<double>(json, "bandwidth_bytes_per_second"),
          maybe<double>(json, "bus_bits"),
          maybe<double>(json, "clock_hz"),
          maybe<double>(json, "l2_bytes"),
          json.at("source")};
}

HardwareLink link_from(const Json& json) {
  return {json.at("kind"),
          json.at("links"),
          json.at("link_bytes_per_second"),
          json.at("bytes_per_second"),
          json.at("fabric"),
          maybe<int>(json, "links_to_a_peer"),
          json.at("reduces_in_switch"),
          json.at("source")};
}

HostLink host_link_from(const Json& json) {
  return {json.at("kind"), maybe<int>(json, "pcie_generation"), maybe<int>(json, "pcie_lanes"),
          maybe<double>(json, "bytes_per_second"), json.at("source")};
}

ReportedValue reported_from(const Json& json) {
  return {json.at("metric"), json.at("params"),      json.at("value"),       json.at("kind"),
          json.at("source"), json.value("note", ""), json.value("doubt", "")};
}

/// Every `source` of a figure must be one of the file's `sources`.
void check_source(const HardwareEntry& entry, const std::string& source, const std::string& at,
                  const std::string& origin) {
  if (entry.sources.contains(source)) return;
  std::vector<std::string> known;
  for (const auto& [name, document] : entry.sources) known.push_back(name);
  throw Error(ErrorKind::input,
              origin + ": " + at + "/source: unknown source '" + source + "'." +
                  did_you_mean(source, known),
              "add it to sources with its document");
}

void check_sources(const HardwareEntry& entry, const std::string& origin) {
  for (std::size_t i = 0; i < entry.peaks.size(); ++i)
    check_source(entry, entry.peaks[i].source, "/compute/peaks/" + std::to_string(i), origin);
  for (const char* part : {"compute", "memory", "link", "host_link", "power"})
    if (entry.json.contains(part))
      check_source(entry, entry.json[part].at("source"), std::string("/") + part, origin);
}

}  // namespace

const HardwarePeak* HardwareEntry::peak(const std::string& dtype) const {
  const HardwarePeak* best = nullptr;
  for (const HardwarePeak& one : peaks) {
    const bool has = std::ranges::find(one.dtypes, dtype) != one.dtypes.end();
    if (has && (!best || one.operations_per_second > best->operations_per_second)) best = &one;
  }
  return best;
}

HardwareEntry hardware_entry(const Json& json, const std::string& origin) {
  static const Schema schema = Schema::load(schema_path("hardware"));
  HardwareEntry entry;
  entry.json = schema.check(json, origin);
  const Json& checked = entry.json;
  entry.name = checked.at("hardware");
  entry.product = checked.at("product");
  entry.vendor = checked.at("vendor");
  entry.architecture = checked.at("architecture");
  entry.device_names = checked.at("device_names");
  entry.sources = checked.at("sources");
  const Json& compute = checked.at("compute");
  entry.multiprocessors = maybe<int>(compute, "multiprocessors");
  entry.sparsity_factor = compute.at("sparsity_factor");
  for (const Json& peak : compute.at("peaks")) entry.peaks.push_back(peak_from(peak));
  entry.memory = memory_from(checked.at("memory"));
  if (checked.contains("link")) entry.link = link_from(checked["link"]);
  if (checked.contains("host_link")) entry.host_link = host_link_from(checked["host_link"]);
  if (checked.contains("power")) entry.tdp_w = checked["power"].at("tdp_w").get<double>();
  for (const Json& one : checked.at("reported")) entry.reported.push_back(reported_from(one));
  check_sources(entry, origin);
  return entry;
}

}  // namespace bench
