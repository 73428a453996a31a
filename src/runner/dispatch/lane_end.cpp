// How a lane ends what does not end well by itself: ranks that fail, hang or are interrupted, what
// they leave on their hosts, and hosts that are out from then on.
#include <fmt/format.h>

#include <algorithm>

#include "core/hostlist.h"
#include "core/log.h"
#include "results/run_records.h"
#include "runner/dispatch/lane.h"

namespace bench {
namespace {

/// Not the one for GPUs: where a library of CUDA's is missing it does not start, and that host,
/// which measures everything else, would be taken for one that is out.
std::string program_that_looks(const PlanEntry& entry, const LaunchSite& site) {
  Job on_host = entry.job;
  on_host.device = "host";
  const std::string usual = rank_program(on_host, entry.places, site);
  return usual.empty() ? rank_program(entry.job, entry.places, site) : usual;
}

}  // namespace

/// The run ends with an error: nothing of this job may live on, here or on its hosts.
void Lane::clear(const PlanEntry& entry) try {
  if (rank_) rank_->stop(settings_.interrupted_graces, [](const Received&) {});
  rank_.reset();
  look_at_hosts(entry);
} catch (const std::exception& error) {
  say(Level::warning, fmt::format("{}: {}", entry.job.id, error.what()));
}

std::string Lane::stop_rank(const Graces& graces, const Job* job) {
  return rank_->stop(graces, [&](const Received& received) {
    const std::string& id = received.record.job;
    if (id.empty() || (job != nullptr && id == job->id)) site_.ledger.keep(received);
  });
}

/// What does not even end on SIGKILL holds its memory and its CPUs, and would spoil what comes
/// next.
void Lane::mark_wedged(const PlanEntry& entry, const std::string& end) {
  if (!rank_->abandoned()) return;
  for (const Place& place : entry.places)
    if (place.here) take_out(entry.job, place.host, "is wedged: " + end);
}

void Lane::give_up(const PlanEntry& entry, Status status, const std::string& what) {
  const std::string end = rank_->gone() ? "" : stop_rank(settings_.graces, &entry.job);
  mark_wedged(entry, end);
  const std::string reason = with_last_words(end.empty() ? what : what + "; " + end);
  rank_.reset();
  const std::string found = look_at_hosts(entry);
  conclude(entry.job, status, found.empty() ? where(entry) + reason : found + "; " + reason);
}

/// "; then: node01: 1 running; node02: 1 stopped": of ranks that may wait for each other.
std::string Lane::doings(const PlanEntry& entry) const {
  if (entry.places.size() < 2) return "";
  return "; then: " + settings_.look(entry.places, site_.launch.settings,
                                     program_that_looks(entry, site_.launch), site_.launch.token);
}

/// "on node[01-03]: ", before a reason that names no host; "" where all of it happened here.
std::string Lane::where(const PlanEntry& entry) const {
  const bool here =
      std::ranges::all_of(entry.places, [](const Place& place) { return place.here; });
  return here ? "" : "on " + compact_hostlist(entry.job.hosts) + ": ";
}

std::string Lane::look_at_hosts(const PlanEntry& entry) {
  const auto& places = entry.places;
  // A rank forked here is our own child: whether it ended is known. mpirun's ranks are not.
  if (entry.job.ranks == 1 && where(entry).empty()) return "";
  std::string found;
  for (const HostAnswer& answer :
       settings_.check_hosts(places, site_.launch.settings, program_that_looks(entry, site_.launch),
                             site_.launch.token)) {
    if (!answer.trouble.empty()) {
      take_out(entry.job, answer.host, answer.trouble);
      found += (found.empty() ? "" : "; ") + answer.host + " " + answer.trouble;
    } else if (!answer.swept.empty()) {
      say(Level::info, answer.host + ": " + answer.swept);
    }
  }
  return found;
}

void Lane::take_out(const Job& job, const std::string& host, const std::string& why) {
  site_.hosts.take_out(host, why);
  tell_out(job, host, why);
}

void Lane::tell_out(const Job& job, const std::string& host, const std::string& why) {
  site_.ledger.write(job.id, Event{kHostOutEvent, {{"host", host}, {"why", why}}});
}

void Lane::interrupt(const Job& job) {
  stop_rank(settings_.interrupted_graces, &job);
  rank_.reset();
  site_.ledger.put_off(job, "interrupted while it ran", Seconds{job_seconds()});
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
            with_last_words("a rank ended after its last job with " + ended->exit.text()));
      return rank_.reset();
    }
    if (const auto* received = std::get_if<Received>(&event)) {
      site_.ledger.keep(*received);
      if (served_.contains(received->record.job)) site_.ledger.overrule(received->record.job);
    }
    if (std::holds_alternative<Interrupted>(event) || std::holds_alternative<Fault>(event)) break;
  }
  const std::string end =
      stop_rank(interrupted() ? settings_.interrupted_graces : settings_.graces, nullptr);
  if (!interrupted()) say(Level::warning, "a rank did not end after its last job; " + end);
  rank_.reset();
}

}  // namespace bench
