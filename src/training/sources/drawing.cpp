#include "training/sources/drawing.h"

#include <cmath>

#include "training/sources/gaussian.h"

namespace bench::training {

std::pair<double, double> sine_cosine_of(double turn) {
  return plain_sine_cosine(turn - 4.0 * std::floor(turn / 4.0));
}

Wave drawn_wave(Drawing& draw, double period) {
  const auto [sine, cosine] = plain_sine_cosine(draw.between(0.0, 4.0));
  return {4.0 / period * cosine, 4.0 / period * sine, draw.between(0.0, 4.0)};
}

void add_wave(const Wave& wave, double amplitude, std::vector<double>& values) {
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(values.size())));
  std::vector<std::pair<double, double>> across(side);
  for (std::size_t x = 0; x < side; ++x)
    across[x] = sine_cosine_of(wave.x * static_cast<double>(x) + wave.phase);
  for (std::size_t y = 0; y < side; ++y) {
    const auto [sine, cosine] = sine_cosine_of(wave.y * static_cast<double>(y));
    for (std::size_t x = 0; x < side; ++x)
      values[y * side + x] += amplitude * (across[x].first * cosine + across[x].second * sine);
  }
}

Coverage::Coverage(const Outline& outline, int side) {
  const Box box = outline.box();
  left = std::clamp(static_cast<int>(std::floor(box.left)), 0, side);
  top = std::clamp(static_cast<int>(std::floor(box.top)), 0, side);
  right = std::clamp(static_cast<int>(std::ceil(box.right)), left, side);
  bottom = std::clamp(static_cast<int>(std::ceil(box.bottom)), top, side);
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x)
      shares.push_back(
          static_cast<float>(std::clamp(0.5 - outline.distance(x + 0.5, y + 0.5), 0.0, 1.0)));
}

}  // namespace bench::training
