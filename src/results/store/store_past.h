// Earlier checks of a host, from which a night chooses and judges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"

namespace bench {

class Store;

/// Jobs of one case on one host that ended ok, over all runs that count; without those that have
/// no clean samples, as these checked nothing.
struct CheckPast {
  std::string host, case_name, probe, device;
  std::int64_t first_ns = 0, last_ns = 0;  // start of the first and of the last such run
  std::size_t count = 0;
  double seconds = 0.0;  // mean of one
};

/// A case that a rank last skipped on the host: it lacks what the case needs, such as a GPU.
struct SkipPast {
  std::string host, case_name, reason;
};

/// A series over runs. Its case belongs to it: a long case and a short one of the same probe and
/// parameters may measure different things.
struct SeriesIdentity {
  std::string case_name, metric;
  Json params = Json::object();
  std::string over, host, device;
  int rank = 0, ranks = 1;
};

/// One run's value of a series: the median of the medians of its jobs.
struct PastValue {
  std::string run;
  std::int64_t time_ns = 0;
  double value = kNoValue;
};

/// An event of a run.
struct PastEvent {
  std::int64_t time_ns = 0;
  Json value;
};

// All of these ignore discarded runs.

/// Every host and case with an ok job since then.
std::vector<CheckPast> past_checks(const Store& store, std::int64_t since_ns);
/// Every host and case whose last job since then was skipped by its rank.
std::vector<SkipPast> past_skips(const Store& store, std::int64_t since_ns);
/// The last `most` clean ok results of runs started before then, without reruns of a night; oldest
/// first.
std::vector<PastValue> past_values(const Store& store, const SeriesIdentity& series,
                                   std::int64_t before_ns, std::size_t most);
/// CPU quota of the host's cgroup in the last `most` runs before then whose facts say it, without
/// reruns of a night; newest first, in cores; infinite for none.
std::vector<double> past_cpu_quotas(const Store& store, const std::string& host,
                                    std::int64_t before_ns, std::size_t most);
/// Events of that key in runs since then, oldest first; only object values.
std::vector<PastEvent> past_events(const Store& store, const std::string& key,
                                   std::int64_t since_ns);

}  // namespace bench
