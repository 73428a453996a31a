// Decodes and encodes JPEG images with libjpeg-turbo, if the build has it. Only the part of an
// image that a crop needs is decoded: the entropy coding above it and to its left must be read, but
// is neither transformed nor converted to colours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "training/pictures/picture.h"

namespace bench::data {

/// Why this build does not support JPEG; "" if it does.
std::string no_jpeg();
/// "libjpeg-turbo 2.1.5"; "" without it.
std::string jpeg_library();

using training::ImageSize;
using training::Picture;
using training::Region;

/// For one thread. Images of more than 2^28 pixels are refused.
class JpegDecoder {
 public:
  /// Throws Error(environment) without libjpeg-turbo.
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Reads the header; the bytes are borrowed until decode() has returned. Throws Error(input) with
  /// `name` for data that is not a JPEG.
  ImageSize open(std::span<const std::byte> jpeg, const std::string& name);
  /// The region, bit for bit as from decoding the whole image (grey and CMYK become RGB). Valid
  /// until the next call. Throws Error(input) for an image that ends before the region,
  /// Error(internal) for a region outside the image.
  Picture decode(const Region& region);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Baseline, 4:2:0, from rows of RGB bytes. Throws Error(environment) without libjpeg-turbo.
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, ImageSize size, int quality);

}  // namespace bench::data
