#include "probes/data/model/data_loader_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "core/text.h"
#include "devices/copies.h"
#include "probes/data/loader/placement.h"

namespace bench::data {
namespace {

constexpr double kEnough = 0.95;  // of the fastest
constexpr double kSpare = 1.2;

}  // namespace

std::vector<int> worker_counts(int cores) {
  std::vector<int> counts = {0};
  for (int count = 1; count < cores; count *= 2) counts.push_back(count);
  counts.push_back(std::max(cores, 1));
  return counts;
}

std::optional<SweepPoint> recommended(const std::vector<SweepPoint>& points) {
  if (points.empty()) return std::nullopt;
  const double fastest =
      std::ranges::max(points, {}, &SweepPoint::samples_per_second).samples_per_second;
  std::optional<SweepPoint> best;
  for (const SweepPoint& point : points)
    if (point.samples_per_second >= kEnough * fastest && (!best || point.workers < best->workers))
      best = point;
  return best;
}

int workers_needed(double samples_per_second, double cpu_s) {
  return std::max(1, static_cast<int>(std::ceil(samples_per_second * cpu_s * kSpare)));
}

namespace {

std::string rate_over(const char* what, double rate, double bytes) {
  return fmt::format("{} of {} / {} per sample", what, format(rate, Unit::byte_per_second),
                     format(Bytes{bytes}));
}

}  // namespace

std::vector<LoaderLimit> loader_limits(const LimitInputs& in) {
  std::vector<LoaderLimit> limits;
  const auto of_bytes = [&](const char* name, const std::optional<double>& rate, double bytes,
                            const char* what, const char* remedy) {
    if (rate && bytes > 0.0)
      limits.push_back({name, *rate / bytes, rate_over(what, *rate, bytes), remedy});
  };
  of_bytes("storage", in.storage_bytes_per_second, in.read_bytes, "cold reads",
           "more concurrent readers, larger files (shards), a faster disk, or enough memory for "
           "all data");
  of_bytes("memory", in.memory_bytes_per_second, in.touched_bytes, "copies",
           "reduce bytes per sample: u8 instead of f32, partial_decode");
  of_bytes("host_to_device", in.transfer_bytes_per_second, in.sample_bytes, "copies to the device",
           "pin_memory, or u8 samples normalised on the device");
  if (in.cpu_s > 0.0) {
    const auto made = [&](double threads, const char* what) {
      return fmt::format("{:.4g} {} / {} of CPU time per sample", threads, what,
                         format(Seconds{in.cpu_s}));
    };
    const double used = std::min(in.workers, in.cores);
    if (used < in.cores)
      limits.push_back({"workers", used / in.cpu_s, made(used, "workers"), "increase num_workers"});
    limits.push_back({"cpu", in.cores / in.cpu_s, made(in.cores, "cores"),
                      "more cores, a cheaper format, or decoding on the device"});
  }
  std::ranges::sort(limits, {}, &LoaderLimit::samples_per_second);
  return limits;
}

namespace {

constexpr int kCopies = 20;

/// The rate of copies to the device from the kind of memory that the loader uses; nothing if the
/// device shares host memory.
std::optional<double> transfer_rate(State& state, const DataLoaderSetup& setup,
                                    const LoaderOptions& options) {
  Copies* copies = state.device().copies();
  if (copies == nullptr) return {};
  CopyRequest request;
  request.memory = options.pin_memory ? HostMemory::pinned : HostMemory::pageable;
  request.bytes =
      std::max<std::size_t>(options.batch_size * setup.pipeline->sample_bytes() / 8, 1) * 8;
  const CopyOffer offer = copies->prepare(request);
  if (!offer.run) return {};
  Device& device = state.device();
  const auto copy = [&] { offer.run->run(1); };
  device.untimed(copy);
  std::vector<double> seconds;
  for (int i = 0; i < kCopies; ++i)  // pageable copies are synchronous
    seconds.push_back(
        (options.pin_memory ? device.timed(copy, 1) : device.Device::timed(copy, 1)).value);
  if (!offer.run->verify().passed()) return {};
  return static_cast<double>(request.bytes) / median(seconds);
}

Json limit_facts(const LoaderLimit& limit) {
  return {{"limit", limit.name},
          {"samples_per_second", limit.samples_per_second},
          {"source", limit.source},
          {"remedy", limit.remedy}};
}

}  // namespace

std::vector<LoaderLimit> write_limits(State& state, const DataLoaderSetup& setup,
                                      const LoaderOptions& options, const MeasuredLoop& loop,
                                      const DiskRead& disk, Json& facts) {
  const Effort& effort = loop.result.effort;
  LimitInputs inputs;
  inputs.cores = usable_cores();
  inputs.workers = std::max(options.num_workers, 1);
  inputs.storage_bytes_per_second = disk.cold.bytes_per_second;
  const auto threads = static_cast<int>(std::min(inputs.cores, inputs.workers));
  const Conditions own_conditions = watched(state.device(), state.group(), Worker::threads, [&] {
    inputs.memory_bytes_per_second = copy_rate(std::max(threads, 1), options.worker_cpus);
    inputs.transfer_bytes_per_second = transfer_rate(state, setup, options);
  });
  const Conditions conditions = all_of({loop.conditions, disk.cold.conditions, own_conditions});
  const JudgedSeries judged = state.under(conditions);
  inputs.read_bytes = effort.bytes_read / effort.samples;
  inputs.touched_bytes = setup.pipeline->touched_bytes();
  inputs.sample_bytes = static_cast<double>(setup.pipeline->sample_bytes());
  inputs.cpu_s = effort.stages_cpu_s() / effort.samples;
  auto limits = loader_limits(inputs);
  // Small batches stay in caches, where the copy rate of large memory is no limit.
  const double reached = loop.samples_per_second(options);
  if (std::erase_if(limits, [&](const LoaderLimit& l) {
        return l.name == "memory" && l.samples_per_second < reached;
      }) > 0)
    facts["memory_limit"] = "exceeded: the data of a sample stayed in caches";
  const Json params = loader_params(options);
  Json all = Json::array();
  for (const LoaderLimit& limit : limits) {
    Json own = params;
    own["limit"] = limit.name;
    judged.value("limit_rate", limit.samples_per_second, own);
    all.push_back(limit_facts(limit));
  }
  facts["limits"] = all;
  if (limits.empty()) return limits;
  facts["from_memory"] = disk.from_memory;
  facts["binding_from_disk"] = limits.front().name;
  auto holding = limits;
  if (disk.from_memory)
    std::erase_if(holding, [](const LoaderLimit& l) { return l.name == "storage"; });
  if (holding.empty()) return limits;
  facts["binding"] = holding[0].name;
  if (holding.size() > 1) {
    facts["runner_up"] = holding[1].name;
    facts["gain_until_runner_up"] = holding[1].samples_per_second / holding[0].samples_per_second;
  }
  Json own = params;
  own["limit"] = holding[0].name;
  judged.value("of_limit", loop.samples_per_second(options) / holding[0].samples_per_second, own);
  return limits;
}

}  // namespace bench::data
