#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/criteo_rows.h"
#include "probes/data/formats/page_cache.h"
#include "probes/data/pipelines/criteo_pipeline.h"
#include "probes/data/pipelines/runs.h"
#include "probes/training/sources/mapped_file.h"

namespace bench::data {
namespace {

/// Mapped: rows are copied once, where reading them through the kernel costs more than all that is
/// done with them.
struct RowFile {
  training::MappedFile file;
  std::uint64_t rows, first;

  std::span<const std::byte> of(std::uint64_t row, std::size_t count) const {
    return file.bytes().subspan((row - first) * sizeof(CriteoRow), count * sizeof(CriteoRow));
  }
};

class BinaryPipeline final : public Pipeline {
 public:
  BinaryPipeline(const std::vector<std::filesystem::path>& files, const CriteoOptions& options)
      : options_(options) {
    for (const auto& path : files) {
      training::MappedFile file(path);
      const std::size_t bytes = file.bytes().size();
      const std::uint64_t rows = bytes / sizeof(CriteoRow);
      if (bytes == 0 || bytes % sizeof(CriteoRow) != 0)
        throw Error(ErrorKind::input,
                    fmt::format("{}: {} bytes is not a multiple of the row size {}",
                                printable(path.string()), bytes, sizeof(CriteoRow)),
                    "a row is a label, 13 integers and 26 categories of 4 bytes each");
      for (std::uint64_t row = 0; row < rows; row += kCriteoBlock)
        shape_.blocks.push_back(shape_.samples + row);
      files_.push_back({std::move(file), rows, shape_.samples});
      shape_.samples += rows;
    }
  }

  const SampleOrder::Shape& shape() const override { return shape_; }
  std::size_t sample_bytes() const override { return sizeof(CriteoRow); }
  std::uint64_t grain() const override { return kCriteoBlock; }
  double touched_bytes() const override { return (options_.transform ? 4.0 : 2.0) * 160.0; }
  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> all;
    for (const RowFile& file : files_) all.emplace_back(file.file.path());
    return all;
  }
  void release_pages() const override {
    for (const RowFile& file : files_) data::release_pages(file.file.bytes());
  }
  std::string item() const override { return "row"; }
  std::unique_ptr<PipelineWorker> worker() const override;

  const RowFile& file_of(std::uint64_t row) const {
    return *std::prev(std::ranges::upper_bound(files_, row, {}, &RowFile::first));
  }
  const CriteoOptions& options() const { return options_; }

 private:
  CriteoOptions options_;
  std::vector<RowFile> files_;
  SampleOrder::Shape shape_;
};

class BinaryWorker final : public PipelineWorker {
 public:
  explicit BinaryWorker(const BinaryPipeline& pipeline) : pipeline_(pipeline) {}

  void make(std::uint64_t, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    each_piece(samples, clock.effort(), [&](std::span<const std::byte> piece, std::size_t at) {
      std::memcpy(out.data.data() + at * sizeof(CriteoRow), piece.data(), piece.size());
    });
    clock.end(Stage::read);
    const std::span rows(reinterpret_cast<CriteoRow*>(out.data.data()), samples.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].label != 0 && rows[i].label != 1)
        throw Error(ErrorKind::input,
                    fmt::format("{}: the label of row {} is {}",
                                printable(pipeline_.file_of(samples[i]).file.path()),
                                samples[i] - pipeline_.file_of(samples[i]).first, rows[i].label),
                    "labels must be 0 or 1; check that the file has rows of 160 bytes");
      if (!out.labels.empty()) out.labels[i] = rows[i].label;
    }
    clock.end(Stage::parse);
    if (!pipeline_.options().transform) return;
    transform_criteo(rows, pipeline_.options().table_rows);
    clock.end(Stage::transform);
  }

  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    each_piece(samples, clock.effort(),
               [](std::span<const std::byte> piece, std::size_t) { touch_pages(piece); });
    clock.end(Stage::read);
  }

 private:
  /// Calls each(bytes, place in the list) for runs of rows that lie one after another in a file.
  template <class Each>
  void each_piece(std::span<const std::uint64_t> samples, Effort& effort, Each each) {
    const auto to_end = [&](std::uint64_t row) {
      const RowFile& file = pipeline_.file_of(row);
      return file.first + file.rows - row;
    };
    each_run(samples, to_end, [&](std::uint64_t first, std::size_t count, std::size_t at) {
      const auto piece = pipeline_.file_of(first).of(first, count);
      will_need(piece);
      each(piece, at);
    });
    effort.bytes_read += static_cast<double>(samples.size() * sizeof(CriteoRow));
    effort.samples += static_cast<double>(samples.size());
  }

  const BinaryPipeline& pipeline_;
};

std::unique_ptr<PipelineWorker> BinaryPipeline::worker() const {
  return std::make_unique<BinaryWorker>(*this);
}

}  // namespace

std::unique_ptr<Pipeline> criteo_binary_pipeline(const std::vector<std::filesystem::path>& files,
                                                 const CriteoOptions& options) {
  return std::make_unique<BinaryPipeline>(files, options);
}

}  // namespace bench::data
