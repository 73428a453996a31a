#include "probes/data/pipelines/synthetic_pipeline.h"

#include <cstring>

#include "core/error.h"

namespace bench::data {
namespace {

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
    clock.effort().samples += static_cast<double>(samples.size());
  }
  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    clock.effort().samples += static_cast<double>(samples.size());
  }
};

class SyntheticPipeline final : public Pipeline {
 public:
  SyntheticPipeline(std::uint64_t samples, std::size_t sample_bytes)
      : shape_{samples, {}}, sample_bytes_(sample_bytes) {
    if (sample_bytes < kStamp)
      throw Error(ErrorKind::usage, std::to_string(sample_bytes) + " bytes per synthetic sample",
                  "use at least 16");
  }
  const SampleOrder::Shape& shape() const override { return shape_; }
  std::size_t sample_bytes() const override { return sample_bytes_; }
  std::uint64_t grain() const override { return 1; }
  double touched_bytes() const override { return kStamp; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  std::string item() const override { return "sample"; }
  std::unique_ptr<PipelineWorker> worker() const override {
    return std::make_unique<SyntheticWorker>();
  }

 private:
  SampleOrder::Shape shape_;
  std::size_t sample_bytes_;
};

}  // namespace

std::unique_ptr<Pipeline> synthetic_pipeline(std::uint64_t samples, std::size_t sample_bytes) {
  return std::make_unique<SyntheticPipeline>(samples, sample_bytes);
}

}  // namespace bench::data
