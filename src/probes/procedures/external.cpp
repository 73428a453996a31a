// A training that others wrote, on the same clock and by the same rules as our own. Its parts are
// in probes/external; docs/external.md says what becomes of which fault.
#include <algorithm>
#include <memory>

#include "core/child_process.h"
#include "core/error.h"
#include "core/log.h"
#include "core/system_files.h"
#include "core/text.h"
#include "probes/external/external_records.h"
#include "probes/external/follow.h"
#include "probes/external/job_folder.h"
#include "probes/external/placement.h"
#include "probes/probe.h"
#include "probes/state.h"

namespace bench {
namespace {

using namespace external;

constexpr double kToTell = 5.0;  // seconds, between the command's end and the job's

/// Every rank's host, known to all.
std::vector<std::string> hosts_of(Group& group) {
  const auto all = group.gather(host_name());
  return parse_json(broadcast_text(group, dump(all)), "the hosts of the ranks");
}

/// Rank 0 alone can say what is free on its host.
int agreed_port(State& state) {
  const auto asked = static_cast<int>(state.integer("master_port"));
  const bool look = asked == 0 && state.group().rank() == 0;
  return std::stoi(broadcast_text(state.group(), std::to_string(look ? free_port() : asked)));
}

double deadline_of(const State& state) {
  if (state.has("deadline_s")) return state.number("deadline_s");
  const double all = state.job().timeout_s;
  return std::max(all / 2.0, all - state.number("grace_s") - kToTell);
}

Goal goal_of(const State& state) {
  Goal goal;
  goal.key = state.text("quality_key");
  goal.lower_is_better = state.text("direction") == "lower";
  if (state.has("target")) goal.target = state.number("target");
  if (state.has("samples_per_epoch")) goal.samples_per_epoch = state.number("samples_per_epoch");
  return goal;
}

Given given_to(const State& state, int port, const std::vector<std::string>& hosts) {
  Given given;
  given.job = state.job().id;
  given.seed =
      state.has("seed") ? static_cast<std::uint64_t>(state.integer("seed")) : state.job().seed;
  given.repeat = state.job().repeat;
  given.master_address = master_address(state.text("master_address"), hosts);
  given.master_port = port;
  given.image = state.text("image");
  given.code = state.text("code");
  given.data = state.text("data");
  given.variables = state.param("variables").get<std::map<std::string, std::string>>();
  return given;
}

ExternalCommand command_for(const State& state, const Placement& placement, const Given& given) {
  const auto words = words_for(placement, given);
  const auto filled = [&](const std::string& parameter) {
    std::vector<std::string> result;
    for (const std::string& word : state.list<std::string>(parameter))
      result.push_back(fill(word, words, parameter + "/" + std::to_string(result.size())));
    return result;
  };
  ExternalCommand command;
  command.argv = filled("argv");
  command.cleanup = filled("cleanup");
  command.folder = fill(state.text("directory"), words, "directory");
  command.env =
      environment_for(current_environment(), placement, given, state.param("environment"));
  command.grace = Seconds{state.number("grace_s")};
  return command;
}

/// One rank's share, from its parameters to a running command.
struct Share {
  Given given;
  std::string log_path;
  std::unique_ptr<RankOutput> output;
  std::unique_ptr<Supervised> command;  // null: this rank starts none
};

/// Why it could not be started here; "" when it was.
std::string start(const State& state, const Placement& placement, int rank, Share& share) try {
  const auto folder = make_job_folder(state.text("output"), state.job().id);
  share.given.output = folder.string();
  share.log_path = (folder / log_name(rank)).string();
  if (!placement.starts) {
    share.output = std::make_unique<RankOutput>("/dev/null");
    return "";
  }
  const ExternalCommand command = command_for(state, placement, share.given);
  share.output = std::make_unique<RankOutput>(share.log_path);
  share.command = std::make_unique<Supervised>(command, supervisor_program());
  return "";
} catch (const Error& error) {
  return error.text();
}

/// Told on stderr as it comes, for whoever watches.
void record_line(const TrainingLog& log, const LoggedLine& logged) {
  if (logged.line.key != log.goal().key) return;
  say(Level::info, "rank " + std::to_string(logged.rank) + ": " + printable(logged.line.key) + " " +
                       printable(excerpt(logged.line.value)) + " " +
                       printable(excerpt(logged.line.metadata)));
}

void run_external(State& state) {
  Group& group = state.group();
  const auto hosts = hosts_of(group);
  const Processes processes =
      state.text("processes") == "host" ? Processes::one_a_host : Processes::one_a_rank;
  const Placement placement = place(hosts, group.rank(), processes);
  Share share;
  share.given = given_to(state, agreed_port(state), hosts);
  const std::string obstacle = agreed(group, start(state, placement, group.rank(), share));
  if (!obstacle.empty()) {
    share.command.reset();  // it may have been started on this rank
    return state.conclude(Status::failed, obstacle);
  }
  TrainingLog log(goal_of(state));
  LoggedEvents events(state);
  const LogTaker taker = {
      [&](const LoggedLine& logged) {
        log.add(logged);
        events.add(logged.line);
        record_line(log, logged);
      },
      [&](std::string_view text, const std::string& trouble) { log.add_trouble(text, trouble); }};
  FinishedRun run;
  const Conditions conditions = watched(state.device(), group, Worker::command, [&] {
    run = follow(group, share.command.get(), *share.output, share.log_path,
                 {.deadline = Seconds{deadline_of(state)}}, taker);
    share.command.reset();  // waits for its processes, so that their CPU time is known
  });
  if (group.rank() != 0) return;
  run.seed = share.given.seed;
  run.clock_tolerance = Seconds{state.number("clock_tolerance_s")};
  write_records(state, log, run, conditions, events);
}

const Registration external_probe{"external", run_external};

}  // namespace
}  // namespace bench
