// Writers for make_data_set(): each fills a folder with the files of a wish.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "probes/data/generate/data_set.h"

namespace bench::data {

struct Written {
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;

  void add(std::uint64_t more) {
    bytes += more;
    ++samples;
  }
  bool enough(const DataSetWish& wish) const { return samples >= 2 && bytes >= wish.bytes; }
};

/// A new file. Throws Error(environment).
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& path);
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t bytes_ = 0;
};

/// An image that compresses like a photograph: shapes, shades and noise (about 4.7 bits per pixel
/// at quality 90).
std::vector<std::byte> make_jpeg(const DataSetWish& wish, std::uint64_t index);
/// The class of image `index`, one of ten.
std::int64_t class_of(std::uint64_t index);

Written write_image_folder(const std::filesystem::path& folder, const DataSetWish& wish);
Written write_tar_shards(const std::filesystem::path& folder, const DataSetWish& wish);
/// Of drawn pictures with their labels and true classes: training and evaluation shards of equal
/// size, train-*.tar and val-*.tar.
Written write_drawn_shards(const std::filesystem::path& folder, const DataSetWish& wish);
/// Of images, or of random bytes (raw).
Written write_record_files(const std::filesystem::path& folder, const DataSetWish& wish);
Written write_tokens(const std::filesystem::path& folder, const DataSetWish& wish);
/// The same rows as text and as rows of 160 bytes.
Written write_criteo_text(const std::filesystem::path& folder, const DataSetWish& wish);
Written write_criteo_binary(const std::filesystem::path& folder, const DataSetWish& wish);

}  // namespace bench::data
