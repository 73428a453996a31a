#include "runner/hosts/slurm_nodes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "runner/hosts/import_entries.h"

namespace bench {
namespace {

// Node states in which Slurm starts no jobs (man scontrol, NODE STATES).
constexpr std::array<std::string_view, 20> kUnusable = {
    "DOWN",         "DRAIN",       "DRAINED",        "DRAINING",      "ERROR",
    "FAIL",         "FAILING",     "FUTURE",         "INVAL",         "INVALID_REG",
    "MAINT",        "MAINTENANCE", "NO_RESPOND",     "POWER_DOWN",    "POWERING_DOWN",
    "POWERED_DOWN", "POWERING_UP", "NOT_RESPONDING", "REBOOT_ISSUED", "UNKNOWN"};

using Node = std::map<std::string, std::string, std::less<>>;

/// "Key=value" words. The first value of a key counts: free text (OS, Comment, Reason) may contain
/// anything, but comes last.
Node read_node(std::string_view line) {
  Node node;
  for (const std::string_view word : words_of(line)) {
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) continue;
    node.try_emplace(std::string(word.substr(0, sign)), word.substr(sign + 1));
  }
  return node;
}

/// The value, or "" if Slurm has none.
std::string value_of(const Node& node, std::string_view key) {
  const auto found = node.find(key);
  return found == node.end() || found->second == "(null)" ? "" : found->second;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// A '*' after a state means the node does not respond; other signs concern power and planning.
bool is_usable(const std::string& state) {
  if (state.empty()) return false;
  for (std::string part : split(state, '+')) {
    if (part.ends_with('*')) return false;
    while (!part.empty() &&
           std::string_view("~#!%$@^-").find(part.back()) != std::string_view::npos)
      part.pop_back();
    if (std::ranges::find(kUnusable, part) != kUnusable.end()) return false;
  }
  return true;
}

/// "gpu:h100:8(S:0-1)" without the sockets.
std::string without_brackets(std::string_view text) {
  std::string result;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0) result += c;
    if (c == ')' && depth > 0) --depth;
  }
  return result;
}

ImportedHost host_of(const Node& node, const std::string& origin, const TextLine& line) {
  ImportedHost host;
  host.name = value_of(node, "NodeName");
  if (host.name.empty())
    refuse_line(origin, line, "no NodeName in '" + printable(line.text.substr(0, 60)) + "'",
                "expected output of `scontrol show nodes --oneliner`");
  check_host_name(host.name, origin, line);
  host.address = value_of(node, "NodeAddr");
  if (host.address.empty()) host.address = host.name;
  const std::string cpus = value_of(node, "CPUTot");
  const auto slots = read_slots(cpus);
  if (!slots || *slots == 0)
    refuse_line(origin, line,
                "CPUTot='" + printable(cpus) + "' of '" + host.name + "' is not a number",
                "expected output of `scontrol show nodes --oneliner`");
  host.slots = *slots;
  const std::string features = value_of(node, "ActiveFeatures");
  for (const auto& [label, value] :
       {std::pair{"gres", without_brackets(value_of(node, "Gres"))},
        std::pair{"features", features.empty() ? value_of(node, "AvailableFeatures") : features},
        std::pair{"partitions", value_of(node, "Partitions")}})
    if (!value.empty()) host.labels[label] = value;
  return host;
}

[[noreturn]] void refuse_partition(const std::string& partition, const std::set<std::string>& seen,
                                   const std::string& origin) {
  const std::vector<std::string> known(seen.begin(), seen.end());
  throw Error(
      ErrorKind::input,
      origin + ": no nodes in partition '" + printable(partition) + "'." +
          did_you_mean(partition, known),
      known.empty() ? "no node belongs to a partition" : "partitions: " + join(known, ", "));
}

}  // namespace

ImportedHosts import_slurm(std::string_view text, const std::string& origin,
                           const SlurmChoice& choice) {
  std::vector<ImportedHost> hosts;
  std::map<std::string, std::vector<std::string>> left_out;
  std::set<std::string> partitions;
  for (const TextLine& line : lines_of(text)) {
    const Node node = read_node(line.text);
    const auto own = split(value_of(node, "Partitions"), ',');
    partitions.insert(own.begin(), own.end());
    if (!choice.partition.empty() && std::ranges::find(own, choice.partition) == own.end())
      continue;
    ImportedHost host = host_of(node, origin, line);
    const std::string state = value_of(node, "State");
    if (choice.all || is_usable(state))
      hosts.push_back(std::move(host));
    else
      left_out[state].push_back(host.name);
  }
  ImportedHosts imported;
  for (const auto& [state, names] : left_out)
    imported.notes.push_back("skipped nodes in state '" + printable(state) +
                             "': " + compact_hostlist(names));
  if (hosts.empty() && left_out.empty() && !choice.partition.empty())
    refuse_partition(choice.partition, partitions, origin);
  if (hosts.empty())
    throw Error(ErrorKind::input, origin + ": no usable nodes",
                imported.notes.empty()
                    ? "Slurm reports no nodes"
                    : join(imported.notes, "; ") + "; add --all to include them");
  imported.hosts = hosts_file_of(hosts, origin);
  return imported;
}

namespace {

/// Nodes, with their states, whose state is not as `wanted` has it.
std::map<std::string, std::string> nodes_unlike(std::string_view text,
                                                bool (*wanted)(const std::string&)) {
  std::map<std::string, std::string> states;
  for (const std::string& line : split(text, '\n')) {
    const Node node = read_node(line);
    const std::string name = value_of(node, "NodeName"), state = value_of(node, "State");
    if (!name.empty() && !wanted(state)) states[name] = printable(state);
  }
  return states;
}

bool is_idle(const std::string& state) {
  const std::vector<std::string> parts = split(state, '+');
  const bool planned = std::ranges::any_of(parts, [](const std::string& part) {
    return part == "PLANNED" || part == "RESERVED" || part == "COMPLETING" || part.ends_with('-');
  });
  return is_usable(state) && !planned && parts.front().starts_with("IDLE");
}

}  // namespace

std::map<std::string, std::string> unusable_slurm_nodes(std::string_view text) {
  return nodes_unlike(text, is_usable);
}

std::map<std::string, std::string> busy_slurm_nodes(std::string_view text) {
  return nodes_unlike(text, is_idle);
}

}  // namespace bench
