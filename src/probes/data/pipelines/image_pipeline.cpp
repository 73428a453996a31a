#include "probes/data/pipelines/image_pipeline.h"

#include <algorithm>

#include "core/error.h"
#include "probes/data/decode/crop.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/decode/resample.h"

namespace bench::data {
namespace {

constexpr std::size_t kPixelBytes = 4, kColours = 3;
constexpr double kMeanCrop = 0.43;  // of an image's area: what its random crops have on average

std::size_t pixels_of(const ImageOptions& options) {
  const auto side = static_cast<std::size_t>(options.size);
  return side * side;
}

class ImageWorker final : public PipelineWorker {
 public:
  ImageWorker(const BlobSource& source, const ImageOptions& options)
      : source_(source),
        options_(options),
        resampler_(options.size),
        pixels_(pixels_of(options) * kPixelBytes) {}

  void make(std::uint64_t epoch, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    const std::size_t size = out.data.size() / samples.size();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      source_.read(samples[i], read_);
      clock.effort().bytes_read += static_cast<double>(read_.size());
      clock.end(Stage::read);
      const RandomCrop crop = place(epoch, samples[i]);
      const Picture picture = decode(crop.region);
      clock.end(Stage::decode);
      resampler_.resize(picture, crop.flip, pixels_);
      clock.end(Stage::resize);
      finish(out.data.subspan(i * size, size));
      if (!out.labels.empty()) out.labels[i] = source_.label(samples[i]);
      clock.end(Stage::normalise);
    }
    clock.effort().samples += static_cast<double>(samples.size());
  }

  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    for (const std::uint64_t sample : samples) {
      source_.read(sample, read_);
      clock.effort().bytes_read += static_cast<double>(read_.size());
    }
    clock.end(Stage::read);
    clock.effort().samples += static_cast<double>(samples.size());
  }

 private:
  RandomCrop place(std::uint64_t epoch, std::uint64_t sample) {
    image_ = decoder_.open(read_, source_.name(sample));
    if (!options_.random) return centre_crop(image_);
    const std::uint64_t seed = training::random_stream(options_.seed, epoch).key;
    return random_resized_crop(training::sample_stream(seed, training::Split::train, sample),
                               image_);
  }

  Picture decode(const Region& region) {
    if (options_.partial_decode) return decoder_.decode(region);
    Picture whole = decoder_.decode({0, 0, image_.width, image_.height});
    whole.pixels = whole.row(region.y) + static_cast<std::size_t>(region.x) * kPixelBytes;
    whole.width = region.width;
    whole.height = region.height;
    return whole;
  }

  void finish(std::span<std::byte> out) {
    const std::size_t values = pixels_of(options_) * kColours;
    if (options_.bytes)
      to_planes(pixels_, {reinterpret_cast<std::uint8_t*>(out.data()), values});
    else
      normalise(pixels_, {reinterpret_cast<float*>(out.data()), values});
  }

  const BlobSource& source_;
  const ImageOptions& options_;
  JpegDecoder decoder_;
  Resampler resampler_;
  ImageSize image_;
  std::vector<std::byte> read_;
  std::vector<std::uint8_t> pixels_;
};

class ImagePipeline final : public Pipeline {
 public:
  ImagePipeline(std::unique_ptr<BlobSource> source, const ImageOptions& options)
      : source_(std::move(source)),
        options_(options),
        shape_{source_->size(), source_->blocks()},
        image_pixels_(look_at_first()) {}

  const SampleOrder::Shape& shape() const override { return shape_; }
  std::size_t sample_bytes() const override {
    return pixels_of(options_) * kColours * (options_.bytes ? 1 : sizeof(float));
  }
  std::uint64_t grain() const override { return 1; }
  double touched_bytes() const override {
    const double decoded = image_pixels_ * kPixelBytes * (options_.random ? kMeanCrop : 1.0);
    const double read = static_cast<double>(source_->bytes(0));
    // Files are copied into a buffer and read again; pixels, small ones too, written and read.
    return 3.0 * read + 2.0 * decoded +
           2.0 * static_cast<double>(pixels_of(options_) * kPixelBytes) +
           static_cast<double>(sample_bytes());
  }
  std::vector<std::filesystem::path> files() const override { return source_->files(); }
  std::string item() const override { return "image"; }
  std::unique_ptr<PipelineWorker> worker() const override {
    return std::make_unique<ImageWorker>(*source_, options_);
  }

 private:
  double look_at_first() const {
    JpegDecoder decoder;
    std::vector<std::byte> bytes;
    source_->read(0, bytes);
    const ImageSize size = decoder.open(bytes, source_->name(0));
    return static_cast<double>(size.width) * size.height;
  }

  std::unique_ptr<BlobSource> source_;
  ImageOptions options_;
  SampleOrder::Shape shape_;
  double image_pixels_;
};

}  // namespace

std::unique_ptr<Pipeline> image_pipeline(std::unique_ptr<BlobSource> source,
                                         const ImageOptions& options) {
  return std::make_unique<ImagePipeline>(std::move(source), options);
}

}  // namespace bench::data
