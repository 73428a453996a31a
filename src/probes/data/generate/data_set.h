// Makes data sets: the same bytes for the same wishes and seed, and bytes that neither a file
// system nor a disk can compress. A set that is there already is used again.
#pragma once

#include <cstdint>
#include <filesystem>

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
  std::uint64_t bytes = 0;  // at least, of all files; two samples are made in any case
  ImageSize image = {500, 375};
  int quality = 90;                // of JPEGs
  std::uint64_t sample_bytes = 0;  // of raw records
  std::uint64_t seed = 1;

  Json to_json() const;
};

struct MadeDataSet {
  std::filesystem::path folder;  // of the files
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  bool made = false;  // now; else it was there
};

/// In a folder of its own inside of `folder`, named after format and wish. Its description is
/// written last: a set without one was not finished, and is made again. Throws Error(environment)
/// where there is no room or no right to write.
MadeDataSet make_data_set(const std::filesystem::path& folder, const DataSetWish& wish);

}  // namespace bench::data
