#include "runner/dispatch/batch_run.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "results/run/run_records.h"
#include "runner/dispatch/training_view.h"
#include "runner/launch/program_output.h"
#include "runner/launch/rank_process.h"
#include "runner/launch/sbatch.h"

namespace bench {
namespace {

constexpr Seconds kAnswer{30.0};      // of sbatch, squeue and scancel
constexpr Seconds kAskAgain{2.0};     // squeue loads the controller
constexpr Seconds kCancelled{60.0};   // Slurm's default KillWait is 30 s
constexpr Seconds kLastRecords{5.0};  // a network file system may show them late

void write_script(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  if (read_file(file) != text) throw_errno("write " + file.string());
}

/// "PENDING (Resources)"; "" for an ended job.
std::string state_of(const std::string& job) try {
  const std::string text =
      program_output({"squeue", "--noheader", "--jobs=" + job, "--format=%T %r"}, kAnswer);
  return printable(text.substr(0, text.find('\n')));
} catch (const Error& error) {
  // squeue lists ended jobs for some minutes, and then reports their IDs as invalid.
  if (std::string(error.what()).find("Invalid job id") != std::string::npos) return "";
  say(Level::warning, printable(error.what()));
  return "unknown";
}

/// Reads the complete lines added to a growing file.
class Tail {
 public:
  explicit Tail(std::filesystem::path path) : path_(std::move(path)) {}

  std::vector<Record> more() {
    std::vector<Record> records;
    std::ifstream in(path_, std::ios::binary);
    in.seekg(at_);
    for (std::string line; std::getline(in, line) && !in.eof();) {
      at_ += static_cast<std::streamoff>(line.size()) + 1;
      try {
        records.push_back(record_from_json(parse_json(line, "records")));
      } catch (const Error&) {  // the report names it
      }
    }
    return records;
  }

 private:
  std::filesystem::path path_;
  std::streamoff at_ = 0;
};

class Watch {
 public:
  Watch(const BatchJob& job, const RunRequest& request)
      : job_(job), tail_(job.run / "records.jsonl"), progress_(request.style, request.plan) {
    for (const PlanEntry& entry : request.plan.entries) entries_[entry.job.id] = &entry;
  }

  /// False when the user interrupted.
  bool until_it_ends() {
    while (!(state_ = state_of(job_.number)).empty() && !state_.starts_with("COMPLETING")) {
      report_state();
      look_until(after(kAskAgain));
      if (interrupts_.count() > 0) {
        cancel();
        return false;
      }
    }
    const auto end = after(kLastRecords);
    do look();
    while (!ended_ && Clock::now() < end && poll(nullptr, 0, 100) == 0);
    if (!begun_)
      throw Error(ErrorKind::environment,
                  "batch job " + job_.number + " ended before the run started",
                  "see " + (job_.run / "log" / "batch.txt").string() +
                      " and check that all nodes share the run's folder");
    return true;
  }

 private:
  void look() {
    for (const Record& record : tail_.more()) {
      begun_ = true;
      const auto entry = entries_.find(record.job);
      const auto* event = std::get_if<Event>(&record.body);
      ended_ = event != nullptr && event->key == kRunEndEvent && record.job.empty();
      if (entry == entries_.end()) continue;
      if (started_.insert(record.job).second) {
        progress_.start(*entry->second);
        trainings_.start(*entry->second);
      }
      trainings_.show(entry->second->job, record, progress_);
      if (const auto* outcome = std::get_if<Outcome>(&record.body)) {
        progress_.finish(entry->second->job, *outcome);
        trainings_.finish(record.job);
      }
    }
    progress_.tick();
  }

  void look_until(Clock::time_point end) {
    while (Clock::now() < end && interrupts_.count() == 0) {
      look();
      if (ended_) end = std::min(end, after(Seconds{0.5}));  // the batch job is ending
      pollfd signal{interrupts_.fd(), POLLIN, 0};
      poll(&signal, 1, 200);
    }
  }

  void report_state() {
    if (state_ == reported_ || begun_) return;
    say(Level::info, fmt::format("batch job {}: {}", job_.number, state_));
    reported_ = state_;
  }

  void cancel() {
    say(Level::info, "cancelling batch job " + job_.number);
    program_output({"scancel", job_.number}, kAnswer);
    const auto end = after(kCancelled);
    while (!state_of(job_.number).empty() && Clock::now() < end) {
      look();
      poll(nullptr, 0, 500);
    }
    look();
  }

  const BatchJob& job_;
  Interrupts interrupts_;
  Tail tail_;
  Progress progress_;
  TrainingView trainings_ = {};
  std::map<std::string, const PlanEntry*> entries_;
  std::set<std::string> started_;
  std::string state_, reported_;
  bool begun_ = false, ended_ = false;
};

}  // namespace

BatchJob submit_batch(const RunRequest& request, std::vector<std::string> resume) {
  const std::vector<std::string> hosts = hosts_of(request.plan);
  if (hosts.empty())
    throw Error(ErrorKind::input, "--sbatch: no job of this plan can run",
                "run benchctl plan for the reason of each skip");
  const RunDirectory directory = make_run(request, now_ns());
  { const Spool empty(directory.records_path()); }  // the batch job appends to it
  const auto script = directory.path() / "batch.sh";
  resume.push_back(directory.id());
  write_script(script, batch_script(resume));
  const auto argv =
      sbatch_command(hosts, request.plan.inventory.slurm, "benchctl-" + directory.id(),
                     (directory.path() / "log" / "batch.txt").string(), script.string());
  const CarriedSecrets carried(request.plan.secrets);
  const BatchJob job{directory.path(), submitted_job(program_output(argv, kAnswer))};
  say(Level::info,
      fmt::format("run {}: batch job {} on {} nodes", directory.id(), job.number, hosts.size()));
  return job;
}

bool watch_batch(const BatchJob& job, const RunRequest& request) {
  return Watch(job, request).until_it_ends();
}

}  // namespace bench
