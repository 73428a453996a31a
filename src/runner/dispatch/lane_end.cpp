// Error handling of a lane: ranks that fail, hang or are interrupted, their leftover processes, and
// excluded hosts.
#include <fmt/format.h>

#include <algorithm>

#include "core/hostlist.h"
#include "core/log.h"
#include "results/run_records.h"
#include "runner/dispatch/lane.h"

namespace bench {
namespace {

/// The host program: without a CUDA library bench-rank-cuda does not start, and a working host would be
/// excluded.
std::string sweep_program(const PlanEntry& entry, const LaunchSite& site) {
  Job on_host = entry.job;
  on_host.device = "host";
  const std::string usual = rank_program(on_host, entry.places, site);
  return usual.empty() ? rank_program(entry.job, entry.places, site) : usual;
}

}  // namespace

/// The run ends with an error: kill all processes of this job, here and on its hosts.
void Lane::clear(const PlanEntry& entry) try {
  if (rank_) rank_->stop(settings_.interrupted_grace, [](const Received&) {});
  rank_.reset();
  check_job_hosts(entry);
} catch (const std::exception& error) {
  say(Level::warning, fmt::format("{}: {}", entry.job.id, error.what()));
}

std::string Lane::stop_rank(const GracePeriods& grace, const Job* job) {
  return rank_->stop(grace, [&](const Received& received) {
    const std::string& id = received.record.job;
    if (id.empty() || (job != nullptr && id == job->id)) site_.ledger.keep(received);
  });
}

/// A process that survives SIGKILL holds memory and CPUs, and would disturb later jobs.
void Lane::exclude_stuck_host(const PlanEntry& entry, const std::string& end) {
  if (!rank_->abandoned()) return;
  for (const Place& place : entry.places)
    if (place.here) exclude(entry.job, place.host, "has a stuck process: " + end);
}

void Lane::give_up(const PlanEntry& entry, Status status, const std::string& what) {
  const std::string end = rank_->gone() ? "" : stop_rank(settings_.grace, &entry.job);
  exclude_stuck_host(entry, end);
  const std::string reason = with_stderr_tail(end.empty() ? what : what + "; " + end);
  rank_.reset();
  const std::string found = check_job_hosts(entry);
  conclude(entry.job, status, found.empty() ? where(entry) + reason : found + "; " + reason);
}

/// "; rank states: node01: 1 running; node02: 1 stopped": ranks may be waiting for each other.
std::string Lane::rank_states(const PlanEntry& entry) const {
  if (entry.places.size() < 2) return "";
  return "; rank states: " + settings_.rank_states(entry.places, site_.launch.settings,
                                     sweep_program(entry, site_.launch), site_.launch.token);
}

/// "on node[01-03]: ", the prefix of a reason that names no host; "" if all ranks are here.
std::string Lane::where(const PlanEntry& entry) const {
  const bool here =
      std::ranges::all_of(entry.places, [](const Place& place) { return place.here; });
  return here ? "" : "on " + compact_hostlist(entry.job.hosts) + ": ";
}

std::string Lane::check_job_hosts(const PlanEntry& entry) {
  const auto& places = entry.places;
  // A local rank is our child, so its end is known. Ranks of mpirun are not.
  if (entry.job.ranks == 1 && where(entry).empty()) return "";
  std::string found;
  for (const HostAnswer& answer :
       settings_.check_hosts(places, site_.launch.settings, sweep_program(entry, site_.launch),
                             site_.launch.token)) {
    if (!answer.trouble.empty()) {
      exclude(entry.job, answer.host, answer.trouble);
      found += (found.empty() ? "" : "; ") + answer.host + " " + answer.trouble;
    } else if (!answer.swept.empty()) {
      say(Level::info, answer.host + ": " + answer.swept);
    }
  }
  return found;
}

void Lane::exclude(const Job& job, const std::string& host, const std::string& why) {
  site_.hosts.exclude(host, why);
  record_exclusion(job, host, why);
}

void Lane::record_exclusion(const Job& job, const std::string& host, const std::string& why) {
  site_.ledger.write(job.id, Event{kHostOutEvent, {{"host", host}, {"why", why}}});
}

void Lane::interrupt(const Job& job) {
  stop_rank(settings_.interrupted_grace, &job);
  rank_.reset();
  site_.ledger.defer(job, "interrupted while running", Seconds{job_seconds()});
}

void Lane::finish_process() {
  if (!rank_) return;
  rank_->close_input();
  const auto deadline = after(interrupted() ? Seconds{0.2} : settings_.finish);
  while (Clock::now() < deadline) {
    const RankEvent event = rank_->next(deadline);
    if (const auto* ended = std::get_if<Ended>(&event)) {
      if (!ended->exit.clean() && !interrupted())
        say(Level::warning,
            with_stderr_tail("a rank failed after its last job: " + ended->exit.text()));
      return rank_.reset();
    }
    if (const auto* received = std::get_if<Received>(&event)) {
      site_.ledger.keep(*received);
      if (served_.contains(received->record.job)) site_.ledger.discard_result(received->record.job);
    }
    if (std::holds_alternative<Interrupted>(event) || std::holds_alternative<Fault>(event)) break;
  }
  const std::string end =
      stop_rank(interrupted() ? settings_.interrupted_grace : settings_.grace, nullptr);
  if (!interrupted()) say(Level::warning, "a rank did not exit after its last job; " + end);
  rank_.reset();
}

}  // namespace bench
