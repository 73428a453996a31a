// A KV cache on storage under users who converse: each writes and reads whole entries, one after
// the other, for a time. Counts what was delivered and what became durable in that time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/units.h"
#include "probes/storage/kv_store.h"
#include "probes/storage/kv_workload.h"
#include "probes/storage/load_result.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {

struct KvCacheRequest {
  std::filesystem::path folder;  // exists, and is this load's alone
  Access access = Access::direct;
  KvMix mix = KvMix::mlperf;
  int users = 1;
  std::uint64_t bytes_per_token = 131072;
  double scale = 1.0;  // of the tokens of all entries
  std::uint64_t capacity_bytes = 0;
  std::uint64_t operation_bytes = 8u << 20;  // a multiple of kBlockBytes
  Seconds duration = {10.0};
  Seconds slice = {0.5};
  std::uint64_t seed = 1;
  /// Called with each file before it is read; tests damage it here.
  std::function<void(const std::filesystem::path&)> observer = {};
};

/// The latency is that of whole entries, as users wait for them: a write ends when its sync has
/// returned. Bytes of an operation that began or ended outside the time count in part.
struct KvCacheResult {
  LoadResult read, written;
  double entries_sought = 0.0, entries_found = 0.0;  // of earlier turns
  double requests = 0.0;                             // begun
  double removed = 0.0;                              // entries, to make room
  double resident_share = 0.0;  // largest of any entry after it was evicted; buffered reads only
};

/// The bytes of the entry of so many tokens, in whole blocks.
std::uint64_t kv_entry_bytes(const KvCacheRequest& request, int tokens);
/// The least capacity with which no user waits for room: twice the longest entry for each.
std::uint64_t kv_least_capacity(const KvCacheRequest& request);

class KvCacheLoad {
 public:
  /// Writes the earlier turns of the conversation that each user is in, as many as fit into the
  /// capacity. Throws Error(environment), or Error(input) for too little capacity.
  explicit KvCacheLoad(const KvCacheRequest& request);
  ~KvCacheLoad();
  KvCacheLoad(const KvCacheLoad&) = delete;
  KvCacheLoad& operator=(const KvCacheLoad&) = delete;

  /// Call once. Throws the Error of a user's thread that failed.
  KvCacheResult run();

 private:
  class User;
  KvCacheRequest request_;
  KvStore store_;
  std::vector<std::unique_ptr<User>> users_;
};

}  // namespace bench::storage
