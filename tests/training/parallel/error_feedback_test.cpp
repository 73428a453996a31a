// Ranks that exchange compressed gradients: what is not sent is not lost.
#include "training/parallel/error_feedback.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/thread_group.h"
#include "tests/training/forgetful_kernels.h"
#include "tests/training/llm_trainer.h"
#include "training/host/host_kernels.h"
#include "training/parallel/data_parallel.h"

namespace bench::training {
namespace {

const ExchangeMethod kMethods[] = {{.kind = ExchangeKind::topk, .share = 0.02},
                                   {.kind = ExchangeKind::powersgd, .rank = 2}};

DataParallelOptions compressed_by(const ExchangeMethod& method) {
  DataParallelOptions options;
  options.method = method;
  return options;
}

/// Rank 1 sends zeros for its values of topk, or for its part of a sum, once armed.
class LeavingOut final : public PassingCollectives {
 public:
  LeavingOut(Group& group, const bool& armed)
      : PassingCollectives(group), group_(group), armed_(armed) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    const bool values = op == CollectiveOp::all_gather && dtype == Dtype::f32;
    if (!armed_ || group_.rank() != 1 || !(values || op == CollectiveOp::all_to_all))
      return PassingCollectives::run(op, send, recv, count, dtype);
    const std::vector<std::byte> zeros(count * 2 * size_of(dtype));
    PassingCollectives::run(op, zeros.data(), recv, count, dtype);
  }

 private:
  Group& group_;
  const bool& armed_;
};

struct CompressedTraining {
  std::vector<double> losses = {};
  std::uint64_t hash = 0;
  double distance = 0.0;  // of the identity, after the steps
  std::string difference = {};
};

enum class FeedbackFault { none, lost_residual, rank_left_out };

/// By rank.
std::vector<CompressedTraining> train_compressed(const ExchangeMethod& method, int ranks, int lanes,
                                                 FeedbackFault fault = FeedbackFault::none) {
  std::vector<CompressedTraining> trained(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Group& threads) {
    bool armed = false;
    LeavingOut leaving(threads, armed);
    GroupWith with_fault(threads, leaving);
    Group& group =
        fault == FeedbackFault::rank_left_out ? static_cast<Group&>(with_fault) : threads;
    LlmTrainerOptions options;
    options.lanes = lanes;
    options.steps = 100;
    options.rank = group.rank();
    options.ranks = ranks;
    if (fault == FeedbackFault::lost_residual && group.rank() == 1)
      options.kernels = [&](Dtype dtype) {
        KernelSet set = host_kernels(dtype);
        forget_residuals(set, armed);
        return set;
      };
    LlmTrainer trainer(options);
    DataParallel parallel(trainer.replica(), group, compressed_by(method));
    CompressedTraining& own = trained[static_cast<std::size_t>(group.rank())];
    for (int step = 0; step < 5; ++step)
      own.losses.push_back(
          parallel.step(trainer.fill(step, group.rank()), trainer.rate(step), 1.0).loss);
    own.hash = parallel.parameter_hash();
    own.difference = find_replica_difference(group, tensor_hashes(trainer.replica()));
    armed = true;
    own.distance =
        parallel.compare_gradient([&](int rank) { return trainer.fill(9, rank); }).distance;
  });
  return trained;
}

}  // namespace

TEST_CASE("ranks that compress have equal bits, in reruns too, and lose no gradient") {
  for (const ExchangeMethod& method : kMethods)
    for (const int ranks : {2, 4}) {
      INFO(text_of(method) << ", " << ranks << " ranks");
      const auto trained = train_compressed(method, ranks, 1);
      const auto again = train_compressed(method, ranks, 1);
      for (std::size_t rank = 0; rank < trained.size(); ++rank) {
        CHECK(trained[rank].difference.empty());
        CHECK(trained[rank].hash == trained[0].hash);
        CHECK(trained[rank].hash == again[rank].hash);
        CHECK(trained[rank].losses == again[rank].losses);
        CHECK(trained[rank].distance < 1e-5);
      }
      CHECK(trained[0].losses.back() < trained[0].losses.front());
    }
}

TEST_CASE("a lost residual or a rank that is left out breaks the identity of error feedback") {
  for (const ExchangeMethod& method : kMethods)
    for (const auto fault : {FeedbackFault::lost_residual, FeedbackFault::rank_left_out}) {
      INFO(text_of(method) << ", fault " << static_cast<int>(fault));
      for (const CompressedTraining& rank : train_compressed(method, 2, 1, fault))
        CHECK(rank.distance > 100.0 * GradientAgreement::kTolerance);
    }
}

TEST_CASE("all of the elements by topk, and factors of full rank, are the whole gradient") {
  std::vector<std::vector<double>> losses(3);
  run_ranks(2, [&](Group& group) {
    const ExchangeMethod methods[] = {{},
                                      {.kind = ExchangeKind::topk, .share = 1.0},
                                      {.kind = ExchangeKind::powersgd, .rank = 1024}};
    for (std::size_t i = 0; i < 3; ++i) {
      LlmTrainer trainer({.lanes = 1, .steps = 100, .rank = group.rank(), .ranks = 2});
      DataParallel parallel(trainer.replica(), group, compressed_by(methods[i]));
      std::vector<double> own;
      for (int step = 0; step < 3; ++step)
        own.push_back(
            parallel.step(trainer.fill(step, group.rank()), trainer.rate(step), 1.0).loss);
      if (group.rank() == 0) losses[i] = own;
    }
  });
  CHECK(losses[1] == losses[0]);  // two ranks add in any order alike
  for (std::size_t step = 0; step < 3; ++step)
    CHECK(losses[2][step] == Approx(losses[0][step]).epsilon(1e-5));
}

TEST_CASE("over many steps the exchanged gradients add up to the true ones") {
  const std::vector<RowTensor> tensors = {{0, 24, 40}};
  for (const ExchangeMethod& method : kMethods) {
    INFO(text_of(method));
    std::vector<double> off(2);  // of the sum over steps, relative, after 10 and 1000 steps
    run_ranks(2, [&](Group& group) {
      const KernelSet kernels = host_kernels(Dtype::f64);
      WorkerPool pool(1);
      const auto compressor = make_compressor(method, {group, kernels, pool}, tensors, Dtype::f64);
      std::vector<double> gradient(960), rest(960), sum(960), added(960);
      for (std::size_t i = 0; i < gradient.size(); ++i)
        gradient[i] = std::sin(static_cast<double>(i * i) + group.rank());
      const auto row = [](std::vector<double>& x) { return View{x.data(), 1, 960, Dtype::f64}; };
      for (int step = 1; step <= 1000; ++step) {
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] += gradient[i];
        compressor->exchange(row(rest), row(sum));
        for (std::size_t i = 0; i < sum.size(); ++i) added[i] += sum[i];
        if (step != 10 && step != 1000) continue;
        std::vector<double> both = gradient;
        group.sum(both);
        double difference = 0.0, length = 0.0;
        for (std::size_t i = 0; i < both.size(); ++i) {
          difference += std::pow(added[i] / step - both[i], 2.0);
          length += both[i] * both[i];
        }
        if (group.rank() == 0) off[step == 10 ? 0 : 1] = std::sqrt(difference / length);
      }
    });
    CHECK(off[0] > 0.1);
    CHECK(off[1] < 0.05);
  }
}

}  // namespace bench::training
