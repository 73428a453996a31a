#include <cstring>

#include "probes/data/decode/resample.h"

namespace bench::data {
namespace {

constexpr float kMeans[3] = {0.485f, 0.456f, 0.406f};
constexpr float kDeviations[3] = {0.229f, 0.224f, 0.225f};
constexpr std::size_t kPixel = 4;

/// Of one colour. Pixels are taken as words, of which vectors are made more easily than of every
/// fourth byte; the hosts that we know are little-endian.
template <class Each>
void each_value(std::span<const std::uint8_t> pixels, unsigned colour, Each each) {
  const std::size_t count = pixels.size() / kPixel;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word;
    std::memcpy(&word, pixels.data() + i * kPixel, sizeof(word));
    each(i, static_cast<std::int32_t>(word >> (8 * colour) & 255));
  }
}

}  // namespace

void normalise(std::span<const std::uint8_t> pixels, std::span<float> planes) {
  const std::size_t count = pixels.size() / kPixel;
  for (unsigned c = 0; c < 3; ++c) {
    const float scale = 1.0f / (255.0f * kDeviations[c]), shift = -kMeans[c] / kDeviations[c];
    float* const to = planes.data() + c * count;
    each_value(pixels, c, [&](std::size_t i, std::int32_t value) {
      to[i] = static_cast<float>(value) * scale + shift;
    });
  }
}

void to_planes(std::span<const std::uint8_t> pixels, std::span<std::uint8_t> planes) {
  const std::size_t count = pixels.size() / kPixel;
  for (unsigned c = 0; c < 3; ++c) {
    std::uint8_t* const to = planes.data() + c * count;
    each_value(pixels, c, [&](std::size_t i, std::int32_t value) {
      to[i] = static_cast<std::uint8_t>(value);
    });
  }
}

}  // namespace bench::data
