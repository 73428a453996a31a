// Image classifiers against finite differences, faults that these find, what a prediction may
// depend on, and the sizes of published models.
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_classifier.h"
#include "tests/training/faulty_detection.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/image.h"
#include "training/workloads/image.h"

namespace bench::training {
namespace {

constexpr std::int64_t kClassified = 2;  // samples

ClassifierShape little_residual(bool bottleneck) {
  ResidualNetwork network;
  network.stem = 4;
  network.stem_kernel = 3;
  network.stem_stride = 2;
  network.pool = true;
  network.bottleneck = bottleneck;
  network.stages = {{1, 4}, {2, bottleneck ? 4 : 8}};
  network.norm_groups = 2;
  return {16, 5, 0.1, network};
}

ClassifierShape little_transformer() { return {8, 5, 0.1, VisionTransformer{2, 8, 2, 12, 4}}; }

void fill_pictures(const Classifier& model, const Lane& lane) {
  const View images = lane.view(model.images), targets = lane.view(model.targets);
  for (std::int64_t i = 0; i < images.elements(); ++i)
    images.as<double>()[i] = std::sin(1.7 * static_cast<double>(i) + 0.3);
  for (std::int64_t i = 0; i < targets.rows; ++i)
    targets.as<std::int32_t>()[i] = static_cast<std::int32_t>(i * 3 % 5);
}

KernelSet classifier_kernels(Dtype dtype) { return host_kernels(dtype); }

GradientError check_classifier(const ClassifierShape& shape,
                               const KernelFactory& kernels = classifier_kernels,
                               bool recompute = false) {
  const Classifier model = make_classifier(shape, kClassified, Dtype::f64, recompute);
  return check_gradients(
      *model.graph, model.losses, [&](const Lane& lane) { fill_pictures(model, lane); }, kernels);
}

}  // namespace

TEST_CASE("the gradient of residual networks and vision transformers is correct") {
  for (const ClassifierShape& shape :
       {little_residual(false), little_residual(true), little_transformer()})
    for (const bool recompute : {false, true}) {
      const GradientError error = check_classifier(shape, classifier_kernels, recompute);
      INFO(shape.network.index() << ": worst at " << error.parameter);
      CHECK(error.worst < 1e-6);
    }
}

TEST_CASE("finite differences find faults of a classifier") {
  const Fault faults[] = {{"patches without gradient", replace_convolution<LostPatches>},
                          {"constant statistics", replace_convolution<ConstantStatistics>},
                          {"a window's first pixel", replace_classifier<FirstOfWindow>},
                          {"sums instead of means", replace_classifier<SummedRows>},
                          {"an open ReLU", replace_classifier<OpenRelu>},
                          {"sharp labels", replace_classifier<SlopeOfSharpLabels>}};
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const GradientError error = check_classifier(little_residual(false), [&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      fault.inject(set);
      return set;
    });
    CHECK(error.worst > 1e-3);
  }
}

TEST_CASE("logits depend on their own picture alone, and not on labels") {
  for (const ClassifierShape& shape : {little_residual(true), little_transformer()}) {
    const Classifier model = make_classifier(shape, kClassified, Dtype::f64);
    const Plan plan = make_plan(*model.graph, false);
    const Weights weights(plan, 5);
    Lane lane(plan, weights, classifier_kernels);
    const auto answered = [&](auto change) {
      fill_pictures(model, lane);
      change();
      lane.forward({});
      const View made = lane.view(model.logits);
      return std::vector<double>(made.as<double>(), made.as<double>() + made.elements());
    };
    const auto before = answered([] {});
    CHECK(answered([&] { lane.view(model.targets).as<std::int32_t>()[0] = 4; }) == before);
    const auto after = answered([&] { lane.view(model.images).as<double>()[40] += 1.0; });
    CHECK_FALSE(std::equal(before.begin(), before.begin() + 5, after.begin()));
    CHECK(std::equal(before.begin() + 5, before.end(), after.begin() + 5));
  }
}

// torchvision's resnet50, resnet18 and vit_b_16 have 25,557,032, 11,689,512 and 86,567,656
// parameters, and 4.09 G, 1.82 G and 17.56 G multiplications for an image of 224 x 224. Ours of 100
// classes has a smaller head, and the transformer neither a token nor a position for the class.
TEST_CASE("classifiers have the parameters and multiplications of the published ones") {
  const auto parameters = [](const std::string& preset) {
    return make_classifier(image_preset(preset), 1).graph->parameter_count();
  };
  const auto multiplications = [](const ClassifierShape& shape) {
    return image_flops_per_sample(shape) / 6.0;
  };
  CHECK(parameters("resnet50") == 25'557'032);
  CHECK(parameters("small") == 11'689'512 - 900 * 513);
  CHECK(parameters("vit_b16") == 86'567'656 - 2 * 768);
  CHECK(multiplications(image_preset("resnet50")) == 4'089'184'256.0);
  ClassifierShape resnet18 = image_preset("small");
  resnet18.side = 224;
  resnet18.classes = 1000;
  CHECK(multiplications(resnet18) == Approx(1.814e9).epsilon(0.001));
  CHECK(multiplications(image_preset("vit_b16")) == Approx(17.56e9).epsilon(0.006));
}

TEST_CASE("every preset of image has a recipe, and pictures that fit its model") {
  for (const std::string& preset : image_presets()) {
    INFO(preset);
    const ImageSetting setting = image_setting(preset);
    const Recipe& recipe = setting.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.batch % recipe.device_micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.schedule.warmup <= recipe.horizon / 10);
    CHECK(recipe.evaluation_every * 20 <= recipe.horizon);
    CHECK(recipe.target > 0.0);
    const PictureLaw law = setting.pictures(1);
    CHECK(DrawnPictures(law).classes() == setting.shape.classes);
    // The evaluation's crop is as large as the model's pictures, or a little larger.
    CHECK(law.side * law.inner >= static_cast<double>(setting.shape.side));
    CHECK(law.side * law.inner <= 1.1 * static_cast<double>(setting.shape.side));
  }
  CHECK_THROWS_WITH(image_preset("huge"), Catch::Contains("huge"));
}

}  // namespace bench::training
