// Drawn pictures: what they show, how often their labels are wrong, and what a classifier that
// knows all can reach.
#include "training/pictures/drawn_pictures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/pictures/resample.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

PictureLaw small_pictures() {
  PictureLaw law;
  law.outlines = 3;
  law.textures = 2;
  law.side = 24;
  return law;
}

Region whole_picture(ImageSize size) { return {0, 0, size.width, size.height}; }

PictureBuffer drawn(const PictureLaw& law, std::uint64_t index, Split split = Split::train,
                    const PlaceOfCrop& place = whole_picture) {
  PictureBuffer part;
  DrawnPictures(law).read(split, index, place, part);
  return part;
}

}  // namespace

TEST_CASE("a polygon is drawn in its box, inside the evaluation's crop, and nowhere else") {
  PictureLaw law = small_pictures();
  law.noise = law.background = 0.0;
  const DrawnPictures source(law);
  for (std::uint64_t index = 0; index < 40; ++index) {
    const PictureBuffer picture = drawn(law, index);
    const Box box = source.box(Split::train, index);
    const Region crop = centre_crop({law.side, law.side}, law.inner).region;
    CHECK(box.left >= crop.x - 0.01);
    CHECK(box.bottom <= crop.y + crop.height + 0.01);
    const std::uint8_t* ground = picture.pixels.data();
    bool any = false;
    for (int y = 0; y < law.side; ++y)
      for (int x = 0; x < law.side; ++x) {
        const std::uint8_t* pixel = picture.picture().row(y) + 4 * x;
        if (std::equal(pixel, pixel + 3, ground)) continue;
        any = true;
        CHECK(x + 1.0 >= box.left - 0.5);
        CHECK(x <= box.right + 0.5);
        CHECK(y + 1.0 >= box.top - 0.5);
        CHECK(y <= box.bottom + 0.5);
      }
    CHECK(any);
  }
}

TEST_CASE("a part of a picture is that part of the whole picture") {
  const PictureLaw law = small_pictures();
  const PictureBuffer whole = drawn(law, 7);
  const Region region{3, 5, 11, 8};
  const PictureBuffer part = drawn(law, 7, Split::train, [&](ImageSize) { return region; });
  REQUIRE(part.width == 11);
  REQUIRE(part.height == 8);
  for (int y = 0; y < region.height; ++y)
    CHECK(std::equal(part.picture().row(y), part.picture().row(y) + 44,
                     whole.picture().row(y + region.y) + 12));
}

TEST_CASE("every class is as frequent as the others") {
  PictureLaw law = small_pictures();
  law.grounds = 2;
  const DrawnPictures source(law);
  std::vector<int> counts(12);
  for (std::uint64_t index = 0; index < 6000; ++index)
    ++counts.at(static_cast<std::size_t>(*source.labels(Split::train, index).truth));
  for (const int count : counts) CHECK(count == Approx(500).margin(5 * std::sqrt(500.0)));
}

// A classifier that knows every class is right where the label was not drawn, or was drawn as
// the class by chance; with any other answer on some pictures it is right less often.
TEST_CASE("labels are wrong as often as the law says, and true classes are the best answers") {
  PictureLaw law = small_pictures();
  law.wrong = 0.3;
  const DrawnPictures source(law);
  constexpr int kLabels = 20'000;
  std::vector<std::vector<double>> joint(6, std::vector<double>(6));  // by truth and label
  for (std::uint64_t index = 0; index < kLabels; ++index) {
    const PictureLabels of = source.labels(Split::evaluation, index);
    joint.at(static_cast<std::size_t>(*of.truth)).at(static_cast<std::size_t>(of.label)) +=
        1.0 / kLabels;
  }
  double best = 0.0, truths = 0.0;
  for (std::size_t truth = 0; truth < 6; ++truth) {
    best += *std::ranges::max_element(joint[truth]);
    truths += joint[truth][truth];
    for (std::size_t label = 0; label < 6; ++label)
      if (label != truth) CHECK(joint[truth][label] == Approx(0.3 / 36.0).margin(0.0025));
  }
  CHECK(truths == best);  // no other rule from classes to answers is right more often
  CHECK(law.best_accuracy() == Approx(0.75));
  CHECK(truths == Approx(law.best_accuracy()).margin(4 * std::sqrt(0.75 * 0.25 / kLabels)));
}

TEST_CASE("a random crop of half the picture keeps most of the polygon") {
  PictureLaw law = small_pictures();
  law.side = 64;
  const DrawnPictures source(law);
  double least = 1.0, sum = 0.0;
  constexpr int kCrops = 2000;
  for (std::uint64_t index = 0; index < kCrops; ++index) {
    const Region crop = random_resized_crop(random_stream(5, index), {64, 64}, 0.5).region;
    const Box box = source.box(Split::train, index);
    const Box kept{static_cast<double>(crop.x), static_cast<double>(crop.y),
                   static_cast<double>(crop.x + crop.width),
                   static_cast<double>(crop.y + crop.height)};
    const double share = intersection(kept, box) / (box.width() * box.height());
    least = std::min(least, share);
    sum += share;
  }
  CHECK(least > 0.3);
  CHECK(sum / kCrops > 0.9);
}

TEST_CASE("the same number gives the same picture, the splits share none, and laws can be wrong") {
  const PictureLaw law = small_pictures();
  CHECK(drawn(law, 5).pixels == drawn(law, 5).pixels);
  CHECK(drawn(law, 5).pixels != drawn(law, 6).pixels);
  PictureLaw other = law;
  other.seed = 2;
  CHECK(drawn(law, 5).pixels != drawn(other, 5).pixels);
  CHECK(drawn(law, 5, Split::evaluation).pixels == drawn(other, 5, Split::evaluation).pixels);
  other.seed = law.law;
  CHECK(drawn(other, 5).pixels != drawn(other, 5, Split::evaluation).pixels);
  const auto refuses = [&](const std::function<void(PictureLaw&)>& change, const char* what) {
    PictureLaw changed = law;
    change(changed);
    CHECK_THROWS_WITH(DrawnPictures(changed), Contains(what));
  };
  refuses([](PictureLaw& one) { one.grounds = 0; }, "no classes");
  refuses([](PictureLaw& one) { one.outlines = 12; }, "more outlines");
  refuses([](PictureLaw& one) { one.textures = 12; }, "more textures");
  refuses([](PictureLaw& one) { one.side = 0; }, "no pixels");
  refuses([](PictureLaw& one) { one.largest = 0.8; }, "larger than their place");
  refuses([](PictureLaw& one) { one.finer = 1.0; }, "do not differ");
  refuses([](PictureLaw& one) { one.wrong = 1.0; }, "always wrong");
}

TEST_CASE("finite pictures keep their labels in every epoch") {
  const DrawnPictures all(small_pictures());
  const FinitePictures few(all, 4, 1);
  std::set<std::vector<std::uint8_t>> seen;
  PictureBuffer part;
  for (std::uint64_t at = 0; at < 8; ++at) {
    few.read(Split::train, at, whole_picture, part);
    seen.insert(part.pixels);
    bool found = false;
    for (std::uint64_t index = 0; index < 4; ++index)
      if (drawn(small_pictures(), index).pixels == part.pixels) {
        found = true;
        CHECK(few.labels(Split::train, at).label == all.labels(Split::train, index).label);
      }
    CHECK(found);
  }
  CHECK(seen.size() == 4);
}

}  // namespace bench::training
