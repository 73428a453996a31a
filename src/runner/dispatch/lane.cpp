#include "runner/dispatch/lane.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "results/run/run_records.h"
#include "runner/dispatch/handshake.h"

namespace bench {

void HostStates::exclude(const std::string& host, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  out_.emplace(host, reason);
}

std::optional<ExcludedHost> HostStates::first_excluded(
    const std::vector<std::string>& hosts) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& host : hosts)
    if (const auto found = out_.find(host); found != out_.end())
      return ExcludedHost{host, found->second};
  return {};
}

std::map<std::string, std::string> HostStates::out() const {
  const std::lock_guard lock(mutex_);
  return out_;
}

namespace {

// Error handling of a lane: ranks that fail, hang or are interrupted, their leftover processes, and
// excluded hosts.

/// The host program: without a CUDA library bench-rank-cuda does not start, and a working host
/// would be excluded.
std::string sweep_program(const PlanEntry& entry, const LaunchSite& site) {
  Job on_host = entry.job;
  on_host.device = "host";
  const std::string usual = rank_program(on_host, entry.places, site);
  return usual.empty() ? rank_program(entry.job, entry.places, site) : usual;
}

bool all_here(const PlanEntry& entry) {
  return std::ranges::all_of(entry.places, [](const Place& place) { return place.here; });
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
  conclude(entry.job, status,
           found.empty() ? where(entry, reason) + reason : found + "; " + reason);
}

/// "; rank states: node01: 1 running; node02: 1 stopped": ranks may be waiting for each other.
std::string Lane::rank_states(const PlanEntry& entry) const {
  if (entry.places.size() < 2) return "";
  return "; rank states: " + settings_.rank_states(entry.places, site_.launch.settings,
                                                   sweep_program(entry, site_.launch),
                                                   site_.launch.token);
}

/// "on node[01-03]: ", the prefix of a reason that names no host; "" if all ranks are here.
std::string Lane::where(const PlanEntry& entry, const std::string& reason) const {
  const bool named = std::ranges::any_of(
      entry.job.hosts, [&](const std::string& host) { return reason.starts_with(host + ": "); });
  return named || all_here(entry) ? "" : "on " + compact_hostlist(entry.job.hosts) + ": ";
}

std::string Lane::check_job_hosts(const PlanEntry& entry) {
  const auto& places = entry.places;
  // A local rank is our child, so its end is known. Ranks of mpirun are not.
  if (entry.job.ranks == 1 && all_here(entry)) return "";
  const auto answers = settings_.check_hosts(
      places, site_.launch.settings, sweep_program(entry, site_.launch), site_.launch.token);
  for (const HostAnswer& answer : answers) {
    if (!answer.trouble.empty())
      exclude(entry.job, answer.host, answer.trouble);
    else if (!answer.swept.empty())
      say(Level::info, answer.host + ": " + answer.swept);
  }
  return troubles_text(answers);
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

void Lane::run(const PlanEntry& entry) {
  try {
    run_to_outcome(entry);
  } catch (...) {
    clear(entry);
    throw;
  }
}

void Lane::run_to_outcome(const PlanEntry& entry) {
  job_started_ = Clock::now();
  if (interrupted()) return site_.ledger.defer(entry.job, "interrupted");
  if (const auto out = site_.hosts.first_excluded(entry.job.hosts)) {
    record_exclusion(entry.job, out->host, out->why);
    return site_.ledger.defer(entry.job, out->host + " excluded: " + out->why);
  }
  site_.ledger.start(entry);
  do {
    if (!ready_process(entry)) return;
    job_started_ = Clock::now();
  } while (!run_job(entry));
}

bool Lane::ready_process(const PlanEntry& entry) {
  const std::string key = launch_key(entry.job);
  if (rank_ && rank_key_ == key) return true;
  finish_process();
  if (const auto refused = refused_.find(key); refused != refused_.end()) {
    conclude(entry.job, Status::failed, refused->second);
    return false;
  }
  rank_key_ = key;
  served_.clear();
  device_.reset();
  try {
    Command command = launch_command(entry.job, entry.places, site_.launch);
    give_group_secret(command, entry.job);
    const auto log = site_.directory.log_path(site_.ledger.next_launch());
    rank_ = std::make_unique<RankProcess>(command, log, site_.interrupts, settings_.grace,
                                          settings_.signaller);
  } catch (const Error& error) {
    refuse_launch(entry, fmt::format("cannot start the ranks: {}{}{}", error.what(),
                                     error.hint().empty() ? "" : "; ", error.hint()));
    return false;
  }
  return await_handshake(entry);
}

bool Lane::await_handshake(const PlanEntry& entry) {
  const auto deadline = after(settings_.handshake);
  for (;;) {
    const RankEvent event = rank_->next(wake(deadline));
    if (const auto* received = std::get_if<Received>(&event)) {
      site_.ledger.keep(*received);
      const auto* facts = std::get_if<Facts>(&received->record.body);
      if (facts != nullptr && facts->topic == "device") device_ = device_facts_from(facts->facts);
      if (facts == nullptr || facts->topic != "program") continue;
      if (const std::string mismatch = check_handshake(received->record, entry);
          !mismatch.empty()) {
        stop_rank(settings_.grace, nullptr);
        refuse_launch(entry, mismatch);
        return false;
      }
      libraries_ = facts->facts.value("libraries", Json());
      site_.ledger.write(entry.job.id, Phase{"launch", job_seconds()});
      return true;
    }
    if (std::holds_alternative<Interrupted>(event)) {
      interrupt(entry.job);
      return false;
    }
    std::string trouble;
    if (const auto* fault = std::get_if<Fault>(&event))
      trouble = "rank failed during startup: " + fault->reason;
    if (const auto* ended = std::get_if<Ended>(&event))
      trouble = "rank exited during startup: " + ended->exit.text();
    if (Clock::now() >= deadline)
      trouble = fmt::format("no handshake from the ranks within {:g} s", settings_.handshake.value);
    if (!trouble.empty()) {
      stop_rank(settings_.grace, nullptr);
      refuse_launch(entry, with_stderr_tail(trouble));
      return false;
    }
    site_.ledger.tick();
  }
}

/// Why these ranks cannot be used; "" if they can. Another version on this host is a build error
/// and ends the run.
std::string Lane::check_handshake(const Record& program_facts, const PlanEntry& entry) {
  const Handshake handshake = read_handshake(program_facts, now_ns());
  const std::string program = rank_program(entry.job, entry.places, site_.launch);
  const bool elsewhere = !entry.places.empty() && !entry.places.front().here;
  for (const auto& [host, ahead] : handshake.clocks)
    if (Json facts = clock_facts(ahead); !facts.is_null())
      site_.ledger.write("", Facts{"clock", std::move(facts)}, host);
  if (!elsewhere && entry.places.size() <= 1) {
    if (handshake.version == settings_.version) return "";
    throw Error(ErrorKind::environment,
                fmt::format("{} is version {}, but benchctl is version {}", program,
                            printable(handshake.version), settings_.version),
                "rebuild both with scripts/build");
  }
  const VersionMismatch mismatch =
      find_mismatch(handshake, entry.places, program, settings_.version);
  for (const std::string& host : mismatch.hosts)
    exclude(entry.job, host, "has a version mismatch: " + mismatch.reason);
  return mismatch.reason;
}

void Lane::refuse_launch(const PlanEntry& entry, const std::string& reason) {
  rank_.reset();
  const std::string found = check_job_hosts(entry);
  const std::string whole = (found.empty() ? where(entry, reason) : found + "; ") + reason;
  refused_[rank_key_] = whole;  // later jobs would fail after the same wait
  conclude(entry.job, Status::failed, whole);
}

/// Limits measured earlier in this run, and datasheet limits of the device.
std::vector<KnownLimit> Lane::limits_for(const Job& job) const {
  std::vector<KnownLimit> limits = site_.ledger.limits_for(job);
  if (!device_) return limits;
  static const HardwareCatalogue catalogue = HardwareCatalogue::installed();
  for (KnownLimit& limit : device_limits(catalogue, *device_, job))
    limits.push_back(std::move(limit));
  return limits;
}

Job Lane::send(const PlanEntry& entry) {
  Job job = entry.job;
  job.limits = limits_for(job);
  job.golden = settings_.golden.for_job(job, libraries_);
  rank_->log().start_job();
  rank_->send(dump(to_json(with_secrets(job, site_.launch.secrets))));
  return job;
}

bool Lane::run_job(const PlanEntry& entry) {
  const Job job = send(entry);
  const auto deadline = after(Seconds{job.timeout_s});
  while (Clock::now() < deadline) {
    const RankEvent event = rank_->next(wake(deadline));
    if (const auto* received = std::get_if<Received>(&event)) {
      switch (take(*received, job)) {
        case Meaning::more:
          break;
        case Meaning::outcome:
          after_outcome(job);
          return true;
        case Meaning::late:
          stop_rank(settings_.grace, nullptr);
          rank_.reset();
          return false;
        case Meaning::foreign:
          give_up(entry, Status::failed,
                  fmt::format("sent a record for unexpected job '{}'",
                              printable(received->record.job)));
          return true;
      }
    } else if (const auto* fault = std::get_if<Fault>(&event)) {
      give_up(entry, Status::failed, fault->reason);
      return true;
    } else if (const auto* ended = std::get_if<Ended>(&event)) {
      give_up(entry, Status::failed,
              fmt::format("rank exited without an outcome: {}", ended->exit.text()));
      return true;
    } else if (std::holds_alternative<Interrupted>(event)) {
      interrupt(job);
      return true;
    }
    site_.ledger.tick();
  }
  give_up(entry, Status::timed_out,
          fmt::format("no outcome within {:g} s{}", job.timeout_s, rank_states(entry)));
  return true;
}

Lane::Meaning Lane::take(const Received& received, const Job& job) {
  const std::string& id = received.record.job;
  if (!id.empty() && id != job.id) {
    if (!served_.contains(id)) return Meaning::foreign;
    site_.ledger.keep(received);
    site_.ledger.discard_result(id);
    return Meaning::late;
  }
  site_.ledger.keep(received, job);
  const auto* outcome = std::get_if<Outcome>(&received.record.body);
  if (outcome == nullptr || id.empty()) return Meaning::more;
  site_.ledger.finish(job, *outcome);
  return Meaning::outcome;
}

/// Records that follow an outcome invalidate it.
void Lane::after_outcome(const Job& job) {
  served_.insert(job.id);
  for (;;) {
    const RankEvent event = rank_->next(Clock::now());
    if (std::holds_alternative<TimeUp>(event) || std::holds_alternative<Interrupted>(event)) return;
    if (std::holds_alternative<Ended>(event)) return rank_.reset();
    const auto* received = std::get_if<Received>(&event);
    if (received != nullptr) site_.ledger.keep(*received);
    if (received != nullptr && received->record.job.empty()) continue;
    site_.ledger.discard_result(job.id);
    stop_rank(settings_.grace, nullptr);
    return rank_.reset();
  }
}

void Lane::conclude(const Job& job, Status status, const std::string& reason) {
  site_.ledger.conclude(job, {status, reason, job_seconds()});
}

std::string Lane::with_stderr_tail(const std::string& reason) {
  const std::string words = rank_ ? rank_->log().stderr_tail() : "";
  return words.empty() ? reason : fmt::format("{}; last output: {}", reason, words);
}

Clock::time_point Lane::wake(Clock::time_point deadline) const {
  return std::min(deadline, after(site_.ledger.pace()));
}

double Lane::job_seconds() const {
  return std::chrono::duration<double>(Clock::now() - job_started_).count();
}

}  // namespace bench
