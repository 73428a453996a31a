#include "probes/data/pipelines/criteo_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/criteo_rows.h"
#include "probes/data/formats/page_cache.h"
#include "training/sources/mapped_file.h"

namespace bench::data {
namespace {

// Samples that lie one after another can be read at once.

/// Calls each(first sample, how many, place in the list) for each run of consecutive numbers; a run
/// ends where `most_from(first)` samples are done, as at the end of a file.
template <class Most, class Each>
void each_run(std::span<const std::uint64_t> samples, Most most_from, Each each) {
  for (std::size_t at = 0; at < samples.size();) {
    const std::uint64_t first = samples[at];
    const std::uint64_t most = most_from(first);
    std::size_t length = 1;
    while (at + length < samples.size() && length < most && samples[at + length] == first + length)
      ++length;
    each(first, length, at);
    at += length;
  }
}

struct TextFile {
  training::MappedFile file;
  std::vector<std::uint64_t> starts;  // of lines 0, 1024, ... and the file's end
  std::uint64_t rows, first;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }
};

class TextPipeline final : public Pipeline {
 public:
  TextPipeline(const std::vector<std::filesystem::path>& files, const CriteoOptions& options)
      : options_(options) {
    for (const auto& path : files) add(path);
  }

  const SampleOrder::Shape& shape() const override { return shape_; }
  std::size_t sample_bytes() const override { return sizeof(CriteoRow); }
  std::uint64_t grain() const override { return kCriteoBlock; }
  double touched_bytes() const override {
    return bytes_ / static_cast<double>(shape_.samples) + (options_.transform ? 3.0 : 1.0) * 160.0;
  }
  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> all;
    for (const TextFile& file : files_) all.emplace_back(file.file.path());
    return all;
  }
  void release_pages() const override {
    for (const TextFile& file : files_) data::release_pages(file.file.bytes());
  }
  std::string item() const override { return "row"; }
  std::unique_ptr<PipelineWorker> worker() const override;

  const TextFile& file_of(std::uint64_t row) const {
    return *std::prev(std::ranges::upper_bound(files_, row, {}, &TextFile::first));
  }
  const CriteoOptions& options() const { return options_; }

 private:
  void add(const std::filesystem::path& path) {
    TextFile found{training::MappedFile(path), {}, 0, shape_.samples};
    const std::string_view text = found.text();
    for (std::size_t at = 0; at < text.size(); ++found.rows) {
      if (found.rows % kCriteoBlock == 0) found.starts.push_back(at);
      const auto end = text.find('\n', at);
      at = end == std::string_view::npos ? text.size() : end + 1;
    }
    if (found.rows == 0)
      throw Error(ErrorKind::input, printable(path.string()) + ": no lines",
                  "give a file with lines of text");
    for (std::uint64_t row = 0; row < found.rows; row += kCriteoBlock)
      shape_.blocks.push_back(shape_.samples + row);
    found.starts.push_back(text.size());
    bytes_ += static_cast<double>(text.size());
    shape_.samples += found.rows;
    files_.push_back(std::move(found));
  }

  CriteoOptions options_;
  std::vector<TextFile> files_;
  SampleOrder::Shape shape_;
  double bytes_ = 0.0;
};

class TextWorker final : public PipelineWorker {
  /// Rows from one on that lie in its block.
  auto to_block_end() const {
    return [this](std::uint64_t row) {
      const TextFile& file = pipeline_.file_of(row);
      const std::uint64_t inside = row - file.first;
      return std::min(file.rows - inside, kCriteoBlock - inside % kCriteoBlock);
    };
  }

 public:
  explicit TextWorker(const TextPipeline& pipeline) : pipeline_(pipeline) {}

  void make(std::uint64_t epoch, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    fetch(epoch, samples, clock);
    const std::span rows(reinterpret_cast<CriteoRow*>(out.data.data()), samples.size());
    each_run(samples, to_block_end(), [&](std::uint64_t first, std::size_t count, std::size_t at) {
      const TextFile& file = pipeline_.file_of(first);
      const std::uint64_t row = first - file.first, block = row / kCriteoBlock;
      const std::uint64_t line = block * kCriteoBlock;
      CriteoRowReader reader(file.text().substr(file.starts[block]), file.file.path(), line + 1);
      reader.skip(row - line);
      reader.read(rows.subspan(at, count));
    });
    if (!out.labels.empty())
      for (std::size_t i = 0; i < rows.size(); ++i) out.labels[i] = rows[i].label;
    clock.end(Stage::parse);
    if (!pipeline_.options().transform) return;
    transform_criteo(rows, pipeline_.options().table_rows);
    clock.end(Stage::transform);
  }

  /// The blocks that have them.
  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    each_run(samples, to_block_end(), [&](std::uint64_t first, std::size_t count, std::size_t) {
      const TextFile& file = pipeline_.file_of(first);
      const std::uint64_t block = (first - file.first) / kCriteoBlock;
      const std::uint64_t begin = file.starts[block], end = file.starts[block + 1];
      const auto lines = file.file.bytes().subspan(begin, end - begin);
      will_need(lines);
      touch_pages(lines);
      const std::uint64_t rows = std::min(kCriteoBlock, file.rows - block * kCriteoBlock);
      clock.effort().bytes_read +=
          static_cast<double>(end - begin) * static_cast<double>(count) / static_cast<double>(rows);
    });
    clock.end(Stage::read);
    clock.effort().samples += static_cast<double>(samples.size());
  }

 private:
  const TextPipeline& pipeline_;
};

std::unique_ptr<PipelineWorker> TextPipeline::worker() const {
  return std::make_unique<TextWorker>(*this);
}

}  // namespace

std::unique_ptr<Pipeline> criteo_text_pipeline(const std::vector<std::filesystem::path>& files,
                                               const CriteoOptions& options) {
  return std::make_unique<TextPipeline>(files, options);
}

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
