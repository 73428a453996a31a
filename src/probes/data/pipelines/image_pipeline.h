// Encoded images to a batch: read, decode what the crop needs, resize the crop, normalise.
#pragma once

#include <memory>

#include "probes/data/formats/blob_source.h"
#include "probes/data/pipelines/pipeline.h"

namespace bench::data {

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

}  // namespace bench::data
