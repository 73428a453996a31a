#include "probes/data/decode/crop.h"

#include <algorithm>
#include <cmath>

namespace bench::data {
namespace {

constexpr double kLeastArea = 0.08, kNarrowest = 3.0 / 4.0, kWidest = 4.0 / 3.0;
constexpr int kDraws = 10;

int place(std::uint32_t bits, int room) {
  return static_cast<int>(training::below(bits, static_cast<std::uint32_t>(room) + 1));
}

Region in_the_middle(ImageSize size, int width, int height) {
  return {(size.width - width) / 2, (size.height - height) / 2, width, height};
}

Region widest_that_fits(ImageSize size) {
  const double shape = static_cast<double>(size.width) / size.height;
  if (shape < kNarrowest)
    return in_the_middle(
        size, size.width,
        std::min(size.height, static_cast<int>(std::lround(size.width / kNarrowest))));
  if (shape > kWidest)
    return in_the_middle(size,
                         std::min(size.width, static_cast<int>(std::lround(size.height * kWidest))),
                         size.height);
  return {0, 0, size.width, size.height};
}

}  // namespace

RandomCrop random_resized_crop(training::RandomStream stream, ImageSize size) {
  std::uint64_t next = 0;
  const bool flip = (stream.bits(next++) >> 63) != 0;
  const double area = static_cast<double>(size.width) * size.height;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double wanted =
        area * (kLeastArea + (1.0 - kLeastArea) * training::uniform(stream.bits(next++)));
    const double low = std::log(kNarrowest), high = std::log(kWidest);
    const double shape = std::exp(low + (high - low) * training::uniform(stream.bits(next++)));
    const int width = static_cast<int>(std::lround(std::sqrt(wanted * shape)));
    const int height = static_cast<int>(std::lround(std::sqrt(wanted / shape)));
    if (width < 1 || width > size.width || height < 1 || height > size.height) continue;
    const int y = place(stream.bits32(next++), size.height - height);
    const int x = place(stream.bits32(next++), size.width - width);
    return {{x, y, width, height}, flip};
  }
  return {widest_that_fits(size), flip};
}

RandomCrop centre_crop(ImageSize size) {
  const int side = std::min(size.width, size.height);
  return {in_the_middle(size, side, side), false};
}

}  // namespace bench::data
