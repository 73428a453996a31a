#include "probes/data/decode/resample.h"
#include "probes/data/decode/resample_kernels.h"

namespace bench::data {
namespace {

constexpr float kScales[3] = {1.0f / (255.0f * 0.229f), 1.0f / (255.0f * 0.224f),
                              1.0f / (255.0f * 0.225f)};
constexpr float kShifts[3] = {-0.485f / 0.229f, -0.456f / 0.224f, -0.406f / 0.225f};

}  // namespace

void normalise(std::span<const std::uint8_t> pixels, std::span<float> planes) {
  const std::size_t count = pixels.size() / kPixelLanes;
  resample_kernels().planes(pixels.data(), count, kScales, kShifts, planes.data());
}

void to_planes(std::span<const std::uint8_t> pixels, std::span<std::uint8_t> planes) {
  const std::size_t count = pixels.size() / kPixelLanes;
  for (unsigned c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < count; ++i) planes[c * count + i] = pixels[i * kPixelLanes + c];
}

}  // namespace bench::data
