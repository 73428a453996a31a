#ifdef BENCH_JPEG

#include <cstdlib>

#include "core/error.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/decode/jpeg_error.h"

namespace bench::data {
namespace {

struct Encoder {
  jpeg_compress_struct object = {};
  JpegErrors errors = {};
  unsigned char* made = nullptr;
  unsigned long size = 0;

  ~Encoder() {
    jpeg_destroy_compress(&object);
    std::free(made);
  }

  bool run(const std::uint8_t* rgb, ImageSize image, int quality) {
    object.err = errors.attach();
    if (setjmp(errors.mark) != 0) return false;
    jpeg_create_compress(&object);
    jpeg_mem_dest(&object, &made, &size);
    object.image_width = static_cast<JDIMENSION>(image.width);
    object.image_height = static_cast<JDIMENSION>(image.height);
    object.input_components = 3;
    object.in_color_space = JCS_RGB;
    jpeg_set_defaults(&object);  // 4:2:0
    jpeg_set_quality(&object, quality, TRUE);
    jpeg_start_compress(&object, TRUE);
    while (object.next_scanline < object.image_height) {
      JSAMPROW row = const_cast<JSAMPROW>(rgb) +
                     std::size_t{object.next_scanline} * 3u * static_cast<std::size_t>(image.width);
      jpeg_write_scanlines(&object, &row, 1);
    }
    jpeg_finish_compress(&object);
    return true;
  }
};

}  // namespace

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, ImageSize size, int quality) {
  if (size.width < 1 || size.height < 1 ||
      rgb.size() != std::size_t{3} * static_cast<std::size_t>(size.width) *
                        static_cast<std::size_t>(size.height))
    throw Error(ErrorKind::internal, "pixels that are no image of the size");
  Encoder encoder;
  if (!encoder.run(rgb.data(), size, quality))
    throw Error(ErrorKind::internal, std::string("no JPEG was made: ") + encoder.errors.text);
  const auto* bytes = reinterpret_cast<const std::byte*>(encoder.made);
  return {bytes, bytes + encoder.size};
}

}  // namespace bench::data

#endif
