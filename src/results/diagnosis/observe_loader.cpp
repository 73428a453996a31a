// Observations of a data loader loop per requested step time: as measured (from memory if the data
// set fits), and as projected for a first pass from disk.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text.h"
#include "results/diagnosis/observers.h"

namespace bench::diagnosis {
namespace {

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

  /// What holds of both.
  void finish(Observation& observation, double stall, const std::string& from) const {
    observation.set(Measure::data_share, stall, from);
    observation.set(Measure::passes_share, 1.0 - stall, "step time");
    observation.set(Measure::work_share, 1.0 - stall, "step time");
    observation.set(Measure::transfer_share, 0.0, "batches stay in host memory");
    observation.set(Measure::checkpoint_share, 0.0, "none configured");
    observation.set(Measure::evaluation_share, 0.0, "none configured");
    observation.set(Measure::residual_share, 0.0, "the loop has only wait and step");
    add_host(observation, view_, index_, field(facts_, "host"));
  }

  Observation measured(const Series& stall) const {
    Observation observation = make_observation(stall, from_memory() ? "from memory" : "from disk");
    const double d = stall.median, step = step_s(stall);
    observation.set(Measure::readiness, median_of(series_, "readiness", stall.params),
                    source("readiness"));
    if (const Series* wait = find_series(series_, "wait", stall.params)) {
      observation.set(Measure::steps, static_cast<double>(wait->n), source("wait"));
      observation.set(Measure::wait_p50_s, wait->median, source("wait"));
      observation.set(Measure::wait_p99_s, wait->p99, source("wait"));
      observation.set(Measure::step_spread, (wait->p99 + step) / (wait->median + step),
                      source("wait"));
    }
    observation.set(Measure::drift, median_of(series_, "drift", stall.params), source("drift"));
    add_workers(observation, stall, batch(stall) * devices() * (1.0 - d) / step, d);
    if (from_memory())
      observation.set(Measure::cached_removes, 0.0, "samples read from memory");
    else
      add_reading(observation, stall, d);
    finish(observation, d, source("stall"));
    return observation;
  }

  /// At so many samples a second.
  void add_workers(Observation& observation, const Series& stall, double rate, double d) const {
    const Json loop = loop_params(stall);
    // Without workers the one who waits makes the batches, while it waits.
    const double threads = workers(stall) > 0.0 ? workers(stall) : d;
    const double cpu = rate / median_of(series_, "samples_per_cpu_second", loop) / threads;
    observation.set(Measure::worker_cpu_share, std::min(cpu, 1.0),
                    source("samples_per_cpu_second"));
    const double busy = rate * stage_walls(loop) / threads;
    observation.set(Measure::worker_idle_share, std::clamp(1.0 - busy, 0.0, 1.0),
                    source("stage_wall"));
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
    observation.set(Measure::cached_removes, d > 0.0 ? (with - without) / (with - step) : 0.0,
                    "sample read time spent waiting for disk");
    add_storage(observation, median_of(series_, "read_rate", loop_params(stall)));
  }

  /// Read rate relative to raw reads on the same threads.
  void add_storage(Observation& observation, double bytes) const {
    observation.set(Measure::storage_share,
                    bytes / median_of(series_, "read_rate", {{"cache", "cold"}}),
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
    observation.set(Measure::readiness, 0.0, "samples arrive more slowly than steps consume them");
    observation.set(Measure::steps, number_field(facts_, "samples") / (batch(stall) * devices()),
                    "steps in one pass over the data set");
    observation.set_missing(Measure::drift, "the disk pass ran only once");
    observation.set(Measure::cached_removes, (d - stall.median) / d,
                    source("stall from memory vs. cold rate"));
    add_workers(observation, stall, rate, d);
    observation.set_missing(Measure::step_spread, "the cold pass was measured without steps");
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

}  // namespace bench::diagnosis
