#include "results/run/machines.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/text.h"

namespace bench {
namespace {

constexpr std::string_view kClockMetric = "clock.frequency";

/// Replaces every number, so that "11 other processes" and "10 other processes" are equal.
std::string without_numbers(const std::string& text) {
  std::string masked;
  for (const char c : text) {
    if (!is_digit(c))
      masked += c;
    else if (masked.empty() || masked.back() != '#')
      masked += '#';
  }
  return masked;
}

// The key of the warnings in records of older versions.
constexpr const char* kOldWarnings = "hurts";

void add_warnings(const Json& facts, std::set<std::string>& known, Machine& machine) {
  for (const char* key : {"warnings", kOldWarnings})
    for (const Json& warning : array_field(facts, key))
      if (warning.is_string() && known.insert(without_numbers(warning)).second)
        machine.warnings.push_back(warning);
}

/// Each process reports its host's facts at start; a process pinned to a core sees only that core.
/// Use the processes that see the most CPUs.
struct Stated {
  std::vector<const Json*> host;
  std::vector<const Json*> topology;
  std::vector<const Json*> preflight;  // of a host with GPUs
  std::vector<const Json*> clock;      // of a host whose clock is wrong
  std::vector<const Json*> storage;    // limits of storage measurements
  const Json* gpus = nullptr;
};

double allowed_cpus(const Json& facts) { return number_field(facts, "allowed_cpus", 0.0); }

void keep_widest(std::vector<const Json*>& statements) {
  double widest = 0.0;
  for (const Json* facts : statements) widest = std::max(widest, allowed_cpus(*facts));
  std::erase_if(statements, [&](const Json* facts) { return allowed_cpus(*facts) < widest; });
}

/// Topics of the probes that write and read on storage.
bool states_storage(const std::string& topic) {
  constexpr const char* kTopics[] = {"storage", "checkpoint", "kv_cache", "object_storage"};
  return std::ranges::find(kTopics, topic) != std::end(kTopics);
}

std::map<std::string, Stated> statements(const RunRecords& run) {
  std::map<std::string, Stated> by_host;
  for (const Record& record : run.records) {
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts == nullptr) continue;
    if (facts->topic == "host") by_host[record.host].host.push_back(&facts->facts);
    if (facts->topic == "topology") by_host[record.host].topology.push_back(&facts->facts);
    if (facts->topic == "preflight") by_host[record.host].preflight.push_back(&facts->facts);
    if (facts->topic == "clock") by_host[record.host].clock.push_back(&facts->facts);
    if (states_storage(facts->topic)) by_host[record.host].storage.push_back(&facts->facts);
    if (facts->topic == "gpus") by_host[record.host].gpus = &facts->facts;
  }
  for (auto& [host, stated] : by_host) keep_widest(stated.host);
  return by_host;
}

/// By host: of the first series that was measured.
std::map<std::string, double> measured_clocks(const std::vector<Result>& results) {
  std::map<std::string, double> clocks;
  for (const Result& result : results)
    if (result.series.metric == kClockMetric && result.series.outcome == Status::ok)
      clocks.emplace(result.series.host, result.series.median);
  return clocks;
}

/// The facts that all processes of a build share, without process ID and ranks.
Json as_program(const Json& facts) {
  Json program = {{"name", text_field(facts, "program", text_field(facts, "name", "bench-rank"))},
                  {"version", text_field(facts, "version")},
                  {"libraries", Json::object()}};
  if (facts.contains("compiler")) program["compiler"] = facts["compiler"];
  for (const auto& [name, version] : object_field(facts, "libraries").items())
    if (!version.is_null()) program["libraries"][name] = version;
  return program;
}

/// A process that ran alone used no MPI: its libraries are a subset of another process's.
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

}  // namespace

std::vector<Machine> machines(const RunRecords& run, const std::vector<Result>& results) {
  std::vector<Machine> found;
  const std::map<std::string, double> clocks = measured_clocks(results);
  for (const auto& [host, stated] : statements(run)) {
    Machine machine;
    machine.host = host;
    std::set<std::string> known_warnings;
    for (const auto* topic : {&stated.topology, &stated.host, &stated.clock})
      for (const Json* facts : *topic) machine.facts.update(*facts);
    for (const auto* topic :
         {&stated.clock, &stated.preflight, &stated.host, &stated.topology, &stated.storage})
      for (const Json* facts : *topic) add_warnings(*facts, known_warnings, machine);
    machine.facts.erase("warnings");
    machine.facts.erase(kOldWarnings);
    if (stated.gpus != nullptr) machine.facts["gpus"] = *stated.gpus;
    if (const auto clock = clocks.find(host); clock != clocks.end())
      machine.clock_hz = clock->second;
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
