#include "training/sources/drawn_scenes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "training/sources/drawing.h"
#include "training/sources/gaussian.h"

namespace bench::training {
namespace {

// Random numbers of a scene: its own, then some per object, then pairs of normal numbers of labels,
// then three words per element for the noise.
constexpr std::uint64_t kCountNumber = 0, kBackgroundNumber = 1, kFirstObjectNumber = 64,
                        kNumbersOfObject = 64, kFirstLabelPair = 8192, kFirstNoise = 32768;
constexpr int kMostObjects = 100;
constexpr int kPlaces = 8;  // tried for an object

void check_scene_law(const SceneLaw& law) {
  const SceneShape& shape = law.shape;
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::usage, "scenes: " + what, "change the law of the scenes");
  };
  if (shape.side < 1 || shape.channels < 1) refuse("no pixels or no channels");
  if (shape.channels > 8) refuse("more than 8 channels");
  if (law.textures < 1 || shape.classes < 1 || shape.classes % law.textures != 0)
    refuse("classes that are no multiple of the textures");
  if (law.outlines() > static_cast<int>(kOutlines.size()))
    refuse("more outlines than " + std::to_string(kOutlines.size()));
  if (law.least < 1 || law.most < law.least || law.most > kMostObjects)
    refuse("no objects, or more than " + std::to_string(kMostObjects));
  if (!(law.smallest > 0.0) || law.largest < law.smallest || law.largest > shape.side / 2.0)
    refuse("objects without size, or larger than half of the image");
  if (!(law.jitter >= 0.0) || law.jitter > 0.1) refuse("jitter that is not between 0 and 0.1");
}

/// Texture 0 is plain, then stripes and checks by turns, of growing period.
Fill drawn_fill(Drawing& draw, const SceneLaw& law, int texture) {
  Fill fill;
  for (double& part : fill.colour) {
    part = law.contrast * draw.between(0.5, 1.5);
    if (draw.below_count(2) == 0) part = -part;
  }
  fill.plain = texture == 0;
  fill.checks = texture % 2 == 0;
  const int step = (texture - 1) / 2;
  fill.along = drawn_wave(draw, 4.0 + 1.5 * step);
  fill.across = {-fill.along.y, fill.along.x, draw.between(0.0, 4.0)};
  return fill;
}

struct DrawnObject {
  Outline outline;
  Fill fill;
  int label;
};

/// Moves the outline to the one of some places at which its box is least covered by other boxes.
void place(Outline& outline, Drawing& draw, const SceneLaw& law, const std::vector<Box>& others) {
  const Box box = outline.box();
  double least = std::numeric_limits<double>::infinity(), best_x = 0.0, best_y = 0.0;
  for (int tried = 0; tried < kPlaces; ++tried) {
    const double x = draw.between(-box.left, law.shape.side - box.right);
    const double y = draw.between(-box.top, law.shape.side - box.bottom);
    const Box there{box.left + x, box.top + y, box.right + x, box.bottom + y};
    double common = 0.0;
    for (const Box& other : others) common += intersection(there, other);
    if (common >= least) continue;
    least = common;
    best_x = x;
    best_y = y;
  }
  outline.move(best_x, best_y);
}

DrawnObject drawn_object(const SceneLaw& law, RandomStream stream, int number,
                         const std::vector<Box>& others) {
  Drawing draw(stream, kFirstObjectNumber + kNumbersOfObject * static_cast<std::uint64_t>(number));
  const int label = draw.below_count(law.shape.classes);
  const double size = draw.between(law.smallest, law.largest) / 2.0;
  const double stretch = draw.between(0.85, 1.18);
  Outline outline(kOutlines[static_cast<std::size_t>(label % law.outlines())],
                  size * std::sqrt(stretch), size / std::sqrt(stretch), draw.between(0.0, 4.0));
  place(outline, draw, law, others);
  return {outline, drawn_fill(draw, law, label / law.outlines()), label};
}

/// The share of each object that later ones leave visible.
std::vector<double> visible_shares(const std::vector<Coverage>& coverages, int side) {
  std::vector<float> open(static_cast<std::size_t>(side) * static_cast<std::size_t>(side), 1.0f);
  std::vector<double> shares(coverages.size());
  for (std::size_t k = coverages.size(); k-- > 0;) {
    double all = 0.0, seen = 0.0;
    coverages[k].each(side, [&](std::size_t pixel, float share) {
      all += static_cast<double>(share);
      seen += static_cast<double>(share * open[pixel]);
      open[pixel] *= 1.0f - share;
    });
    shares[k] = all > 0.0 ? seen / all : 0.0;
  }
  return shares;
}

void draw_background(const SceneLaw& law, RandomStream stream, std::vector<float>& image) {
  Drawing draw(stream, kBackgroundNumber);
  const double side = law.shape.side;
  const Wave coarse = drawn_wave(draw, side / 2.0), fine = drawn_wave(draw, side / 5.0);
  const auto channels = static_cast<std::size_t>(law.shape.channels);
  std::vector<double> values(image.size() / channels, draw.between(-0.3, 0.3));
  add_wave(coarse, law.background, values);
  add_wave(fine, 0.5 * law.background, values);
  for (std::size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<float>(values[i / channels]);
}

void draw_object(const SceneLaw& law, const Coverage& coverage, const Fill& fill,
                 std::vector<float>& image) {
  const auto channels = static_cast<std::size_t>(law.shape.channels);
  const auto side = static_cast<std::size_t>(law.shape.side);
  coverage.each(law.shape.side, [&](std::size_t pixel, float share) {
    const std::size_t row = pixel / side, column = pixel % side;
    const auto x = static_cast<double>(column), y = static_cast<double>(row);
    const double brightness = fill.brightness(x, y);
    for (std::size_t channel = 0; channel < channels; ++channel) {
      float& value = image[pixel * channels + channel];
      const auto colour = static_cast<float>(fill.colour[channel] * brightness);
      value += share * (colour - value);
    }
  });
}

Box jittered(const Box& box, double jitter, RandomStream stream, std::uint64_t number) {
  const auto [left, right] = gaussian_pair(stream, kFirstLabelPair + 2 * number);
  const auto [top, bottom] = gaussian_pair(stream, kFirstLabelPair + 2 * number + 1);
  const double across = jitter * box.width(), down = jitter * box.height();
  return {box.left + across * left, box.top + down * top, box.right + across * right,
          box.bottom + down * bottom};
}

}  // namespace

DrawnScenes::DrawnScenes(const SceneLaw& law) : law_(law) { check_scene_law(law); }

void DrawnScenes::read(Split split, std::uint64_t index, Scene& scene) const {
  const RandomStream stream =
      sample_stream(split == Split::evaluation ? law_.law : law_.seed, split, index);
  scene.image.resize(law_.shape.elements());
  scene.truths.clear();
  scene.boxes.clear();
  const int count =
      law_.least + Drawing(stream, kCountNumber).below_count(law_.most - law_.least + 1);
  draw_background(law_, stream, scene.image);
  std::vector<DrawnObject> objects;
  std::vector<Coverage> coverages;
  for (int number = 0; number < count; ++number) {
    objects.push_back(drawn_object(law_, stream, number, scene.boxes));
    scene.boxes.push_back(objects.back().outline.box());
    coverages.emplace_back(objects.back().outline, law_.shape.side);
    draw_object(law_, coverages.back(), objects.back().fill, scene.image);
  }
  const std::vector<double> visible = visible_shares(coverages, law_.shape.side);
  for (std::size_t k = 0; k < objects.size(); ++k) {
    const Box& box = scene.boxes[k];
    const bool ignored = visible[k] < law_.visible;
    scene.truths.push_back(
        {ignored ? box : jittered(box, law_.jitter, stream, k), objects[k].label, ignored});
  }
  for (std::size_t i = 0; i < scene.image.size(); ++i)
    scene.image[i] += static_cast<float>(law_.noise) * normal(stream, kFirstNoise + i);
}

}  // namespace bench::training
