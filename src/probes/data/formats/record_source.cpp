#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/blob_source.h"
#include "probes/data/formats/folder_listing.h"
#include "probes/data/formats/read_file.h"
#include "probes/data/formats/record_file.h"
#include "probes/training/sources/little_endian.h"

namespace bench::data {
namespace {

class RecordFiles final : public BlobSource {
 public:
  explicit RecordFiles(const std::filesystem::path& folder) {
    for (const auto& path : files_ending(folder, {".records"})) add(path);
    if (size_ == 0)
      throw Error(ErrorKind::input, printable(folder.string()) + ": no records in any file",
                  "generate the data set again");
  }

  std::uint64_t size() const override { return size_; }
  std::uint64_t bytes(std::uint64_t index) const override {
    const auto [shard, i] = find(index);
    return shard.starts[i + 1] - shard.starts[i] - kRecordLabelBytes;
  }
  std::int64_t label(std::uint64_t index) const override {
    const auto [shard, i] = find(index);
    return shard.labels[i];
  }
  std::string name(std::uint64_t index) const override {
    const auto [shard, i] = find(index);
    return fmt::format("{}, record {}", shard.file->path().string(), i);
  }
  void read(std::uint64_t index, std::vector<std::byte>& into) const override {
    const auto [shard, i] = find(index);
    into.resize(shard.starts[i + 1] - shard.starts[i] - kRecordLabelBytes);
    shard.file->read(shard.starts[i] + kRecordLabelBytes, into);
  }
  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> all;
    for (const Shard& shard : shards_) all.push_back(shard.file->path());
    return all;
  }

 private:
  struct Shard {
    std::unique_ptr<ReadFile> file;
    std::vector<std::uint64_t> starts;
    std::vector<std::int64_t> labels;
    std::uint64_t first;
  };
  struct Found {
    const Shard& shard;
    std::uint64_t index;
  };

  void add(const std::filesystem::path& path) {
    auto file = std::make_unique<ReadFile>(path);
    auto starts =
        record_index([&](std::uint64_t at, std::span<std::byte> into) { file->read(at, into); },
                     file->size(), path.string());
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      std::array<std::byte, kRecordLabelBytes> raw{};
      file->read(starts[i], raw);
      labels.push_back(
          static_cast<std::int64_t>(training::little_endian<std::uint64_t>(raw.data())));
    }
    const std::uint64_t count = labels.size();
    shards_.push_back({std::move(file), std::move(starts), std::move(labels), size_});
    size_ += count;
  }

  Found find(std::uint64_t index) const {
    const auto next = std::ranges::upper_bound(shards_, index, {}, &Shard::first);
    const Shard& shard = *std::prev(next);
    return {shard, index - shard.first};
  }

  std::vector<Shard> shards_;
  std::uint64_t size_ = 0;
};

}  // namespace

std::unique_ptr<BlobSource> open_record_files(const std::filesystem::path& folder) {
  return std::make_unique<RecordFiles>(folder);
}

}  // namespace bench::data
