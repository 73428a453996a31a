// Puts, gets, lists and removes of objects in a bucket of an S3-compatible object store. All ranks
// work at the same time, each on its own objects; the sum is reported.
//
// A server's caches cannot be cleared from here, and a client may be slower than the store: what
// is known about both is in the facts `object_storage`.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/child_process.h"
#include "core/elements.h"
#include "core/error.h"
#include "core/text.h"
#include "probes/object_storage/object_load.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "probes/storage/load_result.h"
#include "probes/storage/random_blocks.h"
#include "probes/storage/work_folder.h"

namespace bench {
namespace {

using namespace object_storage;
using storage::LoadResult;
using storage::Pitfall;

constexpr double kBusyShare = 0.8;  // of the time of the client's threads

/// Several reads of an object come from a cache more easily than the first.
std::optional<Pitfall> read_again(const LoadResult& all, double stored_bytes) {
  const double later_time = (all.wall - all.first_pass).value;
  if (!(all.first_pass.value > 0.0) || !(later_time > 0.0) || !(all.bytes > stored_bytes))
    return {};
  return Pitfall{
      "read_again",
      fmt::format(
          "each object was read {:.1f} times, the first time at {}, later at {}: a cache of "
          "the server may hold them; increase size_bytes beyond it",
          all.bytes / stored_bytes,
          format(stored_bytes / all.first_pass.value, Unit::byte_per_second),
          format((all.bytes - stored_bytes) / later_time, Unit::byte_per_second))};
}

std::optional<Pitfall> client_busy(const LoadResult& all, double threads) {
  const double share = all.cpu.value / (all.wall.value * threads);
  if (!(share > kBusyShare)) return {};
  return Pitfall{"client_busy",
                 fmt::format("the client's threads used a core for {} of the time: they, not the "
                             "store, may be the limit; use more threads or hosts",
                             format(share, Unit::ratio))};
}

std::optional<Pitfall> throttled(double retries) {
  if (!(retries > 0.0)) return {};
  return Pitfall{"throttled",
                 fmt::format("{} requests were repeated, because the store was busy (status 429 or "
                             "5xx) or reset the connection; their latency includes it",
                             retries)};
}

class ObjectStorageProbe {
 public:
  explicit ObjectStorageProbe(State& state) : state_(state) {}

  void run() try {
    const std::string obstacle = agreed(state_.group(), no_client());
    if (!obstacle.empty()) return state_.skip(obstacle);
    together(state_.group(), [&] { prepare(); });
    for (const std::int64_t object_bytes : state_.list<std::int64_t>("object_bytes"))
      for (const int threads : state_.list<int>("threads")) measure(object_bytes, threads);
    write_facts();
  } catch (const Error& error) {
    state_.conclude(Status::failed, error.text());
  }

 private:
  void prepare() {
    std::string endpoint = state_.text("endpoint");
    if (endpoint.empty()) endpoint = environment_variable("AWS_ENDPOINT_URL");
    if (endpoint.empty())
      throw Error(ErrorKind::input, "no endpoint of an object store",
                  "set 'endpoint', or AWS_ENDPOINT_URL for the ranks");
    store_.emplace(StoreSetting{.url = ObjectUrl(endpoint, state_.text("bucket")),
                                .region = state_.text("region"),
                                .credentials = find_credentials(environment_variable),
                                .ca_file = state_.text("ca_file"),
                                .stall = {state_.number("stall_s")}});
    std::string prefix = state_.text("prefix");
    if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
    folder_ = fmt::format("{}benchctl-object-storage-{}", prefix, token_);
  }

  ObjectLoadRequest request_of(std::int64_t object_bytes, int threads) const {
    ObjectLoadRequest request{.store = *store_};
    request.folder = fmt::format("{}-rank-{}/", folder_, state_.group().rank());
    request.object_bytes = static_cast<std::uint64_t>(object_bytes);
    request.range_bytes = static_cast<std::uint64_t>(state_.integer("range_bytes"));
    request.size_bytes = static_cast<std::uint64_t>(state_.integer("size_bytes"));
    request.threads = threads;
    request.duration = {state_.number("seconds")};
    request.slice = request.duration / kSlices;
    // No two loads store the same, so that a remnant of an earlier one is found.
    request.seed = random_bits(
        state_.job().seed * 4099 + static_cast<std::uint64_t>(state_.group().rank()), loads_);
    return request;
  }

  Json params_of(Operation operation, const ObjectLoadRequest& request) const {
    Json params = {{"endpoint", store_->url.endpoint()},
                   {"bucket", state_.text("bucket")},
                   {"operation", kOperations.name(operation)},
                   {"object_bytes", request.object_bytes},
                   {"threads", request.threads}};
    if (operation == Operation::range_get) params["range_bytes"] = request.range_bytes;
    return params;
  }

  bool is_wanted(Operation operation) const {
    return state_.lists("operations", kOperations.name(operation));
  }

  void measure(std::int64_t object_bytes, int threads) {
    const ObjectLoadRequest request = request_of(object_bytes, threads);
    ++loads_;
    if (object_bytes % static_cast<std::int64_t>(storage::kBlockBytes) != 0 ||
        request.range_bytes % storage::kBlockBytes != 0)
      throw Error(ErrorKind::input,
                  fmt::format("object_bytes {} and range_bytes {} must be multiples of {}",
                              object_bytes, request.range_bytes, storage::kBlockBytes));
    std::unique_ptr<ObjectLoad> load;
    together(state_.group(), [&] { load = std::make_unique<ObjectLoad>(request); });
    try {
      for (const auto& [operation, name] : kOperations.entries)
        if (operation == Operation::put || is_wanted(operation))
          measure_one(*load, operation, request);
    } catch (const Error& error) {
      const std::string left = agreed(state_.group(), reason_left(*load));
      throw Error(error.kind(), error.text(), left);
    }
    together(state_.group(), [&] { load->clear(); });
  }

  /// Removes the objects of a load that failed; returns why some are left, or "".
  std::string reason_left(ObjectLoad& load) const try {
    load.clear();
    return "";
  } catch (const Error&) {
    return "objects may be left below " + folder_ + "*: remove them";
  }

  void measure_one(ObjectLoad& load, Operation operation, const ObjectLoadRequest& request) {
    const Json params = params_of(operation, request);
    if (operation == Operation::range_get && request.range_bytes > request.object_bytes)
      return state_.skip_series("bandwidth", params, "the objects are smaller than range_bytes");
    Group& group = state_.group();
    ObjectLoadResult own;
    group.barrier();
    const Conditions conditions = watched(state_.device(), group, Worker::threads, [&] {
      together(group, [&] { own = load.run(operation); });
    });
    const std::vector<storage::HostLoad> hosts =
        storage::loads_of_hosts(group, own.load, storage::this_host());
    const LoadResult all = over_ranks(group, std::move(own.load), request.slice);
    if (operation == Operation::put) stored_bytes_ = all.bytes;
    if (!is_wanted(operation)) return;

    const JudgedSeries judged = state_.under(conditions);
    const std::string over = group.size() > 1 ? "sum" : "rank";
    std::vector<double> requests = storage::rates(all, request.slice, false);
    if (moves_bytes(operation)) {
      judged.values("bandwidth", requests, params, over);
      write_hosts(judged, params, hosts);
    }
    for (double& rate : requests) rate /= request.amount(operation);
    judged.values("request_rate", std::move(requests), params, over);
    write_latencies(judged, params, all.latency);
    if (reads_bytes(operation)) {
      group.sum(own.first_byte.counts());
      write_latencies(judged, params, own.first_byte, "first_byte_latency");
      write_wrong_blocks(state_, params, all);
    }
    const double retries = total(group, own.retries);
    state_.value("retries", retries, params);

    const auto note = [&](std::optional<Pitfall> seen) {
      if (seen) pitfalls_.push_back({seen->name, in_words(operation, request) + ": " + seen->text});
    };
    if (moves_bytes(operation)) note(storage::slow_host(hosts));
    if (reads_bytes(operation)) note(read_again(all, stored_bytes_));
    note(client_busy(all, static_cast<double>(request.threads) * group.size()));
    note(throttled(retries));
    if (operation == Operation::put) note(storage::burst_cliff(all.slice_bytes));
  }

  static std::string in_words(Operation operation, const ObjectLoadRequest& request) {
    return fmt::format("{} of {}, {} threads", kOperations.name(operation),
                       format(Bytes{static_cast<double>(request.object_bytes)}), request.threads);
  }

  void write_facts() {
    std::vector<Pitfall> pitfalls = {
        {"server_cache",
         "objects are read soon after they were stored, and caches of the server "
         "cannot be cleared from here"}};
    pitfalls.insert(pitfalls.end(), pitfalls_.begin(), pitfalls_.end());
    state_.facts("object_storage", {{"endpoint", store_->url.endpoint()},
                                    {"bucket", state_.text("bucket")},
                                    {"region", state_.text("region")},
                                    {"signed", !store_->credentials.empty()},
                                    {"tls", store_->url.encrypted()},
                                    {"client", client_version()},
                                    {"ranks", state_.group().size()},
                                    {"pitfalls", to_json(pitfalls)},
                                    {"warnings", texts_of(pitfalls)}});
  }

  State& state_;
  std::string token_ = storage::job_token(state_.group());
  std::optional<StoreSetting> store_ = {};
  std::string folder_ = {};  // of the keys, without the rank
  std::uint64_t loads_ = 0;
  double stored_bytes_ = 0.0;  // of all ranks
  std::vector<Pitfall> pitfalls_ = {};
};

void run_object_storage(State& state) { ObjectStorageProbe(state).run(); }

const Registration object_storage_probe{"object_storage", run_object_storage};

}  // namespace
}  // namespace bench
