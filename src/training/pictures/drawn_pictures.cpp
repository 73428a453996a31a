#include "training/pictures/drawn_pictures.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "training/sources/drawing.h"

namespace bench::training {
namespace {

// Random numbers of a picture: of its labels, of what is drawn, then three words per element for
// the noise.
constexpr std::uint64_t kTruthNumber = 0, kWrongNumber = 1, kLabelNumber = 2, kDrawnNumber = 64,
                        kFirstNoiseOfPicture = 1024;
constexpr int kColours = 3;
constexpr double kGrey = 128.0, kBytesOfUnit = 50.0;  // bytes of 0, and from 0 to 1

// Waves of the coarsest texture over a polygon's diameter, and of the coarsest ground over the side
// of a picture. Finer ones have more by a factor that is larger than what a stretch, or the size of
// a crop, makes of them.
constexpr double kWavesOfTexture = 2.0, kWavesOfGround = 2.5, kFinerGround = 2.0;
constexpr double kTextureDepth = 0.9;
constexpr int kTextures = 11;

void check_pictures(const PictureLaw& law) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::usage, "pictures: " + what, "change the law of the pictures");
  };
  if (law.outlines < 1 || law.textures < 1 || law.grounds < 1) refuse("no classes");
  if (law.outlines > static_cast<int>(kOutlines.size()))
    refuse("more outlines than " + std::to_string(kOutlines.size()));
  if (law.textures > kTextures || law.grounds > kTextures)
    refuse("more textures than " + std::to_string(kTextures));
  if (law.side < 1) refuse("no pixels");
  if (!(law.smallest > 0.0) || law.largest < law.smallest || law.largest * 1.2 > law.inner ||
      law.inner > 1.0)
    refuse("polygons without size, or larger than their place");
  if (!(law.finer > 1.0)) refuse("textures that do not differ");
  if (!(law.wrong >= 0.0) || law.wrong >= 1.0) refuse("labels that are always wrong");
}

/// Texture 0 is plain, then stripes and checks by turns, of ever more waves.
Fill textured(Drawing& draw, int texture, double period, double finer) {
  Fill fill;
  fill.plain = texture == 0;
  fill.checks = texture % 2 == 0;
  fill.depth = kTextureDepth;
  for (int level = 0; level < (texture - 1) / 2; ++level) period /= finer;
  fill.along = drawn_wave(draw, period);
  fill.across = {-fill.along.y, fill.along.x, draw.between(0.0, 4.0)};
  return fill;
}

/// All that is drawn of a picture, without its noise.
struct Drawn {
  Outline outline;
  Fill object, ground;
  Wave coarse;
};

Drawn drawn_picture(const PictureLaw& law, RandomStream stream, int truth) {
  Drawing draw(stream, kDrawnNumber);
  const double side = law.side;
  const double radius = draw.between(law.smallest, law.largest) * side / 2.0;
  const double stretch = std::sqrt(draw.between(0.85, 1.18));
  const auto& shape = kOutlines.at(static_cast<std::size_t>(truth % law.outlines));
  Outline outline(shape, radius * stretch, radius / stretch, draw.between(0.0, 4.0));
  const double low = side * (1.0 - law.inner) / 2.0, high = side - low;
  const Box box = outline.box();
  outline.move(draw.between(low - box.left, high - box.right),
               draw.between(low - box.top, high - box.bottom));
  const int texture = truth / law.outlines % law.textures;
  const int ground = truth / (law.outlines * law.textures);
  Drawn drawn{outline, textured(draw, texture, 2.0 * radius / kWavesOfTexture, law.finer),
              textured(draw, ground, side / kWavesOfGround, kFinerGround),
              drawn_wave(draw, side / 2.0)};
  // Lighter or darker than the ground in all colours: JPEG stores differences of colours coarsely.
  const double sign = draw.below_count(2) == 0 ? -1.0 : 1.0;
  for (int colour = 0; colour < kColours; ++colour) {
    drawn.object.colour.at(static_cast<std::size_t>(colour)) =
        sign * law.contrast * draw.between(0.5, 1.5);
    drawn.ground.colour.at(static_cast<std::size_t>(colour)) = draw.between(-0.3, 0.3);
  }
  return drawn;
}

std::uint8_t byte_of(double value) {
  return static_cast<std::uint8_t>(std::clamp(kGrey + kBytesOfUnit * value, 0.0, 255.0) + 0.5);
}

}  // namespace

DrawnPictures::DrawnPictures(const PictureLaw& law) : law_(law) { check_pictures(law); }

RandomStream DrawnPictures::stream(Split split, std::uint64_t index) const {
  return sample_stream(split == Split::evaluation ? law_.law : law_.seed, split, index);
}

PictureLabels DrawnPictures::labels(Split split, std::uint64_t index) const {
  const RandomStream numbers = stream(split, index);
  const auto any = [&](std::uint64_t number) {
    return static_cast<int>(
        below(numbers.bits32(number), static_cast<std::uint32_t>(law_.classes())));
  };
  const int truth = any(kTruthNumber);
  const bool wrong = uniform(numbers.bits(kWrongNumber)) < law_.wrong;
  return {wrong ? any(kLabelNumber) : truth, truth};
}

Box DrawnPictures::box(Split split, std::uint64_t index) const {
  return drawn_picture(law_, stream(split, index), *labels(split, index).truth).outline.box();
}

void DrawnPictures::read(Split split, std::uint64_t index, const PlaceOfCrop& place,
                         PictureBuffer& part) const {
  const RandomStream numbers = stream(split, index);
  const Drawn drawn = drawn_picture(law_, numbers, *labels(split, index).truth);
  const Region region = place({law_.side, law_.side});
  part.resize(region);
  const Box box = drawn.outline.box();
  std::uint8_t* out = part.pixels.data();
  for (int row = region.y; row < region.y + region.height; ++row)
    for (int column = region.x; column < region.x + region.width; ++column, out += 4) {
      const double x = column + 0.5, y = row + 0.5;
      const bool near =
          x > box.left - 1.0 && x < box.right + 1.0 && y > box.top - 1.0 && y < box.bottom + 1.0;
      const double share = near ? std::clamp(0.5 - drawn.outline.distance(x, y), 0.0, 1.0) : 0.0;
      const double bright = share > 0.0 ? drawn.object.brightness(x, y) : 0.0;
      // A ground's texture adds to its colour; without one only the coarse wave does.
      const double wave =
          law_.background * (drawn.coarse.at(x, y) + 2.5 * (drawn.ground.brightness(x, y) - 1.0));
      const auto pixel = static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(law_.side) +
                         static_cast<std::uint64_t>(column);
      for (std::size_t c = 0; c < kColours; ++c) {
        const double under = drawn.ground.colour.at(c) + wave;
        const double value = under + share * (drawn.object.colour.at(c) * bright - under);
        const double noise =
            law_.noise *
            static_cast<double>(normal(numbers, kFirstNoiseOfPicture + pixel * kColours + c));
        out[c] = byte_of(value + noise);
      }
      out[3] = 0;
    }
}

}  // namespace bench::training
