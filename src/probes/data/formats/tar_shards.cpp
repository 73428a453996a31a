#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/blob_source.h"
#include "probes/data/formats/folder_listing.h"
#include "probes/data/formats/read_file.h"
#include "probes/data/formats/tar_members.h"

namespace bench::data {
namespace {

/// "a/b.c/000.seg.jpg": key "a/b.c/000", ending "seg.jpg".
std::pair<std::string_view, std::string_view> key_and_ending(std::string_view name) {
  const auto slash = name.rfind('/');
  const auto dot = name.find('.', slash == std::string_view::npos ? 0 : slash + 1);
  if (dot == std::string_view::npos) return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

class TarShards final : public BlobSource {
 public:
  explicit TarShards(const std::filesystem::path& folder) {
    for (const auto& path : files_ending(folder, {".tar"})) add(path);
    if (samples_.empty())
      throw Error(ErrorKind::input, printable(folder.string()) + ": no .jpg in any tar file",
                  "give a folder with image shards");
  }

  std::uint64_t size() const override { return samples_.size(); }
  std::uint64_t bytes(std::uint64_t index) const override { return samples_.at(index).bytes; }
  std::int64_t label(std::uint64_t index) const override { return samples_.at(index).label; }
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
      sample = {shards_.size() - 1, 0, 0, 0};
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
      }
    }
    finish();
    if (samples_.size() > before) first_.push_back(before);
  }

  static std::int64_t label_in(const ReadFile& file, const TarMember& member) {
    std::string text(std::min<std::uint64_t>(member.bytes, 32), '\0');
    file.read(member.offset, std::as_writable_bytes(std::span(text)));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    std::int64_t label = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
    if (error != std::errc() || end != text.data() + text.size())
      throw Error(ErrorKind::input,
                  fmt::format("{}: the label of {} is '{}'", printable(file.path().string()),
                              printable(member.name), printable(text)),
                  "a .cls member must hold one decimal number");
    return label;
  }

  std::vector<std::unique_ptr<ReadFile>> shards_;
  std::vector<Sample> samples_;
  std::vector<std::uint64_t> first_;
};

}  // namespace

std::unique_ptr<BlobSource> open_tar_shards(const std::filesystem::path& folder) {
  return std::make_unique<TarShards>(folder);
}

}  // namespace bench::data
