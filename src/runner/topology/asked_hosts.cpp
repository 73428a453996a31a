#include "runner/topology/asked_hosts.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "runner/launch/program_output.h"

namespace bench {
namespace {

constexpr Seconds kReads{60.0};  // for one saved topology

bool was_interrupted(const Record& record) {
  const auto* event = std::get_if<Event>(&record.body);
  return event != nullptr && event->key == kRunEndEvent && event->value.is_object() &&
         event->value.value("state", Json()) == "interrupted";
}

Host host_named(const std::string& name) {
  Host host;
  host.name = name;
  host.address = name;
  return host;
}

Json saved_facts(const std::string& file, const std::string& rank_program) {
  const std::string path = std::filesystem::absolute(file).string();
  try {
    return parse_json(program_output({rank_program, "--topology", path}, kReads), file);
  } catch (const Error& error) {
    if (!std::filesystem::exists(rank_program)) throw;
    throw Error(ErrorKind::input, file + " is not a readable topology: " + error.what(),
                "write one with `lstopo FILE.xml` (hwloc 2)");
  }
}

}  // namespace

ProbedHosts hosts_of_run(const std::filesystem::path& folder) {
  const RunRecords records = read_run(folder);
  ProbedHosts probed{topologies_of(records), {}, records.run, records.run};
  if (records.plan.contains("inventory"))
    probed.inventory = inventory_from_json(records.plan.at("inventory"), "plan.json");
  probed.interrupted = std::ranges::any_of(records.records, was_interrupted);
  if (probed.hosts.empty())
    throw Error(ErrorKind::input, "run " + records.run + " has no topology jobs",
                "probe hosts with `benchctl topology --hosts FILE`");
  return probed;
}

ProbedHosts saved_hosts(const std::vector<std::string>& files, const std::string& rank_program) {
  ProbedHosts probed;
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    if (std::ranges::find(probed.hosts, name, &HostTopology::host) != probed.hosts.end())
      throw Error(ErrorKind::usage, "duplicate host name " + name + ": " + file,
                  "each file is named after its host; rename one");
    if (!std::filesystem::exists(file))
      throw Error(ErrorKind::input, file + ": no such file", "write one with `lstopo FILE.xml`");
    probed.hosts.push_back({name, shape_of(saved_facts(file, rank_program))});
    probed.inventory.hosts.push_back(host_named(name));
  }
  probed.source = join(files, ", ");
  return probed;
}

}  // namespace bench
