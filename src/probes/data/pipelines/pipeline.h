// Makes parts of a batch from samples of a data set. A sample in a batch depends only on (seed,
// epoch, sample), so that any number of threads makes the same batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probes/data/formats/page_cache.h"
#include "probes/data/pipelines/effort.h"
#include "probes/shared/permutation.h"

namespace bench::data {

/// The order of the samples in one epoch: sequential, or shuffled differently for each epoch. It
/// depends only on (seed, epoch, place), so that every thread finds its samples itself. If the data
/// set has blocks (shards, runs of lines), these are shuffled as a whole, else single samples.
class SampleOrder {
 public:
  struct Shape {
    std::uint64_t samples = 0;
    /// The first sample of each block, starting with 0; empty: no blocks.
    std::vector<std::uint64_t> blocks = {};
  };
  /// `shape` is borrowed.
  SampleOrder(const Shape& shape, bool shuffle, std::uint64_t seed, std::uint64_t epoch);

  std::uint64_t at(std::uint64_t place) const;
  /// The samples from `place` on, as many as there is room for.
  void fill(std::uint64_t place, std::span<std::uint64_t> samples) const;

 private:
  /// The block that contains a place of the epoch.
  std::size_t block_at(std::uint64_t place) const;

  const Shape& shape_;
  bool shuffle_;
  std::uint64_t key_;
  Permutation random_;
  std::vector<std::uint64_t> block_ = {};   // by place of the epoch
  std::vector<std::uint64_t> starts_ = {};  // place at which each of these begins
};

/// The memory for consecutive samples.
struct BatchPart {
  std::span<std::byte> data;            // Pipeline::sample_bytes() for each
  std::span<std::int64_t> labels = {};  // one for each
};

/// For one thread; keeps buffers between samples. Adds its effort to the clock, stage by stage; the
/// caller has called begin().
class PipelineWorker {
 public:
  virtual ~PipelineWorker() = default;
  /// Makes these samples. Throws Error(environment or input) for unreadable or invalid files.
  virtual void make(std::uint64_t epoch, std::span<const std::uint64_t> samples, BatchPart out,
                    StageClock& clock) = 0;
  /// Only reads what make() would read.
  virtual void fetch(std::uint64_t epoch, std::span<const std::uint64_t> samples,
                     StageClock& clock) = 0;
};

class Pipeline {
 public:
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  virtual ~Pipeline() = default;

  /// Samples of an epoch, and which of them are shuffled together.
  const SampleOrder::Shape& shape() const { return shape_; }
  /// Samples that one thread makes at a time where threads share a batch.
  std::uint64_t grain() const { return grain_; }
  /// What a sample is, for people: "image", "sequence", "row".
  const std::string& item() const { return item_; }
  virtual std::size_t sample_bytes() const = 0;
  /// Mean memory traffic per sample: bytes read, made between the stages and written, each counted
  /// as often as it is touched.
  virtual double touched_bytes() const = 0;
  /// Empty if nothing is read.
  virtual std::vector<std::filesystem::path> files() const = 0;
  /// Releases the pages of mapped files, so that the kernel can drop them.
  virtual void release_pages() const {}
  virtual std::unique_ptr<PipelineWorker> worker() const = 0;

 protected:
  Pipeline(std::string item, std::uint64_t grain, SampleOrder::Shape shape = {})
      : shape_(std::move(shape)), grain_(grain), item_(std::move(item)) {}

  SampleOrder::Shape shape_;

 private:
  std::uint64_t grain_;
  std::string item_;
};

/// A pipeline over mapped files. A `File` has a member `file`, the mapping, and `first`, the number
/// of its first sample.
template <class File>
class MappedPipeline : public Pipeline {
 public:
  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> all;
    for (const File& one : files_) all.emplace_back(one.file.path());
    return all;
  }
  void release_pages() const override {
    for (const File& one : files_) data::release_pages(one.file.bytes());
  }
  const File& file_of(std::uint64_t sample) const {
    return *std::prev(std::ranges::upper_bound(files_, sample, {}, &File::first));
  }

 protected:
  using Pipeline::Pipeline;
  std::vector<File> files_;
};

}  // namespace bench::data
