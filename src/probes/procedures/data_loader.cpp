// How long a training would wait for its input: the rate of batches, the limits, the number of
// workers needed, and the stall at a given step length (docs/data.md).
#include <algorithm>
#include <optional>

#include "core/text.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/formats/page_cache.h"
#include "probes/data/loader/data_loader_series.h"
#include "probes/data/loader/data_loader_setup.h"
#include "probes/data/loader/placement.h"
#include "probes/data/loader/torch_loader.h"
#include "probes/data/model/data_loader_forecast.h"
#include "probes/data/model/data_loader_limits.h"
#include "probes/probe.h"
#include "probes/shared/host_watch.h"
#include "probes/state.h"
#include "probes/storage/file_system_facts.h"

namespace bench {
namespace {

using namespace data;

constexpr double kInMemory = 0.95;  // of a data set that counts as in memory
constexpr double kMostSteal = 0.02;

bool needs_jpeg(const std::string& pipeline) {
  return pipeline == "jpeg_folder" || pipeline == "tar" || pipeline == "records";
}

/// Why rates do not represent an idle host; null where they do. A loader's threads share the
/// processors with everything else on the host.
Json disturbance(const Json& host) {
  const auto value = [&](const char* key) {
    return host.at(key).is_null() ? 0.0 : host.at(key).get<double>();
  };
  if (const double others = value("others_share"); others > kCrowdedShare)
    return "other processes used " + format(others, Unit::ratio) + " of this machine's CPU time";
  if (const double steal = value("steal_share"); steal > kMostSteal)
    return "CPU steal was " + format(steal, Unit::ratio) + " of the CPU time";
  if (const double held = value("throttled_s"); held > 0.0)
    return "the cgroup CPU quota throttled this process for " + format(Seconds{held});
  return nullptr;
}

/// Measures from memory first, if the data set fits, then from the disk.
class DataLoaderJob {
 public:
  DataLoaderJob(State& state, DataLoaderSetup setup)
      : state_(state), setup_(std::move(setup)), facts_(setup_.facts) {}

  void run() {
    look_at_memory("as_found");
    read_into_memory();
    const LoaderOptions options = choose_workers();
    HostWatch watch(state_.device(), state_.group());
    const MeasuredLoop loop = measure_loop(setup_, options);
    facts_["host"] = watch.facts();
    facts_["host"]["disturbed"] = disturbance(facts_["host"]);
    write_rates(state_, loop, options, loader_params(options));
    if (!loop.obstacle.empty()) facts_["obstacle"] = loop.obstacle;
    const ColdRead cold = read_from_disk(options);
    write_limits(state_, setup_, options, loop, {cold, from_memory_}, facts_);
    if (cold.bytes_per_second) measure_cold(options, loop);
    read_into_memory();
    if (state_.text("numa") == "pairs") measure_nodes(options);
    write_forecasts(state_, setup_, options, loop, facts_);
    compare_with_pytorch(loop, options);
    facts_["stages_s"] = stage_facts(loop.result.effort);
    state_.facts("data_loader", facts_);
  }

 private:
  /// Share of the data set that is in memory now; 1 if nothing is read.
  double look_at_memory(const char* when) {
    const auto files = setup_.pipeline->files();
    if (files.empty()) return 1.0;
    const double share = residence(files).share();
    state_.value("resident_share", share, {{"cache", when}});
    return share;
  }

  /// Reads every sample once, if memory has room for all of them.
  void read_into_memory() {
    if (!fits_in_memory(*setup_.pipeline)) return;
    read_all(*setup_.pipeline);
    from_memory_ = look_at_memory("warm") >= kInMemory;
  }

  Conditions watch(const std::function<void()>& work) {
    return watched(state_.device(), state_.group(), Worker::threads, work);
  }

  ColdRead read_from_disk(const LoaderOptions& options) {
    ColdRead cold;
    cold.reason = "not requested";
    if (!state_.flag("cold")) return cold;
    const Conditions conditions =
        watch([&] { cold = read_cold(*setup_.pipeline, options, setup_.time); });
    cold.conditions = conditions;
    const Json params = {{"cache", "cold"}, {"num_workers", options.num_workers}};
    if (!setup_.pipeline->files().empty())
      state_.value("resident_share", cold.resident_share, {{"cache", "cold"}});
    if (!cold.bytes_per_second) {
      state_.skip_series("read_rate", params, cold.reason);
      return cold;
    }
    state_.under(cold.conditions).value("read_rate", *cold.bytes_per_second, params);
    if (cold.device_bytes && cold.bytes > 0.0)
      state_.value("cache_share", 1.0 - *cold.device_bytes / cold.bytes, params);
    else
      state_.skip_series("cache_share", params,
                         "the kernel reports no read statistics for this disk");
    return cold;
  }

  /// The requested options; after a sweep, with the smallest number of workers that is fast enough.
  LoaderOptions choose_workers() {
    LoaderOptions options = setup_.options;
    if (!state_.flag("sweep")) return options;
    std::vector<SweepPoint> points;
    Conditions of_all;
    for (const int workers : worker_counts(static_cast<int>(usable_cores()))) {
      options.num_workers = workers;
      const MeasuredLoop loop = measure_loop(setup_, options);
      Json params = loader_params(options);
      params["sweep"] = true;
      of_all = all_of({of_all, loop.conditions});
      state_.under(loop.conditions)
          .values("samples_per_second", rates_of(loop.result, options), params);
      if (loop.wrong > 0) state_.invalid("a batch differs from the single-threaded reference");
      points.push_back({workers, loop.samples_per_second(options)});
    }
    const auto best = recommended(points).value();
    options.num_workers = best.workers;
    facts_["recommended_workers"] = best.workers;
    facts_["sweep"] = Json::array();
    for (const SweepPoint& point : points)
      facts_["sweep"].push_back(
          {{"num_workers", point.workers}, {"samples_per_second", point.samples_per_second}});
    state_.under(of_all).value("recommended_workers", best.workers);
    return options;
  }

  /// One epoch from the disk.
  void measure_cold(const LoaderOptions& options, const MeasuredLoop& warm) {
    const double resident = drop_from_memory(*setup_.pipeline);
    const std::uint64_t epoch = setup_.pipeline->shape().samples / options.batch_size;
    Json params = loader_params(options);
    params["cache"] = "cold";
    const auto files = setup_.pipeline->files();
    const auto disk = storage::file_system_of(files.front());
    const auto before = storage::traffic_of(disk);
    const MeasuredLoop loop = measure_loop(setup_, options, {}, epoch);
    const auto after = storage::traffic_of(disk);
    state_.under(loop.conditions)
        .values("samples_per_second", rates_of(loop.result, options), params);
    if (before && after)
      state_.value("cache_share",
                   1.0 - (after->read - before->read) / loop.result.effort.bytes_read, params);
    const double stall = 1.0 - loop.samples_per_second(options) / warm.samples_per_second(options);
    const Conditions of_both = all_of({loop.conditions, warm.conditions});
    state_.under(of_both).value("fetch_stall", std::max(0.0, stall), loader_params(options));
    facts_["fetch_stall"] = std::max(0.0, stall);
    facts_["resident_when_cold"] = resident;
  }

  /// Workers on each NUMA node with batches in the memory of each.
  void measure_nodes(LoaderOptions options) {
    const auto nodes = cpu_nodes();
    if (nodes.size() < 2 || options.num_workers == 0)
      return state_.skip_series(
          "numa_ratio", loader_params(options),
          nodes.size() < 2 ? "this process may use only one NUMA node" : "placement needs workers");
    for (const CpuNode& workers : nodes) {
      double local = 0.0;
      Conditions of_local;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto own = static_cast<std::size_t>(&workers - nodes.data());
        const CpuNode& memory = nodes[(own + i) % nodes.size()];  // local first
        options.worker_cpus = workers.cpus;
        options.memory_cpus = memory.cpus;
        const MeasuredLoop loop = measure_loop(setup_, options);
        Json params = loader_params(options);
        params["cpu_node"] = workers.id;
        params["memory_node"] = memory.id;
        state_.under(loop.conditions)
            .values("samples_per_second", rates_of(loop.result, options), params);
        const double rate = loop.samples_per_second(options);
        if (i == 0) {
          local = rate;
          of_local = loop.conditions;
          continue;
        }
        const Conditions of_both = all_of({loop.conditions, of_local});
        state_.under(of_both).value("numa_ratio", rate / local, params);
      }
    }
  }

  void compare_with_pytorch(const MeasuredLoop& loop, const LoaderOptions& options) {
    const double own = loop.result.effort.samples / loop.result.cpu_s;
    facts_["samples_per_cpu_second"] = own;
    const auto theirs = pytorch_rate(options);
    if (!theirs) return;
    const Json params = loader_params(options);
    if (!theirs->samples_per_cpu_second)
      return state_.skip_series("pytorch_factor", params, theirs->reason);
    const double factor = own / *theirs->samples_per_cpu_second;
    facts_["pytorch_samples_per_cpu_second"] = *theirs->samples_per_cpu_second;
    facts_["pytorch_factor"] = factor;
    if (!theirs->version.empty()) facts_["pytorch_version"] = theirs->version;
    state_.under(loop.conditions).value("pytorch_factor", factor, params);
  }

  /// Given as a parameter, or measured now; nothing if neither was requested.
  std::optional<TorchRate> pytorch_rate(const LoaderOptions& options) {
    if (state_.has("pytorch")) return TorchRate{.samples_per_cpu_second = state_.number("pytorch")};
    if (state_.text("pytorch_python").empty()) return {};
    TorchWish wish;
    wish.python = state_.text("pytorch_python");
    wish.pipeline = state_.text("pipeline");
    wish.data = facts_.value("data", "");
    wish.options = options;
    wish.size = static_cast<int>(state_.integer("output_size"));
    wish.sequence = static_cast<int>(state_.integer("sequence"));
    wish.time = setup_.time;
    return run_torch_loader(wish);
  }

  static Json stage_facts(const Effort& effort) {
    Json stages = Json::object();
    for (const auto& [stage, name] : kStages.entries)
      if (effort.of(stage).wall_s > 0.0)
        stages[std::string(name)] = effort.of(stage).cpu_s / effort.samples;
    return stages;
  }

  State& state_;
  DataLoaderSetup setup_;
  Json facts_;
  bool from_memory_ = true;
};

void run_data_loader(State& state) {
  if (state.group().size() > 1)
    return state.skip(
        "a loader runs on one rank: use scope host, and gpus_per_node for its devices");
  if (needs_jpeg(state.text("pipeline")) && !no_jpeg().empty()) return state.skip(no_jpeg());
  DataLoaderJob(state, data_loader_setup(state)).run();
}

const Registration data_loader_probe{"data_loader", run_data_loader};

}  // namespace
}  // namespace bench
