#include "runner/dispatch/schedule.h"

#include <algorithm>

namespace bench {

Schedule::Schedule(const std::vector<PlanEntry>& entries)
    : entries_(entries), hosts_of_(entries.size()), taken_(entries.size(), false) {
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

}  // namespace bench
