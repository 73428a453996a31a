// Samples that are byte strings with a label: files of a folder, members of tar shards, records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::data {

class BlobSource {
 public:
  BlobSource() = default;
  BlobSource(const BlobSource&) = delete;
  BlobSource& operator=(const BlobSource&) = delete;
  virtual ~BlobSource() = default;

  virtual std::uint64_t size() const = 0;
  virtual std::uint64_t bytes(std::uint64_t index) const = 0;
  virtual std::int64_t label(std::uint64_t index) const = 0;
  /// What the sample shows, where the data set says it in addition to a label that may be wrong.
  virtual std::optional<std::int64_t> truth(std::uint64_t /*index*/) const { return {}; }
  /// For errors.
  virtual std::string name(std::uint64_t index) const = 0;
  /// Replaces the content of `into`; thread-safe. Throws Error(environment) for data that cannot be
  /// read, Error(input) if the length has changed.
  virtual void read(std::uint64_t index, std::vector<std::byte>& into) const = 0;
  virtual std::vector<std::filesystem::path> files() const = 0;
  /// The first sample of each shard, which are shuffled as a whole. Empty: samples are shuffled
  /// singly.
  virtual std::vector<std::uint64_t> blocks() const { return {}; }
};

/// A folder of folders of JPEGs as for torchvision's ImageFolder: each folder is a class, classes
/// and files are sorted by name. Without subfolders all files are class 0. Throws Error(input)
/// without images.
std::unique_ptr<BlobSource> open_image_folder(const std::filesystem::path& folder);

/// Tar files sorted by name, as WebDataset writes them: members of one sample are adjacent and have
/// the same name up to the first dot; .jpg or .jpeg is the sample, .cls its label (decimal; 0
/// without one), .truth what it shows, of drawn pictures. Throws Error(input) for a folder without
/// *.tar and for a damaged tar.
std::unique_ptr<BlobSource> open_tar_shards(const std::filesystem::path& folder);
/// The same of these files.
std::unique_ptr<BlobSource> open_tar_shards(const std::vector<std::filesystem::path>& files);

/// Files *.records of a folder (formats/record_file.h). Throws Error(input) without any or for a
/// damaged one.
std::unique_ptr<BlobSource> open_record_files(const std::filesystem::path& folder);

}  // namespace bench::data
