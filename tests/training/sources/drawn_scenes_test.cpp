// Drawn scenes: where objects are, what is visible of them, and what a detector that knows it all
// can reach with labels that are off.
#include "training/sources/drawn_scenes.h"

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/detection/average_precision.h"
#include "training/sources/finite.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

Scene scene_of(const SceneLaw& law, std::uint64_t index, Split split = Split::train) {
  Scene scene;
  DrawnScenes(law).read(split, index, scene);
  return scene;
}

/// One object of contrast without noise on a plain background.
SceneLaw clean_scenes() {
  SceneLaw law;
  law.noise = law.background = 0.0;
  law.most = 1;
  return law;
}

/// The chance of each overlap threshold .50, .55, ... .95 being met by a unit box whose four edges
/// are off by `jitter` z, by a sum over a grid of the four normal numbers.
std::array<double, 10> chances_of_hits(double jitter) {
  constexpr int kPoints = 41;
  constexpr double kReach = 4.5;
  struct Side {
    double common, length, weight;
  };
  std::vector<Side> sides;
  double whole = 0.0;
  for (int i = 0; i < kPoints; ++i)
    for (int j = 0; j < kPoints; ++j) {
      const double a = kReach * (2.0 * i / (kPoints - 1) - 1.0);
      const double b = kReach * (2.0 * j / (kPoints - 1) - 1.0);
      const double weight = std::exp(-(a * a + b * b) / 2.0), low = jitter * a,
                   high = 1 + jitter * b;
      sides.push_back({std::min(1.0, high) - std::max(0.0, low), high - low, weight});
      whole += weight;
    }
  std::array<double, 10> chances = {};
  for (const Side& across : sides)
    for (const Side& down : sides) {
      const double both = across.common * down.common;
      const double share = both / (1.0 + across.length * down.length - both);
      const double weight = across.weight * down.weight / (whole * whole);
      for (std::size_t t = 0; t < chances.size() && share >= 0.5 + 0.05 * static_cast<double>(t);
           ++t)
        chances.at(t) += weight;
    }
  return chances;
}

/// Scenes with the true boxes as answers.
std::vector<JudgedImage> answered(const SceneLaw& law, std::uint64_t first, std::uint64_t count) {
  std::vector<JudgedImage> images;
  const DrawnScenes source(law);
  Scene scene;
  for (std::uint64_t index = first; index < first + count; ++index) {
    source.read(Split::evaluation, index, scene);
    JudgedImage image{scene.truths, {}};
    for (std::size_t k = 0; k < scene.truths.size(); ++k)
      if (!scene.truths[k].ignored)
        image.detections.push_back({scene.boxes[k], scene.truths[k].label, 1.0});
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace

TEST_CASE("an object fills its box and nothing outside") {
  SceneLaw law = clean_scenes();
  law.shape.classes = 11;
  std::set<int> seen;
  for (std::uint64_t index = 0; index < 60; ++index) {
    const Scene scene = scene_of(law, index);
    REQUIRE(scene.boxes.size() == 1);
    const Box& box = scene.boxes[0];
    seen.insert(scene.truths[0].label);
    const float base = scene.image[0] == scene.image[3] ? scene.image[0] : scene.image.back();
    int left = 64, top = 64, right = 0, bottom = 0;
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x) {
        const float value = scene.image[static_cast<std::size_t>((y * 64 + x) * 3)];
        if (std::abs(value - base) < 0.02F) continue;
        left = std::min(left, x);
        right = std::max(right, x + 1);
        top = std::min(top, y);
        bottom = std::max(bottom, y + 1);
      }
    INFO("scene " << index << ", class " << scene.truths[0].label);
    // A tip is narrower than a pixel.
    CHECK(left == Approx(box.left).margin(3.0));
    CHECK(right == Approx(box.right).margin(3.0));
    CHECK(top == Approx(box.top).margin(3.0));
    CHECK(bottom == Approx(box.bottom).margin(3.0));
    CHECK(left >= box.left - 1.01);
    CHECK(right <= box.right + 1.01);
    CHECK(box.left >= 0.0);
    CHECK(box.bottom <= 64.0);
  }
  CHECK(seen.size() == 11);
}

TEST_CASE("edges are not jagged: pixels on an outline are mixed by the share that is covered") {
  Outline square({4, 0.70710678}, std::sqrt(2.0) * 4.0, std::sqrt(2.0) * 4.0, 0.5);
  CHECK(square.box().left == Approx(-4.0));
  CHECK(square.box().bottom == Approx(4.0));
  square.move(10.0, 20.0);
  CHECK(square.distance(10.0, 20.0) == Approx(-4.0));
  CHECK(square.distance(14.5, 21.0) == Approx(0.5));
  CHECK(square.distance(17.0, 28.0) == Approx(5.0));
}

TEST_CASE("objects of which too little is visible are regions to ignore") {
  SceneLaw law;
  law.shape.side = 40;
  law.largest = 20.0;
  law.least = law.most = 6;
  int ignored = 0, labelled = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const Scene scene = scene_of(law, index);
    CHECK_FALSE(scene.truths.back().ignored);  // the foremost one
    for (std::size_t k = 0; k < scene.truths.size(); ++k) {
      scene.truths[k].ignored ? ++ignored : ++labelled;
      if (scene.truths[k].ignored) CHECK(scene.truths[k].box == scene.boxes[k]);
      double covered = 0.0;
      for (std::size_t later = k + 1; later < scene.boxes.size(); ++later)
        covered += intersection(scene.boxes[k], scene.boxes[later]);
      if (covered == 0.0) CHECK_FALSE(scene.truths[k].ignored);
    }
  }
  CHECK(ignored > 20);
  CHECK(labelled > 300);
  law.visible = 0.0;
  for (const Truth& truth : scene_of(law, 3).truths) CHECK_FALSE(truth.ignored);
}

TEST_CASE("labels are off by normal numbers in proportion to the box") {
  SceneLaw law = clean_scenes();
  law.jitter = 0.05;
  double sum = 0.0, squares = 0.0, products = 0.0;
  constexpr int kScenes = 400;
  for (std::uint64_t index = 0; index < kScenes; ++index) {
    const Scene scene = scene_of(law, index);
    const Box &made = scene.truths[0].box, &box = scene.boxes[0];
    const double off[] = {
        (made.left - box.left) / box.width(), (made.right - box.right) / box.width(),
        (made.top - box.top) / box.height(), (made.bottom - box.bottom) / box.height()};
    for (const double one : off) {
      sum += one;
      squares += one * one;
    }
    products += off[0] * off[1] + off[2] * off[3] + off[0] * off[2];
  }
  CHECK(sum / (4 * kScenes) == Approx(0.0).margin(4 * 0.05 / std::sqrt(4.0 * kScenes)));
  CHECK(std::sqrt(squares / (4 * kScenes)) == Approx(0.05).epsilon(0.08));
  CHECK(products / (3 * kScenes) == Approx(0.0).margin(4 * 0.0025 / std::sqrt(3.0 * kScenes)));
}

TEST_CASE("the precision of true boxes is the square of the chance that a label fits") {
  SceneLaw law = clean_scenes();
  law.shape.side = 16;
  law.smallest = law.largest = 6.0;
  law.shape.classes = 1;
  law.jitter = 0.06;
  const MeanPrecision best = mean_precision(answered(law, 0, 4000), 1);
  const std::array<double, 10> chances = chances_of_hits(law.jitter);
  double mean = 0.0;
  for (const double chance : chances) mean += chance * chance / 10.0;
  CHECK(best.at_75 == Approx(chances[5] * chances[5]).margin(0.03));
  CHECK(best.all == Approx(mean).margin(0.015));
  CHECK(mean == Approx(0.646).margin(0.001));  // docs/workloads/detect.md
  CHECK(best.recall ==
        Approx(std::accumulate(chances.begin(), chances.end(), 0.0) / 10.0).margin(0.01));
}

// Two objects, each a hit with chance p: both hits have a precision of 1, two misses of 0, a hit
// and then a miss of 51/101 (up to a recall of .5), a miss and then a hit of half of that.
TEST_CASE("the mean precision of two objects is the sum over their four cases") {
  SceneLaw law = clean_scenes();
  law.shape.side = 16;
  law.smallest = law.largest = 6.0;
  law.shape.classes = 1;
  law.jitter = 0.06;
  constexpr int kPairs = 1500;
  double sum = 0.0;
  for (std::uint64_t pair = 0; pair < kPairs; ++pair)
    sum += mean_precision(answered(law, 2 * pair, 2), 1).all / kPairs;
  double expected = 0.0;
  for (const double p : chances_of_hits(law.jitter))
    expected += (p * p + p * (1.0 - p) * 1.5 * 51.0 / 101.0) / 10.0;
  CHECK(sum == Approx(expected).margin(0.02));
}

TEST_CASE("without jitter the true boxes are perfect, also next to ignored regions") {
  SceneLaw law;
  law.jitter = 0.0;
  law.shape.side = 40;
  law.largest = 20.0;
  law.most = 6;
  law.noise = 0.0;
  CHECK(mean_precision(answered(law, 0, 60), 3).all == 1.0);
}

TEST_CASE(
    "the same number gives the same scene, the splits share none, and the law is everyone's") {
  SceneLaw law;
  CHECK(scene_of(law, 5).image == scene_of(law, 5).image);
  CHECK(scene_of(law, 5).image != scene_of(law, 6).image);
  SceneLaw other = law;
  other.seed = 2;
  CHECK(scene_of(law, 5).image != scene_of(other, 5).image);
  CHECK(scene_of(law, 5, Split::evaluation).image == scene_of(other, 5, Split::evaluation).image);
  other.seed = law.law;
  CHECK(scene_of(other, 5).image != scene_of(other, 5, Split::evaluation).image);
}

TEST_CASE("finite scenes repeat in another order, and laws without objects are refused") {
  const DrawnScenes all(SceneLaw{});
  const FiniteScenes few(all, 4, 1);
  CHECK(few.size(Split::train) == 4);
  std::set<std::vector<float>> seen;
  Scene scene;
  for (std::uint64_t at = 0; at < 8; ++at) {
    few.read(Split::train, at, scene);
    seen.insert(scene.image);
  }
  CHECK(seen.size() == 4);
  const auto refuses = [](const std::function<void(SceneLaw&)>& change, const char* what) {
    SceneLaw law;
    change(law);
    CHECK_THROWS_WITH(DrawnScenes(law), Contains(what));
  };
  refuses([](SceneLaw& law) { law.shape.side = 0; }, "no pixels");
  refuses([](SceneLaw& law) { law.shape.channels = 9; }, "channels");
  refuses([](SceneLaw& law) { law.textures = 2; }, "multiple of the textures");
  refuses([](SceneLaw& law) { law.shape.classes = 12; }, "more outlines");
  refuses([](SceneLaw& law) { law.most = 0; }, "no objects");
  refuses([](SceneLaw& law) { law.largest = 40.0; }, "larger than half");
  refuses([](SceneLaw& law) { law.jitter = 0.2; }, "jitter");
}

}  // namespace bench::training
