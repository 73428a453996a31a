#include <algorithm>
#include <array>

#include "probes/data/generate/writers.h"
#include "probes/training/sources/random.h"

namespace bench::data {
namespace {

constexpr int kShapes = 12;
constexpr int kNoise = 76;  // of a byte's 256; found by trying, for 4.7 bits a pixel at quality 90

struct Ellipse {
  int x, y, width, height;
  std::array<int, 3> colour;

  bool has(int px, int py) const {
    const std::int64_t dx = px - x, dy = py - y;
    const std::int64_t w = width, h = height;
    return dx * dx * h * h + dy * dy * w * w <= w * w * h * h;
  }
};

int draw(training::RandomStream stream, std::uint64_t index, int below) {
  return static_cast<int>(training::below(stream.bits32(index), static_cast<std::uint32_t>(below)));
}

std::array<Ellipse, kShapes> shapes_of(training::RandomStream stream, ImageSize size) {
  std::array<Ellipse, kShapes> shapes{};
  std::uint64_t next = 0;
  for (Ellipse& shape : shapes) {
    shape.x = draw(stream, next++, size.width);
    shape.y = draw(stream, next++, size.height);
    shape.width = 4 + draw(stream, next++, size.width / 3 + 1);
    shape.height = 4 + draw(stream, next++, size.height / 3 + 1);
    for (int& value : shape.colour) value = draw(stream, next++, 256);
  }
  return shapes;
}

}  // namespace

std::int64_t class_of(std::uint64_t index) { return static_cast<std::int64_t>(index % 10); }

std::vector<std::byte> make_jpeg(const DataSetWish& wish, std::uint64_t index) {
  const training::RandomStream stream = training::random_stream(wish.seed, index);
  const ImageSize size = wish.image;
  const auto shapes = shapes_of(stream, size);
  const std::uint64_t noise = random_bits(stream.key, 1u << 20);
  std::vector<std::uint8_t> rgb;
  rgb.reserve(static_cast<std::size_t>(3 * size.width * size.height));
  std::uint64_t pixel = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x, ++pixel) {
      std::array<int, 3> colour = {255 * x / size.width, 255 * y / size.height, 128};
      for (const Ellipse& shape : shapes)
        if (shape.has(x, y)) colour = shape.colour;
      const std::uint64_t bits = random_bits(noise, pixel);
      // Two bytes make a triangle; one noise for all colours, most of it: as sensors have it.
      const int grey = static_cast<int>((bits & 255) + (bits >> 8 & 255)) - 255;
      for (int c = 0; c < 3; ++c) {
        const int own = static_cast<int>(bits >> (16 + 8 * c) & 255) - 128;
        const int value = colour.at(static_cast<std::size_t>(c)) + (3 * grey + own) * kNoise / 1024;
        rgb.push_back(static_cast<std::uint8_t>(std::clamp(value, 0, 255)));
      }
    }
  return encode_jpeg(rgb, size, wish.quality);
}

}  // namespace bench::data
