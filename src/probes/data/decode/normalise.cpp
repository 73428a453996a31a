#include "probes/data/decode/resample.h"
#include "probes/data/decode/resample_kernels.h"

namespace bench::data {
namespace {

constexpr float kMeans[3] = {0.485f, 0.456f, 0.406f};
constexpr float kDeviations[3] = {0.229f, 0.224f, 0.225f};

}  // namespace

void normalise(std::span<const std::uint8_t> pixels, std::span<float> planes) {
  const std::size_t count = pixels.size() / kPixelLanes;
  for (unsigned c = 0; c < 3; ++c)
    resample_kernels().plane(pixels.data(), c, count, 1.0f / (255.0f * kDeviations[c]),
                             -kMeans[c] / kDeviations[c], planes.data() + c * count);
}

void to_planes(std::span<const std::uint8_t> pixels, std::span<std::uint8_t> planes) {
  const std::size_t count = pixels.size() / kPixelLanes;
  for (unsigned c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < count; ++i) planes[c * count + i] = pixels[i * kPixelLanes + c];
}

}  // namespace bench::data
