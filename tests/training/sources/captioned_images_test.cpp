// Captioned images: their law, and the best velocity against numbers that do not use its formula.
#include "training/sources/captioned_images.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/sources/finite.h"
#include "training/sources/gaussian.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

struct ReadImage {
  std::vector<std::int32_t> words;
  std::vector<float> image, noise;
  double time = 0.0;

  ReadImage(const ImageSource& source, Split split, std::uint64_t index)
      : words(static_cast<std::size_t>(source.shape().words)),
        image(source.shape().elements()),
        noise(source.shape().elements()) {
    ImageSample sample{words, image, noise};
    source.read(split, index, sample);
    time = sample.time;
  }
  std::vector<float> noisy(double t) const {
    std::vector<float> x_t;
    for (std::size_t i = 0; i < image.size(); ++i)
      x_t.push_back(static_cast<float>((1.0 - t) * static_cast<double>(image[i]) +
                                       t * static_cast<double>(noise[i])));
    return x_t;
  }
};

/// One pixel of two numbers, three styles.
ImageLaw one_pixel() {
  ImageLaw law;
  law.shape = {1, 2, 3};
  law.colours = law.shapes = law.places = law.shape_side = 1;
  law.styles = 3;
  law.texture = 1.2;
  return law;
}

/// E[noise - image | x_t] by a sum over a grid of images: noise is (x_t - (1 - t) image) / t.
std::vector<double> integrated_velocity(const CaptionedImages& source, const ImageLaw& law,
                                        const ReadImage& seen, std::span<const float> x_t,
                                        double time) {
  constexpr double kReach = 6.0, kStep = 0.05;
  const std::vector<double> described = source.described_by(seen.words);
  const auto density = [&](const double* x) {
    double sum = 0.0;
    for (int style = 0; style < law.styles; ++style) {
      double squares = 0.0;
      for (std::size_t i = 0; i < 2; ++i) {
        const double mean =
            described[i] + source.textures()[2 * static_cast<std::size_t>(style) + i];
        squares += (x[i] - mean) * (x[i] - mean) / (law.sigma * law.sigma);
      }
      sum += std::exp(-squares / 2.0);
    }
    double noise = 0.0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double e = (static_cast<double>(x_t[i]) - (1.0 - time) * x[i]) / time;
      noise += e * e;
    }
    return sum * std::exp(-noise / 2.0);
  };
  double all = 0.0;
  std::vector<double> velocity(2);
  for (double y = -kReach; y < kReach; y += kStep)
    for (double x = -kReach; x < kReach; x += kStep) {
      const double image[] = {x, y};
      const double weight = density(image);
      all += weight;
      for (std::size_t i = 0; i < 2; ++i)
        velocity[i] += weight * (static_cast<double>(x_t[i]) - image[i]) / time;
    }
  for (double& value : velocity) value /= all;
  return velocity;
}

double off(const std::vector<double>& velocity, const ReadImage& image) {
  double sum = 0.0;
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const double difference =
        velocity[i] - static_cast<double>(image.noise[i]) + static_cast<double>(image.image[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(velocity.size());
}

}  // namespace

TEST_CASE("logarithm, sine and cosine of polynomials agree with the library's") {
  for (const double x : {1e-300, 1.2e-16, 0.1, 0.5, 0.70710678, 0.75, 0.999999, 1.0})
    CHECK(plain_log(x) == Approx(std::log(x)).epsilon(1e-12).margin(1e-15));
  for (double x = 0.0; x < 4.0; x += 0.03125) {
    const auto [sine, cosine] = plain_sine_cosine(x);
    CHECK(sine == Approx(std::sin(1.5707963267948966 * x)).margin(1e-11));
    CHECK(cosine == Approx(std::cos(1.5707963267948966 * x)).margin(1e-11));
  }
}

TEST_CASE("pairs of normal numbers have the moments of independent ones") {
  constexpr std::uint64_t kPairs = 100000;
  double mean = 0.0, square = 0.0, fourth = 0.0, product = 0.0, far = 0.0;
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    const auto [a, b] = gaussian_pair({17}, i);
    mean += a + b;
    square += a * a + b * b;
    fourth += a * a * a * a + b * b * b * b;
    product += a * b;
    far += (std::abs(a) > 2.0 ? 1.0 : 0.0) + (std::abs(b) > 2.0 ? 1.0 : 0.0);
  }
  const double count = 2.0 * kPairs;
  CHECK(mean / count == Approx(0.0).margin(0.01));
  CHECK(square / count == Approx(1.0).margin(0.015));
  CHECK(fourth / count == Approx(3.0).margin(0.12));
  CHECK(product / kPairs == Approx(0.0).margin(0.015));
  CHECK(far / count == Approx(0.0455).margin(0.002));
}

TEST_CASE("the best velocity of an image is that of an integral over all images") {
  const ImageLaw law = one_pixel();
  const CaptionedImages source(law);
  for (const std::uint64_t index : {0, 1, 2})
    for (const double time : {0.25, 0.5, 0.875}) {
      const ReadImage image(source, Split::evaluation, index);
      const std::vector<float> x_t = image.noisy(time);
      const std::vector<double> right = integrated_velocity(source, law, image, x_t, time);
      std::vector<double> found(2);
      source.best_velocity(image.words, x_t, time, found);
      CHECK(found[0] == Approx(right[0]).epsilon(1e-4).margin(1e-4));
      CHECK(found[1] == Approx(right[1]).epsilon(1e-4).margin(1e-4));
    }
}

TEST_CASE("no change of the best velocity lowers its loss over many images") {
  const CaptionedImages source(one_pixel());
  for (const double time : {0.0, 0.5, 0.875}) {
    double best = 0.0, scaled[2] = {}, moved[2] = {};
    for (std::uint64_t index = 0; index < 20000; ++index) {
      const ReadImage image(source, Split::train, index);
      std::vector<double> velocity(2);
      source.best_velocity(image.words, image.noisy(time), time, velocity);
      best += off(velocity, image);
      for (const int sign : {0, 1}) {
        std::vector<double> other = velocity;
        for (double& value : other) value *= sign == 0 ? 0.9 : 1.1;
        scaled[sign] += off(other, image);
        other = velocity;
        other[0] += sign == 0 ? 0.1 : -0.1;
        moved[sign] += off(other, image);
      }
    }
    INFO("time " << time);
    for (const int sign : {0, 1}) {
      CHECK(scaled[sign] > best);
      CHECK(moved[sign] > best);
    }
  }
}

TEST_CASE("without noise the best velocity is minus the image, and the loss that of the noise") {
  const CaptionedImages source(ImageLaw{});
  const ReadImage image(source, Split::evaluation, 3);
  std::vector<double> velocity(image.image.size());
  source.best_velocity(image.words, image.image, 0.0, velocity);
  for (std::size_t i = 0; i < velocity.size(); ++i)
    CHECK(velocity[i] == Approx(-static_cast<double>(image.image[i])).margin(1e-6));
}

TEST_CASE("images have the mean and noise of their law, and captions name what is drawn") {
  const ImageLaw law;
  const CaptionedImages source(law);
  std::set<std::int32_t> colours, places;
  double squares = 0.0, count = 0.0;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const ReadImage image(source, Split::train, index);
    CHECK((image.time >= 0.0 && image.time < 1.0));
    colours.insert(image.words[0]);
    places.insert(image.words[2]);
    CHECK((image.words[1] >= 6 && image.words[1] < 12));
    const std::vector<double> described = source.described_by(image.words);
    double nearest = 1e9;  // the style is the texture that leaves the least
    for (std::size_t style = 0; style < 8; ++style) {
      double left = 0.0;
      for (std::size_t i = 0; i < described.size(); ++i) {
        const double z = static_cast<double>(image.image[i]) - described[i] -
                         source.textures()[style * described.size() + i];
        left += z * z;
      }
      nearest = std::min(nearest, left);
    }
    squares += nearest;
    count += static_cast<double>(described.size());
  }
  CHECK(colours.size() == 6);
  CHECK(places.size() == 9);
  CHECK(source.vocabulary() == 22);
  CHECK(std::sqrt(squares / count) == Approx(law.sigma).epsilon(0.01));
}

TEST_CASE("words beyond the last phrase have no meaning, and times of evaluation take turns") {
  ImageLaw law;
  law.shape.words = 8;  // two phrases
  const CaptionedImages source(law);
  for (std::uint64_t index = 0; index < 9; ++index) {
    const ReadImage image(source, Split::evaluation, index);
    CHECK(image.words[6] == 21);
    CHECK(image.words[7] == 21);
    CHECK(image.words[3] < 6);
    CHECK(image.time == static_cast<double>(index % 8) / 8.0);
  }
}

TEST_CASE("the law and the evaluation images are the same for all seeds, training images are not") {
  ImageLaw other;
  other.seed = 2;
  const CaptionedImages one{ImageLaw{}}, two(other);
  const auto image = [](const CaptionedImages& source, Split split) {
    return ReadImage(source, split, 5).image;
  };
  CHECK(image(one, Split::evaluation) == image(two, Split::evaluation));
  CHECK(image(one, Split::train) != image(two, Split::train));
  CHECK(image(one, Split::train) != image(one, Split::evaluation));
  const FiniteImages few(one, 4, 1);
  const std::vector<float> again = ReadImage(few, Split::train, 0).image;
  int found = 0;
  for (std::uint64_t position = 4; position < 8; ++position)
    found += ReadImage(few, Split::train, position).image == again ? 1 : 0;
  CHECK(found == 1);
}

TEST_CASE("impossible laws of images are refused") {
  const auto refuses = [](auto change, const char* text) {
    ImageLaw law;
    change(law);
    CHECK_THROWS_WITH(CaptionedImages(law), Contains(text));
  };
  refuses([](ImageLaw& law) { law.shape.words = 2; }, "one phrase");
  refuses([](ImageLaw& law) { law.shape.words = 9000; }, "8190 words");
  refuses([](ImageLaw& law) { law.styles = 0; }, "style");
  refuses([](ImageLaw& law) { law.shape_side = 9; }, "larger than the image");
  refuses([](ImageLaw& law) { law.tile = 0; }, "tiles");
  refuses([](ImageLaw& law) { law.shape.channels = 0; }, "no channels");
}

}  // namespace bench::training
