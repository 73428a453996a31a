#include "runner/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"

namespace bench {

Dispatcher::Dispatcher(const ProbeCatalogue& catalogue, const LaunchSite& site,
                       const RunDirectory& directory, Spool& spool, Progress& progress,
                       const Interrupts& interrupts, DispatcherSettings settings)
    : site_(site),
      directory_(directory),
      spool_(spool),
      progress_(progress),
      interrupts_(interrupts),
      settings_(std::move(settings)),
      ceilings_(catalogue),
      host_(this_host_name()) {}

bool Dispatcher::run(const Plan& plan) {
  for (const PlanEntry& entry : plan.entries) run_entry(entry);
  finish_process();
  spool_.sync();
  return !interrupted_;
}

void Dispatcher::run_entry(const PlanEntry& entry) {
  const Job& job = entry.job;
  if (!entry.skip.empty()) return progress_.finish(job, {Status::skipped, entry.skip, 0.0});
  job_started_ = Clock::now();
  interrupted_ |= interrupts_.count() > 0;
  if (interrupted_) return conclude(job, Status::skipped, "interrupted");
  progress_.start(entry);
  do {
    if (!ready_process(entry)) return;
    job_started_ = Clock::now();
  } while (!run_job(entry));
}

bool Dispatcher::ready_process(const PlanEntry& entry) {
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
    rank_ = std::make_unique<RankProcess>(launch_command(entry.job, site_, entry.slots),
                                          directory_.log_path(++launches_), interrupts_,
                                          settings_.graces, settings_.signaller);
  } catch (const Error& error) {
    refuse_launch(entry, fmt::format("cannot start it: {}{}{}", error.what(),
                                     error.hint().empty() ? "" : "; ", error.hint()));
    return false;
  }
  return shake_hands(entry);
}

bool Dispatcher::shake_hands(const PlanEntry& entry) {
  const auto deadline = after(settings_.handshake);
  for (;;) {
    const RankEvent event = rank_->next(wake(deadline));
    if (const auto* received = std::get_if<Received>(&event)) {
      spool_.append(received->json);
      const auto* facts = std::get_if<Facts>(&received->record.body);
      if (facts != nullptr && facts->topic == "device") device_ = device_facts_from(facts->facts);
      if (facts == nullptr || facts->topic != "program") continue;
      check_version(*facts);
      libraries_ = facts->facts.value("libraries", Json());
      write(entry.job.id, Phase{"launch", job_seconds()});
      return true;
    }
    if (std::holds_alternative<Interrupted>(event)) {
      interrupt(entry.job);
      return false;
    }
    std::string trouble;
    if (const auto* fault = std::get_if<Fault>(&event))
      trouble = "at its start it " + fault->reason;
    if (const auto* ended = std::get_if<Ended>(&event))
      trouble = "it ended at its start with " + ended->exit.text();
    if (Clock::now() >= deadline)
      trouble =
          fmt::format("it did not report within {:g} s of its start", settings_.handshake.value);
    if (!trouble.empty()) {
      stop_rank(settings_.graces, nullptr);
      refuse_launch(entry, with_last_words(trouble));
      return false;
    }
    progress_.tick();
  }
}

void Dispatcher::check_version(const Facts& facts) {
  const Json stated = facts.facts.is_object() ? facts.facts.value("version", Json()) : Json();
  const std::string theirs = stated.is_string() ? stated.get<std::string>() : "unknown";
  if (theirs == settings_.version) return;
  throw Error(ErrorKind::environment,
              fmt::format("{} is version {} and benchctl is version {}", site_.rank_program,
                          printable(theirs), settings_.version),
              "build both from one source: scripts/build");
}

void Dispatcher::refuse_launch(const PlanEntry& entry, const std::string& reason) {
  rank_.reset();
  refused_[rank_key_] = reason;  // the next job would fare no better, and would wait as long
  conclude(entry.job, Status::failed, reason);
}

/// What was measured earlier in this run, and what the device's product can do at most.
std::vector<KnownLimit> Dispatcher::limits_for(const Job& job) {
  std::vector<KnownLimit> limits = ceilings_.limits_for(job);
  if (!device_) return limits;
  static const HardwareCatalogue catalogue = HardwareCatalogue::installed();
  for (KnownLimit& limit : device_limits(catalogue, *device_, job))
    limits.push_back(std::move(limit));
  return limits;
}

Job Dispatcher::send(const PlanEntry& entry) {
  Job job = entry.job;
  job.limits = limits_for(job);
  job.golden = settings_.golden.for_job(job, libraries_);
  rank_->log().start_job();
  rank_->send(dump(to_json(job)));
  return job;
}

bool Dispatcher::run_job(const PlanEntry& entry) {
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
          stop_rank(settings_.graces, nullptr);
          rank_.reset();
          return false;
        case Meaning::foreign:
          give_up(job, Status::failed,
                  fmt::format("printed a record for '{}', a job it was not given",
                              printable(received->record.job)));
          return true;
      }
    } else if (const auto* fault = std::get_if<Fault>(&event)) {
      give_up(job, Status::failed, fault->reason);
      return true;
    } else if (const auto* ended = std::get_if<Ended>(&event)) {
      const std::string reason =
          with_last_words(fmt::format("the rank ended without an outcome: {}", ended->exit.text()));
      rank_.reset();
      conclude(job, Status::failed, reason);
      return true;
    } else if (std::holds_alternative<Interrupted>(event)) {
      interrupt(job);
      return true;
    }
    progress_.tick();
    spool_.sync_now_and_then();
  }
  give_up(job, Status::timed_out, fmt::format("no outcome within {:g} s", job.timeout_s));
  return true;
}

Dispatcher::Meaning Dispatcher::take(const Received& received, const Job& job) {
  const std::string& id = received.record.job;
  if (!id.empty() && id != job.id) {
    if (!served_.contains(id)) return Meaning::foreign;
    spool_.append(received.json);
    overrule(id);
    return Meaning::late;
  }
  keep(received, job);
  const auto* outcome = std::get_if<Outcome>(&received.record.body);
  if (outcome == nullptr || id.empty()) return Meaning::more;
  if (outcome->status != Status::ok) ceilings_.forget(job.id);
  progress_.finish(job, *outcome);
  return Meaning::outcome;
}

/// What stands in the pipe behind an outcome must not be there.
void Dispatcher::after_outcome(const Job& job) {
  served_.insert(job.id);
  for (;;) {
    const RankEvent event = rank_->next(Clock::now());
    if (std::holds_alternative<TimeUp>(event)) return;
    if (std::holds_alternative<Interrupted>(event)) {
      interrupted_ = true;
      return;
    }
    if (std::holds_alternative<Ended>(event)) return rank_.reset();
    const auto* received = std::get_if<Received>(&event);
    if (received != nullptr) spool_.append(received->json);
    if (received != nullptr && received->record.job.empty()) continue;
    overrule(job.id);
    stop_rank(settings_.graces, nullptr);
    return rank_.reset();
  }
}

std::string Dispatcher::stop_rank(const Graces& graces, const Job* job) {
  return rank_->stop(graces, [&](const Received& received) {
    const std::string& id = received.record.job;
    if (id.empty() || (job != nullptr && id == job->id)) spool_.append(received.json);
  });
}

void Dispatcher::give_up(const Job& job, Status status, const std::string& what) {
  const std::string end = stop_rank(settings_.graces, &job);
  const std::string reason = with_last_words(what + "; " + end);
  rank_.reset();
  conclude(job, status, reason);
}

void Dispatcher::interrupt(const Job& job) {
  interrupted_ = true;
  stop_rank(settings_.interrupted_graces, &job);
  rank_.reset();
  conclude(job, Status::skipped, "interrupted while it ran");
}

void Dispatcher::finish_process() {
  if (!rank_) return;
  rank_->close_input();
  const auto deadline = after(interrupted_ ? Seconds{0.2} : settings_.finish);
  while (Clock::now() < deadline) {
    const RankEvent event = rank_->next(deadline);
    if (const auto* ended = std::get_if<Ended>(&event)) {
      if (!ended->exit.clean() && !interrupted_)
        say(Level::warning,
            with_last_words("a rank ended after its last job with " + ended->exit.text()));
      return rank_.reset();
    }
    if (const auto* received = std::get_if<Received>(&event)) {
      spool_.append(received->json);
      if (served_.contains(received->record.job)) overrule(received->record.job);
    }
    interrupted_ |= std::holds_alternative<Interrupted>(event);
    if (interrupted_ || std::holds_alternative<Fault>(event)) break;
  }
  const std::string end =
      stop_rank(interrupted_ ? settings_.interrupted_graces : settings_.graces, nullptr);
  if (!interrupted_) say(Level::warning, "a rank did not end after its last job; " + end);
  rank_.reset();
}

void Dispatcher::keep(const Received& received, const Job& job) {
  spool_.append(received.json);
  if (const auto* samples = std::get_if<Samples>(&received.record.body))
    if (!received.record.job.empty()) ceilings_.observe(job, *samples);
}

void Dispatcher::conclude(const Job& job, Status status, const std::string& reason) {
  const Outcome outcome{status, reason, job_seconds()};
  ceilings_.forget(job.id);
  write(job.id, outcome);
  progress_.finish(job, outcome);
}

void Dispatcher::overrule(const std::string& id) {
  ceilings_.forget(id);
  const std::string reason = "the rank wrote more after this job's outcome: it cannot be believed";
  write(id, Outcome{Status::failed, reason, 0.0});
  say(Level::warning, id + ": " + reason);
}

void Dispatcher::write(const std::string& job, decltype(Record::body) body) {
  Record record;
  record.job = job;
  record.host = host_;
  record.rank = -1;
  record.time_ns = now_ns();
  record.body = std::move(body);
  spool_.append(record);
}

std::string Dispatcher::with_last_words(const std::string& reason) {
  const std::string words = rank_ ? rank_->log().last_words() : "";
  return words.empty() ? reason : fmt::format("{}; it last said: {}", reason, words);
}

Clock::time_point Dispatcher::wake(Clock::time_point deadline) const {
  const Seconds sync{spool_.unsynced() ? 1.0 : 3600.0};
  return std::min(deadline, after(std::min(sync, progress_.pace())));
}

double Dispatcher::job_seconds() const {
  return std::chrono::duration<double>(Clock::now() - job_started_).count();
}

}  // namespace bench
