#include "probes/data/decode/jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>

#include "core/error.h"
#include "core/text.h"

#ifdef BENCH_JPEG

#include <jerror.h>
#include <jpeglib.h>
#include <stddef.h>
#include <stdio.h>  // jpeglib.h takes FILE and size_t for known

namespace bench::data {
namespace {

/// libjpeg reports errors by longjmp. Functions that call setjmp must create no objects with
/// destructors between it and the calls of libjpeg.
struct JpegErrors {
  jpeg_error_mgr manager = {};  // first: libjpeg hands back a pointer to it
  std::jmp_buf mark = {};
  char text[JMSG_LENGTH_MAX] = {};
  bool cut_short = false;

  /// Makes it the error manager of a libjpeg object.
  jpeg_error_mgr* attach() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr object) {
      auto* errors = reinterpret_cast<JpegErrors*>(object->err);
      object->err->format_message(object, errors->text);
      std::longjmp(errors->mark, 1);
    };
    manager.emit_message = [](j_common_ptr object, int level) {
      if (level >= 0) return;  // a trace
      auto* errors = reinterpret_cast<JpegErrors*>(object->err);
      const int code = object->err->msg_code;
      if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) errors->cut_short = true;
      ++object->err->num_warnings;
    };
    manager.output_message = [](j_common_ptr) {};
    return &manager;
  }
};

constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;
// Of libjpeg, which keeps progressive images whole.
constexpr long kMostMemory = 512L << 20;
constexpr int kPixelBytes = 4;
// Colours depend on neighbours up to two pixels away ("fancy upsampling").
constexpr int kMargin = 2;

[[noreturn]] void refuse_image(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::input, printable(name) + ": " + printable(what),
              "the file is damaged or not a JPEG: copy it again or remove it");
}

/// Inverted CMYK, as Adobe writes it, in place.
void from_cmyk(std::uint8_t* row, std::size_t pixels) {
  for (std::size_t i = 0; i < pixels; ++i, row += kPixelBytes)
    for (int c = 0; c < 3; ++c) row[c] = static_cast<std::uint8_t>((row[c] * row[3] + 127) / 255);
}

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

std::string no_jpeg() { return ""; }
std::string jpeg_library() {
  constexpr int kVersion = LIBJPEG_TURBO_VERSION_NUMBER;
  return fmt::format("libjpeg-turbo {}.{}.{}", kVersion / 1000000, kVersion / 1000 % 1000,
                     kVersion % 1000);
}

struct JpegDecoder::State {
  jpeg_decompress_struct decoder = {};
  JpegErrors errors = {};
  std::string name = {};
  std::vector<std::uint8_t> pixels = {};
  std::size_t stride = 0;
  JDIMENSION left = 0;  // first column that is decoded

  bool create() {
    decoder.err = errors.attach();
    if (setjmp(errors.mark) != 0) return false;
    jpeg_create_decompress(&decoder);
    decoder.mem->max_memory_to_use = kMostMemory;
    return true;
  }

  bool read_header(std::span<const std::byte> jpeg) {
    if (setjmp(errors.mark) != 0) return false;
    jpeg_abort_decompress(&decoder);
    jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
    jpeg_read_header(&decoder, TRUE);
    return true;
  }

  bool cmyk() const {
    return decoder.jpeg_color_space == JCS_CMYK || decoder.jpeg_color_space == JCS_YCCK;
  }

  /// The next row to be read is the first one of the region.
  bool begin(Region region) {
    if (setjmp(errors.mark) != 0) return false;
    decoder.out_color_space = cmyk() ? JCS_CMYK : JCS_EXT_RGBX;
    jpeg_start_decompress(&decoder);
    left = static_cast<JDIMENSION>(std::max(region.x - kMargin, 0));
    const auto right = static_cast<JDIMENSION>(region.x + region.width + kMargin);
    JDIMENSION width = std::min(right, decoder.output_width) - left;
    if (width < decoder.output_width) jpeg_crop_scanline(&decoder, &left, &width);
    if (region.y > 0) jpeg_skip_scanlines(&decoder, static_cast<JDIMENSION>(region.y));
    return true;
  }

  bool read_rows(int height) {
    if (setjmp(errors.mark) != 0) return false;
    std::array<JSAMPROW, 8> rows;
    for (int y = 0; y < height;) {
      const int most = std::min<int>(static_cast<int>(rows.size()), height - y);
      for (int i = 0; i < most; ++i)
        rows[static_cast<std::size_t>(i)] =
            pixels.data() + static_cast<std::size_t>(y + i) * stride;
      y += static_cast<int>(
          jpeg_read_scanlines(&decoder, rows.data(), static_cast<JDIMENSION>(most)));
    }
    return true;
  }
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  if (!state_->create())
    throw Error(ErrorKind::environment,
                std::string("cannot initialise libjpeg-turbo: ") + state_->errors.text);
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->decoder); }

ImageSize JpegDecoder::open(std::span<const std::byte> jpeg, const std::string& name) {
  state_->name = name;
  state_->errors.cut_short = false;
  if (jpeg.empty()) refuse_image(name, "empty file");
  if (!state_->read_header(jpeg)) refuse_image(name, state_->errors.text);
  const auto& decoder = state_->decoder;
  if (std::int64_t{decoder.image_width} * decoder.image_height > kMostPixels)
    refuse_image(name, fmt::format("{} x {} pixels exceed the limit of {}", decoder.image_width,
                                   decoder.image_height, kMostPixels));
  return {static_cast<int>(decoder.image_width), static_cast<int>(decoder.image_height)};
}

Picture JpegDecoder::decode(const Region& region) {
  State& s = *state_;
  if (region.x < 0 || region.y < 0 || region.width < 1 || region.height < 1 ||
      region.x + region.width > static_cast<int>(s.decoder.image_width) ||
      region.y + region.height > static_cast<int>(s.decoder.image_height))
    throw Error(ErrorKind::internal, s.name + ": crop region outside the image");
  if (!s.begin(region)) refuse_image(s.name, s.errors.text);
  s.stride = static_cast<std::size_t>(s.decoder.output_width) * kPixelBytes;
  const std::size_t bytes = s.stride * static_cast<std::size_t>(region.height);
  if (s.pixels.size() < bytes)
    s.pixels.resize(bytes);  // never shrinks: growing clears the new part
  if (!s.read_rows(region.height)) refuse_image(s.name, s.errors.text);
  if (s.errors.cut_short) refuse_image(s.name, "truncated image");
  if (s.cmyk()) from_cmyk(s.pixels.data(), bytes / kPixelBytes);
  const auto skipped = static_cast<std::size_t>(region.x) - s.left;
  return {s.pixels.data() + skipped * kPixelBytes, s.stride, region.width, region.height};
}

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, ImageSize size, int quality) {
  if (size.width < 1 || size.height < 1 ||
      rgb.size() != std::size_t{3} * static_cast<std::size_t>(size.width) *
                        static_cast<std::size_t>(size.height))
    throw Error(ErrorKind::internal, "pixel count differs from the image size");
  Encoder encoder;
  if (!encoder.run(rgb.data(), size, quality))
    throw Error(ErrorKind::internal, std::string("JPEG encoding failed: ") + encoder.errors.text);
  const auto* bytes = reinterpret_cast<const std::byte*>(encoder.made);
  return {bytes, bytes + encoder.size};
}

}  // namespace bench::data

#else  // without libjpeg-turbo

namespace bench::data {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::environment, no_jpeg(), "install libjpeg62-turbo-dev and rebuild");
}

}  // namespace

struct JpegDecoder::State {};

std::string no_jpeg() { return "built without libjpeg-turbo"; }
std::string jpeg_library() { return ""; }
JpegDecoder::JpegDecoder() { refuse(); }
JpegDecoder::~JpegDecoder() = default;
ImageSize JpegDecoder::open(std::span<const std::byte>, const std::string&) { refuse(); }
Picture JpegDecoder::decode(const Region&) { refuse(); }
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t>, ImageSize, int) { refuse(); }

}  // namespace bench::data

#endif
