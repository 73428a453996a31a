#include "probes/traffic/trace_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "core/elements.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::int64_t kMostTraceBytes = std::int64_t{1} << 40;
constexpr double kMostTraceSeconds = 3600.0;

[[noreturn]] void refuse_trace(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::input, where + ": " + what,
              "give a Chakra trace as JSON, as chakra_jsonizer writes it");
}

/// The texts of objects that follow each other without separators.
std::vector<std::string_view> objects_in(std::string_view text, const std::string& where) {
  std::vector<std::string_view> objects;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '"' && depth > 0) {
      quoted = true;
    } else if (c == '{') {
      if (depth++ == 0) begin = i;
    } else if (c == '}') {
      if (--depth < 0) refuse_trace(where, fmt::format("byte {} closes no object", i));
      if (depth == 0) objects.push_back(text.substr(begin, i + 1 - begin));
    } else if (depth == 0 && c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      refuse_trace(where, fmt::format("byte {} is between two objects", i));
    }
  }
  if (depth != 0 || quoted) refuse_trace(where, "the last object has no end");
  return objects;
}

std::vector<Json> nodes_of_trace(std::string_view text, const std::string& where) {
  std::vector<Json> nodes;
  const auto take = [&](Json json) {
    if (!json.is_object()) refuse_trace(where, "a node is not an object");
    nodes.push_back(std::move(json));
  };
  const std::size_t first = text.find_first_not_of(" \n\r\t");
  if (first == std::string_view::npos) refuse_trace(where, "the file is empty");
  if (text[first] == '[') {
    for (Json& node : parse_json(text, where)) take(std::move(node));
    return nodes;
  }
  for (const std::string_view object : objects_in(text, where)) {
    Json json = parse_json(object, where);
    const auto list = json.find("nodes");
    if (list == json.end()) {
      take(std::move(json));
      continue;
    }
    if (!list->is_array()) refuse_trace(where, "nodes is not a list");
    for (Json& node : *list) take(std::move(node));
  }
  return nodes;
}

/// protobuf writes 64-bit numbers as text.
std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > INT64_MAX) return {};
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

/// A member by its name in JSON of protobuf or in the schema: "dataDeps", "data_deps".
const Json* member(const Json& node, const char* camel, const char* snake) {
  for (const char* key : {camel, snake})
    if (const auto found = node.find(key); found != node.end()) return &*found;
  return nullptr;
}

constexpr std::pair<std::string_view, int> kNodeTypes[] = {
    {"COMP_NODE", 4}, {"COMM_SEND_NODE", 5}, {"COMM_RECV_NODE", 6}, {"COMM_COLL_NODE", 7}};

/// By number or name; another type is 0.
int type_of(const Json& node) {
  const auto found = node.find("type");
  if (found == node.end()) return 0;
  if (const auto number = whole_number(*found))
    return *number >= 4 && *number <= 7 ? static_cast<int>(*number) : 0;
  if (!found->is_string()) return 0;
  for (const auto& [name, number] : kNodeTypes)
    if (found->get_ref<const std::string&>() == name) return number;
  return 0;
}

constexpr std::string_view kCollectiveTypes[] = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

/// Reads one node of JSON.
class NodeReader {
 public:
  NodeReader(const Json& node, std::size_t number, const std::string& where)
      : node_(node), where_(where), at_(fmt::format("node {}", number)) {
    const Json* id = member(node, "id", "id");
    // protobuf leaves out zeros.
    const auto value = id == nullptr ? std::optional<std::int64_t>(0) : whole_number(*id);
    if (!value || *value < 0) refuse("id is not a number");
    id_ = static_cast<std::uint64_t>(*value);
    at_ = fmt::format("node with id {}", id_);
    read_attributes();
  }

  std::uint64_t id() const { return id_; }

  std::vector<std::uint64_t> dependencies() const {
    std::vector<std::uint64_t> all;
    for (const auto& [camel, snake] :
         {std::pair{"ctrlDeps", "ctrl_deps"}, std::pair{"dataDeps", "data_deps"}}) {
      const Json* list = member(node_, camel, snake);
      if (list == nullptr) continue;
      if (!list->is_array()) refuse(std::string(snake) + " is not a list");
      for (const Json& one : *list) {
        const auto id = whole_number(one);
        if (!id || *id < 0)
          refuse(std::string(snake) + " has " + excerpt(one) + ", which is not an id");
        all.push_back(static_cast<std::uint64_t>(*id));
      }
    }
    return all;
  }

  /// Nothing for a node that neither computes nor communicates, or is left out.
  std::optional<TraceNode> read(std::map<std::string, std::int64_t>& left_out) const {
    const int type = type_of(node_);
    TraceNode node{.id = id_};
    if (type == 0) return {};
    if (type == 4) {
      const Json* duration = member(node_, "durationMicros", "duration_micros");
      const auto micros =
          duration == nullptr ? std::optional<std::int64_t>(0) : whole_number(*duration);
      if (!micros || *micros < 0 || static_cast<double>(*micros) > kMostTraceSeconds * 1e6)
        refuse(fmt::format("duration_micros is not a number from 0 to {:.0e}",
                           kMostTraceSeconds * 1e6));
      node.seconds = static_cast<double>(*micros) * 1e-6;
      if (node.seconds > 0.0) return node;
      return {};
    }
    if (const auto group = texts_.find("pg_name"); group != texts_.end())
      node.group = group->second;
    if (type == 7) {
      const std::int64_t collective = attribute("comm_type", std::size(kCollectiveTypes) - 1);
      const std::string name(kCollectiveTypes[static_cast<std::size_t>(collective)]);
      if (name == "ALL_REDUCE")
        node.kind = TrafficKind::sum;
      else if (name == "ALL_GATHER")
        node.kind = TrafficKind::gather;
      else if (name == "ALL_TO_ALL")
        node.kind = TrafficKind::all_to_all;
      else if (name.starts_with("REDUCE_SCATTER"))
        node.kind = TrafficKind::scatter_sum;
      else if (name == "BARRIER")
        node.kind = TrafficKind::control;
      else
        return ++left_out[name], std::nullopt;
      if (name != "BARRIER") node.bytes = attribute("comm_size", kMostTraceBytes);
      return node;
    }
    node.bytes = attribute("comm_size", kMostTraceBytes);
    node.kind = type == 5 ? TrafficKind::send : TrafficKind::receive;
    node.peer = attribute(type == 5 ? "comm_dst" : "comm_src", 1 << 24);
    return node;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_trace(where_, at_ + ": " + what);
  }

  void read_attributes() {
    const Json* list = member(node_, "attr", "attr");
    if (list == nullptr) return;
    if (!list->is_array()) refuse("attr is not a list");
    for (const Json& one : *list) {
      if (!one.is_object() || !one.contains("name") || !one.at("name").is_string())
        refuse("an attribute has no name");
      const std::string name = one.at("name");
      names_.insert(name);
      for (const auto& [key, value] : one.items()) {
        if (!key.ends_with("Val") && !key.ends_with("_val")) continue;
        if (const auto number = whole_number(value)) numbers_[name] = *number;
        if (value.is_string()) texts_[name] = value;
      }
    }
  }

  /// 0 for a name without a value, as protobuf leaves out zeros.
  std::int64_t attribute(const char* name, std::int64_t most) const {
    if (!names_.contains(name)) refuse(fmt::format("{} is missing", name));
    const auto found = numbers_.find(name);
    const std::int64_t value = found == numbers_.end() ? 0 : found->second;
    if (value < 0 || value > most)
      refuse(fmt::format("{} is {}, not from 0 to {}", name, value, most));
    return value;
  }

  const Json& node_;
  const std::string& where_;
  std::string at_;
  std::uint64_t id_ = 0;
  std::set<std::string> names_ = {};  // of attributes
  std::map<std::string, std::int64_t> numbers_ = {};
  std::map<std::string, std::string> texts_ = {};
};

}  // namespace

ExecutionTrace parse_execution_trace(std::string_view text, const std::string& where) {
  const std::vector<Json> json = nodes_of_trace(text, where);
  ExecutionTrace trace;
  std::map<std::uint64_t, std::size_t> numbers;  // of nodes, by id
  std::vector<std::vector<std::uint64_t>> needs;
  std::vector<std::optional<TraceNode>> nodes;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].contains("type")) continue;  // metadata of the trace
    const NodeReader reader(json[i], i, where);
    if (!numbers.emplace(reader.id(), nodes.size()).second)
      refuse_trace(where, fmt::format("two nodes have the id {}", reader.id()));
    needs.push_back(reader.dependencies());
    nodes.push_back(reader.read(trace.left_out));
  }
  // In the order of the file where dependencies allow it.
  std::vector<std::vector<std::size_t>> users(nodes.size());
  std::vector<std::size_t> open(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::uint64_t id : needs[i]) {
      const auto found = numbers.find(id);
      if (found == numbers.end())
        refuse_trace(where, fmt::format("a node depends on id {}, which the trace lacks", id));
      users[found->second].push_back(i);
      ++open[i];
    }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (open[i] == 0) ready.push(i);
  std::size_t done = 0;
  for (; !ready.empty(); ++done) {
    const std::size_t next = ready.top();
    ready.pop();
    if (nodes[next]) trace.nodes.push_back(*nodes[next]);
    for (const std::size_t user : users[next])
      if (--open[user] == 0) ready.push(user);
  }
  if (done < nodes.size())
    refuse_trace(where, fmt::format("{} nodes form a dependency cycle", nodes.size() - done));
  if (std::ranges::none_of(trace.nodes,
                           [](const TraceNode& node) { return node.kind != TrafficKind::compute; }))
    refuse_trace(where, "no node communicates");
  return trace;
}

StepSchedule make_trace_schedule(const ExecutionTrace& trace, const TraceSettings& settings,
                                 const TrafficSplit& split, const TrafficPlace& place,
                                 const std::string& where) {
  StepSchedule schedule;
  const auto size = static_cast<std::int64_t>(size_of(settings.dtype));
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  for (const TraceNode& node : trace.nodes) {
    TrafficOp op{.kind = node.kind, .what = "trace", .seconds = node.seconds * settings.time_scale};
    if (node.kind == TrafficKind::compute) {
      if (op.seconds > 0.0) schedule.ops.push_back(std::move(op));
      continue;
    }
    const bool message = node.kind == TrafficKind::send || node.kind == TrafficKind::receive;
    if (!message && !node.group.empty()) {
      const auto found = settings.groups.find(node.group);
      if (found == settings.groups.end())
        throw Error(ErrorKind::input,
                    fmt::format("{}: node with id {} is of group '{}', which is not known", where,
                                node.id, printable(node.group)),
                    "name it in trace_groups, as one of all, tp, pp, dp, cp, ep, edp");
      op.group = found->second;
    }
    const int ranks = group_size(op.group, split, place);
    const std::int64_t elements = up(node.bytes, size);
    if (ranks == 1) {
      ++schedule.of_one_rank;
      continue;
    }
    if (elements == 0 && node.kind != TrafficKind::control) {
      ++schedule.empty;
      continue;
    }
    op.node = node.id;
    op.elements = elements;
    op.slot = schedule.slots++;
    if (message) {
      if (node.peer >= ranks || node.peer == place.rank)
        throw Error(ErrorKind::input,
                    fmt::format("{}: node with id {} of rank {} has a message for rank {} of {}",
                                where, node.id, place.rank, node.peer, ranks),
                    "start as many ranks as the trace has, each with its own ({rank} in the path)");
      op.peer = static_cast<int>(node.peer);
    } else if (node.kind == TrafficKind::scatter_sum) {
      op.elements = up(elements, ranks);
    } else if (node.kind == TrafficKind::all_to_all) {
      const std::int64_t each = up(elements, ranks);
      op.elements = each;
      op.to.assign(static_cast<std::size_t>(ranks), each);
      op.from = op.to;
      op.from_first.assign(static_cast<std::size_t>(ranks),
                           rank_in_group(op.group, split, place) * each);
    } else if (node.kind == TrafficKind::control) {
      op.elements = 1;
    }
    schedule.ops.push_back(std::move(op));
  }
  return schedule;
}

std::uint64_t fingerprint(const StepSchedule& schedule, TrafficGroup group) {
  std::uint64_t all = 0;
  for (const TrafficOp& op : schedule.ops) {
    const bool message = op.kind == TrafficKind::send || op.kind == TrafficKind::receive;
    if (op.kind == TrafficKind::compute || message || op.group != group) continue;
    all = random_bits(random_bits(all, static_cast<std::uint64_t>(op.kind)),
                      static_cast<std::uint64_t>(op.elements));
  }
  return all;
}

}  // namespace bench
