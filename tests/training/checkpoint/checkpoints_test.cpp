// Trainings that stop and resume.
#include "training/checkpoint/checkpoints.h"

#include <fstream>
#include <set>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/llm_trainer.h"
#include "training/optimizers/gradient_outliers.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// One rank's training of llm tiny, and where it is saved.
struct Training {
  LlmTrainer trainer;
  DataParallel parallel;
  Checkpoints checkpoints;
  std::vector<double> losses = {};

  Training(Group& group, const std::filesystem::path& folder, bool shard = false, int keep = 2,
           std::uint64_t seed = 1)
      : trainer(options(group, seed)),
        parallel(trainer.replica(), group, {65536, shard}),
        checkpoints(parallel, {{"workload", "llm"}, {"seed", seed}}, {folder, keep}) {}

  static LlmTrainerOptions options(const Group& group, std::uint64_t seed) {
    LlmTrainerOptions options;
    options.lanes = 1;
    options.batch = 8;
    options.steps = 100;
    options.seed = seed;
    options.rank = group.rank();
    options.ranks = group.size();
    return options;
  }
  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      const std::int64_t step = trainer.replica().steps_done();
      const Replica::Fill fill = trainer.fill(step, parallel.group().rank());
      losses.push_back(parallel.step(fill, trainer.rate(step), 1.0).loss);
    }
  }
};

struct Ends {
  std::uint64_t through = 0, resumed = 0;
  std::vector<double> losses_through = {}, losses_resumed = {};
  Checkpoints::Done saved = {}, loaded = {};
  double parameters = 0.0;
};

/// 20 steps at once, and 10 steps, a checkpoint, and 10 steps with new objects.
Ends train_both_ways(Group& group, const std::filesystem::path& folder, bool shard) {
  Ends ends;
  Training through(group, folder, shard);
  through.train(20);
  ends.through = through.parallel.parameter_hash();
  ends.parameters = static_cast<double>(through.trainer.model().graph->parameter_count());
  ends.losses_through.assign(through.losses.begin() + 10, through.losses.end());
  {
    Training first(group, folder, shard);
    first.train(10);
    ends.saved = first.checkpoints.save({{"rank", group.rank()}});
  }
  Training second(group, folder, shard, 2);
  ends.loaded = second.checkpoints.load().value();
  second.train(10);
  ends.resumed = second.parallel.parameter_hash();
  ends.losses_resumed = second.losses;
  return ends;
}

std::string error_of_load(Training& training) try {
  training.checkpoints.load();
  return "";
} catch (const Error& error) {
  return error.what();
}

}  // namespace

TEST_CASE("10 steps, a checkpoint and 10 more steps equal 20 steps bit for bit") {
  for (const int ranks : {1, 2})
    for (const bool shard : {false, true}) {
      TemporaryDirectory folder;
      std::vector<Ends> all(static_cast<std::size_t>(ranks));
      run_ranks(ranks, [&](Group& group) {
        all[static_cast<std::size_t>(group.rank())] = train_both_ways(group, folder.path(), shard);
      });
      for (int rank = 0; rank < ranks; ++rank) {
        const Ends& ends = all[static_cast<std::size_t>(rank)];
        CHECK(ends.resumed == ends.through);
        CHECK(ends.losses_resumed == ends.losses_through);
        CHECK(ends.loaded.step == 10);
        CHECK(ends.loaded.notes == Json{{"rank", rank}});
        CHECK(ends.loaded.bytes == ends.saved.bytes);
        CHECK(ends.saved.bytes.value > 12.0 * ends.parameters);  // each and its two moments
        CHECK(ends.saved.bytes.value < 12.5 * ends.parameters);
        CHECK(ends.saved.seconds.value > 0.0);
      }
    }
}

TEST_CASE("a rank's own state is saved and restored to that rank") {
  TemporaryDirectory folder;
  std::vector<std::vector<float>> tables(2, std::vector<float>(6, 0.0f));
  run_ranks(2, [&](Group& group) {
    const auto at = static_cast<std::size_t>(group.rank());
    const NamedView table{"tables/0", {tables[at].data(), 2, 3, Dtype::f32}};
    Training first(group, folder.path());
    first.checkpoints.add({table});
    tables[at].assign(6, static_cast<float>(1 + group.rank()));
    first.checkpoints.save();
    tables[at].assign(6, 9.0f);
    Training second(group, folder.path());
    second.checkpoints.add({table});
    second.checkpoints.load();
  });
  CHECK(tables[0] == std::vector<float>(6, 1.0f));
  CHECK(tables[1] == std::vector<float>(6, 2.0f));
}

TEST_CASE("the newest checkpoints are kept, older and unfinished ones removed") {
  TemporaryDirectory folder;
  const auto alone = make_self_group();
  std::ofstream(folder.path() / "step-000000000001.rank-0-of-1.ckpt.unfinished") << "torn";
  std::ofstream(folder.path() / "notes.txt") << "the user's own";
  Training training(*alone, folder.path(), false, 2);
  CHECK_FALSE(training.checkpoints.load());
  for (int i = 0; i < 4; ++i) {
    training.train(1);
    training.checkpoints.save();
  }
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename());
  CHECK(names == std::set<std::string>{"notes.txt", "step-000000000003.rank-0-of-1.ckpt",
                                       "step-000000000004.rank-0-of-1.ckpt"});
}

TEST_CASE("a checkpoint that only some ranks saved does not count") {
  TemporaryDirectory folder;
  std::vector<std::int64_t> steps(2);
  run_ranks(2, [&](Group& group) {
    Training first(group, folder.path());
    for (int i = 0; i < 2; ++i) {
      first.train(1);
      first.checkpoints.save();
    }
    group.barrier();
    if (group.rank() == 1)
      std::filesystem::remove(folder.path() / "step-000000000002.rank-1-of-2.ckpt");
    group.barrier();
    Training second(group, folder.path());
    steps[static_cast<std::size_t>(group.rank())] = second.checkpoints.load().value().step;
  });
  CHECK(steps == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("a checkpoint damaged on one rank is refused by all, naming file and section") {
  TemporaryDirectory folder;
  std::vector<std::string> said(2);
  run_ranks(2, [&](Group& group) {
    Training first(group, folder.path(), true);
    first.train(1);
    first.checkpoints.save();
    group.barrier();
    if (group.rank() == 1) {
      std::fstream file(folder.path() / "step-000000000001.rank-1-of-2.ckpt",
                        std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-5, std::ios::end);
      file.put('!');
    }
    group.barrier();
    Training second(group, folder.path(), true);
    said[static_cast<std::size_t>(group.rank())] = error_of_load(second);
  });
  CHECK_THAT(said[0], Contains("rank-1-of-2.ckpt: section 'optimizer/second_moments' at offset"));
  CHECK(said[0] == said[1]);
}

TEST_CASE("a checkpoint of another training is refused, saying what differs") {
  TemporaryDirectory folder;
  const auto alone = make_self_group();
  Training first(*alone, folder.path());
  first.train(1);
  first.checkpoints.save();
  Training other(*alone, folder.path(), false, 2, 5);
  CHECK_THAT(error_of_load(other), Contains("saved by a training with seed 1, but this one has 5"));
  std::vector<std::string> said(2);
  run_ranks(2, [&](Group& group) {
    Training two(group, folder.path());
    said[static_cast<std::size_t>(group.rank())] = error_of_load(two);
  });
  CHECK_THAT(said[0], Contains("has checkpoints of 1 ranks, but this job has 2"));
}

TEST_CASE("a failed checkpoint write on one rank stops all ranks, naming the file") {
  TemporaryDirectory folder;
  std::vector<std::string> said(2);
  run_ranks(2, [&](Group& group) {
    const auto own = folder.path() / std::to_string(group.rank());
    Training training(group, own);
    if (group.rank() == 1) std::filesystem::remove(own);
    try {
      training.checkpoints.save();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::environment)
        said[static_cast<std::size_t>(group.rank())] = error.what();
    }
  });
  CHECK_THAT(said[0], Contains("1/step-000000000000.rank-1-of-2.ckpt.unfinished"));
  CHECK(said[0] == said[1]);
}

TEST_CASE("the outlier log resumes with its averages") {
  GradientOutliers through, first;
  for (int step = 0; step < 60; ++step) {
    through.observe(step, 1.0 + 0.1 * (step % 7));
    first.observe(step, 1.0 + 0.1 * (step % 7));
  }
  GradientOutliers second;
  second.resume(first.averages());
  const auto a = through.observe(60, 9.0), b = second.observe(60, 9.0);
  REQUIRE((a && b));
  CHECK(a->z == b->z);
}

}  // namespace bench::training
