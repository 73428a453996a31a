#include "probes/storage/kv_cache_load.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/page_cache.h"
#include "devices/host_clock.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/random_blocks.h"

namespace bench::storage {
namespace {

constexpr int kLongestTurn = 25'000 + 800;  // tokens of any user's request
constexpr int kTurnsBefore = 50;

}  // namespace

/// One user: its requests, its buffer and its results. No user reads entries of another.
class KvCacheLoad::User {
 public:
  User(const KvCacheRequest& request, KvStore& store, int number)
      : request_(request),
        store_(store),
        number_(number),
        requests_(request.seed, number),
        buffer_(static_cast<std::size_t>(request.operation_bytes)) {
    fill_blocks(buffer_.all(), request.seed * 131 + static_cast<std::uint64_t>(number));
  }

  /// Goes on to a random point of a conversation and writes the entries of its earlier turns, as
  /// long as they fit.
  void make_history() {
    std::vector<KvTurn> turns;
    for (int i = 0; i < kTurnsBefore; ++i) {
      if (!requests_.converses()) turns.clear();
      turns.push_back(requests_.next());
    }
    if (requests_.converses())
      for (const KvTurn& turn : turns)
        if (store_.stored_bytes() + bytes_of(turn) <= request_.capacity_bytes) {
          write(store_.create(key_of(turn), bytes_of(turn)));
          store_.release(key_of(turn));
        }
  }

  void run(Seconds start) {
    start_ = start;
    const Seconds cpu = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
    while (more()) serve(requests_.next());
    for (LoadResult* side : {&result.read, &result.written}) keep_within_time(*side);
    result.read.cpu = cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
  }

  KvCacheResult result = {};

 private:
  bool more() const { return steady_now() - start_ < request_.duration; }

  void serve(const KvTurn& turn) {
    result.requests += 1.0;
    for (int earlier = 0; earlier < turn.turn && more(); ++earlier) {
      result.entries_sought += 1.0;
      if (read_entry({number_, turn.conversation, earlier})) result.entries_found += 1.0;
    }
    if (!more()) return;
    write_entry(turn);
    for (int i = 0; i < turn.own_reads(request_.mix) && more(); ++i)
      read_entry({number_, turn.conversation, turn.turn});
  }

  KvKey key_of(const KvTurn& turn) const { return {number_, turn.conversation, turn.turn}; }
  std::uint64_t bytes_of(const KvTurn& turn) const {
    return kv_entry_bytes(request_, turn.written_tokens(request_.mix));
  }

  void write_entry(const KvTurn& turn) {
    const KvEntry entry = store_.create(key_of(turn), bytes_of(turn));
    const Seconds begin = steady_now();
    write(entry);
    count(result.written, begin, steady_now(), static_cast<double>(entry.bytes));
    store_.release(key_of(turn));
  }

  void write(const KvEntry& entry) {
    StorageFile file(entry.file, request_.access, OpenFor::writing_anew);
    file.preallocate(entry.bytes);
    each_operation(entry, [&](std::span<std::byte> part, std::uint64_t offset) {
      stamp_blocks(part, offset / kBlockBytes, entry.seed);
      file.write(part, offset);
    });
    file.sync();
  }

  /// False if it was removed.
  bool read_entry(const KvKey& key) {
    const std::optional<KvEntry> entry = store_.acquire(key);
    if (!entry) return false;
    if (request_.observer) request_.observer(entry->file);
    if (request_.access == Access::buffered)
      result.resident_share = std::max(result.resident_share, evict(entry->file));
    const Seconds begin = steady_now();
    const StorageFile file(entry->file, request_.access, OpenFor::reading);
    each_operation(*entry, [&](std::span<std::byte> part, std::uint64_t offset) {
      file.read(part, offset);
      result.read.wrong_blocks +=
          wrong_blocks(part, offset / kBlockBytes, entry->seed, ++looked_ % kBodiesEvery == 0);
    });
    count(result.read, begin, steady_now(), static_cast<double>(entry->bytes));
    store_.release(key);
    return true;
  }

  template <class Operation>
  void each_operation(const KvEntry& entry, Operation operation) {
    for (std::uint64_t offset = 0; offset < entry.bytes; offset += request_.operation_bytes)
      operation(buffer_.all().first(std::min(request_.operation_bytes, entry.bytes - offset)),
                offset);
  }

  void count(LoadResult& into, Seconds begin, Seconds end, double bytes) {
    into.latency.add(end - begin);
    into.operations += 1.0;
    spread(into.slice_bytes, request_.slice, begin - start_, end - start_, bytes);
  }

  /// Entries under way at the end of the time count up to it.
  void keep_within_time(LoadResult& side) const {
    side.slice_bytes.resize(
        static_cast<std::size_t>(std::lround(request_.duration / request_.slice)), 0.0);
    side.bytes = std::accumulate(side.slice_bytes.begin(), side.slice_bytes.end(), 0.0);
    side.wall = request_.duration;
  }

  const KvCacheRequest& request_;
  KvStore& store_;
  int number_;
  KvUser requests_;
  AlignedBuffer buffer_;
  Seconds start_ = {};
  std::int64_t looked_ = 0;
};

std::uint64_t kv_entry_bytes(const KvCacheRequest& request, int tokens) {
  const double scaled = std::max(1.0, std::round(tokens * request.scale));
  const std::uint64_t bytes = static_cast<std::uint64_t>(scaled) * request.bytes_per_token;
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

std::uint64_t kv_least_capacity(const KvCacheRequest& request) {
  return 2 * static_cast<std::uint64_t>(request.users) * kv_entry_bytes(request, kLongestTurn);
}

KvCacheLoad::KvCacheLoad(const KvCacheRequest& request)
    : request_(request), store_(request.folder, request.capacity_bytes, request.seed) {
  for (int number = 0; number < request_.users; ++number)
    users_.push_back(std::make_unique<User>(request_, store_, number));
  run_at_once(request_.users, [&](int number, Seconds) {
    users_[static_cast<std::size_t>(number)]->make_history();
  });
}

KvCacheLoad::~KvCacheLoad() = default;

KvCacheResult KvCacheLoad::run() {
  const auto removed_before = store_.removed();
  run_at_once(request_.users, [&](int number, Seconds start) {
    users_[static_cast<std::size_t>(number)]->run(start);
  });
  KvCacheResult all;
  std::vector<LoadResult> read, written;
  for (const auto& user : users_) {
    read.push_back(user->result.read);
    written.push_back(user->result.written);
    all.entries_sought += user->result.entries_sought;
    all.entries_found += user->result.entries_found;
    all.requests += user->result.requests;
    all.resident_share = std::max(all.resident_share, user->result.resident_share);
  }
  all.read = over_threads(read);
  all.written = over_threads(written);
  all.removed = static_cast<double>(store_.removed() - removed_before);
  return all;
}

}  // namespace bench::storage
