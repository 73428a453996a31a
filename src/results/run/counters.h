// Error counters of one host summed over all jobs of an acceptance, with the bytes moved on the
// same path in that time (facts "counters", docs/telemetry.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "results/run/gates.h"

namespace bench {

// Rules for error counters: which fail at the first error, which may count some errors under the
// standard of their link, and which are shown only.

enum class CounterKind {
  hard,   // fails at the first error
  doubt,  // one error makes the host inconclusive
  rate,   // the standard limits errors per bit
  shown   // not judged: no published bound, or a property of the network
};

struct CounterRule {
  std::string_view source;   // "host.infiniband"; ".health" for each GPU
  std::string_view counter;  // the column name after its device
  CounterKind kind = CounterKind::shown;
  double error_ratio = 0.0;  // errors per bit allowed by the standard; rate only
  /// Columns of bytes moved on the path: in the source ".traffic" for a GPU, in "host.network" for
  /// a NIC.
  std::vector<std::string_view> bytes = {};
  double bits_per_byte = 8.0;  // on the wire per counted byte
  /// Gauge of the link rate in bytes per second, for links that carry symbols when idle: bits then
  /// follow from time.
  std::string_view link_rate = {};
  std::string_view why = {};        // reason for the bound
  std::string_view next_step = {};  // what to do
};

/// Null for a counter that does not count errors.
const CounterRule* counter_rule(std::string_view source, std::string_view counter);

/// One error counter of one device.
struct HostCounter {
  std::string device;  // "mlx5_0.1", "eth0", "gpu3", "0000:3b:00.0"
  const CounterRule* rule = nullptr;
  double count = 0.0;           // errors in all jobs; of a gauge, the maximum
  double bytes = kNoValue;      // on its path in that time
  double bits = kNoValue;       // exposed to errors, lower bound
  double most_bits = kNoValue;  // upper bound; above `bits` if only samples are known
  bool by_time = false;         // bits derive from link rate and time, not from bytes
  bool by_jobs = false;         // bytes derive from job samples, for lack of a byte counter
  double upper = kNoValue;      // 95 % upper bound of errors per bit; rate only
  double chance = kNoValue;     // p-value at the allowed ratio; rate only
  bool known = false;           // counted in some job
  std::size_t broken = 0;       // jobs in which it was reset, vanished or unreadable
  std::string job = {}, case_name = {};  // the job that shows it; the case that moves most bytes
  std::optional<Verdict> verdict = {};   // none if only shown

  /// "2 symbol_errors of mlx5_0.1 over 8 GiB".
  std::string title() const;
};

/// Traffic of jobs over a GPU's PCIe link: at least their samples, at most their best rate all the
/// time.
struct Volume {
  double least = 0.0, most = 0.0;
  std::string case_name = {};
};
using Volumes = std::map<std::string, Volume, std::less<>>;  // "gpu0" -> volume

/// Adds up the counters of one host, job by job.
class CounterSums {
 public:
  /// `facts`: the entry of one host in the facts "counters".
  void add(const Json& facts, const std::string& job, const std::string& case_name);
  /// The error counters by device, with bits but without verdicts. `volumes`: for PCIe links of
  /// GPUs whose driver counts no bytes.
  std::vector<HostCounter> counters(const Volumes& volumes = {}) const;
  /// Why counters could not be read in some jobs; "" for none.
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
