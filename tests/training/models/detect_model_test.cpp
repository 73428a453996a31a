// One-stage detectors against finite differences, faults that these find, and what a loss may
// depend on.
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_detection.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/detect.h"
#include "training/workloads/detect.h"

namespace bench::training {
namespace {

constexpr std::int64_t kDetectSamples = 2;

DetectShape little_detect(StageBlock block) {
  DetectShape shape;
  shape.side = 16;
  shape.channels = 2;
  shape.classes = 2;
  shape.stem = 4;
  shape.stem_kernel = 3;
  shape.block = block;
  shape.stages = {{1, 4, 4}, {2, 8, 4}};
  shape.groups = block == StageBlock::bottleneck ? 2 : 1;
  shape.pyramid_stages = 2;
  shape.more_levels = 1;
  shape.pyramid = 4;
  shape.head_layers = 1;
  shape.norm_groups = 2;
  shape.scales = {1.0, 1.5};
  shape.ratios = {1.0};
  return shape;
}

void fill_detect(const Detect& model, const Lane& lane) {
  const auto fill = [&](Var var, double phase) {
    const View view = lane.view(var);
    for (std::int64_t i = 0; i < view.elements(); ++i)
      view.as<double>()[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  };
  fill(model.images, 0.3);  // no ReLU near its corner
  fill(model.targets.boxes, 0.2);
  const View classes = lane.view(model.targets.classes), weights = lane.view(model.targets.weights);
  for (std::int64_t i = 0; i < classes.elements(); ++i)
    classes.as<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7 % 11 % 4) - 2;
  for (std::int64_t i = 0; i < weights.elements(); ++i)
    weights.as<double>()[i] = 0.1 * static_cast<double>(i + 1);
}

GradientError check_detect_gradients(StageBlock block, const KernelFactory& kernels,
                                     bool recompute = false) {
  const Detect model = make_detect(little_detect(block), kDetectSamples, Dtype::f64, recompute);
  return check_gradients(
      *model.graph, model.losses, [&](const Lane& lane) { fill_detect(model, lane); }, kernels);
}

KernelSet detect_kernels(Dtype dtype) { return host_kernels(dtype); }

}  // namespace

TEST_CASE("the gradient of a detector is correct for every kind of block, also recomputed") {
  for (const StageBlock block : {StageBlock::plain, StageBlock::residual, StageBlock::bottleneck}) {
    const GradientError error = check_detect_gradients(block, detect_kernels);
    INFO(static_cast<int>(block) << ": worst at " << error.parameter);
    CHECK(error.worst < 1e-6);
  }
  CHECK(check_detect_gradients(StageBlock::residual, detect_kernels, true).worst < 1e-6);
}

TEST_CASE("finite differences find faults of a detector") {
  const Fault faults[] = {{"patches without gradient", replace_convolution<LostPatches>},
                          {"constant statistics", replace_convolution<ConstantStatistics>},
                          {"a quarter of a pixel", replace_convolution<QuarterOfUpsampling>},
                          {"a steep loss", replace_detection<SteepLoss>}};
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const GradientError error = check_detect_gradients(StageBlock::plain, [&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      fault.inject(set);
      return set;
    });
    CHECK(error.worst > 1e-3);
  }
}

TEST_CASE("predictions depend on their own image alone, and not on labels") {
  const Detect model = make_detect(little_detect(StageBlock::plain), kDetectSamples, Dtype::f64);
  const Plan plan = make_plan(*model.graph, false);
  const Weights weights(plan, 5);
  Lane lane(plan, weights, detect_kernels);
  const auto predicted = [&](auto change) {
    fill_detect(model, lane);
    change();
    lane.forward({});
    const View made = lane.view(model.predictions);
    return std::vector<double>(made.as<double>(), made.as<double>() + made.elements());
  };
  const auto before = predicted([] {});
  CHECK(predicted([&] {
          lane.view(model.targets.classes).as<std::int32_t>()[0] = 1;
          lane.view(model.targets.boxes).as<double>()[0] += 1.0;
          lane.view(model.targets.weights).as<double>()[0] += 1.0;
        }) == before);
  const auto after = predicted([&] { lane.view(model.images).as<double>()[0] += 1.0; });
  const std::size_t half = before.size() / 2;
  CHECK(!std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(half),
                    after.begin()));
  CHECK(std::equal(before.begin() + static_cast<std::ptrdiff_t>(half), before.end(),
                   after.begin() + static_cast<std::ptrdiff_t>(half)));
}

TEST_CASE("the first probability of every class is one in a hundred") {
  const Detect model = make_detect(detect_preset("tiny"), 1);
  const Plan plan = make_plan(*model.graph, false);
  const Weights weights(plan, 1);
  Lane lane(plan, weights, detect_kernels);
  lane.forward({});
  const View made = lane.view(model.predictions);
  for (std::int64_t row = 0; row < made.rows; ++row)
    for (std::int64_t label = 0; label < 3; ++label)
      CHECK(made.as<float>()[row * 7 + label] == Approx(std::log(0.01 / 0.99)).margin(1.0));
}

// torchvision's retinanet_resnext50_32x4d_fpn, MLPerf's reference: 264 classes and 800 x 800 pixels
// give 120,087 anchors. Its backbone has 22.98 M parameters, the pyramid 3.87 M, the heads 10.28 M.
TEST_CASE("retinanet has the anchors of MLPerf's benchmark, and about its parameters") {
  const DetectShape shape = detect_preset("retinanet");
  const Detect model = make_detect(shape, 1);
  CHECK(model.predictions.shape().rows() == 120087);
  CHECK(make_anchors(shape.anchors()).size() == 120087);
  CHECK(static_cast<double>(model.graph->parameter_count()) == Approx(37.13e6).epsilon(0.002));
}

TEST_CASE("every preset of detect has a recipe, and anchors and scenes that fit its model") {
  for (const std::string& preset : detect_presets()) {
    INFO(preset);
    const DetectSetting setting = detect_setting(preset);
    const Recipe& recipe = setting.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.batch % recipe.device_micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.schedule.warmup <= recipe.horizon / 10);
    CHECK(recipe.evaluation_every * 20 <= recipe.horizon);
    CHECK(recipe.target > 0.0);
    const Detect model = make_detect(setting.shape, 1);
    CHECK(model.predictions.shape().rows() == std::ssize(make_anchors(setting.shape.anchors())));
    CHECK(DrawnScenes(setting.scenes(1)).shape().classes == setting.shape.classes);
  }
  CHECK(detect_flops_per_sample(detect_preset("tiny")) ==
        3.0 * make_detect(detect_preset("tiny"), 2).graph->forward_flops() / 2.0);
  CHECK_THROWS_WITH(detect_preset("huge"), Catch::Contains("huge"));
}

}  // namespace bench::training
