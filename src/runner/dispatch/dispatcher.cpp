#include "runner/dispatch/dispatcher.h"

#include <poll.h>

#include <algorithm>
#include <thread>

namespace bench {

Schedule::Schedule(const std::vector<PlanEntry>& entries, bool by_rounds)
    : entries_(entries),
      by_rounds_(by_rounds),
      hosts_of_(entries.size()),
      taken_(entries.size(), false) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t job = 0; job < entries.size(); ++job) {
    if (!entries[job].skip.empty()) continue;
    ++left_;
    if (entries[job].job.hosts.empty()) ready_.insert(job);
    for (const std::string& host : entries[job].job.hosts) {
      const auto [at, fresh] = positions.try_emplace(host, queues_.size());
      if (fresh) queues_.emplace_back();
      queues_[at->second].jobs.push_back(job);
      hosts_of_[job].push_back(at->second);
    }
  }
  for (std::size_t host = 0; host < queues_.size(); ++host) look_at(host);
}

bool Schedule::may_run(std::size_t job) const {
  return std::ranges::all_of(hosts_of_[job], [&](std::size_t host) {
    const HostQueue& queue = queues_[host];
    return !queue.taken && !queue.jobs.empty() && queue.jobs.front() == job;
  });
}

void Schedule::look_at(std::size_t host) {
  if (queues_[host].jobs.empty()) return;
  const std::size_t job = queues_[host].jobs.front();
  if (may_run(job)) ready_.insert(job);
}

std::size_t Schedule::mark_taken(std::size_t job) {
  for (const std::size_t host : hosts_of_[job]) queues_[host].taken = true;
  taken_[job] = true;
  --left_;
  return job;
}

std::optional<std::size_t> Schedule::take() {
  if (ready_.empty()) return {};
  const std::size_t job = *ready_.begin();
  ready_.erase(ready_.begin());
  return mark_taken(job);
}

std::optional<std::size_t> Schedule::follow(std::size_t done) {
  const auto& hosts = hosts_of_[done];
  for (const std::size_t host : hosts) queues_[host].jobs.pop_front();
  if (hosts.empty() || queues_[hosts.front()].jobs.empty()) return {};
  const std::size_t next = queues_[hosts.front()].jobs.front();
  const bool first_everywhere = std::ranges::all_of(hosts, [&](std::size_t host) {
    return !queues_[host].jobs.empty() && queues_[host].jobs.front() == next;
  });
  if (!first_everywhere || hosts_of_[next] != hosts ||
      launch_key(entries_[next].job) != launch_key(entries_[done].job))
    return {};
  const bool new_round = entries_[next].job.repeat != entries_[done].job.repeat;
  if (by_rounds_ && new_round && !ready_.empty() && *ready_.begin() < next) return {};
  return mark_taken(next);
}

bool Schedule::is_awaited(std::size_t running) const {
  return std::ranges::any_of(hosts_of_[running], [&](std::size_t host) {
    return queues_[host].jobs.size() > 1;  // the running job itself is first
  });
}

void Schedule::free(std::size_t done) {
  for (const std::size_t host : hosts_of_[done]) queues_[host].taken = false;
  for (const std::size_t host : hosts_of_[done]) look_at(host);
}

std::vector<std::size_t> Schedule::left() const {
  std::vector<std::size_t> jobs;
  for (std::size_t job = 0; job < entries_.size(); ++job)
    if (entries_[job].skip.empty() && !taken_[job]) jobs.push_back(job);
  return jobs;
}

Dispatcher::Dispatcher(const ProbeCatalogue& catalogue, const LaunchSite& site,
                       const RunDirectory& directory, Spool& spool, Progress& progress,
                       const Interrupts& interrupts, DispatcherSettings settings)
    : site_(site),
      directory_(directory),
      interrupts_(interrupts),
      settings_(std::move(settings)),
      ledger_(catalogue, spool, progress, directory.logs(), {settings_.gauges, directory.id()}) {
  for (const auto& [host, why] : settings_.out) hosts_.exclude(host, why);
}

bool Dispatcher::run(const Plan& plan) {
  for (const PlanEntry& entry : plan.entries)
    if (!entry.skip.empty()) ledger_.skip(entry.job, entry.skip);
  Schedule schedule(plan.entries, repeats_in_rounds(plan.suite));
  run_lanes(plan, schedule);
  if (failure_) std::rethrow_exception(failure_);
  for (const std::size_t job : schedule.left())
    if (interrupts_.count() > 0)
      ledger_.defer(plan.entries[job].job, "interrupted");
    else
      ledger_.skip(plan.entries[job].job, "no time left in the budget");
  ledger_.sync();
  return interrupts_.count() == 0;
}

/// A child is signalled when the thread that started it ends, so a lane's thread outlives its
/// processes; a single lane needs no thread.
void Dispatcher::run_lanes(const Plan& plan, Schedule& schedule) {
  const auto jobs = static_cast<std::size_t>(std::max(1, settings_.parallel));
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(jobs, plan.entries.size()); ++i)
    threads.emplace_back([&] { run_lane(plan, schedule); });
  run_lane(plan, schedule);
  for (std::thread& thread : threads) thread.join();
}

void Dispatcher::run_lane(const Plan& plan, Schedule& schedule) {
  Lane lane({site_, directory_, ledger_, hosts_, interrupts_}, settings_);
  std::unique_lock lock(mutex_);
  while (!schedule.empty() && !stopping()) {
    const auto job = schedule.take();
    if (!job) {
      freed_.wait_for(lock, std::chrono::milliseconds(200));
      continue;
    }
    lock.unlock();
    std::exception_ptr failure;
    try {
      serve(lane, plan, schedule, *job);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (failure) interrupts_.raise();  // stops the other lanes
    freed_.notify_all();
  }
}

void Dispatcher::serve(Lane& lane, const Plan& plan, Schedule& schedule, std::size_t job) {
  std::optional<std::size_t> next = job;
  while (next) {
    job = *next;
    lane.run(plan.entries[job]);
    if (is_awaited(schedule, job)) cool_down(plan.entries[job]);
    const std::lock_guard lock(mutex_);
    next = stopping() ? std::nullopt : schedule.follow(job);
  }
  lane.finish_process();
  const std::lock_guard lock(mutex_);
  schedule.free(job);
}

bool Dispatcher::is_awaited(const Schedule& schedule, std::size_t job) {
  const std::lock_guard lock(mutex_);
  return schedule.is_awaited(job);
}

void Dispatcher::cool_down(const PlanEntry& entry) const {
  if (entry.cooldown.value <= 0.0 || interrupts_.count() > 0) return;
  pollfd signal{interrupts_.fd(), POLLIN, 0};
  poll(&signal, 1, static_cast<int>(entry.cooldown.value * 1000));
}

}  // namespace bench
