#include "runner/nightly/node_batches.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/dispatch/batch_run.h"
#include "runner/launch/program_output.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

constexpr Seconds kSqueueAnswers{30.0};
constexpr Seconds kLookAgain{2.0};
constexpr Seconds kEnds{45.0};         // for cancelled jobs: Slurm's KillWait is 30 s
constexpr double kLeastMinutes = 3.0;  // of a batch job, including its launch

/// IDs of this user's batch jobs in the queue.
std::set<std::string> queued() {
  std::istringstream text(
      program_output({"squeue", "--noheader", "--me", "--format=%A"}, kSqueueAnswers));
  std::set<std::string> numbers;
  for (std::string number; text >> number;) numbers.insert(number);
  return numbers;
}

bool has_begun(const fs::path& run) {
  std::error_code none;
  const auto size = fs::file_size(run / "records.jsonl", none);
  return !none && size > 0;
}

class Batches {
 public:
  Batches(const RunRequest& night, const std::vector<std::string>& resume) {
    for (Plan& part : parts_by_hosts(night.plan)) {
      const RunRequest request = request_of_part(night, std::move(part));
      const std::string hosts = compact_hostlist(hosts_of(request.plan));
      try {
        jobs_.push_back({submit_batch(request, resume), hosts});
      } catch (const Error& error) {
        if (jobs_.empty()) throw;
        say(Level::warning, printable(hosts + ": " + error.what()));
        refused_.push_back(hosts);
      }
    }
  }

  void wait(Clock::time_point until) {
    while (any_queued() && Clock::now() < until && interrupts_.count() == 0) pause();
    if (!any_queued()) return;
    cancel();
    const auto end = after(kEnds);
    while (any_queued() && Clock::now() < end) pause();
  }

  NodeBatches result() const {
    NodeBatches result{{}, refused_, interrupts_.count() > 0};
    for (const auto& [job, hosts] : jobs_) {
      if (has_begun(job.run)) {
        result.runs.push_back(job.run);
        continue;
      }
      result.waiting.push_back(hosts);
      std::error_code stays;
      fs::remove_all(job.run, stays);
    }
    return result;
  }

 private:
  bool any_queued() const {
    const std::set<std::string> numbers = queued();
    return std::ranges::any_of(jobs_,
                               [&](const auto& one) { return numbers.contains(one.first.number); });
  }

  void pause() const {
    pollfd signal{interrupts_.fd(), POLLIN, 0};
    poll(&signal, 1, static_cast<int>(1000 * kLookAgain.value));
  }

  void cancel() const {
    std::vector<std::string> words = {"scancel"};
    for (const auto& [job, hosts] : jobs_) words.push_back(job.number);
    try {
      program_output(words, kSqueueAnswers);
    } catch (const Error& error) {  // already ended
      say(Level::info, printable(error.what()));
    }
  }

  Interrupts interrupts_;
  std::vector<std::pair<BatchJob, std::string>> jobs_;
  std::vector<std::string> refused_;
};

}  // namespace

std::vector<Plan> parts_by_hosts(const Plan& plan) {
  std::vector<Plan> parts;
  std::map<std::vector<std::string>, std::size_t> places;
  for (const PlanEntry& entry : plan.entries) {
    if (!entry.skip.empty()) continue;
    const auto [place, is_new] = places.try_emplace(entry.job.hosts, parts.size());
    if (is_new) parts.push_back(without_entries(plan));
    Plan& part = parts[place->second];
    part.entries.push_back(entry);
    part.expected += entry.expected;
  }
  return parts;
}

RunRequest request_of_part(const RunRequest& night, Plan part) {
  RunRequest request = night;
  const double minutes = std::ceil(kLeastMinutes + part.expected.value / 20.0);
  part.inventory.slurm.time_limit = fmt::format("{:.0f}", minutes);
  append(part.inventory.slurm.allocation_args, {"--nice=10000"});
  request.plan = std::move(part);
  request.dispatcher.end.reset();
  return request;
}

NodeBatches run_on_nodes(const RunRequest& night, const std::vector<std::string>& resume,
                         Clock::time_point until) {
  Batches batches(night, resume);
  batches.wait(until);
  return batches.result();
}

}  // namespace bench
