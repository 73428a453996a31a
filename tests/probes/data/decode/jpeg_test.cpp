#include "probes/data/decode/jpeg.h"

#include "core/elements.h"
#include "core/error.h"
#include "probes/data/generate/writers.h"
#include "tests/support/catch.h"

namespace bench::data {
namespace {

std::vector<std::byte> image_of(ImageSize size, std::uint64_t index = 0, int quality = 90) {
  DataSetWish wish;
  wish.image = size;
  wish.quality = quality;
  return make_jpeg(wish, index);
}

/// Pixels of a region, without what is of no meaning.
std::vector<std::uint8_t> pixels_in(const Picture& picture, const Region& region) {
  std::vector<std::uint8_t> found;
  for (int y = region.y; y < region.y + region.height; ++y)
    for (int x = region.x; x < region.x + region.width; ++x)
      for (int c = 0; c < 3; ++c) found.push_back(picture.row(y)[4 * x + c]);
  return found;
}

TEST_CASE("decoding a region gives the same bits as decoding the whole image") {
  if (!no_jpeg().empty()) return;
  JpegDecoder whole, part;
  std::uint64_t draw = 0;
  const auto below = [&](int bound) {
    return static_cast<int>(random_bits(9, draw++) % static_cast<std::uint64_t>(bound));
  };
  for (const ImageSize size : {ImageSize{120, 90}, {127, 93}, {33, 17}, {16, 16}, {500, 375}}) {
    const auto jpeg = image_of(size, draw);
    whole.open(jpeg, "whole");
    const Picture all = whole.decode({0, 0, size.width, size.height});
    for (int i = 0; i < 60; ++i) {
      Region region{below(size.width), below(size.height), 0, 0};
      region.width = 1 + below(size.width - region.x);
      region.height = 1 + below(size.height - region.y);
      INFO(size.width << "x" << size.height << ": " << region.x << "," << region.y << " "
                      << region.width << "x" << region.height);
      REQUIRE(part.open(jpeg, "part").width == size.width);
      const Picture picture = part.decode(region);
      REQUIRE(picture.width == region.width);
      REQUIRE((pixels_in(picture, {0, 0, region.width, region.height}) == pixels_in(all, region)));
    }
  }
}

TEST_CASE("a truncated image is refused if the missing part is needed") {
  if (!no_jpeg().empty()) return;
  auto jpeg = image_of({200, 200});
  jpeg.resize(jpeg.size() / 2);
  JpegDecoder decoder;
  decoder.open(jpeg, "half.jpg");
  CHECK_NOTHROW(decoder.decode({0, 0, 200, 20}));
  decoder.open(jpeg, "half.jpg");
  CHECK_THROWS_WITH(decoder.decode({0, 0, 200, 200}), "half.jpg: truncated image");
  // And the decoder is as good as new.
  const auto next = image_of({20, 20});
  CHECK(decoder.open(next, "next").height == 20);
  CHECK_NOTHROW(decoder.decode({0, 0, 20, 20}));
}

TEST_CASE("data that is not a JPEG is refused with its name, made safe for a terminal") {
  if (!no_jpeg().empty()) return;
  JpegDecoder decoder;
  const std::vector<std::byte> text(100, std::byte{'x'});
  CHECK_THROWS_AS(decoder.open(text, "a\x1b[31m.jpg"), Error);
  try {
    decoder.open(text, "a\x1b[31m.jpg");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find('\x1b') == std::string::npos);
    CHECK(error.kind() == ErrorKind::input);
  }
  CHECK_THROWS_AS(decoder.open({}, "empty"), Error);
}

#ifdef BENCH_JPEG_FOUND
TEST_CASE("libjpeg-turbo is compiled in if the build found it") { CHECK(no_jpeg().empty()); }
#endif

TEST_CASE("generated images differ and have the size of photographs") {
  if (!no_jpeg().empty()) return;
  const auto first = image_of({500, 375}, 0), second = image_of({500, 375}, 1);
  CHECK((first != second));
  CHECK((first == image_of({500, 375}, 0)));
  const double bits = 8.0 * static_cast<double>(first.size() + second.size()) / (2 * 500 * 375);
  CHECK(bits > 4.0);
  CHECK(bits < 5.5);
}

}  // namespace
}  // namespace bench::data
