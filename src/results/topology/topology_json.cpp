#include "results/json_fields.h"
#include "results/topology/topology_output.h"

namespace bench {
namespace {

Json difference_json(const Difference& one) {
  return {{"path", one.path},
          {"severity", to_string(one.severity)},
          {"against", one.against},
          {"expected", one.expected},
          {"found", one.found},
          {"devices", one.devices},
          {"note", text_or_null(one.note)},
          {"alike", one.alike}};
}

Json item_json(const HostFindings& host) {
  Json differences = Json::array();
  for (const Difference& one : host.differences) differences.push_back(difference_json(one));
  return {{"host", host.host},
          {"profile", text_or_null(host.profile)},
          {"verdict", to_string(host.match)},
          {"compared", host.compared},
          {"trouble", text_or_null(host.trouble)},
          {"differences", differences},
          {"unreadable", host.unreadable}};
}

Json item_json(const Undecided& one) {
  Json values = Json::array();
  for (const auto& [value, hosts] : one.values)
    values.push_back({{"value", value}, {"hosts", hosts}});
  return {{"path", one.path}, {"values", values}};
}

Json item_json(const HostKind& kind) {
  Json shape = Json::object();
  for (const auto& [path, trait] : kind.shape) shape[path] = trait.value;
  return {{"hosts", kind.hosts}, {"summary", summary_of(kind.shape)}, {"shape", shape}};
}

template <class One>
Json list_of(const std::vector<One>& list) {
  Json json = Json::array();
  for (const One& one : list) json.push_back(item_json(one));
  return json;
}

}  // namespace

Json to_json(const FleetTopology& fleet, const std::string& run) {
  return {{"run", text_or_null(run)},      {"exit_code", static_cast<int>(exit_code_of(fleet))},
          {"hosts", list_of(fleet.hosts)}, {"undecided", list_of(fleet.undecided)},
          {"kinds", list_of(fleet.kinds)}, {"no_majority", fleet.no_majority}};
}

}  // namespace bench
