#include "training/pictures/resample.h"

#include <algorithm>
#include <cmath>

#include "core/elements.h"
#include "tests/support/catch.h"
#include "training/pictures/resample_kernels.h"

namespace bench::training {
namespace {

struct TestPicture {
  std::vector<std::uint8_t> bytes;
  Picture picture;

  TestPicture(int width, int height, bool random) {
    bytes.resize(static_cast<std::size_t>(4 * width * height), 77);
    for (std::size_t i = 0; random && i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(random_bits(4, i));
    picture = {bytes.data(), static_cast<std::size_t>(4 * width), width, height};
  }
};

/// The definition, in f64 and without short cuts.
double resized(const Picture& in, int size, int x, int y, int colour) {
  const auto weights = [size](int inputs, int output) {
    const double scale = static_cast<double>(inputs) / size, reach = std::max(scale, 1.0);
    std::vector<double> found(static_cast<std::size_t>(inputs));
    double sum = 0;
    for (int i = 0; i < inputs; ++i) {
      const double away = std::abs(i + 0.5 - (output + 0.5) * scale) / reach;
      sum += found[static_cast<std::size_t>(i)] = std::max(0.0, 1.0 - away);
    }
    for (double& one : found) one /= sum;
    return found;
  };
  const auto across = weights(in.width, x), down = weights(in.height, y);
  double value = 0;
  for (int i = 0; i < in.height; ++i)
    for (int j = 0; j < in.width; ++j)
      value += down[static_cast<std::size_t>(i)] * across[static_cast<std::size_t>(j)] *
               in.row(i)[4 * j + colour];
  return value;
}

void check_resized(int width, int height, int size) {
  const TestPicture in(width, height, true);
  Resampler resampler(size);
  const auto row = static_cast<std::size_t>(4 * size);
  std::vector<std::uint8_t> out(row * static_cast<std::size_t>(size));
  resampler.resize(in.picture, false, out);
  double worst = 0;
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      for (int c = 0; c < 3; ++c)
        worst = std::max(worst, std::abs(resized(in.picture, size, x, y, c) -
                                         out[static_cast<std::size_t>(4 * (size * y + x) + c)]));
  INFO(width << "x" << height << " to " << size);
  CHECK(worst <= 0.501);  // rounded to nearest
}

TEST_CASE("resizing is the antialiased triangle filter, for shrinking and growing") {
  for (const auto& [width, height] :
       {std::pair{61, 47}, {20, 90}, {7, 5}, {32, 32}, {1, 3}, {300, 31}})
    check_resized(width, height, 32);
  for (const int size : {1, 7, 31}) check_resized(61, 47, size);
}

TEST_CASE("a flip exchanges left and right, and a uniform image stays uniform") {
  const TestPicture in(61, 47, true), even(99, 10, false);
  Resampler resampler(16);
  std::vector<std::uint8_t> plain(16 * 16 * 4), flipped(plain.size()), same(plain.size());
  resampler.resize(in.picture, false, plain);
  resampler.resize(in.picture, true, flipped);
  for (std::size_t y = 0; y < 16; ++y)
    for (std::size_t x = 0; x < 16; ++x)
      for (std::size_t c = 0; c < 4; ++c)
        REQUIRE(std::abs(plain[4 * (16 * y + x) + c] - flipped[4 * (16 * y + 15 - x) + c]) <= 1);
  resampler.resize(even.picture, true, same);
  CHECK(std::ranges::all_of(same, [](std::uint8_t v) { return v == 77; }));
}

TEST_CASE("all instruction sets give the same bits") {
  const ResampleKernels* quick = resample_kernels_avx2();
  if (quick == nullptr) return;
  const ResampleKernels& base = resample_kernels_base();
  const TestPicture in(61, 47, true);
  std::vector<float> a(in.bytes.size()), b(a.size());
  base.widen(in.bytes.data(), a.size(), a.data());
  quick->widen(in.bytes.data(), b.size(), b.data());
  REQUIRE((a == b));
  const float weights[9] = {0.1f, 0.3f, 0.05f, 0.15f, 0.1f, 0.1f, 0.05f, 0.1f, 0.05f};
  for (std::size_t taps = 1; taps <= 9; ++taps) {
    std::vector<const float*> rows;
    for (std::size_t k = 0; k < taps; ++k) rows.push_back(a.data() + 244 * k);
    std::vector<std::uint8_t> c(243), d(243);
    base.down(rows, weights, c.size(), c.data());
    quick->down(rows, weights, d.size(), d.data());
    INFO(taps << " rows");
    CHECK((c == d));
    const std::vector<int> first = {0, 3, 50, 50};
    std::vector<float> wide, e(16), f(16);
    for (std::size_t i = 0; i < 4 * taps * 4; ++i) wide.push_back(weights[i / 4 % taps]);
    base.along(a.data(), first, taps, wide.data(), e.data());
    quick->along(a.data(), first, taps, wide.data(), f.data());
    CHECK((e == f));
  }
  base.planes(in.bytes.data(), 2867, weights, weights + 3, a.data());
  quick->planes(in.bytes.data(), 2867, weights, weights + 3, b.data());
  CHECK((a == b));
}

TEST_CASE("normalised planes are (value / 255 - mean) / deviation by colour") {
  const std::vector<std::uint8_t> pixels = {0, 128, 255, 9, 255, 0, 10, 9};
  std::vector<float> planes(6);
  normalise(pixels, planes);
  CHECK(planes[0] == Approx((0.0 - 0.485) / 0.229));
  CHECK(planes[1] == Approx((1.0 - 0.485) / 0.229));
  CHECK(planes[2] == Approx((128 / 255.0 - 0.456) / 0.224));
  CHECK(planes[5] == Approx((10 / 255.0 - 0.406) / 0.225));
  std::vector<std::uint8_t> bytes(6);
  to_planes(pixels, bytes);
  CHECK(bytes == std::vector<std::uint8_t>{0, 255, 128, 0, 255, 10});
}

TEST_CASE("random crops are inside the image and have the specified areas and shapes") {
  double area = 0;
  int flips = 0, odd = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const auto stream = training::random_stream(3, static_cast<std::uint64_t>(i));
    const RandomCrop crop = random_resized_crop(stream, {500, 375});
    const Region& r = crop.region;
    REQUIRE((r.x >= 0 && r.y >= 0 && r.x + r.width <= 500 && r.y + r.height <= 375));
    const double shape = static_cast<double>(r.width) / r.height;
    if (shape < 0.73 || shape > 1.37) ++odd;
    area += static_cast<double>(r.width) * r.height / (500.0 * 375.0);
    flips += crop.flip ? 1 : 0;
  }
  CHECK(area / kDraws == Approx(0.43).margin(0.01));  // large ones fit less often
  CHECK(flips == Approx(kDraws / 2).margin(300));
  CHECK(odd == 0);
  // Too narrow for any draw: the middle.
  const RandomCrop narrow = random_resized_crop(training::random_stream(1, 1), {10, 1000});
  CHECK(narrow.region.width == 10);
  CHECK(narrow.region.height == 13);
  CHECK(narrow.region.y == 493);
}

}  // namespace
}  // namespace bench::training
