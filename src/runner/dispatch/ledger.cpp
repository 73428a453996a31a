#include "runner/dispatch/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "results/run/run_records.h"
#include "runner/dispatch/run_directory.h"

namespace bench {

using Lock = std::lock_guard<std::mutex>;

Ledger::Ledger(const ProbeCatalogue& catalogue, Spool& spool, Progress& progress, int launches,
               LiveGauges gauges)
    : spool_(spool),
      progress_(progress),
      ceilings_(catalogue),
      launches_(launches),
      gauges_(std::move(gauges)) {}

std::string Ledger::gauges_due(bool now) {
  constexpr std::chrono::seconds kPace{5};
  const auto time = std::chrono::steady_clock::now();
  if (gauges_.file.empty() || (!now && time < gauges_due_)) return "";
  gauges_due_ = time + kPace;
  return trainings_.gauges(gauges_.run);
}

/// A folder that cannot be written is no reason to lose a training; said once.
void Ledger::write_gauges(const std::string& text) try {
  if (text.empty()) return;
  const Lock lock(gauges_mutex_);
  replace_file(gauges_.file, text);
  gauges_failed_ = false;
} catch (const Error& error) {
  if (!std::exchange(gauges_failed_, true))
    say(Level::warning, fmt::format("no gauges: {}", error.text()));
}

void Ledger::finish_job(const Job& job, const Outcome& outcome, bool believed) {
  std::string gauges;
  {
    const Lock lock(mutex_);
    if (!believed) ceilings_.forget(job.id);
    progress_.finish(job, outcome);
    if (trainings_.finish(job.id)) gauges = gauges_due(true);
  }
  write_gauges(gauges);
}

void Ledger::start(const PlanEntry& entry) {
  const Lock lock(mutex_);
  progress_.start(entry);
  trainings_.start(entry);
}

void Ledger::keep(const Received& received) {
  const Lock lock(mutex_);
  spool_.append(received.json);
}

void Ledger::keep(const Received& received, const Job& job) {
  std::string gauges;
  {
    const Lock lock(mutex_);
    spool_.append(received.json);
    if (const auto* samples = std::get_if<Samples>(&received.record.body))
      if (!received.record.job.empty()) ceilings_.observe(job, *samples);
    if (trainings_.show(job, received.record, progress_)) gauges = gauges_due(false);
  }
  write_gauges(gauges);
}

void Ledger::write(const std::string& job, decltype(Record::body) body, const std::string& host) {
  Record record = own_record(job, std::move(body));
  if (!host.empty()) record.host = host;
  const Lock lock(mutex_);
  spool_.append(record);
}

void Ledger::finish(const Job& job, const Outcome& outcome) {
  finish_job(job, outcome, outcome.status == Status::ok);
}

void Ledger::conclude(const Job& job, const Outcome& outcome) {
  write(job.id, outcome);
  finish_job(job, outcome, false);
}

void Ledger::defer(const Job& job, const std::string& why, Seconds after) {
  conclude(job, {Status::skipped, why, after.value});
  write(job.id, Event{kNotRunEvent, {{"why", why}}});
}

void Ledger::discard_result(const std::string& job) {
  const std::string reason =
      "the rank sent records after this job's outcome, so the result is discarded";
  write(job, Outcome{Status::failed, reason, 0.0});
  const Lock lock(mutex_);
  ceilings_.forget(job);
  say(Level::warning, job + ": " + reason);
}

void Ledger::skip(const Job& job, const std::string& reason) {
  const Lock lock(mutex_);
  progress_.finish(job, {Status::skipped, reason, 0.0});
}

std::vector<KnownLimit> Ledger::limits_for(const Job& job) const {
  const Lock lock(mutex_);
  return ceilings_.limits_for(job);
}

void Ledger::tick() {
  const Lock lock(mutex_);
  progress_.tick();
  spool_.sync_now_and_then();
}

void Ledger::sync() {
  const Lock lock(mutex_);
  spool_.sync();
}

Seconds Ledger::pace() const {
  const Lock lock(mutex_);
  return std::min(Seconds{spool_.unsynced() ? 1.0 : 3600.0}, progress_.pace());
}

int Ledger::next_launch() {
  const Lock lock(mutex_);
  return ++launches_;
}

}  // namespace bench
