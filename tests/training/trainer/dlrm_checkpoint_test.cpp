// Checkpoints of a training with tables, which are sections of each rank's file.
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/dlrm_training.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

TrainerOptions few_steps(const std::filesystem::path& folder) {
  TrainerOptions options = dlrm_training(5, 512);
  options.recipe.batch = 256;
  options.lanes = 1;
  options.checkpoint = folder;
  options.checkpoint_every = 2;
  return options;
}

}  // namespace

TEST_CASE("dlrm resumes from a checkpoint bit for bit, including table state") {
  for (const int ranks : {1, 2}) {
    INFO(ranks << " ranks");
    const TemporaryDirectory folder;
    std::vector<TrainedDlrm> whole(static_cast<std::size_t>(ranks)), rest = whole;
    run_ranks(ranks, [&](Group& group) {
      const auto at = static_cast<std::size_t>(group.rank());
      TrainerOptions options = few_steps(folder.path());
      whole[at] = train_dlrm(1, options, group);  // its last checkpoint is after step 4
      options.resume = true;
      rest[at] = train_dlrm(1, options, group);
    });
    for (std::size_t rank = 0; rank < whole.size(); ++rank) {
      CHECK(rest[rank].run.first_step == 4);
      REQUIRE(rest[rank].run.steps.size() == 1);
      CHECK(rest[rank].run.steps[0].loss == whole[rank].run.steps[4].loss);
      CHECK(rest[rank].run.curve.back().gap == whole[rank].run.curve.back().gap);
      CHECK(rest[rank].tables == whole[rank].tables);
    }
  }
}

TEST_CASE("a checkpoint with a damaged table is refused, naming file and table") {
  const TemporaryDirectory folder;
  const auto alone = make_self_group();
  TrainerOptions options = few_steps(folder.path());
  train_dlrm(1, options, *alone);
  const std::filesystem::path file = folder.path() / "step-000000000004.rank-0-of-1.ckpt";
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-1, std::ios::end);
    bytes.put('!');
  }
  options.resume = true;
  const std::string damaged = file.filename().string() + ": section 'table/11.0/state' at offset";
  CHECK_THROWS_WITH(train_dlrm(1, options, *alone), Contains(damaged));
  std::filesystem::resize_file(file, 1000);
  CHECK_THROWS_WITH(train_dlrm(1, options, *alone), Contains(file.filename().string()));
}

}  // namespace bench::training
