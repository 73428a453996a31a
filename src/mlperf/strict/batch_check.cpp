// batch.*: the global batch is the product of its factors.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

/// The logged value of `key` if it is a positive integer; other values are checked elsewhere.
std::optional<double> factor(const Log& log, std::string_view key) {
  const LogEntry* entry = last_entry(log, key);
  if (entry == nullptr || entry->value.is_bool() || !entry->value.is_number()) return std::nullopt;
  const double number = entry->value.number();
  if (!(number > 0) || number != std::floor(number) || number > 1e15) return std::nullopt;
  return number;
}

/// Samples per replica and step, as far as logged: batch per device and forward pass, times the
/// number of passes. The framework chooses which of the two batch keys it logs.
struct ReplicaBatch {
  double samples = 1.0;
  bool whole = false;  // the batch per device is known
  std::string text = {};
};

ReplicaBatch replica_batch(const Log& log) {
  ReplicaBatch result;
  const auto multiply = [&](std::string_view key) {
    const std::optional<double> number = factor(log, key);
    if (!number) return false;
    result.samples *= *number;
    result.text += fmt::format("{}{} {:.0f}", result.text.empty() ? "" : " x ", key, *number);
    return true;
  };
  result.whole = multiply("micro_batch_size") || multiply("local_batch_size");
  multiply("gradient_accumulation_steps");
  return result;
}

/// Devices per replica; empty if not logged.
std::optional<double> devices_per_replica(const Log& log) {
  if (factor(log, "local_batch_size") && !factor(log, "micro_batch_size")) return 1.0;
  double devices = 1.0;
  for (const char* key : {"tensor_parallelism", "pipeline_parallelism", "context_parallelism"}) {
    const std::optional<double> number = factor(log, key);
    if (!number) return std::nullopt;
    devices *= *number;
  }
  return devices;
}

}  // namespace

void check_batch(const Subject& subject, std::vector<Finding>& findings) {
  const LogEntry* entry = last_entry(subject.log, "global_batch_size");
  const std::optional<double> batch = factor(subject.log, "global_batch_size");
  const ReplicaBatch replica = replica_batch(subject.log);
  if (!batch || replica.text.empty()) return;
  const auto add = [&](const std::string& expected, const std::string& text) {
    add_finding(findings, entry, "batch.factors", Severity::warning,
                {expected, fmt::format("{:.0f}", *batch), text});
  };
  if (std::fmod(*batch, replica.samples) != 0)
    return add("a multiple of " + replica.text,
               "the global batch is not a multiple of the per-replica batch");
  const std::optional<double> devices = devices_per_replica(subject.log);
  if (!replica.whole || !devices || !subject.accelerators) return;
  const double replicas = static_cast<double>(*subject.accelerators) / *devices;
  if (replicas * replica.samples == *batch) return;
  add(fmt::format("{:.10g}: {} x {:.10g} replicas of {:.0f} accelerators",
                  replicas * replica.samples, replica.text, replicas, *devices),
      fmt::format("the global batch does not match the factors in the log on the system's {} "
                  "accelerators",
                  *subject.accelerators));
}

}  // namespace bench::mlperf
