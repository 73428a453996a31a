#include "probes/data/pipelines/pipeline.h"

#include <algorithm>
#include <numeric>

#include "training/sources/random.h"

namespace bench::data {
SampleOrder::SampleOrder(const Shape& shape, bool shuffle, std::uint64_t seed, std::uint64_t epoch)
    : shape_(shape),
      shuffle_(shuffle),
      key_(training::random_stream(seed, epoch).key),
      random_(shape.samples, key_) {
  if (!shuffle || shape.blocks.empty()) return;
  const std::size_t count = shape.blocks.size();
  block_.resize(count);
  std::iota(block_.begin(), block_.end(), std::uint64_t{0});
  for (std::size_t i = count; i > 1; --i)  // Fisher and Yates
    std::swap(block_[i - 1], block_[random_bits(key_, i) % i]);
  std::uint64_t place = 0;
  for (const std::uint64_t b : block_) {
    starts_.push_back(place);
    place += (b + 1 < count ? shape.blocks[b + 1] : shape.samples) - shape.blocks[b];
  }
}

std::size_t SampleOrder::block_at(std::uint64_t place) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(starts_, place) - starts_.begin()) - 1;
}

std::uint64_t SampleOrder::at(std::uint64_t place) const {
  std::uint64_t sample = 0;
  fill(place, {&sample, 1});
  return sample;
}

void SampleOrder::fill(std::uint64_t place, std::span<std::uint64_t> samples) const {
  if (!shuffle_) return std::iota(samples.begin(), samples.end(), place);
  if (block_.empty()) {
    for (std::uint64_t& sample : samples) sample = random_.at(place++);
    return;
  }
  for (std::size_t b = block_at(place); !samples.empty(); ++b) {
    const std::uint64_t inside = place - starts_[b];
    const std::uint64_t end = b + 1 < starts_.size() ? starts_[b + 1] : shape_.samples;
    const auto run = samples.first(std::min<std::size_t>(samples.size(), end - place));
    std::iota(run.begin(), run.end(), shape_.blocks[block_[b]] + inside);
    place += run.size();
    samples = samples.subspan(run.size());
  }
}

}  // namespace bench::data
