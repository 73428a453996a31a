#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "probes/data/formats/blob_source.h"
#include "probes/data/formats/folder_listing.h"
#include "probes/data/formats/read_file.h"

namespace bench::data {
namespace {

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
    const ReadFile file(images_.at(index).path);  // as loaders do: opened each time
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

std::unique_ptr<BlobSource> open_image_folder(const std::filesystem::path& folder) {
  return std::make_unique<ImageFolder>(folder);
}

}  // namespace bench::data
