// A Slurm allocation made and released by benchctl. salloc holds it open with a `cat` that reads
// from our pipe: if benchctl is killed, cat ends and salloc releases the nodes. With --no-shell
// they would stay allocated until the time limit.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/hosts/slurm_settings.h"
#include "runner/launch/interrupts.h"
#include "runner/launch/process.h"

namespace bench {

/// What salloc has printed on stderr so far; unknown text is ignored.
struct SallocOutput {
  std::string pending;  // ID of the pending job; "" for none
  std::string granted;  // ID of the granted job; "" for none
  std::string error;    // first error, without "salloc: error: "; "" for none
  bool operator==(const SallocOutput&) const = default;
};

/// Parses complete lines only.
SallocOutput parse_salloc(std::string_view text);

/// `name`: job name, which identifies the job before its ID is known.
std::vector<std::string> salloc_command(const std::vector<std::string>& hosts,
                                        const SlurmSettings& settings, const std::string& name);

class SlurmAllocation {
 public:
  /// Waits up to settings.wait_s for the allocation. After an interrupt job() is "". Throws
  /// Error(environment) with salloc's error, or the reason of the pending state.
  SlurmAllocation(const std::vector<std::string>& hosts, const SlurmSettings& settings,
                  const std::string& name, const Interrupts& interrupts);
  /// Cancels it; warns on failure.
  ~SlurmAllocation();
  SlurmAllocation(const SlurmAllocation&) = delete;
  SlurmAllocation& operator=(const SlurmAllocation&) = delete;

  const std::string& job() const { return job_; }

 private:
  void wait(Seconds limit, const Interrupts& interrupts);
  [[noreturn]] void fail(const SallocOutput& output, const std::string& otherwise) const;
  void cancel() noexcept;

  std::string name_;
  std::string job_;
  std::string stderr_text_;
  std::string stdout_text_;  // stdout of salloc
  std::size_t hosts_;
  std::unique_ptr<Process> salloc_;
};

}  // namespace bench
