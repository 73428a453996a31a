#include "results/reports/machines.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace bench {
namespace {

constexpr std::string_view kClockMetric = "clock.frequency";

void add_hurts(const Json& hurts, Machine& machine) {
  for (const Json& hurt : hurts) {
    if (!hurt.is_string()) continue;
    const auto text = hurt.get<std::string>();
    if (std::find(machine.hurts.begin(), machine.hurts.end(), text) == machine.hurts.end())
      machine.hurts.push_back(text);
  }
}

/// What topology says in general, "host" says for sure: it wins where both state a key.
struct Stated {
  Json host = Json::object();
  Json topology = Json::object();
  std::vector<const Json*> hurts;
};

std::map<std::string, Stated> statements(const RunRecords& run) {
  std::map<std::string, Stated> by_host;
  for (const Record& record : run.records) {
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts == nullptr || (facts->topic != "host" && facts->topic != "topology")) continue;
    Stated& stated = by_host[record.host];
    (facts->topic == "host" ? stated.host : stated.topology).update(facts->facts);
    stated.hurts.push_back(&array_field(facts->facts, "hurts"));
  }
  return by_host;
}

/// What is the same for all processes of a build: not the process's id, not its ranks.
Json as_program(const Json& facts) {
  Json program = {{"name", text_field(facts, "program", text_field(facts, "name", "bench-rank"))},
                  {"version", text_field(facts, "version")},
                  {"libraries", Json::object()}};
  if (facts.contains("compiler")) program["compiler"] = facts["compiler"];
  for (const auto& [name, version] : object_field(facts, "libraries").items())
    if (!version.is_null()) program["libraries"][name] = version;
  return program;
}

/// A process that ran alone used no MPI: its libraries are a part of another process's.
bool agree(const Json& a, const Json& b) {
  for (const auto& [name, version] : a["libraries"].items())
    if (b["libraries"].contains(name) && b["libraries"][name] != version) return false;
  return a["name"] == b["name"] && a["version"] == b["version"];
}

void add_program(Json program, Json& list) {
  for (Json& known : list) {
    if (!agree(program, known)) continue;
    known["libraries"].update(program["libraries"]);
    return;
  }
  list.push_back(std::move(program));
}

double measured_clock(const std::string& host, const std::vector<Result>& results) {
  for (const Result& result : results)
    if (result.series.metric == kClockMetric && result.series.host == host &&
        result.series.outcome == Status::ok)
      return result.series.median;
  return kNoValue;
}

}  // namespace

std::vector<Machine> machines(const RunRecords& run, const std::vector<Result>& results) {
  std::vector<Machine> found;
  for (const auto& [host, stated] : statements(run)) {
    Machine machine;
    machine.host = host;
    machine.facts = stated.topology;
    machine.facts.update(stated.host);
    machine.facts.erase("hurts");
    for (const Json* hurts : stated.hurts) add_hurts(*hurts, machine);
    machine.clock_hz = measured_clock(host, results);
    found.push_back(std::move(machine));
  }
  return found;
}

Json programs(const RunRecords& run) {
  Json list = Json::array();
  const std::string benchctl = text_field(run.plan, "benchctl_version");
  if (!benchctl.empty()) list.push_back(as_program({{"name", "benchctl"}, {"version", benchctl}}));
  for (const Record& record : run.records)
    if (const auto* facts = std::get_if<Facts>(&record.body);
        facts != nullptr && facts->topic == "program")
      add_program(as_program(facts->facts), list);
  return list;
}

}  // namespace bench
