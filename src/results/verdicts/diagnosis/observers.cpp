#include "results/verdicts/diagnosis/observers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/order_statistics.h"
#include "core/text.h"
#include "results/run/training_breakdown.h"

namespace bench::diagnosis {
namespace {

using M = Measure;

// Observations of a training, from the records of the probe `training`; for external trainings only
// what their log contains (docs/external.md).

/// Excluded as in items_per_second: caches are cold and memory is untouched.
constexpr std::size_t kColdSteps = 10;

constexpr const char* kBreakdown = "breakdown";

struct PartOfPhase {
  const char* phase;
  Measure measure;
};
constexpr PartOfPhase kParts[] = {{"data", M::data_share},
                                  {"rollout", M::passes_share},  // forward passes of the model
                                  {"transfer", M::transfer_share},
                                  {"forward", M::passes_share},
                                  {"backward", M::passes_share},
                                  {"tensor_exchange", M::exchange_share},
                                  {"context_exchange", M::exchange_share},
                                  {"expert_exchange", M::exchange_share},
                                  {"exchange_exposed", M::exchange_share},
                                  {"pipeline_wait", M::pipeline_share},
                                  {"compression", M::optimizer_share},  // computes on gradients too
                                  {"optimizer", M::optimizer_share},
                                  {"offload_wait", M::offload_share},
                                  {"lane_wait", M::lane_wait_share},
                                  {"checkpoint", M::checkpoint_share},
                                  {"other", M::residual_share}};

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

void add_shares(Observation& observation, const TrainingBreakdown& times, const JobResult& job,
                const Json& facts) {
  const double all = times.run_seconds(), steps = times.step_seconds();
  if (!(all > 0.0) || !(steps > 0.0)) return;
  observation.set(M::evaluation_share, (all - steps) / all, source_of(job, kBreakdown));
  if (!times.has("forward")) {
    for (const Measure part : step_parts())
      observation.set_missing(part, "the log has no step breakdown");
    return;
  }
  std::map<Measure, double> parts;
  for (const PartOfPhase& one : kParts) parts[one.measure] += times.seconds(one.phase);
  for (const auto& [part, seconds] : parts)
    observation.set(part, seconds / steps, source_of(job, kBreakdown));
  if (facts.contains("table_threads") && facts["table_threads"].is_number())
    observation.set_missing(M::data_share, "embedding lookups are counted as data time");
  if (!observation.on_gpu)
    observation.set(M::transfer_share, 0.0, "device memory is host memory");
  else if (!times.has("transfer"))
    observation.set_missing(M::transfer_share, "the breakdown does not separate copies");
}

/// The probe `training` has no loader: its samples are made, or read, by the step that needs them.
void add_input(Observation& observation) {
  observation.set(M::readiness, 0.0, "samples are generated within each step");
  for (const Measure measure :
       {M::cached_removes, M::worker_cpu_share, M::worker_idle_share, M::step_spread})
    observation.set_missing(measure, "the training has no data loader");
}

void add_steps(Observation& observation, const Chunk* chunk, const JobResult& job) {
  const std::vector<double> seconds = numbers(column(chunk, "seconds"));
  const std::size_t cold = std::min(kColdSteps, seconds.size());
  const std::span steady = std::span(seconds).subspan(cold);
  observation.set(M::steps, static_cast<double>(steady.size()), source_of(job, "steps"));
  const std::size_t half = steady.size() / 2;
  if (half == 0) return;
  const double early = median(steady.first(half)), late = median(steady.last(half));
  observation.set(M::drift, std::abs(early / late - 1.0),
                  source_of(job, "median step time of the two halves"));
}

void add_checkpoints(Observation& observation, const Chunk* chunk, const TrainingBreakdown& times,
                     const JobResult& job) {
  const std::vector<double> seconds = numbers(column(chunk, "seconds"));
  const std::vector<double> bytes = numbers(column(chunk, "bytes"));
  if (seconds.empty()) return;
  const std::string source = source_of(job, "checkpoints");
  const double steps = times.step_seconds();
  observation.set(M::checkpoint_stall_s, median(seconds), source);
  observation.set(M::checkpoint_interval_s, steps / static_cast<double>(seconds.size()), source);
  if (bytes.size() == seconds.size())
    observation.set(M::durable_rate, median(bytes) / median(seconds), source);
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
                  const Json& facts, const TrainingBreakdown& times) {
  const double ranks = job.job.ranks;
  const double exposed = times.exposed_communication(), all = times.communication();
  if (ranks < 2.0 || !(all > 0.0)) return;
  const std::string source = source_of(job, kBreakdown);
  const double spread = number_field(facts, "straggler_spread");
  const double passes = times.seconds("forward") + times.seconds("backward");
  observation.set(M::straggler_spread, spread, source_of(job, "straggler_spread"));
  observation.set(M::arrival_share, std::min(spread * passes / exposed, 1.0), source);
  observation.set(M::overlap_share, 1.0 - exposed / all, source);
  const auto steps = static_cast<double>(column(view.chunk(job.job.id, "steps"), "seconds").size());
  const double bytes = number_field(facts, "exchange_bytes");
  if (field(facts, "exchange").is_object()) return;  // not an all-reduce of these bytes
  // nccl-tests' definition for all-reduce.
  const double busbw = 2.0 * (ranks - 1.0) / ranks * bytes * steps / all;
  observation.set(M::busbw, busbw, source);
  const CollectiveLimit limit = collective_limit(view, job);
  observation.set(M::busbw_share, busbw / limit.busbw, limit.source);
}

}  // namespace

std::vector<Observation> observe_training(const RunView& view, std::size_t job) {
  const JobResult& result = view.jobs()[job];
  const Json& facts = view.facts(result.job.id, "training");
  const TrainingBreakdown times(view.chunk(result.job.id, kBreakdown));
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
  observation.set(M::mfu, median_of(series, "mfu", {{"peak", "given"}}), source_of(result, "mfu"));
  observation.set(M::gemm_share, median_of(series, "mfu", {{"peak", "measured"}}),
                  source_of(result, "mfu against measured GEMMs"));
  add_host(observation, view, job, field(facts, "host"));
  return {observation};
}

namespace {

// Observations of a data loader loop per requested step time: as measured (from memory if the data
// set fits), and as projected for a first pass from disk.

/// Less is the same as from memory.
constexpr double kNoticed = 0.02;

class LoaderJob {
 public:
  LoaderJob(const RunView& view, std::size_t job)
      : view_(view),
        job_(view.jobs()[job]),
        index_(job),
        series_(view.series(job)),
        facts_(view.facts(job_.job.id, "data_loader")) {}

  std::vector<Observation> observe() const {
    std::vector<Observation> all;
    for (const Series& stall : series_) {
      if (!is_of(stall, "stall")) continue;
      all.push_back(measured(stall));
      if (const auto cold = from_disk(stall)) all.push_back(*cold);
    }
    return all;
  }

 private:
  bool from_memory() const { return field(facts_, "from_memory") == Json(true); }
  double batch(const Series& stall) const { return number_field(stall.params, "batch_size"); }
  double workers(const Series& stall) const { return number_field(stall.params, "num_workers"); }
  /// Batches of a step.
  double devices() const { return number_field(job_.job.params, "gpus_per_node", 1.0); }
  /// Series of the loop without steps.
  Json loop_params(const Series& stall) const {
    return {{"batch_size", field(stall.params, "batch_size")},
            {"num_workers", field(stall.params, "num_workers")}};
  }
  std::string source(const char* metric) const { return source_of(job_, metric); }

  /// Actual step time, which may differ from the requested one.
  double step_s(const Series& stall) const {
    const double requested = number_field(stall.params, "step_s");
    for (const Json& one : array_field(facts_, "steps"))
      if (number_field(one, "step_s") == requested) return number_field(one, "length_s", requested);
    return requested;
  }

  Observation make_observation(const Series& stall, const char* where) const {
    Observation observation;
    observation.subject = Subject::loader;
    observation.what =
        fmt::format("step {:.4g} s, {}", number_field(stall.params, "step_s"), where);
    return observation;
  }

  /// For measured and projected loops.
  void finish(Observation& observation, double stall, const std::string& from) const {
    observation.set(M::data_share, stall, from);
    observation.set(M::passes_share, 1.0 - stall, "step time");
    observation.set(M::work_share, 1.0 - stall, "step time");
    observation.set(M::transfer_share, 0.0, "batches stay in host memory");
    observation.set(M::checkpoint_share, 0.0, "none configured");
    observation.set(M::evaluation_share, 0.0, "none configured");
    observation.set(M::residual_share, 0.0, "the loop has only wait and step");
    add_host(observation, view_, index_, field(facts_, "host"));
  }

  Observation measured(const Series& stall) const {
    Observation observation = make_observation(stall, from_memory() ? "from memory" : "from disk");
    const double d = stall.median, step = step_s(stall);
    observation.set(M::readiness, median_of(series_, "readiness", stall.params),
                    source("readiness"));
    if (const Series* wait = find_series(series_, "wait", stall.params)) {
      observation.set(M::steps, static_cast<double>(wait->n), source("wait"));
      observation.set(M::wait_p50_s, wait->median, source("wait"));
      observation.set(M::wait_p99_s, wait->p99, source("wait"));
      observation.set(M::step_spread, (wait->p99 + step) / (wait->median + step), source("wait"));
    }
    observation.set(M::drift, median_of(series_, "drift", stall.params), source("drift"));
    add_workers(observation, stall, batch(stall) * devices() * (1.0 - d) / step, d);
    if (from_memory())
      observation.set(M::cached_removes, 0.0, "samples read from memory");
    else
      add_reading(observation, stall, d);
    finish(observation, d, source("stall"));
    return observation;
  }

  /// At so many samples a second.
  void add_workers(Observation& observation, const Series& stall, double rate, double d) const {
    const Json loop = loop_params(stall);
    // Without workers the waiting process makes the batches itself.
    const double threads = workers(stall) > 0.0 ? workers(stall) : d;
    const double cpu = rate / median_of(series_, "samples_per_cpu_second", loop) / threads;
    observation.set(M::worker_cpu_share, std::min(cpu, 1.0), source("samples_per_cpu_second"));
    const double busy = rate * stage_walls(loop) / threads;
    observation.set(M::worker_idle_share, std::clamp(1.0 - busy, 0.0, 1.0), source("stage_wall"));
  }

  /// Seconds of a sample in all stages.
  double stage_walls(const Json& loop) const {
    double sum = 0.0;
    for (const Series& series : series_)
      if (is_of(series, "stage_wall", loop)) sum += series.median;
    return sum > 0.0 ? sum : kNoValue;
  }

  /// How much shorter the wait is without disk reads: workers then need only the time of the other
  /// stages.
  void add_reading(Observation& observation, const Series& stall, double d) const {
    Json read = loop_params(stall);
    read["stage"] = "read";
    const double waits =
        median_of(series_, "stage_wall", read) - median_of(series_, "stage_time", read);
    const double part = waits / stage_walls(loop_params(stall));
    const double step = step_s(stall), with = step / (1.0 - d);
    const double without = std::max(step, with * (1.0 - part));
    observation.set(M::cached_removes, d > 0.0 ? (with - without) / (with - step) : 0.0,
                    "sample read time spent waiting for disk");
    add_storage(observation, median_of(series_, "read_rate", loop_params(stall)));
  }

  /// Read rate relative to raw reads on the same threads.
  void add_storage(Observation& observation, double bytes) const {
    observation.set(M::storage_share, bytes / median_of(series_, "read_rate", {{"cache", "cold"}}),
                    source("read_rate, cold"));
  }

  /// Where samples were measured from memory, and reading them first makes steps wait longer.
  std::optional<Observation> from_disk(const Series& stall) const {
    Json cold = loop_params(stall);
    cold["cache"] = "cold";
    const double rate = median_of(series_, "samples_per_second", cold);
    const double need = batch(stall) * devices() / step_s(stall);
    const double d = std::max(0.0, 1.0 - rate / need);
    if (!from_memory() || !(d > stall.median + kNoticed)) return {};
    Observation observation = make_observation(stall, "first pass from disk");
    observation.set(M::readiness, 0.0, "samples arrive more slowly than steps consume them");
    observation.set(M::steps, number_field(facts_, "samples") / (batch(stall) * devices()),
                    "steps in one pass over the data set");
    observation.set_missing(M::drift, "the disk pass ran only once");
    observation.set(M::cached_removes, (d - stall.median) / d,
                    source("stall from memory vs. cold rate"));
    add_workers(observation, stall, rate, d);
    observation.set_missing(M::step_spread, "the cold pass was measured without steps");
    add_storage(observation, rate * bytes_per_sample(stall));
    finish(observation, d, source("cold samples_per_second vs. step time"));
    return observation;
  }

  double bytes_per_sample(const Series& stall) const {
    const Json loop = loop_params(stall);
    return median_of(series_, "read_rate", loop) / loop_rate(loop);
  }

  /// Of the loop without steps: not from the sweep, not cold, not placed.
  double loop_rate(const Json& loop) const {
    for (const Series& series : series_)
      if (is_of(series, "samples_per_second", loop) && !series.params.contains("cache") &&
          !series.params.contains("sweep") && !series.params.contains("cpu_node"))
        return series.median;
    return kNoValue;
  }

  const RunView& view_;
  const JobResult& job_;
  std::size_t index_;
  std::vector<Series> series_;
  const Json& facts_;
};

}  // namespace

std::vector<Observation> observe_loader(const RunView& view, std::size_t job) {
  return LoaderJob(view, job).observe();
}

namespace {

// Checkpoints during emulated steps: their cost at the measured or at the optimal interval.

constexpr const char* kNoInterval = "written without steps: the checkpoint interval is unknown";

/// Step time between two asynchronous checkpoints, without waits.
double emulated_interval(const Json& params) {
  return number_field(params, "async_steps") * number_field(params, "step_s");
}

void add_async(Observation& observation, const JobResult& job, const std::vector<Series>& series,
               const Json& kind) {
  const double interval = emulated_interval(job.job.params);
  observation.set(M::checkpoint_share, median_of(series, "overhead", kind),
                  source_of(job, "overhead at the measured interval"));
  observation.set(M::checkpoint_stall_s, median_of(series, "stall", kind), source_of(job, "stall"));
  observation.set(M::checkpoint_interval_s, interval, source_of(job, "async_steps x step_s"));
}

/// At Daly's interval, which requires the mean time between failures.
void add_sync(Observation& observation, const JobResult& job, const std::vector<Series>& series,
              Json kind) {
  const double stall = median_of(series, "write_time", kind);
  observation.set(M::checkpoint_stall_s, stall, source_of(job, "write_time"));
  kind["by"] = "daly";
  const double interval = median_of(series, "interval", kind);
  kind.erase("by");
  kind["of_model"] = field(kind, "model");
  kind["of_state"] = field(kind, "state");
  const double whole = median_of(series, "projected_time", kind);
  observation.set(M::checkpoint_interval_s, interval, source_of(job, "Daly interval"));
  observation.set(M::checkpoint_share, whole / (whole + interval),
                  source_of(job, "projected_time at the Daly interval"));
  if (observation.find(M::checkpoint_share) == nullptr)
    observation.set_missing(M::checkpoint_share, kNoInterval);
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
    observation.set(M::durable_rate, median_of(series, "write_bandwidth", {{"access", access}}),
                    source_of(result, "write_bandwidth"));
    add_host(observation, view, job, Json::object());
    all.push_back(std::move(observation));
  }
  return all;
}

}  // namespace bench::diagnosis
