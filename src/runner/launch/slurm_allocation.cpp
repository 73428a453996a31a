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

constexpr Seconds kAnswer{10.0};              // for squeue and scancel
constexpr std::size_t kMostOutput = 1 << 20;  // sites may print messages of the day
constexpr std::string_view kSpeaker = "salloc: ";

/// The job ID after `prefix`, if that is the rest of the line.
std::string job_id_after(std::string_view line, std::string_view words) {
  if (!line.starts_with(words)) return "";
  const std::string_view number = line.substr(words.size());
  return is_job_number(number) ? std::string(number) : "";
}

void read_line(std::string_view line, SallocOutput& output) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.starts_with(kSpeaker)) return;
  line.remove_prefix(kSpeaker.size());
  if (auto job = job_id_after(line, "Granted job allocation "); !job.empty()) output.granted = job;
  if (auto job = job_id_after(line, "Pending job allocation "); !job.empty()) output.pending = job;
  constexpr std::string_view error = "error: ";
  if (output.error.empty() && line.starts_with(error))
    output.error = printable(line.substr(error.size()));
}

/// "(ReqNodeNotAvail, UnavailableNodes:node03)"; "" if unknown.
std::string pending_reason(const std::string& job) try {
  const std::string text =
      program_output({"squeue", "--noheader", "--jobs=" + job, "--format=%R"}, kAnswer);
  return printable(text.substr(0, text.find('\n')));
} catch (const Error&) {
  return "";
}

}  // namespace

SallocOutput parse_salloc(std::string_view text) {
  SallocOutput output;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1))
    read_line(text.substr(0, end), output);
  return output;
}

std::vector<std::string> salloc_command(const std::vector<std::string>& hosts,
                                        const SlurmSettings& settings, const std::string& name) {
  std::vector<std::string> argv = {"salloc"};
  for (std::string& word : allocation_options(hosts, settings, name))
    argv.push_back(std::move(word));
  // Slurm grants an allocation before its nodes have booted and finished their prolog; the command
  // starts after that.
  append(argv, {"sh", "-c", "echo ready; exec cat"});
  return argv;
}

SlurmAllocation::SlurmAllocation(const std::vector<std::string>& hosts,
                                 const SlurmSettings& settings, const std::string& name,
                                 const Interrupts& interrupts)
    : name_(name), hosts_(hosts.size()) {
  const std::vector<std::string> argv = salloc_command(hosts, settings, name);
  say(Level::info,
      fmt::format("requesting {} nodes from Slurm: {}", hosts.size(), join(argv, " ")));
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
    read_some(salloc_->error, stderr_text_, kMostOutput);
    read_some(salloc_->output, stdout_text_, kMostOutput);
    const SallocOutput output = parse_salloc(stderr_text_);
    if (ended) fail(output, "salloc ended without an allocation");
    job_ = output.granted;
    if (!job_.empty() && ("\n" + stdout_text_).find("\nready\n") != std::string::npos) return;
    if (Clock::now() >= deadline)
      fail(output, job_.empty()
                       ? fmt::format("still pending after {:g} s {}", limit.value,
                                     output.pending.empty() ? "" : pending_reason(output.pending))
                       : fmt::format("job {} was granted, but its nodes are not ready after {:g} s "
                                     "(booting or running a prolog)",
                                     job_, limit.value));
    pollfd signal{interrupts.fd(), POLLIN, 0};
    poll(&signal, 1, 50);
  }
}

void SlurmAllocation::fail(const SallocOutput& output, const std::string& otherwise) const {
  throw Error(ErrorKind::environment,
              fmt::format("cannot get a Slurm allocation of {} nodes: {}", hosts_,
                          output.error.empty() ? otherwise : output.error),
              "check sinfo and \"slurm\" in the hosts file; remove hosts that are down, or "
              "increase wait_s");
}

/// salloc releases the nodes when its command ends; scancel, in case salloc no longer does.
void SlurmAllocation::cancel() noexcept try {
  if (!salloc_) return;
  salloc_->input.close();
  salloc_->signal(SIGTERM);
  const std::string job = job_.empty() ? parse_salloc(stderr_text_).pending : job_;
  const std::unique_ptr<Process> salloc =
      std::move(salloc_);  // ended on return, even after an exception
  program_output({"scancel", job.empty() ? "--name=" + name_ : job}, kAnswer);
} catch (const std::exception& error) {
  say(Level::warning, fmt::format("could not cancel allocation {}: {}; check squeue",
                                  job_.empty() ? name_ : job_, error.what()));
}

}  // namespace bench
