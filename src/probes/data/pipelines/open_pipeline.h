// A data set by its format and where it lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "probes/data/formats/blob_source.h"
#include "probes/data/generate/data_set.h"
#include "probes/data/pipelines/criteo_pipeline.h"
#include "probes/data/pipelines/image_pipeline.h"
#include "probes/data/pipelines/pipeline.h"
#include "probes/data/pipelines/token_pipeline.h"

namespace bench::data {

struct PipelineOptions {
  ImageOptions images = {};
  TokenOptions tokens = {};
  CriteoOptions criteo = {};
};

/// `path`: a folder, or for tokens and clicks also one file. Throws Error(environment or input)
/// where it cannot be read or holds no such data.
std::unique_ptr<Pipeline> open_pipeline(Format format, const std::filesystem::path& path,
                                        const PipelineOptions& options);

/// Payloads as they are, all of the length of the longest: MLPerf Storage's emulated loads, which
/// make nothing of what they read. What a shorter one lacks is zeros.
std::unique_ptr<Pipeline> raw_pipeline(std::unique_ptr<BlobSource> source);

}  // namespace bench::data
