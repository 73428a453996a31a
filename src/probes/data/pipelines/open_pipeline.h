// A data set by its format and where it lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "probes/data/formats/blob_source.h"
#include "probes/data/generate/data_set.h"
#include "probes/data/pipelines/criteo_pipeline.h"
#include "probes/data/pipelines/pipeline.h"

namespace bench::data {

// Files of tokens (training/sources/token_file.h) to inputs and targets of int64, as nanoGPT's
// loader hands them to PyTorch: for each sequence T inputs, then the T targets, each the token
// after its input.

struct TokenOptions {
  int targets = 1024;  // T
  /// Windows that begin anywhere (nanoGPT); else sequence i begins at token i T of its file
  /// (llm.c).
  bool random_windows = true;
  std::uint64_t seed = 1;
};

/// An epoch has as many sequences as the files have without overlap. Throws Error(input) as
/// training::TokenView does, and for a file shorter than one sequence.
std::unique_ptr<Pipeline> token_pipeline(const std::vector<std::filesystem::path>& files,
                                         const TokenOptions& options);

// Encoded images to a batch: read, decode what the crop needs, resize the crop, normalise.

struct ImageOptions {
  int size = 224;              // of a sample's sides, pixels
  bool random = true;          // random crops, half of them turned over; else the centre
  bool partial_decode = true;  // of an image only what its crop needs; the same bits either way
  bool bytes = false;          // a sample is three planes of u8; else of f32, normalised
  std::uint64_t seed = 1;
};

/// Throws Error(environment) without libjpeg-turbo.
std::unique_ptr<Pipeline> image_pipeline(std::unique_ptr<BlobSource> source,
                                         const ImageOptions& options);

// Nothing is read and nothing made: how fast batches could come if data cost nothing. A sample is
// its epoch and number, and what the memory held before.

/// Throws Error(usage) for samples of less than 16 bytes.
std::unique_ptr<Pipeline> synthetic_pipeline(std::uint64_t samples, std::size_t sample_bytes);

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
