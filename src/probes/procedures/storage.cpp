// Reads and writes in a folder: sequential and random, direct and through a cold page cache, with
// one or more operations in flight, small synchronous writes, and metadata operations. All ranks
// work at the same time, each on its own file; the sum is reported.
//
// Effects that make storage figures misleading (lower caches, a burst that ends, compressed zeros)
// are detected and listed in the facts `storage`.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/page_cache.h"
#include "core/text.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "probes/storage/async_queue.h"
#include "probes/storage/checkpoint_round.h"
#include "probes/storage/metadata_load.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/rank_folder.h"
#include "probes/storage/storage_file.h"
#include "probes/storage/storage_series.h"
#include "probes/storage/work_folder.h"

namespace bench {
namespace {

using namespace storage;

constexpr double kUnsyncedBytes = 16e6;  // of buffered writes, between two syncs of a thread
constexpr double kMostUnsynced = 256.0;  // operations

struct Pattern {
  const char* name;
  Direction direction;
  Order order;
  bool sync_each = false;
};
constexpr Pattern kPatterns[] = {
    {"sequential_read", Direction::read, Order::sequential},
    {"random_read", Direction::read, Order::random},
    {"sequential_write", Direction::write, Order::sequential},
    {"random_write", Direction::write, Order::random},
    {"sync_write", Direction::write, Order::sequential, true},
};

class StorageProbe {
 public:
  explicit StorageProbe(State& state)
      : state_(state),
        base_(folder_or_default(state.text("path"))),
        bytes_(static_cast<std::uint64_t>(state.integer("size_bytes")) / kBlock * kBlock) {}

  void run() try {
    const std::string obstacle =
        folder_.make(state_.group(), base_, "storage", static_cast<double>(bytes_), "files");
    if (!obstacle.empty()) return state_.prevent(obstacle);
    shared_ = folder_is_shared(state_.group(), base_);
    no_direct_ = agreed(state_.group(), no_direct_access(folder_.path()));
    no_queue_ = agreed(state_.group(), no_async_queue());
    together(state_.group(), [&] {
      make_load_file(file(), bytes_, no_direct_.empty() ? Access::direct : Access::buffered,
                     seed());
    });
    for (const Pattern& pattern : kPatterns)
      if (state_.lists("patterns", pattern.name)) measure(pattern);
    if (state_.lists("patterns", "metadata")) measure_metadata();
    write_facts();
  } catch (const Error& error) {
    state_.conclude(Status::failed, error.what());
  }

 private:
  static constexpr std::uint64_t kBlock = 1u << 20;

  std::filesystem::path file() const { return folder_.path() / "data"; }
  std::uint64_t seed() const {
    return state_.job().seed * 4099 + static_cast<std::uint64_t>(state_.group().rank());
  }

  std::vector<std::int64_t> blocks_of(const Pattern& pattern) const {
    if (pattern.sync_each) return {state_.integer("sync_block_bytes")};
    if (pattern.order == Order::random) return state_.list<std::int64_t>("random_block_bytes");
    return {state_.integer("sequential_block_bytes")};
  }

  void measure(const Pattern& pattern) {
    for (const std::string& word : state_.list<std::string>("access"))
      for (const std::int64_t block : blocks_of(pattern))
        for (const int threads : state_.list<int>("threads"))
          for (const int depth : state_.list<int>("depths")) {
            const Access access = kAccesses.value(word, "kind of access");
            // Buffered and synced operations block their thread: no more than one is in flight.
            if (depth > 1 && (access == Access::buffered || pattern.sync_each)) continue;
            measure_one({state_.text("path"), pattern.name,
                         load_of(pattern, access, block, threads, depth)});
          }
  }

  LoadRequest load_of(const Pattern& pattern, Access access, std::int64_t block, int threads,
                      int depth) const {
    LoadRequest load;
    load.file = file();
    load.direction = pattern.direction;
    load.order = pattern.order;
    load.access = access;
    load.block_bytes = static_cast<std::uint64_t>(block);
    load.file_bytes = bytes_;
    load.threads = threads;
    load.depth = depth;
    load.duration = {state_.number("seconds")};
    load.slice = load.duration / kSlices;
    load.seed = seed();
    const bool buffered = access == Access::buffered;
    load.once = buffered && pattern.direction == Direction::read;
    if (pattern.sync_each)
      load.sync_every = 1;
    else if (buffered && pattern.direction == Direction::write)
      load.sync_every = std::max<std::int64_t>(
          2, static_cast<std::int64_t>(
                 std::min(kMostUnsynced, kUnsyncedBytes / static_cast<double>(block))));
    return load;
  }

  void measure_one(const StorageSeries& series) {
    const LoadRequest& load = series.load;
    if (load.block_bytes % kBlockBytes != 0)
      return state_.skip_series(
          "bandwidth", series.params(),
          fmt::format("block sizes must be multiples of {} bytes", kBlockBytes));
    if (load.access == Access::direct && !no_direct_.empty())
      return state_.skip_series("bandwidth", series.params(),
                                "direct I/O is not supported here (" + no_direct_ + ")");
    if (load.depth > 1 && !no_queue_.empty())
      return state_.skip_series("bandwidth", series.params(),
                                "asynchronous I/O is not supported here (" + no_queue_ + ")");
    if (load.direction == Direction::read) {
      double resident = 0.0;
      together(state_.group(), [&] { resident = evict(file()); });
      resident = largest(state_.group(), resident);
      state_.value("resident_share", resident, series.params());
      const auto kept = still_resident(resident);
      if (kept && load.access == Access::buffered)
        return state_.skip_series("bandwidth", series.params(), "not cold: " + kept->text);
    }
    measure_load(state_, series, folder_.file_system, folder_.pitfalls);
  }

  void measure_metadata() {
    const auto files = state_.integer("metadata_files");
    for (const int threads : state_.list<int>("threads")) {
      std::vector<std::vector<double>> rates(kMetadataOperations.size());
      std::vector<LatencyHistogram> latencies(kMetadataOperations.size());
      std::vector<std::unique_ptr<WorkWatch>> watches;
      for (std::size_t i = 0; i < kMetadataOperations.size(); ++i)
        watches.push_back(
            std::make_unique<WorkWatch>(state_.device(), state_.group(), Worker::threads));
      for (std::int64_t repeat = 0; repeat < state_.integer("metadata_repeats"); ++repeat) {
        std::optional<MetadataLoad> load;
        together(state_.group(), [&] { load.emplace(folder_.path() / "files", files, threads); });
        for (std::size_t i = 0; i < kMetadataOperations.size(); ++i)
          watches[i]->during([&] {
            rates[i].push_back(metadata_rate(*load, kMetadataOperations[i], latencies[i]));
          });
      }
      for (std::size_t i = 0; i < kMetadataOperations.size(); ++i) {
        const Json params = {{"path", state_.text("path")},
                             {"pattern", "metadata"},
                             {"operation", kMetadataOperations[i]},
                             {"files", files},
                             {"threads", threads}};
        const Conditions conditions = watches[i]->finish();
        const JudgedSeries judged = state_.under(conditions);
        judged.values("metadata_rate", rates[i], params,
                      state_.group().size() > 1 ? "sum" : "rank");
        state_.group().sum(latencies[i].counts());
        write_latencies(judged, params, latencies[i]);
      }
    }
  }

  /// Operations per second of all ranks, by the time of the slowest one.
  double metadata_rate(MetadataLoad& load, const std::string& operation,
                       LatencyHistogram& latency) {
    Group& group = state_.group();
    MetadataResult result;
    group.barrier();
    together(group, [&] { result = load.run(operation); });
    latency.add(result.latency);
    return total(group, result.operations) / largest(group, result.wall.value);
  }

  void write_facts() {
    state_.facts("storage", {{"path", base_.string()},
                             {"file_system", to_json(folder_.file_system)},
                             {"size_bytes", bytes_},
                             {"laid_down_bytes", kLaidDownBytes},
                             {"ranks", state_.group().size()},
                             {"shared_folder", shared_},
                             {"no_direct", no_direct_.empty() ? Json(nullptr) : Json(no_direct_)},
                             {"engine", "pread and pwrite; more than one in flight: Linux AIO"},
                             {"pitfalls", to_json(folder_.pitfalls)},
                             {"warnings", texts_of(folder_.pitfalls)}});
  }

  State& state_;
  std::filesystem::path base_;
  std::uint64_t bytes_;
  RankFolder folder_ = {};
  bool shared_ = true;  // by all ranks
  std::string no_direct_, no_queue_;
};

void run_storage(State& state) { StorageProbe(state).run(); }

const Registration storage_probe{"storage", run_storage};

}  // namespace
}  // namespace bench
