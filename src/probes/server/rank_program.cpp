#include "probes/server/rank_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/log.h"
#include "core/system_files.h"
#include "core/text.h"
#include "core/time.h"
#include "core/version.h"
#include "core/wire.h"
#include "devices/facts/host_facts.h"
#include "devices/part_of_host.h"
#include "probes/external/supervisor.h"
#include "probes/probe.h"
#include "probes/server/rank_server.h"
#include "probes/server/sweep.h"
#include "probes/state.h"

namespace bench {
namespace {

/// A rank's private line to the dispatcher. It keeps a copy of the original stdout for records and
/// points fd 1 at stderr, so that whatever libraries print cannot end up between two records.
class RecordStream final : public RecordSink {
 public:
  RecordStream() : host_(host_name()), file_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    if (!file_.valid()) throw_errno("keep a copy of stdout");
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw_errno("point stdout at stderr");
  }

  /// Writes the framed record at once, with this host's name. Throws Error(environment) when the
  /// reader is gone.
  void write(Record record) override {
    record.host = host_;
    if (!write_all(file_.get(), frame(record))) throw_errno("write a record");
  }

 private:
  std::string host_;
  Descriptor file_;
};

/// The same for all ranks on one machine, different between machines, whatever their names.
std::string machine() {
  return SystemFiles().text("proc/sys/kernel/random/boot_id", 64).value_or("");
}

}  // namespace

std::set<int> processes_here(Group& group) {
  const std::string here = machine() + " ";
  std::set<int> own;
  for (const std::string& one : group.gather(here + std::to_string(getpid())))
    if (one.starts_with(here))
      if (const auto pid = parse_number(one.substr(here.size())))
        own.insert(static_cast<int>(*pid));
  return own;
}

namespace {

constexpr const char* kTcp = "TCP";  // TcpGroup::library()

std::string usage(const std::string& name) {
  return fmt::format(
      "{0}: runs probes as one rank; started by benchctl.\n"
      "\n"
      "  {0}             Serve jobs from stdin, one JSON object per line, until end of file\n"
      "  {0} --group KIND  Join the ranks by auto, mpi, tcp or none; auto: mpi if the launcher\n"
      "                 supports it, else tcp with the variables of torchrun or Slurm\n"
      "  {0} --sweep RUN  Kill the processes that run left on this host, and list them\n"
      "  {0} --states RUN  Print the process states of that run's ranks on this host\n"
      "  {0} --describe  Print the probes and libraries of this build as JSON\n"
      "  {0} --topology FILE  Print the facts of a machine saved by lstopo as XML\n"
      "  {0} --version\n"
      "\n"
      "Example: benchctl run smoke\n",
      name);
}

/// The facts about the hosts at rank 0.
struct Hosts {
  Json versions = Json::object();       // host name -> version of the program there
  Json clock_offsets = Json::object();  // host name -> how far its clock is ahead of rank 0's, s
};

Hosts ask_hosts(Group& group) {
  Hosts hosts;
  group.barrier();  // otherwise a slow start would look like a wrong clock
  const std::int64_t now = now_ns();
  for (const Json& one : gather_json(group, {host_name(), version(), now})) {
    const auto host = one.at(0).get<std::string>();
    hosts.versions[host] = one.at(1);
    hosts.clock_offsets[host] = 1e-9 * static_cast<double>(one.at(2).get<std::int64_t>() - now);
  }
  return hosts;
}

Json describe_program(const RankProgram& program, const Group& group, const Hosts& hosts) {
  Json libraries = program.libraries();
  const bool by_mpi = group.size() > 1 && group.library() != kTcp;
  libraries["mpi"] = by_mpi ? Json(group.library()) : Json(nullptr);
  return {{"version", version()},
          {"program", program.name},
          {"pid", getpid()},
          {"ranks", group.size()},
          {"compiler", __VERSION__},
          {"libraries", libraries},
          {"group", group.library()},
          {"hosts", hosts.versions},
          {"clock_offsets_s", hosts.clock_offsets}};
}

Json describe_probes(const RankProgram& program) {
  Json probes = Json::array();
  for (const Probe& probe : all_probes()) {
    Json metrics = Json::array();
    for (const MetricInfo& metric : probe.metrics)
      metrics.push_back({{"name", metric.name},
                         {"unit", to_string(metric.unit)},
                         {"better", to_string(metric.better)}});
    probes.push_back({{"name", probe.name}, {"summary", probe.description}, {"metrics", metrics}});
  }
  return {{"version", version()}, {"probes", probes}, {"libraries", program.libraries()}};
}

/// Every rank's place in rank order; empty if no rank has one.
std::vector<Facts> place_ranks(const RankProgram& program, Group& group) {
  if (!program.place) return {};
  const std::vector<Json> ranks = gather_json(group, program.place());
  if (std::ranges::all_of(ranks, [](const Json& one) { return one.is_null(); })) return {};
  return {Facts{"rank_places", {{"ranks", ranks}}}};
}

/// Drivers and launchers close every possible file descriptor: with a container's limit of 10^9
/// that takes half a minute.
void lower_descriptor_limit() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= kEnough) return;
  limit.rlim_cur = kEnough;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void serve(const RankProgram& program, char** argv, GroupKind kind) {
  take_device(program.name);
  if (program.before_serving) program.before_serving(argv);
  lower_descriptor_limit();
  std::signal(SIGPIPE, SIG_IGN);  // a vanished reader is an error to report, not a silent death
  RecordStream records;
  const auto group = program.join_group(kind);
  std::vector<Facts> facts = place_ranks(program, *group);
  if (program.device_facts) {
    const std::set<int> own = processes_here(*group);
    if (group->rank() == 0)
      for (Facts& one : program.device_facts(own)) facts.push_back(std::move(one));
    group->barrier();  // no rank of ours uses a GPU during this query
  }
  const auto device = program.make_device();
  RankServer server(*group, *device, records, program.counters);
  const Hosts hosts = ask_hosts(*group);
  if (group->rank() == 0) {
    server.write_program_facts(describe_program(program, *group, hosts),
                               read_host_facts("/", group->size()));
    server.write_facts(facts);
  }
  server.serve(std::cin);
}

int run(const RankProgram& program, int argc, char** argv) {
  const std::string option = argc > 1 ? argv[1] : "";
  if (option.empty()) {
    serve(program, argv, GroupKind::automatic);
  } else if (option == "--group" && argc == 3) {
    serve(program, argv, group_kind_from(argv[2]));
  } else if (option == "--describe") {
    std::cout << dump(describe_probes(program)) << '\n';
  } else if (option == "--topology" && argc == 3 && program.saved_topology) {
    std::cout << dump(program.saved_topology(argv[2])) << '\n';
  } else if (option == "--sweep" && argc == 3) {
    std::cout << sweep(argv[2]) << '\n';
  } else if (option == "--states" && argc == 3) {
    std::cout << rank_states(argv[2]) << '\n';
  } else if (option == external::kSuperviseOption) {  // only for the probe `external`
    return external::supervise(argc - 2, argv + 2);
  } else if (option == "--version") {
    std::cout << program.name << " " << version() << '\n';
  } else if (option == "--help") {
    std::cout << usage(program.name);
  } else {
    throw Error(ErrorKind::usage, "unknown option '" + option + "'",
                "see " + program.name + " --help");
  }
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

int run_rank_program(const RankProgram& program, int argc, char** argv) {
  try {
    open_standard_descriptors();
    return run(program, argc, argv);
  } catch (const Error& error) {
    say(Level::error, error.what());
    if (!error.hint().empty()) say(Level::info, "  " + error.hint());
    return static_cast<int>(exit_code(error.kind()));
  } catch (const std::exception& error) {
    say(Level::error, error.what());
    return static_cast<int>(ExitCode::environment);
  }
}

}  // namespace bench
