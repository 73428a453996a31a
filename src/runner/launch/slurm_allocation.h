// An allocation that benchctl makes and gives back. salloc holds it open with a `cat` that reads
// from a pipe of ours: should benchctl be killed, the pipe ends, cat with it, and salloc gives the
// nodes back. --no-shell would leave them taken until the time limit.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/dispatch/interrupts.h"
#include "runner/launch/process.h"
#include "runner/launch/slurm_settings.h"

namespace bench {

/// What salloc has said so far on stderr. Text beyond what is understood means nothing.
struct SallocTalk {
  std::string pending;  // the number of the job that waits; "" for none
  std::string granted;  // the job's number; "" not yet
  std::string error;    // its first error, without "salloc: error: "; "" for none
  bool operator==(const SallocTalk&) const = default;
};

/// Of whole lines alone: what stands behind the last newline is not looked at.
SallocTalk read_salloc(std::string_view text);

/// `name`: the job's, by which it is found even before its number is known.
std::vector<std::string> salloc_words(const std::vector<std::string>& hosts,
                                      const SlurmSettings& settings, const std::string& name);

class SlurmAllocation {
 public:
  /// Waits for it: settings.wait_s at most. An interrupt ends that, and job() is "" then. Throws
  /// Error(environment) with what salloc said, or why it is still pending.
  SlurmAllocation(const std::vector<std::string>& hosts, const SlurmSettings& settings,
                  const std::string& name, const Interrupts& interrupts);
  /// Cancels it, and says so where that fails.
  ~SlurmAllocation();
  SlurmAllocation(const SlurmAllocation&) = delete;
  SlurmAllocation& operator=(const SlurmAllocation&) = delete;

  const std::string& job() const { return job_; }

 private:
  void wait(Seconds limit, const Interrupts& interrupts);
  [[noreturn]] void fail(const SallocTalk& talk, const std::string& otherwise) const;
  void cancel() noexcept;

  std::string name_;
  std::string job_;
  std::string talk_;
  std::string said_;  // on its standard output
  std::size_t hosts_;
  std::unique_ptr<Process> salloc_;
};

}  // namespace bench
