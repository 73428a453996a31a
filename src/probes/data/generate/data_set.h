// Generates data sets: the same bytes for the same wish, incompressible for file systems and disks.
// An existing set is reused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/json.h"
#include "core/names.h"
#include "probes/data/decode/jpeg.h"

namespace bench::data {

enum class Format { jpeg_folder, tar, records, raw, tokens, criteo_tsv, criteo_binary };

inline constexpr NameTable<Format, 7> kFormats{{{{Format::jpeg_folder, "jpeg_folder"},
                                                 {Format::tar, "tar"},
                                                 {Format::records, "records"},
                                                 {Format::raw, "raw"},
                                                 {Format::tokens, "tokens"},
                                                 {Format::criteo_tsv, "criteo_tsv"},
                                                 {Format::criteo_binary, "criteo_binary"}}}};

struct DataSetWish {
  Format format = Format::jpeg_folder;
  std::uint64_t bytes = 0;  // minimum of all files together; there are at least two samples
  ImageSize image = {500, 375};
  int quality = 90;                // of JPEGs
  std::uint64_t sample_bytes = 0;  // of raw records
  /// Of a tar: the preset of workload image whose pictures are drawn, train-*.tar and, an eighth of
  /// the bytes, val-*.tar; "": pictures of one kind, which look like photographs.
  std::string pictures = {};
  std::uint64_t seed = 1;

  Json to_json() const;
};

struct MadeDataSet {
  std::filesystem::path folder;  // of the files
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  bool made = false;  // generated now, not reused
};

/// In its own subfolder of `folder`, named after format and wish. The description is written last:
/// a set without one is incomplete and is generated again. Throws Error(environment) without space
/// or write permission, and if that subfolder is a link or another user's.
MadeDataSet make_data_set(const std::filesystem::path& folder, const DataSetWish& wish);

}  // namespace bench::data
