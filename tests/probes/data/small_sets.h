// Small data sets of every format, and what loaders make of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/data/generate/data_set.h"
#include "probes/data/loader/loader.h"
#include "probes/data/pipelines/open_pipeline.h"
#include "tests/support/temporary_directory.h"

namespace bench::data {

inline DataSetWish small_wish(Format format) {
  DataSetWish wish;
  wish.format = format;
  wish.image = {61, 47};
  wish.sample_bytes = 1000;
  wish.seed = 3;
  wish.bytes = format == Format::raw ? 40'000 : 60'000;
  if (format == Format::criteo_tsv || format == Format::criteo_binary) wish.bytes = 1'000'000;
  return wish;
}

inline PipelineOptions small_options() {
  PipelineOptions options;
  options.images.size = 32;
  options.tokens.targets = 64;
  return options;
}

struct SmallSet {
  TemporaryDirectory folder = {};
  MadeDataSet made;
  std::unique_ptr<Pipeline> pipeline;

  explicit SmallSet(Format format, const PipelineOptions& options = small_options())
      : made(make_data_set(folder.path(), small_wish(format))),
        pipeline(open_pipeline(format, made.folder, options)) {}
};

struct KeptBatch {
  std::uint64_t number = 0;
  std::string data = {};
  std::vector<std::int64_t> labels = {};

  bool operator==(const KeptBatch&) const = default;
};

inline std::vector<KeptBatch> all_batches(Loader& loader, std::uint64_t batches) {
  std::vector<KeptBatch> kept;
  loader.begin(0, batches);
  while (const auto batch = loader.next()) {
    const auto* bytes = reinterpret_cast<const char*>(batch->data.data());
    kept.push_back({batch->number,
                    std::string(bytes, batch->data.size()),
                    {batch->labels.begin(), batch->labels.end()}});
  }
  return kept;
}

}  // namespace bench::data
