#include "training/sources/captioned_images.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "training/sources/gaussian.h"

namespace bench::training {
namespace {

enum ImageStream : std::uint64_t { kColourStream, kShapeStream, kStyleStream };

// Random numbers of a sample: time and style, then three words a phrase, then pairs of normal
// numbers for image and noise.
constexpr std::uint64_t kTimeNumber = 0, kStyleNumber = 1, kFirstWordNumber = 2,
                        kFirstPairNumber = 4096;

void check_law(const ImageLaw& law) {
  const ImageShape& shape = law.shape;
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::usage, "images: " + what, "change the law of the images");
  };
  if (shape.side < 1 || shape.channels < 1) refuse("no pixels or no channels");
  if (law.phrases() < 1) refuse("captions of less than one phrase of three words");
  if (kFirstWordNumber + static_cast<std::uint64_t>(shape.words) > 2 * kFirstPairNumber)
    refuse("captions of more than 8190 words");
  if (law.colours < 1 || law.shapes < 1 || law.places < 1 || law.styles < 1)
    refuse("no colour, shape, place or style");
  if (law.shape_side < 1 || law.shape_side > shape.side) refuse("shapes larger than the image");
  if (law.tile < 1) refuse("tiles without pixels");
  if (!(law.sigma > 0.0)) refuse("no noise, so that the best loss at time 0 is not defined");
}

/// `count` vectors of so many normal values, of a root mean square of 1.
std::vector<double> drawn_vectors(RandomStream stream, int count, std::size_t each) {
  std::vector<double> all(static_cast<std::size_t>(count) * each);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = gaussian_pair(stream, i).first;
  for (std::size_t first = 0; first < all.size(); first += each) {
    double squares = 0.0;
    for (std::size_t i = 0; i < each; ++i) squares += all[first + i] * all[first + i];
    const double size = std::sqrt(squares / static_cast<double>(each));
    for (std::size_t i = 0; i < each; ++i) all[first + i] /= size;
  }
  return all;
}

/// The tiles of each style, repeated over an image.
std::vector<double> repeated_tiles(const std::vector<double>& tiles, const ImageLaw& law) {
  const auto side = static_cast<std::size_t>(law.shape.side);
  const auto tile = static_cast<std::size_t>(law.tile);
  const auto channels = static_cast<std::size_t>(law.shape.channels);
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(law.styles) * law.shape.elements());
  for (std::size_t first = 0; first < tiles.size(); first += tile * tile * channels)
    for (std::size_t y = 0; y < side; ++y)
      for (std::size_t x = 0; x < side; ++x)
        for (std::size_t channel = 0; channel < channels; ++channel)
          all.push_back(law.texture *
                        tiles[first + (y % tile * tile + x % tile) * channels + channel]);
  return all;
}

}  // namespace

CaptionedImages::CaptionedImages(const ImageLaw& law) : law_(law) {
  check_law(law);
  const auto stream = [&](std::uint64_t which) { return random_stream(law.law, which); };
  const auto side = static_cast<std::size_t>(law.shape_side);
  colours_ = drawn_vectors(stream(kColourStream), law.colours,
                           static_cast<std::size_t>(law.shape.channels));
  patterns_ = drawn_vectors(stream(kShapeStream), law.shapes, side * side);
  const auto tile = static_cast<std::size_t>(law.tile * law.tile * law.shape.channels);
  textures_ = repeated_tiles(drawn_vectors(stream(kStyleStream), law.styles, tile), law);
}

int CaptionedImages::vocabulary() const {
  return law_.colours + law_.shapes + law_.places * law_.places + 1;
}

void CaptionedImages::read(Split split, std::uint64_t index, ImageSample& sample) const {
  const std::size_t elements = law_.shape.elements();
  if (sample.image.size() != elements || sample.noise.size() != elements ||
      sample.words.size() != static_cast<std::size_t>(law_.shape.words))
    throw Error(ErrorKind::internal, "an image sample has spans of other sizes than its source",
                "check the caller");
  const RandomStream stream =
      sample_stream(split == Split::evaluation ? law_.law : law_.seed, split, index);
  sample.time = split == Split::evaluation
                    ? static_cast<double>(index % kTimes) / static_cast<double>(kTimes)
                    : uniform(stream.bits(kTimeNumber));
  const std::size_t style =
      below(stream.bits32(kStyleNumber), static_cast<std::uint32_t>(law_.styles));
  // Words of a phrase: from `first` on, so many.
  const std::int32_t counts[] = {law_.colours, law_.shapes, law_.places * law_.places};
  std::ranges::fill(sample.words, vocabulary() - 1);
  for (int phrase = 0; phrase < law_.phrases(); ++phrase)
    for (std::int32_t kind = 0, first = 0; kind < 3; first += counts[kind++]) {
      const auto at = static_cast<std::size_t>(3 * phrase + kind);
      sample.words[at] =
          first + static_cast<std::int32_t>(below(stream.bits32(kFirstWordNumber + at),
                                                  static_cast<std::uint32_t>(counts[kind])));
    }
  const std::vector<double> described = described_by(sample.words);
  const double* texture = textures_.data() + style * elements;
  for (std::size_t i = 0; i < elements; ++i) {
    const auto [z, noise] = gaussian_pair(stream, kFirstPairNumber + i);
    sample.image[i] = static_cast<float>(described[i] + texture[i] + law_.sigma * z);
    sample.noise[i] = static_cast<float>(noise);
  }
}

std::vector<double> CaptionedImages::described_by(std::span<const std::int32_t> words) const {
  std::vector<double> image(law_.shape.elements());
  for (int phrase = 0; phrase < law_.phrases(); ++phrase)
    add_phrase(words.data() + 3 * phrase, image);
  return image;
}

void CaptionedImages::add_phrase(const std::int32_t* words, std::span<double> image) const {
  const auto channels = static_cast<std::size_t>(law_.shape.channels);
  const auto side = static_cast<std::size_t>(law_.shape_side);
  const double* colour = colours_.data() + static_cast<std::size_t>(words[0]) * channels;
  const double* pattern =
      patterns_.data() + static_cast<std::size_t>(words[1] - law_.colours) * side * side;
  const int place = words[2] - law_.colours - law_.shapes;
  const int free = law_.shape.side - law_.shape_side;
  const auto corner = [&](int number) {
    return static_cast<std::size_t>(law_.places > 1 ? number * free / (law_.places - 1) : free / 2);
  };
  const std::size_t top = corner(place / law_.places), left = corner(place % law_.places);
  const double size = law_.contrast / std::sqrt(static_cast<double>(law_.phrases()));
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x) {
      const std::size_t pixel = (top + y) * static_cast<std::size_t>(law_.shape.side) + left + x;
      for (std::size_t channel = 0; channel < channels; ++channel)
        image[pixel * channels + channel] += size * pattern[y * side + x] * colour[channel];
    }
}

void CaptionedImages::best_velocity(std::span<const std::int32_t> words, std::span<const float> x_t,
                                    double time, std::span<double> velocity) const {
  const std::vector<double> described = described_by(words);
  std::vector<double> means = textures_;
  for (std::size_t i = 0; i < means.size(); ++i) means[i] += described[i % described.size()];
  velocity_of_mixture(means, law_.sigma, x_t, time, velocity);
}

void velocity_of_mixture(std::span<const double> means, double sigma, std::span<const float> x_t,
                         double time, std::span<double> velocity) {
  const std::size_t elements = x_t.size(), count = means.size() / elements;
  const double left = 1.0 - time, variance = left * left * sigma * sigma + time * time;
  // The logarithm of each component's probability, up to a common constant.
  std::vector<double> shares(count);
  for (std::size_t k = 0; k < count; ++k) {
    double distance = 0.0;
    for (std::size_t i = 0; i < elements; ++i) {
      const double off = static_cast<double>(x_t[i]) - left * means[k * elements + i];
      distance += off * off;
    }
    shares[k] = -distance / (2.0 * variance);
  }
  const double most = *std::ranges::max_element(shares);
  double sum = 0.0;
  for (double& share : shares) sum += share = std::exp(share - most);
  // Given its component, the velocity is -mean + slope (x_t - (1 - t) mean).
  const double slope = (time - left * sigma * sigma) / variance;
  for (std::size_t i = 0; i < elements; ++i) velocity[i] = slope * static_cast<double>(x_t[i]);
  for (std::size_t k = 0; k < count; ++k) {
    const double share = shares[k] / sum * (1.0 + slope * left);
    if (share == 0.0) continue;
    for (std::size_t i = 0; i < elements; ++i) velocity[i] -= share * means[k * elements + i];
  }
}

}  // namespace bench::training
