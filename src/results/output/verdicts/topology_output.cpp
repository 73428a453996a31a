#include "results/output/verdicts/topology_output.h"

#include <fmt/format.h>

#include "core/hostlist.h"
#include "core/json_fields.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostDifferences = 40;  // of one host
constexpr std::size_t kMostUndecided = 40;

/// "" if unknown or absent.
std::string text_at(const Shape& shape, const std::string& path) {
  const Json& value = value_at(shape, path);
  return value.is_null() || value == "none" || is_unreadable_trait(value) ? ""
                                                                          : value_text(path, value);
}

/// A label shared by all devices of a group is printed once.
std::string text_of_group(const Shape& shape, const std::string& path) {
  const Json& value = value_at(shape, path);
  if (!is_counts(value) || value.size() != 1) return text_at(shape, path);
  const std::string label = value.begin().key();
  return label == "none" || label == "alone" ? "" : label;
}

void add(std::vector<std::string>& parts, const std::string& value, const std::string& after = "") {
  if (!value.empty()) parts.push_back(value + after);
}

std::string machine_line(const Shape& shape) {
  std::vector<std::string> parts;
  add(parts, text_at(shape, "machine/vendor"));
  add(parts, text_at(shape, "machine/product"));
  const std::string bios = text_at(shape, "machine/bios_version");
  const std::string kernel = text_at(shape, "software/kernel");
  std::string line = join(parts, " ");
  if (!bios.empty()) line += (line.empty() ? "" : ", ") + ("BIOS " + bios);
  if (!kernel.empty()) line += (line.empty() ? "" : ", ") + ("Linux " + kernel);
  return line;
}

std::string processor_line(const Shape& shape) {
  std::vector<std::string> parts;
  add(parts, fmt::format("{} x {}", text_at(shape, "processor/packages"),
                         text_at(shape, "processor/model")));
  add(parts, text_at(shape, "processor/cores"), " cores");
  add(parts, text_at(shape, "processor/hardware_threads"), " hardware threads");
  add(parts, text_at(shape, "memory/total_bytes"));
  add(parts, text_at(shape, "numa/count"),
      value_at(shape, "numa/count") == 1 ? " NUMA node" : " NUMA nodes");
  add(parts, text_at(shape, "memory/modules"));
  return join(parts, ", ");
}

std::string group_line(const Shape& shape, const std::string& group) {
  std::vector<std::string> parts;
  for (const char* trait :
       {"/model", "/link", "/numa", "/switch", "/port", "/speed", "/firmware", "/ib_firmware"})
    add(parts, text_of_group(shape, group + trait));
  const std::string head = text_at(shape, group + "/count") + " x " + group;
  return parts.empty() ? head : head + ": " + join(parts, " | ");
}

/// Of a kind of host: "2 x AMD EPYC 7742, 128 cores", "8 x gpu/10de:20b0 ...".
std::vector<std::string> summary_of(const Shape& shape) {
  std::vector<std::string> lines;
  add(lines, machine_line(shape));
  if (shape.contains("processor/packages")) lines.push_back(processor_line(shape));
  for (const auto& [path, trait] : shape) {
    const auto group = path.substr(0, path.rfind('/'));
    if (path.ends_with("/count") && group.find('/') != std::string::npos)
      lines.push_back(group_line(shape, group));
  }
  const std::string driver = text_at(shape, "software/nvidia_driver");
  if (!driver.empty()) lines.push_back("NVIDIA driver " + driver);
  return lines;
}

/// Names from hosts files form a hostlist expression; file names may not.
std::string hosts_text(const std::vector<std::string>& hosts) {
  try {
    return compact_hostlist(hosts);
  } catch (const Error&) {
    return join(hosts, ",");
  }
}

Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::missing:
    case Severity::degraded:
    case Severity::different:
      return Tone::bad;
    case Severity::unreadable:
      return Tone::faint;
    default:
      return Tone::unsure;
  }
}

/// Reasons with the affected paths and hosts.
void add_unreadable(Document& document, const FleetTopology& fleet) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_why;
  for (const HostFindings& host : fleet.hosts)
    for (const auto& [path, why] : host.unreadable) by_why[{path, why}].push_back(host.host);
  if (by_why.empty()) return;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> merged;
  for (const auto& [what, hosts] : by_why)
    merged[{hosts_text(hosts), what.second}].push_back(what.first);
  Lines lines;
  for (const auto& [who, paths] : merged)
    lines.lines.emplace_back(who.first + ": " + join(paths, ", ") + ": " + who.second);
  document.add(Heading{"Unreadable"}).add(std::move(lines));
}

void add_undecided(Document& document, const FleetTopology& fleet) {
  if (fleet.undecided.empty()) return;
  ItemList list{.items = {}, .most = kMostUndecided};
  for (const Undecided& one : fleet.undecided) {
    std::vector<std::string> values;
    for (const auto& [value, hosts] : one.values)
      values.push_back(hosts_text(hosts) + " " + value_text(one.path, value));
    list.items.push_back({one.path + ": " + join(values, " | ")});
  }
  document.add(Heading{"Hosts differ without a majority"}).add(std::move(list));
}

void add_same(Document& document, const FleetTopology& fleet) {
  std::vector<std::string> same, alone;
  for (const HostFindings& host : fleet.hosts)
    if (host.match == HostMatch::same) (host.compared ? same : alone).push_back(host.host);
  if (!same.empty())
    document.add(
        Paragraph{std::vector<TextSpan>{{"as expected: ", Tone::good}, {hosts_text(same)}}});
  if (!alone.empty()) document.add(Paragraph{"not compared: " + hosts_text(alone)});
}

void add_host(Document& document, const HostFindings& host) {
  const bool differs = host.match == HostMatch::differs;
  std::vector<TextSpan> title = {
      {host.host + "  "}, {differs ? "DIFFERS" : "UNKNOWN", differs ? Tone::bad : Tone::unsure}};
  if (!host.profile.empty()) title.push_back({"  (profile " + host.profile + ")", Tone::faint});
  ItemList list{.items = {}, .most = kMostDifferences};
  if (!host.trouble.empty()) list.items.push_back({host.trouble});
  for (const Difference& one : host.differences)
    list.items.push_back({std::vector<TextSpan>{
        {fmt::format("{:<11}", to_string(one.severity)), tone_of(one.severity)},
        {difference_text(one)}}});
  document.add(Heading{std::move(title)}).add(std::move(list));
}

}  // namespace

Document to_document(const FleetTopology& fleet) {
  Document document{.title = "Topology"};
  for (const HostKind& kind : fleet.kinds) {
    const std::string count =
        fmt::format("  ({} host{})", kind.hosts.size(), kind.hosts.size() == 1 ? "" : "s");
    document.add(Heading{std::vector<TextSpan>{{hosts_text(kind.hosts)}, {count, Tone::faint}}});
    document.add(lines_of(summary_of(kind.shape)));
  }
  add_unreadable(document, fleet);
  add_undecided(document, fleet);
  for (const std::string& why : fleet.no_majority) document.add(Paragraph{why});
  add_same(document, fleet);
  for (const HostFindings& host : fleet.hosts)
    if (host.match != HostMatch::same) add_host(document, host);
  return document;
}

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
Json items_json(const std::vector<One>& list) {
  Json json = Json::array();
  for (const One& one : list) json.push_back(item_json(one));
  return json;
}

}  // namespace

Json to_json(const FleetTopology& fleet, const std::string& run) {
  return {{"run", text_or_null(run)},         {"exit_code", static_cast<int>(exit_code_of(fleet))},
          {"hosts", items_json(fleet.hosts)}, {"undecided", items_json(fleet.undecided)},
          {"kinds", items_json(fleet.kinds)}, {"no_majority", fleet.no_majority}};
}

}  // namespace bench
