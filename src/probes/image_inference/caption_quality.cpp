#include "probes/image_inference/caption_quality.h"

#include <algorithm>
#include <limits>

namespace bench {

CaptionQuality::CaptionQuality(const training::FlowSetting& setting)
    : shape_(setting.shape), law_(setting.images(1)), source_(law_) {}

double CaptionQuality::distance(std::span<const std::int32_t> words,
                                std::span<const double> image) const {
  const std::vector<double> described = source_.described_by(words);
  const std::span<const double> textures = source_.textures();
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t first = 0; first < textures.size(); first += described.size()) {
    double squares = 0.0;
    for (std::size_t i = 0; i < described.size(); ++i) {
      const double off = image[place_in_patches(i)] - described[i] - textures[first + i];
      squares += off * off;
    }
    nearest = std::min(nearest, squares);
  }
  return in_variances(nearest);
}

double CaptionQuality::between(std::span<const double> a, std::span<const double> b) const {
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return in_variances(squares);
}

double CaptionQuality::in_variances(double squares) const {
  return squares / (law_.sigma * law_.sigma * static_cast<double>(law_.shape.elements()));
}

std::vector<double> CaptionQuality::best_image(const ImageSample& sample,
                                               std::int64_t steps) const {
  std::vector<float> x(sample.image.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = sample.image[place_in_patches(i)];
  std::vector<double> velocity(x.size());
  for (std::int64_t step = 0; step < steps; ++step) {
    const double time = 1.0 - static_cast<double>(step) / static_cast<double>(steps);
    source_.best_velocity(sample.words, x, time, velocity);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] -= static_cast<float>(velocity[i] / static_cast<double>(steps));
  }
  std::vector<double> image(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) image[place_in_patches(i)] = x[i];
  return image;
}

std::size_t CaptionQuality::place_in_patches(std::size_t element) const {
  const auto channels = static_cast<std::size_t>(shape_.channels);
  const auto side = static_cast<std::size_t>(shape_.side);
  const auto patch = static_cast<std::size_t>(shape_.patch);
  const std::size_t channel = element % channels, pixel = element / channels;
  const std::size_t y = pixel / side, x = pixel % side;
  const std::size_t row = y / patch * (side / patch) + x / patch;
  return (row * patch * patch + y % patch * patch + x % patch) * channels + channel;
}

}  // namespace bench
