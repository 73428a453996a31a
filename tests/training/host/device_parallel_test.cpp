// Data parallel training on devices, with an exchange stream whose work may be delayed; and 16-bit
// tensors, on devices and on hosts.
#include <memory>
#include <stdexcept>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thread_group.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/fake_device.h"
#include "tests/training/llm_trainer.h"
#include "training/checkpoint/checkpoints.h"
#include "training/host/host_kernels.h"
#include "training/parallel/data_parallel.h"

namespace bench::training {
namespace {

enum class Where { host, device_at_once, device_at_last };

struct How {
  Where where = Where::host;
  Dtype dtype = Dtype::f32;
  int ranks = 2;
  bool shard = false;
  bool overlap = true;
  int micro_batches = 2;
};

struct Outcome {
  std::vector<double> losses = {}, norms = {};
  std::uint64_t parameters = 0;
  std::string differing = {};
  bool overlapped = false;
};

/// A rank of one lane, and its device where it has one: then nothing but the stream exchanges data.
class Rank {
 public:
  Rank(Group& group, const How& how) : control_plane_(group) {
    LlmTrainerOptions options;
    options.lanes = 1;
    options.micro_batches = how.micro_batches;
    options.batch = 16;
    options.steps = 100;
    options.rank = group.rank();
    options.ranks = group.size();
    options.dtype = how.dtype;
    DataParallelOptions parallel{65536, how.shard, how.overlap};
    if (how.where != Where::host) {
      options.kernels = [this](Dtype dtype) { return device_.kernels(dtype); };
      stream_ = device_.stream(group, how.dtype,
                               how.where == Where::device_at_last ? FakeDevice::Does::at_last
                                                                  : FakeDevice::Does::at_once);
      parallel.stream = stream_.get();
    }
    trainer_ = std::make_unique<LlmTrainer>(options);
    parallel_ = std::make_unique<DataParallel>(
        trainer_->replica(), how.where == Where::host ? group : control_plane_, parallel);
  }

  StepOutcome step(int number) {
    return parallel_->step(fill(number), trainer_->rate(number), 1.0);
  }
  Replica::Fill fill(int number) { return trainer_->fill(number, parallel_->group().rank()); }
  LlmTrainer& trainer() { return *trainer_; }
  DataParallel& parallel() { return *parallel_; }

 private:
  GroupWith control_plane_;
  FakeDevice device_;
  std::unique_ptr<ExchangeStream> stream_;
  std::unique_ptr<LlmTrainer> trainer_;
  std::unique_ptr<DataParallel> parallel_;
};

/// Of rank 0; the others' must be equal.
Outcome train(const How& how, int steps = 3) {
  std::vector<Outcome> all(static_cast<std::size_t>(how.ranks));
  run_ranks(how.ranks, [&](Group& group) {
    Rank rank(group, how);
    Outcome& out = all[static_cast<std::size_t>(group.rank())];
    for (int i = 0; i < steps; ++i) {
      const StepOutcome step = rank.step(i);
      out.losses.push_back(step.loss);
      out.norms.push_back(step.gradient_norm);
    }
    out.parameters = rank.parallel().parameter_hash();
    out.differing = find_replica_difference(group, tensor_hashes(rank.trainer().replica()));
    out.overlapped = rank.parallel().overlaps();
  });
  for (const Outcome& other : all) {
    CHECK(other.losses == all[0].losses);
    CHECK(other.norms == all[0].norms);
    CHECK(other.differing.empty());
  }
  return all[0];
}

}  // namespace

TEST_CASE("ranks on devices train like ranks on hosts, whenever the stream exchanges") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    const Outcome host = train({Where::host, dtype});
    for (const Where where : {Where::device_at_once, Where::device_at_last})
      for (const bool shard : {false, true})
        for (const bool overlap : {false, true}) {
          INFO(to_string(dtype) << " shard " << shard << " overlap " << overlap);
          const Outcome device = train({where, dtype, 2, shard, overlap});
          CHECK(device.overlapped == overlap);
          CHECK(device.parameters == host.parameters);
          CHECK(device.losses == host.losses);
          // A device sums the squares of a whole shard at once.
          for (std::size_t i = 0; i < host.norms.size(); ++i)
            CHECK(device.norms[i] == Approx(host.norms[i]).epsilon(1e-6));
        }
  }
}

TEST_CASE("ranks train in 16 bits like one rank up to gradient rounding") {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16}) {
    INFO(to_string(dtype));
    const Outcome one = train({Where::host, dtype, 1, false, true, 4});
    for (const int ranks : {2, 4})
      for (const bool shard : {false, true}) {
        const Outcome many = train({Where::host, dtype, ranks, shard, true, 4 / ranks});
        for (std::size_t i = 0; i < one.losses.size(); ++i)
          CHECK(many.losses[i] == Approx(one.losses[i]).epsilon(3e-3));
        CHECK(many.norms[0] == Approx(one.norms[0]).epsilon(3e-3));
      }
  }
}

TEST_CASE("the gradient comparison holds on devices and in 16 bits") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    std::vector<GradientAgreement> found(2);
    run_ranks(2, [&](Group& group) {
      Rank rank(group, {Where::device_at_last, dtype});
      found[static_cast<std::size_t>(group.rank())] =
          rank.parallel().compare_gradient([&](int of) { return rank.trainer().fill(0, of); });
    });
    INFO(to_string(dtype) << ": " << found[0].distance);
    CHECK(found[0].held());
    CHECK(found[0].tolerance == (dtype == Dtype::f32 ? 1e-4 : 1e-2));
    CHECK(found[0].distance == found[1].distance);
  }
}

TEST_CASE("an overflow on one of two ranks makes both skip the step and halve the scale") {
  std::vector<StepOutcome> outs(2);
  std::vector<double> scales(2);
  run_ranks(2, [&](Group& group) {
    Rank rank(group, {Where::host, Dtype::f16});
    const auto at = static_cast<std::size_t>(group.rank());
    LossScale& scale = rank.trainer().replica().loss_scale();
    // With the largest scale there is, gradients overflow: rank 1's alone.
    if (group.rank() == 1) scale.resume({0x1p24, 0, 0});
    const double before = scale.value();
    outs[at] = rank.step(0);
    scales[at] = scale.value() / before;
  });
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(outs[rank].skipped);
    CHECK(scales[rank] == 0.5);
  }
}

TEST_CASE("dlrm on two devices with host tables trains like on two hosts") {
  TrainerOptions options = dlrm_training(6, 256);
  options.recipe.batch = 512;
  options.recipe.micro_batch = 128;
  options.lanes = 1;
  options.check_every = 3;
  std::vector<TrainedDlrm> hosts(2), devices(2);
  run_ranks(2, [&](Group& group) {
    const auto at = static_cast<std::size_t>(group.rank());
    hosts[at] = train_dlrm_with([](Dtype dtype) { return host_kernels(dtype); }, options, group);
    FakeDevice device;
    const auto stream = device.stream(group, Dtype::f32, FakeDevice::Does::at_last);
    TrainerOptions there = options;
    there.parallel.stream = stream.get();
    devices[at] = train_dlrm_with([&](Dtype dtype) { return device.kernels(dtype); }, there, group);
  });
  CHECK(devices[0].tables == hosts[0].tables);
  CHECK(devices[0].run.curve.back().gap == hosts[0].run.curve.back().gap);
  REQUIRE(devices[0].run.checks.size() == hosts[0].run.checks.size());
  for (const TrainedDlrm& one : devices)
    for (const TrainingCheck& check : one.run.checks) {
      INFO(check.check << ": " << check.text);
      CHECK(check.held);
    }
}

TEST_CASE("devices resume from their checkpoints, and hosts from those of devices") {
  for (const bool shard : {false, true}) {
    const Outcome whole = train({Where::host, Dtype::bf16, 2, shard}, 4);
    const TemporaryDirectory folder;
    std::vector<std::uint64_t> devices(2), hosts(2);
    run_ranks(2, [&](Group& group) {
      const auto at = static_cast<std::size_t>(group.rank());
      const auto go_on = [&](const How& how, int from, int to, bool saves) {
        Rank rank(group, how);
        Checkpoints checkpoints(rank.parallel(), {{"workload", "llm"}}, {folder.path(), 2, {}});
        if (const auto loaded = checkpoints.load(); loaded.has_value() != (from > 0))
          throw std::runtime_error("a checkpoint that should not be there, or none");
        for (int i = from; i < to; ++i) rank.step(i);
        if (saves) checkpoints.save();
        return rank.parallel().parameter_hash();
      };
      go_on({Where::device_at_once, Dtype::bf16, 2, shard}, 0, 2, true);
      hosts[at] = go_on({Where::host, Dtype::bf16, 2, shard}, 2, 4, false);
      devices[at] = go_on({Where::device_at_last, Dtype::bf16, 2, shard}, 2, 4, false);
    });
    CHECK(devices == std::vector<std::uint64_t>(2, whole.parameters));
    CHECK(hosts == std::vector<std::uint64_t>(2, whole.parameters));
  }
}

TEST_CASE("if one device's lane throws, all ranks throw and none hangs") {
  for (const Where where : {Where::device_at_once, Where::device_at_last}) {
    std::vector<std::string> texts(2);
    run_ranks(2, [&](Group& group) {
      Rank rank(group, {where});
      const auto fill = [&, good = rank.fill(0)](const Lane& lane, int number) {
        good(lane, number);
        if (group.rank() == 1 && number == 1)
          lane.view(rank.trainer().model().tokens).as<std::int32_t>()[3] = 64;
      };
      try {
        rank.parallel().step(fill, 1e-3);
      } catch (const Error& error) {
        texts[static_cast<std::size_t>(group.rank())] = error.what();
      }
    });
    CHECK_THAT(texts[0], Catch::Contains("rank 1 failed in step 0"));
    CHECK_THAT(texts[1], Catch::Contains("ID 64 in row 3"));
  }
}

TEST_CASE("devices without a gradient exchange are refused with the reason") {
  std::vector<std::string> texts(2);
  run_ranks(2, [&](Group& group) {
    FakeDevice device;
    LlmTrainerOptions options;
    options.lanes = 1;
    options.ranks = 2;
    options.rank = group.rank();
    options.kernels = [&](Dtype dtype) { return device.kernels(dtype); };
    LlmTrainer trainer(options);
    try {
      const DataParallel parallel(trainer.replica(), group);
    } catch (const Error& error) {
      texts[static_cast<std::size_t>(group.rank())] = error.what();
    }
  });
  CHECK_THAT(texts[0], Catch::Contains("2 ranks cannot train on GPUs together"));
}

}  // namespace bench::training
