// Entries of a KV cache: which are removed for which, and which stay.
#include "probes/storage/kv_store.h"

#include <set>
#include <string>

#include "core/error.h"
#include "core/whole_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::storage {
namespace {

using Catch::Matchers::Contains;

struct Kept {
  TemporaryDirectory folder;
  KvStore store{folder.path(), 1000, 9};

  void put(int turn, std::uint64_t bytes) {
    const KvKey key = {0, 0, turn};
    write_file(store.create(key, bytes).file, std::string(bytes, 'x'));
    store.release(key);
  }
  bool has(int turn) {
    const auto entry = store.acquire({0, 0, turn});
    if (!entry) return false;
    CHECK(std::filesystem::file_size(entry->file) == entry->bytes);
    store.release({0, 0, turn});
    return true;
  }
};

}  // namespace

TEST_CASE("the least recently used entries are removed until a new one fits") {
  Kept kept;
  for (int turn = 0; turn < 4; ++turn) kept.put(turn, 250);
  CHECK(kept.has(0));  // now the most recently used
  kept.put(4, 500);
  CHECK(kept.store.stored_bytes() == 1000);
  CHECK(kept.store.removed() == 2);
  CHECK_FALSE(kept.has(1));
  CHECK_FALSE(kept.has(2));
  CHECK(kept.has(0));
  CHECK(kept.has(3));
  CHECK(kept.has(4));
  CHECK(std::distance(std::filesystem::directory_iterator(kept.folder.path()), {}) == 3);
}

TEST_CASE("an entry in use is not removed") {
  Kept kept;
  kept.put(0, 600);
  kept.put(1, 400);
  REQUIRE(kept.store.acquire({0, 0, 0}));
  kept.put(2, 300);
  kept.store.release({0, 0, 0});
  CHECK(kept.has(0));
  CHECK_FALSE(kept.has(1));
}

TEST_CASE("entries in use that leave no room are an error that names the capacity") {
  Kept kept;
  kept.put(0, 600);
  REQUIRE(kept.store.acquire({0, 0, 0}));
  CHECK_THROWS_WITH(kept.store.create({0, 0, 1}, 500), Contains("1000 B"));
}

TEST_CASE("an entry that cannot be removed is an error") {
  Kept kept;
  kept.put(0, 600);
  std::filesystem::remove(kept.store.acquire({0, 0, 0})->file);
  kept.store.release({0, 0, 0});
  CHECK_THROWS_WITH(kept.store.create({0, 0, 1}, 500), Contains("turn-0"));
}

TEST_CASE("entries have blocks of their own") {
  Kept kept;
  const KvEntry one = kept.store.create({0, 0, 0}, 10), turn = kept.store.create({0, 0, 1}, 10),
                conversation = kept.store.create({0, 1, 0}, 10),
                user = kept.store.create({1, 0, 0}, 10);
  CHECK(std::set<std::uint64_t>{one.seed, turn.seed, conversation.seed, user.seed}.size() == 4);
  CHECK(std::set<std::string>{one.file, turn.file, conversation.file, user.file}.size() == 4);
}

}  // namespace bench::storage
