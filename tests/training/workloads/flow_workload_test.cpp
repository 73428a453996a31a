#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/fresh_lane.h"
#include "tests/training/study.h"
#include "training/host/host_kernels.h"
#include "training/kernels/functors/portable.h"
#include "training/workloads/flow.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// Over evaluation images, what the mean squared error of a velocity exceeds that of the best one
/// by, averaged over times.
template <class Velocity>
double gap_of_velocity(const CaptionedImages& source, std::uint64_t count,
                       const Velocity& velocity) {
  double gap = 0.0;
  std::vector<std::int32_t> words(3);
  std::vector<float> image(256), noise(256), x_t(256);
  std::vector<double> best(256), other(256);
  for (std::uint64_t index = 0; index < count; ++index) {
    ImageSample sample{words, image, noise};
    source.read(Split::evaluation, index, sample);
    const auto t = static_cast<float>(sample.time);
    for (std::size_t i = 0; i < 256; ++i) x_t[i] = (1.0f - t) * image[i] + t * noise[i];
    source.best_velocity(words, x_t, sample.time, best);
    velocity(words, x_t, sample.time, other);
    for (std::size_t i = 0; i < 256; ++i) {
      const double wanted = noise[i] - image[i];
      gap += (other[i] - wanted) * (other[i] - wanted) - (best[i] - wanted) * (best[i] - wanted);
    }
  }
  return gap / static_cast<double>(count) / 256.0;
}

Quality fresh_quality(std::uint64_t count) {
  FreshLane flow(make_flow_workload("tiny", 1), 4);
  const auto evaluation = flow.workload->evaluation(flow.model);
  for (std::uint64_t first = 0; first < count; first += 4) {
    flow.workload->read(Split::evaluation, first, flow.model, flow.lane);
    flow.lane.forward({});
    evaluation->add(flow.lane, first,
                    std::min<std::int64_t>(4, static_cast<std::int64_t>(count - first)));
  }
  const auto group = make_self_group();
  return evaluation->finish(*group);
}

}  // namespace

TEST_CASE("an untrained model predicts no velocity, and each time has its loss and floor") {
  const Quality quality = fresh_quality(62);  // two times have a sample less
  const FlowSetting setting = flow_setting("tiny");
  const CaptionedImages source(setting.images(1));
  double native = 0.0, floor = 0.0;
  for (std::uint64_t time = 0; time < 8; ++time) {
    double loss = 0.0, best = 0.0, count = 0.0;
    for (std::uint64_t index = time; index < 62; index += 8) {
      std::vector<std::int32_t> words(3);
      std::vector<float> image(256), noise(256), x_t(256);
      ImageSample sample{words, image, noise};
      source.read(Split::evaluation, index, sample);
      const auto t = static_cast<float>(sample.time);
      std::vector<double> velocity(256);
      for (std::size_t i = 0; i < 256; ++i) x_t[i] = (1.0f - t) * image[i] + t * noise[i];
      source.best_velocity(words, x_t, sample.time, velocity);
      for (std::size_t i = 0; i < 256; ++i) {
        const double wanted = noise[i] - image[i];
        loss += wanted * wanted / 256.0;
        best += (wanted - velocity[i]) * (wanted - velocity[i]) / 256.0;
      }
      count += 1.0;
    }
    const std::string name = "_t" + std::to_string(time) + "_8";
    CHECK(part_of(quality, "loss" + name) == Approx(loss / count).epsilon(1e-5));
    CHECK(part_of(quality, "gap" + name) == Approx((loss - best) / count).epsilon(1e-4));
    native += loss / count / 8.0;
    floor += best / count / 8.0;
  }
  CHECK(quality.native == Approx(native).epsilon(1e-5));
  CHECK(quality.floor == Approx(floor).epsilon(1e-5));
  CHECK(quality.gap == Approx(native - floor).epsilon(1e-5));
}

TEST_CASE("a model sees the noisy image in patches, and its target is noise minus image") {
  FreshLane flow(make_flow_workload("tiny", 1), 2);
  flow.workload->read(Split::evaluation, 4, flow.model, flow.lane);  // times 4/8 and 5/8
  const CaptionedImages source(flow_setting("tiny").images(1));
  std::vector<std::int32_t> words(3);
  std::vector<float> image(256), noise(256);
  ImageSample sample{words, image, noise};
  source.read(Split::evaluation, 5, sample);
  const View patches = flow.lane.view(flow.model.inputs[1]);
  const View targets = flow.lane.view(flow.model.inputs[3]);
  // Row 5, column 2, channel 3: patch (2, 1) of the second image, its second row and first column.
  const std::size_t at = (5 * 8 + 2) * 4 + 3;
  const std::int64_t row = 16 + 2 * 4 + 1, column = (1 * 2 + 0) * 4 + 3;
  CHECK(targets.as<float>()[row * 16 + column] == noise[at] - image[at]);
  CHECK(patches.as<float>()[row * 16 + column] == Approx(0.375f * image[at] + 0.625f * noise[at]));
  CHECK(flow.lane.view(flow.model.inputs[0]).as<std::int32_t>()[5] == words[2]);
}

TEST_CASE("inputs in bf16 are the rounded ones of f32") {
  FreshLane wide(make_flow_workload("tiny", 1), 1);
  FreshLane narrow(make_flow_workload("tiny", 1), 1, Dtype::bf16);
  wide.workload->read(Split::train, 3, wide.model, wide.lane);
  narrow.workload->read(Split::train, 3, narrow.model, narrow.lane);
  for (const std::size_t input : {1, 2, 3}) {
    const View a = wide.lane.view(wide.model.inputs[input]);
    const View b = narrow.lane.view(narrow.model.inputs[input]);
    for (std::int64_t i = 0; i < a.elements(); ++i)
      CHECK(static_cast<float>(b.as<Bf16>()[i]) == Approx(a.as<float>()[i]).epsilon(0.005));
  }
}

TEST_CASE("a flow batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return make_flow_workload("tiny", seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 8) == sum(1, 0, 5) + sum(1, 5, 3));
  CHECK(sum(1, 0, 8) != sum(2, 0, 8));
}

TEST_CASE("flow repeats samples if asked, and refuses files and sequences") {
  const auto few = make_flow_workload("tiny", 1, {.samples = 64});
  CHECK(few->repeats());
  CHECK(few->recipe().target_source.empty());
  DataChoice files;
  files.train = {"images.bin"};
  CHECK_THROWS_WITH(make_workload("flow", "tiny", 1, 0, files), Contains("generated images only"));
  CHECK_THROWS_WITH(make_workload("flow", "tiny", 1, 8), Contains("flow has no sequences"));
  CHECK_THROWS_WITH(make_workload("flow", "huge", 1), Contains("flow has no preset 'huge'"));
}

// By hand with JUDGED=512, all evaluation images.
TEST_CASE("the baselines of flow tiny are gaps of laws that know less") {
  const ImageLaw law = flow_setting("tiny").images(1);
  const CaptionedImages source(law);
  const auto count = static_cast<std::uint64_t>(asked_count("JUDGED", 32));
  std::vector<double> all;  // the means of every caption and style
  for (std::int32_t colour = 0; colour < law.colours; ++colour)
    for (std::int32_t shape = 0; shape < law.shapes; ++shape)
      for (std::int32_t place = 0; place < law.places * law.places; ++place) {
        const std::int32_t words[] = {colour, law.colours + shape,
                                      law.colours + law.shapes + place};
        const std::vector<double> described = source.described_by(words);
        for (std::size_t i = 0; i < source.textures().size(); ++i)
          all.push_back(described[i % described.size()] + source.textures()[i]);
      }
  const double captionless = gap_of_velocity(
      source, count, [&](std::span<const std::int32_t>, auto x_t, double time, auto& velocity) {
        velocity_of_mixture(all, law.sigma, x_t, time, velocity);
      });
  const double styleless = gap_of_velocity(
      source, count,
      [&](std::span<const std::int32_t> words, auto x_t, double time, auto& velocity) {
        std::vector<double> mean = source.described_by(words);
        for (std::size_t i = 0; i < source.textures().size(); ++i)
          mean[i % mean.size()] += source.textures()[i] / law.styles;
        velocity_of_mixture(mean, std::hypot(law.sigma, law.texture), x_t, time, velocity);
      });
  const auto baselines = make_flow_workload("tiny", 1)->baselines();
  REQUIRE(baselines.size() == 2);
  INFO("without the caption " << captionless << ", without styles " << styleless);
  CHECK(baselines[0].second == Approx(captionless).epsilon(count < 512 ? 0.25 : 1e-3));
  CHECK(baselines[1].second == Approx(styleless).epsilon(count < 512 ? 0.25 : 1e-3));
}

}  // namespace bench::training
