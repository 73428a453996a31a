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

/// Calls each(first sample, how many, place in the list) for each run of consecutive numbers, which
/// can be read at once; a run has at most `most_from(first)` samples, as at the end of a file.
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

/// What text and rows have in common. A `File` also has `rows`, their number.
template <class File>
class CriteoPipeline : public MappedPipeline<File> {
 public:
  std::size_t sample_bytes() const override { return sizeof(CriteoRow); }

  /// Labels and transforms the rows that were read into `out`.
  void finish(std::span<const std::uint64_t> samples, BatchPart out, StageClock& clock) const {
    const std::span rows(reinterpret_cast<CriteoRow*>(out.data.data()), samples.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].label != 0 && rows[i].label != 1) refuse_label(samples[i], rows[i].label);
      if (!out.labels.empty()) out.labels[i] = rows[i].label;
    }
    clock.end(Stage::parse);
    if (!options_.transform) return;
    transform_criteo(rows, options_.table_rows);
    clock.end(Stage::transform);
  }

 protected:
  explicit CriteoPipeline(const CriteoOptions& options)
      : MappedPipeline<File>("row", kCriteoBlock), options_(options) {}

  void add(File file) {
    for (std::uint64_t row = 0; row < file.rows; row += kCriteoBlock)
      this->shape_.blocks.push_back(this->shape_.samples + row);
    file.first = this->shape_.samples;
    this->shape_.samples += file.rows;
    this->files_.push_back(std::move(file));
  }

  CriteoOptions options_;

 private:
  [[noreturn]] void refuse_label(std::uint64_t sample, std::int32_t label) const {
    const File& file = this->file_of(sample);
    throw Error(ErrorKind::input,
                fmt::format("{}: the label of row {} is {}", printable(file.file.path()),
                            sample - file.first, label),
                "labels must be 0 or 1; check that the file has rows of 160 bytes");
  }
};

struct TextFile {
  training::MappedFile file;
  std::vector<std::uint64_t> starts = {};  // of lines 0, 1024, ... and the file's end
  std::uint64_t rows = 0, first = 0;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }
};

class TextPipeline final : public CriteoPipeline<TextFile> {
 public:
  TextPipeline(const std::vector<std::filesystem::path>& files, const CriteoOptions& options)
      : CriteoPipeline(options) {
    for (const auto& path : files) index(path);
  }

  double touched_bytes() const override {
    return bytes_ / static_cast<double>(shape_.samples) + (options_.transform ? 3.0 : 1.0) * 160.0;
  }
  std::unique_ptr<PipelineWorker> worker() const override;

 private:
  void index(const std::filesystem::path& path) {
    TextFile found{training::MappedFile(path)};
    const std::string_view text = found.text();
    for (std::size_t at = 0; at < text.size(); ++found.rows) {
      if (found.rows % kCriteoBlock == 0) found.starts.push_back(at);
      const auto end = text.find('\n', at);
      at = end == std::string_view::npos ? text.size() : end + 1;
    }
    if (found.rows == 0)
      throw Error(ErrorKind::input, printable(path.string()) + ": no lines",
                  "give a file with lines of text");
    found.starts.push_back(text.size());
    bytes_ += static_cast<double>(text.size());
    add(std::move(found));
  }

  double bytes_ = 0.0;
};

class TextWorker final : public PipelineWorker {
  /// The number of rows from one on to the end of its block.
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
    pipeline_.finish(samples, out, clock);
  }

  /// Reads whole blocks.
  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    each_run(samples, to_block_end(), [&](std::uint64_t first, std::size_t count, std::size_t) {
      const TextFile& file = pipeline_.file_of(first);
      const std::uint64_t block = (first - file.first) / kCriteoBlock;
      const std::uint64_t begin = file.starts[block], end = file.starts[block + 1];
      const auto lines = file.file.bytes().subspan(begin, end - begin);
      will_need(lines);
      touch_pages(lines);
      const std::uint64_t rows = std::min(kCriteoBlock, file.rows - block * kCriteoBlock);
      clock.count_read(static_cast<double>(end - begin) * static_cast<double>(count) /
                       static_cast<double>(rows));
    });
    clock.end(Stage::read);
    clock.count_samples(samples.size());
  }

 private:
  const TextPipeline& pipeline_;
};

std::unique_ptr<PipelineWorker> TextPipeline::worker() const {
  return std::make_unique<TextWorker>(*this);
}

/// Mapped, so that rows are copied once: read(2) costs more than all that is done with them.
struct RowFile {
  training::MappedFile file;
  std::uint64_t rows = 0, first = 0;

  std::span<const std::byte> of(std::uint64_t row, std::size_t count) const {
    return file.bytes().subspan((row - first) * sizeof(CriteoRow), count * sizeof(CriteoRow));
  }
};

class BinaryPipeline final : public CriteoPipeline<RowFile> {
 public:
  BinaryPipeline(const std::vector<std::filesystem::path>& files, const CriteoOptions& options)
      : CriteoPipeline(options) {
    for (const auto& path : files) {
      training::MappedFile file(path);
      const std::size_t bytes = file.bytes().size();
      if (bytes == 0 || bytes % sizeof(CriteoRow) != 0)
        throw Error(ErrorKind::input,
                    fmt::format("{}: {} bytes is not a multiple of the row size {}",
                                printable(path.string()), bytes, sizeof(CriteoRow)),
                    "a row is a label, 13 integers and 26 categories of 4 bytes each");
      add({std::move(file), bytes / sizeof(CriteoRow)});
    }
  }

  double touched_bytes() const override { return (options_.transform ? 4.0 : 2.0) * 160.0; }
  std::unique_ptr<PipelineWorker> worker() const override;
};

class BinaryWorker final : public PipelineWorker {
 public:
  explicit BinaryWorker(const BinaryPipeline& pipeline) : pipeline_(pipeline) {}

  void make(std::uint64_t, std::span<const std::uint64_t> samples, BatchPart out,
            StageClock& clock) override {
    each_piece(samples, clock, [&](std::span<const std::byte> piece, std::size_t at) {
      std::memcpy(out.data.data() + at * sizeof(CriteoRow), piece.data(), piece.size());
    });
    pipeline_.finish(samples, out, clock);
  }

  void fetch(std::uint64_t, std::span<const std::uint64_t> samples, StageClock& clock) override {
    each_piece(samples, clock,
               [](std::span<const std::byte> piece, std::size_t) { touch_pages(piece); });
  }

 private:
  /// The stage read: calls each(bytes, place in the list) for runs of adjacent rows of a file.
  template <class Each>
  void each_piece(std::span<const std::uint64_t> samples, StageClock& clock, Each each) {
    const auto to_end = [&](std::uint64_t row) {
      const RowFile& file = pipeline_.file_of(row);
      return file.first + file.rows - row;
    };
    each_run(samples, to_end, [&](std::uint64_t first, std::size_t count, std::size_t at) {
      const auto piece = pipeline_.file_of(first).of(first, count);
      will_need(piece);
      each(piece, at);
    });
    clock.count_read(samples.size() * sizeof(CriteoRow));
    clock.count_samples(samples.size());
    clock.end(Stage::read);
  }

  const BinaryPipeline& pipeline_;
};

std::unique_ptr<PipelineWorker> BinaryPipeline::worker() const {
  return std::make_unique<BinaryWorker>(*this);
}

}  // namespace

std::unique_ptr<Pipeline> criteo_text_pipeline(const std::vector<std::filesystem::path>& files,
                                               const CriteoOptions& options) {
  return std::make_unique<TextPipeline>(files, options);
}

std::unique_ptr<Pipeline> criteo_binary_pipeline(const std::vector<std::filesystem::path>& files,
                                                 const CriteoOptions& options) {
  return std::make_unique<BinaryPipeline>(files, options);
}

}  // namespace bench::data
