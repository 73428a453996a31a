// Bases: trained, kept in files, read, and refused.
#include "training/trainer/pretraining.h"

#include <fstream>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/lora_training.h"
#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

Pretrained pretrain_tiny(std::int64_t steps, const std::filesystem::path& cache, Group& group,
                         int lanes = 2) {
  const LoraSetting setting = quick_lora(steps);
  const auto base = make_lora_base_workload_from("tiny", setting);
  const auto task = make_lora_workload_from("tiny", setting, 1);
  return pretrain(
      *base, *task, {.recipe = base->recipe(), .lanes = lanes}, cache,
      [](Dtype dtype) { return host_kernels(dtype); }, group);
}

Pretrained pretrain_tiny(std::int64_t steps, const std::filesystem::path& cache) {
  const auto alone = make_self_group();
  return pretrain_tiny(steps, cache, *alone);
}

/// Flips a bit in the middle of a file.
void damage(const std::filesystem::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(file) / 2);
  stream.seekg(middle);
  const int byte = stream.get();
  stream.seekp(middle);
  stream.put(static_cast<char>(byte ^ 4));
}

}  // namespace

TEST_CASE("a base is trained once for a recipe, and read in later runs") {
  const TemporaryDirectory folder;
  const Pretrained made = pretrain_tiny(12, folder.path() / "new");
  CHECK_FALSE(made.read);
  CHECK(made.seconds > 0.0);
  const Pretrained read = pretrain_tiny(12, folder.path() / "new");
  CHECK(read.read);
  CHECK(read.file == made.file);
  CHECK(read.hash == made.hash);
  CHECK(read.gap == made.gap);
  CHECK(read.unadapted == made.unadapted);
  const Pretrained other = pretrain_tiny(13, folder.path() / "new");
  CHECK_FALSE(other.read);
  CHECK(other.file != made.file);
  CHECK(other.hash != made.hash);
}

TEST_CASE("a damaged base is trained again and says why; without a folder none is kept") {
  const TemporaryDirectory folder;
  const Pretrained made = pretrain_tiny(6, folder.path());
  damage(made.file);
  const Pretrained again = pretrain_tiny(6, folder.path());
  CHECK_FALSE(again.read);
  CHECK_THAT(again.problem, Contains(made.file.string()));
  CHECK(again.hash == made.hash);
  CHECK(pretrain_tiny(6, folder.path()).read);
  const Pretrained unkept = pretrain_tiny(6, {});
  CHECK(unkept.file.empty());
  CHECK(unkept.hash == made.hash);
  const Pretrained refused = pretrain_tiny(6, made.file);  // a file is no folder
  CHECK(refused.file.empty());
  CHECK_FALSE(refused.problem.empty());
}

TEST_CASE("a file under the name of another base is not taken for it") {
  const TemporaryDirectory folder;
  const Pretrained one = pretrain_tiny(6, folder.path());
  const Pretrained other = pretrain_tiny(7, folder.path());
  std::filesystem::copy_file(one.file, other.file,
                             std::filesystem::copy_options::overwrite_existing);
  const Pretrained again = pretrain_tiny(7, folder.path());
  CHECK_FALSE(again.read);
  CHECK_THAT(again.problem, Contains("has another recipe"));
  CHECK(again.hash == other.hash);
  // Nothing else is left in the folder.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("a folder that cannot be reached is a problem, and no error") {
  const TemporaryDirectory folder;
  const std::filesystem::path loop = folder.path() / "loop";
  std::filesystem::create_symlink(loop, loop);
  const Pretrained base = pretrain_tiny(6, loop / "bases");
  CHECK_FALSE(base.read);
  CHECK_FALSE(base.problem.empty());
}

TEST_CASE("all ranks have one base, trained together or read by the first of them") {
  const TemporaryDirectory folder;
  for (const bool reads : {false, true}) {
    std::vector<Pretrained> bases(2);
    run_ranks(2, [&](Group& group) {
      const std::filesystem::path none;
      bases[static_cast<std::size_t>(group.rank())] =
          pretrain_tiny(6, group.rank() == 0 ? folder.path() : none, group, 1);
    });
    for (const Pretrained& base : bases) {
      CHECK(base.read == reads);
      CHECK(base.hash == bases[0].hash);
      CHECK(base.unadapted == bases[0].unadapted);
    }
  }
}

TEST_CASE("training begins at the base: adapters that do not move leave its quality") {
  LoraTraining training{.steps = 2};
  training.setting.training.recipe.schedule.peak = 0.0;
  CHECK(train_lora(training).curve.back().gap == quick_base().unadapted);
  training.base = nullptr;
  CHECK(train_lora(training).curve.back().gap > quick_base().unadapted + 0.1);
}

TEST_CASE("a run does not resume on another base") {
  const TemporaryDirectory folder;
  LoraTraining training{.steps = 10};
  training.options.checkpoint = folder.path();
  training.options.checkpoint_every = 10;
  train_lora(training);
  training.options.resume = true;
  CHECK(train_lora(training).first_step == 10);
  Pretrained other = quick_base();
  other.hash ^= 1;
  training.base = &other;
  CHECK_THROWS_WITH(train_lora(training), Contains("saved by a training with base"));
}

TEST_CASE("a base that lacks a parameter of the model is refused by name") {
  Pretrained base = quick_base();
  base.tensors.pop_back();
  CHECK_THROWS_WITH(train_lora({.steps = 1, .base = &base}), Contains("no values for"));
  base = quick_base();
  base.tensors.front().dtype = Dtype::bf16;
  CHECK_THROWS_WITH(train_lora({.steps = 1, .base = &base}), Contains("'embedding'"));
}

}  // namespace bench::training
