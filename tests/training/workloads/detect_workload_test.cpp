#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/fresh_lane.h"
#include "training/detection/suppression.h"
#include "training/host/host_kernels.h"
#include "training/kernels/functors/portable.h"
#include "training/workloads/detect.h"
#include "training/workloads/detect_evaluation.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// What such answers to tiny's evaluation scenes lack of the true boxes' precision.
template <class Answer>
double gap_of_answers(const Answer& answer) {
  const DetectSetting setting = detect_setting("tiny");
  const DrawnScenes source(setting.scenes(1));
  const auto count = static_cast<std::uint64_t>(setting.recipe.evaluation_samples);
  std::vector<JudgedImage> images;
  Scene scene;
  for (std::uint64_t index = 0; index < count; ++index) {
    source.read(Split::evaluation, index, scene);
    images.push_back({scene.truths, {}});
    for (std::size_t k = 0; k < scene.boxes.size(); ++k)
      if (!scene.truths[k].ignored)
        answer(scene.boxes[k], scene.truths[k].label, images.back().detections);
  }
  return KnownScenes().best(source, count).all - mean_precision(images, 3).all;
}

}  // namespace

TEST_CASE("the baselines of detect tiny are gaps of answers that know less") {
  const std::vector<Box> anchors = make_anchors(detect_setting("tiny").shape.anchors());
  const auto by_overlap = [](const Box& box) {
    return [&box](const Box& anchor) { return overlap(anchor, box); };
  };
  const double unrefined =
      gap_of_answers([&](const Box& box, int label, std::vector<Detection>& found) {
        found.push_back({*std::ranges::max_element(anchors, {}, by_overlap(box)), label, 1.0});
      });
  const double unknown = gap_of_answers([](const Box& box, int, std::vector<Detection>& found) {
    for (int label = 0; label < 3; ++label) found.push_back({box, label, 1.0});
  });
  const double perfect =
      gap_of_answers([](const Box& box, int label, std::vector<Detection>& found) {
        found.push_back({box, label, 0.3});
      });
  CHECK(perfect == 0.0);
  const auto baselines = make_detect_workload("tiny", 1)->baselines();
  REQUIRE(baselines.size() == 2);
  INFO("unrefined anchors " << unrefined << ", unknown class " << unknown);
  CHECK(baselines[0].second == Approx(unrefined).epsilon(1e-4));
  CHECK(baselines[1].second == Approx(unknown).epsilon(1e-4));
}

TEST_CASE("a detector sees the scene, and its targets are those of the labels") {
  FreshLane detect(make_detect_workload("tiny", 1), 2);
  detect.workload->read(Split::evaluation, 4, detect.model, detect.lane);
  const DetectSetting setting = detect_setting("tiny");
  Scene scene;
  DrawnScenes(setting.scenes(1)).read(Split::evaluation, 5, scene);
  const std::vector<Box> anchors = make_anchors(setting.shape.anchors());
  const MatchedAnchors matched = match_anchors(anchors, scene.truths);
  const auto count = static_cast<std::int64_t>(anchors.size());
  const auto input = [&](std::size_t i) { return detect.lane.view(detect.model.inputs[i]); };
  CHECK(input(0).as<float>()[64 * 64 * 3 + 100] == scene.image[100]);
  CHECK(input(3).as<float>()[1] == Approx(1.0 / static_cast<double>(matched.positives)));
  int positives = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int32_t wanted = input(1).as<std::int32_t>()[count + i];
    CHECK(wanted == matched.classes[at]);
    if (wanted < 0) continue;
    ++positives;
    const float* numbers = input(2).as<float>() + (count + i) * 4;
    CHECK(numbers[2] == Approx(matched.boxes[at][2]).margin(1e-6));
  }
  CHECK(positives == matched.positives);
}

TEST_CASE("predictions above the least score become boxes, the best of each object") {
  const std::vector<Box> anchors{{0, 0, 10, 10}, {2, 0, 12, 10}, {30, 30, 50, 50}};
  std::vector<float> numbers{2.0F,  -9.0F, 0.0F, 0.0F, 0.0F, 0.0F,  //
                             1.0F,  -9.0F, 0.0F, 0.0F, 0.0F, 0.0F,  //
                             -9.0F, -2.0F, 0.5F, 0.0F, 0.0F, 0.0F};
  const View predictions{numbers.data(), 3, 6, Dtype::f32};
  const std::vector<Detection> found = read_detections(predictions, 0, anchors);
  REQUIRE(found.size() == 2);
  CHECK(found[0].score == Approx(1.0 / (1.0 + std::exp(-2.0))));
  CHECK(found[0].box.right == Approx(10.0));
  CHECK(found[1].label == 1);
  CHECK(found[1].box.left == Approx(40.0));
  numbers[13] = -3.0F;  // 0.047
  CHECK(read_detections(predictions, 0, anchors).size() == 1);
}

TEST_CASE("an untrained detector finds nothing, and its floor is that of the true boxes") {
  FreshLane detect(make_detect_workload("tiny", 1), 4);
  const auto evaluation = detect.workload->evaluation(detect.model);
  for (std::uint64_t first = 0; first < 30; first += 4) {
    detect.workload->read(Split::evaluation, first, detect.model, detect.lane);
    detect.lane.forward({});
    evaluation->add(detect.lane, first, first == 28 ? 2 : 4);
  }
  const auto group = make_self_group();
  const Quality quality = evaluation->finish(*group);
  std::vector<JudgedImage> best;
  for (std::uint64_t index = 0; index < 30; ++index) {
    Scene scene;
    DrawnScenes(detect_setting("tiny").scenes(1)).read(Split::evaluation, index, scene);
    best.push_back({scene.truths, {}});
    for (std::size_t k = 0; k < scene.boxes.size(); ++k)
      if (!scene.truths[k].ignored)
        best.back().detections.push_back({scene.boxes[k], scene.truths[k].label, 0.5});
  }
  CHECK(quality.floor == Approx(mean_precision(best, 3).all));
  CHECK(quality.floor > 0.5);
  CHECK(quality.native < 0.05);
  CHECK(quality.gap == Approx(quality.floor - quality.native));
}

TEST_CASE("images in bf16 are the rounded ones of f32, labels stay") {
  FreshLane wide(make_detect_workload("tiny", 1), 1);
  FreshLane narrow(make_detect_workload("tiny", 1), 1, Dtype::bf16);
  wide.workload->read(Split::train, 3, wide.model, wide.lane);
  narrow.workload->read(Split::train, 3, narrow.model, narrow.lane);
  const View a = wide.lane.view(wide.model.inputs[0]), b = narrow.lane.view(narrow.model.inputs[0]);
  for (std::int64_t i = 0; i < a.elements(); i += 7)
    CHECK(static_cast<float>(b.as<Bf16>()[i]) == Approx(a.as<float>()[i]).epsilon(0.005));
  const View c = wide.lane.view(wide.model.inputs[2]), d = narrow.lane.view(narrow.model.inputs[2]);
  REQUIRE(d.dtype == Dtype::f32);
  for (std::int64_t i = 0; i < c.elements(); ++i) CHECK(c.as<float>()[i] == d.as<float>()[i]);
  narrow.lane.forward({});  // its kernels exist
  CHECK(std::isfinite(narrow.lane.view(narrow.model.losses).as<double>()[0]));
}

TEST_CASE("a detect batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return make_detect_workload("tiny", seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 8) == sum(1, 0, 5) + sum(1, 5, 3));
  CHECK(sum(1, 0, 8) != sum(2, 0, 8));
}

TEST_CASE("detect repeats samples if asked, and refuses files and sequences") {
  const auto few = make_detect_workload("tiny", 1, {.samples = 64});
  CHECK(few->repeats());
  CHECK(few->recipe().target_source.empty());
  DataChoice files;
  files.train = {"scenes.bin"};
  CHECK_THROWS_WITH(make_workload("detect", "tiny", 1, 0, files),
                    Contains("generated scenes only"));
  CHECK_THROWS_WITH(make_workload("detect", "tiny", 1, 8), Contains("detect has no sequences"));
  CHECK_THROWS_WITH(make_workload("detect", "huge", 1), Contains("detect has no preset 'huge'"));
}

}  // namespace bench::training
