// Both shapes of click model against finite differences, faults that these find, and the same
// training on one rank and on several.
#include <cmath>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/dlrm.h"
#include "training/workloads/dlrm.h"

namespace bench::training {
namespace {

DlrmShape little_dlrm(std::int64_t cross_layers) {
  return {4, 5, 6, {9}, {11, 7}, cross_layers, 3};
}

GradientError check_dlrm(const DlrmShape& shape, const KernelFactory& kernels) {
  Dlrm model = make_dlrm(shape, 10, Dtype::f64);
  const auto fill = [&](const Lane& lane) {
    double phase = 0.0;
    for (const Var input : {model.dense, model.embeddings})
      for (std::int64_t i = 0; i < lane.view(input).elements(); ++i)
        lane.view(input).as<double>()[i] = std::sin(phase += 0.7);
    for (std::int64_t i = 0; i < 10; ++i)
      lane.view(model.labels).as<double>()[i] = i % 3 == 0 ? 1.0 : 0.0;
  };
  return check_gradients(*model.graph, model.losses, fill, kernels);
}

/// Forwards everything except the fault.
class FaultyRecommender final : public RecommenderKernels {
 public:
  enum class Kind { half_of_dot, no_first_input_of_cross, relu_passes_all };
  FaultyRecommender(std::unique_ptr<RecommenderKernels> real, Kind kind)
      : real_(std::move(real)), kind_(kind) {}
  void relu_forward(View x, View y) override { real_->relu_forward(x, y); }
  void relu_backward(View y, View dy, View dx, bool add) override {
    std::vector<double> ones(static_cast<std::size_t>(y.elements()), 1.0);
    const View above{ones.data(), y.rows, y.columns, y.dtype};
    real_->relu_backward(kind_ == Kind::relu_passes_all ? above : y, dy, dx, add);
  }
  void cross_forward(View x0, View u, View x, View y) override {
    real_->cross_forward(x0, u, x, y);
  }
  void cross_backward(const CrossBackward& what) override {
    CrossBackward changed = what;
    std::vector<double> zeros(static_cast<std::size_t>(what.u.elements()));
    if (kind_ == Kind::no_first_input_of_cross) changed.u.data = zeros.data();
    real_->cross_backward(changed);
  }
  void dot_forward(View first, View rest, View y) override { real_->dot_forward(first, rest, y); }
  /// Of each pair only the second feature gets its gradient (research: "half of the interaction").
  void dot_backward(const DotBackward& what) override {
    DotBackward changed = what;
    std::vector<double> others(static_cast<std::size_t>(what.rest.elements()));
    if (kind_ == Kind::half_of_dot) changed.rest.data = others.data();
    real_->dot_backward(changed);
  }
  void copy_columns(View from, std::int64_t from_column, View to, std::int64_t to_column,
                    std::int64_t columns, bool add) override {
    real_->copy_columns(from, from_column, to, to_column, columns, add);
  }
  void zero_columns(View x, std::int64_t column, std::int64_t columns) override {
    real_->zero_columns(x, column, columns);
  }
  void binary_cross_entropy(View logits, View labels, double scale, View losses) override {
    real_->binary_cross_entropy(logits, labels, scale, losses);
  }

 private:
  std::unique_ptr<RecommenderKernels> real_;
  Kind kind_;
};

KernelSet dlrm_test_kernels(Dtype dtype) { return host_kernels(dtype); }

}  // namespace

TEST_CASE("the gradients of both click model architectures are correct") {
  CHECK(check_dlrm(little_dlrm(0), dlrm_test_kernels).worst < 1e-6);
  CHECK(check_dlrm(little_dlrm(2), dlrm_test_kernels).worst < 1e-6);
}

TEST_CASE("a wrong backward pass of a click model is found by finite differences") {
  using Kind = FaultyRecommender::Kind;
  for (const Kind kind :
       {Kind::half_of_dot, Kind::no_first_input_of_cross, Kind::relu_passes_all}) {
    const auto faulty = [kind](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      set.recommender = std::make_unique<FaultyRecommender>(std::move(set.recommender), kind);
      return set;
    };
    INFO(static_cast<int>(kind));
    const std::int64_t cross_layers = kind == Kind::no_first_input_of_cross ? 2 : 0;
    CHECK(check_dlrm(little_dlrm(cross_layers), faulty).worst > 1e-3);
  }
}

TEST_CASE("click models have the expected parameters and FLOPs") {
  const auto count = [](const char* preset) {
    return make_dlrm(dlrm_preset(preset), 1).graph->parameter_count();
  };
  CHECK(count("tiny") == 13 * 64 + 64 + 64 * 16 + 16 + (16 + 78) * 64 + 64 + 64 * 32 + 32 + 32 + 1);
  // MLPerf DLRM-DCNv2: bottom, three cross layers of 3456 x 512, top.
  const std::int64_t bottom = 14 * 512 + 513 * 256 + 257 * 128;
  const std::int64_t cross = 3 * (2 * 3456 * 512 + 3456);
  const std::int64_t top = 3457 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257;
  CHECK(count("standard") == bottom + cross + top);
  CHECK(dlrm_flops_per_sample(dlrm_preset("tiny")) ==
        6.0 * (13 * 64 + 64 * 16 + 94 * 64 + 64 * 32 + 32 + 78 * 16));
  CHECK(dlrm_flops_per_sample(dlrm_preset("standard")) == Approx(0.096e9).epsilon(0.02));
  CHECK_THROWS_WITH(dlrm_preset("huge"), Catch::Contains("huge"));
}

TEST_CASE("two and four ranks train dlrm like one up to rounding") {
  const auto train_on = [](int ranks) {
    std::vector<TrainingRun> runs(static_cast<std::size_t>(ranks));
    run_ranks(ranks, [&](Group& group) {
      TrainerOptions options = dlrm_training(20, 4096);
      options.recipe.batch = 512;
      options.recipe.micro_batch = 0;
      options.lanes = 1;
      runs[static_cast<std::size_t>(group.rank())] = train_dlrm(3, options, group).run;
    });
    for (const TrainingRun& run : runs) CHECK(run.curve.back().gap == runs[0].curve.back().gap);
    return runs[0];
  };
  const TrainingRun one = train_on(1);
  CHECK(one.steps.back().loss < one.steps.front().loss - 0.02);
  for (const int ranks : {2, 4}) {
    const TrainingRun many = train_on(ranks);
    INFO(ranks << " ranks");
    REQUIRE(many.steps.size() == one.steps.size());
    for (std::size_t step = 0; step < one.steps.size(); ++step)
      CHECK(many.steps[step].loss == Approx(one.steps[step].loss).epsilon(1e-5));
    CHECK(many.curve.back().native == Approx(one.curve.back().native).margin(1e-4));
    CHECK(many.curve.back().floor == one.curve.back().floor);
  }
}

TEST_CASE("a dlrm batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return make_dlrm_workload("tiny", seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 64) == sum(1, 0, 40) + sum(1, 40, 24));
  CHECK(sum(1, 0, 64) != sum(2, 0, 64));
  CHECK(sum(1, 0, 64) != sum(1, 64, 64));
}

}  // namespace bench::training
