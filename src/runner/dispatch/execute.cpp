#include "runner/dispatch/execute.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "core/version.h"
#include "results/run/run_records.h"
#include "runner/dispatch/host_check.h"
#include "runner/dispatch/run_directory.h"
#include "runner/launch/launcher.h"
#include "runner/launch/slurm_allocation.h"
#include "runner/plan/plan_json.h"
#include "runner/stage/stage.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 11> kPrefixes = {"OMP_", "GOMP_",     "OMPI_MCA_", "NCCL_",
                                                        "UCX_", "OPENBLAS_", "DNNL_",     "ONEDNN_",
                                                        "MKL_", "KMP_",      "PMIX_MCA_"};
constexpr std::array<std::string_view, 9> kNames = {"CUDA_VISIBLE_DEVICES",
                                                    "SLURM_JOB_ID",
                                                    "SLURM_JOB_NODELIST",
                                                    "LD_PRELOAD",
                                                    "LD_BIND_NOW",
                                                    "MALLOC_ARENA_MAX",
                                                    "TZ",
                                                    "LANG",
                                                    "LC_ALL"};

bool is_kept(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

}  // namespace

Json kept_environment(const char* const* variables) {
  Variables kept;
  for (; *variables != nullptr; ++variables) {
    const std::string_view entry = *variables;
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos && is_kept(entry.substr(0, equals)))
      kept[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  Secrets secrets;
  hide_secrets(kept, secrets);
  return kept;
}

Json kept_command() {
  Json command = Json::array();
  std::istringstream words(read_file("/proc/self/cmdline"));
  for (std::string word; std::getline(words, word, '\0');) command.push_back(word);
  return command;
}

namespace {

std::string plan_document(const RunRequest& request, const std::string& run, std::int64_t time_ns) {
  Json plan;
  plan["run"] = run;
  plan["time_ns"] = time_ns;
  plan["host"] = this_host_name();
  plan["benchctl_version"] = version();
  plan["record_version"] = kRecordVersion;
  plan["labels"] = request.labels;
  plan["environment"] = kept_environment(environ);
  plan["command"] = without_secrets(kept_command(), request.plan.secrets);
  if (!request.localisation.is_null()) plan["localisation"] = request.localisation;
  return plan_text(request.plan, std::move(plan));
}

std::size_t jobs_to_run(const Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan.entries, [](const PlanEntry& entry) { return entry.skip.empty(); }));
}

}  // namespace

std::vector<std::string> hosts_of(const Plan& plan) {
  std::set<std::string> used;
  for (const PlanEntry& entry : plan.entries)
    if (entry.skip.empty()) used.insert(entry.job.hosts.begin(), entry.job.hosts.end());
  std::vector<std::string> hosts;
  for (const Host& host : plan.inventory.hosts)
    if (used.contains(host.name)) hosts.push_back(host.name);
  return hosts;
}

RunDirectory make_run(const RunRequest& request, std::int64_t time_ns) {
  RunDirectory directory = RunDirectory::create(request.runs, request.plan.suite.name, time_ns);
  directory.write_plan(plan_document(request, directory.id(), time_ns));
  return directory;
}

namespace {

/// Runs follow-up jobs until there are none; false when interrupted.
bool follow(const FollowUp& follow_up, const RunDirectory& directory, Dispatcher& dispatcher,
            Progress& progress) {
  for (;;) {
    Plan step;
    step.entries = follow_up(directory);
    if (step.entries.empty()) return true;
    progress.add(step);
    if (!dispatcher.run(step)) return false;
  }
}

/// The places of the jobs to run, each host once.
std::vector<Place> places_of(const Plan& plan) {
  std::map<std::string, Place> places;
  for (const PlanEntry& entry : plan.entries)
    if (entry.skip.empty())
      for (const Place& place : entry.places) places.emplace(place.host, place);
  std::vector<Place> list;
  for (const std::string& host : hosts_of(plan)) list.push_back(places.at(host));
  return list;
}

/// What the jobs of a run are started with; complete before the first job.
struct Prepared {
  LaunchSite site;
  DispatcherSettings settings;
  std::unique_ptr<SlurmAllocation> allocation;  // made for this run
};

/// Makes the ranks run the staged programs and excludes hosts that staging failed on.
void stage_programs(const Plan& plan, Prepared& prepared, const Interrupts& interrupts) {
  LaunchSite& site = prepared.site;
  DispatcherSettings& settings = prepared.settings;
  const std::vector<Place> places = places_of(plan);
  const bool slurm = site.kind == LauncherKind::slurm;
  if (!slurm && std::ranges::all_of(places, [](const Place& place) { return place.here; })) return;
  if (slurm && !site.slurm.settings.container_image.empty())
    throw Error(ErrorKind::input, "--stage: ranks in a container use the programs in the image",
                "add the bundle to the image, or mount it with container_mounts");
  const std::string& there = site.settings.rank_program;
  const Staged staged =
      stage(settings.stage, places,
            slurm ? reach_by_step(site.slurm, StepInput::ours) : reach_by_agent(site.settings),
            there.empty() ? site.rank_program : there, settings.version, interrupts);
  settings.out = staged.out;
  for (const auto& [host, why] : staged.out) say(Level::warning, host + " " + why);
  if (staged.folder.empty()) return;
  say(Level::info,
      fmt::format("{} hosts use the bundle in {}, {} of them newly copied",
                  places.size() - staged.out.size(), staged.folder, staged.copied.size()));
  site.settings.rank_program = staged.folder + "/bench-rank";
  site.settings.cuda_rank_program = staged.folder + "/bench-rank-cuda";
}

void use_slurm(const Plan& plan, const std::string& run, Prepared& prepared,
               const Interrupts& interrupts) {
  SlurmSite& slurm = prepared.site.slurm;
  slurm.settings = plan.inventory.slurm;
  const std::optional<Allocation>& outer = prepared.site.allocation;
  const std::vector<std::string> hosts = hosts_of(plan);
  auto& own = prepared.allocation;
  if (!outer && !hosts.empty())
    own = std::make_unique<SlurmAllocation>(hosts, slurm.settings, "benchctl-" + run, interrupts);
  slurm.job = own ? own->job() : outer ? outer->job : "";
  prepared.settings.check_hosts = check_through(slurm);
  prepared.settings.rank_states = query_rank_states_through(slurm);
}

/// A resumed run has hashes whose values our environment must have; better said before the first
/// job than by each. Throws Error(input) naming the variable.
void check_secrets(const Plan& plan, const LaunchSite& site) {
  bool elsewhere = site.kind == LauncherKind::slurm;
  for (const PlanEntry& entry : plan.entries) {
    if (!entry.skip.empty()) continue;
    check_secrets(entry.job, site.secrets);
    elsewhere |= !std::ranges::all_of(entry.places, &Place::here);
  }
  Variables env = site.settings.env;
  if (elsewhere) reveal_secrets(env, site.secrets);
}

Prepared prepare(const RunDirectory& directory, const RunRequest& request, LaunchSite found,
                 const Interrupts& interrupts) {
  Prepared prepared{std::move(found), request.dispatcher, {}};
  LaunchSite& site = prepared.site;
  site.settings = request.plan.inventory.launch;
  site.secrets = secrets_here(request.plan.secrets);
  check_secrets(request.plan, site);
  site.token = directory.id();
  site.run_folder = std::filesystem::absolute(directory.path()).string();
  prepared.settings.handshake = Seconds{static_cast<double>(site.settings.start_timeout_s)};
  if (site.kind == LauncherKind::slurm)
    use_slurm(request.plan, directory.id(), prepared, interrupts);
  if (!request.dispatcher.stage.empty()) stage_programs(request.plan, prepared, interrupts);
  return prepared;
}

/// True if the run finished, false if it was interrupted.
bool dispatch(const RunDirectory& directory, Spool& spool, const RunRequest& request,
              const ProbeCatalogue& catalogue, LaunchSite site, const Interrupts& interrupts,
              Clock::time_point start) {
  const Prepared prepared = prepare(directory, request, std::move(site), interrupts);
  bool finished = false;
  {
    Progress progress(request.style, request.plan, prepared.settings.parallel);
    Dispatcher dispatcher(catalogue, prepared.site, directory, spool, progress, interrupts,
                          prepared.settings);
    finished = dispatcher.run(request.plan);
    // When a run is resumed, our allocation may lack hosts: no search then.
    const bool all_hosts = !prepared.allocation ||
                           hosts_of(request.plan).size() == request.plan.inventory.hosts.size();
    if (finished && request.follow_up && all_hosts)
      finished = follow(request.follow_up, directory, dispatcher, progress);
  }
  const Seconds time{std::chrono::duration<double>(Clock::now() - start).count()};
  spool.append(own_record(
      "", Event{kRunEndEvent,
                {{"state", finished ? "finished" : "interrupted"}, {"seconds", time.value}}}));
  spool.sync();
  return finished;
}

}  // namespace

Executed execute(const RunRequest& request, const ProbeCatalogue& catalogue, LaunchSite site) {
  const auto start = Clock::now();
  const Interrupts interrupts;
  RunDirectory directory = make_run(request, now_ns());
  Spool spool(directory.records_path());
  if (request.style != Progress::Style::silent)
    say(Level::info,
        fmt::format("run {}: {} jobs, about {:.0f} s", directory.id(), jobs_to_run(request.plan),
                    std::ceil(request.plan.expected.value)));
  const bool finished =
      dispatch(directory, spool, request, catalogue, std::move(site), interrupts, start);
  return {std::move(directory), finished};
}

Executed resume(const RunDirectory& directory, const RunRequest& request,
                const ProbeCatalogue& catalogue, LaunchSite site) {
  const auto start = Clock::now();
  const Interrupts interrupts;
  Spool spool = Spool::append_to(directory.records_path());
  spool.complete_last_line();
  for (const PlanEntry& entry : request.plan.entries)
    if (entry.skip.empty())
      spool.append(own_record(entry.job.id, Event{kRestartEvent, Json::object()}));
  if (request.style != Progress::Style::silent)
    say(Level::info,
        fmt::format("run {}: resuming {} missing jobs", directory.id(), jobs_to_run(request.plan)));
  return {directory,
          dispatch(directory, spool, request, catalogue, std::move(site), interrupts, start)};
}

}  // namespace bench
