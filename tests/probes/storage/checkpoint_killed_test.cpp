// A process that is killed (SIGKILL) before each operation on files that saving makes, in turn.
#include <unistd.h>

#include <csignal>

#include "probes/storage/checkpoint_round.h"
#include "tests/probes/storage/disk_folder.h"
#include "tests/probes/storage/newest_whole.h"
#include "tests/support/catch.h"
#include "tests/support/killed_child.h"

namespace bench::storage {
namespace {

constexpr std::uint64_t kKilledBytes = 4 * kDirectAlignment;
constexpr std::uint64_t kKilledChunk = 2 * kDirectAlignment;
constexpr char kSteps = 2;

CheckpointSetting killed_setting(const FileObserver& observer) {
  CheckpointSetting made;
  made.bytes = kKilledBytes;
  made.chunk_bytes = kKilledChunk;
  made.threads = 1;  // so that the operations have an order
  made.access = Access::buffered;
  made.observer = observer;
  return made;
}

/// Saves, removes older ones, and tells each step saved; killed before operation `fatal`.
[[noreturn]] void save_until_killed(const std::filesystem::path& folder, int fatal, int told) {
  int operation = 0;
  const FileObserver observer = [&](const std::string&) {
    if (operation++ == fatal) raise(SIGKILL);
  };
  const CheckpointStore store(folder);
  const auto group = make_self_group();
  SyntheticState state(kKilledBytes, kKilledChunk, 1, 3);
  for (char step = 1; step <= kSteps; ++step) {
    write_checkpoint(*group, store, step, killed_setting(observer), state.source());
    if (write(told, &step, 1) != 1) _exit(2);
    store.prune(step, 1, observer);
  }
  _exit(0);
}

}  // namespace

TEST_CASE("kill -9 at any moment of writing leaves the previous checkpoint complete") {
  int fatal = 0;
  bool killed = true;
  for (; killed; ++fatal) {
    DiskFolder folder;
    const KilledChild child =
        run_until_killed([&](int told) { save_until_killed(folder.path(), fatal, told); });
    killed = child.killed;
    INFO("killed before operation " << fatal << " after " << child.saved << " were told");
    const CheckpointStore store(folder.path());
    const auto found = newest_whole(store);
    if (child.saved == 0 && !found) continue;
    REQUIRE(found);
    CHECK(found->step >= child.saved);
    CHECK(found->step <= child.saved + 1);
    ReadRequest request{.folder = store.folder(found->step),
                        .shard = found->manifest.shards.at(0),
                        .chunk_bytes = found->manifest.chunk_bytes,
                        .threads = 1,
                        .access = Access::buffered};
    const ReadShard read = read_shard(request);
    CHECK(read.wrong == 0);
    CHECK(read.bytes == kKilledBytes);
    if (fatal % 4 != 0) continue;
    // The next one to save there tidies up what the killed one left.
    const auto group = make_self_group();
    SyntheticState state(kKilledBytes, kKilledChunk, 1, 4);
    write_checkpoint(*group, store, kSteps + 1, killed_setting({}), state.source());
    store.prune(kSteps + 1, 1);
    CHECK(store.steps() == std::vector<std::int64_t>{kSteps + 1});
  }
  CHECK(fatal > 25);  // of two saves
}

}  // namespace bench::storage
