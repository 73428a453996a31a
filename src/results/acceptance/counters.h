// What the counters of errors of one host came to over all jobs of an acceptance, each with the
// bytes that moved on its path in the same time (facts "counters", docs/telemetry.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/acceptance/counter_rules.h"
#include "results/gates.h"
#include "results/json_fields.h"

namespace bench {

/// One counter of errors of one device.
struct HostCounter {
  std::string device;  // "mlx5_0.1", "eth0", "gpu3", "0000:3b:00.0"
  const CounterRule* rule = nullptr;
  double count = 0.0;           // errors in all jobs; of a gauge the greatest value
  double bytes = kNoValue;      // on its path meanwhile
  double bits = kNoValue;       // that could have gone wrong, at least
  double most_bits = kNoValue;  // and at most: more than `bits` where only samples tell
  bool by_time = false;         // bits are those of the link while jobs ran, not only of the bytes
  bool by_jobs = false;  // nothing counts the bytes: they are those that the jobs' samples copied
  double upper = kNoValue;   // 95 % upper bound of errors a bit; rate only
  double chance = kNoValue;  // of so many at the allowed ratio; rate only
  bool known = false;        // some job counted it
  std::size_t broken = 0;    // jobs in which it was reset, vanished or could not be read
  std::string job = {}, case_name = {};  // the one that shows it; which moves most bytes there
  std::optional<Verdict> verdict = {};   // none: it is only shown

  /// "2 symbol_errors of mlx5_0.1 over 8 GiB".
  std::string title() const;
};

/// What jobs are known to have moved over a GPU's PCIe link: their samples, at least; their best
/// rate all the time, at most.
struct Volume {
  double least = 0.0, most = 0.0;
  std::string case_name = {};
};
using Volumes = std::map<std::string, Volume, std::less<>>;  // "gpu0" -> volume

/// Adds up the counters of one host, job by job.
class CounterSums {
 public:
  /// `facts`: one host's part of the facts "counters".
  void add(const Json& facts, const std::string& job, const std::string& case_name);
  /// Those that are counters of errors, by device. Bits are filled in, verdicts are not. `volumes`:
  /// for the PCIe links of GPUs whose driver counts no bytes.
  std::vector<HostCounter> counters(const Volumes& volumes = {}) const;
  /// Why counters could not be read in some jobs; "" when they could.
  const std::string& problem() const { return problem_; }

 private:
  struct Sum {
    double count = 0.0;     // of a counter
    double integral = 0.0;  // of a gauge over time
    double highest = 0.0;   // of a gauge
    double most = -1.0;     // of one job
    std::size_t jobs = 0, broken = 0;
    std::string job, case_name;  // of the job with the most
  };
  using Columns = std::map<std::string, Sum, std::less<>>;

  const Sum* find(const std::string& source, const std::string& column) const;
  void fill_bits(const std::string& source, HostCounter& counter) const;

  std::map<std::string, Columns, std::less<>> sources_;
  std::string problem_;
};

}  // namespace bench
