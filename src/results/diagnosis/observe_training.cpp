// Observations of a training, from the records of the probe `training`; for external trainings only
// what their log contains (docs/external.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/order_statistics.h"
#include "results/diagnosis/observers.h"

namespace bench::diagnosis {
namespace {

/// Excluded as in items_per_second: caches are cold and memory is untouched.
constexpr std::size_t kColdSteps = 10;

constexpr const char* kBreakdown = "breakdown";

struct PartOfPhase {
  const char* phase;
  Measure measure;
};
constexpr PartOfPhase kParts[] = {{"data", Measure::data_share},
                                  {"transfer", Measure::transfer_share},
                                  {"forward", Measure::passes_share},
                                  {"backward", Measure::passes_share},
                                  {"exchange_exposed", Measure::exchange_share},
                                  {"optimizer", Measure::optimizer_share},
                                  {"lane_wait", Measure::lane_wait_share},
                                  {"checkpoint", Measure::checkpoint_share},
                                  {"other", Measure::residual_share}};

using Times = std::map<std::string, double, std::less<>>;

const Json& column(const Chunk* chunk, const char* name) {
  static const Json none = Json::array();
  return chunk == nullptr ? none : array_field(chunk->columns, name);
}

std::vector<double> numbers(const Json& values) {
  std::vector<double> all;
  for (const Json& value : values)
    if (value.is_number()) all.push_back(value.get<double>());
  return all;
}

/// Seconds of each phase.
Times times_of(const Chunk* breakdown) {
  const Json& phases = column(breakdown, "phase");
  const Json& seconds = column(breakdown, "seconds");
  Times times;
  for (std::size_t i = 0; i < phases.size() && i < seconds.size(); ++i)
    if (phases[i].is_string() && seconds[i].is_number())
      times[phases[i].get<std::string>()] = seconds[i].get<double>();
  return times;
}

double time_of(const Times& times, std::string_view phase) {
  const auto found = times.find(phase);
  return found == times.end() ? 0.0 : found->second;
}

/// Sum of all phases that are not overlapped.
double whole(const Times& times) {
  double sum = 0.0;
  for (const auto& [phase, seconds] : times)
    if (phase != "exchange_hidden" && phase != "init") sum += seconds;
  return sum;
}

double outside_steps(const Times& times) {
  return time_of(times, "evaluation") + time_of(times, "checks");
}

void add_shares(Observation& observation, const Times& times, const JobResult& job,
                const Json& facts) {
  const double all = whole(times), steps = all - outside_steps(times);
  if (!(all > 0.0) || !(steps > 0.0)) return;
  observation.set(Measure::evaluation_share, outside_steps(times) / all, source_of(job, kBreakdown));
  if (!times.contains("forward")) {
    for (const Measure part : step_parts())
      observation.set_missing(part, "the log has no step breakdown");
    return;
  }
  std::map<Measure, double> parts;
  for (const PartOfPhase& one : kParts) parts[one.measure] += time_of(times, one.phase);
  for (const auto& [part, seconds] : parts)
    observation.set(part, seconds / steps, source_of(job, kBreakdown));
  if (text_field(facts, "workload") == "dlrm")
    observation.set_missing(Measure::data_share, "embedding lookups are counted as data time");
  if (!observation.on_gpu)
    observation.set(Measure::transfer_share, 0.0, "device memory is host memory");
  else if (!times.contains("transfer"))
    observation.set_missing(Measure::transfer_share, "the breakdown does not separate copies");
}

/// The parts of its loader that the probe `training` has none of: its samples are made, or read, by
/// the step that needs them.
void add_input(Observation& observation) {
  observation.set(Measure::readiness, 0.0, "samples are generated within each step");
  for (const Measure measure : {Measure::cached_removes, Measure::worker_cpu_share,
                                Measure::worker_idle_share, Measure::step_spread})
    observation.set_missing(measure, "the training has no data loader");
}

void add_steps(Observation& observation, const Chunk* chunk, const JobResult& job) {
  const std::vector<double> seconds = numbers(column(chunk, "seconds"));
  const std::size_t cold = std::min(kColdSteps, seconds.size());
  const std::span steady = std::span(seconds).subspan(cold);
  observation.set(Measure::steps, static_cast<double>(steady.size()), source_of(job, "steps"));
  const std::size_t half = steady.size() / 2;
  if (half == 0) return;
  const double early = median(steady.first(half)), late = median(steady.last(half));
  observation.set(Measure::drift, std::abs(early / late - 1.0),
                  source_of(job, "median step time of the two halves"));
}

void add_checkpoints(Observation& observation, const Chunk* chunk, const Times& times,
                     const JobResult& job) {
  const std::vector<double> seconds = numbers(column(chunk, "seconds"));
  const std::vector<double> bytes = numbers(column(chunk, "bytes"));
  if (seconds.empty()) return;
  const std::string source = source_of(job, "checkpoints");
  const double steps = whole(times) - outside_steps(times);
  observation.set(Measure::checkpoint_stall_s, median(seconds), source);
  observation.set(Measure::checkpoint_interval_s, steps / static_cast<double>(seconds.size()),
                  source);
  if (bytes.size() == seconds.size())
    observation.set(Measure::durable_rate, median(bytes) / median(seconds), source);
}

/// The highest all-reduce busbw of the same ranks at any size, with its source.
struct CollectiveLimit {
  double busbw = kNoValue;
  std::string source = {};
};

CollectiveLimit collective_limit(const RunView& view, const JobResult& training) {
  CollectiveLimit limit;
  for (std::size_t i = 0; i < view.jobs().size(); ++i) {
    const JobResult& job = view.jobs()[i];
    if (job.job.probe != "collective" || job.job.ranks != training.job.ranks ||
        job.job.hosts != training.job.hosts)
      continue;
    for (const Series& series : view.series(i))
      if (is_of(series, "busbw", {{"op", "all_reduce"}}) && !(series.median <= limit.busbw))
        limit = {series.median, source_of(job, "busbw of all_reduce")};
  }
  return limit;
}

void add_exchange(Observation& observation, const RunView& view, const JobResult& job,
                  const Json& facts, const Times& times) {
  const double ranks = job.job.ranks;
  const double exposed = time_of(times, "exchange_exposed");
  const double all = exposed + time_of(times, "exchange_hidden");
  if (ranks < 2.0 || !(all > 0.0)) return;
  const std::string source = source_of(job, kBreakdown);
  const double spread = number_field(facts, "straggler_spread");
  const double passes = time_of(times, "forward") + time_of(times, "backward");
  observation.set(Measure::straggler_spread, spread, source_of(job, "straggler_spread"));
  observation.set(Measure::arrival_share, std::min(spread * passes / exposed, 1.0), source);
  observation.set(Measure::overlap_share, 1.0 - exposed / all, source);
  const auto steps = static_cast<double>(column(view.chunk(job.job.id, "steps"), "seconds").size());
  const double bytes = number_field(facts, "exchange_bytes");
  // nccl-tests' definition for all-reduce.
  const double busbw = 2.0 * (ranks - 1.0) / ranks * bytes * steps / all;
  observation.set(Measure::busbw, busbw, source);
  const CollectiveLimit limit = collective_limit(view, job);
  observation.set(Measure::busbw_share, busbw / limit.busbw, limit.source);
}

}  // namespace

std::vector<Observation> observe_training(const RunView& view, std::size_t job) {
  const JobResult& result = view.jobs()[job];
  const Json& facts = view.facts(result.job.id, "training");
  const Times times = times_of(view.chunk(result.job.id, kBreakdown));
  if (times.empty()) return {};
  Observation observation;
  observation.on_gpu = result.job.device != "host";
  add_shares(observation, times, result, facts);
  add_sums(observation);
  if (field(facts, "external") != Json(true)) add_input(observation);
  add_steps(observation, view.chunk(result.job.id, "steps"), result);
  add_checkpoints(observation, view.chunk(result.job.id, "checkpoints"), times, result);
  add_exchange(observation, view, result, facts, times);
  const auto series = view.series(job);
  observation.set(Measure::mfu, median_of(series, "mfu", {{"peak", "given"}}),
                  source_of(result, "mfu"));
  observation.set(Measure::gemm_share, median_of(series, "mfu", {{"peak", "measured"}}),
                  source_of(result, "mfu against measured GEMMs"));
  add_host(observation, view, job, field(facts, "host"));
  return {observation};
}

}  // namespace bench::diagnosis
