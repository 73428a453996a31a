// Models that answer about images: the same answers in a batch and alone, the noise of samples, and
// the distance of images from a known distribution.
#include "probes/image_inference/image_model.h"

#include <cmath>

#include "probes/image_inference/caption_quality.h"
#include "tests/support/catch.h"
#include "training/host/host_kernels.h"
#include "training/workloads/flow_evaluation.h"

namespace bench {
namespace {

training::KernelSet kernels(Dtype dtype) { return training::host_kernels(dtype); }

std::unique_ptr<training::Workload> workload_of(const char* name) {
  return training::make_workload(name, "tiny", 1);
}

std::vector<double> answer_of(ImageLane& lane, const ImageSample& sample) {
  const ImageSample* one = &sample;
  lane.answer(std::span(&one, 1));
  return lane.numbers(0);
}

TEST_CASE("answers in a batch are those of each sample alone") {
  for (const char* name : {"image", "detect", "flow"}) {
    const auto workload = workload_of(name);
    ImageModel model(*workload, 3, Dtype::f32, 5);
    const auto samples = read_image_samples(*workload, 3, kernels);
    const auto alone = make_image_lane(model, 1, kernels),
               batch = make_image_lane(model, 3, kernels);
    const std::vector<const ImageSample*> all{&samples[0], &samples[1], &samples[2]};
    batch->answer(all);
    for (std::int64_t i = 0; i < 3; ++i)
      CHECK(batch->numbers(i) == answer_of(*alone, samples[static_cast<std::size_t>(i)]));
    CHECK(batch->numbers(0) != batch->numbers(1));
  }
}

TEST_CASE("an answer is what the model computes before its loss, whatever the targets") {
  const auto workload = workload_of("image");
  ImageModel model(*workload, 1, Dtype::f32, 5);
  const auto lane = make_image_lane(model, 1, kernels);
  const auto samples = read_image_samples(*workload, 1, kernels);
  const std::vector<double> answer = answer_of(*lane, samples[0]);
  // The workload's own evaluation: its lane reads the sample, and runs to the loss.
  training::Lane whole(lane->pass().plan, model.weights(), kernels);
  workload->read(training::Split::evaluation, 0, lane->pass().model, whole);
  whole.forward({});
  const training::View logits = whole.view(lane->pass().model.outputs[0]);
  REQUIRE(logits.elements() == 10);
  for (std::int64_t i = 0; i < 10; ++i)
    CHECK(answer[static_cast<std::size_t>(i)] == static_cast<double>(logits.as<float>()[i]));
  CHECK(answer.size() == 11);  // and the class
}

TEST_CASE("weights go from a model in f32 to one in f64, which answers nearly the same") {
  for (const char* name : {"image", "detect", "flow"}) {
    const auto workload = workload_of(name);
    ImageModel narrow(*workload, 2, Dtype::f32, 5), wide(*workload, 2, Dtype::f64, 6);
    const auto samples = read_image_samples(*workload, 1, kernels);
    const auto of_narrow = make_image_lane(narrow, 1, kernels);
    const auto of_wide = make_image_lane(wide, 1, kernels);
    answer_of(*of_narrow, samples[0]);
    const auto distance = [&] {
      answer_of(*of_wide, samples[0]);
      const std::vector<double> a = of_narrow->output(), b = of_wide->output();
      REQUIRE(a.size() == b.size());
      double off = 0.0, size = 0.0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        off += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
      }
      return std::sqrt(off / size);
    };
    CHECK(distance() > 0.01);  // of another seed
    wide.set_parameters(narrow.parameters());
    CHECK(distance() < 1e-5);
    CHECK(distance() > 0.0);
  }
}

TEST_CASE("samples of flow have the noise of the source") {
  const auto workload = workload_of("flow");
  const training::FlowSetting setting = training::flow_setting("tiny");
  const training::CaptionedImages source(setting.images(1));
  const auto samples = read_image_samples(*workload, 10, kernels);
  training::FlowSample known(source.shape());
  for (std::uint64_t i = 0; i < 10; ++i) {
    known.read(source, training::Split::evaluation, i);
    const ImageSample& sample = samples[i];
    CHECK(std::ranges::equal(sample.words, known.words()));
    // The first patch is two pixels of two rows, of four channels each.
    REQUIRE(sample.image.size() == 256);
    for (std::size_t k = 0; k < 8; ++k)
      CHECK(sample.image[k] == Approx(known.noise()[k]).margin(1e-5));
    for (std::size_t k = 0; k < 8; ++k)
      CHECK(sample.image[8 + k] == Approx(known.noise()[32 + k]).margin(1e-5));
  }
}

/// As rows of patches of 2 x 2 pixels of 4 channels, of 8 x 8 pixels.
std::vector<double> in_patches(std::span<const float> image) {
  std::vector<double> rows;
  for (std::size_t top = 0; top < 8; top += 2)
    for (std::size_t left = 0; left < 8; left += 2)
      for (std::size_t y = top; y < top + 2; ++y)
        for (std::size_t k = 0; k < 8; ++k) rows.push_back(image[(y * 8 + left) * 4 + k]);
  return rows;
}

TEST_CASE("images of the known distribution have a distance of 1, others not") {
  const training::FlowSetting setting = training::flow_setting("tiny");
  const training::CaptionedImages source(setting.images(1));
  const CaptionQuality quality(setting);
  training::FlowSample sample(source.shape()), other(source.shape());
  double own = 0.0, wrong = 0.0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    sample.read(source, training::Split::evaluation, i);
    other.read(source, training::Split::evaluation, i + 1000);
    own += quality.distance(sample.words(), in_patches(sample.image()));
    wrong += quality.distance(other.words(), in_patches(sample.image()));
  }
  CHECK(own / 200.0 == Approx(1.0).margin(0.02));  // standard error sqrt(2 / 256 / 200) = 0.006
  CHECK(wrong / 200.0 > 2.0);
  const std::vector<double> zeros(256), ones(256, 0.4);  // the law's deviation
  CHECK(quality.between(zeros, ones) == Approx(1.0));
}

TEST_CASE("the best velocity makes images of the known distribution, with more steps better ones") {
  const auto workload = workload_of("flow");
  const CaptionQuality quality(training::flow_setting("tiny"));
  const auto samples = read_image_samples(*workload, 100, kernels);
  const auto distance = [&](std::int64_t steps) {
    double sum = 0.0;
    for (const ImageSample& sample : samples)
      sum += quality.distance(sample.words, quality.best_image(sample, steps));
    return sum / 100.0;
  };
  const double few = distance(5), more = distance(20), many = distance(400);
  CHECK(few < 0.7);
  CHECK(more > few + 0.1);
  CHECK(many == Approx(1.0).margin(0.05));
}

}  // namespace
}  // namespace bench
