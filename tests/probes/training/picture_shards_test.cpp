// Drawn pictures written as shards of JPEGs, and trainings that read them.
#include "probes/training/picture_shards.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <vector>

#include "core/error.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/formats/tar_members.h"
#include "probes/data/generate/data_set.h"
#include "probes/data/generate/writers.h"
#include "tests/probes/training_job.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "training/workloads/image.h"

namespace bench {
namespace {

using training::PictureBuffer;
using training::Region;
using training::Split;

/// Some 200 pictures of tiny, as sharp as JPEG stores them.
struct DrawnShards {
  TemporaryDirectory folder = {};
  data::MadeDataSet made;
  training::DataChoice choice = {};

  DrawnShards() {
    data::DataSetWish wish;
    wish.format = data::Format::tar;
    wish.bytes = 800'000;
    wish.quality = 98;
    wish.pictures = "tiny";
    wish.seed = 3;
    made = data::make_data_set(folder.path(), wish);
    choice.train = {made.folder / "train-000000.tar"};
    choice.evaluation = {made.folder / "val-000000.tar"};
  }
};

double mean_difference(const PictureBuffer& a, const PictureBuffer& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    if (i % 4 != 3) sum += std::abs(a.pixels[i] - b.pixels[i]);
  return sum / (0.75 * static_cast<double>(a.pixels.size()));
}

void write_tar(const std::filesystem::path& path, const std::vector<std::byte>& jpeg,
               const std::string& label, const std::string& truth = "") {
  data::FileWriter tar(path);
  const auto member = [&](const std::string& name, std::span<const std::byte> bytes) {
    tar.write(data::tar_header(name, bytes.size()));
    tar.write(bytes);
    tar.write(std::vector<std::byte>((data::kTarBlock - bytes.size() % data::kTarBlock) %
                                     data::kTarBlock));
  };
  member("0.jpg", jpeg);
  member("0.cls", std::as_bytes(std::span(label)));
  if (!truth.empty()) member("0.truth", std::as_bytes(std::span(truth)));
  tar.write(std::vector<std::byte>(2 * data::kTarBlock));
}

}  // namespace

TEST_CASE("shards have the drawn pictures, their labels and their true classes") {
  if (!data::no_jpeg().empty()) return;
  const DrawnShards shards;
  const auto source = open_picture_shards(shards.choice);
  const training::DrawnPictures drawn(training::image_setting("tiny").pictures(3));
  CHECK(source->has_oracle());
  CHECK(source->classes() == 10);
  CHECK(source->size(Split::train).value() + source->size(Split::evaluation).value() ==
        shards.made.samples);
  double on_disk = 0.0;
  for (const auto& file : {shards.choice.train[0], shards.choice.evaluation[0]})
    on_disk += static_cast<double>(std::filesystem::file_size(file));
  CHECK(on_disk == Approx(static_cast<double>(shards.made.bytes)).epsilon(0.01));
  CHECK(source->size(Split::evaluation).value() > 10);
  CHECK(source->size(Split::train).value() > 5 * source->size(Split::evaluation).value());
  PictureBuffer a, b;
  for (const Split split : {Split::train, Split::evaluation})
    for (std::uint64_t index = 0; index < 10; ++index) {
      const auto place = [](training::ImageSize size) {
        return Region{2, 3, size.width - 5, size.height - 4};
      };
      source->read(split, index, place, a);
      drawn.read(split, index, place, b);
      CHECK(a.width == 15);
      CHECK(mean_difference(a, b) < 12.0);  // colours are stored at half the resolution
      CHECK(source->labels(split, index).label == drawn.labels(split, index).label);
      CHECK(source->labels(split, index).truth == drawn.labels(split, index).truth);
    }
  drawn.read(
      Split::train, 1,
      [](training::ImageSize) {
        return Region{2, 3, 15, 16};
      },
      b);
  source->read(
      Split::train, 0,
      [](training::ImageSize) {
        return Region{2, 3, 15, 16};
      },
      a);
  CHECK(mean_difference(a, b) > 12.0);
}

TEST_CASE("image trains on a folder of shards, whose floor is known from their true classes") {
  if (!data::no_jpeg().empty()) return;
  const DrawnShards shards;
  TrainingJob job(Json{{"workload", "image"},
                       {"data", shards.made.folder.string()},
                       {"batch", 16},
                       {"lanes", 2},
                       {"target", 2.0}});
  CHECK(job.run().status == Status::ok);
  const auto source = open_picture_shards(shards.choice);
  const std::uint64_t count = source->size(Split::evaluation).value();
  double right = 0.0;
  for (std::uint64_t index = 0; index < count; ++index) {
    const training::PictureLabels of = source->labels(Split::evaluation, index);
    if (of.label == of.truth) right += 1.0 / static_cast<double>(count);
  }
  const double accuracy = job.logged("eval_accuracy").at(0).get<double>();
  CHECK(job.one("quality").values.at(0) == Approx(right - accuracy));
  CHECK(job.logged("eval_samples").at(0) == count);
}

TEST_CASE("an epoch has every picture of every shard once, and another order than the next") {
  if (!data::no_jpeg().empty()) return;
  DrawnShards shards;
  shards.choice.train.push_back(shards.choice.evaluation[0]);
  const auto source = open_picture_shards(shards.choice);
  const std::uint64_t size = source->size(Split::train).value();
  CHECK(size == shards.made.samples);
  const training::FinitePictures order(*source, size, 1);
  std::vector<std::set<std::vector<std::uint8_t>>> epochs(2);
  std::vector<std::vector<int>> labels(2);
  PictureBuffer part;
  for (std::uint64_t at = 0; at < 2 * size; ++at) {
    order.read(
        Split::train, at,
        [](training::ImageSize) {
          return Region{0, 0, 20, 20};
        },
        part);
    epochs.at(at / size).insert(part.pixels);
    labels.at(at / size).push_back(order.labels(Split::train, at).label);
  }
  CHECK(epochs[0].size() == size);
  CHECK(epochs[0] == epochs[1]);
  CHECK(labels[0] != labels[1]);
  std::ranges::sort(labels[0]);
  std::ranges::sort(labels[1]);
  CHECK(labels[0] == labels[1]);
}

TEST_CASE("pictures without true classes have a bound, and wrong files are refused") {
  if (!data::no_jpeg().empty()) return;
  const TemporaryDirectory folder;
  data::DataSetWish wish;
  wish.image = {20, 20};
  const auto jpeg = data::make_jpeg(wish, 0);
  training::DataChoice choice;
  choice.train = {folder.path() / "train.tar"};
  write_tar(choice.train[0], jpeg, "7");
  const auto source = open_picture_shards(choice);
  CHECK_FALSE(source->has_oracle());
  CHECK(source->classes() == 8);
  CHECK(source->size(Split::evaluation) == 0);
  write_tar(choice.train[0], jpeg, "7", "9");
  CHECK(open_picture_shards(choice)->has_oracle());
  CHECK(open_picture_shards(choice)->classes() == 10);
  for (const auto& [label, truth] : {std::pair{"-1", ""}, {"7", "-1"}, {"7", "4294967299"}}) {
    write_tar(choice.train[0], jpeg, label, truth);
    CHECK_THROWS_AS(open_picture_shards(choice), Error);
  }
  write_tar(choice.train[0], {jpeg.begin(), jpeg.begin() + 99}, "7");
  const auto damaged = open_picture_shards(choice);
  PictureBuffer part;
  CHECK_THROWS_AS(damaged->read(
                      Split::train, 0,
                      [](training::ImageSize) {
                        return Region{0, 0, 20, 20};
                      },
                      part),
                  Error);
}

}  // namespace bench
