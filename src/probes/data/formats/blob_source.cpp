#include "probes/data/formats/blob_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/folder_listing.h"
#include "probes/data/formats/record_file.h"
#include "probes/data/formats/tar_members.h"
#include "training/sources/byte_reader.h"

namespace bench::data {
namespace {

/// A file that several threads read parts of.
class ReadFile {
 public:
  /// Throws Error(environment) if it cannot be opened, Error(input) if it is no regular file.
  explicit ReadFile(const std::filesystem::path& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_.valid()) throw_errno("open " + printable(path.string()));
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) throw_errno("stat " + printable(path.string()));
    if (!S_ISREG(status.st_mode))
      throw Error(ErrorKind::input, printable(path.string()) + " is not a regular file",
                  "give a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }

  /// Fills all of `into`; thread-safe. Throws Error(input) if the file ends before.
  void read(std::uint64_t offset, std::span<std::byte> into) const {
    while (!into.empty()) {
      const ssize_t got =
          ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_errno("read " + printable(path_.string()));
      if (got == 0)
        throw Error(ErrorKind::input,
                    fmt::format("{} is {} bytes too short for the read at offset {}",
                                printable(path_.string()), into.size(), offset),
                    "the file is truncated: generate or copy it again");
      offset += static_cast<std::uint64_t>(got);
      into = into.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

/// "a/b.c/000.seg.jpg": key "a/b.c/000", ending "seg.jpg".
std::pair<std::string_view, std::string_view> key_and_ending(std::string_view name) {
  const auto slash = name.rfind('/');
  const auto dot = name.find('.', slash == std::string_view::npos ? 0 : slash + 1);
  if (dot == std::string_view::npos) return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

class TarShards final : public BlobSource {
 public:
  explicit TarShards(const std::vector<std::filesystem::path>& files) {
    for (const auto& path : files) add(path);
    if (samples_.empty())
      throw Error(ErrorKind::input,
                  printable(files.front().parent_path().string()) + ": no .jpg in any tar file",
                  "give a folder with image shards");
  }

  std::uint64_t size() const override { return samples_.size(); }
  std::uint64_t bytes(std::uint64_t index) const override { return samples_.at(index).bytes; }
  std::int64_t label(std::uint64_t index) const override { return samples_.at(index).label; }
  std::optional<std::int64_t> truth(std::uint64_t index) const override {
    return samples_.at(index).truth;
  }
  std::string name(std::uint64_t index) const override {
    const Sample& sample = samples_.at(index);
    return fmt::format("{} at offset {}", shards_.at(sample.shard)->path().string(), sample.offset);
  }

  void read(std::uint64_t index, std::vector<std::byte>& into) const override {
    const Sample& sample = samples_.at(index);
    into.resize(sample.bytes);
    shards_.at(sample.shard)->read(sample.offset, into);
  }

  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> all;
    for (const auto& shard : shards_) all.push_back(shard->path());
    return all;
  }

  std::vector<std::uint64_t> blocks() const override { return first_; }

 private:
  struct Sample {
    std::size_t shard;
    std::uint64_t offset, bytes;
    std::int64_t label;
    std::optional<std::int64_t> truth;
  };

  void add(const std::filesystem::path& path) {
    shards_.push_back(std::make_unique<ReadFile>(path));
    const ReadFile& file = *shards_.back();
    const auto before = samples_.size();
    std::string key;
    Sample sample{};
    bool image = false;
    const auto finish = [&] {
      if (image) samples_.push_back(sample);
      image = false;
      sample = {shards_.size() - 1, 0, 0, 0, {}};
    };
    finish();
    const auto members =
        tar_members([&](std::uint64_t at, std::span<std::byte> into) { file.read(at, into); },
                    file.size(), path.string());
    for (const TarMember& member : members) {
      const auto [own, ending] = key_and_ending(member.name);
      if (own != key) finish();
      key = own;
      if (ending == "jpg" || ending == "jpeg") {
        sample.offset = member.offset;
        sample.bytes = member.bytes;
        image = true;
      } else if (ending == "cls") {
        sample.label = label_in(file, member);
      } else if (ending == "truth") {
        sample.truth = label_in(file, member);
      }
    }
    finish();
    if (samples_.size() > before) first_.push_back(before);
  }

  static std::int64_t label_in(const ReadFile& file, const TarMember& member) {
    std::string text(std::min<std::uint64_t>(member.bytes, 32), '\0');
    file.read(member.offset, std::as_writable_bytes(std::span(text)));
    const auto label = parse_number(text);
    if (!label)
      throw Error(ErrorKind::input,
                  fmt::format("{}: the label of {} is '{}'", printable(file.path().string()),
                              printable(member.name), printable(trim(text))),
                  "a .cls or .truth member must hold one decimal number");
    return *label;
  }

  std::vector<std::unique_ptr<ReadFile>> shards_;
  std::vector<Sample> samples_;
  std::vector<std::uint64_t> first_;
};

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

const std::vector<std::string> kImages = {".jpg", ".jpeg", ".JPG", ".JPEG"};

class ImageFolder final : public BlobSource {
 public:
  explicit ImageFolder(const std::filesystem::path& folder) {
    const auto classes = folders_in(folder);
    std::int64_t label = 0;
    for (const auto& one : classes) add(one, label++);
    if (classes.empty()) add(folder, 0);
  }

  std::uint64_t size() const override { return images_.size(); }
  std::uint64_t bytes(std::uint64_t index) const override { return images_.at(index).bytes; }
  std::int64_t label(std::uint64_t index) const override { return images_.at(index).label; }
  std::string name(std::uint64_t index) const override { return images_.at(index).path.string(); }

  void read(std::uint64_t index, std::vector<std::byte>& into) const override {
    const ReadFile file(images_.at(index).path);  // opened each time, as loaders do
    into.resize(file.size());
    file.read(0, into);
  }

  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> all;
    for (const Image& image : images_) all.push_back(image.path);
    return all;
  }

 private:
  struct Image {
    std::filesystem::path path;
    std::uint64_t bytes;
    std::int64_t label;
  };

  void add(const std::filesystem::path& folder, std::int64_t label) {
    for (const auto& path : files_ending(folder, kImages))
      images_.push_back({path, std::filesystem::file_size(path), label});
  }

  std::vector<Image> images_;
};

}  // namespace

std::unique_ptr<BlobSource> open_tar_shards(const std::filesystem::path& folder) {
  return open_tar_shards(files_ending(folder, {".tar"}));
}

std::unique_ptr<BlobSource> open_tar_shards(const std::vector<std::filesystem::path>& files) {
  return std::make_unique<TarShards>(files);
}

std::unique_ptr<BlobSource> open_record_files(const std::filesystem::path& folder) {
  return std::make_unique<RecordFiles>(folder);
}

std::unique_ptr<BlobSource> open_image_folder(const std::filesystem::path& folder) {
  return std::make_unique<ImageFolder>(folder);
}

}  // namespace bench::data
