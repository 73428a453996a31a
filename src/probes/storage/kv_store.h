// The entries of a KV cache on storage: a file each, the least recently used removed when a new one
// needs its room. Used by all threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <optional>

namespace bench::storage {

/// Whose keys and values: one turn of a conversation of a user.
struct KvKey {
  int user = 0, conversation = 0, turn = 0;
  auto operator<=>(const KvKey&) const = default;
};

struct KvEntry {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::uint64_t seed = 0;  // of its blocks (random_blocks.h)
};

class KvStore {
 public:
  /// In this folder, which exists, at most so many bytes.
  KvStore(std::filesystem::path folder, std::uint64_t capacity_bytes, std::uint64_t seed)
      : folder_(std::move(folder)), capacity_(capacity_bytes), seed_(seed) {}

  /// A new entry, which nobody can read or remove until release(). Removes others for it. Throws
  /// Error(environment) if a file cannot be removed, Error(input) if the entries in use leave no
  /// room.
  KvEntry create(const KvKey& key, std::uint64_t bytes);
  /// The entry, which stays until release(); nothing if it was removed.
  std::optional<KvEntry> acquire(const KvKey& key);
  /// It is the most recently used one from now on.
  void release(const KvKey& key);

  std::uint64_t stored_bytes() const;
  std::int64_t removed() const;

 private:
  struct Slot {
    KvEntry entry;
    bool busy = true;
    std::list<KvKey>::iterator place = {};  // in order_
  };
  void remove_oldest();

  std::filesystem::path folder_;
  std::uint64_t capacity_, seed_;
  mutable std::mutex mutex_ = {};
  std::map<KvKey, Slot> slots_ = {};
  std::list<KvKey> order_ = {};  // the least recently used first
  std::uint64_t stored_ = 0;
  std::int64_t removed_ = 0;
};

}  // namespace bench::storage
