// JPEG images to pixels and back, by libjpeg-turbo where the build has it. Of an image that is to
// be cropped only what the crop needs is decoded: all of the entropy coding above and alongside it
// has to be read, but neither transformed nor made into colours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::data {

/// Why this build neither decodes nor makes JPEGs; "" when it does.
std::string no_jpeg();
/// "libjpeg-turbo 2.1.5"; "" for none.
std::string jpeg_library();

struct ImageSize {
  int width = 0;
  int height = 0;
};

struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Borrowed pixels of four bytes: red, green, blue, and one without meaning.
struct Picture {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;  // bytes from one row to the next
  int width = 0;
  int height = 0;

  const std::uint8_t* row(int y) const { return pixels + static_cast<std::size_t>(y) * stride; }
};

/// One thread's. Images of more than 2^28 pixels are refused.
class JpegDecoder {
 public:
  /// Throws Error(environment) without libjpeg-turbo.
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Reads the header; the bytes are borrowed until decode() has returned. Throws Error(input),
  /// which names `name`, for what is no JPEG.
  ImageSize open(std::span<const std::byte> jpeg, const std::string& name);
  /// The region, with the same bits that decoding all of the image gives (grey and CMYK become red,
  /// green and blue). Valid until the next call. Throws Error(input) for an image that ends before
  /// the region does, and Error(internal) for a region that does not lie in it.
  Picture decode(const Region& region);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 4:2:0 and baseline, from red, green, blue bytes by rows. Throws Error(environment) without
/// libjpeg-turbo.
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, ImageSize size, int quality);

}  // namespace bench::data
