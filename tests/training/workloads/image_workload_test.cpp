// Inputs of a classifier, its quality against the true classes, and the choice of its data.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/fresh_lane.h"
#include "training/kernels/functors/portable.h"
#include "training/pictures/resample.h"
#include "training/workloads/image.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// Of every picture one colour, of every second one the label 3.
class PlainPictures final : public PictureSource {
 public:
  explicit PlainPictures(bool known, int classes = 10) : known_(known), classes_(classes) {}
  int classes() const override { return classes_; }
  std::optional<std::uint64_t> size(Split split) const override {
    return split == Split::train ? 100 : 30;
  }
  bool has_oracle() const override { return known_; }
  PictureLabels labels(Split, std::uint64_t index) const override {
    return {index % 2 == 0 ? 3 : 5, known_ ? std::optional<int>(3) : std::nullopt};
  }
  void read(Split, std::uint64_t, const PlaceOfCrop& place, PictureBuffer& part) const override {
    part.resize(place({40, 30}));
    std::ranges::fill(part.pixels, std::uint8_t{128});
  }

 private:
  bool known_;
  int classes_;
};

DataChoice plain_files(bool known, int classes = 10) {
  DataChoice choice;
  choice.train = {"train.tar"};
  choice.evaluation = {"val.tar"};
  choice.open_pictures = [known, classes](const DataChoice&) {
    return std::make_unique<PlainPictures>(known, classes);
  };
  return choice;
}

Quality quality_of(FreshLane& image, std::uint64_t count) {
  const auto evaluation = image.workload->evaluation(image.model);
  for (std::uint64_t first = 0; first < count; first += 4) {
    image.workload->read(Split::evaluation, first, image.model, image.lane);
    image.lane.forward({});
    evaluation->add(image.lane, first,
                    static_cast<std::int64_t>(std::min<std::uint64_t>(4, count - first)));
  }
  const auto group = make_self_group();
  return evaluation->finish(*group);
}

}  // namespace

TEST_CASE("inputs of a classifier are crops of its pictures, resized, in ImageNet's units") {
  FreshLane image(make_image_workload("tiny", 1), 2);
  image.workload->read(Split::evaluation, 4, image.model, image.lane);
  const ImageSetting setting = image_setting("tiny");
  const DrawnPictures source(setting.pictures(1));
  const auto side = static_cast<int>(setting.shape.side);
  Resampler resampler(side);
  PictureBuffer part;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(4 * side * side));
  const auto place = [&](ImageSize size) { return centre_crop(size, setting.law.inner).region; };
  source.read(Split::evaluation, 5, place, part);
  resampler.resize(part.picture(), false, pixels);
  const View made = image.lane.view(image.model.inputs[0]);
  const auto of = [&](int y, int x, int colour) {
    return made.as<float>()[((side + y) * side + x) * 3 + colour];
  };
  const double green = pixels[static_cast<std::size_t>(4 * (3 * side + 7) + 1)] / 255.0;
  CHECK(of(3, 7, 1) == Approx((green - 0.456) / 0.224));
  CHECK(image.lane.view(image.model.inputs[1]).as<std::int32_t>()[1] ==
        source.labels(Split::evaluation, 5).label);
}

TEST_CASE("training pictures are cropped and mirrored at random, another way in each epoch") {
  FreshLane image(make_image_workload("tiny", 1, {.samples = 1}), 8);
  image.workload->read(Split::train, 0, image.model, image.lane);
  const View made = image.lane.view(image.model.inputs[0]);
  const std::int64_t of_image = made.elements() / 8;
  const float* values = made.as<float>();
  for (std::int64_t i = 1; i < 8; ++i)  // all of one picture
    CHECK_FALSE(std::equal(values, values + of_image, values + i * of_image));
  const View labels = image.lane.view(image.model.inputs[1]);
  for (std::int64_t i = 1; i < 8; ++i)
    CHECK(labels.as<std::int32_t>()[i] == labels.as<std::int32_t>()[0]);
}

TEST_CASE("the floor of a classifier is the accuracy of the true classes on the same labels") {
  FreshLane image(make_image_workload("tiny", 1), 4);
  const Quality quality = quality_of(image, 200);
  const DrawnPictures source(image_setting("tiny").pictures(1));
  double right = 0.0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const PictureLabels of = source.labels(Split::evaluation, index);
    if (of.label == of.truth) right += 1.0 / 200;
  }
  CHECK(quality.floor == Approx(right));
  CHECK(quality.floor == Approx(source.law().best_accuracy()).margin(0.08));
  CHECK(quality.native < 0.35);
  CHECK(quality.gap == Approx(quality.floor - quality.native));
  CHECK(part_of(quality, "loss") == Approx(std::log(10.0)).margin(1.0));
  CHECK(part_of(quality, "top_5") >= quality.native);
  CHECK(part_of(quality, "true_class") < 0.35);
}

// Right about everything except one part, which it guesses: 1 of 5 textures, or of 2 outlines.
TEST_CASE("baselines are what a classifier lacks that tells one part of a class") {
  const auto workload = make_image_workload("tiny", 1);
  const ImageSetting setting = image_setting("tiny");
  const DrawnPictures source(setting.pictures(1));
  for (const auto& [name, gap] : workload->baselines()) {
    const int outlines = setting.law.outlines;
    double lacks = 0.0;
    constexpr int kPictures = 20'000;
    for (std::uint64_t index = 0; index < kPictures; ++index) {
      const PictureLabels of = source.labels(Split::evaluation, index);
      const int guess = static_cast<int>(index % 5);
      const int answer = name == "outline alone"
                             ? *of.truth % outlines + outlines * guess
                             : *of.truth / outlines * outlines + guess % outlines;
      lacks += ((of.label == of.truth ? 1.0 : 0.0) - (of.label == answer ? 1.0 : 0.0)) / kPictures;
    }
    INFO(name);
    CHECK(gap == Approx(lacks).margin(0.015));
  }
  CHECK(workload->baselines().size() == 2);
}

TEST_CASE("pictures in bf16 are the rounded ones of f32, and both kinds of models answer") {
  for (const char* preset : {"tiny", "tiny_vit"}) {
    FreshLane wide(make_image_workload(preset, 1), 1);
    FreshLane narrow(make_image_workload(preset, 1), 1, Dtype::bf16);
    wide.workload->read(Split::train, 3, wide.model, wide.lane);
    narrow.workload->read(Split::train, 3, narrow.model, narrow.lane);
    const View a = wide.lane.view(wide.model.inputs[0]),
               b = narrow.lane.view(narrow.model.inputs[0]);
    for (std::int64_t i = 0; i < a.elements(); i += 7)
      CHECK(static_cast<float>(b.as<Bf16>()[i]) == Approx(a.as<float>()[i]).epsilon(0.005));
    narrow.lane.forward({});  // its kernels exist
    CHECK(std::isfinite(narrow.lane.view(narrow.model.losses).as<double>()[0]));
  }
}

TEST_CASE("an image batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return make_image_workload("tiny", seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 8) == sum(1, 0, 5) + sum(1, 5, 3));
  CHECK(sum(1, 0, 8) != sum(2, 0, 8));
}

TEST_CASE("pictures from files have a floor where their truth is known, else a bound") {
  const auto known = make_image_workload("tiny", 1, plain_files(true));
  CHECK(known->knows_floor());
  CHECK(known->repeats());
  CHECK(known->recipe().target.has_value());
  CHECK(known->recipe().target_source.empty());
  CHECK(known->recipe().evaluation_samples == 30);
  CHECK(known->data()["kind"] == "files");
  FreshLane of_known(make_image_workload("tiny", 1, plain_files(true)), 4);
  CHECK(quality_of(of_known, 30).floor == Approx(0.5));
  FreshLane of_others(make_image_workload("tiny", 1, plain_files(false)), 4);
  CHECK_FALSE(of_others.workload->knows_floor());
  CHECK_FALSE(of_others.workload->recipe().target.has_value());
  const Quality quality = quality_of(of_others, 30);
  CHECK(quality.floor == 1.0);
  CHECK(std::isnan(part_of(quality, "true_class")));
}

TEST_CASE("image repeats samples if asked, and refuses what it has not") {
  const auto few = make_image_workload("tiny", 1, {.samples = 64});
  CHECK(few->repeats());
  CHECK(few->recipe().target_source.empty());
  DataChoice files;
  files.train = {"train.tar"};
  CHECK_THROWS_WITH(make_workload("image", "tiny", 1, 0, files), Contains("cannot be decoded"));
  CHECK_THROWS_WITH(make_image_workload("tiny", 1, plain_files(true, 11)),
                    Contains("labels up to 10"));
  CHECK_THROWS_WITH(make_workload("image", "tiny", 1, 0, {.vocabulary = 9}),
                    Contains("no vocabulary"));
  CHECK_THROWS_WITH(make_workload("image", "tiny", 1, 8), Contains("image has no sequences"));
  CHECK_THROWS_WITH(make_workload("image", "huge", 1), Contains("image has no preset 'huge'"));
}

}  // namespace bench::training
