// Opens a data set by its format and path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "probes/data/generate/data_set.h"
#include "probes/data/pipelines/criteo_pipeline.h"
#include "probes/data/pipelines/pipeline.h"

namespace bench::data {

/// Token files (training/sources/token_file.h) to inputs and targets of int64, as nanoGPT's loader
/// passes them to PyTorch: for each sequence T inputs, then the T targets, each the token after its
/// input. An epoch has as many sequences as the files have without overlap.
struct TokenOptions {
  int targets = 1024;  // T
  /// Windows begin anywhere (nanoGPT); else sequence i begins at token i T of its file (llm.c).
  bool random_windows = true;
  std::uint64_t seed = 1;
};

/// Encoded images to a batch: read, decode what the crop needs, resize the crop, normalise.
struct ImageOptions {
  int size = 224;              // of a sample's sides, pixels
  bool random = true;          // random crops, half of them mirrored; else the centre
  bool partial_decode = true;  // of an image only what its crop needs; the same bits either way
  bool bytes = false;          // a sample is three planes of u8; else of f32, normalised
  std::uint64_t seed = 1;
};

/// Reads and makes nothing: how fast batches could come if data cost nothing. A sample is its epoch
/// and number, and what the memory held before. Throws Error(usage) for samples of less than 16
/// bytes.
std::unique_ptr<Pipeline> synthetic_pipeline(std::uint64_t samples, std::size_t sample_bytes);

struct PipelineOptions {
  ImageOptions images = {};
  TokenOptions tokens = {};
  CriteoOptions criteo = {};
};

/// `path`: a folder; for tokens and clicks also a single file. Raw records are padded with zeros to
/// the longest one and otherwise unchanged, as in MLPerf Storage's emulated loads. Throws
/// Error(environment or input) for data that cannot be read or are not of this format, for token
/// files shorter than one sequence, and for images without libjpeg-turbo.
std::unique_ptr<Pipeline> open_pipeline(Format format, const std::filesystem::path& path,
                                        const PipelineOptions& options);

}  // namespace bench::data
