// Samples that are runs of bytes with a label: files of a folder, members of tar shards, records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
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
  /// For errors.
  virtual std::string name(std::uint64_t index) const = 0;
  /// Replaces what `into` holds; any number of threads at once. Throws Error(environment) for what
  /// cannot be read, Error(input) for what is no longer as long as it was.
  virtual void read(std::uint64_t index, std::vector<std::byte>& into) const = 0;
  virtual std::vector<std::filesystem::path> files() const = 0;
  /// Samples that are shuffled as one: the first of each shard. Empty: each by itself.
  virtual std::vector<std::uint64_t> blocks() const { return {}; }
};

/// A folder of folders of JPEGs, as torchvision's ImageFolder takes it: a folder is a class,
/// classes and the files of each in order of their names. Files right in the folder are class 0.
/// Throws Error(input) where there is none.
std::unique_ptr<BlobSource> open_image_folder(const std::filesystem::path& folder);

/// Tar files in order of their names, as WebDataset writes them: members of one sample stand
/// together and have one name up to its first dot; .jpg or .jpeg is the sample, .cls its label
/// (decimal; 0 without one). Throws Error(input) for a folder without *.tar, and a damaged tar.
std::unique_ptr<BlobSource> open_tar_shards(const std::filesystem::path& folder);

/// Files *.records of a folder; formats/record_file.h. Throws Error(input) where there is none or
/// one is damaged.
std::unique_ptr<BlobSource> open_record_files(const std::filesystem::path& folder);

}  // namespace bench::data
