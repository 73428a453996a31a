#include "training/pictures/resample.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "training/pictures/resample_kernels.h"

namespace bench::training {
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

namespace {

constexpr double kNarrowestCrop = 3.0 / 4.0, kWidestCrop = 4.0 / 3.0;
constexpr int kCropDraws = 10;

int place_of_crop(std::uint32_t bits, int room) {
  return static_cast<int>(below(bits, static_cast<std::uint32_t>(room) + 1));
}

Region in_the_middle(ImageSize size, int width, int height) {
  return {(size.width - width) / 2, (size.height - height) / 2, width, height};
}

Region widest_that_fits(ImageSize size) {
  const double shape = static_cast<double>(size.width) / size.height;
  if (shape < kNarrowestCrop)
    return in_the_middle(
        size, size.width,
        std::min(size.height, static_cast<int>(std::lround(size.width / kNarrowestCrop))));
  if (shape > kWidestCrop)
    return in_the_middle(
        size, std::min(size.width, static_cast<int>(std::lround(size.height * kWidestCrop))),
        size.height);
  return {0, 0, size.width, size.height};
}

}  // namespace

RandomCrop random_resized_crop(RandomStream stream, ImageSize size, double least_area) {
  std::uint64_t next = 0;
  const bool flip = (stream.bits(next++) >> 63) != 0;
  const double area = static_cast<double>(size.width) * size.height;
  for (int draw = 0; draw < kCropDraws; ++draw) {
    const double wanted = area * (least_area + (1.0 - least_area) * uniform(stream.bits(next++)));
    const double low = std::log(kNarrowestCrop), high = std::log(kWidestCrop);
    const double shape = std::exp(low + (high - low) * uniform(stream.bits(next++)));
    const int width = static_cast<int>(std::lround(std::sqrt(wanted * shape)));
    const int height = static_cast<int>(std::lround(std::sqrt(wanted / shape)));
    if (width < 1 || width > size.width || height < 1 || height > size.height) continue;
    const int y = place_of_crop(stream.bits32(next++), size.height - height);
    const int x = place_of_crop(stream.bits32(next++), size.width - width);
    return {{x, y, width, height}, flip};
  }
  return {widest_that_fits(size), flip};
}

RandomCrop centre_crop(ImageSize size, double share) {
  const int side =
      std::max(1, static_cast<int>(std::lround(share * std::min(size.width, size.height))));
  return {in_the_middle(size, side, side), false};
}

FilterAxis make_axis(int inputs, int outputs, bool mirrored) {
  const double scale = static_cast<double>(inputs) / outputs;
  const double reach = std::max(scale, 1.0);
  FilterAxis axis;
  axis.taps = std::min(inputs, static_cast<int>(std::ceil(2.0 * reach)));
  axis.first.resize(static_cast<std::size_t>(outputs));
  axis.weights.assign(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(axis.taps), 0.f);
  for (int i = 0; i < outputs; ++i) {
    const auto o = static_cast<std::size_t>(mirrored ? outputs - 1 - i : i);
    const double centre = (i + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(centre - reach + 0.5));
    const int end = std::min({inputs, static_cast<int>(centre + reach + 0.5), begin + axis.taps});
    const int first = std::min(begin, inputs - axis.taps);
    axis.first[o] = first;
    float* weights = axis.weights.data() + o * static_cast<std::size_t>(axis.taps);
    double sum = 0;
    const auto weight = [&](int x) {
      return std::max(0.0, 1.0 - std::abs((x - centre + 0.5) / reach));
    };
    for (int x = begin; x < end; ++x) sum += weight(x);
    for (int x = begin; x < end; ++x) weights[x - first] = static_cast<float>(weight(x) / sum);
  }
  return axis;
}

/// For the first pass: an even number of outputs, and the weights of each pair interleaved.
void Resampler::pair_up(FilterAxis& axis) {
  const std::size_t outputs = axis.first.size();
  const auto taps = static_cast<std::size_t>(axis.taps);
  if (outputs % 2 != 0) axis.first.push_back(axis.first.back());
  wide_.resize(axis.first.size() * taps * kPixelLanes);
  for (std::size_t i = 0; i < axis.first.size(); ++i) {
    const float* weights = axis.weights.data() + std::min(i, outputs - 1) * taps;
    float* to = wide_.data() + (i / 2 * taps * 2 + i % 2) * kPixelLanes;
    for (std::size_t k = 0; k < taps; ++k)
      std::fill_n(to + k * 2 * kPixelLanes, kPixelLanes, weights[k]);
  }
}

Resampler::Resampler(int size) : size_(size) {
  if (size < 1) throw Error(ErrorKind::internal, "empty image");
}

void Resampler::resize(const Picture& picture, bool flip, std::span<std::uint8_t> out) {
  FilterAxis across = make_axis(picture.width, size_, flip);
  const FilterAxis down = make_axis(picture.height, size_, false);
  pair_up(across);
  const auto floats = static_cast<std::size_t>(size_) * kPixelLanes;
  const std::size_t stride = across.first.size() * kPixelLanes;
  const auto kept = static_cast<std::size_t>(down.taps);
  row_.resize(static_cast<std::size_t>(picture.width) * kPixelLanes);
  rows_.resize(stride * kept);
  const ResampleKernels& kernels = resample_kernels();
  std::vector<const float*> needed(kept);
  int made = 0;  // input rows
  for (int y = 0; y < size_; ++y) {
    const int first = down.first[static_cast<std::size_t>(y)];
    for (made = std::max(made, first); made < first + down.taps; ++made) {
      kernels.widen(picture.row(made), row_.size(), row_.data());
      kernels.along(row_.data(), across.first, static_cast<std::size_t>(across.taps), wide_.data(),
                    rows_.data() + stride * (static_cast<std::size_t>(made) % kept));
    }
    for (std::size_t k = 0; k < kept; ++k)
      needed[k] = rows_.data() + stride * ((static_cast<std::size_t>(first) + k) % kept);
    kernels.down(needed, down.weights.data() + static_cast<std::size_t>(y) * kept, floats,
                 out.data() + static_cast<std::size_t>(y) * floats);
  }
}

}  // namespace bench::training
