// Attention keys and values of conversations on storage: users write and read whole entries in a
// folder, with the sizes and the mix of MLPerf Storage's KV cache benchmark or those of a server
// that restores prefixes. All ranks work at the same time, each with its own users.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/page_cache.h"
#include "core/text.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "probes/storage/kv_cache_load.h"
#include "probes/storage/load_result.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/rank_folder.h"
#include "probes/storage/storage_file.h"
#include "probes/storage/work_folder.h"

namespace bench {
namespace {

using namespace storage;

constexpr double kMostMemory = 0.5;  // for the users' buffers

/// One of the two series of a load.
struct Side {
  const char* pattern;  // of the probe `storage`, whose bandwidth is the limit
  LoadResult KvCacheResult::*result;
};
constexpr Side kSides[] = {{"sequential_read", &KvCacheResult::read},
                           {"sequential_write", &KvCacheResult::written}};

constexpr Quantile kQuantiles[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"max", 1.0}};

class KvCacheProbe {
 public:
  explicit KvCacheProbe(State& state)
      : state_(state),
        base_(folder_or_default(state.text("path"))),
        model_(kv_model(state.text("model"))) {}

  void run() try {
    const std::string obstacle =
        folder_.make(state_.group(), base_, "kv-cache",
                     static_cast<double>(state_.integer("size_bytes")), "entries");
    if (!obstacle.empty()) return state_.prevent(obstacle);
    ranks_of_host_ = ranks_on_this_host(state_.group());
    no_direct_ = agreed(state_.group(), no_direct_access(folder_.path()));
    for (const std::string& access : state_.list<std::string>("access"))
      for (const std::string& mix : state_.list<std::string>("mixes"))
        for (const int users : state_.list<int>("users"))
          measure(request_of(kAccesses.value(access, "kind of access"), kKvMixes.value(mix, "mix"),
                             users));
    write_facts();
  } catch (const Error& error) {
    state_.conclude(Status::failed, error.what());
  }

 private:
  KvCacheRequest request_of(Access access, KvMix mix, int users) const {
    KvCacheRequest request;
    request.folder = folder_.path() / "entries";
    request.access = access;
    request.mix = mix;
    request.users = users;
    request.bytes_per_token = model_.bytes_per_token;
    request.scale = state_.number("scale");
    request.capacity_bytes = static_cast<std::uint64_t>(state_.integer("size_bytes"));
    request.operation_bytes = static_cast<std::uint64_t>(state_.integer("operation_bytes"));
    request.duration = {state_.number("seconds")};
    request.slice = request.duration / kSlices;
    request.seed = state_.job().seed * 4099 + static_cast<std::uint64_t>(state_.group().rank());
    return request;
  }

  Json params_of(const KvCacheRequest& request) const {
    return {{"path", state_.text("path")},
            {"model", model_.name},
            {"scale", request.scale},
            {"mix", kKvMixes.name(request.mix)},
            {"access", kAccesses.name(request.access)},
            {"users", request.users}};
  }

  /// Why this load cannot run on this rank, or "".
  std::string obstacle_of(const KvCacheRequest& request) const {
    if (request.operation_bytes % kBlockBytes != 0)
      return fmt::format("operation_bytes must be a multiple of {}", kBlockBytes);
    if (request.access == Access::direct && !no_direct_.empty())
      return "direct I/O is not supported here (" + no_direct_ + ")";
    const std::uint64_t least = kv_least_capacity(request);
    if (request.capacity_bytes < least)
      return fmt::format(
          "{} users with two entries each of up to {} need size_bytes of {}; size_bytes is {}",
          request.users, format(Bytes{static_cast<double>(least) / 2.0 / request.users}), least,
          request.capacity_bytes);
    const double buffers =
        static_cast<double>(request.operation_bytes) * request.users * ranks_of_host_;
    if (const auto memory = available_memory(); memory && buffers > kMostMemory * *memory)
      return fmt::format("the users' buffers need {}, and {} of memory are available",
                         format(Bytes{buffers}), format(Bytes{*memory}));
    return {};
  }

  void measure(const KvCacheRequest& request) {
    const Json params = params_of(request);
    const std::string obstacle = agreed(state_.group(), obstacle_of(request));
    if (!obstacle.empty()) return state_.skip_series("bandwidth", params, obstacle);
    std::unique_ptr<KvCacheLoad> load;
    together(state_.group(), [&] {
      std::filesystem::remove_all(request.folder);
      std::filesystem::create_directory(request.folder);
      load = std::make_unique<KvCacheLoad>(request);
    });
    KvCacheResult own;
    state_.group().barrier();
    const auto before = traffic_of(folder_.file_system);
    const Conditions conditions = watched(state_.device(), state_.group(), Worker::threads, [&] {
      together(state_.group(), [&] { own = load->run(); });
    });
    const auto after = traffic_of(folder_.file_system);
    const double resident = largest(state_.group(), own.resident_share);
    const auto kept = still_resident(resident);
    const JudgedSeries judged = state_.under(conditions);
    if (request.access == Access::buffered) {
      state_.value("resident_share", resident, params);
      if (kept) state_.skip_series("bandwidth", params, "not cold: " + kept->text);
    }
    for (const Side& side : kSides)
      if (!(kept && side.result == &KvCacheResult::read))
        write_side(judged, side, own.*side.result, request, params);
    judged.value("cores_used", total(state_.group(), own.read.cpu.value) / request.duration.value,
                 params);
    write_shares(own, params);
    // Ranks of one host would see each other's bytes.
    if (state_.group().size() == 1 && before && after)
      note(request, not_from_device(own.read.bytes, after->read - before->read));
  }

  void write_side(const JudgedSeries& judged, const Side& side, const LoadResult& own,
                  const KvCacheRequest& request, Json params) {
    Group& group = state_.group();
    const std::vector<HostLoad> hosts = loads_of_hosts(group, own, this_host());
    LoadResult all = over_ranks(group, own, request.slice);
    params["pattern"] = side.pattern;
    if (all.operations == 0.0)
      return state_.skip_series("bandwidth", params,
                                fmt::format("no {} of an entry within {} s: increase seconds",
                                            side.pattern, request.duration.value));
    const std::string over = group.size() > 1 ? "sum" : "rank";
    std::vector<double> bandwidth = rates(all, request.slice, false);
    std::vector<double> tokens = bandwidth;
    for (double& value : tokens) value /= static_cast<double>(model_.bytes_per_token);
    judged.values("bandwidth", std::move(bandwidth), params, over);
    judged.values("token_rate", std::move(tokens), params, over);
    write_hosts(judged, params, hosts);
    note(request, slow_host(hosts));
    write_quantiles(judged, "entry_latency", params, all.latency, kQuantiles);
    if (side.result == &KvCacheResult::read) write_wrong_blocks(state_, params, all);
  }

  void write_shares(const KvCacheResult& own, const Json& params) {
    Group& group = state_.group();
    const double sought = total(group, own.entries_sought);
    const double found = total(group, own.entries_found);
    if (sought > 0.0) state_.value("found_share", found / sought, params);
    const auto sum = [&](double value) { return total(group, value); };
    Json fact = params;
    fact["requests"] = sum(own.requests);
    fact["entries_read"] = sum(own.read.operations);
    fact["entries_written"] = sum(own.written.operations);
    fact["entries_removed"] = sum(own.removed);
    fact["bytes_read"] = sum(own.read.bytes);
    fact["bytes_written"] = sum(own.written.bytes);
    loads_.push_back(std::move(fact));
  }

  void note(const KvCacheRequest& request, std::optional<Pitfall> seen) {
    if (!seen) return;
    folder_.pitfalls.push_back(
        {seen->name, fmt::format("{}, {}, {} users: {}", kKvMixes.name(request.mix),
                                 kAccesses.name(request.access), request.users, seen->text)});
  }

  void write_facts() {
    state_.facts("kv_cache", {{"path", base_.string()},
                              {"file_system", to_json(folder_.file_system)},
                              {"size_bytes", state_.integer("size_bytes")},
                              {"operation_bytes", state_.integer("operation_bytes")},
                              {"bytes_per_token", model_.bytes_per_token},
                              {"ranks", state_.group().size()},
                              {"loads", loads_},
                              {"pitfalls", to_json(folder_.pitfalls)},
                              {"warnings", texts_of(folder_.pitfalls)}});
  }

  State& state_;
  std::filesystem::path base_;
  const KvModel& model_;
  RankFolder folder_ = {};
  Json loads_ = Json::array();
  std::string no_direct_ = {};
  int ranks_of_host_ = 1;
};

void run_kv_cache(State& state) { KvCacheProbe(state).run(); }

const Registration kv_cache_probe{"kv_cache", run_kv_cache};

}  // namespace
}  // namespace bench
