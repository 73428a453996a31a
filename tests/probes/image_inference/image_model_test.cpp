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

void ask(ImageLane& lane, const ImageSample& sample) {
  const ImageSample* one = &sample;
  lane.answer(std::span(&one, 1));
}

/// With weights.
std::unique_ptr<ImageModel> model_of(const training::Workload& workload, std::int64_t steps,
                                     Dtype dtype = Dtype::f32, std::uint64_t seed = 5) {
  auto model = std::make_unique<ImageModel>(workload, steps, dtype);
  model->draw_weights(seed);
  return model;
}

TEST_CASE("answers in a batch are those of each sample alone, to the bit") {
  for (const char* name : {"image", "detect", "flow"}) {
    const auto workload = workload_of(name);
    const auto model = model_of(*workload, 3);
    const auto alone = make_image_lane(*model, 1, kernels);
    const auto batch = make_image_lane(*model, 3, kernels);
    const std::vector<ImageSample> samples{alone->read(0), alone->read(1), alone->read(2)};
    const std::vector<const ImageSample*> all{&samples[0], &samples[1], &samples[2]};
    batch->answer(all);
    for (std::int64_t i = 0; i < 3; ++i) {
      ask(*alone, samples[static_cast<std::size_t>(i)]);
      CHECK(batch->hash(i) == alone->hash(0));
    }
    CHECK(batch->hash(0) != batch->hash(1));
  }
}

TEST_CASE("one bit of what was computed changes the hash") {
  for (const char* name : {"image", "detect", "flow"}) {
    const auto workload = workload_of(name);
    const auto model = model_of(*workload, 2);
    const auto lane = make_image_lane(*model, 1, kernels);
    ask(*lane, lane->read(0));
    const std::uint64_t before = lane->hash(0);
    const training::View computed = lane->lane().view(lane->pass().result);
    auto* last = computed.as<std::uint32_t>() + computed.elements() - 1;
    *last ^= 1U;
    CHECK(lane->hash(0) != before);
    *last ^= 1U;
    CHECK(lane->hash(0) == before);
  }
}

TEST_CASE("an answer is what the workload's own evaluation computes before its loss") {
  const auto workload = workload_of("image");
  const auto model = model_of(*workload, 1);
  const auto lane = make_image_lane(*model, 1, kernels);
  ask(*lane, lane->read(0));
  training::Lane whole(lane->pass().plan, model->weights(), kernels);
  workload->read(training::Split::evaluation, 0, lane->pass().model, whole);
  whole.forward({});
  const training::View logits = whole.view(lane->pass().model.outputs[0]);
  const std::vector<double> answer = lane->output();
  REQUIRE(answer.size() == 10);
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(answer[i] == static_cast<double>(logits.as<float>()[i]));
}

TEST_CASE("weights go from a model in f32 to one in f64, which answers nearly the same") {
  for (const char* name : {"image", "detect", "flow"}) {
    const auto workload = workload_of(name);
    const auto narrow = model_of(*workload, 2), wide = model_of(*workload, 2, Dtype::f64, 6);
    const auto of_narrow = make_image_lane(*narrow, 1, kernels);
    const auto of_wide = make_image_lane(*wide, 1, kernels);
    const ImageSample sample = of_narrow->read(0);
    ask(*of_narrow, sample);
    const auto distance = [&] {
      ask(*of_wide, sample);
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
    wide->set_parameters(narrow->parameters());
    CHECK(distance() < 1e-5);
    CHECK(distance() > 0.0);
  }
}

TEST_CASE("samples of flow have the noise of the source") {
  const auto workload = workload_of("flow");
  const training::FlowSetting setting = training::flow_setting("tiny");
  const training::CaptionedImages source(setting.images(1));
  const auto model = model_of(*workload, 1);
  const auto lane = make_image_lane(*model, 1, kernels);
  training::FlowSample known(source.shape());
  for (std::uint64_t i = 0; i < 10; ++i) {
    known.read(source, training::Split::evaluation, i);
    const ImageSample sample = lane->read(i);
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
  const auto model = model_of(*workload, 1);
  const auto lane = make_image_lane(*model, 1, kernels);
  std::vector<ImageSample> samples;
  for (std::uint64_t i = 0; i < 100; ++i) samples.push_back(lane->read(i));
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

TEST_CASE("an image is the noise less the velocity, over all steps") {
  const auto workload = workload_of("flow");
  const auto model = model_of(*workload, 7);
  ModelParameters values = model->parameters();
  std::ranges::fill(values.at("head"), 0.0F);
  std::ranges::fill(values.at("head.bias"), 0.25F);
  model->set_parameters(values);
  const auto lane = make_image_lane(*model, 1, kernels);
  const ImageSample sample = lane->read(3);
  ask(*lane, sample);
  for (std::size_t i = 0; i < sample.image.size(); ++i)
    CHECK(lane->image(0)[i] == Approx(static_cast<double>(sample.image[i]) - 0.25));
}

}  // namespace
}  // namespace bench
