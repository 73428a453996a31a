#include "runner/dispatch/dispatcher.h"

#include <poll.h>

#include <algorithm>
#include <thread>

namespace bench {

Dispatcher::Dispatcher(const ProbeCatalogue& catalogue, const LaunchSite& site,
                       const RunDirectory& directory, Spool& spool, Progress& progress,
                       const Interrupts& interrupts, DispatcherSettings settings)
    : site_(site),
      directory_(directory),
      interrupts_(interrupts),
      settings_(std::move(settings)),
      ledger_(catalogue, spool, progress, directory.logs()) {
  for (const auto& [host, why] : settings_.out) hosts_.exclude(host, why);
}

bool Dispatcher::run(const Plan& plan) {
  for (const PlanEntry& entry : plan.entries)
    if (!entry.skip.empty()) ledger_.skip(entry.job, entry.skip);
  Schedule schedule(plan.entries);
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
