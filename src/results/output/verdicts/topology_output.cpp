// A kind of host in a few lines, as the reference for differences.
#include "results/output/verdicts/topology_output.h"

#include <fmt/format.h>


#include "core/hostlist.h"
#include "core/json_fields.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMostDifferences = 40;  // of one host
constexpr std::size_t kMostUndecided = 40;
constexpr std::size_t kHead = 13;

/// Names from hosts files form a hostlist expression; file names may not.
std::string hosts_text(const std::vector<std::string>& hosts) {
  try {
    return printable(compact_hostlist(hosts));
  } catch (const Error&) {
    return printable(join(hosts, ","));
  }
}

Paint paint_of(Severity severity) {
  switch (severity) {
    case Severity::missing:
    case Severity::degraded:
    case Severity::different:
      return Paint::red;
    case Severity::unreadable:
      return Paint::dim;
    default:
      return Paint::yellow;
  }
}

std::string host_text(const HostFindings& host, const TextStyle& style) {
  std::string text = paint(printable(host.host), Paint::bold, style) + "  " +
                     paint(host.match == HostMatch::differs ? "DIFFERS" : "UNKNOWN",
                           host.match == HostMatch::differs ? Paint::red : Paint::yellow, style);
  if (!host.profile.empty()) text += "  (profile " + printable(host.profile) + ")";
  text += "\n";
  if (!host.trouble.empty()) text += "  " + wrap(printable(host.trouble), 2, 4, style) + "\n";
  std::size_t shown = 0;
  for (const Difference& one : host.differences)
    if (++shown <= kMostDifferences)
      text += "  " +
              paint(fmt::format("{:<11}", to_string(one.severity)), paint_of(one.severity), style) +
              wrap(printable(difference_text(one)), kHead, kHead + 2, style) + "\n";
  if (shown > kMostDifferences)
    text += fmt::format("  and {} more (see --json)\n", shown - kMostDifferences);
  return text;
}

std::string undecided_text(const FleetTopology& fleet, const TextStyle& style) {
  if (fleet.undecided.empty()) return "";
  std::string text = "\nhosts differ without a majority:\n";
  std::size_t shown = 0;
  for (const Undecided& one : fleet.undecided) {
    if (++shown > kMostUndecided) continue;
    std::vector<std::string> values;
    for (const auto& [value, hosts] : one.values)
      values.push_back(hosts_text(hosts) + " " + value_text(one.path, value));
    text += "  " + wrap(printable(one.path + ": " + join(values, " | ")), 2, 4, style) + "\n";
  }
  if (shown > kMostUndecided)
    text += fmt::format("  and {} more (see --json)\n", shown - kMostUndecided);
  return text;
}

/// Reasons with the affected paths and hosts.
std::string unreadable_text(const FleetTopology& fleet, const TextStyle& style) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_why;
  for (const HostFindings& host : fleet.hosts)
    for (const auto& [path, why] : host.unreadable) by_why[{path, why}].push_back(host.host);
  if (by_why.empty()) return "";
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> merged;
  for (const auto& [what, hosts] : by_why)
    merged[{hosts_text(hosts), what.second}].push_back(what.first);
  std::string text = "\nunreadable:\n";
  for (const auto& [who, paths] : merged)
    text += "  " +
            wrap(printable(who.first + ": " + join(paths, ", ") + ": " + who.second), 2, 4, style) +
            "\n";
  return text;
}

std::string kinds_text(const FleetTopology& fleet, const TextStyle& style) {
  std::string text;
  for (const HostKind& kind : fleet.kinds) {
    text += fmt::format("{}  ({} host{})\n", paint(hosts_text(kind.hosts), Paint::bold, style),
                        kind.hosts.size(), kind.hosts.size() == 1 ? "" : "s");
    for (const std::string& line : summary_of(kind.shape))
      text += "  " + wrap(printable(line), 2, 4, style) + "\n";
  }
  return text;
}

std::string same_text(const FleetTopology& fleet, const TextStyle& style) {
  std::vector<std::string> same, alone;
  for (const HostFindings& host : fleet.hosts)
    if (host.match == HostMatch::same) (host.compared ? same : alone).push_back(host.host);
  std::string text;
  if (!same.empty()) text += paint("as expected: ", Paint::green, style) + hosts_text(same) + "\n";
  if (!alone.empty()) text += "not compared: " + hosts_text(alone) + "\n";
  return text;
}

}  // namespace

std::string to_text(const FleetTopology& fleet, const TextStyle& style) {
  std::string text = kinds_text(fleet, style) + unreadable_text(fleet, style) +
                     undecided_text(fleet, style) + "\n";
  for (const std::string& why : fleet.no_majority) text += printable(why) + "\n";
  text += same_text(fleet, style);
  for (const HostFindings& host : fleet.hosts)
    if (host.match != HostMatch::same) text += host_text(host, style);
  return text;
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

namespace {

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

}  // namespace

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

}  // namespace bench
