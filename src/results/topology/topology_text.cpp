#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/hostlist.h"
#include "core/text.h"
#include "results/json_fields.h"
#include "results/topology/topology_output.h"

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

}  // namespace bench
