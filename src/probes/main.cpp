// bench-rank: one process a rank. It is started by benchctl through a launcher, reads jobs from
// stdin and answers on stdout; docs/architecture.md shows the conversation.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

#include "core/error.h"
#include "core/log.h"
#include "core/version.h"
#include "probes/host_facts.h"
#include "probes/libraries.h"
#include "probes/probe.h"
#include "probes/rank_server.h"
#include "probes/record_stream.h"

namespace bench {
namespace {

constexpr const char* kUsage =
    "bench-rank: runs probes as one rank; benchctl starts it.\n"
    "\n"
    "  bench-rank             serve jobs from stdin, one JSON text a line, until it ends\n"
    "  bench-rank --describe  print the probes and libraries of this build as JSON\n"
    "  bench-rank --version\n"
    "\n"
    "Example: benchctl run smoke\n";

Json describe_program(const Group& group) {
  Json libraries = host_library_versions();
  libraries["mpi"] = group.size() > 1 ? Json(group.library()) : Json(nullptr);
  return {{"version", version()},  {"program", "bench-rank"}, {"pid", getpid()},
          {"ranks", group.size()}, {"compiler", __VERSION__}, {"libraries", libraries}};
}

Json describe_probes() {
  Json probes = Json::array();
  for (const Probe& probe : all_probes()) {
    Json metrics = Json::array();
    for (const MetricInfo& metric : probe.metrics)
      metrics.push_back({{"name", metric.name},
                         {"unit", to_string(metric.unit)},
                         {"better", to_string(metric.better)}});
    probes.push_back({{"name", probe.name}, {"summary", probe.summary}, {"metrics", metrics}});
  }
  return {{"version", version()}, {"probes", probes}, {"libraries", host_library_versions()}};
}

void serve() {
  std::signal(SIGPIPE, SIG_IGN);  // a vanished reader is an error to report, not a silent death
  RecordStream records;
  const auto group = join_group();
  const auto device = make_host_device();
  RankServer server(*group, *device, records);
  if (group->rank() == 0)
    server.introduce(describe_program(*group), read_host_facts("/", group->size()));
  server.serve(std::cin);
}

int run(int argc, char** argv) {
  const std::string option = argc > 1 ? argv[1] : "";
  if (option.empty()) {
    serve();
  } else if (option == "--describe") {
    std::cout << dump(describe_probes()) << '\n';
  } else if (option == "--version") {
    std::cout << "bench-rank " << version() << '\n';
  } else if (option == "--help") {
    std::cout << kUsage;
  } else {
    throw Error(ErrorKind::usage, "unknown option '" + option + "'", "see bench-rank --help");
  }
  return static_cast<int>(ExitCode::ok);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const bench::Error& error) {
    bench::say(bench::Level::error, error.what());
    if (!error.hint().empty()) bench::say(bench::Level::info, "  " + error.hint());
    return static_cast<int>(bench::exit_code(error.kind()));
  } catch (const std::exception& error) {
    bench::say(bench::Level::error, error.what());
    return static_cast<int>(bench::ExitCode::environment);
  }
}
