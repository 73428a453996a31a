// Hostile JPEGs: refused with an Error, or a region of them is decoded.
#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "probes/data/decode/jpeg.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  if (!bench::data::no_jpeg().empty()) return 0;
  static bench::data::JpegDecoder decoder;
  const auto image = decoder.open({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  demand(image.width > 0 && image.height > 0, "an image of no size");
  const bench::data::Region region{image.width / 3, image.height / 3,
                                   std::min(image.width - image.width / 3, 64),
                                   std::min(image.height - image.height / 3, 64)};
  const auto picture = decoder.decode(region);
  unsigned sum = 0;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < 4 * picture.width; ++x) sum += picture.row(y)[x];
  demand(sum <= 255u * 64 * 64 * 4, "pixels that are none");
  return 0;
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
  return 0;
}
