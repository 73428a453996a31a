// What a build without libjpeg-turbo says.
#include "probes/data/decode/jpeg.h"

#ifndef BENCH_JPEG

#include "core/error.h"

namespace bench::data {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::environment, no_jpeg(), "install libjpeg62-turbo-dev and build again");
}

}  // namespace

struct JpegDecoder::State {};

std::string no_jpeg() { return "this build has no libjpeg-turbo"; }
std::string jpeg_library() { return ""; }
JpegDecoder::JpegDecoder() { refuse(); }
JpegDecoder::~JpegDecoder() = default;
ImageSize JpegDecoder::open(std::span<const std::byte>, const std::string&) { refuse(); }
Picture JpegDecoder::decode(const Region&) { refuse(); }
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t>, ImageSize, int) { refuse(); }

}  // namespace bench::data

#endif
