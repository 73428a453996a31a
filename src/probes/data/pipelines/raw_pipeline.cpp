#include <algorithm>
#include <cstring>

#include "probes/data/pipelines/open_pipeline.h"

namespace bench::data {
namespace {

class RawWorker final : public PipelineWorker {
 public:
  explicit RawWorker(const BlobSource& source) : source_(source) {}

  void make(std::uint64_t, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    const std::size_t size = out.data.size() / samples.size();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      read(samples[i], clock.effort());
      clock.end(Stage::read);
      const auto to = out.data.subspan(i * size, size);
      std::ranges::copy(read_, to.begin());
      std::ranges::fill(to.subspan(read_.size()), std::byte{0});
      if (!out.labels.empty()) out.labels[i] = source_.label(samples[i]);
      clock.end(Stage::copy);
    }
    clock.effort().samples += static_cast<double>(samples.size());
  }

  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    for (const std::uint64_t sample : samples) read(sample, clock.effort());
    clock.end(Stage::read);
    clock.effort().samples += static_cast<double>(samples.size());
  }

 private:
  void read(std::uint64_t sample, Effort& effort) {
    source_.read(sample, read_);
    effort.bytes_read += static_cast<double>(read_.size());
  }

  const BlobSource& source_;
  std::vector<std::byte> read_;
};

class RawPipeline final : public Pipeline {
 public:
  explicit RawPipeline(std::unique_ptr<BlobSource> source)
      : source_(std::move(source)), shape_{source_->size(), source_->blocks()} {
    for (std::uint64_t i = 0; i < shape_.samples; ++i)
      longest_ = std::max<std::size_t>(longest_, source_->bytes(i));
  }

  const SampleOrder::Shape& shape() const override { return shape_; }
  std::size_t sample_bytes() const override { return longest_; }
  std::uint64_t grain() const override { return 1; }
  double touched_bytes() const override { return 5.0 * static_cast<double>(longest_); }
  std::vector<std::filesystem::path> files() const override { return source_->files(); }
  std::string item() const override { return "record"; }
  std::unique_ptr<PipelineWorker> worker() const override {
    return std::make_unique<RawWorker>(*source_);
  }

 private:
  std::unique_ptr<BlobSource> source_;
  SampleOrder::Shape shape_;
  std::size_t longest_ = 0;
};

}  // namespace

std::unique_ptr<Pipeline> raw_pipeline(std::unique_ptr<BlobSource> source) {
  return std::make_unique<RawPipeline>(std::move(source));
}

}  // namespace bench::data
