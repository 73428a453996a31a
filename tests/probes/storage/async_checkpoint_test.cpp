// Checkpoints that are written behind training's back.
#include <chrono>
#include <cmath>
#include <thread>

#include "core/error.h"
#include "probes/storage/checkpoint_async.h"
#include "probes/storage/random_blocks.h"
#include "tests/probes/storage/disk_folder.h"
#include "tests/probes/storage/newest_whole.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"

namespace bench::storage {
namespace {

using Catch::Matchers::Contains;

constexpr std::uint64_t kAsyncBytes = 64 * kBlockBytes;

struct Saving {
  DiskFolder folder;
  CheckpointStore store{folder.path()};
  AlignedBuffer state{kAsyncBytes};
  CheckpointSetting setting;

  Saving() {
    fill_blocks(state.all(), 1);
    setting.bytes = kAsyncBytes;
    setting.chunk_bytes = 16 * kBlockBytes;
    setting.threads = 2;
    setting.access = Access::buffered;
  }
  /// Writing takes at least so long.
  void slow(double seconds) {
    setting.observer = [seconds](const std::string& operation) {
      if (operation == "sync") std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    };
  }
};

}  // namespace

TEST_CASE("the state at the moment of saving is written, although it changes meanwhile") {
  Saving saving;
  const auto group = make_self_group();
  AsyncCheckpoint checkpoint(*group, saving.store, saving.setting, saving.state.all());
  stamp_blocks(saving.state.all(), 500, 1);
  checkpoint.save(1);
  stamp_blocks(saving.state.all(), 900, 1);  // training goes on
  CHECK(checkpoint.finish());
  CHECK_FALSE(checkpoint.finish());
  CHECK(read_checkpoint(*group, saving.store, 1, saving.setting).wrong == 0);
  AlignedBuffer read(kAsyncBytes);
  StorageFile(saving.store.folder(1) / shard_name(0), Access::buffered, OpenFor::reading)
      .read(read.all(), 0);
  CHECK(wrong_blocks(read.all(), 500, 1, true) == 0);
}

TEST_CASE("a checkpoint is not committed before all ranks have written it") {
  Saving saving;
  saving.slow(0.05);
  std::vector<int> early(2), late(2);
  run_ranks(2, [&](Group& group) {
    const auto rank = static_cast<std::size_t>(group.rank());
    CheckpointSetting setting = saving.setting;
    if (rank == 0) setting.observer = {};  // the fast one
    AsyncCheckpoint checkpoint(group, saving.store, setting, saving.state.all());
    checkpoint.save(3);
    early[rank] = !checkpoint.poll() && !newest_whole(saving.store) ? 1 : 0;
    group.barrier();
    checkpoint.finish();
    late[rank] = newest_whole(saving.store).has_value() ? 1 : 0;
  });
  CHECK(early == std::vector<int>{1, 1});
  CHECK(late == std::vector<int>{1, 1});
}

TEST_CASE(
    "training waits only for the copy if it saves rarely, and for the write if it saves often") {
  const auto group = make_self_group();
  EmulatedStep step(StepKind::sleep, Seconds{0.002});
  SECTION("seldom") {
    Saving saving;
    saving.slow(0.01);
    AsyncCheckpoint checkpoint(*group, saving.store, saving.setting, saving.state.all());
    const AsyncTimes times = train_and_save(*group, checkpoint, step, 2, 40);
    REQUIRE(times.stall.size() == 2);
    CHECK(times.drain.size() == 2);
    CHECK(times.back_pressure == std::vector<double>{0.0, 0.0});
    for (const double drain : times.drain) CHECK(drain >= 0.01);
    CHECK_FALSE(times.draining_steps.empty());
    CHECK(times.overhead() < 1.0);
    CHECK(std::isfinite(times.inflation()));
  }
  SECTION("often") {
    Saving saving;
    saving.slow(0.06);
    AsyncCheckpoint checkpoint(*group, saving.store, saving.setting, saving.state.all());
    const AsyncTimes times = train_and_save(*group, checkpoint, step, 3, 1);
    CHECK(times.drain.size() == 3);
    CHECK(times.back_pressure[0] == 0.0);
    CHECK(times.back_pressure[1] > 0.03);
    CHECK(times.back_pressure[2] > 0.03);
    CHECK(times.stall[1] >= times.back_pressure[1]);
  }
}

TEST_CASE("a failed background write is reported at the next call") {
  Saving saving;
  saving.setting.observer = [](const std::string& operation) {
    if (operation == "sync") throw Error(ErrorKind::environment, "no space is left");
  };
  const auto group = make_self_group();
  AsyncCheckpoint checkpoint(*group, saving.store, saving.setting, saving.state.all());
  checkpoint.save(1);
  CHECK_THROWS_WITH(checkpoint.finish(), Contains("no space"));
  CHECK_FALSE(newest_whole(saving.store));
}

TEST_CASE("the previous checkpoint is kept until the next is committed, older ones are removed") {
  Saving saving;
  const auto group = make_self_group();
  AsyncCheckpoint checkpoint(*group, saving.store, saving.setting, saving.state.all());
  for (std::int64_t step = 0; step < 5; ++step) checkpoint.save(step);
  checkpoint.finish();
  CHECK(saving.store.steps() == std::vector<std::int64_t>{3, 4});
}

TEST_CASE("a step of work takes about the requested time") {
  EmulatedStep step(StepKind::work, Seconds{0.02});
  double fastest = 1.0;
  for (int i = 0; i < 5; ++i) fastest = std::min(fastest, step.run().value);
  CHECK(fastest > 0.004);
  CHECK(fastest < 0.1);
}

TEST_CASE("inflation and overhead follow from the times") {
  AsyncTimes times;
  CHECK(std::isnan(times.inflation()));
  times.quiet_steps = {1.0, 1.0, 1.0};
  times.draining_steps = {1.5, 1.5};
  times.stall = {2.0};
  times.total = 10.0;
  CHECK(times.inflation() == Approx(0.5));
  CHECK(times.overhead() == Approx(0.3));
}

}  // namespace bench::storage
