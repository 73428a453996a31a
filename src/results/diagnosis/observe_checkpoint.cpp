// Checkpoints during emulated steps: their cost at the measured or at the optimal interval.
#include <fmt/format.h>

#include "core/text.h"
#include "results/diagnosis/observers.h"

namespace bench::diagnosis {
namespace {

constexpr const char* kNoInterval =
    "written without steps: the checkpoint interval is unknown";

/// Step time between two asynchronous checkpoints, without waits.
double emulated_interval(const Json& params) {
  return number_field(params, "async_steps") * number_field(params, "step_s");
}

void add_async(Observation& observation, const JobResult& job, const std::vector<Series>& series,
               const Json& kind) {
  const double interval = emulated_interval(job.job.params);
  observation.set(Measure::checkpoint_share, median_of(series, "overhead", kind),
                  source_of(job, "overhead at the measured interval"));
  observation.set(Measure::checkpoint_stall_s, median_of(series, "stall", kind),
                  source_of(job, "stall"));
  observation.set(Measure::checkpoint_interval_s, interval, source_of(job, "async_steps x step_s"));
}

/// At Daly's interval, which requires the mean time between failures.
void add_sync(Observation& observation, const JobResult& job, const std::vector<Series>& series,
              Json kind) {
  const double stall = median_of(series, "write_time", kind);
  observation.set(Measure::checkpoint_stall_s, stall, source_of(job, "write_time"));
  kind["by"] = "daly";
  const double interval = median_of(series, "interval", kind);
  kind.erase("by");
  kind["of_model"] = field(kind, "model");
  kind["of_state"] = field(kind, "state");
  const double whole = median_of(series, "projected_time", kind);
  observation.set(Measure::checkpoint_interval_s, interval, source_of(job, "Daly interval"));
  observation.set(Measure::checkpoint_share, whole / (whole + interval),
                  source_of(job, "projected_time at the Daly interval"));
  if (observation.find(Measure::checkpoint_share) == nullptr)
    observation.set_missing(Measure::checkpoint_share, kNoInterval);
}

/// Parameters of each kind of access and save mode.
std::vector<Json> kinds_of(const std::vector<Series>& series) {
  std::vector<Json> kinds;
  for (const Series& one : series)
    if (is_of(one, "write_time") || is_of(one, "stall")) kinds.push_back(one.params);
  return kinds;
}

}  // namespace

std::vector<Observation> observe_checkpoint(const RunView& view, std::size_t job) {
  const JobResult& result = view.jobs()[job];
  const auto series = view.series(job);
  std::vector<Observation> all;
  for (const Json& kind : kinds_of(series)) {
    Observation observation;
    observation.subject = Subject::checkpoint;
    const std::string mode = text_field(kind, "mode"), access = text_field(kind, "access");
    observation.what = fmt::format("{}, {}", printable(mode), printable(access));
    if (mode == "async")
      add_async(observation, result, series, kind);
    else
      add_sync(observation, result, series, kind);
    observation.set(Measure::durable_rate,
                    median_of(series, "write_bandwidth", {{"access", access}}),
                    source_of(result, "write_bandwidth"));
    add_host(observation, view, job, Json::object());
    all.push_back(std::move(observation));
  }
  return all;
}

}  // namespace bench::diagnosis
