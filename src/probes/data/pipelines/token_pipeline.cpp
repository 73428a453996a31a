#include "probes/data/pipelines/token_pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/page_cache.h"
#include "probes/training/sources/mapped_file.h"
#include "probes/training/sources/random.h"
#include "probes/training/sources/token_file.h"

namespace bench::data {
namespace {

struct TokenShard {
  training::MappedFile file;
  std::size_t offset;  // of the first token, bytes
  std::size_t width;   // of a token: 2 or 4
  std::uint64_t tokens, sequences, first;

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

class TokenPipeline final : public Pipeline {
 public:
  TokenPipeline(const std::vector<std::filesystem::path>& files, const TokenOptions& options)
      : options_(options) {
    if (options.targets < 1)
      throw Error(ErrorKind::usage, fmt::format("sequence length {}", options.targets),
                  "use at least 1");
    for (const auto& path : files) add(path);
  }

  const SampleOrder::Shape& shape() const override { return shape_; }
  std::size_t sample_bytes() const override { return 2 * targets() * sizeof(std::int64_t); }
  std::uint64_t grain() const override { return 4; }
  double touched_bytes() const override {
    return static_cast<double>((targets() + 1) * shards_.front().width + sample_bytes());
  }
  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> all;
    for (const TokenShard& shard : shards_) all.emplace_back(shard.file.path());
    return all;
  }
  void release_pages() const override {
    for (const TokenShard& shard : shards_) data::release_pages(shard.file.bytes());
  }
  std::string item() const override { return "sequence"; }
  std::unique_ptr<PipelineWorker> worker() const override;

  std::size_t targets() const { return static_cast<std::size_t>(options_.targets); }

  /// The bytes of T + 1 tokens, and their width.
  std::pair<std::span<const std::byte>, std::size_t> window(std::uint64_t epoch,
                                                            std::uint64_t sample) const {
    const auto next = std::ranges::upper_bound(shards_, sample, {}, &TokenShard::first);
    const TokenShard& shard = *std::prev(next);
    const std::uint64_t last = shard.tokens - targets() - 1;  // that a window may begin at
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
    const std::uint64_t sequences = (view.size() - 1) / targets();
    const std::size_t width = view.offset(1) - view.offset(0);
    shards_.push_back(
        {std::move(file), view.offset(0), width, view.size(), sequences, shape_.samples});
    shape_.samples += sequences;
  }

  TokenOptions options_;
  std::vector<TokenShard> shards_;
  SampleOrder::Shape shape_;
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
      clock.effort().bytes_read += static_cast<double>(bytes.size());
    }
    clock.end(Stage::read);
    clock.effort().samples += static_cast<double>(samples.size());
  }

 private:
  const TokenPipeline& pipeline_;
};

std::unique_ptr<PipelineWorker> TokenPipeline::worker() const {
  return std::make_unique<TokenWorker>(*this);
}

}  // namespace

std::unique_ptr<Pipeline> token_pipeline(const std::vector<std::filesystem::path>& files,
                                         const TokenOptions& options) {
  return std::make_unique<TokenPipeline>(files, options);
}

}  // namespace bench::data
