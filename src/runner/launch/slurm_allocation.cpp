#include "runner/launch/slurm_allocation.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/hosts/allocation.h"
#include "runner/launch/program_output.h"
#include "runner/launch/rank_process.h"
#include "runner/launch/sbatch.h"

namespace bench {
namespace {

constexpr Seconds kAnswer{10.0};            // of squeue and scancel
constexpr std::size_t kMostTalk = 1 << 20;  // sites let salloc greet its users
constexpr std::string_view kSpeaker = "salloc: ";

/// The number behind `words`, when the line is these words and a job's number.
std::string job_behind(std::string_view line, std::string_view words) {
  if (!line.starts_with(words)) return "";
  const std::string_view number = line.substr(words.size());
  return is_job_number(number) ? std::string(number) : "";
}

void read_line(std::string_view line, SallocTalk& talk) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with(kSpeaker)) return;
  line.remove_prefix(kSpeaker.size());
  if (auto job = job_behind(line, "Granted job allocation "); !job.empty()) talk.granted = job;
  if (auto job = job_behind(line, "Pending job allocation "); !job.empty()) talk.pending = job;
  constexpr std::string_view error = "error: ";
  if (talk.error.empty() && line.starts_with(error))
    talk.error = printable(line.substr(error.size()));
}

/// "(ReqNodeNotAvail, UnavailableNodes:node03)"; "" when Slurm does not say.
std::string why_pending(const std::string& job) try {
  const std::string text =
      program_output({"squeue", "--noheader", "--jobs=" + job, "--format=%R"}, kAnswer);
  return printable(text.substr(0, text.find('\n')));
} catch (const Error&) {
  return "";
}

}  // namespace

SallocTalk read_salloc(std::string_view text) {
  SallocTalk talk;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1))
    read_line(text.substr(0, end), talk);
  return talk;
}

std::vector<std::string> salloc_words(const std::vector<std::string>& hosts,
                                      const SlurmSettings& settings, const std::string& name) {
  std::vector<std::string> argv = {"salloc"};
  for (std::string& word : allocation_words(hosts, settings, name)) argv.push_back(std::move(word));
  // Slurm grants before its nodes have booted and their prolog has ended; it starts the command
  // after.
  append(argv, {"sh", "-c", "echo ready; exec cat"});
  return argv;
}

SlurmAllocation::SlurmAllocation(const std::vector<std::string>& hosts,
                                 const SlurmSettings& settings, const std::string& name,
                                 const Interrupts& interrupts)
    : name_(name), hosts_(hosts.size()) {
  const std::vector<std::string> argv = salloc_words(hosts, settings, name);
  say(Level::info, fmt::format("asking Slurm for {} nodes: {}", hosts.size(), join(argv, " ")));
  salloc_ = std::make_unique<Process>(Command{argv, {}});
  try {
    wait(Seconds{static_cast<double>(settings.wait_s)}, interrupts);
  } catch (...) {
    cancel();
    throw;
  }
}

SlurmAllocation::~SlurmAllocation() { cancel(); }

void SlurmAllocation::wait(Seconds limit, const Interrupts& interrupts) {
  const auto deadline = after(limit);
  while (interrupts.count() == 0) {
    const bool ended = salloc_->ended();
    read_some(salloc_->error, talk_, kMostTalk);
    read_some(salloc_->output, said_, kMostTalk);
    const SallocTalk talk = read_salloc(talk_);
    if (ended) fail(talk, "salloc ended without an allocation");
    job_ = talk.granted;
    if (!job_.empty() && ("\n" + said_).find("\nready\n") != std::string::npos) return;
    if (Clock::now() >= deadline)
      fail(talk, job_.empty() ? fmt::format("still pending after {:g} s {}", limit.value,
                                            talk.pending.empty() ? "" : why_pending(talk.pending))
                              : fmt::format("job {} is granted, but its nodes are not ready after "
                                            "{:g} s: they boot, or run a prolog",
                                            job_, limit.value));
    pollfd signal{interrupts.fd(), POLLIN, 0};
    poll(&signal, 1, 50);
  }
}

void SlurmAllocation::fail(const SallocTalk& talk, const std::string& otherwise) const {
  throw Error(ErrorKind::environment,
              fmt::format("Slurm gives no allocation of {} nodes: {}", hosts_,
                          talk.error.empty() ? otherwise : talk.error),
              "see sinfo and \"slurm\" in the hosts file; leave out hosts that are down, or wait "
              "longer with wait_s");
}

/// salloc gives the nodes back when its command ends; scancel, because salloc may be past that.
void SlurmAllocation::cancel() noexcept try {
  if (!salloc_) return;
  salloc_->input.close();
  salloc_->signal(SIGTERM);
  const std::string job = job_.empty() ? read_salloc(talk_).pending : job_;
  const std::unique_ptr<Process> salloc = std::move(salloc_);  // ended with this, whatever comes
  program_output({"scancel", job.empty() ? "--name=" + name_ : job}, kAnswer);
} catch (const std::exception& error) {
  say(Level::warning, fmt::format("the allocation {} is not cancelled: {}; see squeue",
                                  job_.empty() ? name_ : job_, error.what()));
}

}  // namespace bench
