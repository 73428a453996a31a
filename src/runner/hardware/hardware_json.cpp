#include "runner/hardware/hardware_json.h"

#include "runner/hardware/hardware_check.h"
#include "runner/hardware/hardware_limits.h"

namespace bench {

Json hardware_summary(const HardwareEntry& entry) {
  Json peaks = Json::object();
  for (const HardwarePeak& peak : entry.peaks)
    for (const std::string& dtype : peak.dtypes)
      peaks[dtype] = entry.peak(dtype)->operations_per_second;
  const auto known = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  return {{"hardware", entry.name},
          {"product", entry.product},
          {"description", entry.product},
          {"operations_per_second", peaks},
          {"memory_bytes", entry.memory.bytes},
          {"memory_bytes_per_second", known(entry.memory.bytes_per_second)},
          {"link_bytes_per_second", entry.link ? Json(entry.link->bytes_per_second) : Json()},
          {"host_link", entry.json.value("host_link", Json())},
          {"tdp_w", known(entry.tdp_w)}};
}

Json hardware_document(const HardwareCatalogue& catalogue, const HardwareEntry& entry) {
  Json document = entry.json;
  document["limits"] = Json::array();
  for (const KnownLimit& known : limits_of_eight(entry, {})) {
    document["limits"].push_back(to_json(known.limit));
    document["limits"].back()["metric"] = known.metric;
    document["limits"].back()["params"] = known.params;
  }
  document["findings"] = Json::array();
  for (const Finding& finding : check_hardware(catalogue, entry))
    document["findings"].push_back({{"kind", to_string(finding.kind)}, {"text", finding.text}});
  document["contradictions"] = Json::array();
  for (const Finding& finding : contradictions_in(entry))
    document["contradictions"].push_back(finding.text);
  return document;
}

}  // namespace bench
