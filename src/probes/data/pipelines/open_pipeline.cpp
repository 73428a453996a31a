#include "probes/data/pipelines/open_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/formats/blob_source.h"
#include "probes/data/formats/folder_listing.h"
#include "probes/data/formats/page_cache.h"
#include "training/pictures/resample.h"
#include "training/sources/mapped_file.h"
#include "training/sources/random.h"
#include "training/sources/token_file.h"

namespace bench::data {
namespace {

using training::RandomCrop;
using training::Resampler;

struct TokenShard {
  training::MappedFile file;
  std::size_t offset;  // of the first token, bytes
  std::size_t width;   // of a token: 2 or 4
  std::uint64_t tokens, first;

  std::span<const std::byte> window(std::uint64_t token, std::size_t count) const {
    return file.bytes().subspan(offset + token * width, count * width);
  }
};

template <class Token>
void spread(const std::byte* from, std::size_t targets, std::byte* to) {
  const auto* tokens = reinterpret_cast<const Token*>(from);
  auto* inputs = reinterpret_cast<std::int64_t*>(to);
  for (std::size_t i = 0; i < targets; ++i) inputs[i] = tokens[i];
  for (std::size_t i = 0; i < targets; ++i) inputs[targets + i] = tokens[i + 1];
}

class TokenPipeline final : public MappedPipeline<TokenShard> {
 public:
  TokenPipeline(const std::vector<std::filesystem::path>& files, const TokenOptions& options)
      : MappedPipeline("sequence", 4), options_(options) {
    if (options.targets < 1)
      throw Error(ErrorKind::usage, fmt::format("sequence length {}", options.targets),
                  "use at least 1");
    for (const auto& path : files) add(path);
  }

  std::size_t sample_bytes() const override { return 2 * targets() * sizeof(std::int64_t); }
  double touched_bytes() const override {
    return static_cast<double>((targets() + 1) * files_.front().width + sample_bytes());
  }
  std::unique_ptr<PipelineWorker> worker() const override;

  std::size_t targets() const { return static_cast<std::size_t>(options_.targets); }

  /// The bytes of T + 1 tokens, and their width.
  std::pair<std::span<const std::byte>, std::size_t> window(std::uint64_t epoch,
                                                            std::uint64_t sample) const {
    const TokenShard& shard = file_of(sample);
    const std::uint64_t last = shard.tokens - targets() - 1;  // possible start of a window
    std::uint64_t at = (sample - shard.first) * targets();
    if (options_.random_windows) {
      const std::uint64_t seed = training::random_stream(options_.seed, epoch).key;
      at = random_bits(seed, sample) % (last + 1);
    }
    return {shard.window(at, targets() + 1), shard.width};
  }

 private:
  void add(const std::filesystem::path& path) {
    training::MappedFile file(path);
    const training::TokenView view(file.bytes(), file.path());
    if (view.size() < targets() + 1)
      throw Error(ErrorKind::input,
                  fmt::format("{}: {} tokens are fewer than one sequence of {}",
                              printable(file.path()), view.size(), targets() + 1),
                  "use shorter sequences or a longer file");
    const std::size_t width = view.offset(1) - view.offset(0);
    files_.push_back({std::move(file), view.offset(0), width, view.size(), shape_.samples});
    shape_.samples += (view.size() - 1) / targets();
  }

  TokenOptions options_;
};

class TokenWorker final : public PipelineWorker {
 public:
  explicit TokenWorker(const TokenPipeline& pipeline) : pipeline_(pipeline) {}

  void make(std::uint64_t epoch, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    fetch(epoch, samples, clock);
    const std::size_t targets = pipeline_.targets(), size = pipeline_.sample_bytes();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto [bytes, width] = pipeline_.window(epoch, samples[i]);
      std::byte* const to = out.data.data() + i * size;
      if (width == 2)
        spread<std::uint16_t>(bytes.data(), targets, to);
      else
        spread<std::uint32_t>(bytes.data(), targets, to);
    }
    clock.end(Stage::copy);
  }

  void fetch(std::uint64_t epoch, std::span<const std::uint64_t> samples,
             StageClock& clock) override {
    for (const std::uint64_t sample : samples) {
      const auto bytes = pipeline_.window(epoch, sample).first;
      touch_pages(bytes);
      clock.count_read(bytes.size());
    }
    clock.end(Stage::read);
    clock.count_samples(samples.size());
  }

 private:
  const TokenPipeline& pipeline_;
};

std::unique_ptr<PipelineWorker> TokenPipeline::worker() const {
  return std::make_unique<TokenWorker>(*this);
}

constexpr std::size_t kPixelBytes = 4, kColours = 3;
constexpr double kMeanCrop = 0.43;  // mean area of random crops, as a share of the image

std::size_t pixels_of(const ImageOptions& options) {
  const auto side = static_cast<std::size_t>(options.size);
  return side * side;
}

class BlobWorker : public PipelineWorker {
 public:
  explicit BlobWorker(const BlobSource& source) : source_(source) {}

  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    for (const std::uint64_t sample : samples) read(sample, clock);
    clock.end(Stage::read);
    clock.count_samples(samples.size());
  }

 protected:
  void read(std::uint64_t sample, StageClock& clock) {
    source_.read(sample, read_);
    clock.count_read(read_.size());
  }

  const BlobSource& source_;
  std::vector<std::byte> read_;
};

class BlobPipeline : public Pipeline {
 public:
  BlobPipeline(std::string item, std::unique_ptr<BlobSource> source)
      : Pipeline(std::move(item), 1, {source->size(), source->blocks()}),
        source_(std::move(source)) {}
  std::vector<std::filesystem::path> files() const override { return source_->files(); }

 protected:
  std::unique_ptr<BlobSource> source_;
};

class ImageWorker final : public BlobWorker {
 public:
  ImageWorker(const BlobSource& source, const ImageOptions& options)
      : BlobWorker(source),
        options_(options),
        resampler_(options.size),
        pixels_(pixels_of(options) * kPixelBytes) {}

  void make(std::uint64_t epoch, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    const std::size_t size = out.data.size() / samples.size();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      read(samples[i], clock);
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
    clock.count_samples(samples.size());
  }

 private:
  RandomCrop place(std::uint64_t epoch, std::uint64_t sample) {
    image_ = decoder_.open(read_, source_.name(sample));
    if (!options_.random) return training::centre_crop(image_);
    const std::uint64_t seed = training::random_stream(options_.seed, epoch).key;
    return training::random_resized_crop(
        training::sample_stream(seed, training::Split::train, sample), image_);
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
      training::to_planes(pixels_, {reinterpret_cast<std::uint8_t*>(out.data()), values});
    else
      training::normalise(pixels_, {reinterpret_cast<float*>(out.data()), values});
  }

  const ImageOptions& options_;
  JpegDecoder decoder_;
  Resampler resampler_;
  ImageSize image_;
  std::vector<std::uint8_t> pixels_;
};

class ImagePipeline final : public BlobPipeline {
 public:
  ImagePipeline(std::unique_ptr<BlobSource> source, const ImageOptions& options)
      : BlobPipeline("image", std::move(source)),
        options_(options),
        image_pixels_(look_at_first()) {}

  std::size_t sample_bytes() const override {
    return pixels_of(options_) * kColours * (options_.bytes ? 1 : sizeof(float));
  }
  double touched_bytes() const override {
    const double decoded = image_pixels_ * kPixelBytes * (options_.random ? kMeanCrop : 1.0);
    const double read = static_cast<double>(source_->bytes(0));
    // Files are copied into a buffer and read again; decoded and resized pixels are written and
    // read.
    return 3.0 * read + 2.0 * decoded +
           2.0 * static_cast<double>(pixels_of(options_) * kPixelBytes) +
           static_cast<double>(sample_bytes());
  }
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

  ImageOptions options_;
  double image_pixels_;
};

class RawWorker final : public BlobWorker {
 public:
  using BlobWorker::BlobWorker;

  void make(std::uint64_t, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    const std::size_t size = out.data.size() / samples.size();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      read(samples[i], clock);
      clock.end(Stage::read);
      const auto to = out.data.subspan(i * size, size);
      std::ranges::copy(read_, to.begin());
      std::ranges::fill(to.subspan(read_.size()), std::byte{0});
      if (!out.labels.empty()) out.labels[i] = source_.label(samples[i]);
      clock.end(Stage::copy);
    }
    clock.count_samples(samples.size());
  }
};

class RawPipeline final : public BlobPipeline {
 public:
  explicit RawPipeline(std::unique_ptr<BlobSource> source)
      : BlobPipeline("record", std::move(source)) {
    for (std::uint64_t i = 0; i < shape_.samples; ++i)
      longest_ = std::max<std::size_t>(longest_, source_->bytes(i));
  }

  std::size_t sample_bytes() const override { return longest_; }
  double touched_bytes() const override { return 5.0 * static_cast<double>(longest_); }
  std::unique_ptr<PipelineWorker> worker() const override {
    return std::make_unique<RawWorker>(*source_);
  }

 private:
  std::size_t longest_ = 0;
};

constexpr std::size_t kStamp = 2 * sizeof(std::uint64_t);

class SyntheticWorker final : public PipelineWorker {
 public:
  void make(std::uint64_t epoch, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    const std::size_t size = out.data.size() / samples.size();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::memcpy(out.data.data() + i * size, &epoch, sizeof(epoch));
      std::memcpy(out.data.data() + i * size + sizeof(epoch), &samples[i], sizeof(samples[i]));
      if (!out.labels.empty()) out.labels[i] = static_cast<std::int64_t>(samples[i]);
    }
    clock.end(Stage::copy);
    clock.count_samples(samples.size());
  }
  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    clock.count_samples(samples.size());
  }
};

class SyntheticPipeline final : public Pipeline {
 public:
  SyntheticPipeline(std::uint64_t samples, std::size_t sample_bytes)
      : Pipeline("sample", 1, {samples, {}}), sample_bytes_(sample_bytes) {
    if (sample_bytes < kStamp)
      throw Error(ErrorKind::usage, std::to_string(sample_bytes) + " bytes per synthetic sample",
                  "use at least 16");
  }
  std::size_t sample_bytes() const override { return sample_bytes_; }
  double touched_bytes() const override { return kStamp; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  std::unique_ptr<PipelineWorker> worker() const override {
    return std::make_unique<SyntheticWorker>();
  }

 private:
  std::size_t sample_bytes_;
};

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path,
                                            const std::vector<std::string>& endings) {
  if (std::filesystem::is_regular_file(path)) return {path};
  return files_ending(path, endings);
}

std::unique_ptr<Pipeline> image_pipeline(std::unique_ptr<BlobSource> source,
                                         const ImageOptions& options) {
  return std::make_unique<ImagePipeline>(std::move(source), options);
}

}  // namespace

std::unique_ptr<Pipeline> synthetic_pipeline(std::uint64_t samples, std::size_t sample_bytes) {
  return std::make_unique<SyntheticPipeline>(samples, sample_bytes);
}

std::unique_ptr<Pipeline> open_pipeline(Format format, const std::filesystem::path& path,
                                        const PipelineOptions& options) {
  switch (format) {
    case Format::jpeg_folder:
      return image_pipeline(open_image_folder(path), options.images);
    case Format::tar:
      return image_pipeline(open_tar_shards(path), options.images);
    case Format::records:
      return image_pipeline(open_record_files(path), options.images);
    case Format::raw:
      return std::make_unique<RawPipeline>(open_record_files(path));
    case Format::tokens:
      return std::make_unique<TokenPipeline>(files_of(path, {".bin"}), options.tokens);
    case Format::criteo_tsv:
      return criteo_text_pipeline(files_of(path, {".tsv", ".txt"}), options.criteo);
    case Format::criteo_binary:
      return criteo_binary_pipeline(files_of(path, {".bin"}), options.criteo);
  }
  throw Error(ErrorKind::internal, "unknown format");
}

}  // namespace bench::data
